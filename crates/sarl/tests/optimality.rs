//! No encoder beats ours: not random ones, not turned ones, not those that gradient descent finds.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{
    Data, Dense, Values, eigenvalues, orthonormal, problems, random_subspace, regression_loss,
    rivals,
};
use common::{normal, real, rng};
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use sarl::{Front, Goal, Losses, MomentsOptions, Reduced};

const LAMBDAS: [f64; 5] = [0.05, 0.3, 0.5, 0.75, 0.97];

/// The synthetic problems, and the real ones that are there.
fn all_problems() -> Vec<(&'static str, Data)> {
    let mut all = problems();
    for name in ["gaussian/train.npz", "adult/train.npz"] {
        if let Some(table) = real(name) {
            all.push((name, Data::from(&table)));
        }
    }
    all
}

/// `(1−λ) Jy − λ Js`.
fn objective(lambda: f64, (jy, js): (f64, f64)) -> f64 {
    (1.0 - lambda) * jy - lambda * js
}

/// Descends `tr GᵀBG` over orthonormal G: the gradient without its part inside the subspace, a
/// step no longer than the curvature allows, and back by orthonormalising.
fn descend(b: &Mat<f64>, start: Mat<f64>, steps: usize) -> Mat<f64> {
    let values = eigenvalues(b);
    let spread = values.last().unwrap() - values.first().unwrap();
    let mut g = start;
    for _ in 0..steps {
        let slope = b * &g;
        let outward = &slope - &g * (g.transpose() * &slope);
        g = orthonormal(&(&g - outward * faer::Scale(1.0 / spread)));
    }
    g
}

/// Our own subspace at λ, in the coordinates of the raw rows.
fn ours(
    data: &Data,
    dense: &Dense,
    reduced: &Reduced,
    cap: Option<usize>,
    lambda: f64,
) -> Mat<f64> {
    let model = data.model(reduced, cap, Goal::Lambda(lambda)).unwrap();
    dense.subspace(model.encoder().encode(data.x.as_ref()).unwrap().as_ref())
}

/// Random starts of several dimensions, one near our solution, all improved.
fn improved(rng: &mut ChaCha8Rng, b: &Mat<f64>, near: &Mat<f64>, cap: usize) -> Vec<Mat<f64>> {
    let k = b.nrows();
    let mut starts: Vec<Mat<f64>> =
        (1..=cap.min(k).min(4)).map(|dim| random_subspace(rng, k, dim)).collect();
    starts.push(orthonormal(&(near + normal(rng, k, near.ncols()) * faer::Scale(1e-2))));
    starts.into_iter().map(|start| descend(b, start, 300)).collect()
}

#[test]
fn nothing_beats_theorem_3() {
    let mut rng = rng(20);
    for (name, data) in all_problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for cap in [None, Some(1), Some(2)] {
            let front = Front::new(&reduced, cap).unwrap();
            let most = cap.unwrap_or(usize::MAX);
            for lambda in LAMBDAS {
                let Losses { jy, js } = front.point(lambda).unwrap().losses;
                let best = objective(lambda, (jy, js));
                let mine = ours(&data, &dense, &reduced, cap, lambda);
                let mut others = rivals(&mut rng, &mine, most, 60);
                others.extend(improved(&mut rng, &dense.b(lambda), &mine, most));
                for other in others {
                    let value = objective(lambda, dense.losses(&other));
                    let slack = 1e-10 * (dense.ty + dense.ts);
                    assert!(value >= best - slack, "{name} {cap:?} {lambda}: {value} < {best}");
                }
            }
        }
    }
}

/// The control: descent does arrive where Theorem 3 says, so not beating it means something.
#[test]
fn gradient_descent_arrives_at_theorem_3() {
    let mut rng = rng(21);
    let data = &problems()[1].1;
    let (dense, reduced) = (data.dense(), data.reduced(0.0));
    let lambda = 0.5;
    let point = Front::new(&reduced, None).unwrap().point(lambda).unwrap();
    let start = random_subspace(&mut rng, dense.size(), point.dim);
    let before = objective(lambda, dense.losses(&start));
    let found = descend(&dense.b(lambda), start, 20_000);
    let after = objective(lambda, dense.losses(&found));
    let best = objective(lambda, (point.losses.jy, point.losses.js));
    assert!(after - best < 1e-6 * (before - best), "{before} → {after}, not {best}");
}

