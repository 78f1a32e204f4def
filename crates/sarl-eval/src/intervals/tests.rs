//! Known values, the estimate inside, and how often intervals hold the truth.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::*;
use crate::metrics::{self, Area};

#[test]
fn quantiles_are_those_of_the_tables() {
    for (p, expected) in [(0.5, 0.0), (0.975, 1.959_963_984_5), (0.001, -3.090_232_306)] {
        assert!((normal_quantile(p) - expected).abs() < 1e-7, "{p}");
    }
}

#[test]
fn wilson_holds_the_share_and_stays_within_bounds() {
    // R: binom.confint(81, 263, methods = "wilson").
    let [low, high] = share(81.0 / 263.0, 263, 0.05);
    assert!((low - 0.255_3).abs() < 1e-4 && (high - 0.366_2).abs() < 1e-4, "{low} {high}");
    assert!((share(1.0, 10, 0.05)[1] - 1.0).abs() < 1e-12);
    assert_eq!(share(0.0, 10, 0.05)[0], 0.0);
}

#[test]
fn every_interval_contains_its_estimate() {
    for level in [0.5, 0.05, 0.05 / 14.0, 1e-6] {
        for k in 0..=20 {
            let value = f64::from(k) / 20.0;
            let holds = |[low, high]: [f64; 2]| {
                assert!(low <= value + 1e-12 && value <= high + 1e-12, "{low} {value} {high}");
            };
            for rows in [1, 2, 20, 10_000] {
                holds(share(value, rows, level));
                holds(mean_share(&[(value, rows), (value, 7)], level));
                holds(area(value, [rows, 5], 0.0, level));
                holds(area(value, [rows, 5], 0.04, level));
            }
            holds(explained(value, 0.3, level));
        }
    }
}

/// How often an interval at the 95 % level holds the truth.
fn held(mut draw: impl FnMut(&mut ChaCha8Rng) -> ([f64; 2], f64)) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let runs = 2000;
    let inside = (0..runs).filter(|_| {
        let ([low, high], truth) = draw(&mut rng);
        low <= truth && truth <= high
    });
    inside.count() as f64 / f64::from(runs)
}

#[test]
fn shares_of_unequal_groups_are_held() {
    for (a, b) in [((0.9, 15), (0.6, 400)), ((0.5, 40), (0.5, 60)), ((0.99, 10), (0.8, 5000))] {
        let found = held(|rng| {
            let mut seen = |(p, n): (f64, usize)| {
                ((0..n).filter(|_| rng.random_bool(p)).count() as f64 / n as f64, n)
            };
            let shares = [seen(a), seen(b)];
            (mean_share(&shares, 0.05), (a.0 + b.0) / 2.0)
        });
        assert!(found > 0.93, "{a:?} {b:?}: {found}");
    }
}

#[test]
fn areas_of_few_and_of_many_rows_are_held() {
    // Two normal distributions a distance apart: the area is Φ(distance / √(1 + spread²)).
    for (distance, spread, truth) in [(0.0, 1.0, 0.5), (2.0, 1.0, 0.921_350), (1.5, 2.0, 0.748_814)]
    {
        for (up, down) in [(8, 900), (60, 60), (300, 40)] {
            let found = held(|rng| {
                let positive: Vec<bool> = (0..up + down).map(|i| i < up).collect();
                let scores: Vec<f64> = positive
                    .iter()
                    .map(|&p| {
                        let v: f64 = rng.sample(StandardNormal);
                        if p { distance + spread * v } else { v }
                    })
                    .collect();
                let seen = Area::new(&positive, |i| scores[i]).unwrap();
                (area(seen.value, seen.rows, seen.variance, 0.05), truth)
            });
            assert!(found > 0.93, "{distance} {spread} {up} {down}: {found}");
        }
    }
}

#[test]
fn the_explained_share_is_held() {
    let found = held(|rng| {
        let truth: Vec<f64> = (0..300).map(|_| rng.sample(StandardNormal)).collect();
        let told: Vec<f64> =
            truth.iter().map(|t| 0.36 * t + 0.48 * rng.sample::<f64, _>(StandardNormal)).collect();
        let r2 = metrics::r2(&truth, &told);
        // Var(t − p) = 0.64² + 0.48² = 0.64.
        (explained(r2, metrics::r2_error(&truth, &[&told]), 0.05), 0.36)
    });
    assert!((0.92..0.98).contains(&found), "{found}");
}
