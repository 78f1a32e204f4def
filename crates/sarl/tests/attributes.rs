//! A limit for each of several labels: met on rows, at the optimum, whatever the problem.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::collections::BTreeMap;

use common::dense::{Data, Dense, Values, regression_loss, rivals};
use common::{normal, rng};
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sarl::{Error, Front, Goal, Method, Model, Reduced};

/// Labels that depend on a few features each, of mixed widths, kinds and units.
fn label(rng: &mut ChaCha8Rng, x: &Mat<f64>) -> Values {
    let (rows, width) = x.shape();
    let columns = rng.random_range(1..=4);
    let noise = 10f64.powf(rng.random_range(-1.5..1.0));
    let signal = x * normal(rng, width, columns) * faer::Scale(1.0 / (width as f64).sqrt());
    let values = signal + normal(rng, rows, columns) * faer::Scale(noise);
    match rng.random_range(0..3) {
        0 => {
            let classes = columns.max(2) as f64;
            let code = |i: usize| ((values[(i, 0)].tanh() + 1.0) / 2.0 * classes * 0.999) as u32;
            let codes: Vec<u32> = (0..rows).map(code).collect();
            match codes.iter().any(|c| *c != codes[0]) {
                true => Values::Class(codes),
                false => Values::Number(values),
            }
        }
        _ => Values::Number(values * faer::Scale(10f64.powf(rng.random_range(-3.0..4.0)))),
    }
}

struct Shape {
    rows: usize,
    width: usize,
    targets: usize,
    sensitives: usize,
}

fn random(seed: u64, shape: &Shape) -> Data {
    let mut rng = rng(seed);
    let mix = normal(&mut rng, shape.width, shape.width);
    let x = normal(&mut rng, shape.rows, shape.width) * mix;
    let y = (0..shape.targets).map(|_| label(&mut rng, &x)).collect();
    let s = (0..shape.sensitives).map(|_| label(&mut rng, &x)).collect();
    Data { x, y, s }
}

/// The share of each label's variance that least squares on the rows of z explains.
fn explained(labels: &[Values], z: MatRef<'_, f64>) -> Vec<f64> {
    let nothing = Mat::zeros(z.nrows(), 0);
    let share = |label: &Values| {
        let columns = label.columns();
        1.0 - regression_loss(z, &columns) / regression_loss(nothing.as_ref(), &columns)
    };
    labels.iter().map(share).collect()
}

fn targets(data: &Data) -> Vec<Values> {
    if data.y.is_empty() { vec![Values::Number(data.x.clone())] } else { data.y.clone() }
}

/// All limits are met, in the model's figures to the last bit, on rows up to rounding.
fn assert_met(data: &Data, model: &Model, what: &str) {
    let z = model.encoder().encode(data.x.as_ref()).unwrap();
    let found = model.attributes().unwrap();
    let leaked = explained(&data.s, z.as_ref());
    let (kept, all) =
        (explained(&targets(data), z.as_ref()), explained(&targets(data), data.x.as_ref()));
    for (attribute, rows) in found.sensitive.iter().zip(&leaked) {
        let told = attribute.share;
        assert!((told - rows).abs() < 1e-8, "{what}: {attribute:?}, on rows {rows}");
        // A correlation that counts as none may be left where nothing may leak.
        let met = |limit: f64| told <= limit || (limit == 0.0 && told <= 1e-14);
        assert!(attribute.limit.is_none_or(met), "{what}: {attribute:?}");
        assert!(told <= model.point().leakage, "{what}");
    }
    for (attribute, (rows, all)) in found.target.iter().zip(kept.iter().zip(&all)) {
        let told = attribute.share;
        assert!((told * all - rows).abs() < 1e-8, "{what}: {attribute:?}, on rows {rows} of {all}");
        assert!(attribute.limit.is_none_or(|limit| told >= limit), "{what}: {attribute:?}");
        assert!(told >= model.point().utility, "{what}");
    }
}

/// What a subspace of the dense problem explains of each label, as shares.
fn shares(dense: &Dense, labels: &[Values], g: &Mat<f64>) -> Vec<f64> {
    let z = &dense.basis * common::dense::orthonormal(g);
    explained(labels, z.as_ref())
}

fn fits(goal: &Goal, kept: &[f64], all: &[f64], leaked: &[f64]) -> bool {
    match goal {
        Goal::Leakage(most) => leaked.iter().all(|l| l <= most),
        Goal::Utility(least) => kept.iter().zip(all).all(|(k, a)| *k >= least * a),
        _ => unreachable!("not asked"),
    }
}

