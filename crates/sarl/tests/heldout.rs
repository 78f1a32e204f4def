//! Held-out losses from fold moments against the same folds done row by row.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values, problems};
use common::{normal, rng, synthetic};
use faer::prelude::{Solve, SolveLstsq};
use faer::{Mat, MatRef};
use rand::RngExt;
use sarl::{
    Error, FeatureMap, Front, Goal, HeldOut, HeldOutLosses, Kernel, LandmarkOptions,
    MomentsOptions, best_ridge, median_gamma,
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

/// What an adversary may add to the variance of each dimension of z (`front::heldout::SHRINKAGE`,
/// which is private), as shares of their mean.
const SHRINKAGE: [f64; 6] = [1e-9, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The same for least squares that shrink: centred, with a share of the mean variance added.
fn tested_shrunk(train: (&Mat<f64>, Mat<f64>), test: (&Mat<f64>, Mat<f64>), shrinkage: f64) -> f64 {
    let n = train.0.nrows() as f64;
    let mean = |a: &Mat<f64>| -> Vec<f64> {
        (0..a.ncols()).map(|j| a.col(j).iter().sum::<f64>() / a.nrows() as f64).collect()
    };
    let about =
        |a: &Mat<f64>, m: &[f64]| Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] - m[j]);
    let (mz, ms) = (mean(train.0), mean(&train.1));
    let (z, s) = (about(train.0, &mz), about(&train.1, &ms));
    let mut c = z.transpose() * &z * faer::Scale(1.0 / n);
    let size = c.nrows();
    let variance = (0..size).map(|i| c[(i, i)]).sum::<f64>() / size.max(1) as f64;
    (0..size).for_each(|i| c[(i, i)] += shrinkage * variance);
    let cross = z.transpose() * &s * faer::Scale(1.0 / n);
    let fitted = if size == 0 { cross } else { c.full_piv_lu().solve(cross) };
    let residual = about(&test.1, &ms) - about(test.0, &mz) * fitted;
    residual.squared_norm_l2() / test.0.nrows() as f64
}

/// Rows in the fold, a loss on it, and what it explains of the label there.
#[derive(Clone, Copy)]
struct Fold {
    rows: f64,
    loss: f64,
    share: f64,
}

impl Fold {
    /// The mean of the training rows is all that is known without z.
    fn new(loss: f64, train: Mat<f64>, test: Mat<f64>) -> Self {
        let nothing = |rows: &Mat<f64>| Mat::zeros(rows.nrows(), 0);
        let (a, b, rows) = (nothing(&train), nothing(&test), test.nrows() as f64);
        let without = tested((&a, train), (&b, test));
        Fold { rows, loss, share: 1.0 - loss / without }
    }
}

/// The mean over rows, the deviation between folds, and that of the shares.
fn summary(folds: &[Fold]) -> [f64; 3] {
    let rows: f64 = folds.iter().map(|l| l.rows).sum();
    let of = |value: fn(&Fold) -> f64| {
        let mean = folds.iter().map(|l| l.rows * value(l)).sum::<f64>() / rows;
        let squares: f64 = folds.iter().map(|l| (value(l) - mean).powi(2)).sum();
        (mean, (squares / (folds.len() - 1) as f64).sqrt())
    };
    let ((mean, deviation), (_, shares)) = (of(|l| l.loss), of(|l| l.share));
    [mean, deviation, shares]
}

struct Folds {
    target: [f64; 3],
    sensitive: [f64; 3],
}

