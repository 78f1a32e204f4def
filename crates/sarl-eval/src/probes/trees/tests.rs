//! Trees learn what lines cannot, say the shares where there is nothing to learn, and never fall.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use rand::RngExt;

use super::*;

/// Uniform on [−√3, √3], whose variance is 1.
fn uniform(seed: u64, rows: usize, columns: usize) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0) * 3_f64.sqrt())
}

fn classes_of(x: &Mat<f64>, count: usize, class: impl Fn(&[f64]) -> u32) -> Labels {
    let row = |i| (0..x.ncols()).map(|j| x[(i, j)]).collect::<Vec<_>>();
    Labels::Classes { codes: (0..x.nrows()).map(|i| class(&row(i))).collect(), count }
}

fn told(train: &Mat<f64>, labels: &Labels, test: &Mat<f64>, seed: u64) -> Prediction {
    let (train, test) = (train.as_ref(), test.as_ref());
    Trees.predict(&Task { train, labels, test, spreads: &[], seed, stop: &|| false }).unwrap()
}

fn scores(train: &Mat<f64>, labels: &Labels, test: &Mat<f64>, seed: u64) -> Mat<f64> {
    match told(train, labels, test, seed) {
        Prediction::Shares(scores) => scores,
        _ => panic!("a class has scores"),
    }
}

fn values(train: &Mat<f64>, labels: &Labels, test: &Mat<f64>) -> Vec<f64> {
    match told(train, labels, test, 1) {
        Prediction::Numbers(values) => values,
        _ => panic!("a number has no scores"),
    }
}

fn accuracy(scores: &Mat<f64>, truth: &Labels) -> f64 {
    let Labels::Classes { codes, count } = truth else { panic!("no classes") };
    let best = |i: usize| (0..*count).max_by(|&a, &b| scores[(i, a)].total_cmp(&scores[(i, b)]));
    let right = codes.iter().enumerate().filter(|&(i, &c)| best(i) == Some(c as usize)).count();
    right as f64 / codes.len() as f64
}

fn assert_probabilities(scores: &Mat<f64>) {
    for i in 0..scores.nrows() {
        assert!(scores.row(i).iter().all(|p| (0.0..=1.0).contains(p)), "row {i}");
        assert!((scores.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12, "row {i}");
    }
}

#[test]
fn a_product_of_signs_is_learnt() {
    let (train, test) = (uniform(1, 2000, 3), uniform(2, 1000, 3));
    let rule = |r: &[f64]| u32::from(r[0] * r[1] > 0.0);
    let scores = scores(&train, &classes_of(&train, 2, rule), &test, 7);
    assert_probabilities(&scores);
    let found = accuracy(&scores, &classes_of(&test, 2, rule));
    assert!(found > 0.95, "{found}");
}

#[test]
fn many_classes_are_learnt() {
    let (train, test) = (uniform(3, 6000, 4), uniform(4, 1000, 4));
    // A chessboard of nine classes.
    let third = |v: f64| ((v / 3_f64.sqrt() + 1.0) * 1.5) as u32;
    let rule = |r: &[f64]| 3 * third(r[1]) + third(r[3]);
    let scores = scores(&train, &classes_of(&train, 9, rule), &test, 7);
    assert_probabilities(&scores);
    let found = accuracy(&scores, &classes_of(&test, 9, rule));
    assert!(found > 0.95, "{found}");
}

#[test]
fn a_smooth_function_is_learnt() {
    let (train, test) = (uniform(5, 4000, 3), uniform(6, 1000, 3));
    let value =
        |x: &Mat<f64>, i| -1e4 + 3e3 * (2.0 * x[(i, 0)]).sin() * x[(i, 1)] + 1e3 * x[(i, 2)];
    let labels = Labels::Numbers((0..train.nrows()).map(|i| value(&train, i)).collect());
    let told = values(&train, &labels, &test);
    let truth: Vec<f64> = (0..test.nrows()).map(|i| value(&test, i)).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let left: f64 = told.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
    let r2 = 1.0 - left / truth.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    assert!(r2 > 0.97, "{r2}");
}

#[test]
fn stripes_finer_than_the_usual_bins_are_seen() {
    let rule = |r: &[f64]| (r[0] * 150.0).floor().rem_euclid(2.0) as u32;
    let found = |columns| {
        let (train, test) = (uniform(7, 20_000, columns), uniform(8, 2000, columns));
        let scores = scores(&train, &classes_of(&train, 2, rule), &test, 7);
        accuracy(&scores, &classes_of(&test, 2, rule))
    };
    let (narrow, wide) = (found(1), found(5));
    assert!(narrow > 0.8, "{narrow}");
    // A table that is not narrow has the usual bins.
    assert!(wide < 0.6, "{wide}");
}

#[test]
fn nothing_to_learn_leaves_the_larger_class() {
    for rows in [300, 12_000] {
        let (train, test) = (uniform(9, rows, 5), uniform(10, 5000, 5));
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut chance = |n| (0..n).map(|_| u32::from(rng.random_bool(0.3))).collect();
        let labels = Labels::Classes { codes: chance(rows), count: 2 };
        let truth = Labels::Classes { codes: chance(5000), count: 2 };
        let found = accuracy(&scores(&train, &labels, &test, 7), &truth);
        assert!((found - 0.7).abs() < 0.04, "{found}");
    }
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let (train, test) = (uniform(12, 800, 6), uniform(13, 200, 6));
    let noisy = |r: &[f64]| (r[0] + (9.0 * r[5]).sin() + 2.0).clamp(0.0, 2.9) as u32;
    for (count, rule) in
        [(2, &(|r: &[f64]| noisy(r).min(1)) as &dyn Fn(&[f64]) -> u32), (3, &noisy)]
    {
        let labels = classes_of(&train, count, rule);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| scores(&train, &labels, &test, 7))
        };
        let one = with(1);
        assert_eq!(one, with(4));
        assert_eq!(one, scores(&train, &labels, &test, 7));
        assert_ne!(one, scores(&train, &labels, &test, 8));
    }
}