fn scaled_losses(data: &Data, kept: &[f64], leaked: &[f64]) -> (f64, f64) {
    let total = |labels: &[Values], shares: &[f64]| match labels {
        [one] => {
            let columns = one.columns();
            let nothing = Mat::zeros(columns.nrows(), 0);
            (1.0 - shares[0]) * regression_loss(nothing.as_ref(), &columns)
        }
        _ => shares.iter().map(|s| 1.0 - s).sum(),
    };
    (total(&targets(data), kept), total(&data.s, leaked))
}

/// No encoder that meets the limits does better than the dual bound says.
fn assert_not_beaten(data: &Data, dense: &Dense, model: &Model, goal: &Goal, what: &str) {
    let mut rng = rng(9);
    let z = model.encoder().encode(data.x.as_ref()).unwrap();
    let all = explained(&targets(data), data.x.as_ref());
    let bound = model.certificate().dual_bound;
    let cap = model.cap().unwrap_or(dense.size());
    for rival in rivals(&mut rng, &dense.subspace(z.as_ref()), cap, 60) {
        let (kept, leaked) =
            (shares(dense, &targets(data), &rival), shares(dense, &data.s, &rival));
        if !fits(goal, &kept, &all, &leaked) {
            continue;
        }
        let (jy, js) = scaled_losses(data, &kept, &leaked);
        let beaten = match goal {
            Goal::Leakage(_) => jy < bound - 1e-8 * dense.ty,
            _ => js > bound + 1e-8 * dense.ts,
        };
        assert!(!beaten, "{what}: ({jy}, {js}) beats {bound}");
    }
}

#[test]
fn every_limit_is_met_on_rows_and_no_encoder_does_better() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut worst = 0.0_f64;
    for seed in 0..60 {
        let mut pick = rng(1000 + seed);
        let shape = Shape {
            rows: if seed % 7 == 0 { 18 } else { 250 },
            width: pick.random_range(3..=24),
            targets: pick.random_range(0..=3),
            sensitives: pick.random_range(1..=5),
        };
        let data = random(seed, &shape);
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        let spare = reduced.basis() > reduced.size() + 2;
        let share = 10f64.powf(pick.random_range(-4.0..-0.2));
        for cap in [None, Some(2)] {
            for goal in [Goal::Leakage(share), Goal::Utility(1.0 - share), Goal::Leakage(0.0)] {
                let what = format!("seed {seed}, {cap:?}, {goal:?}");
                let model = match data.model(&reduced, cap, goal.clone()) {
                    Ok(model) => model,
                    Err(Error::Unreachable { high, asked, .. }) => {
                        assert!(cap.is_some() && high < asked, "{what}: {high}");
                        assert!(matches!(goal, Goal::Utility(_)), "{what}");
                        continue;
                    }
                    Err(error) => panic!("{what}: {error}"),
                };
                assert_met(&data, &model, &what);
                let scale = dense.ty + dense.ts;
                let gap = model.certificate().gap / scale;
                assert!(gap > -1e-9, "{what}: gap {gap:e}");
                if spare && cap.is_none() {
                    assert!(gap < 1e-8, "{what}: gap {gap:e}");
                }
                worst = worst.max(gap);
                assert_not_beaten(&data, &dense, &model, &goal, &what);
                let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
                assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap(), "{what}");
                *seen.entry(format!("{:?}", model.method())).or_insert(0) += 1;
            }
        }
    }
    common::say(&format!("methods {seen:?}, largest gap {worst:e}"));
    assert_eq!(seen.len(), 3, "all ways are needed: {seen:?}");
}

fn named(limits: &[(&str, f64)]) -> BTreeMap<String, f64> {
    limits.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect()
}

fn three() -> (Data, Reduced) {
    let shape = Shape { rows: 400, width: 12, targets: 2, sensitives: 3 };
    let data = random(77, &shape);
    let reduced = data.reduced(0.0);
    (data, reduced)
}

