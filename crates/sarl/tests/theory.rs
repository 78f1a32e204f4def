//! The paper's lemmas and theorems, each evaluated on raw rows beside the library's figures.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values, centred, column_space, problems, regression_loss, rivals};
use common::oracle::{inertia, part_of};
use common::{normal, rng, synthetic};
use faer::{Mat, Side};
use sarl::{
    Covariances, FeatureMap, Front, Goal, Kernel, LabelCovariances, LandmarkOptions, Model,
    MomentsOptions, Reduced,
};

/// From the limit at 0 to the limit at 1, ends and middle.
const LAMBDAS: [f64; 9] = [0.0, 1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0 - 1e-6, 1.0];

/// Equality relative to a variance: all losses here are sums of at most some hundred products.
fn near(found: f64, expected: f64, scale: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= 1e-9 * scale, "{what}: found {found}, expected {expected}, off by {off:e}");
}

/// Lemma 1 as the paper writes it: `tr C_t − ‖P_M Q⁻ᵀ C_xt‖²`, `M = Q Θᵀ`, `C = QᵀQ`.
fn lemma1(c: &Covariances, part: &LabelCovariances, theta: &Mat<f64>) -> f64 {
    let l = c.features.llt(Side::Lower).unwrap().L().to_owned();
    let m = (l.transpose() * theta).qr().compute_thin_Q();
    let solved = l.partial_piv_lu();
    let white = faer::prelude::Solve::solve(&solved, &part.cross);
    part.variance.iter().sum::<f64>() - (m.transpose() * white).squared_norm_l2()
}

#[test]
fn lemma_1_is_least_squares_for_any_encoder() {
    let mut rng = rng(10);
    for (name, data) in problems() {
        let m = data.x.ncols();
        let dense = data.dense();
        if dense.size() < m {
            continue; // the lemma assumes an invertible covariance; Theorem 3's test does not
        }
        let moments = data.moments(&data.linear(), MomentsOptions::default());
        let c = moments.covariances().unwrap();
        for dim in 1..=m.min(4) {
            let theta = normal(&mut rng, m, dim);
            let z = &data.x * &theta;
            for (part, labels) in
                [(&c.target, data.own_targets()), (&c.sensitive, data.own_sensitives())]
            {
                let all: f64 = part.variance.iter().sum();
                near(lemma1(&c, part, &theta), regression_loss(z.as_ref(), &labels), all, name);
            }
        }
    }
}

#[test]
fn reported_losses_are_least_squares_on_z() {
    for (name, data) in problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for lambda in LAMBDAS {
            let model = data.model(&reduced, None, Goal::Lambda(lambda)).unwrap();
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            let (jy, js) = data.regression(z.as_ref());
            near(model.point().losses.jy, jy, dense.ty, name);
            near(model.point().losses.js, js, dense.ts, name);
        }
    }
}

#[test]
fn claim_each_lambda_solves_its_constrained_problem() {
    let mut rng = rng(11);
    for (name, data) in problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        for lambda in [0.2, 0.5, 0.8] {
            let model = data.model(&reduced, None, Goal::Lambda(lambda)).unwrap();
            let ours = dense.subspace(model.encoder().encode(data.x.as_ref()).unwrap().as_ref());
            let losses = model.point().losses;
            for rival in rivals(&mut rng, &ours, dense.size(), 300) {
                let (jy, js) = dense.losses(&rival);
                let beaten = js >= losses.js && jy < losses.jy - 1e-9 * dense.ty;
                assert!(!beaten, "{name}, lambda {lambda}: ({jy}, {js}) beats {losses:?}");
            }
        }
    }
}

/// `tr[P_G B]`, with the projector onto the columns of any `G`.
fn objective(b: &Mat<f64>, g: &Mat<f64>) -> f64 {
    let q = column_space(g.as_ref());
    let inner = q.transpose() * b * &q;
    (0..q.ncols()).map(|i| inner[(i, i)]).sum()
}

