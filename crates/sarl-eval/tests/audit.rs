//! The audit: the worst case, the baselines, the splits, and what goes wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "these are tests"
)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{classes, crossed, linear, normal, wave};
use faer::Mat;
use sarl_eval::probes::{Linear, Logistic, Network, RbfKernel};
use sarl_eval::{
    Attribute, Baseline, Error, Finding, Labels, Options, Probe, Result, Score, View, audit,
};

fn options<'a>(probes: &'a [&'a dyn Probe], seeds: &'a [u64]) -> Options<'a> {
    Options { probes, seeds, threads: 2, stop: &|| false, progress: &|_, _| (), own: None }
}

fn one(
    view: (&Mat<f64>, &Mat<f64>),
    labels: (&Labels, &Labels),
    options: &Options<'_>,
) -> Result<Finding> {
    let view = View { train: view.0.as_ref(), test: view.1.as_ref() };
    let attribute = Attribute { name: "a", train: labels.0, test: labels.1 };
    Ok(audit(&[view], &[attribute], options)?.remove(0).remove(0))
}

#[test]
fn the_worst_case_is_the_best_probe() {
    let (train, test) = (crossed(1500, 1), crossed(1000, 2));
    let who: [&dyn Probe; 3] = [&Linear, &Logistic, &RbfKernel];
    let found =
        one((&train.x, &test.x), (&train.labels, &test.labels), &options(&who, &[0, 1])).unwrap();
    assert_eq!(found.best.probe, "rbf");
    assert_eq!(found.best.runs, 1, "least squares have no seed");
    assert_eq!(found.trial("linear").unwrap().runs, 1);
    let [low, high] = found.best.ci;
    assert!(low < found.best.score.value() && found.best.score.value() < high);
    assert!(high - low < 0.06, "1000 rows make an interval of a few points");
}

#[test]
fn a_rotation_or_another_unit_changes_nothing_for_least_squares() {
    let (train, test) = (linear(800, 1), linear(500, 2));
    let turned = |x: &Mat<f64>| {
        Mat::from_fn(x.nrows(), 3, |i, j| match j {
            0 => 1000.0 + 50.0 * (x[(i, 0)] + x[(i, 1)]),
            1 => 1e-4 * (x[(i, 0)] - x[(i, 1)]),
            _ => x[(i, 2)] - 5.0,
        })
    };
    let score = |a: &Mat<f64>, b: &Mat<f64>| {
        one((a, b), (&train.labels, &test.labels), &options(&[&Linear], &[0])).unwrap().best.score
    };
    assert_eq!(score(&train.x, &test.x), score(&turned(&train.x), &turned(&test.x)));
}

#[test]
fn both_baselines_are_those_of_the_rows() {
    // The training rows are balanced, the test rows are not.
    let train = classes((0..100).map(|i| i % 2).collect(), 2);
    let test = classes((0..50).map(|i| u32::from(i < 40)).collect(), 2);
    let (x, fresh) = (normal(100, 1, 1), normal(50, 1, 2));
    let found = one((&x, &fresh), (&train, &test), &options(&[&Linear], &[0])).unwrap();
    let Baseline::Class { classes, majority, guess, chance } = found.baseline else { panic!() };
    assert_eq!((classes, majority, guess, chance), (2, 0.8, 0.2, 0.5));
}

