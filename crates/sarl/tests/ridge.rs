//! Goals with a ridge, where the true losses need not be monotone in λ and the front has jumps.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values};
use common::{normal, rng, synthetic};
use faer::Mat;
use sarl::{
    FeatureMap, Front, Goal, HeldOut, Kernel, LandmarkOptions, Method, MomentsOptions, Reduced,
    best_ridge, mean_variance,
};

/// Few features against many classes: eigenvalues cross, and no λ reaches what lies between.
#[test]
fn a_goal_inside_a_jump_is_reached_and_beats_every_lambda() {
    let table = synthetic(3, 600, 4, 5, 7);
    let covariances = table.covariances();
    let mut rotated = 0;
    for ridge in [1e-3, 1e-1, 1.0] {
        let reduced = Reduced::new(&covariances, ridge).unwrap();
        let front = Front::new(&reduced, None).unwrap();
        assert!(!front.breakpoints().unwrap().is_empty());
        let bounds = *front.bounds();
        let path = front.points(2001).unwrap();
        for step in 1..20 {
            let share = f64::from(step) / 20.0;
            let alpha = bounds.alpha_min + share * (bounds.alpha_max - bounds.alpha_min);
            let found = front.solve(Goal::Alpha(alpha)).unwrap();
            let losses = found.point.losses;
            assert!(losses.js >= alpha - 1e-10, "{alpha}: {losses:?}");
            let fits = path.iter().filter(|p| p.losses.js >= alpha);
            let best = fits.map(|p| p.losses.jy).fold(f64::INFINITY, f64::min);
            assert!(losses.jy <= best + 1e-9, "{alpha}: {} against {best}", losses.jy);
            assert!(found.certificate.gap >= -1e-10);
            rotated += usize::from(found.method == Method::Rotated);
        }
    }
    assert!(rotated > 0, "no goal lay inside a jump");
}

/// The most that the path reaches is the range that an unreachable utility names.
#[test]
fn an_unreachable_utility_names_the_best_of_the_path() {
    let table = synthetic(4, 60, 20, 3, 3);
    let reduced = Reduced::new(&table.covariances(), 1.0).unwrap();
    let front = Front::new(&reduced, None).unwrap();
    let best = front.points(201).unwrap().iter().map(|p| p.utility).fold(0.0, f64::max);
    assert!(best < 0.9999);
    match front.solve(Goal::Utility(1.0)) {
        Err(sarl::Error::Unreachable { high, .. }) => assert!((high - best).abs() < 1e-6),
        other => assert_eq!(format!("{:?}", other.map(|s| s.point)), "unreachable"),
    }
}

/// Candidates that are left out, and covariances that are kept between candidates, change nothing.
#[test]
fn the_ridge_of_a_kernel_is_the_best_of_all_candidates() {
    let (n, options) = (1000, LandmarkOptions { cap: 80, ..Default::default() });
    let choices = [0.0, 0.3, 3.0].map(|noise| {
        let mut rng = rng(3);
        let (x, e) = (normal(&mut rng, n, 5), normal(&mut rng, n, 2));
        let y = |i: usize| x[(i, 0)].sin() + x[(i, 1)] * x[(i, 2)] + noise * e[(i, 0)];
        let s = |i: usize| x[(i, 3)] + x[(i, 0)] * x[(i, 0)] + noise * e[(i, 1)];
        let y = vec![Values::Number(Mat::from_fn(n, 1, |i, _| y(i)))];
        let s = vec![Values::Number(Mat::from_fn(n, 1, |i, _| s(i)))];
        let map = FeatureMap::landmarks(Kernel::Rbf { gamma: 0.1 }, x.as_ref(), &options).unwrap();
        let moments = Data { x, y, s }.moments(&map, MomentsOptions::default());
        let mean = mean_variance(&moments).unwrap();
        let score = |ridge: f64| {
            let points = HeldOut::new(&moments, ridge, None).unwrap().points(21).unwrap();
            let lambdas = (0..21).map(|k| f64::from(k) / 20.0);
            lambdas.zip(points).map(|(l, at)| (1.0 - l) * at.jy - l * at.js).sum::<f64>()
        };
        let best = |exponents: Vec<i32>| {
            let scored = exponents.into_iter().map(|e| (score(mean * 10.0_f64.powi(e)), e));
            scored.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
        };
        let (least, exponent) = best((-4..3).map(|e| 2 * e).collect());
        let expected = match score(0.0) < least {
            true => 0.0,
            false => mean * 10.0_f64.powi(best((exponent - 1..=exponent + 1).collect()).1),
        };
        assert_eq!(best_ridge(&moments, None).unwrap().ridge, expected, "noise {noise}");
        expected
    });
    assert!(choices[0] < choices[2] && choices[2] > 0.0, "{choices:?}");
}
