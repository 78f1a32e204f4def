//! Problems with a known answer.
#![allow(dead_code, reason = "each test uses some of it")]

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl_eval::Labels;

/// Rows and the attribute that is to be told of them.
pub struct Problem {
    pub x: Mat<f64>,
    pub labels: Labels,
}

pub fn normal(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

pub fn classes(codes: Vec<u32>, count: usize) -> Labels {
    Labels::Classes { codes, count }
}

/// Classes that lie on two sides of a plane, with noise.
pub fn linear(rows: usize, seed: u64) -> Problem {
    let x = normal(rows, 3, seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1000);
    let noise = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let codes =
        (0..rows).map(|i| u32::from(x[(i, 0)] - x[(i, 1)] + 0.3 * noise(&mut rng) > 0.0)).collect();
    Problem { x, labels: classes(codes, 2) }
}

/// Classes that no line parts: the sign of a product.
pub fn crossed(rows: usize, seed: u64) -> Problem {
    let x = normal(rows, 2, seed);
    let codes = (0..rows).map(|i| u32::from(x[(i, 0)] * x[(i, 1)] > 0.0)).collect();
    Problem { x, labels: classes(codes, 2) }
}

/// Four clusters.
pub fn clusters(rows: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let codes: Vec<u32> = (0..rows).map(|_| rng.random_range(0..4)).collect();
    let noise = normal(rows, 2, seed + 1);
    let centre = |c: u32, j: usize| if (c >> j) & 1 == 1 { 2.5 } else { -2.5 };
    let x = Mat::from_fn(rows, 2, |i, j| centre(codes[i], j) + noise[(i, j)]);
    Problem { x, labels: classes(codes, 4) }
}

/// A wave with a little noise.
pub fn wave(rows: usize, seed: u64) -> Problem {
    let x = normal(rows, 2, seed);
    let noise = normal(rows, 1, seed + 1);
    let y = (0..rows).map(|i| 100.0 + 10.0 * (2.0 * x[(i, 0)]).sin() + x[(i, 1)] + noise[(i, 0)]);
    Problem { labels: Labels::Numbers(y.collect()), x }
}

/// Labels that have nothing to do with the rows.
pub fn nothing(rows: usize, seed: u64) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 7);
    let codes = (0..rows).map(|_| u32::from(rng.random_range(0.0..1.0) < 0.7)).collect();
    Problem { x: normal(rows, 2, seed), labels: classes(codes, 2) }
}
