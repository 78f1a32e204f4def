//! Held-out losses from fold moments against the same folds done row by row.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values, problems};
use common::{normal, rng, synthetic};
use faer::prelude::SolveLstsq;
use faer::{Mat, MatRef};
use rand::RngExt;
use sarl::{
    Criterion, Error, FeatureMap, Front, Goal, HeldOut, HeldOutLosses, Kernel, LandmarkOptions,
    MomentsOptions, choose_map, choose_ridge, median_gamma,
};

/// The library's assignment of rows to folds (`moments::fold_of`, which is private), copied: the
/// rows of a fold are part of the file format of moments, so a change of it should be noticed.
fn fold_of(row: u64, folds: u64, seed: u64) -> usize {
    let value = seed ^ (row / folds);
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((row % folds + (z ^ (z >> 31)) % folds) % folds) as usize
}

fn rows_of(a: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

fn pick(data: &Data, rows: &[usize]) -> Data {
    let labels = |all: &[Values]| -> Vec<Values> {
        let pick = |values: &Values| match values {
            Values::Class(c) => Values::Class(rows.iter().map(|&i| c[i]).collect()),
            Values::Number(v) => Values::Number(rows_of(v, rows)),
        };
        all.iter().map(pick).collect()
    };
    Data { x: rows_of(&data.x, rows), y: labels(&data.y), s: labels(&data.s) }
}

fn with_one(z: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(z.nrows(), z.ncols() + 1, |i, j| if j == 0 { 1.0 } else { z[(i, j - 1)] })
}

/// The mean squared error on test rows of least squares, intercept included, on training rows.
fn tested(train: (&Mat<f64>, Mat<f64>), test: (&Mat<f64>, Mat<f64>)) -> f64 {
    let fitted = with_one(train.0.as_ref()).qr().solve_lstsq(train.1);
    let residual = test.1 - with_one(test.0.as_ref()) * fitted;
    residual.squared_norm_l2() / test.0.nrows() as f64
}

/// Rows in the fold, the losses on it, and what they explain of the labels there.
struct Fold {
    rows: f64,
    jy: f64,
    js: f64,
    kept: f64,
    leaked: f64,
}

struct Folds {
    losses: Vec<Fold>,
}

impl Folds {
    /// Fits on the rows outside each fold, and tests on the rows inside.
    fn by_hand(
        data: &Data,
        options: MomentsOptions,
        ridge: f64,
        cap: Option<usize>,
        goal: Goal,
    ) -> Self {
        let fold = |i: usize| fold_of(i as u64, options.folds as u64, options.seed);
        let losses = (0..options.folds).map(|f| {
            let (out, inside): (Vec<usize>, Vec<usize>) =
                (0..data.x.nrows()).partition(|&i| fold(i) != f);
            let (train, test) = (pick(data, &out), pick(data, &inside));
            let encoder = train.model(&train.reduced(ridge), cap, goal).unwrap().encoder();
            let a = encoder.encode(train.x.as_ref()).unwrap();
            let b = encoder.encode(test.x.as_ref()).unwrap();
            // One-hot columns of all the data: a fold may lack a class.
            let loss = |labels: &Mat<f64>| {
                tested((&a, rows_of(labels, &out)), (&b, rows_of(labels, &inside)))
            };
            // The mean of the training rows is all that is known without z.
            let nothing = [Mat::zeros(out.len(), 0), Mat::zeros(inside.len(), 0)];
            let without = |labels: &Mat<f64>| {
                let [a, b] = &nothing;
                tested((a, rows_of(labels, &out)), (b, rows_of(labels, &inside)))
            };
            let (y, s) = (data.targets(), data.sensitives());
            let (jy, js) = (loss(&y), loss(&s));
            let (kept, leaked) = (1.0 - jy / without(&y), 1.0 - js / without(&s));
            Fold { rows: inside.len() as f64, jy, js, kept, leaked }
        });
        Folds { losses: losses.collect() }
    }

    /// The mean over rows, and the deviation between folds.
    fn summary(&self, value: impl Fn(&Fold) -> f64) -> (f64, f64) {
        let rows: f64 = self.losses.iter().map(|l| l.rows).sum();
        let mean = self.losses.iter().map(|l| l.rows * value(l)).sum::<f64>() / rows;
        let squares: f64 = self.losses.iter().map(|l| (value(l) - mean).powi(2)).sum();
        (mean, (squares / (self.losses.len() - 1) as f64).sqrt())
    }

    fn check(&self, found: HeldOutLosses, what: &str) {
        let (jy, jy_sd) = self.summary(|l| l.jy);
        let (js, js_sd) = self.summary(|l| l.js);
        let pairs = [(found.jy, jy), (found.js, js), (found.jy_sd, jy_sd), (found.js_sd, js_sd)];
        for (found, expected) in pairs {
            let off = (found - expected).abs() / (jy + js);
            assert!(off < 1e-8, "{what}: found {found}, by hand {expected}");
        }
        let shares = [
            (found.kept_sd, self.summary(|l| l.kept).1),
            (found.leaked_sd, self.summary(|l| l.leaked).1),
        ];
        for (found, expected) in shares {
            assert!((found - expected).abs() < 1e-8, "{what}: found {found}, by hand {expected}");
        }
    }
}

/// Problems whose training sets determine the encoder: more rows than features.
fn determined() -> Vec<(&'static str, Data)> {
    problems().into_iter().filter(|(_, d)| d.x.nrows() > 2 * d.x.ncols()).collect()
}

#[test]
fn held_out_losses_are_those_of_the_rows() {
    for (name, data) in determined() {
        for (folds, seed, ridge, cap) in
            [(5, 0, 0.0, None), (2, 7, 0.0, Some(2)), (3, 1, 0.5, None), (10, 3, 0.0, Some(1))]
        {
            let options = MomentsOptions { folds, seed, ..Default::default() };
            let moments = data.moments(&data.linear(), options);
            let heldout = HeldOut::new(&moments, ridge, cap).unwrap();
            for lambda in [0.0, 0.35, 0.8, 1.0] {
                let by_hand = Folds::by_hand(&data, options, ridge, cap, Goal::Lambda(lambda));
                let what = format!("{name}, {folds} folds, ridge {ridge}, lambda {lambda}");
                by_hand.check(heldout.at(lambda).unwrap(), &what);
            }
        }
    }
}

#[test]
fn held_out_goals_are_those_of_the_rows() {
    for (name, data) in determined() {
        let options = MomentsOptions::default();
        let moments = data.moments(&data.linear(), options);
        let heldout = HeldOut::new(&moments, 0.0, None).unwrap();
        let reduced = data.reduced(0.0);
        let front = Front::new(&reduced, None).unwrap();
        for share in [0.02, 0.2] {
            let by_hand = Folds::by_hand(&data, options, 0.0, None, Goal::Leakage(share));
            by_hand.check(heldout.solve(Goal::Leakage(share), &front).unwrap(), name);
            // An absolute goal means the share that it is of all the data.
            let alpha = Goal::Alpha((1.0 - share) * front.bounds().alpha_max);
            by_hand.check(heldout.solve(alpha, &front).unwrap(), name);
        }
    }
}

#[test]
fn points_are_the_losses_at_each_lambda() {
    let data = &problems()[1].1;
    let heldout = HeldOut::new(&data.moments(&data.linear(), MomentsOptions::default()), 0.0, None);
    let heldout = heldout.unwrap();
    let points = heldout.points(11).unwrap();
    for (i, point) in points.iter().enumerate() {
        assert_eq!(*point, heldout.at(i as f64 / 10.0).unwrap());
    }
}

#[test]
fn a_lambda_out_of_range_is_refused() {
    let data = &problems()[0].1;
    let moments = data.moments(&data.linear(), MomentsOptions::default());
    let heldout = HeldOut::new(&moments, 0.0, None).unwrap();
    for lambda in [-0.5, 1.5, f64::NAN] {
        let found = heldout.at(lambda);
        assert!(matches!(found, Err(Error::Argument { .. })), "{lambda}: {found:?}");
    }
}

#[test]
fn one_fold_holds_nothing_out() {
    let data = &problems()[0].1;
    let options = MomentsOptions { folds: 1, ..Default::default() };
    let moments = data.moments(&data.linear(), options);
    assert!(matches!(HeldOut::new(&moments, 0.0, None), Err(Error::Folds(_))));
}

/// Few rows, many features, little signal: plain least squares fits the noise.
#[test]
fn an_overfitted_problem_asks_for_a_ridge() {
    let mut rng = rng(50);
    let (n, m) = (150, 100);
    let x = normal(&mut rng, n, m);
    let noise = normal(&mut rng, n, 2);
    let label = |j: usize| {
        vec![Values::Number(Mat::from_fn(n, 1, |i, _| x[(i, j)] + x[(i, j + 1)] + noise[(i, j)]))]
    };
    let (y, s) = (label(0), label(1));
    let data = Data { x, y, s };
    let moments = data.moments(&data.linear(), MomentsOptions::default());
    let ridges = [0.0, 0.01, 0.1, 1.0, 10.0];
    let lambda = 0.1;
    let scored = choose_ridge(&moments, &ridges, None, Criterion::Lambda(lambda)).unwrap();
    assert!(scored.is_sorted_by(|a, b| a.score <= b.score), "best first");
    assert!(scored[0].ridge > 0.0, "{scored:?}");
    let of = |ridge: f64| scored.iter().find(|c| c.ridge == ridge).unwrap().score;
    assert!(of(scored[0].ridge) < 0.8 * of(0.0), "not by chance: {scored:?}");
    for candidate in &scored {
        let at = HeldOut::new(&moments, candidate.ridge, None).unwrap().at(lambda).unwrap();
        assert_eq!(candidate.score, (1.0 - lambda) * at.jy - lambda * at.js);
    }
    assert!(matches!(
        choose_ridge(&moments, &[], None, Criterion::Front),
        Err(Error::Argument { .. })
    ));
}

/// A target on rings: a sensible bandwidth sees them, a flat or a spiky kernel does not.
#[test]
fn a_sensible_bandwidth_wins() {
    let mut rng = rng(51);
    let x = normal(&mut rng, 600, 2);
    let ring = |i: usize| u32::from(x.row(i).squared_norm_l2() > 1.4);
    let y = (0..600).map(ring).collect();
    let s = (0..600).map(|i| u32::from(x[(i, 0)] + 0.3 * rng.random::<f64>() > 0.0)).collect();
    let data = Data { y: vec![Values::Class(y)], s: vec![Values::Class(s)], x };
    let median = median_gamma(sarl::Family::Rbf, data.x.as_ref()).unwrap();
    let options = LandmarkOptions { cap: 50, ..Default::default() };
    let map = |gamma: f64| {
        FeatureMap::landmarks(Kernel::Rbf { gamma }, data.x.as_ref(), &options).unwrap()
    };
    let maps = [map(1e-4 * median), map(median), map(1e4 * median), data.linear()];
    let accumulate = |map: &FeatureMap| Ok(data.moments(map, MomentsOptions::default()));
    let ridges = [1e-6, 1e-3];
    let choice = choose_map(&maps, &ridges, None, Criterion::Lambda(0.3), accumulate).unwrap();
    assert_eq!(choice.best, 1, "{:?}", choice.scores);
    assert_eq!(choice.scores.iter().map(Vec::len).collect::<Vec<_>>(), [2; 4]);
    let best = choice.scores.iter().flatten().map(|c| c.score).fold(f64::MAX, f64::min);
    let chosen = choice.scores[1].iter().find(|c| c.ridge == choice.ridge).unwrap();
    assert_eq!(chosen.score, best);
    assert_eq!(choice.moments.layout().features(), maps[1].outputs());
}

/// Fold moments merge: two shards are the same held-out losses as one table cut the same way.
#[test]
fn rows_of_each_fold_do_not_depend_on_blocks() {
    let table = synthetic(52, 700, 5, 3, 2);
    let data = Data::from(&table);
    let whole = data.moments(&data.linear(), MomentsOptions::default());
    let mut pieces = data.linear().moments(&data.layout(), MomentsOptions::default()).unwrap();
    for (start, rows) in [(0, 1), (1, 300), (301, 17), (318, 382)] {
        pieces.push(&data.block().slice(start, rows)).unwrap();
    }
    let at = |moments| HeldOut::new(moments, 0.0, None).unwrap().at(0.5).unwrap();
    let (a, b) = (at(&whole), at(&pieces));
    assert!((a.jy - b.jy).abs() < 1e-10 && (a.js_sd - b.js_sd).abs() < 1e-10);
}
