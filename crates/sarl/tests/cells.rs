//! Cells from the fit to the file: what is chosen, what is published, what is refused.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::cells::{
    Adversary, Ask, CellGoal, CellUtility, Certifier, Counted, Counts, Cutter, Limits, Part,
    PartRows, Rule,
};
use sarl::{Block, Error, Fit, FitParams, Fitted, Goal, Layout, Model, Role};

/// Rows with a target of `classes` classes and a group; x has three columns.
struct Rows {
    x: Mat<f64>,
    y: Vec<u32>,
    s: Vec<u32>,
}

impl Rows {
    fn new(n: usize, classes: u32, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let s: Vec<u32> = (0..n).map(|_| rng.random_range(0..2)).collect();
        let y: Vec<u32> = s
            .iter()
            .map(|&s| match rng.random_range(0..10) {
                0..3 => s,
                _ => rng.random_range(0..classes),
            })
            .collect();
        let mut noise = || rng.random_range(-1.0..1.0);
        let x = Mat::from_fn(n, 3, |i, j| {
            let place = f64::from(y[i]) * std::f64::consts::TAU / f64::from(classes);
            match j {
                0 => place.cos() + 0.6 * f64::from(s[i]) + 0.9 * noise(),
                1 => place.sin() + 0.9 * noise(),
                _ => f64::from(s[i]) + noise(),
            }
        });
        Rows { x, y, s }
    }

    fn block(&self) -> Block<'_, f64> {
        Block::new(self.x.as_ref()).class(&self.y).class(&self.s)
    }
}

fn layout(classes: usize) -> Layout {
    Layout::dense(3).class("y", Role::Target, classes).class("s", Role::Sensitive, 2)
}

fn fitted(classes: u32, seed: u64) -> Fitted {
    let mut fit = Fit::new(FitParams::default(), layout(classes as usize)).unwrap();
    fit.push(&Rows::new(3000, classes, seed).block()).unwrap();
    fit.finish().unwrap()
}

/// Rows to choose on have passed by.
fn cutter(classes: u32, seed: u64, asks: Vec<Ask>) -> Cutter {
    let mut cutter = Cutter::new(&fitted(classes, seed), asks, 0).unwrap();
    assert_eq!(cutter.part(), Part::Choose);
    cutter.push(&Rows::new(3000, classes, seed + 100).block()).unwrap();
    cutter
}

fn goal(limit: f64) -> CellGoal {
    CellGoal {
        adversary: Adversary::Advantage,
        limits: Limits::Each(limit),
        utility: CellUtility::Accuracy,
        confidence: 0.95,
        cells: 8,
    }
}

/// The most useful model for each goal, certified on these rows.
fn certified(mut cutter: Cutter, rows: &Rows) -> Vec<Model> {
    cutter.choose(3000).unwrap();
    assert_eq!(cutter.part(), Part::Certify);
    cutter.push(&rows.block()).unwrap();
    cutter.finish().unwrap().concat()
}

#[test]
fn a_tighter_limit_keeps_less_and_gives_away_less() {
    for classes in [2, 4] {
        let asks = [0.15, 1.0].map(|limit| Ask::One(goal(limit)));
        let fresh = Rows::new(3000, classes, 7);
        let models = certified(cutter(classes, 1, asks.to_vec()), &fresh);
        let at = |model: &Model| {
            let found = model.cells().unwrap().certificate().unwrap();
            (found.targets[0].score, found.bounds()[0].advantage, found.targets[0].guess)
        };
        let (tight, loose) = (at(&models[0]), at(&models[1]));
        assert!(tight.1 < loose.1, "{tight:?} {loose:?}");
        assert!(tight.0 <= loose.0 + 0.02, "{tight:?} {loose:?}");
        assert!(tight.0 > tight.2 + 0.1, "the target is still predicted: {tight:?}");
    }
}

#[test]
fn rows_that_others_count_certify_the_same() {
    let fresh = Rows::new(3000, 3, 8);
    let start = cutter(3, 4, vec![Ask::One(goal(0.3)), Ask::Front(goal(1.0), 3)]);
    let expected = certified(start.clone(), &fresh);
    let mut cutter = start;
    assert!(cutter.proposals().is_empty());
    cutter.choose(3000).unwrap();
    let count = |model: &Model, from: usize, rows: usize| -> Vec<u8> {
        let mut certifier = Certifier::new(model).unwrap();
        certifier.push(&fresh.block().slice(from, rows)).unwrap();
        serde_json::to_vec(certifier.counted()).unwrap()
    };
    let read = |bytes: &[u8]| -> Counted { serde_json::from_slice(bytes).unwrap() };
    let sums: Vec<Counted> = cutter
        .proposals()
        .into_iter()
        .map(|model| {
            let mut sum = read(&count(model, 1700, 1300));
            sum.merge(&read(&count(model, 0, 700))).unwrap();
            sum.merge(&read(&count(model, 700, 1000))).unwrap();
            sum
        })
        .collect();
    assert!(cutter.merge(&sums[1..]).is_err(), "each proposal needs its counts");
    cutter.merge(&sums).unwrap();
    assert_eq!(cutter.rows(), 3000);
    for (model, other) in cutter.finish().unwrap().concat().iter().zip(&expected) {
        assert_eq!(model.cells(), other.cells());
    }
}