#[test]
fn bounds_are_never_beaten() {
    let mut rng = rng(22);
    for (name, data) in all_problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for cap in [None, Some(1), Some(3)] {
            let front = Front::new(&reduced, cap).unwrap();
            let most = cap.unwrap_or(usize::MAX);
            let slack = 1e-10 * (dense.ty + dense.ts);
            for end in [0.0, 1.0] {
                let mine = ours(&data, &dense, &reduced, cap, end);
                for other in rivals(&mut rng, &mine, most, 200) {
                    let (jy, js) = dense.losses(&other);
                    let admitted = front.bounds().admit(Losses { jy, js }, slack);
                    assert!(admitted, "{name} {cap:?}: ({jy}, {js}) against {:?}", front.bounds());
                    // Whoever leaks nothing does no better than γ_max.
                    let silent = js >= dense.ts * (1.0 - 1e-14);
                    assert!(!silent || jy >= front.bounds().gamma_max - 1e-6 * dense.ty, "{name}");
                }
            }
        }
    }
}

/// With a ridge the encoder is another, its losses are still those of plain least squares.
#[test]
fn ridged_losses_are_those_of_unregularised_regressors() {
    for (name, data) in all_problems() {
        let dense = data.dense();
        for ridge in [1e-6, 1e-2, 1.0, 100.0] {
            let reduced = data.reduced(ridge);
            for cap in [None, Some(2)] {
                for lambda in [0.0, 0.4, 0.9, 1.0] {
                    let model = data.model(&reduced, cap, Goal::Lambda(lambda)).unwrap();
                    let z = model.encoder().encode(data.x.as_ref()).unwrap();
                    let (jy, js) = data.regression(z.as_ref());
                    let Losses { jy: found_y, js: found_s } = model.point().losses;
                    let off = ((found_y - jy) / dense.ty).abs() + ((found_s - js) / dense.ts).abs();
                    assert!(off < 1e-8, "{name}, ridge {ridge}, lambda {lambda}: off by {off:e}");
                }
            }
        }
    }
}

#[test]
fn a_ridge_beats_no_bound_and_no_certificate() {
    for (name, data) in all_problems() {
        let plain = data.reduced(0.0);
        for ridge in [1e-6, 1e-2, 1.0, 100.0] {
            let reduced = data.reduced(ridge);
            for cap in [None, Some(1)] {
                let (front, exact) =
                    (Front::new(&reduced, cap).unwrap(), Front::new(&plain, cap).unwrap());
                let (b, e) = (*front.bounds(), *exact.bounds());
                // The bounds are over all encoders, so the ridge cannot move them.
                assert!((b.gamma_min - e.gamma_min).abs() < 1e-9 * e.target_variance, "{name}");
                assert!((b.alpha_min - e.alpha_min).abs() < 1e-9 * e.alpha_max, "{name}");
                for lambda in LAMBDAS {
                    let solution = front.solve(Goal::Lambda(lambda)).unwrap();
                    let losses = solution.point.losses;
                    assert!(b.admit(losses, 1e-9 * (b.alpha_max + b.target_variance)), "{name}");
                    let gap = solution.certificate.gap;
                    assert!(gap >= -1e-9 * b.target_variance, "{name}, ridge {ridge}: gap {gap:e}");
                    let best = exact.point(lambda).unwrap().losses;
                    let (ours, least) = ((losses.jy, losses.js), (best.jy, best.js));
                    let slack = 1e-9 * (b.alpha_max + b.target_variance);
                    assert!(objective(lambda, ours) >= objective(lambda, least) - slack, "{name}");
                }
            }
        }
    }
}

/// The model's own predictors reach the losses that it reports, on rows.
#[test]
fn predictors_reach_the_reported_losses() {
    for (name, data) in problems() {
        for ridge in [0.0, 0.5] {
            let reduced = data.reduced(ridge);
            let model = data.model(&reduced, None, Goal::Lambda(0.3)).unwrap();
            let encoder = model.encoder();
            let z = encoder.encode(data.x.as_ref()).unwrap();
            let (y, s) = (data.own_targets(), data.own_sensitives());
            for (role, labels) in [(sarl::Role::Target, y), (sarl::Role::Sensitive, s)] {
                let residual = &labels - encoder.predict(role, z.as_ref()).unwrap();
                let found = residual.squared_norm_l2() / labels.nrows() as f64;
                let least = regression_loss(z.as_ref(), &labels);
                let scale = regression_loss(Mat::zeros(labels.nrows(), 0).as_ref(), &labels);
                assert!((found - least).abs() < 1e-9 * scale, "{name}: {found} against {least}");
            }
        }
    }
}

/// Three alike classes and one dimension: every direction is as good for the target, so the bound
/// over all of them is that of the one that tells most about s, here whether the class is 0.
#[test]
fn the_looser_bound_sees_ties_under_a_cap() {
    let y: Vec<u32> = (0..300).map(|i| i % 3).collect();
    let s = y.iter().map(|&c| u32::from(c == 0)).collect();
    let x = Mat::from_fn(300, 3, |i, j| f64::from(u8::from(y[i] as usize == j)));
    let data = Data { x, y: vec![Values::Class(y)], s: vec![Values::Class(s)] };
    let (dense, reduced) = (data.dense(), data.reduced(0.0));
    let bounds = *Front::new(&reduced, Some(1)).unwrap().bounds();
    let (jy, js) = dense.losses(&dense.subspace(data.x.subcols(0, 1)));
    assert!((jy - bounds.gamma_min).abs() < 1e-12, "this encoder is one of the best");
    assert!((bounds.alpha_min - bounds.alpha_max).abs() < 1e-12, "and another leaks nothing");
    assert!(js >= bounds.alpha_bar_min - 1e-12, "{js} against {bounds:?}");
}

