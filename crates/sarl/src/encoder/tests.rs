//! The frozen encoder against the mathematics it freezes.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::*;
use crate::{
    Block, Choice, Covariances, FeatureMap, Goal, Kernel, LandmarkOptions, Layout, MomentsOptions,
    Reduced, Role,
};

const RBF: Kernel = Kernel::Rbf { gamma: 0.2 };

#[derive(Clone)]
struct Data {
    x: Mat<f64>,
    y: Vec<u32>,
    s: Vec<u32>,
    /// A numeric target beside the classes.
    v: Mat<f64>,
}

fn data(seed: u64, n: usize) -> Data {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x = Mat::from_fn(n, 4, |_, j| 3.0 * j as f64 + normal());
    let y = (0..n).map(|i| u32::from(x[(i, 0)] + 0.5 * normal() > 0.0)).collect();
    let s = (0..n).map(|i| (x[(i, 0)] + x[(i, 1)] + normal()).abs() as u32 % 3).collect();
    let v = Mat::from_fn(n, 1, |i, _| 20.0 + x[(i, 2)] + x[(i, 0)] * x[(i, 0)] + normal());
    Data { x, y, s, v }
}

fn layout(width: usize) -> Layout {
    let layout = Layout::dense(width).class("y", Role::Target, 2).number("v", Role::Target, 1);
    layout.class("s", Role::Sensitive, 3)
}

fn covariances(map: &FeatureMap, data: &Data) -> Covariances {
    let mut moments = map.moments(&layout(data.x.ncols()), MomentsOptions::default()).unwrap();
    let block = Block::new(data.x.as_ref()).class(&data.y).number(data.v.as_ref()).class(&data.s);
    map.push(&mut moments, &block).unwrap();
    moments.covariances().unwrap()
}

fn model(map: &FeatureMap, data: &Data, ridge: f64, goal: Goal) -> Model {
    let reduced = Reduced::new(&covariances(map, data), ridge).unwrap();
    Model::new(map, &layout(data.x.ncols()), &reduced, None, goal).unwrap()
}

fn maps(data: &Data) -> Vec<FeatureMap> {
    let landmarks = |choice, cap| {
        let options = LandmarkOptions { choice, cap, ..Default::default() };
        FeatureMap::landmarks(RBF, data.x.as_ref(), &options).unwrap()
    };
    vec![
        FeatureMap::linear(data.x.ncols()),
        landmarks(Choice::Adaptive, 40),
        landmarks(Choice::Uniform, 15),
        FeatureMap::random_features(RBF, data.x.ncols(), 50, 3).unwrap(),
        FeatureMap::random_features(Kernel::Laplacian { gamma: 0.2 }, 4, 30, 3).unwrap(),
    ]
}

fn one_hot(codes: &[u32], classes: usize) -> Mat<f64> {
    Mat::from_fn(codes.len(), classes, |i, k| f64::from(u8::from(codes[i] == k as u32)))
}

fn column_means(a: &Mat<f64>) -> Vec<f64> {
    (0..a.ncols()).map(|j| a.col(j).iter().sum::<f64>() / a.nrows() as f64).collect()
}

fn mse(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (a - b).squared_norm_l2() / a.nrows() as f64
}

const GOALS: [Goal; 4] =
    [Goal::Lambda(0.0), Goal::Lambda(0.5), Goal::Leakage(0.02), Goal::Utility(0.7)];

/// `z = Θ (φ(x) − mean φ)` from the unfolded basis and the map itself.
#[test]
fn z_is_theta_of_the_centred_features() {
    let data = data(1, 700);
    for map in maps(&data) {
        let phi = map.apply(data.x.as_ref()).unwrap();
        let mean = column_means(&phi);
        let centred = Mat::from_fn(700, phi.ncols(), |i, j| phi[(i, j)] - mean[j]);
        for ridge in [0.0, 0.1] {
            let reduced = Reduced::new(&covariances(&map, &data), ridge).unwrap();
            for goal in GOALS {
                // With a ridge not every utility is within reach.
                let Ok(model) = Model::new(&map, &layout(4), &reduced, None, goal.clone()) else {
                    assert!(ridge > 0.0);
                    continue;
                };
                let z = model.encoder().encode(data.x.as_ref()).unwrap();
                let g = &model.subspace;
                let plain = &centred * (reduced.basis.as_ref().subcols(0, g.nrows()) * g);
                assert_eq!(z.shape(), plain.shape());
                for j in 0..z.ncols() {
                    // The encoder chooses the sign.
                    let sign = (z.col(j).transpose() * plain.col(j)).signum();
                    let error = (z.col(j) - plain.col(j) * faer::Scale(sign)).norm_max();
                    assert!(error < 1e-7 * plain.col(j).norm_max(), "{goal:?} {error}");
                }
            }
        }
    }
}