#[test]
fn shares_where_the_rows_are_mute() {
    let codes = |rows: usize| Labels::Classes {
        codes: (0..rows).map(|i| u32::from(i % 4 == 0)).collect(),
        count: 3,
    };
    let test = |columns| uniform(15, 5, columns);
    // Constant columns, no columns, few rows.
    for train in [Mat::zeros(40, 2), Mat::zeros(40, 0), uniform(14, 8, 2)] {
        let scores = scores(&train, &codes(train.nrows()), &test(train.ncols()), 7);
        assert_probabilities(&scores);
        for i in 0..5 {
            assert!((scores[(i, 0)] - 0.75).abs() < 1e-6 && (scores[(i, 1)] - 0.25).abs() < 1e-6);
        }
        let numbers = Labels::Numbers((0..train.nrows()).map(|i| (i % 2) as f64).collect());
        let values = values(&train, &numbers, &test(train.ncols()));
        assert!(values.iter().all(|v| (v - 0.5).abs() < 1e-6), "{values:?}");
    }
}

#[test]
fn classes_may_be_missing_or_alone() {
    let (train, test) = (uniform(16, 200, 2), uniform(17, 50, 2));
    let one = scores(&train, &classes_of(&train, 4, |_| 2), &test, 7);
    assert!((0..50).all(|i| one[(i, 2)] == 1.0 && one[(i, 0)] == 0.0));
    let rule = |r: &[f64]| if r[0] > 0.0 { 3 } else { 1 };
    let two = scores(&train, &classes_of(&train, 5, rule), &test, 7);
    assert_probabilities(&two);
    assert!(accuracy(&two, &classes_of(&test, 5, rule)) > 0.9);
    // A class of one row, which may be held out.
    let rare = Labels::Classes {
        codes: (0..200).map(|i| [0, 1, 2][(i % 2) + usize::from(i == 99)]).collect(),
        count: 3,
    };
    assert_probabilities(&scores(&train, &rare, &test, 7));
}