/// Units far apart and a ridge between them: directions that the ridge all but removes must not
/// spoil the figures of the others.
#[test]
fn ridged_losses_hold_for_features_of_all_sizes() {
    let (name, mut data) = problems().swap_remove(0);
    let x = data.x.clone();
    data.x = Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] * 10f64.powi(2 * j as i32 - 6));
    let dense = data.dense();
    for ridge in [1e-10, 1e-6, 1e-3, 1.0] {
        let reduced = data.reduced(ridge);
        for lambda in [0.0, 0.5, 1.0] {
            let model = data.model(&reduced, None, Goal::Lambda(lambda)).unwrap();
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            let (jy, js) = data.regression(z.as_ref());
            let Losses { jy: found_y, js: found_s } = model.point().losses;
            let off = ((found_y - jy) / dense.ty).abs() + ((found_s - js) / dense.ts).abs();
            assert!(off < 1e-7, "{name}, ridge {ridge}, lambda {lambda}: off by {off:e}");
        }
    }
}

/// A ridge far below the features' sizes on features that repeat each other.
#[test]
fn a_tiny_ridge_on_singular_features() {
    let mut all = vec![problems().swap_remove(4)];
    all.extend(real("adult/train.npz").map(|table| ("adult", Data::from(&table))));
    for (name, data) in all {
        let plain = data.reduced(0.0);
        let exact = Front::new(&plain, None).unwrap().point(0.5).unwrap().losses;
        for ridge in [1e-8, 1e-10, 1e-12, 1e-14] {
            let moments = data.moments(&data.linear(), MomentsOptions::default());
            let reduced = Reduced::new(&moments.covariances().unwrap(), ridge);
            let reduced = reduced.unwrap_or_else(|e| panic!("{name}, ridge {ridge:e}: {e}"));
            let found = Front::new(&reduced, None).unwrap().point(0.5).unwrap().losses;
            let off = (found.jy - exact.jy).abs() + (found.js - exact.js).abs();
            assert!(off < 1e-5, "{name}, ridge {ridge:e}: {found:?}, not {exact:?}");
        }
    }
}

/// The outline is that of all encoders: its extremes are the bounds, and nobody is outside.
#[test]
fn nothing_lies_outside_the_region() {
    let mut rng = rng(23);
    for (name, data) in all_problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for cap in [None, Some(1), Some(3)] {
            let front = Front::new(&reduced, cap).unwrap();
            let b = front.bounds();
            let outline: Vec<(f64, f64)> = front
                .region(2000)
                .unwrap()
                .iter()
                .map(|l| (1.0 - l.js / dense.ts, 1.0 - l.jy / dense.ty))
                .collect();
            let most = |of: fn(&(f64, f64)) -> f64| outline.iter().map(of).fold(0.0, f64::max);
            assert!(
                (most(|p| p.1) - (1.0 - b.gamma_min / dense.ty)).abs() < 1e-9,
                "{name} {cap:?}"
            );
            assert!((most(|p| p.0) - b.leakage(b.alpha_star_min)).abs() < 1e-9, "{name} {cap:?}");
            // How far beyond the line from each corner to the next.
            let outside = |p: (f64, f64)| {
                let edges = outline.iter().zip(outline.iter().cycle().skip(1));
                let beyond = edges.filter_map(|(a, b)| {
                    let (x, y) = (b.0 - a.0, b.1 - a.1);
                    let length = x.hypot(y);
                    (length > 1e-9).then(|| (x * (p.1 - a.1) - y * (p.0 - a.0)) / length)
                });
                beyond.fold(f64::NEG_INFINITY, f64::max)
            };
            let mine = ours(&data, &dense, &reduced, cap, 0.5);
            let others = rivals(&mut rng, &mine, cap.unwrap_or(usize::MAX), 100);
            for other in others.iter().chain([&mine]) {
                let (jy, js) = dense.losses(other);
                let off = outside((1.0 - js / dense.ts, 1.0 - jy / dense.ty));
                // The outline cuts its corners a little.
                assert!(off < 1e-5, "{name} {cap:?}: ({jy}, {js}) is outside by {off:e}");
            }
            // The control: twice as much as can be had is outside.
            assert!(outside((0.0, 2.0 * most(|p| p.1) + 0.1)) > 1e-3, "{name} {cap:?}");
        }
    }
}