#[test]
fn z_is_white_on_the_training_data() {
    let data = data(2, 900);
    for map in maps(&data) {
        for goal in GOALS {
            let model = model(&map, &data, 0.0, goal.clone());
            let z = model.encoder().encode(data.x.as_ref()).unwrap();
            let mean = column_means(&z);
            assert!(mean.iter().all(|m| m.abs() < 1e-7), "{mean:?}");
            let cov = z.transpose() * &z * faer::Scale(1.0 / 900.0);
            let error = &cov - Mat::<f64>::identity(z.ncols(), z.ncols());
            assert!(error.norm_max() < 1e-6, "{goal:?} {}", error.norm_max());
        }
    }
}

/// The predictors' mean squared errors are the losses of the point, with a ridge too; and they
/// are least squares: their errors are uncorrelated with z.
#[test]
fn predictions_have_the_losses_of_the_point() {
    let data = data(3, 800);
    let mut target = Mat::zeros(800, 3);
    target.as_mut().subcols_mut(0, 2).copy_from(one_hot(&data.y, 2));
    target.as_mut().subcols_mut(2, 1).copy_from(&data.v);
    let sensitive = one_hot(&data.s, 3);
    for map in maps(&data) {
        for ridge in [0.0, 1e-3, 1.0] {
            for goal in GOALS {
                let reduced = Reduced::new(&covariances(&map, &data), ridge).unwrap();
                // With a ridge not every utility is within reach.
                let Ok(model) = Model::new(&map, &layout(4), &reduced, None, goal) else {
                    assert!(ridge > 0.0);
                    continue;
                };
                let encoder = model.encoder();
                let z = encoder.encode(data.x.as_ref()).unwrap();
                let found = model.attributes().unwrap();
                let sum = |labels: &[crate::Attribute]| labels.iter().map(|a| a.loss).sum::<f64>();
                let (jy, js) = (sum(&found.target), sum(&found.sensitive));
                let roles = [(Role::Target, &target, jy), (Role::Sensitive, &sensitive, js)];
                for (role, truth, loss) in roles {
                    let predicted = encoder.predict(role, z.as_ref()).unwrap();
                    let found = mse(truth, &predicted);
                    assert!((found - loss).abs() < 1e-7 * loss, "{role:?} {found} {loss}");
                    let rest = z.transpose() * (truth - &predicted) * faer::Scale(1.0 / 800.0);
                    let scale = z.norm_max() * truth.norm_max();
                    assert!(rest.norm_max() < 1e-6 * scale || z.ncols() == 0);
                }
            }
        }
    }
}

/// The weights over `k(u, x)` are the weights over φ with the triangular solve folded in.
#[test]
fn folded_weights_are_consistent() {
    let data = data(4, 300);
    let options = LandmarkOptions { cap: 25, ..Default::default() };
    let map = FeatureMap::landmarks(RBF, data.x.as_ref(), &options).unwrap();
    let model = model(&map, &data, 0.0, Goal::Lambda(0.3));
    let encoder = model.encoder();
    let landmarks = match &model.columns {
        crate::features::Columns::Kernel { landmarks, .. } => landmarks.clone(),
        _ => Mat::zeros(0, 0),
    };
    let square = |i: usize, j: usize| {
        (0..4).map(|d| (data.x[(i, d)] - landmarks[(j, d)]).powi(2)).sum::<f64>()
    };
    let k = Mat::from_fn(300, 25, |i, j| (-0.2 * square(i, j)).exp());
    let z = &k * encoder.weights();
    let found = encoder.encode(data.x.as_ref()).unwrap();
    for j in 0..z.ncols() {
        let offset = encoder.offset()[j];
        assert!((0..300).all(|i| (z[(i, j)] - offset - found[(i, j)]).abs() < 1e-9));
    }
}

