//! The device beside the processor on the same rows. Where there is no GPU each test says that it
//! is skipped, and why.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod common;

use std::sync::Arc;

use common::{Data, apart, cuda, moments, splits_apart};
use faer::{Mat, MatRef};
use sarl::engine::Engine;
use sarl::{
    Approximation, Block, Error, Family, Features, Fit, FitParams, FoldBy, Goal, KernelParams,
    Layout, Moments, MomentsOptions, Precision, Ridge, Role,
};
use sarl_cuda::{Cuda, Products};

#[test]
fn moments_are_those_of_the_processor() {
    let Some(cuda) = cuda("moments_are_those_of_the_processor") else { return };
    let engine: Arc<dyn Engine> = Arc::new(cuda);
    let data = Data::new(5003, 37);
    for weighted in [false, true] {
        for fold_by in [FoldBy::Position, FoldBy::Content] {
            let options = MomentsOptions { fold_by, seed: 3, ..Default::default() };
            let keys: Vec<u64> = data.many.iter().map(|&k| u64::from(k)).collect();
            // Blocks of different size: the shift moves when a large one comes.
            let push = |moments: &mut Moments| {
                for (start, rows) in [(0, 100), (100, 900), (1000, 4003)] {
                    moments.push(&data.block(weighted).keys(&keys).slice(start, rows)).unwrap();
                }
            };
            let here = moments(&data.layout(), options, None, push);
            let there = moments(&data.layout(), options, Some(Arc::clone(&engine)), push);
            assert_eq!(here.rows(), there.rows());
            let apart = splits_apart(&here, &there);
            println!(
                "weighted {weighted}, folds by {fold_by:?}: {apart:.1e} standard deviations apart"
            );
            assert!(apart < 1e-11, "{apart}");
        }
    }
}

#[test]
fn two_devices_share_the_rows() {
    let Some(_) = cuda("two_devices_share_the_rows") else { return };
    // One device, named twice: the only way on a machine with one.
    let engine: Arc<dyn Engine> = Arc::new(Cuda::new(&[0, 0]).unwrap());
    let data = Data::new(3000, 20);
    let push = |moments: &mut Moments| {
        for start in (0..3000).step_by(500) {
            moments.push(&data.block(true).slice(start, 500)).unwrap();
        }
    };
    let here = moments(&data.layout(), Default::default(), None, push);
    let there = moments(&data.layout(), Default::default(), Some(engine), push);
    assert!(splits_apart(&here, &there) < 1e-11);
}

#[test]
fn single_precision_is_as_exact_as_it_says() {
    let Some(cuda) = cuda("single_precision_is_as_exact_as_it_says") else { return };
    let data = Data::new(20_000, 600);
    let single: Vec<f32> = data.x.iter().map(|v| *v as f32).collect();
    let wide: Vec<f64> = single.iter().map(|v| f64::from(*v)).collect();
    let layout = Layout::dense(600).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let exact = moments(&layout, Default::default(), None, |m| {
        let block = Block::new(MatRef::from_row_major_slice(&wide, 20_000, 600));
        m.push(&block.class(&data.y).class(&data.s)).unwrap();
    });
    for (precision, products, most) in [
        (Precision::Double, Products::Asked, 1e-11),
        (Precision::Single, Products::Asked, 1e-5),
        (Precision::Single, Products::Fast, 1e-5),
    ] {
        let engine: Arc<dyn Engine> = Arc::new(cuda.clone().products(products));
        let options = MomentsOptions { precision, ..Default::default() };
        let there = moments(&layout, options, Some(engine), |m| {
            let block = Block::new(MatRef::from_row_major_slice(&single, 20_000, 600));
            m.push(&block.class(&data.y).class(&data.s)).unwrap();
        });
        let apart = splits_apart(&exact, &there);
        println!("{precision:?} {products:?}: {apart:.1e} standard deviations apart");
        assert!(apart < most, "{precision:?} {products:?}: {apart}");
    }
}

