//! The folds of a fit on the device, beside the processor. Where there is no GPU each test says that it is
//! skipped, and why.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod common;

use std::sync::Arc;

use common::{Data, cuda};
use faer::{Mat, MatRef};
use sarl::engine::{Engine, Factored, FoldsPlan, Together};
use sarl::{Block, Family, Features, Fit, FitParams, Fitted, KernelParams, Layout, Ridge, Role};

fn noise(i: usize, j: usize) -> f64 {
    ((i * 31 + j * 17) as f64 * 0.618_034 + (i * j) as f64 * 0.414_214).fract() - 0.5
}

/// The largest number of a difference, as a share of the largest of what is expected.
fn off(found: &Mat<f64>, expected: &Mat<f64>) -> f64 {
    (found - expected).norm_max() / expected.norm_max()
}

#[test]
fn a_factor_in_the_span_of_landmarks_is_what_its_definition_says() {
    let Some(cuda) = cuda("a_factor_in_the_span_of_landmarks_is_what_its_definition_says") else {
        return;
    };
    let (n, thin) = (700, 5);
    let scatter = |seed: usize| {
        let x = Mat::from_fn(n, n + 60, |i, j| noise(i + seed * 7, j + seed * 1000));
        &x * x.transpose()
    };
    let scatters = [scatter(1), scatter(2), scatter(3)];
    let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0 + noise(i, 3).abs(),
        std::cmp::Ordering::Greater => 0.1 * noise(i, j),
    });
    let plan = FoldsPlan {
        scatters: scatters.iter().map(Mat::as_ref).collect(),
        factor: Some(l.as_ref()),
    };
    let Some(folds) = cuda.folds(&plan).unwrap() else {
        println!("skipped a_factor_in_the_span_of_landmarks: there is no cuSOLVER");
        return;
    };
    let of = Together {
        shares: vec![0.01, 0.0, 0.02],
        delta: (0..n).map(|i| 0.1 * noise(i, 9)).collect(),
    };
    let delta = Mat::from_fn(n, 1, |i, _| of.delta[i]);
    let c = &scatters[0] * faer::Scale(0.01) + &scatters[2] * faer::Scale(0.02)
        - &delta * delta.transpose();
    let b = Mat::from_fn(n, thin, |i, j| noise(i, j + 50));
    let found = folds.product(&of, b.as_ref()).unwrap();
    assert!(off(&found, &(&c * &b)) < 1e-13);

    let scale: Vec<f64> = (0..n).map(|i| 1.0 + noise(i, 4)).collect();
    let diagonal: Vec<f64> = (0..n).map(|i| 0.1 + noise(i, 5).abs()).collect();
    let a = Mat::from_fn(n, n, |i, j| {
        c[(i, j)] * scale[i] * scale[j] + if i == j { diagonal[i] } else { 0.0 }
    });
    for known in [None, Some(vec![3, 100, 101, 650]), Some((0..n).step_by(2).collect::<Vec<_>>())] {
        let how = Factored { scale: &scale, diagonal: &diagonal, known: known.as_deref() };
        let mut factor = folds.factor(&of, &how).unwrap().unwrap();
        let white = factor.whiten(b.as_ref()).unwrap();
        let w = factor.unwhiten(white.as_ref()).unwrap();
        // W Wᵀb = M (MᵀAM)⁻¹ Mᵀb for any basis M of the span of the known rows of L: these rows themselves.
        let m = known.as_ref().map_or_else(
            || Mat::identity(n, n),
            |known| Mat::from_fn(n, known.len(), |i, k| l[(known[k], i)]),
        );
        let inner = m.transpose() * &a * &m;
        let llt = inner.llt(faer::Side::Lower).unwrap();
        let expected = &m * faer::prelude::Solve::solve(&llt, m.transpose() * &b);
        let directions = off(&w, &expected);
        let norms = off(&(white.transpose() * &white), &(b.transpose() * &expected));
        println!("{} known: {directions:.1e}, {norms:.1e}", m.ncols());
        assert!(directions < 1e-11 && norms < 1e-12);
        assert_eq!(factor.basis(), m.ncols());
        assert!(factor.least() > 0.0);
        assert!(factor.whiten(Mat::zeros(3, 1).as_ref()).is_err(), "other rows");
    }
    let nothing = vec![-1e6; n];
    let how = Factored { scale: &[], diagonal: &nothing, known: None };
    assert!(folds.factor(&of, &how).unwrap().is_none(), "it is not positive definite");
    let few =
        FoldsPlan { scatters: vec![MatRef::from_column_major_slice(&[1.0], 1, 1)], factor: None };
    assert!(cuda.optional().folds(&few).unwrap().is_none(), "too little to be worth it");
}

fn fitted(
    features: Features,
    ridge: Ridge,
    data: &Data,
    engine: Option<Arc<dyn Engine>>,
) -> Fitted {
    let width = data.width;
    let layout = Layout::dense(width).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let params = FitParams { features, ridge, ..Default::default() };
    let x = MatRef::from_row_major_slice(&data.x, data.rows, width);
    let block = Block::new(x).class(&data.y).class(&data.s).weighted(&data.weights);
    let mut fit = Fit::new(params, layout).unwrap();
    if let Some(engine) = engine {
        fit = fit.on(engine);
    }
    if fit.needs_sample() {
        fit.sample(&block).unwrap();
        fit.choose(&|| false).unwrap();
    }
    fit.push(&block).unwrap();
    fit.finish().unwrap()
}

#[test]
fn held_out_losses_and_ridges_are_those_of_the_processor() {
    let Some(cuda) = cuda("held_out_losses_and_ridges_are_those_of_the_processor") else { return };
    let data = Data::new(6000, 12);
    let kernel =
        |family| Features::Kernel(KernelParams { landmarks: 300, ..KernelParams::new(family) });
    for (name, features, ridge) in [
        ("RBF, ridge 1e-4", kernel(Family::Rbf), Ridge::Fixed(1e-4)),
        ("RBF, the best ridge", kernel(Family::Rbf), Ridge::Auto),
        ("Laplacian, the best ridge", kernel(Family::Laplacian), Ridge::Auto),
        ("polynomial, the best ridge", kernel(Family::Polynomial), Ridge::Auto),
        ("linear, without a ridge", Features::Linear, Ridge::Fixed(0.0)),
        ("linear, ridge 0.1", Features::Linear, Ridge::Fixed(0.1)),
    ] {
        let here = fitted(features.clone(), ridge, &data, None);
        let there = fitted(features, ridge, &data, Some(Arc::new(cuda.clone())));
        let (a, b) = (here.ridge().unwrap().ridge, there.ridge().unwrap().ridge);
        assert!((a - b).abs() <= 1e-12 * a, "{name}: {a} {b}");
        let points = |fitted: &Fitted| {
            let (front, heldout) = (fitted.front().unwrap(), fitted.heldout().unwrap());
            let (points, losses) = (front.points(13).unwrap(), heldout.points(13).unwrap());
            let points = points.iter().flat_map(|p| [p.losses.jy, p.losses.js]);
            points.chain(losses.iter().flat_map(|l| [l.jy, l.js])).collect::<Vec<f64>>()
        };
        let both = points(&here).into_iter().zip(points(&there));
        let apart = both.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{name}: {apart:.1e} apart");
        assert!(apart < 1e-9, "{name}: {apart}");
    }
}
