use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// 40 rows with a target of three classes, one of numbers, and groups of two and three.
fn rows(rng: &mut ChaCha8Rng) -> Rows {
    let x = Mat::from_fn(40, 4, |_, _| rng.random_range(-1.0..1.0));
    let mut classes = |count: usize| Labels::Classes {
        codes: (0..40).map(|_| rng.random_range(0..count as u32)).collect(),
        count,
    };
    let sensitives = vec![classes(2), classes(3)];
    let classes = classes(3);
    let numbers = Labels::Numbers((0..40).map(|_| rng.random_range(-1.0..1.0)).collect());
    let variance = x.squared_norm_l2() / 40.0;
    Rows { x, targets: vec![classes, numbers], sensitives, variance }
}

#[test]
fn the_gradient_is_that_of_the_losses() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (rows, shape) = (rows(&mut rng), Shape { features: 4, prototypes: 3 });
    let size = shape.answers() + 3 * (3 + 1);
    let point: Vec<f64> = (0..size).map(|_| rng.random_range(-1.0..1.0)).collect();
    for (parity, reconstruction, prediction) in
        [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (3.0, 0.2, 1.0)]
    {
        let weights = Weights { parity, reconstruction, prediction };
        let (_, gradient) = rows.look(shape, &weights, &point);
        for (i, found) in gradient.iter().enumerate() {
            let at = |off: f64| {
                let mut moved = point.clone();
                moved[i] += off;
                weights.total(&rows.look(shape, &weights, &moved).0)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((found - expected).abs() < 1e-7, "{i}: {found}, {expected}");
        }
    }
}

#[test]
fn losses_are_those_of_the_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (mut rows, shape) = (rows(&mut rng), Shape { features: 4, prototypes: 3 });
    rows.targets.truncate(1);
    rows.sensitives.truncate(1);
    let size = shape.answers() + 9;
    let point: Vec<f64> = (0..size).map(|_| rng.random_range(-1.0..1.0)).collect();
    let weights = Weights { parity: 1.0, reconstruction: 1.0, prediction: 1.0 };
    let (losses, _) = rows.look(shape, &weights, &point);
    let v = shape.prototypes(&point);
    // Memberships by the distances themselves.
    let near = Mat::from_fn(40, 3, |i, k| {
        -(0..4).map(|j| point[j].exp() * (rows.x[(i, j)] - v[(j, k)]).powi(2)).sum::<f64>()
    });
    let m = memberships(near.as_ref(), &[0.0; 3]);
    for i in 0..40 {
        assert!((m.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let squares = (&rows.x - &m * v.transpose()).squared_norm_l2();
    let expected = squares / rows.x.squared_norm_l2();
    assert!((losses.reconstruction - expected).abs() < 1e-12);
    let Labels::Classes { codes, .. } = &rows.sensitives[0] else { unreachable!() };
    let mean = |k: usize, group: u32| {
        let of: Vec<usize> = (0..40).filter(|&i| codes[i] == group).collect();
        of.iter().map(|&i| m[(i, k)]).sum::<f64>() / of.len() as f64
    };
    // The paper's, but for the rounded corners.
    let expected: f64 = (0..3).map(|k| (mean(k, 0) - mean(k, 1)).abs()).sum();
    let most = 6.0 * CORNER;
    assert!(losses.parity <= expected && losses.parity >= expected - most);
}