#[test]
fn theorem_2_neither_convex_nor_differentiable() {
    let dense = Data::from(&synthetic(12, 300, 4, 3, 3)).dense();
    let b = dense.b(0.5);
    let along = |t: f64| {
        Mat::from_fn(4, 2, |i, j| match (i, j) {
            (0, 0) => t + 1.0,
            (1, 0) => 1.0,
            _ => 0.0,
        })
    };
    let h = |t: f64| objective(&b, &along(t));
    for t in [-3.0_f64, -1.5, -1.0, 0.0, 0.4, 2.0] {
        let fraction =
            (2.0 * b[(0, 1)] * (t + 1.0) + b[(1, 1)] - b[(0, 0)]) / ((t + 1.0).powi(2) + 1.0);
        near(h(t), b[(0, 0)] + fraction, b.norm_max(), "the paper's expression");
    }
    // h has the same limit at both infinities and is not constant, so it cannot be convex.
    let worst = (-40..40)
        .map(|i| f64::from(i) * 0.25)
        .fold(f64::MIN, |worst, t| worst.max(h(t) - 0.5 * (h(t - 0.5) + h(t + 0.5))));
    assert!(worst > 1e-3 * b.norm_max(), "midpoints lie under their chords: {worst:e}");
    // The projector does not see the length of G: the objective jumps where the rank does.
    let direction = along(0.0);
    let short = objective(&b, &(&direction * faer::Scale(1e-9)));
    near(short, objective(&b, &direction), b.norm_max(), "the objective is blind to length");
    assert!(short.abs() > 1e-3 * b.norm_max());
    assert_eq!(objective(&b, &(&direction * faer::Scale(0.0))), 0.0);
}

#[test]
fn theorem_3_from_raw_rows() {
    for (name, data) in problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        assert_eq!(reduced.basis(), dense.size(), "{name}");
        for cap in [None, Some(1), Some(2), Some(3)] {
            let front = Front::new(&reduced, cap).unwrap();
            for lambda in LAMBDAS {
                let losses = front.point(lambda).unwrap().losses;
                let found = (1.0 - lambda) * losses.jy - lambda * losses.js;
                let best = dense.negative_sum(lambda, cap.unwrap_or(usize::MAX));
                let expected = (1.0 - lambda) * dense.ty - lambda * dense.ts + best;
                near(found, expected, dense.ty + dense.ts, name);
            }
        }
    }
}

#[test]
fn lemma_4_bounds() {
    for (name, data) in problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        let bounds = *Front::new(&reduced, None).unwrap().bounds();
        let (vs, vy) = (part_of(&dense.s, false), part_of(&dense.y, true));
        let seen = |v: &Mat<f64>, half: &Mat<f64>| (v.transpose() * half).squared_norm_l2();
        near(bounds.gamma_min, dense.ty - dense.y.squared_norm_l2(), dense.ty, name);
        near(bounds.gamma_max, dense.ty - seen(&vs, &dense.y), dense.ty, name);
        near(bounds.alpha_min, dense.ts - seen(&vy, &dense.s), dense.ts, name);
        near(bounds.alpha_max, dense.ts, dense.ts, name);
        // The looser two: everything known about s; and all of it beside the target's range.
        near(bounds.alpha_star_min, dense.ts - dense.s.squared_norm_l2(), dense.ts, name);
        near(bounds.alpha_bar_min, bounds.alpha_star_min, dense.ts, name);
        near(bounds.target_variance, dense.ty, dense.ty, name);
    }
}

