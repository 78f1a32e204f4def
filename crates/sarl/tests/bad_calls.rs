//! Bad arguments, and bad blocks that come through a kernel map: as clear as any other.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{Table, normal, rng, synthetic};
use faer::Mat;
use sarl::{
    Block, Error, FeatureMap, Fit, FitParams, Front, Goal, HeldOut, Kernel, LandmarkOptions,
    Layout, Model, Moments, MomentsOptions, Reduced, Result, Role,
};

fn says<T>(result: Result<T>, message: &str) {
    let error = result.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), message);
}

const RBF: Kernel = Kernel::Rbf { gamma: 0.1 };

fn landmarks(table: &Table) -> FeatureMap {
    let options = LandmarkOptions { cap: 8, ..Default::default() };
    FeatureMap::landmarks(RBF, table.x().subrows(0, 20), &options).unwrap()
}

#[test]
fn huge_values_overflow_by_name() {
    let mut table = synthetic(1, 50, 3, 2, 2);
    table.x[7 * 3 + 1] = 1e200;
    let text = "the second moments of feature column 1 overflow; rescale the column";
    says(table.moments().covariances(), text);
    let mut table = synthetic(1, 50, 3, 2, 2);
    (table.x[7 * 3 + 1], table.x[8 * 3 + 1]) = (f64::MAX, f64::MAX);
    says(table.moments().covariances(), text);
    let x = normal(&mut rng(2), 20, 2);
    let v = Mat::from_fn(20, 2, |i, j| if (i, j) == (4, 1) { 1e200 } else { x[(i, j)] });
    let layout = Layout::dense(2).number("v", Role::Target, 2).number("s", Role::Sensitive, 2);
    let mut moments = Moments::new(layout, MomentsOptions::default()).unwrap();
    moments.push(&Block::new(x.as_ref()).number(v.as_ref()).number(x.as_ref())).unwrap();
    let text = "the second moments of label `v` (column 1) overflow; rescale the column";
    says(moments.covariances(), text);
}

#[test]
fn arguments_outside_their_range() {
    let table = synthetic(3, 60, 3, 2, 2);
    let covariances = table.covariances();
    for (ridge, word) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let text = format!("the ridge is {word}: expected a finite number, 0 or more");
        says(Reduced::new(&covariances, ridge), &text);
        says(HeldOut::new(&table.moments(), ridge, None), &text);
    }
    let reduced = Reduced::new(&covariances, 0.0).unwrap();
    let text = "the cap on dimensions is 0: expected at least 1";
    says(Front::new(&reduced, Some(0)), text);
    let front = Front::new(&reduced, None).unwrap();
    for (value, word) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "NaN")] {
        says(front.point(value), &format!("lambda is {word}: expected 0 to 1"));
        says(front.solve(Goal::Leakage(value)), &format!("leakage is {word}: expected 0 to 1"));
        says(front.solve(Goal::Utility(value)), &format!("utility is {word}: expected 0 to 1"));
    }
    says(front.solve(Goal::Alpha(f64::NAN)), "alpha is NaN: expected a finite number");
}

#[test]
fn heldout_losses_check_their_arguments_too() {
    let table = synthetic(4, 100, 3, 2, 2);
    let heldout = HeldOut::new(&table.moments(), 0.0, None).unwrap();
    for (value, word) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "NaN")] {
        says(heldout.at(value), &format!("lambda is {word}: expected 0 to 1"));
    }
    let capped = HeldOut::new(&table.moments(), 0.0, Some(0));
    says(capped, "the cap on dimensions is 0: expected at least 1");
}

