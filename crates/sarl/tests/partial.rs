//! Partial erasure in a few directions is that of the whole problem.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;

use common::{Table, synthetic};
use faer::Mat;
use sarl::{
    Block, Covariances, Erasing, FeatureMap, Front, Goal, Layout, Model, Moments, MomentsOptions,
    Reduced, Role, erased_heldout_at, erased_heldout_points,
};

fn layout(table: &Table) -> Layout {
    let classes = table.s.iter().max().map_or(2, |&c| c as usize + 1);
    Layout::dense(table.width).keep_features().class("s", Role::Sensitive, classes)
}

fn covariances(layout: &Layout, x: &Mat<f64>, s: &[u32]) -> Covariances {
    let mut moments = Moments::new(layout.clone(), MomentsOptions::default()).unwrap();
    moments.push(&Block::new(x.as_ref()).class(s)).unwrap();
    moments.covariances().unwrap()
}

fn near(a: f64, b: f64, size: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * size, "{what}: {a} is not {b}");
}

/// The features of a table with columns of sizes that fall as a power of their number.
fn graded(table: &Table, power: f64) -> Mat<f64> {
    Mat::from_fn(table.x().nrows(), table.width, |i, j| {
        table.x()[(i, j)] * ((j + 1) as f64).powf(-power)
    })
}

fn compare(layout: &Layout, c: &Covariances, goal: &Goal, what: &str) {
    let map = FeatureMap::linear(c.mean.len());
    let whole = Model::new(&map, layout, &Reduced::new(c, 0.0).unwrap(), None, goal.clone());
    let ours = Erasing::partial(&map, layout, c, goal.clone(), false);
    let (whole, ours) = match (whole, ours) {
        (Ok(whole), Ok(ours)) => (whole, ours),
        (Err(_), Err(_)) => return,
        (whole, ours) => panic!("{what}: {:?} beside {:?}", whole.err(), ours.err()),
    };
    let (a, b) = (ours.point(), whole.point());
    let size = whole.front().unwrap().bounds().gamma_max;
    let what = format!("{what} {goal:?}");
    near(a.losses.jy, b.losses.jy, size, &format!("{what}: jy"));
    near(
        a.losses.js,
        b.losses.js,
        whole.front().unwrap().bounds().alpha_max,
        &format!("{what}: js"),
    );
    assert_eq!(a.dim, b.dim, "{what}: dim");
    near(
        ours.certificate().dual_bound,
        whole.certificate().dual_bound,
        size,
        &format!("{what}: bound"),
    );
    let (a, b) = (ours.bounds(), *whole.front().unwrap().bounds());
    near(a.gamma_max, b.gamma_max, size, &format!("{what}: gamma_max"));
    near(a.alpha_min, b.alpha_min, b.alpha_max, &format!("{what}: alpha_min"));
    let again = Erasing::from_bytes(&ours.to_bytes().unwrap()).unwrap();
    near(
        again.retune(goal.clone()).unwrap().point().losses.jy,
        ours.point().losses.jy,
        size,
        &what,
    );
}

#[test]
fn it_is_the_erasure_of_the_whole_problem() {
    for seed in 0..12_u64 {
        let classes = [2, 2, 3, 5][seed as usize % 4];
        let (rows, width) = [(400, 8), (500, 24), (300, 40)][seed as usize % 3];
        let table = synthetic(seed, rows, width, 2, classes);
        let x = graded(&table, [0.0, 0.5, 1.0, 1.5][(seed / 3) as usize]);
        let (layout, c) = (layout(&table), covariances(&layout(&table), &x, &table.s));
        for goal in [0.001, 0.01, 0.05, 0.2].map(Goal::Leakage) {
            compare(&layout, &c, &goal, &format!("seed {seed}"));
        }
        for goal in [Goal::Lambda(0.3), Goal::Lambda(0.9), Goal::Utility(0.98)] {
            compare(&layout, &c, &goal, &format!("seed {seed}"));
        }
    }
}

