//! One fit, whatever the encoder: rows as they come, in any blocks and on any machine.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{Table, synthetic};
use faer::{Mat, MatRef};
use sarl::{
    Approximation, Block, Error, Family, Features, Fit, FitParams, Goal, KernelParams, Layout,
    Model, Precision, Ridge, Role, Scale,
};

/// A column of three categories beside the numbers of a table.
fn codes(table: &Table) -> Vec<u32> {
    (0..table.x().nrows() as u32).map(|i| (i * 5 + i / 7) % 3).collect()
}

fn layout(width: usize, categories: &[usize]) -> Layout {
    let layout = Layout::dense(width).coded(categories);
    layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 3)
}

fn kernel(approximation: Approximation) -> FitParams {
    let params = KernelParams { approximation, landmarks: 40, ..KernelParams::new(Family::Rbf) };
    FitParams { ridge: Ridge::Fixed(1e-3), ..FitParams::kernel(params) }
}

fn all() -> Vec<FitParams> {
    let linear = FitParams { ridge: Ridge::Fixed(0.0), ..Default::default() };
    let kernels = [
        Approximation::Landmarks,
        Approximation::UniformLandmarks,
        Approximation::Exact,
        Approximation::RandomFeatures,
    ];
    let plain = [linear].into_iter().chain(kernels.map(kernel));
    let scales = |params: FitParams| {
        [Scale::None, Scale::Standard].map(|scale| FitParams { scale, ..params.clone() })
    };
    plain.flat_map(scales).collect()
}

/// All rows of a block, in blocks of so many.
fn fitted(params: &FitParams, layout: &Layout, block: &Block<'_, f64>, step: usize) -> Fit {
    let mut fit = Fit::new(params.clone(), layout.clone()).unwrap();
    let starts = || (0..block.rows()).step_by(step);
    let part = |start: usize| block.slice(start, step.min(block.rows() - start));
    if fit.needs_sample() {
        starts().for_each(|start| fit.sample(&part(start)).unwrap());
        fit.choose(&|| false).unwrap();
    }
    starts().for_each(|start| fit.push(&part(start)).unwrap());
    fit
}

fn near(a: &Mat<f64>, b: &Mat<f64>, tolerance: f64, what: &str) {
    let off = (a - b).norm_max();
    assert!(off <= tolerance * (1.0 + b.norm_max()), "{what}: {off:e}");
}

/// Indicators of classes add up to one. What rounding leaves of that is not a direction to hide.
#[test]
fn bounds_in_single_precision_are_those_in_double() {
    let table = synthetic(5, 20_000, 6, 2, 3);
    let x = Mat::from_fn(20_000, 6, |i, j| 3.0 * (j as f64 + 1.0) * (table.x()[(i, j)] + 2.0));
    let bounds = |precision: Precision| {
        let params = FitParams { precision, ridge: Ridge::Fixed(0.0), ..Default::default() };
        let block = Block::new(x.as_ref()).class(&table.y).class(&table.s);
        let fitted = fitted(&params, &layout(6, &[]), &block, 4096).finish().unwrap();
        *fitted.front().unwrap().bounds()
    };
    let (single, double) = (bounds(Precision::Single), bounds(Precision::Double));
    for (a, b) in [
        (single.gamma_min, double.gamma_min),
        (single.gamma_max, double.gamma_max),
        (single.alpha_min, double.alpha_min),
    ] {
        assert!((a - b).abs() < 1e-5, "{single:?} {double:?}");
    }
}

#[test]
fn codes_are_one_hot_columns_whatever_the_encoder() {
    let table = synthetic(3, 400, 4, 2, 3);
    let c = codes(&table);
    let hot = Mat::from_fn(400, 7, |i, j| match j {
        0..4 => table.x()[(i, j)],
        _ => f64::from(u8::from(c[i] as usize == j - 4)),
    });
    for params in all() {
        if params.scale == Scale::Standard {
            continue;
        }
        let block = Block::new(table.x()).coded(&c).class(&table.y).class(&table.s);
        let coded = fitted(&params, &layout(4, &[3]), &block, 400).finish().unwrap();
        let coded = coded.solve(Goal::Leakage(0.05)).unwrap();
        let block = Block::new(hot.as_ref()).class(&table.y).class(&table.s);
        let dense = fitted(&params, &layout(7, &[]), &block, 400).finish().unwrap();
        let dense = dense.solve(Goal::Leakage(0.05)).unwrap();
        let rows = Block::new(table.x()).coded(&c);
        let a = coded.encoder().encode_block(&rows).unwrap();
        near(&a, &dense.encoder().encode(hot.as_ref()).unwrap(), 1e-8, "z");
        near(&a, &coded.encoder().encode(hot.as_ref()).unwrap(), 1e-9, "its own one-hot rows");
    }
}