#[test]
fn names_limit_those_that_are_named() {
    let (data, reduced) = three();
    let goal = Goal::LeakageOf(named(&[("Sensitive0", 0.01), ("Sensitive2", 0.003)]));
    let model = data.model(&reduced, None, goal).unwrap();
    assert_met(&data, &model, "named");
    let found = model.attributes().unwrap().sensitive;
    let limits: Vec<Option<f64>> = found.iter().map(|a| a.limit).collect();
    assert_eq!(limits, [Some(0.01), None, Some(0.003)]);
    assert!(found[1].share > 0.02, "what is not limited leaks: {found:?}");
    assert!(model.certificate().gap.abs() < 1e-9);
    let goal = Goal::UtilityOf(named(&[("Target1", 0.9)]));
    let model = data.model(&reduced, None, goal).unwrap();
    assert_met(&data, &model, "named target");
    let found = model.attributes().unwrap().target;
    assert!(found[1].share < 0.9 + 1e-6, "no more than was asked: {found:?}");
    for (goal, message) in [
        (
            Goal::LeakageOf(named(&[("sex", 0.1)])),
            "there is no sensitive attribute `sex`: expected `Sensitive0`, `Sensitive1` or \
             `Sensitive2`",
        ),
        (
            Goal::UtilityOf(named(&[("sex", 0.1)])),
            "there is no target `sex`: expected `Target0` or `Target1`",
        ),
        (Goal::LeakageOf(named(&[])), "the number of limits is 0: expected at least one"),
        (Goal::LeakageOf(named(&[("Sensitive0", 2.0)])), "leakage is 2: expected 0 to 1"),
    ] {
        let error = data.model(&reduced, None, goal).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// One label, or others that are not limited: the closed form, whichever code solves it.
#[test]
fn one_limit_is_the_closed_form() {
    for seed in 0..8 {
        let shape = Shape { rows: 300, width: 14, targets: 1, sensitives: 1 };
        let data = random(200 + seed, &shape);
        // A label that no feature knows well, so that the general solver has the same problem.
        let mut both = data.clone();
        let mut rng = rng(seed);
        both.s.push(Values::Number(normal(&mut rng, 300, 1)));
        let (one, two) = (data.reduced(0.0), both.reduced(0.0));
        let total = data.dense().ty;
        for limit in [0.3, 0.05, 0.001] {
            let closed = data.model(&one, None, Goal::Leakage(limit)).unwrap();
            let alone = Goal::LeakageOf(named(&[("Sensitive0", limit)]));
            let same = data.model(&one, None, alone.clone()).unwrap();
            assert_eq!(same.encoder().weights(), closed.encoder().weights());
            let general = both.model(&two, None, alone).unwrap();
            let (a, b) = (closed.point().losses.jy, general.point().losses.jy);
            assert!((a - b).abs() < 1e-11 * total, "seed {seed}, {limit}: {a} and {b} of {total}");
        }
    }
}

#[test]
fn limits_that_do_not_bind_change_nothing() {
    let (data, reduced) = three();
    let full = data.model(&reduced, None, Goal::Lambda(0.0)).unwrap();
    for limit in [1.0, full.point().leakage, full.point().leakage * (1.0 + 1e-9)] {
        let model = data.model(&reduced, None, Goal::Leakage(limit)).unwrap();
        assert!((model.point().utility - 1.0).abs() < 1e-9, "{limit}: {:?}", model.point());
        assert_met(&data, &model, "not binding");
    }
    let nothing = data.model(&reduced, None, Goal::Utility(0.0)).unwrap();
    assert_eq!(nothing.point().leakage, 0.0);
}

/// Limits 0 leak nothing, not even in the last bit.
#[test]
fn nothing_is_nothing() {
    let (data, reduced) = three();
    for goal in [
        Goal::Leakage(0.0),
        Goal::LeakageOf(named(&[("Sensitive1", 0.0)])),
        Goal::LeakageOf(named(&[("Sensitive1", 0.0), ("Sensitive2", 0.01)])),
    ] {
        let model = data.model(&reduced, None, goal.clone()).unwrap();
        assert_met(&data, &model, &format!("{goal:?}"));
        assert_eq!(model.attributes().unwrap().sensitive[1].share, 0.0);
        assert!(model.certificate().gap.abs() < 1e-9, "{goal:?}: {:?}", model.certificate());
        assert!(model.point().utility > 0.01);
    }
    let all = data.model(&reduced, None, Goal::UtilityOf(named(&[("Target0", 1.0)]))).unwrap();
    assert_eq!(all.attributes().unwrap().target[0].share, 1.0);
    assert!(all.certificate().gap.abs() < 1e-9, "{:?}", all.certificate());
}

/// Copies of one label are one label; a label that no feature knows does not matter.
#[test]
fn copies_and_noise() {
    let (mut data, _) = three();
    let copy = data.s[0].clone();
    data.s = vec![copy.clone(), copy.clone(), copy];
    let mut single = data.clone();
    single.s.truncate(1);
    let (three, one) = (data.reduced(0.0), single.reduced(0.0));
    for limit in [0.1, 0.01, 1e-6] {
        let many = data.model(&three, None, Goal::Leakage(limit)).unwrap();
        assert_met(&data, &many, "copies");
        let alone = single.model(&one, None, Goal::Leakage(limit)).unwrap();
        let (a, b) = (alone.point().losses.jy, many.point().losses.jy);
        assert!((a - b).abs() < 1e-9 * a, "{limit}: {a} and {b}");
    }
    let mut rng = rng(5);
    data.s[1] = Values::Number(normal(&mut rng, 400, 2));
    let model = data.model(&data.reduced(0.0), None, Goal::Leakage(0.05)).unwrap();
    assert_met(&data, &model, "noise");
}

/// A tiny problem, searched exhaustively: one direction out of a plane, two limits.
#[test]
fn a_plane_searched_by_hand() {
    for seed in 0..12 {
        let shape = Shape { rows: 120, width: 2, targets: 1, sensitives: 2 };
        let data = random(300 + seed, &shape);
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        let limit = 0.05 + 0.02 * seed as f64;
        let model = data.model(&reduced, Some(1), Goal::Leakage(limit)).unwrap();
        assert_met(&data, &model, "plane");
        let best = (0..200_000).map(|i| {
            let angle = std::f64::consts::PI * f64::from(i) / 200_000.0;
            let g = Mat::from_fn(2, 1, |r, _| if r == 0 { angle.cos() } else { angle.sin() });
            let share = |at: usize, columns: usize, total: f64| {
                let part = dense.s.subcols(at, columns);
                (g.transpose() * part).squared_norm_l2() / total
            };
            let widths: Vec<usize> = data.s.iter().map(|l| l.columns().ncols()).collect();
            let fits =
                share(0, widths[0], 1.0) <= limit && share(widths[0], widths[1], 1.0) <= limit;
            if fits { dense.ty - (g.transpose() * &dense.y).squared_norm_l2() } else { dense.ty }
        });
        let best = best.fold(f64::INFINITY, f64::min);
        let jy = model.point().losses.jy;
        assert!(jy <= best + 1e-6 * dense.ty, "seed {seed}: {jy}, by hand {best}");
        assert!(model.certificate().dual_bound <= best + 1e-9 * dense.ty);
    }
}

/// With the features as the target there is no direction to spare.
#[test]
fn erasure_with_a_limit_for_each() {
    let mut gaps = 0.0_f64;
    for seed in 0..10 {
        let shape = Shape { rows: 300, width: 8, targets: 0, sensitives: 2 };
        let data = random(400 + seed, &shape);
        let reduced = data.reduced(0.0);
        let front = Front::new(&reduced, None).unwrap();
        let b = *front.bounds();
        for limit in [0.2, 0.02, 0.001] {
            let model = data.model(&reduced, None, Goal::Leakage(limit)).unwrap();
            assert_met(&data, &model, &format!("erasure, seed {seed}, {limit}"));
            let blind = b.target_variance - b.gamma_max;
            let kept = b.target_variance - model.point().losses.jy;
            assert!(kept >= blind * (1.0 - 1e-9), "no less than full erasure keeps");
            let gap = model.certificate().gap / b.target_variance;
            assert!(gap > -1e-9 && gap < 0.05, "seed {seed}, {limit}: gap {gap}");
            gaps = gaps.max(gap);
            assert!(matches!(model.method(), Method::Rotated | Method::Spectral));
        }
    }
    common::say(&format!("largest gap without spare directions {gaps:e}"));
}

/// With a ridge the limits are those of unregularised adversaries all the same.
#[test]
fn limits_hold_with_a_ridge() {
    for seed in 0..6 {
        let shape = Shape { rows: 200, width: 10, targets: 2, sensitives: 2 };
        let data = random(500 + seed, &shape);
        let reduced = data.reduced(0.5);
        let high = Front::new(&reduced, None).unwrap().point(0.0).unwrap().utility;
        for goal in [
            Goal::Leakage(0.05),
            Goal::Leakage(0.002),
            Goal::Leakage(0.0),
            Goal::LeakageOf(named(&[("Sensitive1", 0.01)])),
            Goal::Utility(0.6 * high),
        ] {
            let what = format!("ridge, seed {seed}, {goal:?}");
            let model = data.model(&reduced, None, goal.clone());
            let model = model.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_met(&data, &model, &what);
            assert!(model.certificate().gap > -1e-9, "{what}");
        }
    }
}

/// Predictions come in the units of the labels.
#[test]
fn predictions_are_in_own_units() {
    let (data, reduced) = three();
    let model = data.model(&reduced, None, Goal::Leakage(0.05)).unwrap();
    let encoder = model.encoder();
    let z = encoder.encode(data.x.as_ref()).unwrap();
    let found = model.attributes().unwrap();
    for (role, labels, figures) in [
        (sarl::Role::Target, &data.y, &found.target),
        (sarl::Role::Sensitive, &data.s, &found.sensitive),
    ] {
        let predicted = encoder.predict(role, z.as_ref()).unwrap();
        let mut at = 0;
        for (label, figure) in labels.iter().zip(figures) {
            let columns = label.columns();
            let part = predicted.as_ref().subcols(at, columns.ncols());
            let loss = (&columns - part).squared_norm_l2() / columns.nrows() as f64;
            assert!((loss - figure.loss).abs() < 1e-9 * loss, "{figure:?}: {loss}");
            at += columns.ncols();
        }
    }
}
