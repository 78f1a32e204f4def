//! Goals with a ridge, where the true losses need not be monotone in λ and the front has jumps.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::synthetic;
use sarl::{Front, Goal, Method, Reduced};

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