#[test]
fn an_encoder_of_no_dimensions() {
    // What is kept is what is hidden: nothing may leak, so nothing is kept.
    let x = data(5, 60).x;
    let y: Vec<u32> = (0..60).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
    let layout = Layout::dense(4).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    // Features that know neither label at all: t = 0.
    let blind = Mat::from_fn(64, 1, |i, _| f64::from(u8::from(i % 2 == 0)));
    let (one, other): (Vec<u32>, Vec<u32>) =
        ((0..64).map(|i| i / 2 % 2).collect(), (0..64).map(|i| i / 4 % 2).collect());
    let narrow = Layout::dense(1).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let cases = [(&x, &y, &y, &layout, 1), (&blind, &one, &other, &narrow, 0)];
    for (x, y, s, layout, size) in cases {
        let map = FeatureMap::linear(x.ncols());
        let mut moments = map.moments(layout, MomentsOptions::default()).unwrap();
        map.push(&mut moments, &Block::new(x.as_ref()).class(y).class(s)).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        assert_eq!(reduced.size(), size);
        let model = Model::new(&map, layout, &reduced, None, Goal::Lambda(1.0)).unwrap();
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.to_bytes().unwrap(), model.to_bytes().unwrap());
        let n = x.nrows();
        for encoder in [model.encoder(), again.encoder()] {
            let z = encoder.encode(x.as_ref()).unwrap();
            assert_eq!((z.shape(), encoder.dim()), ((n, 0), 0));
            let predicted = encoder.predict(Role::Target, z.as_ref()).unwrap();
            let loss = mse(&one_hot(y, 2), &predicted);
            assert!((loss - model.point().losses.jy).abs() < 1e-12);
            assert_eq!(encoder.reconstruct(z.as_ref()).unwrap().shape(), (n, x.ncols()));
        }
        assert!(model.front().unwrap().points(11).unwrap().iter().all(|p| p.losses.jy >= 0.0));
        assert_eq!(
            model.front().unwrap().dimension(0.5).unwrap(),
            model.front().unwrap().point(0.5).unwrap().dim
        );
        assert!(model.retune(Goal::Leakage(0.0)).unwrap().point().losses.jy > 0.0);
    }
}

#[test]
fn single_and_double_precision_input() {
    let data = data(6, 200);
    let narrow = Mat::from_fn(200, 4, |i, j| data.x[(i, j)] as f32);
    let wide = Mat::from_fn(200, 4, |i, j| f64::from(narrow[(i, j)]));
    for map in maps(&data) {
        let encoder = model(&map, &data, 0.0, Goal::Lambda(0.4)).encoder();
        let (a, b) = (encoder.encode(narrow.as_ref()), encoder.encode(wide.as_ref()));
        assert_eq!(a.unwrap(), b.unwrap());
        // Row-major views, and beside a column-major one, whose sums run in another order.
        let (turned, short) = (wide.transpose().to_owned(), narrow.transpose().to_owned());
        let a = encoder.encode(turned.transpose()).unwrap();
        assert_eq!(a, encoder.encode(short.transpose()).unwrap());
        let b = encoder.encode(wide.as_ref()).unwrap();
        assert!((&a - &b).norm_max() <= 1e-14 * b.norm_max());
    }
}

/// Duplicated columns and other block sizes leave rounding to choose between equal weights; the
/// signs of z must not follow it.
#[test]
fn signs_are_determined_under_duplicate_columns() {
    let once = data(7, 500);
    let doubled = Mat::from_fn(500, 8, |i, j| once.x[(i, j % 4)]);
    let codes = |c: &Vec<u32>| c.clone();
    let twice = Data { x: doubled, y: codes(&once.y), s: codes(&once.s), v: once.v.clone() };
    let encoded = |data: &Data, size: usize| -> Mat<f64> {
        let map = FeatureMap::linear(data.x.ncols());
        let layout = layout(data.x.ncols());
        let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
        let block = Block::new(data.x.as_ref()).class(&data.y);
        let block = block.number(data.v.as_ref()).class(&data.s);
        for start in (0..500).step_by(size) {
            moments.push(&block.slice(start, size.min(500 - start))).unwrap();
        }
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        let model = Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.2)).unwrap();
        model.encoder().encode(data.x.as_ref()).unwrap()
    };
    let whole = encoded(&once, 500);
    assert!(whole.ncols() >= 1);
    let near = |a: MatRef<'_, f64>, b: MatRef<'_, f64>| (a - b).norm_max() < 1e-9;
    for size in [1, 7, 100, 500] {
        assert!(near(whole.as_ref(), encoded(&once, size).as_ref()));
        assert!(near(whole.as_ref(), encoded(&twice, size).as_ref()));
    }
}