impl Folds {
    /// Fits on rows outside each fold, and tests on the rows inside.
    fn by_hand(
        data: &Data,
        options: MomentsOptions,
        ridge: f64,
        cap: Option<usize>,
        goal: Goal,
    ) -> Self {
        let folds = options.folds;
        let rows = |which: &[usize]| -> Vec<usize> {
            let fold = |i: &usize| fold_of(*i as u64, folds as u64, options.seed);
            (0..data.x.nrows()).filter(|i| which.contains(&fold(i))).collect()
        };
        // One-hot columns of all the data: a fold may lack a class.
        let (y, s) = (data.targets(), data.sensitives());
        let encode = |fitted: &[usize]| {
            let train = pick(data, fitted);
            let encoder = train.model(&train.reduced(ridge), cap, goal.clone()).unwrap().encoder();
            move |rows: &[usize]| encoder.encode(rows_of(&data.x, rows).as_ref()).unwrap()
        };
        let mut adversaries: Vec<Vec<Fold>> = vec![Vec::new(); 1 + SHRINKAGE.len()];
        let mut target = Vec::new();
        for f in 0..folds {
            let others: Vec<usize> = (1..folds).map(|step| (f + step) % folds).collect();
            let (out, inside) = (rows(&others), rows(&[f]));
            let z = encode(&out);
            let plain = |labels: &Mat<f64>| {
                let (a, b) = (rows_of(labels, &out), rows_of(labels, &inside));
                let loss = tested((&z(&out), a.clone()), (&z(&inside), b.clone()));
                Fold::new(loss, a, b)
            };
            target.push(plain(&y));
            adversaries[0].push(plain(&s));
            if folds < 3 {
                continue;
            }
            let (first, second) = (rows(&others[..folds / 2]), rows(&others[folds / 2..]));
            let z = encode(&first);
            for (i, &shrinkage) in SHRINKAGE.iter().enumerate() {
                let (a, b) = (rows_of(&s, &second), rows_of(&s, &inside));
                let rows = (&z(&second), &z(&inside));
                let loss = tested_shrunk((rows.0, a.clone()), (rows.1, b.clone()), shrinkage);
                adversaries[i + 1].push(Fold::new(loss, a, b));
            }
        }
        let adversaries = adversaries.iter().filter(|a| !a.is_empty()).map(|a| summary(a));
        let worst = adversaries.min_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
        Folds { target: summary(&target), sensitive: worst }
    }