#[test]
fn a_row_that_is_not_finite_is_named_and_leaves_everything_as_it_was() {
    let Some(cuda) = cuda("a_row_that_is_not_finite") else { return };
    let engine: Arc<dyn Engine> = Arc::new(cuda);
    let data = Data::new(1000, 20);
    let mut bad = Data::new(500, 20);
    bad.x[321 * 20 + 5] = f64::NAN;
    let mut there = Moments::new(data.layout(), Default::default()).unwrap();
    there.on(engine).unwrap();
    there.push(&data.block(false)).unwrap();
    let error = there.push(&bad.block(false)).unwrap_err();
    let found = matches!(error, Error::NotFinite { row: 1321, place: sarl::Place::Feature(5), .. });
    assert!(found, "{error}");
    there.push(&data.block(true)).unwrap();
    there.settle().unwrap();
    let here = moments(&data.layout(), Default::default(), None, |m| {
        m.push(&data.block(false)).unwrap();
        m.push(&data.block(true)).unwrap();
    });
    assert!(splits_apart(&here, &there) < 1e-11);
}

#[test]
fn a_copy_of_moments_goes_its_own_way() {
    let Some(cuda) = cuda("a_copy_of_moments_goes_its_own_way") else { return };
    let data = Data::new(1000, 20);
    let mut first = Moments::new(data.layout(), Default::default()).unwrap();
    first.on(Arc::new(cuda)).unwrap();
    first.push(&data.block(false)).unwrap();
    let mut second = first.clone();
    assert!(first.covariances().is_err(), "rows on a device must be settled first");
    second.push(&data.block(true)).unwrap();
    first.settle().unwrap();
    second.settle().unwrap();
    let once =
        moments(&data.layout(), Default::default(), None, |m| m.push(&data.block(false)).unwrap());
    let twice = moments(&data.layout(), Default::default(), None, |m| {
        m.push(&data.block(false)).unwrap();
        m.push(&data.block(true)).unwrap();
    });
    assert!(splits_apart(&once, &first) < 1e-11);
    assert!(splits_apart(&twice, &second) < 1e-11);
}

#[test]
fn without_memory_it_says_so_or_leaves_the_rows_to_the_processor() {
    if cuda("without_memory").is_none() {
        return;
    }
    let data = Data::new(1000, 20);
    let little = || Cuda::within(&[0], Some(1 << 20)).unwrap();
    let mut there = Moments::new(data.layout(), Default::default()).unwrap();
    there.on(Arc::new(little())).unwrap();
    let error = there.push(&data.block(false)).unwrap_err();
    assert!(
        matches!(error, Error::Device { .. }) && error.to_string().contains("out of memory"),
        "{error}"
    );
    let wide = Data::new(2000, 300);
    let optional: Arc<dyn Engine> = Arc::new(little().optional());
    let push = |m: &mut Moments| {
        m.expect(10_000_000);
        m.push(&wide.block(false)).unwrap();
    };
    let there = moments(&wide.layout(), Default::default(), Some(optional), push);
    assert!(
        there.refused().is_some_and(|why| why.contains("out of memory")),
        "{:?}",
        there.refused()
    );
    let here = moments(&wide.layout(), Default::default(), None, push);
    assert!(apart(&here.covariances().unwrap(), &there.covariances().unwrap()) < 1e-13);
}