#[test]
fn kernels_and_landmarks() {
    let x = normal(&mut rng(5), 30, 2);
    let map = |kernel, options: &LandmarkOptions| {
        FeatureMap::landmarks(kernel, x.as_ref(), options).map(|_| ())
    };
    let default = LandmarkOptions::default();
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = format!("gamma is {gamma}: expected a finite number above 0");
        says(map(Kernel::Rbf { gamma }, &default), &text);
        says(map(Kernel::Laplacian { gamma }, &default), &text);
        says(map(Kernel::Polynomial { gamma, coef0: 0.0, degree: 2 }, &default), &text);
        says(FeatureMap::random_features(Kernel::Rbf { gamma }, 2, 4, 0), &text);
    }
    for degree in [0, 101] {
        let kernel = Kernel::Polynomial { gamma: 1.0, coef0: 0.0, degree };
        says(map(kernel, &default), &format!("degree is {degree}: expected 1 to 100"));
    }
    let kernel = Kernel::Polynomial { gamma: 1.0, coef0: -1.0, degree: 2 };
    says(map(kernel, &default), "coef0 is -1: expected a finite number, 0 or more");
    let none = LandmarkOptions { cap: 0, ..default };
    let text = "the number of landmarks is 0: expected at least 1, and a row to take it from";
    says(map(RBF, &none), text);
    says(FeatureMap::landmarks(RBF, x.as_ref().subrows(0, 0), &default), text);
    let bad = Mat::from_fn(3, 2, |i, j| if (i, j) == (2, 1) { f64::NAN } else { 0.0 });
    let text = "feature column 1 is NaN in row 2; every value must be finite";
    says(FeatureMap::landmarks(RBF, bad.as_ref(), &default), text);
    let zero: Mat<f64> = Mat::zeros(5, 2);
    let linear = Kernel::Polynomial { gamma: 1.0, coef0: 0.0, degree: 1 };
    let text = "the kernel is zero on all points";
    says(FeatureMap::landmarks(linear, zero.as_ref(), &default), text);
}

/// An error must not blame a kernel that is not zero.
#[test]
fn a_landmark_tolerance_or_kernel_that_makes_no_sense() {
    let x = normal(&mut rng(6), 30, 2);
    for tolerance in [f64::NAN, -1.0, 1.0, 2.0] {
        let options = LandmarkOptions { tolerance, ..Default::default() };
        let error = FeatureMap::landmarks(RBF, x.as_ref(), &options).unwrap_err();
        assert!(error.to_string().contains("tolerance"), "{tolerance}: {error}");
    }
    let huge = Mat::from_fn(30, 2, |i, j| 1e200 * x[(i, j)]);
    let kernel = Kernel::Polynomial { gamma: 1.0, coef0: 1.0, degree: 3 };
    let error = FeatureMap::landmarks(kernel, huge.as_ref(), &Default::default()).unwrap_err();
    assert!(error.to_string().contains("overflow"), "{error}");
}

#[test]
fn at_encoding() {
    let table = synthetic(7, 60, 3, 2, 2);
    for map in [FeatureMap::linear(3), landmarks(&table)] {
        let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
        map.push(&mut moments, &table.block()).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        let model = Model::new(&map, &table.layout(), &reduced, None, Goal::Lambda(0.2)).unwrap();
        let encoder = model.encoder();
        says(encoder.encode(table.x().subcols(0, 2)), "input columns: found 2, expected 3");
        let mut bad = table.x().to_owned();
        bad[(59, 2)] = f64::INFINITY;
        let text = "feature column 2 is inf in row 59; every value must be finite";
        says(encoder.encode(bad.as_ref()), text);
        assert_eq!(encoder.encode(table.x().subrows(0, 0)).unwrap().shape(), (0, encoder.dim()));
        let wrong: Mat<f64> = Mat::zeros(4, encoder.dim() + 1);
        let text = format!("columns of z: found {}, expected {}", wrong.ncols(), encoder.dim());
        says(encoder.predict(Role::Target, wrong.as_ref()), &text);
        says(encoder.reconstruct(wrong.as_ref()), &text);
        says(map.apply(table.x().subcols(0, 2)), "input columns: found 2, expected 3");
    }
    let map = landmarks(&table);
    let text = "features: found 3, expected 8";
    let reduced = Reduced::new(&table.covariances(), 0.0).unwrap();
    says(Model::new(&map, &table.layout(), &reduced, None, Goal::Lambda(0.2)), text);
    says(
        map.moments(&Layout::dense(4), MomentsOptions::default()),
        "features: found 4, expected 3",
    );
}