#[test]
fn a_view_that_says_nothing_is_answered_by_the_training_majority() {
    let train = classes((0..90).map(|i| u32::from(i % 3 > 0)).collect(), 2);
    let test = classes((0..30).map(|i| u32::from(i % 3 > 0)).collect(), 2);
    let constant = |rows| Mat::from_fn(rows, 2, |_, _| 7.0);
    let empty = |rows| Mat::<f64>::zeros(rows, 0);
    let who: [&dyn Probe; 3] = [&Linear, &Logistic, &Network::SMALL];
    for (a, b) in [(constant(90), constant(30)), (empty(90), empty(30))] {
        let found = one((&a, &b), (&train, &test), &options(&who, &[0])).unwrap();
        for trial in &found.probes {
            let Score::Class { accuracy, balanced_accuracy, auc, .. } = trial.score else {
                panic!()
            };
            assert!((accuracy - 2.0 / 3.0).abs() < 1e-12);
            assert_eq!((balanced_accuracy, auc), (0.5, Some(0.5)));
        }
    }
    // One class in the training rows.
    let same = classes(vec![1; 90], 2);
    let found = one((&normal(90, 2, 1), &normal(30, 2, 2)), (&same, &test), &options(&who, &[0]));
    assert!((found.unwrap().best.score.value() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn numbers_have_r2_and_an_interval() {
    let (train, test) = (wave(1500, 1), wave(800, 2));
    let who: [&dyn Probe; 3] = [&Linear, &Logistic, &RbfKernel];
    let found = one((&train.x, &test.x), (&train.labels, &test.labels), &options(&who, &[0]));
    let found = found.unwrap();
    assert_eq!(found.probes.len(), 2, "logistic regression has no numbers");
    let Score::Number { r2, .. } = found.best.score else { panic!() };
    assert!(found.best.probe == "rbf" && r2 > 0.9, "{r2}");
    assert!(found.best.ci[0] < r2 && r2 < found.best.ci[1]);
    let Baseline::Number { variance } = found.baseline else { panic!() };
    assert!(variance > 20.0);
}

#[test]
fn views_and_attributes_keep_their_order_for_any_number_of_threads() {
    let (train, test) = (linear(400, 1), linear(200, 2));
    let noise = (normal(400, 3, 5), normal(200, 3, 6));
    let flipped = |l: &Labels| match l {
        Labels::Classes { codes, .. } => classes(codes.iter().map(|c| 1 - c).collect(), 2),
        Labels::Numbers(_) => panic!(),
    };
    let (a, b) = (flipped(&train.labels), flipped(&test.labels));
    let attributes = [
        Attribute { name: "one", train: &train.labels, test: &test.labels },
        Attribute { name: "two", train: &a, test: &b },
    ];
    let views = [
        View { train: train.x.as_ref(), test: test.x.as_ref() },
        View { train: noise.0.as_ref(), test: noise.1.as_ref() },
    ];
    let who: [&dyn Probe; 2] = [&Linear, &Network::SMALL];
    let calls = AtomicUsize::new(0);
    let count = |done: usize, all: usize| {
        assert!(done <= all && all == 2 * 2 * 3);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let mut scores = Vec::new();
    for threads in [1, 2, 5] {
        let options = Options { threads, progress: &count, ..options(&who, &[0, 1]) };
        let found = audit(&views, &attributes, &options).unwrap();
        assert_eq!(found[0][1].attribute, "two");
        assert!(found[0][0].best.score.value() > 0.9 && found[1][0].best.score.value() < 0.65);
        let all = found.iter().flatten().flat_map(|f| f.probes.iter().map(|p| p.score));
        scores.push(all.collect::<Vec<_>>());
    }
    assert!(scores.windows(2).all(|w| w[0] == w[1]), "threads change nothing");
    assert_eq!(calls.into_inner(), 3 * 12);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (train, test) = (linear(50, 1), linear(20, 2));
    let plain = options(&[&Linear], &[0]);
    let try_with = |x: &Mat<f64>, y: &Labels| one((&train.x, x), (&train.labels, y), &plain).err();
    assert!(matches!(try_with(&normal(20, 2, 1), &test.labels), Some(Error::Shape { .. })));
    assert!(matches!(try_with(&normal(21, 3, 1), &test.labels), Some(Error::Shape { .. })));
    assert!(matches!(try_with(&normal(0, 3, 1), &test.labels), Some(Error::Empty { .. })));
    let wrong = classes(vec![2; 20], 2);
    assert!(matches!(try_with(&test.x, &wrong), Some(Error::Code { code: 2, classes: 2 })));
    let numbers = Labels::Numbers(vec![1.0; 20]);
    assert!(matches!(try_with(&test.x, &numbers), Some(Error::Shape { .. })));
    let rows = (&train.x, &test.x);
    let labels = (&train.labels, &test.labels);
    assert!(matches!(one(rows, labels, &options(&[], &[0])).err(), Some(Error::Empty { .. })));
    let stopped = Options { stop: &|| true, ..plain };
    assert!(matches!(one(rows, labels, &stopped).err(), Some(Error::Interrupted)));
}
