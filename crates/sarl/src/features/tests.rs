//! Kernels against their definitions, landmarks against what they promise.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

mod maps;

const RBF: Kernel = Kernel::Rbf { gamma: 0.3 };
const LAPLACIAN: Kernel = Kernel::Laplacian { gamma: 0.4 };
const POLYNOMIAL: Kernel = Kernel::Polynomial { gamma: 0.5, coef0: 1.0, degree: 2 };

fn normal(seed: u64, rows: usize, columns: usize) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| StandardNormal.sample(&mut rng))
}

fn direct(kernel: Kernel, x: MatRef<'_, f64>, i: usize, u: MatRef<'_, f64>, j: usize) -> f64 {
    let pairs = || (0..x.ncols()).map(|d| (x[(i, d)], u[(j, d)]));
    match kernel {
        Kernel::Rbf { gamma } => {
            (-gamma * pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>()).exp()
        }
        Kernel::Laplacian { gamma } => {
            (-gamma * pairs().map(|(a, b)| (a - b).abs()).sum::<f64>()).exp()
        }
        Kernel::Polynomial { gamma, coef0, degree } => {
            (gamma * pairs().map(|(a, b)| a * b).sum::<f64>() + coef0).powi(degree as i32)
        }
    }
}

fn gram(kernel: Kernel, x: &Mat<f64>) -> Mat<f64> {
    let x = x.as_ref();
    Mat::from_fn(x.nrows(), x.nrows(), |i, j| direct(kernel, x, i, x, j))
}

fn options(choice: Choice, cap: usize, tolerance: f64, seed: u64) -> LandmarkOptions {
    LandmarkOptions { choice, cap, tolerance, seed }
}

fn points(map: &FeatureMap) -> Mat<f64> {
    match &map.columns {
        Columns::Kernel { landmarks, .. } => landmarks.clone(),
        _ => Mat::zeros(0, 0),
    }
}

/// `(Σk(x,x) − Σ‖φ(x)‖²) / Σk(x,x)`, from the features themselves.
fn left(kernel: Kernel, map: &FeatureMap, x: &Mat<f64>) -> f64 {
    let phi = map.apply(x.as_ref()).unwrap();
    let total: f64 = kernel.diagonal(x.as_ref()).iter().sum();
    (total - phi.squared_norm_l2()) / total
}

/// Points far from each other's mean, with others a hair away: squared lengths of 1e14, distances
/// of 1e-2 and less.
#[test]
fn distances_of_near_points_keep_their_digits() {
    let near = normal(5, 40, 3);
    let x = Mat::from_fn(40, 3, |i, j| {
        let centre = 1e6 * f64::from((i % 5) as u32) * if j == 1 { -1.0 } else { 1.0 };
        centre + 1e-2 * near[(i, j)]
    });
    for gamma in [1e-12, 0.3, 100.0] {
        let kernel = Kernel::Rbf { gamma };
        let landmarks = x.subrows(0, 20).to_owned();
        let block = kernel.block(x.as_ref(), landmarks.as_ref());
        let columns = Columns::Kernel { kernel, landmarks: landmarks.clone() };
        let map = FeatureMap::assemble(columns, None, 0.0);
        let mut filled = Vec::new();
        map.fill(x.as_ref(), &mut filled);
        for i in 0..40 {
            for j in 0..20 {
                let wanted = direct(kernel, x.as_ref(), i, landmarks.as_ref(), j);
                let (a, b) = (block[(i, j)], filled[i * 20 + j]);
                // Points are moved by a mean first, which rounds them at 1e-10.
                assert!((a - wanted).abs() <= 1e-7 * wanted, "{gamma} {i} {j}: {a}, {wanted}");
                assert!((a - b).abs() <= 1e-14 * wanted, "{gamma} {i} {j}: {a}, {b}");
            }
        }
    }
}

#[test]
fn blocks_are_the_kernel() {
    let (x, u) = (normal(1, 40, 3), normal(2, 23, 3));
    for kernel in [RBF, LAPLACIAN, POLYNOMIAL] {
        let k = kernel.block(x.as_ref(), u.as_ref());
        for j in 0..23 {
            for i in 0..40 {
                let expected = direct(kernel, x.as_ref(), i, u.as_ref(), j);
                assert!((k[(i, j)] - expected).abs() < 1e-14 * (1.0 + expected.abs()));
            }
        }
        let diagonal = kernel.diagonal(x.as_ref());
        for (i, d) in diagonal.iter().enumerate() {
            let expected = direct(kernel, x.as_ref(), i, x.as_ref(), i);
            assert!((d - expected).abs() < 1e-14 * expected);
        }
    }
}