/// The layout of a model is that of its data, or its file cannot be read.
#[test]
fn a_model_with_the_labels_of_other_data() {
    let table = synthetic(8, 60, 3, 2, 2);
    let reduced = Reduced::new(&table.covariances(), 0.0).unwrap();
    let other = Layout::dense(3).class("y", Role::Target, 2).class("s", Role::Sensitive, 5);
    let model = Model::new(&FeatureMap::linear(3), &other, &reduced, None, Goal::Lambda(0.2));
    assert!(matches!(model, Err(Error::Shape { .. })), "accepted");
}

/// Blocks larger than the map's own pieces are refused as a whole.
#[test]
fn a_block_refused_behind_a_map_leaves_no_trace() {
    let mut table = synthetic(9, 6000, 3, 2, 2);
    let map = landmarks(&table);
    let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    table.y[5000] = 7;
    let text = "label `y` has class 7 in row 5000, but only 2 classes were declared";
    says(map.push(&mut moments, &table.block()), text);
    assert_eq!(moments.rows(), 0);
    table.y[5000] = 0;
    table.x[5000 * 3] = f64::NAN;
    let text = "feature column 0 is NaN in row 5000; every value must be finite";
    says(map.push(&mut moments, &table.block()), text);
    assert_eq!(moments.rows(), 0);
}

#[test]
fn shapes_behind_a_map() {
    let table = synthetic(10, 100, 3, 2, 2);
    let map = landmarks(&table);
    let moments = || map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    let narrow = Block::new(table.x().subcols(0, 2)).class(&table.y).class(&table.s);
    says(map.push(&mut moments(), &narrow), "dense input columns: found 2, expected 3");
    let coded = Block::new(table.x()).coded(&table.y).class(&table.y).class(&table.s);
    let text = "class-coded input columns: found 1, expected 0";
    says(map.push(&mut moments(), &coded), text);
}

#[test]
fn labels_too_short_behind_a_map() {
    let table = synthetic(11, 100, 3, 2, 2);
    let map = landmarks(&table);
    let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    let short = Block::new(table.x()).class(&table.y[..50]).class(&table.s);
    says(map.push(&mut moments, &short), "rows of label `y`: found 50, expected 100");
}

#[test]
fn weights_too_short_behind_a_map() {
    let table = synthetic(12, 100, 3, 2, 2);
    let map = landmarks(&table);
    let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
    says(
        map.push(&mut moments, &table.block().weighted(&[1.0; 50])),
        "weights: found 50, expected 100",
    );
}

/// Features mapped by hand lack the inputs that moments with the features as target keep.
#[test]
fn moments_that_keep_inputs_need_them() {
    let table = synthetic(13, 100, 3, 2, 2);
    let map = landmarks(&table);
    let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
    let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
    let phi = map.apply(table.x()).unwrap();
    let pushed = moments.push(&Block::new(phi.as_ref()).class(&table.s));
    assert!(matches!(pushed, Err(Error::Shape { .. })), "accepted without the inputs");
}

#[test]
fn empty_blocks_behind_a_map() {
    let table = synthetic(14, 100, 3, 2, 2);
    for map in [FeatureMap::linear(3), landmarks(&table)] {
        let mut moments = map.moments(&table.layout(), MomentsOptions::default()).unwrap();
        map.push(&mut moments, &table.block().slice(0, 0)).unwrap();
        map.push(&mut moments, &table.block()).unwrap();
        map.push(&mut moments, &table.block().slice(100, 0)).unwrap();
        assert_eq!(moments.rows(), 100);
        assert!(moments.covariances().is_ok());
    }
}

#[test]
fn z_that_overflows_is_an_error() {
    // Small inputs have large weights.
    let x = Mat::from_fn(40, 2, |i, j| (((i * (7 + 4 * j)) % 31) as f64 - 15.0) / 1e4);
    let y: Vec<u32> = (0..40).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
    let s: Vec<u32> = (0..40).map(|i| u32::from(x[(i, 1)] > 0.0)).collect();
    let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).unwrap();
    fit.push(&Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
    let encoder = fit.finish().unwrap().solve(Goal::Lambda(0.0)).unwrap().encoder();
    let huge = Mat::from_fn(2, 2, |_, j| if j == 0 { f64::MAX } else { -f64::MAX });
    assert!(matches!(encoder.encode(huge.as_ref()), Err(Error::EncodingOverflow)));
    assert!(encoder.encode(x.as_ref()).is_ok());
}
