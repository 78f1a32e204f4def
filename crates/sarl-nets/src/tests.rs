//! Gradients against finite differences, products against sums by hand, and a training against
//! PyTorch.

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{AdamW, Layers, Matrix, Norm, Tape, Var, Weights};

/// Values that are the same on every machine, between −1.5 and 1.5, and away from the kinks of
/// functions, which are at multiples of 0.1.
fn values(rows: usize, columns: usize, seed: u64) -> Matrix {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let value = |_| rng.random_range(-15..15) as f32 / 10.0 + 0.05;
    Matrix::new(rows, columns, (0..rows * columns).map(value).collect())
}

type Number = for<'t> fn(&'t Tape, &[Var<'t>]) -> Var<'t>;

/// Weighs what an operation gives, so that no two values count alike.
fn weighed<'t>(tape: &'t Tape, y: Var<'t>) -> Var<'t> {
    let (rows, columns) = y.shape();
    (y * tape.constant(values(rows, columns, 99))).total()
}

fn check(name: &str, shapes: &[(usize, usize)], number: Number) {
    let parameters: Vec<Matrix> =
        shapes.iter().enumerate().map(|(i, s)| values(s.0, s.1, i as u64)).collect();
    let number_at = |parameters: &[Matrix]| {
        let tape = Tape::default();
        let vars: Vec<_> = parameters.iter().map(|p| tape.constant(p.clone())).collect();
        f64::from(number(&tape, &vars).number())
    };
    let tape = Tape::default();
    let vars: Vec<_> = parameters.iter().map(|p| tape.parameter(p.clone())).collect();
    let gradients = number(&tape, &vars).gradients(&vars);
    const STEP: f32 = 5e-3;
    for (which, gradient) in gradients.iter().enumerate() {
        let gradient = gradient.as_ref().expect(name);
        for (at, &found) in gradient.values().iter().enumerate() {
            let moved = |by: f32| {
                let mut parameters = parameters.clone();
                parameters[which].values_mut()[at] += by;
                number_at(&parameters)
            };
            let expected = (moved(STEP) - moved(-STEP)) / f64::from(2.0 * STEP);
            let found = f64::from(found);
            let allowed = 2e-3 * (1.0 + expected.abs());
            assert!(
                (found - expected).abs() < allowed,
                "{name}, parameter {which}, value {at}: {found} is not {expected}"
            );
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (same, row) = (&[(3, 4), (3, 4)], &[(3, 4), (1, 4)]);
    let one = &[(3, 4)];
    check("product", &[(3, 4), (4, 2)], |t, v| weighed(t, v[0].product(v[1])));
    check("sum", same, |t, v| weighed(t, v[0] + v[1]));
    check("sum with a row", row, |t, v| weighed(t, v[0] + v[1]));
    check("difference", same, |t, v| weighed(t, v[0] - v[1]));
    check("difference from a row", row, |t, v| weighed(t, v[0] - v[1]));
    check("entrywise", same, |t, v| weighed(t, v[0] * v[1]));
    check("entrywise with a row", row, |t, v| weighed(t, v[0] * v[1]));
    check("line", one, |t, v| weighed(t, -(v[0] * 3.0 + 0.5)));
    check("relu", one, |t, v| weighed(t, v[0].relu()));
    check("exp", one, |t, v| weighed(t, v[0].exp()));
    check("softplus", one, |t, v| weighed(t, v[0].softplus()));
    check("cos", one, |t, v| weighed(t, v[0].cos()));
    check("square", one, |t, v| weighed(t, v[0].square()));
    check("clamp", one, |t, v| weighed(t, v[0].clamp(-0.7, 0.6)));
    check("total", one, |_, v| v[0].total());
    check("mean", one, |_, v| v[0].square().mean());
    check("log softmax", one, |t, v| weighed(t, v[0].log_softmax()));
    check("cross-entropy", one, |_, v| v[0].cross_entropy(&[2, 0, 3]) * 2.0);
    check("columns", one, |t, v| weighed(t, v[0].columns(1..3)));
    check("beside", &[(3, 4), (3, 2)], |t, v| weighed(t, v[0].beside(v[1])));
    check("standard", &[(6, 3)], |t, v| weighed(t, v[0].standard(1e-5)));
    // Several paths to one parameter add up.
    check("paths", same, |t, v| weighed(t, (v[0] * v[1] + v[0]) * v[0].exp()));
}

#[test]
fn what_is_held_has_no_gradient_and_what_is_not_used_has_none() {
    let tape = Tape::default();
    let (held, learnt) = (tape.constant(values(2, 2, 0)), tape.parameter(values(2, 2, 1)));
    let unused = tape.parameter(values(2, 2, 2));
    let gradients = held.product(learnt).total().gradients(&[held, learnt, unused]);
    assert!(gradients[0].is_none() && gradients[1].is_some() && gradients[2].is_none());
}

#[test]
fn functions_are_exact_where_they_could_overflow_and_hand_nan_on() {
    let tape = Tape::default();
    let row = |values: &[f32]| tape.constant(Matrix::row(values.to_vec()));
    let far = row(&[-200.0, 0.0, 200.0]);
    assert_eq!(far.softplus().value().values(), [0.0, 2.0_f32.ln(), 200.0]);
    assert_eq!(far.log_softmax().value().values(), [-400.0, -200.0, 0.0]);
    assert_eq!(far.cross_entropy(&[0]).number(), 400.0);
    let nan = row(&[f32::NAN]);
    for out in [nan.relu(), nan.softplus(), nan.clamp(-1.0, 1.0), nan.square(), nan.total()] {
        assert!(out.number().is_nan());
    }
    assert!(row(&[f32::NAN, 1.0]).cross_entropy(&[1]).number().is_nan());
}

#[test]
fn products_of_every_shape_are_sums_of_products() {
    for (rows, inner, columns) in [(1, 1, 1), (5, 3, 2), (256, 123, 64), (33, 64, 1), (1, 7, 9)] {
        let (a, b) = (values(rows, inner, 1), values(inner, columns, 2));
        let found = Matrix::product(&a, &b);
        let (a, b): (Mat<f64>, Mat<f64>) = (a.widened(), b.widened());
        for i in 0..rows {
            for j in 0..columns {
                let expected: f64 = (0..inner).map(|k| a[(i, k)] * b[(k, j)]).sum();
                let found = f64::from(found.values()[i * columns + j]);
                assert!((found - expected).abs() < 1e-4, "{rows} {inner} {columns}");
            }
        }
    }
}

/// `peer.py`, beside the manifest, computes the same with PyTorch and prints what stands here.
#[test]
fn a_training_goes_as_in_pytorch() {
    let grid = |rows: usize, columns: usize, scale: f32| {
        let value = |i: usize| scale * (((i * 7 + 3) % 11) as f32 / 5.0 - 1.0);
        Matrix::new(rows, columns, (0..rows * columns).map(value).collect())
    };
    let mut weights = Weights::default();
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let net = Layers::new(&mut weights, 3, &[4], 2, &mut rng);
    let mut norm = Norm::new(&mut weights, 2);
    let given = [(3, 4, 0.9), (1, 4, 0.1), (4, 2, 0.7), (1, 2, 0.2)];
    for (parameter, (rows, columns, scale)) in weights.parameters_mut().iter_mut().zip(given) {
        *parameter = grid(rows, columns, scale);
    }
    let (x, classes) = (grid(6, 3, 1.3), [0, 1, 1, 0, 1, 0]);
    let mut optimiser = AdamW::new(0.1, Some(0.25));
    let mut losses = Vec::new();
    for step in 0..20 {
        let tape = Tape::default();
        let learnt = weights.learn(&tape);
        let told = norm.learn(&learnt, net.forward(&learnt, tape.constant(x.clone())));
        let loss = told.cross_entropy(&classes);
        losses.push(loss.number());
        optimiser.step(&mut weights, &loss.gradients(&learnt), 0.05 / (1.0 + f64::from(step)));
    }
    let tape = Tape::default();
    let held = weights.hold(&tape);
    let told = norm.apply(&held, net.forward(&held, tape.constant(x)));
    let near = |found: &[f32], expected: &[f32]| {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 3e-4, "{found} is not {expected}");
        }
    };
    // The normalisation takes the bias before it away: its gradient is 0 but for rounding, which
    // Adam makes steps of 1e-5 of.
    near(&losses[..3], &[1.106_616_2, 1.060_696, 1.038_976_9]);
    #[rustfmt::skip]
    let expected = [
        0.073_005_6, 0.538_537_9, -0.183_810_5, 0.464_037, -0.440_626_5, 0.389_536_1,
        -0.697_442_6, 0.315_035_2, 0.700_240_8, -1.162_813_3, 0.692_847, -1.235_697_1,
    ];
    near(told.value().values(), &expected);
}