/// Class-coded inputs looked up are the same as their one-hot columns multiplied.
#[test]
fn coded_blocks_are_encoded_as_their_one_hot_columns() {
    let data = data(8, 2500);
    let codes: Vec<u32> = (0..2500)
        .map(|i| if i % 11 == 0 { crate::NO_CLASS } else { data.s[i] + 3 * data.y[i] % 5 })
        .map(|c| if c == crate::NO_CLASS { c } else { c % 5 })
        .collect();
    let layout = Layout::dense(4).coded(&[5]).class("y", Role::Target, 2);
    let layout = layout.class("s", Role::Sensitive, 3);
    let map = FeatureMap::coded(4, &[5]);
    let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
    let block = Block::new(data.x.as_ref()).coded(&codes).class(&data.y).class(&data.s);
    map.push(&mut moments, &block).unwrap();
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    let model = Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.4)).unwrap();
    let mut wide = Mat::zeros(2500, 9);
    wide.as_mut().subcols_mut(0, 4).copy_from(&data.x);
    wide.as_mut().subcols_mut(4, 5).copy_from(one_hot(&codes, 5));
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    for encoder in [model.encoder(), again.encoder()] {
        let (a, b) =
            (encoder.encode_block(&block).unwrap(), encoder.encode(wide.as_ref()).unwrap());
        assert!(a.ncols() > 0 && (&a - &b).norm_max() < 1e-12 * b.norm_max());
        let predicted = encoder.predict(Role::Target, a.as_ref()).unwrap();
        let loss = mse(&one_hot(&data.y, 2), &predicted);
        assert!((loss - model.point().losses.jy).abs() < 1e-10);
    }
    let text = |r: crate::Result<Mat<f64>>| r.unwrap_err().to_string();
    let encoder = model.encoder();
    let none = encoder.encode_block(&Block::new(data.x.as_ref()));
    assert_eq!(text(none), "class-coded input columns: found 0, expected 1");
    let mut bad = codes.clone();
    bad[2000] = 5;
    assert_eq!(
        text(encoder.encode_block(&Block::new(data.x.as_ref()).coded(&bad))),
        "class-coded input 0 has class 5 in row 2000, but only 5 classes were declared"
    );
}

#[test]
fn kernels_reconstruct_inputs_that_were_kept() {
    let data = data(31, 400);
    let width = data.x.ncols();
    for map in maps(&data) {
        let fit = |layout: &Layout| {
            let mut moments = map.moments(layout, MomentsOptions::default()).unwrap();
            let block = Block::new(data.x.as_ref()).class(&data.y).number(data.v.as_ref());
            map.push(&mut moments, &block.class(&data.s)).unwrap();
            let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
            Model::new(&map, layout, &reduced, None, Goal::Lambda(0.2)).unwrap()
        };
        let kept = fit(&layout(width).keep_inputs());
        let kept = Model::from_bytes(&kept.to_bytes().unwrap()).unwrap();
        let z = kept.encoder().encode(data.x.as_ref()).unwrap();
        let found = kept.encoder().reconstruct(z.as_ref()).unwrap();
        // z is white: the best linear reconstruction is the mean and the covariance with z.
        let n = data.x.nrows() as f64;
        let means = column_means(&data.x);
        let cross = z.transpose() * &data.x * faer::Scale(1.0 / n);
        let mut expected = &z * &cross;
        for (j, mean) in means.iter().enumerate() {
            expected.col_mut(j).iter_mut().for_each(|v| *v += mean);
        }
        assert!((&found - &expected).norm_max() < 1e-7, "{}", kept.map_name());
        // Keeping them changes nothing else.
        let gone = fit(&layout(width));
        let same = gone.encoder().encode(data.x.as_ref()).unwrap();
        assert!((&same - &z).norm_max() < 1e-9);
        assert_eq!(gone.encoder().reconstruct(z.as_ref()).is_ok(), map.is_linear());
    }
}