#[test]
fn constants_copies_and_few_rows_make_no_difference() {
    for (seed, rows) in [(1, 300), (2, 300), (3, 15), (4, 20)] {
        let table = synthetic(seed, rows, 18, 2, 2);
        let x = Mat::from_fn(rows, 18, |i, j| match j {
            3 => 7.5,
            11 => table.x()[(i, 2)],
            12 => table.x()[(i, 4)] - 2.0 * table.x()[(i, 5)],
            _ => table.x()[(i, j)],
        });
        let (layout, c) = (layout(&table), covariances(&layout(&table), &x, &table.s));
        for goal in [Goal::Leakage(0.05), Goal::Leakage(0.3), Goal::Lambda(0.6)] {
            compare(&layout, &c, &goal, &format!("seed {seed}"));
        }
    }
}

#[test]
fn a_limit_for_each_of_several_attributes() {
    let table = synthetic(9, 600, 16, 2, 3);
    let layout = Layout::dense(16).keep_features().class("s", Role::Sensitive, 3).class(
        "y",
        Role::Sensitive,
        2,
    );
    let mut moments = Moments::new(layout.clone(), MomentsOptions::default()).unwrap();
    moments.push(&Block::new(table.x()).class(&table.s).class(&table.y)).unwrap();
    let c = moments.covariances().unwrap();
    for goal in [Goal::Leakage(0.02), Goal::Leakage(0.1), Goal::Lambda(0.5)] {
        compare(&layout, &c, &goal, "two attributes");
    }
}

#[test]
fn its_front_is_that_of_the_whole_problem() {
    for (seed, classes) in [(1, 2), (2, 4)] {
        let table = synthetic(seed, 500, 30, 2, classes);
        let x = graded(&table, 1.0);
        let (layout, c) = (layout(&table), covariances(&layout(&table), &x, &table.s));
        let (map, reduced) = (FeatureMap::linear(30), Reduced::new(&c, 0.0).unwrap());
        let ours = Erasing::partial(&map, &layout, &c, Goal::Leakage(0.0), true).unwrap();
        let (ours, whole) = (ours.front().unwrap(), Front::new(&reduced, None).unwrap());
        let (a, b) = (ours.breakpoints().unwrap(), whole.breakpoints().unwrap());
        assert_eq!(a.len(), b.len());
        a.iter().zip(&b).for_each(|(a, b)| near(*a, *b, 1.0, "breakpoint"));
        for (a, b) in ours.points(31).unwrap().iter().zip(whole.points(31).unwrap()) {
            near(a.losses.jy, b.losses.jy, whole.bounds().gamma_max, "jy");
            near(a.losses.js, b.losses.js, whole.bounds().alpha_max, "js");
            assert_eq!(a.dim, b.dim);
        }
    }
}

/// The loss on `test` of predicting the labels by weights `v` about the means of `taught`.
fn loss(v: &Mat<f64>, taught: &Covariances, test: &Covariances) -> f64 {
    let step = Mat::from_fn(v.nrows(), 1, |j, _| test.mean[j] - taught.mean[j]);
    let second = &test.features + &step * step.transpose();
    (0..v.ncols())
        .map(|j| {
            let moved = test.sensitive.mean[j] - taught.sensitive.mean[j];
            let cross = test.sensitive.cross.col(j) + step.col(0) * faer::Scale(moved);
            let v = v.col(j);
            let quadratic = v.transpose() * &second * v;
            test.sensitive.variance[j] + moved * moved + quadratic - 2.0 * (v.transpose() * cross)
        })
        .sum()
}

