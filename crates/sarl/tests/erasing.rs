//! Full erasure in closed form is that of the whole problem, and its held-out losses are those of
//! erasing rows.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{Table, synthetic};
use faer::{Mat, MatRef};
use sarl::{
    Block, Erasing, FeatureMap, Front, Goal, Layout, Model, Moments, MomentsOptions, Reduced, Role,
    Wide, best_erasing_ridge, erased_heldout,
};

fn layout(table: &Table) -> Layout {
    let classes = table.s.iter().max().map_or(2, |&c| c as usize + 1);
    Layout::dense(table.width).keep_features().class("s", Role::Sensitive, classes)
}

fn moments(table: &Table) -> Moments {
    let mut moments = Moments::new(layout(table), MomentsOptions::default()).unwrap();
    moments.push(&Block::new(table.x()).class(&table.s)).unwrap();
    moments
}

/// `taken ᵀ foundᵀ`: what is taken off a row about the mean.
fn off(found: MatRef<'_, f64>, taken: MatRef<'_, f64>) -> Mat<f64> {
    found * taken
}

fn near(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{what}: {a} is not {b}");
}

#[test]
fn it_is_the_erasure_of_the_whole_problem() {
    for (rows, width, classes) in [(400, 8, 2), (600, 20, 4), (30, 50, 3)] {
        let table = synthetic(7, rows, width, 2, classes);
        let (layout, map) = (layout(&table), FeatureMap::linear(width));
        let covariances = moments(&table).covariances().unwrap();
        for goal in [Goal::Leakage(0.0), Goal::Lambda(1.0)] {
            assert!(Erasing::suits(&layout, &goal));
            let ours = Erasing::new(&map, &layout, &covariances, goal.clone(), 0.0).unwrap();
            let reduced = Reduced::new(&covariances, 0.0).unwrap();
            let whole = Model::new(&map, &layout, &reduced, None, goal).unwrap();
            let theirs = whole.erasure().unwrap();
            let a = off(ours.erasure().found(), ours.erasure().taken());
            let b = off(theirs.found(), theirs.taken());
            assert!((&a - &b).norm_max() <= 1e-9 * (1.0 + b.norm_max()), "{rows} × {width}");
            near(ours.point().losses.jy, whole.point().losses.jy, "jy");
            near(ours.point().losses.js, whole.point().losses.js, "js");
            near(ours.point().utility, whole.point().utility, "utility");
            assert_eq!(ours.point().dim, whole.point().dim);
            assert!(ours.point().leakage == 0.0);
            near(ours.certificate().dual_bound, whole.certificate().dual_bound, "bound");
            let front = Front::new(&reduced, None).unwrap();
            let (a, b) = (ours.bounds(), front.bounds());
            near(a.gamma_max, b.gamma_max, "gamma_max");
            near(a.alpha_min, b.alpha_min, "alpha_min");
            near(a.alpha_star_min, b.alpha_star_min, "alpha_star_min");
            near(a.attainable, b.attainable, "attainable");
        }
    }
}

#[test]
fn it_is_for_full_erasure_only() {
    let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
    assert!(!Erasing::suits(&layout, &Goal::Leakage(0.1)));
    assert!(!Erasing::suits(&layout, &Goal::Utility(1.0)));
    assert!(Erasing::suits(&layout.clone().number("t", Role::Sensitive, 1), &Goal::Leakage(0.0)));
    let kept = Layout::dense(3).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    assert!(!Erasing::suits(&kept, &Goal::Leakage(0.0)));
}