    fn check(&self, found: HeldOutLosses, what: &str) {
        let size = self.target[0] + self.sensitive[0];
        let [jy, jy_sd, kept_sd] = self.target;
        let [js, js_sd, leaked_sd] = self.sensitive;
        let pairs = [(found.jy, jy), (found.js, js), (found.jy_sd, jy_sd), (found.js_sd, js_sd)];
        for (found, expected) in pairs {
            let off = (found - expected).abs() / size;
            assert!(off < 1e-7, "{what}: found {found}, by hand {expected}");
        }
        for (found, expected) in [(found.kept_sd, kept_sd), (found.leaked_sd, leaked_sd)] {
            assert!((found - expected).abs() < 1e-7, "{what}: found {found}, by hand {expected}");
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
            // With several attributes a share is a limit for each, and a loss one for their sum.
            if data.s.len() > 1 {
                continue;
            }
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
    assert!(matches!(
        HeldOut::new(&moments, 0.0, None),
        Err(Error::OneFold | Error::FewInFold { .. })
    ));
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
    // By hand: the held-out criterion over the front.
    let score = |ridge: f64| {
        let held = HeldOut::new(&moments, ridge, None).unwrap();
        let at = |k: usize| {
            let lambda = k as f64 / 20.0;
            let losses = held.at(lambda).unwrap();
            (1.0 - lambda) * losses.jy - lambda * losses.js
        };
        (0..21).map(at).sum::<f64>() / 21.0
    };
    let best = best_ridge(&moments, None).unwrap();
    assert!(best.ridge > 0.0 && !best.largest, "{best:?}");
    assert!(score(best.ridge) < score(0.0) - 0.05, "not by chance");
    for factor in [1e-2, 1e-1, 10.0, 100.0] {
        assert!(score(best.ridge) <= score(factor * best.ridge), "{factor} times as large");
    }
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
    let score = |map: &FeatureMap| {
        let moments = data.moments(map, MomentsOptions::default());
        let losses = HeldOut::new(&moments, 1e-3, None).unwrap().at(0.3).unwrap();
        0.7 * losses.jy - 0.3 * losses.js
    };
    let scores = maps.each_ref().map(score);
    let others = [scores[0], scores[2], scores[3]];
    assert!(others.iter().all(|other| scores[1] < *other), "{scores:?}");
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

/// A column that varies in one row only is constant in the other folds, up to rounding.
#[test]
fn a_column_that_varies_in_one_row() {
    let table = synthetic(53, 400, 4, 2, 2);
    let plain = Data::from(&table);
    let wide = Mat::from_fn(400, 6, |i, j| match j {
        0..4 => plain.x[(i, j)],
        4 => 0.1 + if i == 17 { 3.7 } else { 0.0 },
        _ => 1e3 / 3.0 + if i == 230 { 0.01 } else { 0.0 },
    });
    let data = Data { x: wide, ..Data::from(&table) };
    for standard in [false, true] {
        let mut moments = data.moments(&data.linear(), MomentsOptions::default());
        if standard {
            moments.standardise().unwrap();
        }
        let with = HeldOut::new(&moments, 0.0, None).unwrap().at(0.0).unwrap();
        let moments = plain.moments(&plain.linear(), MomentsOptions::default());
        let without = HeldOut::new(&moments, 0.0, None).unwrap().at(0.0).unwrap();
        // The columns add two directions that a single row decides: a little noise, not more.
        assert!((with.jy - without.jy).abs() < 0.02 * without.jy, "{with:?} {without:?}");
    }
}

/// A landmark that only the tested fold knows must not serve there: fitted anew on the other rows,
/// the encoder would not have it.
#[test]
fn kernels_are_tested_as_if_fitted_anew() {
    let mut rng = rng(54);
    let n = 300;
    // Rare far points: each is a landmark, and no other row is near it.
    let mut x = normal(&mut rng, n, 3);
    (0..30).for_each(|i| x[(10 * i, i % 3)] += 20.0 + i as f64);
    let noise = normal(&mut rng, n, 2);
    let label = |j: usize| -> Vec<Values> {
        let sign = |i: usize| u32::from(x[(i, j)].sin() + 0.5 * noise[(i, j)] > 0.0);
        vec![Values::Class((0..n).map(sign).collect())]
    };
    let (y, s) = (label(0), label(1));
    let data = Data { x, y, s };
    let options = MomentsOptions::default();
    let kernel = Kernel::Rbf { gamma: 0.3 };
    for choice in [sarl::Choice::Exact, sarl::Choice::Adaptive] {
        let landmarks = LandmarkOptions { choice, cap: 200, ..Default::default() };
        let map = FeatureMap::landmarks(kernel, data.x.as_ref(), &landmarks).unwrap();
        let found = HeldOut::new(&data.moments(&map, options), 1e-3, None).unwrap();
        let found = found.at(0.0).unwrap().jy;
        let refit = |f: usize| {
            let fold = |i: usize| fold_of(i as u64, options.folds as u64, options.seed);
            let (out, inside): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| fold(i) != f);
            let train = pick(&data, &out);
            let map = FeatureMap::landmarks(kernel, train.x.as_ref(), &landmarks).unwrap();
            let moments = train.moments(&map, MomentsOptions { folds: 1, ..options });
            let reduced = sarl::Reduced::new(&moments.covariances().unwrap(), 1e-3).unwrap();
            let goal = Goal::Lambda(0.0);
            let model = sarl::Model::new(&map, &train.layout(), &reduced, None, goal).unwrap();
            let z =
                |rows: &[usize]| model.encoder().encode(rows_of(&data.x, rows).as_ref()).unwrap();
            let y = data.targets();
            let loss = tested((&z(&out), rows_of(&y, &out)), (&z(&inside), rows_of(&y, &inside)));
            loss * inside.len() as f64 / n as f64
        };
        let refits: f64 = (0..options.folds).map(refit).sum();
        let close = if choice == sarl::Choice::Exact { 1e-6 } else { 0.1 };
        assert!((found - refits).abs() < close * refits, "{choice:?}: {found}, refits {refits}");
    }
}