#[test]
fn bounds_are_ordered_with_and_without_a_cap() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        for cap in (1..=reduced.size()).map(Some).chain([None]) {
            let b = *Front::new(&reduced, cap).unwrap().bounds();
            let slack = 1e-12 * b.alpha_max;
            let order = [0.0, b.alpha_star_min, b.alpha_bar_min, b.alpha_min, b.alpha_max];
            assert!(order.windows(2).all(|w| w[0] <= w[1] + slack), "{name} {cap:?}: {b:?}");
            let slack = 1e-12 * b.target_variance;
            let order = [0.0, b.gamma_min, b.gamma_max, b.target_variance];
            assert!(order.windows(2).all(|w| w[0] <= w[1] + slack), "{name} {cap:?}: {b:?}");
        }
    }
}

#[test]
fn dimensionality_steps_exactly_at_the_breakpoints() {
    let mut steps = 0;
    for (name, data) in problems() {
        let (dense, reduced) = (data.dense(), data.reduced(0.0));
        let front = Front::new(&reduced, None).unwrap();
        let breaks = front.breakpoints().unwrap();
        assert!(breaks.is_sorted(), "{name}");
        for (i, &at) in breaks.iter().enumerate() {
            let step = 1e-7 * at.min(1.0 - at);
            let clear =
                breaks.iter().enumerate().all(|(j, b)| j == i || (b - at).abs() > 2.0 * step);
            assert!(clear, "{name}: this test expects steps of one");
            let (below, above) = (inertia(&dense, at - step), inertia(&dense, at + step));
            assert_eq!(below, above + 1, "{name}: no step at {at}");
            assert_eq!(front.dimension(at - step).unwrap(), below, "{name}");
            assert_eq!(front.dimension(at + step).unwrap(), above, "{name}");
            assert!(front.at_jump(at).unwrap());
            steps += 1;
        }
        for lambda in (1..100).map(|i| f64::from(i) / 100.0) {
            assert_eq!(
                front.dimension(lambda).unwrap(),
                inertia(&dense, lambda),
                "{name} {lambda}"
            );
        }
    }
    assert!(steps >= 4, "the problems have {steps} steps: too few to show anything");
}

#[test]
fn ends_are_limits() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        let front = Front::new(&reduced, None).unwrap();
        let bounds = front.bounds();
        // How far the losses are from those of the end, in shares of the variances.
        let off = |end: f64, step: f64| {
            let lambda = (end - step).abs();
            let (at, by) = (front.point(end).unwrap(), front.point(lambda).unwrap());
            assert_eq!(at.dim, by.dim, "{name}");
            let jy = (at.losses.jy - by.losses.jy) / bounds.target_variance;
            jy.abs() + (at.losses.js - by.losses.js).abs() / bounds.alpha_max
        };
        for end in [0.0, 1.0] {
            // The subspace turns in proportion to the step, so the losses do so at most.
            assert!(off(end, 1e-8) <= 0.02 * off(end, 1e-6) + 1e-10, "{name}");
            assert!(off(end, 1e-10) <= 0.02 * off(end, 1e-8) + 1e-10, "{name}");
        }
        near(front.point(1.0).unwrap().losses.js, bounds.alpha_max, bounds.alpha_max, name);
        near(front.point(0.0).unwrap().losses.jy, bounds.gamma_min, bounds.target_variance, name);
    }
}

/// The largest entry of `Cov(z) − I`.
fn off_identity(z: &Mat<f64>) -> f64 {
    let c = centred(z.as_ref());
    let covariance = c.transpose() * &c * faer::Scale(1.0 / z.nrows() as f64);
    (covariance - Mat::<f64>::identity(z.ncols(), z.ncols())).norm_max()
}

