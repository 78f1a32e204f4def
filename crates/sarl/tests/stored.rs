//! The certificate is of the encoder as it is stored: whatever the kernel, the approximation, the
//! scale and the weights, z of the training rows leaks no more than was certified, and keeps no less.

#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{normal, rng};
use faer::Mat;
use rand::RngExt;
use sarl::{
    Block, Choice, Error, FeatureMap, Goal, Kernel, LandmarkOptions, Layout, Model, MomentsOptions,
    Reduced, Role,
};

/// The share of the weighted variance of the one-hot columns of `classes` that least squares on z
/// explains: Gram and Schmidt, twice, nothing of the library.
fn explained(z: &Mat<f64>, classes: &[u32], count: usize, weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let roots: Vec<f64> = weights.iter().map(|w| (w / total).sqrt()).collect();
    let centred = |value: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let mean: f64 = (0..roots.len()).map(|i| weights[i] / total * value(i)).sum();
        (0..roots.len()).map(|i| roots[i] * (value(i) - mean)).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for j in 0..z.ncols() {
        let mut column = centred(&|i| z[(i, j)]);
        let before = dot(&column, &column).sqrt();
        for _ in 0..2 {
            for b in &basis {
                let along = dot(&column, b);
                column.iter_mut().zip(b).for_each(|(c, b)| *c -= along * b);
            }
        }
        let left = dot(&column, &column).sqrt();
        if left > 1e-9 * before {
            column.iter_mut().for_each(|c| *c /= left);
            basis.push(column);
        }
    }
    let (mut found, mut all) = (0.0, 0.0);
    for k in 0..count {
        let label = centred(&|i| f64::from(u8::from(classes[i] as usize == k)));
        all += dot(&label, &label);
        found += basis.iter().map(|b| dot(&label, b).powi(2)).sum::<f64>();
    }
    found / all
}

struct Case {
    x: Mat<f64>,
    y: Vec<u32>,
    s: Vec<u32>,
    weights: Vec<f64>,
}

/// A table with something to keep and something to hide, of a random shape, scale and weighting.
fn case(seed: u64) -> Case {
    let mut rng = rng(seed);
    let n = [30, 60, 150, 400][rng.random_range(0..4)];
    let d = [1, 2, 4, 12, 50][rng.random_range(0..5)];
    let mut x = normal(&mut rng, n, d);
    let noise = normal(&mut rng, n, 2);
    let label = |i: usize, j: usize| (2.0 * x[(i, j % d)]).sin() + 0.5 * noise[(i, j)] + 0.2;
    // The first two rows have both classes.
    let class = |i: usize, j: usize| if i < 2 { i as u32 } else { u32::from(label(i, j) > 0.0) };
    let (y, s) = ((0..n).map(|i| class(i, 0)).collect(), (0..n).map(|i| class(i, 1)).collect());
    let (scale, offset) = match rng.random_range(0..4) {
        0 => (1e-6, 0.0),
        1 => (1.0, 1e6),
        _ => (1.0, 0.0),
    };
    for j in 0..d {
        x.col_mut(j).iter_mut().for_each(|v| *v = scale * *v + offset);
    }
    let weights: Vec<f64> = match rng.random_range(0..4) {
        0 => (0..n).map(|i| (3.0 * noise[(i, 0)]).exp()).collect(),
        // Nearly weightless and far away.
        1 => {
            x[(5, 0)] = 1e12;
            (0..n).map(|i| if i == 5 { 1e-30 } else { 1.0 }).collect()
        }
        _ => vec![1.0; n],
    };
    Case { x, y, s, weights }
}

fn map(case: &Case, seed: u64) -> Result<FeatureMap, Error> {
    let mut rng = rng(seed ^ 0xabc);
    let (x, d) = (case.x.as_ref(), case.x.ncols());
    let unit = sarl::median_gamma(sarl::Family::Rbf, x)?;
    let gamma = unit * [1e-3, 1e-2, 0.3, 3.0][rng.random_range(0..4)];
    let kernel = match rng.random_range(0..4) {
        0 => return Ok(FeatureMap::linear(d)),
        1 => Kernel::Polynomial { gamma, coef0: 1.0, degree: [2, 3, 10][rng.random_range(0..3)] },
        2 => Kernel::Laplacian { gamma: gamma.sqrt() },
        _ => Kernel::Rbf { gamma },
    };
    let choice = match rng.random_range(0..4) {
        0 => Choice::Exact,
        1 => Choice::Uniform,
        2 => Choice::Adaptive,
        _ if matches!(kernel, Kernel::Polynomial { .. }) => Choice::Exact,
        _ => return FeatureMap::random_features(kernel, d, 80, seed),
    };
    let tolerance = [0.0, 1e-8][rng.random_range(0..2)];
    FeatureMap::landmarks(kernel, x, &LandmarkOptions { choice, cap: 300, tolerance, seed })
}

#[test]
fn z_leaks_no_more_than_certified() {
    let (mut fitted, mut refused) = (0, 0);
    for seed in 0..400 {
        let case = case(seed);
        let ridge = [0.0, 0.0, 1e-6, 1e-2][(seed % 4) as usize];
        let share = [0.0, 0.01, 0.1][(seed % 3) as usize];
        let Ok(map) = map(&case, seed) else { continue };
        let layout = Layout::dense(case.x.ncols());
        let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
        let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
        let block = Block::new(case.x.as_ref()).class(&case.y).class(&case.s);
        map.push(&mut moments, &block.weighted(&case.weights)).unwrap();
        let solved = Reduced::new(&moments.covariances().unwrap(), ridge)
            .and_then(|reduced| Model::new(&map, &layout, &reduced, None, Goal::Leakage(share)));
        let model = match solved {
            Ok(model) => model,
            // Refused, never certified.
            Err(Error::NoVariation | Error::Unstable | Error::Unreachable { .. }) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        fitted += 1;
        let z = model.encoder().encode(case.x.as_ref()).unwrap();
        let leaked = explained(&z, &case.s, 2, &case.weights);
        let kept = explained(&z, &case.y, 2, &case.weights);
        let (point, bounds) = (model.point(), *model.front().unwrap().bounds());
        let claimed = 1.0 - point.losses.jy / bounds.target_variance;
        let what = format!("seed {seed}, {}, ridge {ridge}, share {share}", model.map_name());
        assert!(leaked <= point.leakage + 1e-6, "{what}: {leaked} for {}", point.leakage);
        assert!(point.leakage <= share + 1e-9, "{what}: {}", point.leakage);
        // Directions of 1e-11 of a feature's variance count, and moments have sixteen digits.
        assert!(kept >= claimed - 1e-5, "{what}: keeps {kept} of {claimed}");
    }
    assert!(fitted > 300 && refused < 40, "{fitted} fitted, {refused} refused");
}