/// The distances of points far from zero, and of a row-major view.
#[test]
fn rbf_far_from_zero() {
    let far = |a: Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| 1e6 + a[(i, j)]);
    let (x, u) = (far(normal(3, 30, 3)), far(normal(4, 20, 3)));
    let turned = x.transpose().to_owned();
    let k = RBF.block(turned.transpose(), u.as_ref());
    for j in 0..20 {
        for i in 0..30 {
            let expected = direct(RBF, x.as_ref(), i, u.as_ref(), j);
            assert!((k[(i, j)] - expected).abs() < 1e-12);
        }
    }
}

/// Points whose squares overflow are far from each other, not equal.
#[test]
fn rbf_of_huge_values() {
    let x = Mat::from_fn(3, 1, |i, _| [1e200, 2e200, 6e200][i]);
    let k = RBF.block(x.as_ref(), x.as_ref());
    assert_eq!(k, Mat::<f64>::identity(3, 3));
}

#[test]
fn landmarks_reproduce_the_kernel_up_to_their_residual() {
    let x = normal(5, 300, 3);
    for kernel in [RBF, LAPLACIAN, POLYNOMIAL] {
        for choice in [Choice::Adaptive, Choice::Uniform] {
            for cap in [1, 7, 70, 150] {
                let map = FeatureMap::landmarks(kernel, x.as_ref(), &options(choice, cap, 1e-9, 1));
                let map = map.unwrap();
                assert!(map.outputs() <= cap && map.inputs() == 3);
                assert!((left(kernel, &map, &x) - map.residual()).abs() < 1e-8);
                let phi = map.apply(x.as_ref()).unwrap();
                let k = gram(kernel, &x);
                let rest = &k - &phi * phi.transpose();
                // The rest is positive semidefinite, so its trace bounds every entry of it.
                let trace = map.residual() * (0..300).map(|i| k[(i, i)]).sum::<f64>();
                assert!(rest.norm_max() <= trace + 1e-8 * k.norm_max());
                // A landmark itself is reproduced exactly.
                let at = map.apply(points(&map).as_ref()).unwrap();
                let whole = gram(kernel, &points(&map));
                assert!((&at * at.transpose() - &whole).norm_max() < 1e-9 * whole.norm_max());
            }
        }
    }
}

#[test]
fn the_tolerance_is_reached_and_the_cap_respected() {
    let x = normal(6, 500, 2);
    let make = |cap, tolerance| {
        let chosen = options(Choice::Adaptive, cap, tolerance, 3);
        FeatureMap::landmarks(RBF, x.as_ref(), &chosen).unwrap()
    };
    let mut before = 0;
    for tolerance in [0.5, 1e-2, 1e-4, 1e-8] {
        let map = make(500, tolerance);
        assert!(map.residual() <= tolerance && map.outputs() < 200);
        assert!(map.outputs() >= before);
        before = map.outputs();
    }
    for cap in [1, 2, 63, 64, 65] {
        let map = make(cap, 0.0);
        assert_eq!(map.outputs(), cap);
    }
    assert!(make(10_000, 0.0).outputs() <= 500);
}

/// A polynomial kernel has a finite rank, which rounding must not be taken beyond.
#[test]
fn pivots_stop_at_the_rank() {
    let x = normal(7, 200, 3);
    for choice in [Choice::Adaptive, Choice::Uniform, Choice::Exact] {
        let chosen = options(choice, 200, 0.0, 5);
        let map = FeatureMap::landmarks(POLYNOMIAL, x.as_ref(), &chosen).unwrap();
        assert_eq!(map.outputs(), 10, "{choice:?}");
        assert!(map.residual() < 1e-13);
    }
}