#[test]
fn counts_of_other_cells_are_refused() {
    let fresh = Rows::new(2000, 3, 9);
    let models = certified(cutter(3, 2, vec![Ask::Front(goal(1.0), 4)]), &fresh);
    let cells = |model: &Model| model.cells().unwrap().count();
    let (few, many) = (models.first().unwrap(), models.last().unwrap());
    assert!(cells(few) < cells(many));
    let mut certifier = Certifier::new(few).unwrap();
    certifier.push(&fresh.block()).unwrap();
    let before = certifier.counted().clone();
    let other = Certifier::new(many).unwrap();
    assert!(certifier.merge(other.counted()).is_err());
    let text = serde_json::to_string(&before).unwrap();
    let (head, tail) = text.split_once("\"groups\":2,\"counts\":[").unwrap();
    let (_, tail) = tail.split_once(',').unwrap();
    let most = format!("{head}\"groups\":2,\"counts\":[{},{tail}", u64::MAX);
    assert!(certifier.merge(&serde_json::from_str(&most).unwrap()).is_err(), "they overflow");
    assert_eq!(certifier.counted(), &before);
}

#[test]
fn only_centres_leave_the_encoder_and_a_file_gives_the_same() {
    let fresh = Rows::new(2000, 3, 9);
    let model = certified(cutter(3, 2, vec![Ask::One(goal(0.3))]), &fresh).remove(0);
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let (cells, encoder) = (model.cells().unwrap(), again.encoder());
    assert_eq!(again.cells().unwrap(), cells);
    assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap());
    let z = encoder.encode(fresh.x.as_ref()).unwrap();
    let found = encoder.cells_of(&fresh.block()).unwrap();
    for (i, &cell) in found.iter().enumerate() {
        let centre = &cells.centres()[cell as usize];
        assert!((0..z.ncols()).all(|j| z[(i, j)] == centre[j]));
    }
    // The counts in the file are those of these very rows.
    let mut counts = Counts::new(cells.count(), 2);
    found.iter().zip(&fresh.s).for_each(|(&cell, &group)| counts.add(cell, group));
    assert_eq!(cells.certificate().unwrap().attributes[0].counts, counts);
    let plain = again.retune(Goal::Leakage(0.1)).unwrap();
    assert!(plain.cells().is_none(), "another trade-off has no cells");
}

#[test]
fn certificates_of_shards_add_up() {
    let cutter = cutter(2, 3, vec![Ask::One(goal(0.3))]);
    let model = &certified(cutter, &Rows::new(3000, 2, 10)).remove(0);
    let [a, b] = [11, 12].map(|seed| Rows::new(1500, 2, seed));
    let mut whole = Certifier::new(model).unwrap();
    whole.push(&a.block()).unwrap();
    whole.push(&b.block()).unwrap();
    let found = whole.certificate(0.95, 1, PartRows::default());
    let mut parts = [&a, &b].map(|rows| {
        let mut certifier = Certifier::new(model).unwrap();
        certifier.push(&rows.block()).unwrap();
        certifier.certificate(0.95, 1, PartRows::default()).attributes[0].counts.clone()
    });
    let [first, second] = &mut parts;
    first.merge(second).unwrap();
    assert_eq!(*first, found.attributes[0].counts);
    assert!(first.merge(&Counts::new(1, 2)).is_err());
}

#[test]
fn what_no_bound_holds_for_is_refused() {
    let rows = Rows::new(300, 2, 4);
    let weights = vec![1.0; 300];
    let mut cutter = cutter(2, 4, vec![Ask::One(goal(0.5))]);
    let weighted = rows.block().weighted(&weights);
    assert!(matches!(cutter.push(&weighted), Err(Error::Weighted)));
    cutter.choose(3000).unwrap();
    assert!(matches!(cutter.push(&weighted), Err(Error::Weighted)));
    let fitted = fitted(2, 4);
    let mut strict = Cutter::new(&fitted, vec![Ask::One(goal(0.001))], 0).unwrap();
    strict.push(&Rows::new(3000, 2, 104).block()).unwrap();
    let refused = strict.choose(50);
    assert!(matches!(refused, Err(Error::Uncertifiable { .. })), "{refused:?}");
    for bad in
        [CellGoal { confidence: 1.0, ..goal(0.1) }, CellGoal { cells: 1, ..goal(0.1) }, goal(1.5)]
    {
        let refused = Cutter::new(&fitted, vec![Ask::OneIfAny(bad)], 0).map(|_| ());
        assert!(matches!(refused, Err(Error::Argument { .. })));
    }
    let numbers = Layout::dense(3).class("y", Role::Target, 2).number("s", Role::Sensitive, 1);
    let mut fit = Fit::new(FitParams::default(), numbers).unwrap();
    let s = Mat::from_fn(300, 1, |i, _| rows.x[(i, 2)]);
    fit.push(&Block::new(rows.x.as_ref()).class(&rows.y).number(s.as_ref())).unwrap();
    let refused = Cutter::new(&fit.finish().unwrap(), vec![Ask::One(goal(0.5))], 0).map(|_| ());
    assert!(matches!(refused, Err(Error::NoGroups { .. })));
}