#[test]
fn a_model_takes_the_rows_that_the_fit_took() {
    let table = synthetic(5, 500, 3, 2, 3);
    let (c, size) = (codes(&table), [1.0, 1e3, 1e-2]);
    let raw = Mat::from_fn(500, 3, |i, j| table.x()[(i, j)] * size[j] + 7.0 * size[j]);
    for params in all() {
        let block = Block::new(raw.as_ref()).coded(&c).class(&table.y).class(&table.s);
        let whole = fitted(&params, &layout(3, &[3]), &block, 500).finish().unwrap();
        let mut model = whole.solve(Goal::Leakage(0.05)).unwrap();
        model.keep_heldout(whole.heldout().unwrap());
        assert_eq!(model.params(), Some(&params));
        assert_eq!(model.scaling().is_some(), params.scale == Scale::Standard);
        let z = model.encoder().encode_block(&Block::new(raw.as_ref()).coded(&c)).unwrap();
        // The leakage of z, by least squares on the very rows, is what was reported.
        let hidden = Layout::dense(z.ncols()).class("s", Role::Target, 3);
        let hidden = hidden.class("t", Role::Sensitive, 3);
        let again = Block::new(z.as_ref()).class(&table.s).class(&table.s);
        let plain = FitParams { ridge: Ridge::Fixed(0.0), ..Default::default() };
        let found = fitted(&plain, &hidden, &again, 500).finish().unwrap();
        let found = found.solve(Goal::Lambda(0.0)).unwrap().point().leakage;
        assert!((found - model.point().leakage).abs() < 1e-6, "{params:?}: {found}");
        // A file of it encodes alike, and still has its folds.
        let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let again = read.encoder().encode_block(&Block::new(raw.as_ref()).coded(&c)).unwrap();
        assert_eq!(again, z);
        assert!(read.heldout().is_some() && read.params() == Some(&params));
    }
}

#[test]
fn blocks_and_machines_change_nothing() {
    let table = synthetic(7, 600, 3, 2, 3);
    let c = codes(&table);
    let block = Block::new(table.x()).coded(&c).class(&table.y).class(&table.s);
    for params in all() {
        let layout = layout(3, &[3]);
        let once = fitted(&params, &layout, &block, 600);
        let solve = |fit: Fit| fit.finish().unwrap().solve(Goal::Leakage(0.1)).unwrap();
        let model = solve(once.clone());
        let blocks = solve(fitted(&params, &layout, &block, 77));
        assert!((model.point().losses.jy - blocks.point().losses.jy).abs() < 1e-8, "{params:?}");
        // Two machines with the same landmarks.
        let mut first = Fit::new(params.clone(), layout.clone()).unwrap();
        first.sample(&block).unwrap();
        first.choose(&|| false).unwrap();
        let mut second = first.clone();
        first.push(&block.slice(0, 250)).unwrap();
        second.push(&block.slice(250, 350)).unwrap();
        // One of them as bytes.
        let bytes = second.to_bytes(Default::default()).unwrap();
        let second = match second.chosen().unwrap() {
            Some(chosen) => {
                Fit::from_chosen(params.clone(), layout.clone(), chosen, &bytes).unwrap()
            }
            None => Fit::from_bytes(params.clone(), &bytes).unwrap().0,
        };
        first.merge(&second).unwrap();
        assert_eq!(first.rows(), 600);
        let merged = solve(first);
        let (one, two) = (model.point().losses, merged.point().losses);
        assert!((one.jy - two.jy).abs() < 1e-9, "{one:?}, {two:?}, {params:?}");
        // Small directions of a ridge multiply the rounding of the sums.
        assert!((one.js - two.js).abs() < 1e-8, "{one:?}, {two:?}, {params:?}");
    }
}

#[test]
fn rows_of_weight_zero_are_no_rows() {
    let table = synthetic(9, 300, 3, 2, 3);
    let far = Mat::from_fn(300, 3, |i, j| if i < 200 { table.x()[(i, j)] } else { 1e6 });
    let weights: Vec<f64> = (0..300).map(|i| f64::from(u8::from(i < 200))).collect();
    for params in all() {
        let block = Block::new(far.as_ref()).class(&table.y).class(&table.s).weighted(&weights);
        let with = fitted(&params, &layout(3, &[]), &block, 300).finish().unwrap();
        let ones = vec![1.0; 200];
        let kept = Block::new(table.x().subrows(0, 200)).class(&table.y[..200]);
        let kept = kept.class(&table.s[..200]).weighted(&ones);
        let without = fitted(&params, &layout(3, &[]), &kept, 200).finish().unwrap();
        let goal = Goal::Leakage(0.1);
        let (a, b) = (with.solve(goal.clone()).unwrap(), without.solve(goal).unwrap());
        assert!((a.point().losses.jy - b.point().losses.jy).abs() < 1e-9, "{params:?}");
    }
}

