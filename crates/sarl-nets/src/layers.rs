//! What is learnt, and the networks that use it.
//!
//! A network is where its parameters stand among the [`Weights`]; the weights are put on a tape and
//! the network goes over them. So the best weights so far are a copy, and several networks have one
//! optimiser. Weights are drawn by a generator that the caller seeds.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::SCORED;
use crate::matrix::Matrix;
use crate::tape::{Tape, Var};

/// Parameters that are learnt together.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    parameters: Vec<Matrix>,
}

impl Weights {
    /// Adds a parameter; returns where it stands.
    pub fn add(&mut self, parameter: Matrix) -> usize {
        self.parameters.push(parameter);
        self.parameters.len() - 1
    }

    pub(crate) fn parameters_mut(&mut self) -> &mut [Matrix] {
        &mut self.parameters
    }

    /// On a tape, to be learnt.
    pub fn learn<'t>(&self, tape: &'t Tape) -> Vec<Var<'t>> {
        self.parameters.iter().map(|p| tape.parameter(p.clone())).collect()
    }

    /// On a tape, as they are.
    pub fn hold<'t>(&self, tape: &'t Tape) -> Vec<Var<'t>> {
        self.parameters.iter().map(|p| tape.constant(p.clone())).collect()
    }
}

/// Fully connected layers with ReLU between them: `x ← relu(x W + b)`, the last without ReLU.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// Where the first matrix W stands; then its b, the next W, ….
    first: usize,
    count: usize,
}

impl Layers {
    /// He's uniform initialisation of the weights.
    pub fn new(
        weights: &mut Weights,
        inputs: usize,
        hidden: &[usize],
        outputs: usize,
        rng: &mut ChaCha8Rng,
    ) -> Self {
        let widths = [&[inputs], hidden, &[outputs]].concat();
        let first = weights.parameters.len();
        for pair in widths.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let mut draw = |rows: usize, bound: f32| {
                let values = (0..rows * to).map(|_| rng.random_range(-bound..bound)).collect();
                Matrix::new(rows, to, values)
            };
            weights.add(draw(from, (6.0 / from as f32).sqrt()));
            // Biases spread the kinks of the units over the inputs.
            weights.add(draw(1, 1.0 / (from as f32).sqrt()));
        }
        Layers { first, count: widths.len() - 1 }
    }

    /// What comes out for these rows.
    pub fn forward<'t>(&self, weights: &[Var<'t>], x: Var<'t>) -> Var<'t> {
        let layers = weights[self.first..].chunks_exact(2).take(self.count);
        layers.enumerate().fold(x, |x, (i, layer)| {
            let out = x.product(layer[0]) + layer[1];
            if i + 1 < self.count { out.relu() } else { out }
        })
    }

    /// What comes out for many rows.
    pub fn scores(&self, weights: &Weights, x: &Matrix) -> Matrix {
        let (mut values, mut columns) = (Vec::new(), 0);
        for rows in (0..x.nrows()).collect::<Vec<_>>().chunks(SCORED) {
            let tape = Tape::default();
            let told = self.forward(&weights.hold(&tape), tape.constant(x.pick(rows)));
            values.extend_from_slice(told.value().values());
            columns = told.shape().1;
        }
        Matrix::new(x.nrows(), columns, values)
    }
}

/// Normalisation of batches (Ioffe, Szegedy 2015): `γ ∘ (x − mean) / √(variance + ε) + β`, by the
/// mean and variance of the batch while it learns, and by running ones afterwards.
#[derive(Clone, Debug)]
pub struct Norm {
    /// Where γ stands; then β.
    first: usize,
    mean: Vec<f32>,
    variance: Vec<f32>,
}

impl Norm {
    const EPSILON: f32 = 1e-5;
    /// The share of a batch in the running mean and variance.
    const SHARE: f32 = 0.1;

    /// Of so many columns.
    pub fn new(weights: &mut Weights, columns: usize) -> Self {
        let first = weights.add(Matrix::filled(1, columns, 1.0));
        weights.add(Matrix::filled(1, columns, 0.0));
        Norm { first, mean: vec![0.0; columns], variance: vec![1.0; columns] }
    }

    /// A batch by its own mean and variance, which the running ones take in.
    pub fn learn<'t>(&mut self, weights: &[Var<'t>], x: Var<'t>) -> Var<'t> {
        let (mean, variance) = x.value().moments();
        let take = |into: &mut [f32], new: &[f32]| {
            into.iter_mut()
                .zip(new)
                .for_each(|(old, new)| *old = *old * (1.0 - Self::SHARE) + new * Self::SHARE);
        };
        take(&mut self.mean, &mean);
        take(&mut self.variance, &variance);
        x.standard(Self::EPSILON) * weights[self.first] + weights[self.first + 1]
    }

    /// Rows by the running mean and variance.
    pub fn apply<'t>(&self, weights: &[Var<'t>], x: Var<'t>) -> Var<'t> {
        let row = |values: Vec<f32>| x.tape.constant(Matrix::row(values));
        let mean = row(self.mean.clone());
        let over = row(self.variance.iter().map(|v| 1.0 / (v + Self::EPSILON).sqrt()).collect());
        (x - mean) * over * weights[self.first] + weights[self.first + 1]
    }
}
