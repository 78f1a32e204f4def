//! Erasure without a target: with the features themselves to keep, λ → 1 is LEACE.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::dense::{Data, Values, centred, means, regression_loss};
use common::{normal, real, rng, synthetic};
use faer::{Mat, Side};
use sarl::{FeatureMap, Front, Goal, Kernel, LandmarkOptions, Model, MomentsOptions, Reduced};

/// `U f(S) Uᵀ` over the eigenvalues of a symmetric matrix that are not zero.
fn spectral(a: &Mat<f64>, f: impl Fn(f64) -> f64) -> Mat<f64> {
    let eigen = a.self_adjoint_eigen(Side::Lower).unwrap();
    let (values, u) = (eigen.S().column_vector(), eigen.U());
    let most = values.iter().fold(0.0_f64, |m, v| m.max(*v));
    let g: Vec<f64> = values.iter().map(|&v| if v > 1e-10 * most { f(v) } else { 0.0 }).collect();
    Mat::from_fn(a.nrows(), a.nrows(), |i, j| u[(i, j)] * g[j]) * u.transpose()
}

/// Belrose et al. 2023, theorem 4.3: `r(x) = x − W⁺ P W (x − mean)`, `W = (C^{1/2})⁺`, P the
/// orthogonal projector onto the columns of `W C_xs`.
fn leace(x: &Mat<f64>, s: &Mat<f64>) -> Mat<f64> {
    let n = faer::Scale(1.0 / x.nrows() as f64);
    let (xc, sc) = (centred(x.as_ref()), centred(s.as_ref()));
    let c = xc.transpose() * &xc * n;
    let (w, back) = (spectral(&c, |v| 1.0 / v.sqrt()), spectral(&c, f64::sqrt));
    let white = &w * (xc.transpose() * &sc * n);
    let p = spectral(&(&white * white.transpose()), |_| 1.0);
    x - &xc * (back * p * w).transpose()
}

/// Erasure of `s` from `x` by this library.
fn erased(data: &Data, reduced: &Reduced, goal: Goal) -> Mat<f64> {
    let encoder = data.model(reduced, None, goal).unwrap().encoder();
    let z = encoder.encode(data.x.as_ref()).unwrap();
    encoder.reconstruct(z.as_ref()).unwrap()
}

/// Features of one scale, correlated, with a shift that erasure must keep.
fn problem(seed: u64, sensitive: fn(&Mat<f64>, &Mat<f64>) -> Values) -> Data {
    let mut rng = rng(seed);
    let x = normal(&mut rng, 400, 7) * normal(&mut rng, 7, 7);
    let noise = normal(&mut rng, 400, 3);
    let s = sensitive(&x, &noise);
    let x = Mat::from_fn(400, 7, |i, j| x[(i, j)] + 3.0 * j as f64);
    Data { x, y: vec![], s: vec![s] }
}

fn binary(x: &Mat<f64>, noise: &Mat<f64>) -> Values {
    let side = |i: usize| u32::from(x[(i, 0)] - x[(i, 3)] + noise[(i, 0)] > 0.5);
    Values::Class((0..x.nrows()).map(side).collect())
}

fn multiclass(x: &Mat<f64>, noise: &Mat<f64>) -> Values {
    let class = |i: usize| {
        let two = u32::from(x[(i, 1)] + noise[(i, 1)] > 0.0);
        2 * two + u32::from(x[(i, 2)] + x[(i, 5)] + noise[(i, 0)] > 0.0)
    };
    Values::Class((0..x.nrows()).map(class).collect())
}

fn numeric(x: &Mat<f64>, noise: &Mat<f64>) -> Values {
    let value = |i: usize, j: usize| x[(i, j)] + 2.0 * x[(i, j + 3)] + 3.0 * noise[(i, j)];
    Values::Number(Mat::from_fn(x.nrows(), 2, value))
}

/// The same columns and combinations of them: `C` is singular.
fn deficient(mut data: Data) -> Data {
    let x = data.x;
    data.x = Mat::from_fn(x.nrows(), 10, |i, j| match j {
        0..7 => x[(i, j)],
        7 => x[(i, 0)] + x[(i, 1)],
        8 => -0.5 * x[(i, 2)],
        _ => 4.0,
    });
    data
}

fn problems() -> Vec<(&'static str, Data)> {
    let mut all = vec![
        ("binary", problem(40, binary)),
        ("multi-class", problem(41, multiclass)),
        ("numeric", problem(42, numeric)),
        ("singular, binary", deficient(problem(43, binary))),
        ("singular, multi-class", deficient(problem(44, multiclass))),
    ];
    if let Some(table) = real("adult/train.npz") {
        let mut adult = Data::from(&table);
        adult.y.clear();
        all.push(("adult", adult));
    }
    all
}

#[test]
fn the_end_of_the_front_is_leace() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        let expected = leace(&data.x, &data.sensitives());
        for goal in [Goal::Lambda(1.0), Goal::Leakage(0.0)] {
            let off = (erased(&data, &reduced, goal) - &expected).norm_max() / data.x.norm_max();
            assert!(off < 1e-9, "{name}: off by {off:e}");
        }
    }
}