#[test]
fn covariance_of_z_is_the_identity() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        for lambda in [0.0, 0.3, 1.0] {
            let model = data.model(&reduced, None, Goal::Lambda(lambda)).unwrap();
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            assert!(off_identity(&z) < 1e-9, "{name}: {:e}", off_identity(&z));
        }
    }
    let data = Data::from(&synthetic(13, 400, 3, 3, 3));
    let kernel = Kernel::Rbf { gamma: 0.2 };
    let options = LandmarkOptions { cap: 60, ..Default::default() };
    let map = FeatureMap::landmarks(kernel, data.x.as_ref(), &options).unwrap();
    let moments = data.moments(&map, MomentsOptions::default());
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    let model = Model::new(&map, &data.layout(), &reduced, None, Goal::Lambda(0.4)).unwrap();
    let z = model.encoder().encode(data.x.as_ref()).unwrap();
    // A kernel matrix is far worse conditioned, and the encoder folds its factor in.
    assert!(off_identity(&z) < 1e-5, "{:e}", off_identity(&z));
    let (jy, _) = data.regression(z.as_ref());
    assert!((model.point().losses.jy - jy).abs() < 1e-5 * jy);
}

/// Losses and shares over the front.
fn figures(data: &Data) -> Vec<f64> {
    let reduced = data.reduced(0.0);
    let front = Front::new(&reduced, None).unwrap();
    front.points(11).unwrap().iter().flat_map(|p| [p.losses.jy, p.losses.js, p.utility]).collect()
}

#[test]
fn units_and_origins_of_features_do_not_matter() {
    for (name, data) in problems() {
        let width = data.x.ncols();
        let scale = |j: usize| 10f64.powf(18.0 * j as f64 / (width - 1) as f64 - 9.0);
        let mut scaled = data.clone();
        // Moved before it is scaled: the other way round rounding would erase the small ones.
        scaled.x = Mat::from_fn(data.x.nrows(), width, |i, j| (data.x[(i, j)] + 1e6) * scale(j));
        for (a, b) in figures(&data).into_iter().zip(figures(&scaled)) {
            // A shift of 1e6 rounds values of order 1 to 1e-10.
            assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{name}: {a} became {b}");
        }
    }
}

#[test]
fn the_same_rows_in_another_order_are_the_same_encoder() {
    let data = Data::from(&synthetic(14, 500, 6, 3, 4));
    let n = data.x.nrows();
    let back = |values: &Values| match values {
        Values::Class(c) => Values::Class(c.iter().rev().copied().collect()),
        Values::Number(v) => Values::Number(v.clone()),
    };
    let reversed = Data {
        x: Mat::from_fn(n, 6, |i, j| data.x[(n - 1 - i, j)]),
        y: data.y.iter().map(back).collect(),
        s: data.s.iter().map(back).collect(),
    };
    let weights = |data: &Data| {
        let model = data.model(&data.reduced(0.0), None, Goal::Lambda(0.4)).unwrap();
        model.encoder().weights().to_owned()
    };
    let (a, b) = (weights(&data), weights(&reversed));
    assert!(a.ncols() > 0 && (&a - &b).norm_max() < 1e-9 * a.norm_max());
    for column in a.col_iter() {
        let most = column.iter().fold(0.0_f64, |m, v| if v.abs() > m.abs() { *v } else { m });
        assert!(most > 0.0, "the largest weight of each direction is positive");
    }
}

#[test]
fn one_dimension_is_a_correlation() {
    let mut rng = rng(15);
    let all = normal(&mut rng, 200, 3) * normal(&mut rng, 3, 3);
    let column = |j: usize| all.subcols(j, 1).to_owned();
    let number = |j: usize| vec![Values::Number(column(j))];
    let data = Data { x: column(0), y: number(1), s: number(2) };
    let c = centred(all.as_ref());
    let rho = |j: usize| {
        let product = c.col(0).transpose() * c.col(j);
        product / (c.col(0).norm_l2() * c.col(j).norm_l2())
    };
    let reduced = data.reduced(0.0);
    let b = *Front::new(&reduced, None).unwrap().bounds();
    near(b.gamma_min / b.target_variance, 1.0 - rho(1).powi(2), 1.0, "target");
    near(b.alpha_min / b.alpha_max, 1.0 - rho(2).powi(2), 1.0, "sensitive");
    near(b.gamma_max, b.target_variance, b.target_variance, "nothing is left without leakage");
}