#[test]
fn erasure_in_place_is_the_reconstruction() {
    let data = data(32, 500);
    // A fifth column that is the sum of two others, a sixth that never changes.
    let x = Mat::from_fn(500, 6, |i, j| match j {
        4 => data.x[(i, 0)] + data.x[(i, 1)],
        5 => 7.0,
        _ => data.x[(i, j)],
    });
    let layout = Layout::dense(6).keep_features().class("s", Role::Sensitive, 3);
    let map = FeatureMap::linear(6);
    let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
    map.push(&mut moments, &Block::new(x.as_ref()).class(&data.s)).unwrap();
    let covariances = moments.covariances().unwrap();
    let reduced = Reduced::new(&covariances, 0.0).unwrap();
    for goal in [Goal::Lambda(1.0), Goal::Leakage(0.05), Goal::Utility(1.0)] {
        let model = Model::new(&map, &layout, &reduced, None, goal.clone()).unwrap();
        let erasure = model.erasure().unwrap();
        let mut centred = x.clone();
        for (j, mean) in erasure.mean().iter().enumerate() {
            centred.col_mut(j).iter_mut().for_each(|v| *v -= mean);
        }
        let in_place = &x - &centred * erasure.found() * erasure.taken();
        let encoder = model.encoder();
        let z = encoder.encode(x.as_ref()).unwrap();
        let through_z = encoder.reconstruct(z.as_ref()).unwrap();
        assert!((&in_place - &through_z).norm_max() < 1e-10, "{goal:?}");
        assert!(erasure.found().ncols() <= 3);
    }
    let ridged = Reduced::new(&covariances, 0.1).unwrap();
    let ridged = Model::new(&map, &layout, &ridged, None, Goal::Lambda(1.0)).unwrap();
    assert!(ridged.erasure().is_err());
}

#[test]
fn scaled_maps_encode_rows_as_they_are() {
    let data = data(33, 300);
    let spreads = [(1.0, 2.0), (-2.0, 0.5), (30.0, 10.0), (4.0, 0.0)];
    let scaling = crate::Scaling::standard(&spreads);
    let (shift, factor) = (scaling.shift().to_vec(), scaling.factor().to_vec());
    assert_eq!(factor, [0.5, 2.0, 0.1, 1.0]);
    // The rows before they were scaled.
    let raw = Mat::from_fn(300, 4, |i, j| data.x[(i, j)] / factor[j] + shift[j]);
    let single = Mat::from_fn(300, 4, |i, j| raw[(i, j)] as f32);
    for map in maps(&data) {
        let plain = model(&map, &data, 0.0, Goal::Lambda(0.3));
        let encoder = plain.encoder();
        let over = map.clone().over(4, &[], Some(scaling.clone())).unwrap();
        // Moments of a linear map are those of scaled rows; a kernel scales what is pushed.
        let x = if map.is_linear() { data.x.clone() } else { raw.clone() };
        let rows = Data { x, ..data.clone() };
        let scaled = model(&over, &rows, 0.0, Goal::Lambda(0.3));
        assert!((scaled.point().losses.jy - plain.point().losses.jy).abs() < 1e-9);
        let scaled = Model::from_bytes(&scaled.to_bytes().unwrap()).unwrap();
        assert_eq!(scaled.scaling(), Some(&scaling));
        let unscaled = scaled.encoder();
        let z = encoder.encode(data.x.as_ref()).unwrap();
        let largest = encoder.weights().norm_max().max(1.0);
        let near = |a: &Mat<f64>, tolerance: f64| (a - &z).norm_max() < tolerance * largest;
        assert!(near(&unscaled.encode(raw.as_ref()).unwrap(), 1e-11));
        assert!(near(&unscaled.encode(raw.transpose().to_owned().transpose()).unwrap(), 1e-11));
        assert!(near(&unscaled.encode(single.as_ref()).unwrap(), 1e-4));
        if map.is_linear() {
            let back = encoder.reconstruct(z.as_ref()).unwrap();
            let raw_back = unscaled.reconstruct(z.as_ref()).unwrap();
            let expected = Mat::from_fn(300, 4, |i, j| back[(i, j)] / factor[j] + shift[j]);
            assert!((raw_back - expected).norm_max() < 1e-10);
            // What is documented: z = Xᵀ weights − offset, of rows as they are.
            let product = &raw * unscaled.weights();
            let by_hand =
                Mat::from_fn(300, product.ncols(), |i, j| product[(i, j)] - unscaled.offset()[j]);
            assert!(near(&by_hand, 1e-11));
        }
        let short = crate::Scaling::standard(&spreads[1..]);
        assert!(map.over(4, &[], Some(short)).is_err());
    }
}
