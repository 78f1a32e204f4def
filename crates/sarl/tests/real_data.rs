//! Values on real data, against figures computed independently with numpy
//! (`singular value decomposition of the centred features, eigh of B`).

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::real;
use sarl::{Front, Goal, Reduced};

struct Expected {
    file: &'static str,
    basis: usize,
    /// γ_min, γ_max, α_min, α_max.
    bounds: [f64; 4],
    /// At λ = 0.5: dimensions, Jy, Js.
    half: (usize, f64, f64),
}

const TABLE: [Expected; 3] = [
    Expected {
        file: "gaussian/train.npz",
        basis: 3,
        bounds: [0.18769770, 0.34490613, 0.40457941, 0.5],
        half: (1, 0.21051001, 0.45399710),
    },
    Expected {
        file: "adult/train.npz",
        basis: 104,
        bounds: [0.22870133, 0.24625999, 0.38527785, 0.43826982],
        half: (1, 0.23900674, 0.43507418),
    },
    Expected {
        file: "cifar100/resnet110-test.npz",
        basis: 64,
        bounds: [0.58052027, 0.95, 0.89625278, 0.99],
        half: (19, 0.58222576, 0.89948963),
    },
];

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-7, "found {found}, expected {expected}");
}

#[test]
fn bounds_and_the_middle_of_the_front() {
    for expected in &TABLE {
        let Some(table) = real(expected.file) else { continue };
        let reduced = Reduced::new(&table.covariances(), 0.0).unwrap();
        assert_eq!(reduced.basis(), expected.basis, "{}", expected.file);
        let front = Front::new(&reduced, None).unwrap();
        let b = front.bounds();
        let found = [b.gamma_min, b.gamma_max, b.alpha_min, b.alpha_max];
        for (found, expected) in found.iter().zip(expected.bounds) {
            close(*found, expected);
        }
        let half = front.point(0.5).unwrap();
        assert_eq!(half.dim, expected.half.0);
        close(half.losses.jy, expected.half.1);
        close(half.losses.js, expected.half.2);
    }
}

/// α, dual bound on Jy, best fixed rank.
const LEAKAGE: [(f64, f64, f64); 3] =
    [(0.908, 0.59837, 0.59837), (0.94, 0.71324, 0.71327), (0.98, 0.90045, 0.90046)];

#[test]
fn exact_leakage_inside_jumps() {
    let Some(table) = real("cifar100/resnet110-test.npz") else { return };
    let reduced = Reduced::new(&table.covariances(), 0.0).unwrap();
    let front = Front::new(&reduced, None).unwrap();
    for (alpha, dual, best) in LEAKAGE {
        let solution = front.solve(Goal::Alpha(alpha)).unwrap();
        let (point, certificate) = (solution.point, solution.certificate);
        assert!(point.losses.js >= alpha - 1e-12);
        assert!((certificate.dual_bound - dual).abs() < 6e-6);
        assert!(point.losses.jy < best + 6e-6);
        assert!(certificate.gap >= -1e-10 && certificate.gap < 5e-5);
    }
}