#[test]
fn the_seed_decides() {
    let x = normal(8, 400, 3);
    for choice in [Choice::Adaptive, Choice::Uniform] {
        let make = |seed| {
            let chosen = options(choice, 30, 0.0, seed);
            FeatureMap::landmarks(RBF, x.as_ref(), &chosen).unwrap()
        };
        assert_eq!(points(&make(1)), points(&make(1)));
        assert_ne!(points(&make(1)), points(&make(2)));
    }
    let frequencies = |seed| match FeatureMap::random_features(RBF, 3, 20, seed).unwrap().columns {
        Columns::Fourier { frequencies } => frequencies,
        _ => Mat::zeros(0, 0),
    };
    assert_eq!(frequencies(1), frequencies(1));
    assert_ne!(frequencies(1), frequencies(2));
}

/// Uniform landmarks are distinct rows, each as likely as any other.
#[test]
fn uniform_landmarks_are_uniform() {
    let x = Mat::from_fn(20, 1, |i, _| 10.0 * i as f64);
    let mut counts = [0u32; 20];
    for seed in 0..2000 {
        let chosen = options(Choice::Uniform, 5, 0.0, seed);
        let map = FeatureMap::landmarks(RBF, x.as_ref(), &chosen).unwrap();
        assert_eq!(map.outputs(), 5);
        for i in 0..5 {
            counts[(points(&map)[(i, 0)] / 10.0) as usize] += 1;
        }
    }
    // 500 each; without replacement the chi-square is under that of 19 degrees: 43.8 at 0.1 %.
    let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 500.0).powi(2) / 500.0).sum();
    assert!(chi < 43.8, "{counts:?}");
}

#[test]
fn duplicates_are_picked_once() {
    let few = normal(9, 12, 2);
    let x = Mat::from_fn(600, 2, |i, j| few[(i % 12, j)]);
    for kernel in [RBF, LAPLACIAN] {
        for choice in [Choice::Adaptive, Choice::Uniform, Choice::Exact] {
            let chosen = options(choice, 600, 0.0, 2);
            let map = FeatureMap::landmarks(kernel, x.as_ref(), &chosen).unwrap();
            assert_eq!(map.outputs(), 12, "{kernel:?} {choice:?}");
            let phi = map.apply(x.as_ref()).unwrap();
            let error = &phi * phi.transpose() - gram(kernel, &x);
            assert!(error.norm_max() < 1e-9);
        }
    }
}

/// One heap of near points and thirty far ones: uniform draws miss the thirty.
#[test]
fn adaptive_pivots_beat_uniform_ones_on_clusters() {
    let near = normal(10, 970, 2);
    let x = Mat::from_fn(1000, 2, |i, j| match i.checked_sub(970) {
        None => 0.1 * near[(i, j)],
        Some(far) => 50.0 * (1.0 + far as f64) * if j == 0 { 1.0 } else { -1.0 },
    });
    let mean = |choice| {
        let residual = |seed| {
            let chosen = options(choice, 40, 0.0, seed);
            FeatureMap::landmarks(RBF, x.as_ref(), &chosen).unwrap().residual()
        };
        (0..10).map(residual).sum::<f64>() / 10.0
    };
    let (adaptive, uniform) = (mean(Choice::Adaptive), mean(Choice::Uniform));
    assert!(adaptive < 0.1 * uniform, "{adaptive} against {uniform}");
}

#[test]
fn choosing_landmarks_can_be_stopped() {
    let x = normal(40, 300, 2);
    for choice in [Choice::Adaptive, Choice::Uniform, Choice::Exact] {
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) >= 1;
        let options = options(choice, 200, 0.0, 0);
        let result = FeatureMap::landmarks_until(RBF, x.as_ref(), &options, &stop);
        assert!(matches!(result, Err(crate::Error::Interrupted)), "{choice:?}");
    }
}

/// Half of the rows are so large that rounding leaves more of them than the others have.
#[test]
fn rounding_of_large_rows_does_not_keep_landmarks_from_ending() {
    let small = normal(41, 51, 6);
    let x = Mat::from_fn(51, 6, |i, j| match (i % 2, j) {
        (0, 4) => 1e15 * small[(i, j)],
        (_, 4) => 1e-16 * small[(i, j)],
        _ => small[(i, j)],
    });
    let kernel = Kernel::Polynomial { gamma: 1.0 / 6.0, coef0: 1e10, degree: 2 };
    let asked = std::cell::Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) >= 1000;
    let options = options(Choice::Adaptive, 50, 0.0, 0);
    let map = FeatureMap::landmarks_until(kernel, x.as_ref(), &options, &stop).unwrap();
    assert!(map.outputs() > 2, "{} landmarks", map.outputs());
}