/// The share of the sensitive variance that least squares explains.
fn probe(x: &Mat<f64>, s: &Mat<f64>) -> f64 {
    let alone = regression_loss(Mat::zeros(s.nrows(), 0).as_ref(), s);
    // Erasure leaves rounding in the erased directions; a probe of finite resolution ignores it.
    1.0 - regression_loss(principal(x).as_ref(), s) / alone
}

/// The principal components of relative size above 1e-6.
fn principal(x: &Mat<f64>) -> Mat<f64> {
    let c = centred(x.as_ref());
    let svd = c.thin_svd().unwrap();
    let values = svd.S().column_vector();
    let rank = values.iter().filter(|&&v| v > 1e-6 * values[0]).count();
    svd.U().subcols(0, rank).to_owned()
}

#[test]
fn a_probe_learns_before_erasure_less_during_and_nothing_after() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        let s = data.sensitives();
        let before = probe(&data.x, &s);
        assert!(before > 0.2, "{name}: the control learns only {before}");
        let mut last = f64::INFINITY;
        for share in [1.0, 0.7, 0.4, 0.1, 0.01] {
            let after = probe(&erased(&data, &reduced, Goal::Leakage(share * before)), &s);
            assert!(after <= share * before + 1e-6, "{name}: {after} of {before} at {share}");
            assert!(after <= last + 1e-9, "{name}: less leakage asked, more found");
            last = after;
        }
        let after = probe(&erased(&data, &reduced, Goal::Leakage(0.0)), &s);
        assert!(after.abs() < 1e-9, "{name}: {after:e} is left after erasure");
    }
}

#[test]
fn partial_erasure_keeps_more_of_the_features() {
    for (name, data) in problems() {
        let reduced = data.reduced(0.0);
        let mut last = -1e-9;
        let total = centred(data.x.as_ref()).squared_norm_l2();
        for lambda in [0.0, 0.2, 0.5, 0.8, 0.95, 0.999, 1.0] {
            let lost =
                (&data.x - erased(&data, &reduced, Goal::Lambda(lambda))).squared_norm_l2() / total;
            assert!(lost >= last - 1e-12, "{name}: {lost} lost at {lambda}, {last} before");
            last = lost;
        }
        assert!(last < 1.0, "{name}: erasure must keep something");
        let all = (&data.x - erased(&data, &reduced, Goal::Lambda(0.0))).norm_max();
        assert!(all < 1e-8 * data.x.norm_max(), "{name}: λ → 0 keeps everything, lost {all:e}");
        let moved = means(erased(&data, &reduced, Goal::Lambda(1.0)).as_ref());
        for (a, b) in moved.iter().zip(means(data.x.as_ref())) {
            assert!((a - b).abs() < 1e-9 * data.x.norm_max(), "{name}: the mean moved");
        }
    }
}

#[test]
fn a_kernel_reconstructs_its_inputs() {
    let table = synthetic(45, 500, 3, 2, 3);
    let mut data = Data::from(&table);
    data.y.clear();
    let options = LandmarkOptions { cap: 40, ..Default::default() };
    let kernel = Kernel::Rbf { gamma: 0.05 };
    let map = FeatureMap::landmarks(kernel, data.x.as_ref(), &options).unwrap();
    let moments = data.moments(&map, MomentsOptions::default());
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    let lost = |lambda: f64| {
        let model = Model::new(&map, &data.layout(), &reduced, None, Goal::Lambda(lambda)).unwrap();
        let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let z = model.encoder().encode(data.x.as_ref()).unwrap();
        let x = model.encoder().reconstruct(z.as_ref()).unwrap();
        assert_eq!(x.shape(), data.x.shape());
        let lost = (&x - &data.x).squared_norm_l2() / x.nrows() as f64;
        // The reported loss is that of this very reconstruction.
        assert!((lost - model.point().losses.jy).abs() < 1e-6 * lost.max(1.0), "{lambda}");
        lost
    };
    let (all, some, least) = (lost(0.0), lost(0.5), lost(1.0));
    assert!(all <= some && some <= least && all < 0.9 * least, "{all}, {some}, {least}");
    let bounds = *Front::new(&reduced, None).unwrap().bounds();
    assert!(least < bounds.target_variance, "something is kept even then");
}

/// Without the features as the target a kernel encoder does not know its inputs, and says so.
#[test]
fn a_kernel_without_its_inputs_says_so() {
    let data = Data::from(&synthetic(46, 200, 3, 2, 2));
    let options = LandmarkOptions { cap: 20, ..Default::default() };
    let map = FeatureMap::landmarks(Kernel::Rbf { gamma: 0.1 }, data.x.as_ref(), &options).unwrap();
    let moments = data.moments(&map, MomentsOptions::default());
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    let model = Model::new(&map, &data.layout(), &reduced, None, Goal::Lambda(0.5)).unwrap();
    let z = model.encoder().encode(data.x.as_ref()).unwrap();
    assert!(matches!(model.encoder().reconstruct(z.as_ref()), Err(sarl::Error::Unavailable(_))));
}
