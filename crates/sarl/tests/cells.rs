//! Cells from the fit to the file: what is chosen, what is published, what is refused.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::cells::{
    Adversary, CellGoal, CellUtility, Certifier, Chooser, Counts, Limits, PartRows, Proposals, Rule,
};
use sarl::{Block, Error, Fit, FitParams, Goal, Layout, Model, Role};

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

fn chooser(classes: u32, seed: u64) -> Chooser {
    let mut fit = Fit::new(FitParams::default(), layout(classes as usize)).unwrap();
    fit.push(&Rows::new(3000, classes, seed).block()).unwrap();
    let mut chooser = Chooser::new(&fit.finish().unwrap(), 0).unwrap();
    chooser.push(&Rows::new(3000, classes, seed + 100).block()).unwrap();
    chooser
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

/// The most useful proposal, certified on these rows.
fn certified(mut proposals: Proposals, rows: &Rows) -> Model {
    proposals.push(&rows.block()).unwrap();
    proposals.certified().remove(0)
}

#[test]
fn a_tighter_limit_keeps_less_and_gives_away_less() {
    for classes in [2, 4] {
        let chooser = chooser(classes, 1);
        let fresh = Rows::new(3000, classes, 7);
        let at = |limit: f64| {
            let model = certified(chooser.clone().choose(&goal(limit), 3000).unwrap(), &fresh);
            let found = model.cells().unwrap().certificate().unwrap().clone();
            (found.targets[0].score, found.bounds()[0].advantage, found.targets[0].guess)
        };
        let (tight, loose) = (at(0.15), at(1.0));
        assert!(tight.1 < loose.1, "{tight:?} {loose:?}");
        assert!(tight.0 <= loose.0 + 0.02, "{tight:?} {loose:?}");
        assert!(tight.0 > tight.2 + 0.1, "the target is still predicted: {tight:?}");
    }
}

#[test]
fn only_centres_leave_the_encoder_and_a_file_gives_the_same() {
    let fresh = Rows::new(2000, 3, 9);
    let model = certified(chooser(3, 2).choose(&goal(0.3), 3000).unwrap(), &fresh);
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
    let proposals = chooser(2, 3).choose(&goal(0.3), 3000).unwrap();
    let model = proposals.models().next().unwrap();
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
    let mut chooser = chooser(2, 4);
    let weighted = rows.block().weighted(&weights);
    assert!(matches!(chooser.push(&weighted), Err(Error::Weighted)));
    let mut proposals = chooser.clone().choose(&goal(0.5), 3000).unwrap();
    assert!(matches!(proposals.push(&weighted), Err(Error::Weighted)));
    let refused = chooser.clone().choose(&goal(0.001), 50);
    assert!(matches!(refused, Err(Error::Uncertifiable { .. })), "{refused:?}");
    for bad in
        [CellGoal { confidence: 1.0, ..goal(0.1) }, CellGoal { cells: 1, ..goal(0.1) }, goal(1.5)]
    {
        assert!(matches!(chooser.clone().choose(&bad, 10), Err(Error::Argument { .. })));
    }
    let numbers = Layout::dense(3).class("y", Role::Target, 2).number("s", Role::Sensitive, 1);
    let mut fit = Fit::new(FitParams::default(), numbers).unwrap();
    let s = Mat::from_fn(300, 1, |i, _| rows.x[(i, 2)]);
    fit.push(&Block::new(rows.x.as_ref()).class(&rows.y).number(s.as_ref())).unwrap();
    let refused = Chooser::new(&fit.finish().unwrap(), 0).map(|_| ());
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
    let mut chooser = Chooser::new(&fit.finish().unwrap(), 0).unwrap();
    let second = rows(3000, 22);
    let y = numbers(&second);
    chooser.push(&Block::new(second.x.as_ref()).number(y.as_ref()).class(&second.s)).unwrap();
    let mut proposals = chooser.choose(&goal(0.3), 3000).unwrap();
    let third = rows(3000, 23);
    let y = numbers(&third);
    proposals.push(&Block::new(third.x.as_ref()).number(y.as_ref()).class(&third.s)).unwrap();
    let model = proposals.certified().remove(0);
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
        let mut chooser = Chooser::new(&fit.finish().unwrap(), 0).unwrap();
        chooser.push(&Rows::new(rows, 4, 32).block()).unwrap();
        match chooser.clone().choose(&goal(1.0), 10) {
            Ok(found) => assert!(found.models().all(|m| m.cells().unwrap().count() >= 2)),
            Err(error) => assert!(matches!(error, Error::NoCells { .. }), "{error:?}"),
        }
        chooser.front(&goal(1.0), 10, 5).unwrap();
    }
}