/// The held-out change of x and the loss of the strongest adversary, where `erased` gives the matrix
/// that erases what it learns from covariances. Plain matrices of the size of the features, fold by fold.
fn by_hand(moments: &Moments, erased: &dyn Fn(&Covariances) -> Mat<f64>) -> (f64, f64) {
    use faer::prelude::Solve;
    let rows = moments.rows() as f64;
    let width = moments.layout().features();
    let identity = || Mat::<f64>::identity(width, width);
    let (mut jy, mut own) = (0.0, 0.0);
    for (train, test) in moments.splits().unwrap() {
        let m = erased(&train);
        let step = Mat::from_fn(width, 1, |j, _| test.mean[j] - train.mean[j]);
        let second = &test.features + &step * step.transpose();
        let off = identity() - &m;
        let lost = off.transpose() * second * &off;
        jy += test.weight * (0..width).map(|j| lost[(j, j)]).sum::<f64>();
        // Least squares on erased rows of the fit, whose covariances have no full rank.
        let inner = m.transpose() * &train.features * &m;
        let shrunk = &inner + identity() * faer::Scale(1e-9);
        let v = &m * shrunk.full_piv_lu().solve(m.transpose() * &train.sensitive.cross);
        own += test.weight * loss(&v, &train, &test);
    }
    let mut fresh = [0.0; 6];
    for [first, second, test] in moments.thirds().unwrap() {
        let m = erased(&first);
        let sd: Vec<f64> = (0..width).map(|j| second.features[(j, j)].sqrt()).collect();
        let unit = Mat::from_fn(width, width, |i, j| if i == j { 1.0 / sd[i] } else { 0.0 });
        let a = &unit * m.transpose() * &second.features * &m * &unit;
        let b = &unit * m.transpose() * &second.sensitive.cross;
        for (sum, tau) in fresh.iter_mut().zip([1e-9, 1e-3, 1e-2, 1e-1, 1.0, 10.0]) {
            let shrunk = &a + identity() * faer::Scale(tau);
            let v = &m * &unit * shrunk.full_piv_lu().solve(&b);
            *sum += test.weight * loss(&v, &second, &test);
        }
    }
    (jy / rows, fresh.into_iter().fold(own, f64::min) / rows)
}

#[test]
fn its_held_out_losses_are_those_of_erased_rows() {
    let table = synthetic(5, 400, 12, 2, 3);
    let layout = layout(&table);
    let mut moments = Moments::new(layout.clone(), MomentsOptions::default()).unwrap();
    moments.push(&Block::new(table.x()).class(&table.s)).unwrap();
    let (map, goal) = (FeatureMap::linear(12), Goal::Leakage(0.05));
    let erased = |c: &Covariances| {
        let erasure = Erasing::partial(&map, &layout, c, goal.clone(), false).unwrap().erasure();
        Mat::<f64>::identity(12, 12) - erasure.found() * erasure.taken()
    };
    let (jy, js) = by_hand(&moments, &erased);
    let held = erased_heldout_at(&moments, &goal).unwrap().0;
    near(held.jy, jy, 1.0, "held-out change");
    assert!((held.js - js).abs() <= 1e-6, "{} is not {js}", held.js);
    // Along the front, at λ, the same as for that λ alone.
    let points = erased_heldout_points(&moments, 5).unwrap();
    for (point, lambda) in points.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]) {
        let alone = erased_heldout_at(&moments, &Goal::Lambda(lambda)).unwrap().0;
        assert!((point.js - alone.js).abs() <= 1e-6, "{point:?} {alone:?}");
        assert!((point.jy - alone.jy).abs() <= 1e-6, "{point:?} {alone:?}");
    }
}

#[test]
fn its_held_out_front_is_that_of_whole_problems() {
    for (seed, classes, power) in [(3, 2, 0.5), (4, 3, 1.0)] {
        let table = synthetic(seed, 600, 50, 2, classes);
        let (x, layout) = (graded(&table, power), layout(&table));
        let mut moments = Moments::new(layout.clone(), MomentsOptions::default()).unwrap();
        moments.push(&Block::new(x.as_ref()).class(&table.s)).unwrap();
        let map = FeatureMap::linear(50);
        let points = erased_heldout_points(&moments, 101).unwrap();
        for place in [0, 1, 2, 5, 12, 50, 88, 99, 100] {
            let (point, goal) = (&points[place], Goal::Lambda(place as f64 / 100.0));
            let erased = |c: &Covariances| {
                let reduced = Reduced::new(c, 0.0).unwrap();
                let whole = Model::new(&map, &layout, &reduced, None, goal.clone()).unwrap();
                let erasure = whole.erasure().unwrap();
                Mat::<f64>::identity(50, 50) - erasure.found() * erasure.taken()
            };
            let (jy, js) = by_hand(&moments, &erased);
            near(point.jy, jy, jy, &format!("{goal:?}: held-out change"));
            near(point.js, js, 1.0, &format!("{goal:?}: loss of the adversary"));
        }
    }
}