#[test]
fn a_file_holds_little_and_gives_it_back() {
    let table = synthetic(3, 900, 200, 2, 2);
    let covariances = moments(&table).covariances().unwrap();
    let map = FeatureMap::linear(200);
    let ours = Erasing::new(&map, &layout(&table), &covariances, Goal::Leakage(0.0), 0.0).unwrap();
    let bytes = ours.to_bytes().unwrap();
    assert!(bytes.len() < 16_000, "{} bytes", bytes.len());
    assert!(Erasing::is_file(&bytes) && Model::from_bytes(&bytes).is_err());
    let again = Erasing::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes().unwrap(), bytes);
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Erasing::from_bytes(&damaged).is_err(), "byte {at}");
    }
    assert!(Erasing::from_bytes(&bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn a_wide_erasure_is_that_of_the_features() {
    let table = synthetic(11, 40, 90, 2, 3);
    let mut wide = Wide::new(layout(&table), MomentsOptions::default(), 40).unwrap();
    wide.push(&Block::new(table.x()).class(&table.s)).unwrap();
    let spanned = wide.spanned(false).unwrap();
    let goal = Goal::Leakage(0.0);
    let covariances = spanned.moments.covariances().unwrap();
    let ours =
        Erasing::new(&spanned.map, &layout(&table), &covariances, goal.clone(), 0.0).unwrap();
    let covariances = moments(&table).covariances().unwrap();
    let map = FeatureMap::linear(90);
    let theirs = Erasing::new(&map, &layout(&table), &covariances, goal, 0.0).unwrap();
    near(ours.point().losses.jy, theirs.point().losses.jy, "jy");
    // Other weights, but the same on the rows.
    let change = |e: &Erasing| {
        let centred = Mat::from_fn(40, 90, |i, j| table.x()[(i, j)] - e.erasure().mean()[j]);
        centred * off(e.erasure().found(), e.erasure().taken())
    };
    let (a, b) = (change(&ours), change(&theirs));
    assert!((&a - &b).norm_max() <= 1e-8 * b.norm_max());
}

#[test]
fn its_held_out_change_is_that_of_rows_it_has_not_seen() {
    let table = synthetic(5, 240, 12, 2, 3);
    let (held, labels) = erased_heldout(&moments(&table), 0.0).unwrap();
    // Erasure of the other folds, and the change of the rows of the fold.
    let splits = moments(&table).splits().unwrap();
    let (map, goal) = (FeatureMap::linear(12), Goal::Leakage(0.0));
    let mut total = 0.0;
    for (train, test) in &splits {
        let erasing = Erasing::new(&map, &layout(&table), train, goal.clone(), 0.0).unwrap();
        let change = off(erasing.erasure().found(), erasing.erasure().taken());
        let step = Mat::from_fn(12, 1, |j, _| test.mean[j] - train.mean[j]);
        let second = &test.features + &step * step.transpose();
        let lost = change.transpose() * second * &change;
        total += test.weight * (0..12).map(|j| lost[(j, j)]).sum::<f64>();
    }
    near(held.jy, total / 240.0, "held-out change");
    assert!(held.js > 0.0 && labels.sensitive.len() == 1);
    near(labels.sensitive[0].loss, held.js, "the label's loss");
}

#[test]
fn few_rows_leak_to_an_adversary_with_rows_of_its_own() {
    // Classes that are told by many features a little: few rows cannot find the direction.
    let table = synthetic(8, 300, 60, 2, 2);
    let held = erased_heldout(&moments(&table), 0.0).unwrap().0;
    let whole = sarl::HeldOut::new(&moments(&table), 0.0, None).unwrap();
    let covariances = moments(&table).covariances().unwrap();
    let reduced = Reduced::new(&covariances, 0.0).unwrap();
    let front = Front::new(&reduced, None).unwrap();
    let theirs = whole.solve(Goal::Leakage(0.0), &front).unwrap();
    // The same adversary but for the units that its weights shrink in.
    assert!((held.leakage - theirs.leakage).abs() < 0.1, "{held:?} {theirs:?}");
    assert!((held.jy - theirs.jy).abs() <= 1e-6 * theirs.jy, "{held:?} {theirs:?}");
}

#[test]
fn several_labels_are_hidden_each() {
    let table = synthetic(13, 500, 10, 2, 3);
    let age: Vec<f64> = (0..500).map(|i| 40.0 * table.x()[(i, 2)] + (i % 7) as f64).collect();
    let layout = layout(&table).number("age", Role::Sensitive, 1);
    let mut moments = Moments::new(layout.clone(), MomentsOptions::default()).unwrap();
    let block = Block::new(table.x()).class(&table.s);
    let age = MatRef::from_column_major_slice(&age, 500, 1);
    moments.push(&block.number(age)).unwrap();
    let covariances = moments.covariances().unwrap();
    let (map, goal) = (FeatureMap::linear(10), Goal::Leakage(0.0));
    let ours = Erasing::new(&map, &layout, &covariances, goal.clone(), 0.0).unwrap();
    let reduced = Reduced::new(&covariances, 0.0).unwrap();
    let whole = Model::new(&map, &layout, &reduced, None, goal.clone()).unwrap();
    let theirs = whole.erasure().unwrap();
    let a = off(ours.erasure().found(), ours.erasure().taken());
    let b = off(theirs.found(), theirs.taken());
    assert!((&a - &b).norm_max() <= 1e-9 * (1.0 + b.norm_max()));
    near(ours.point().losses.js, whole.point().losses.js, "js");
    for (a, b) in ours.attributes().sensitive.iter().zip(&whole.attributes().unwrap().sensitive) {
        assert_eq!((&a.name, a.limit), (&b.name, b.limit));
        near(a.loss, b.loss, &a.name);
        near(a.share, b.share, &a.name);
    }
    let (held, labels) = erased_heldout(&moments, 0.0).unwrap();
    let front = Front::new(&reduced, None).unwrap();
    let whole = sarl::HeldOut::new(&moments, 0.0, None).unwrap();
    let (theirs, each) = whole.solve_each(goal, &front).unwrap();
    assert!((held.jy - theirs.jy).abs() <= 1e-6 * theirs.jy, "{held:?} {theirs:?}");
    for (a, b) in labels.sensitive.iter().zip(&each.sensitive) {
        assert!(a.name == b.name && (a.share - b.share).abs() < 0.05, "{a:?} {b:?}");
    }
}

#[test]
fn a_ridge_hides_more_from_an_adversary_with_rows_of_its_own() {
    // What tells the label lies along the directions of much variance; 60 features, 400 rows.
    let (rows, width) = (400, 60);
    let table = synthetic(21, rows, width, 2, 2);
    let size = |j: usize| 1.0 / (1.0 + j as f64);
    let common: Vec<f64> = (0..rows).map(|i| f64::from(table.s[i]) + table.x()[(i, 0)]).collect();
    let x: Vec<f64> = (0..rows * width)
        .map(|at| (at / width, at % width))
        .map(|(i, j)| common[i] * size(j) + table.x()[(i, j)] * 0.3)
        .collect();
    let mut moments = Moments::new(layout(&table), MomentsOptions::default()).unwrap();
    let x = MatRef::from_row_major_slice(&x, rows, width);
    moments.push(&Block::new(x).class(&table.s)).unwrap();
    let ridge = best_erasing_ridge(&moments).unwrap();
    let leaked = |ridge: f64| erased_heldout(&moments, ridge).unwrap().0.leakage;
    assert!(ridge > 0.0 && leaked(ridge) < leaked(0.0), "{ridge}");
    let map = FeatureMap::linear(width);
    let solve = |ridge: f64| {
        let covariances = moments.covariances().unwrap();
        Erasing::new(&map, &layout(&table), &covariances, Goal::Leakage(0.0), ridge).unwrap()
    };
    // What must go still goes, and a little more; the price is in the certificate.
    let (plain, ridged) = (solve(0.0), solve(ridge));
    let covariances = moments.covariances().unwrap();
    let left = &covariances.sensitive.cross
        - ridged.erasure().taken().transpose()
            * (ridged.erasure().found().transpose() * &covariances.sensitive.cross);
    assert!(left.norm_max() <= 1e-12 * covariances.sensitive.cross.norm_max().max(1.0));
    assert_eq!(ridged.erasure().found().ncols(), 2 * plain.erasure().found().ncols());
    near(ridged.certificate().dual_bound, plain.point().losses.jy, "bound");
    assert!(ridged.certificate().gap > 0.0 && ridged.ridge() == ridge);
    assert_eq!(Erasing::from_bytes(&ridged.to_bytes().unwrap()).unwrap().ridge(), ridge);
    let erased = ridged.erasure().apply(x).unwrap();
    let erased = MatRef::from_row_major_slice(&erased, rows, width);
    let expected = {
        let e = ridged.erasure();
        let centred = Mat::from_fn(rows, width, |i, j| x[(i, j)] - e.mean()[j]);
        x - &centred * off(e.found(), e.taken())
    };
    assert!((erased - &expected).norm_max() < 1e-12);
    assert!(ridged.erasure().apply(x.subcols(0, 3)).is_err());
    let bad = Erasing::new(&map, &layout(&table), &covariances, Goal::Leakage(0.0), f64::NAN);
    assert!(bad.is_err());
}

#[test]
fn where_nothing_is_left_nothing_is_found() {
    // More classes than features: all of them go.
    let table = synthetic(9, 400, 3, 2, 8);
    let (held, labels) = erased_heldout(&moments(&table), 0.0).unwrap();
    assert!(held.leakage <= 1e-9 && held.leakage > -0.1, "{}", held.leakage);
    assert!(labels.sensitive[0].share <= 1e-9);
}