/// All numbers of a value.
fn numbers(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Number(number) => number.as_f64().into_iter().collect(),
        serde_json::Value::Array(values) => values.iter().flat_map(numbers).collect(),
        serde_json::Value::Object(values) => values.values().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// How far the shares, the bounds and z of a fit are apart, here and there: z at a λ, and where a leakage was
/// asked for.
fn fits(features: Features, ridge: Ridge, cuda: &Cuda) -> (f64, f64, [f64; 2]) {
    let data = Data::new(3000, 12);
    let params = FitParams { features, ridge, ..Default::default() };
    let layout =
        Layout::dense(12).coded(&[37]).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let block = Block::new(MatRef::from_row_major_slice(&data.x, data.rows, data.width));
    let block = block.coded(&data.many).class(&data.y).class(&data.s).weighted(&data.weights);
    let fitted = |engine: Option<Arc<dyn Engine>>| {
        let mut fit = Fit::new(params.clone(), layout.clone()).unwrap();
        if let Some(engine) = engine {
            fit = fit.on(engine);
        }
        if fit.needs_sample() {
            fit.sample(&block).unwrap();
            fit.choose(&|| false).unwrap();
        }
        for start in (0..3000).step_by(1000) {
            fit.push(&block.slice(start, 1000)).unwrap();
        }
        let fitted = fit.finish().unwrap();
        let bounds = serde_json::to_value(fitted.front().unwrap().bounds()).unwrap();
        let solved = [Goal::Leakage(0.02), Goal::Lambda(0.5)].map(|g| fitted.solve(g).unwrap());
        println!("    ridge {:e}", fitted.ridge().unwrap().ridge);
        (solved, numbers(&bounds))
    };
    let ((here, a), (there, b)) = (fitted(None), fitted(Some(Arc::new(cuda.clone()))));
    assert!(!a.is_empty() && a.len() == b.len());
    let bounds = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let (one, other) = (here[0].point(), there[0].point());
    let points = (one.leakage - other.leakage).abs().max((one.utility - other.utility).abs());
    let z = [1, 0].map(|at| {
        let z = |models: &[sarl::Model; 2]| models[at].encoder().encode_block(&block).unwrap();
        let difference: Mat<f64> = z(&here) - z(&there);
        difference.norm_max()
    });
    (points, bounds, z)
}

#[test]
fn fits_are_those_of_the_processor() {
    let Some(cuda) = cuda("fits_are_those_of_the_processor") else { return };
    let kernel = |family, approximation| {
        Features::Kernel(KernelParams { approximation, landmarks: 60, ..KernelParams::new(family) })
    };
    for (name, features) in [
        ("linear", Features::Linear),
        ("RBF", kernel(Family::Rbf, Approximation::Landmarks)),
        ("Laplacian", kernel(Family::Laplacian, Approximation::Landmarks)),
        ("polynomial", kernel(Family::Polynomial, Approximation::Landmarks)),
        ("random features", kernel(Family::Rbf, Approximation::RandomFeatures)),
    ] {
        for (ridge, most) in [(Ridge::Fixed(1e-3), 1e-9), (Ridge::Default, 1e-7)] {
            let (points, bounds, [z, sought]) = fits(features.clone(), ridge, &cuda);
            println!(
                "{name}, {ridge:?}: shares {points:.1e}, bounds {bounds:.1e}, z {z:.1e}, {sought:.1e}"
            );
            assert!(points < 1e-9 && bounds < 1e-9, "{name}: {points} {bounds}");
            // Ridges whose held-out losses are the same up to rounding are chosen between by rounding.
            assert!(z < most, "{name}, {ridge:?}: {z}");
            // With a ridge the best λ for a leakage can be the place of a flat maximum: of a utility that is
            // known to 1e-16 it is known to 1e-8.
            assert!(sought < 1e-7, "{name}, {ridge:?}: {sought}");
        }
    }
}

#[test]
fn z_is_that_of_the_processor() {
    let Some(cuda) = cuda("z_is_that_of_the_processor") else { return };
    let data = Data::new(3000, 12);
    let layout =
        Layout::dense(12).coded(&[37]).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let block = Block::new(MatRef::from_row_major_slice(&data.x, data.rows, data.width));
    let block = block.coded(&data.many).class(&data.y).class(&data.s);
    let kernel =
        |family| Features::Kernel(KernelParams { landmarks: 60, ..KernelParams::new(family) });
    for features in [
        Features::Linear,
        kernel(Family::Rbf),
        kernel(Family::Laplacian),
        kernel(Family::Polynomial),
    ] {
        let mut fit =
            Fit::new(FitParams { features, ..Default::default() }, layout.clone()).unwrap();
        fit.sample(&block).unwrap();
        fit.choose(&|| false).unwrap();
        fit.push(&block).unwrap();
        let model = fit.finish().unwrap().solve(Goal::Leakage(0.02)).unwrap();
        let encoder = model.encoder();
        let mut encoding = encoder.encoding(&cuda, 3000).unwrap().unwrap();
        let (here, there) = (
            encoder.encode_block(&block).unwrap(),
            encoder.encode_with(encoding.as_mut(), &block).unwrap(),
        );
        let difference: Mat<f64> = &here - &there;
        println!("z {:.1e} apart", difference.norm_max());
        assert!(difference.norm_max() < 1e-9, "{}", difference.norm_max());
        let mut bad = data.x.clone();
        bad[77 * 12 + 3] = f64::INFINITY;
        let bad =
            Block::new(MatRef::from_row_major_slice(&bad, data.rows, data.width)).coded(&data.many);
        let error = encoder.encode_with(encoding.as_mut(), &bad).unwrap_err();
        assert!(matches!(error, Error::NotFinite { row: 77, .. }), "{error}");
    }
}