#[test]
fn landmarks_can_be_rows_of_others() {
    let table = synthetic(11, 300, 3, 2, 3);
    let public = Mat::from_fn(50, 3, |i, j| ((i * 7 + j * 3) % 11) as f64 - 5.0);
    let params = FitParams { scale: Scale::Standard, ..kernel(Approximation::Landmarks) };
    let block = Block::new(table.x()).class(&table.y).class(&table.s);
    let mut fit = Fit::new(params, layout(3, &[])).unwrap();
    fit.sample(&block).unwrap();
    fit.candidates(&Block::new(public.as_ref())).unwrap();
    fit.choose(&|| false).unwrap();
    fit.push(&block).unwrap();
    let model = fit.finish().unwrap().solve(Goal::Leakage(0.1)).unwrap();
    let scaling = model.scaling().unwrap().clone();
    let encoder = model.encoder();
    let sarl::Map::Kernel { landmarks, .. } = encoder.map() else { unreachable!() };
    let of_public = |u: faer::RowRef<'_, f64>| {
        (0..50).any(|i| {
            (0..3).all(|j| {
                let scaled = (public[(i, j)] - scaling.shift()[j]) * scaling.factor()[j];
                (u[j] - scaled).abs() < 1e-12
            })
        })
    };
    assert!(landmarks.row_iter().all(of_public));
}

#[test]
fn a_fit_cannot_be_put_together_wrongly() {
    let table = synthetic(13, 100, 3, 2, 3);
    let block = Block::new(table.x()).class(&table.y).class(&table.s);
    let params = kernel(Approximation::Landmarks);
    let mut fit = Fit::new(params.clone(), layout(3, &[])).unwrap();
    assert!(matches!(fit.push(&block), Err(Error::Unavailable(_))));
    assert!(matches!(fit.choose(&|| false), Err(Error::TooFewRows { rows: 0 })));
    let narrow = Block::new(table.x().subcols(0, 2));
    assert!(matches!(fit.sample(&narrow), Err(Error::Shape { .. })));
    let bad = Mat::from_fn(4, 3, |i, j| if (i, j) == (2, 1) { f64::NAN } else { 1.0 });
    assert!(matches!(fit.sample(&Block::new(bad.as_ref())), Err(Error::NotFinite { row: 2, .. })));
    assert!(fit.clone().finish().is_err() && fit.to_bytes(Default::default()).is_err());
    fit.sample(&block).unwrap();
    assert!(matches!(fit.clone().choose(&|| true), Err(Error::Interrupted)));
    fit.choose(&|| false).unwrap();
    let mut other = Fit::new(FitParams { seed: 5, ..params.clone() }, layout(3, &[])).unwrap();
    other.sample(&block).unwrap();
    other.choose(&|| false).unwrap();
    assert!(matches!(fit.merge(&other), Err(Error::Merge(_))));
    let bad = |change: &dyn Fn(&mut KernelParams)| {
        let Features::Kernel(mut kernel) = params.features.clone() else { unreachable!() };
        change(&mut kernel);
        Fit::new(FitParams::kernel(kernel), layout(3, &[])).is_err()
    };
    assert!(bad(&|k| k.gamma = Some(-1.0)) && bad(&|k| k.gamma = Some(f64::NAN)));
    assert!(bad(&|k| k.landmarks = 0) && bad(&|k| k.tolerance = 1.0));
    assert!(bad(&|k| {
        k.family = Family::Polynomial;
        k.approximation = Approximation::RandomFeatures;
    }));
    let ridge = FitParams { ridge: Ridge::Fixed(-1.0), ..Default::default() };
    assert!(Fit::new(ridge, layout(3, &[])).is_err());
    let none = FitParams { dimensions: Some(0), ..Default::default() };
    assert!(Fit::new(none, layout(3, &[])).is_err());
    let exact = kernel(Approximation::Exact);
    assert!(matches!(exact.check_rows(20_001), Err(Error::TooManyRows { .. })));
    assert!(exact.check_rows(20_000).is_ok());
}

#[test]
fn more_features_than_rows_are_held_until_there_are_not() {
    let (rows, width) = (700, 600);
    let table = synthetic(17, rows, width, 2, 3);
    let block = Block::new(table.x()).class(&table.y).class(&table.s);
    let params = FitParams { ridge: Ridge::Fixed(1.0), ..Default::default() };
    let stream = fitted(&params, &layout(width, &[]), &block, 100).finish().unwrap();
    let mut at_once = Fit::new(params, layout(width, &[])).unwrap().expecting(700).unwrap();
    at_once.push(&block).unwrap();
    let at_once = at_once.finish().unwrap();
    assert_eq!(stream.map().outputs(), width);
    let goal = Goal::Leakage(0.1);
    let (a, b) = (stream.solve(goal.clone()).unwrap(), at_once.solve(goal).unwrap());
    assert!((a.point().losses.jy - b.point().losses.jy).abs() < 1e-10);
    let x = MatRef::from(table.x());
    near(&a.encoder().encode(x).unwrap(), &b.encoder().encode(x).unwrap(), 1e-8, "z");
}