#[test]
fn any_size_and_any_cell_is_borne() {
    for rows in 0..24 {
        for count in [1, 2, 5] {
            let train = uniform(18, rows, 2);
            let labels =
                Labels::Classes { codes: (0..rows).map(|i| (i % count) as u32).collect(), count };
            assert_probabilities(&scores(&train, &labels, &uniform(19, 3, 2), 7));
        }
        let numbers = Labels::Numbers((0..rows).map(|i| i as f64).collect());
        assert!(
            values(&uniform(18, rows, 2), &numbers, &uniform(19, 3, 2))
                .iter()
                .all(|v| v.is_finite())
        );
    }
    assert_eq!(
        scores(
            &uniform(20, 50, 2),
            &classes_of(&uniform(20, 50, 2), 2, |_| 1),
            &Mat::zeros(0, 2),
            7
        )
        .shape(),
        (0, 2)
    );
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0];
    let train = Mat::from_fn(400, 3, |i, j| odd[(i * (j + 1) + i / 7) % odd.len()]);
    let labels = classes_of(&train, 2, |r| u32::from(r[0] > 0.0));
    assert_probabilities(&scores(&train, &labels, &train, 7));
    let huge =
        Labels::Numbers((0..400).map(|i| if i % 2 == 0 { f64::MAX } else { f64::MIN }).collect());
    assert!(values(&train, &huge, &train).iter().all(|v| v.is_finite()));
    let tiny = Labels::Numbers((0..400).map(|i| f64::from(i % 3) * f64::MIN_POSITIVE).collect());
    assert!(values(&train, &tiny, &train).iter().all(|v| v.is_finite()));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (train, test) = (uniform(21, 30, 2), uniform(22, 5, 2));
    let ask = |labels: &Labels, test: &Mat<f64>| {
        let (train, test) = (train.as_ref(), test.as_ref());
        Trees
            .predict(&Task { train, labels, test, spreads: &[], seed: 1, stop: &|| false })
            .unwrap_err()
            .to_string()
    };
    let short = Labels::Numbers(vec![1.0; 29]);
    assert_eq!(ask(&short, &test), "values of an attribute: expected 30, found 29");
    let labels = Labels::Numbers(vec![1.0; 30]);
    assert_eq!(ask(&labels, &uniform(22, 5, 3)), "columns of the test rows: expected 2, found 3");
    let beyond = Labels::Classes { codes: vec![2; 30], count: 2 };
    assert!(ask(&beyond, &test).starts_with("class 2"));
}

#[test]
fn it_ends_when_asked() {
    let (train, test) = (uniform(23, 500, 2), uniform(24, 5, 2));
    for count in [2, 3] {
        let labels = classes_of(&train, count, |r| (r[0].abs() as u32).min(count as u32 - 1));
        for asked in [0, 1, 2] {
            let asks = AtomicUsize::new(0);
            let stop = || asks.fetch_add(1, Ordering::Relaxed) >= asked;
            let (train, test) = (train.as_ref(), test.as_ref());
            let labels = &labels;
            let found =
                Trees.predict(&Task { train, labels, test, spreads: &[], seed: 1, stop: &stop });
            assert!(
                matches!(found, Err(Error::Interrupted)),
                "{count} classes, asked {asked} times"
            );
        }
    }
}

#[test]
fn drawn_rows_keep_the_shares() {
    let codes: Vec<u32> = (0..10_000).map(|i| i % 20).collect();
    for most in [100, 1000, 5000, 10_000, 20_000] {
        let sample = draw(&codes, 3, most, &mut generator(1, 3));
        assert!(sample.rows.len() == most.min(10_000));
        let inside: f64 = sample.y.iter().zip(&sample.weights).map(|(y, w)| y * w).sum();
        assert!((inside - 500.0).abs() < 1e-6);
        assert!((sample.weights.iter().sum::<f64>() - 1e4).abs() < 1e-6);
        assert!(sample.rows.iter().zip(&sample.y).all(|(&i, &y)| y == f64::from(codes[i] == 3)));
    }
}

#[test]
fn the_work_has_a_bound() {
    // 300 rounds of half the cells, or 100 of all of them.
    let bound = 150 << 25;
    for rows in [50, 9_000, 30_000, 1_000_000, 30_000_000] {
        for (columns, boosters) in [(1, 1), (2, 20), (12, 1), (64, 100), (500, 38)] {
            let plan = Plan::new(rows, columns, boosters);
            let cells = plan.most.min(rows) * columns * boosters * plan.rounds * plan.voices;
            assert!(cells <= bound, "{rows} rows, {columns} columns, {boosters} boosters");
        }
    }
}