#[test]
fn a_numeric_target_is_kept_by_its_variance() {
    let rows = |n: usize, seed: u64| Rows::new(n, 2, seed);
    let numbers = |rows: &Rows| Mat::from_fn(rows.y.len(), 1, |i, _| 10.0 + 3.0 * rows.x[(i, 1)]);
    let layout = Layout::dense(3).number("y", Role::Target, 1).class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).unwrap();
    let first = rows(3000, 21);
    let y = numbers(&first);
    fit.push(&Block::new(first.x.as_ref()).number(y.as_ref()).class(&first.s)).unwrap();
    // The second ask finds numbers as the first has found them.
    let asks = [0.3, 0.3].map(|limit| Ask::One(goal(limit)));
    let mut cutter = Cutter::new(&fit.finish().unwrap(), asks.to_vec(), 0).unwrap();
    let second = rows(3000, 22);
    let y = numbers(&second);
    cutter.push(&Block::new(second.x.as_ref()).number(y.as_ref()).class(&second.s)).unwrap();
    let third = rows(3000, 23);
    let y = numbers(&third);
    cutter.choose(3000).unwrap();
    cutter.push(&Block::new(third.x.as_ref()).number(y.as_ref()).class(&third.s)).unwrap();
    let models = cutter.finish().unwrap().concat();
    assert_eq!(models[0].cells(), models[1].cells());
    let model = &models[0];
    assert!(model.cells().unwrap().count() > 2);
    let found = model.cells().unwrap().certificate().unwrap();
    let rows = found.rows;
    assert_eq!((rows.fit, rows.choose, rows.certify), (3000, 3000, 3000));
    assert!(found.targets[0].score > 0.7, "{:?}", found.targets);
}

#[test]
fn a_group_without_rows_has_no_bound() {
    let counts = Counts::from_rows(3, &[vec![50, 40, 0], vec![50, 60, 0]]).unwrap();
    let found = sarl::cells::bounds(&counts, 0.05, Rule::Mean);
    assert_eq!((found.advantage, found.tv), (1.0, 1.0));
    let one = Counts::from_rows(2, &[vec![60, 40]]).unwrap();
    let found = sarl::cells::bounds(&one, 0.05, Rule::Mean);
    assert_eq!(found.advantage, 0.0, "one cell says nothing");
    assert!(found.accuracy > 0.6);
}

#[test]
fn few_rows_of_several_columns_are_no_trouble() {
    for rows in [2, 3, 5, 9, 17, 33, 60] {
        let mut fit = Fit::new(FitParams::default(), layout(4)).unwrap();
        fit.push(&Rows::new(300, 4, 31).block()).unwrap();
        let asks = vec![Ask::OneIfAny(goal(1.0)), Ask::Front(goal(1.0), 5)];
        let mut cutter = Cutter::new(&fit.finish().unwrap(), asks, 0).unwrap();
        cutter.push(&Rows::new(rows, 4, 32).block()).unwrap();
        cutter.choose(10).unwrap();
        cutter.push(&Rows::new(10, 4, 33).block()).unwrap();
        let found = cutter.finish().unwrap().concat();
        assert!(found.iter().all(|m| m.cells().unwrap().count() >= 2));
    }
}

#[test]
fn passes_come_in_their_order() {
    let cutter = cutter(2, 5, vec![Ask::OneIfAny(goal(0.0)), Ask::Front(goal(1.0), 3)]);
    assert!(matches!(cutter.clone().finish(), Err(Error::Unavailable(_))));
    let mut chosen = cutter;
    chosen.choose(3000).unwrap();
    assert!(matches!(chosen.choose(3000), Err(Error::Unavailable(_))));
    chosen.push(&Rows::new(500, 2, 6).block()).unwrap();
    assert_eq!(chosen.rows(), 500);
    let found = chosen.finish().unwrap();
    assert_eq!(found[0].len(), 0, "no cells have no advantage at all");
    assert!((1..=3).contains(&found[1].len()));
}
