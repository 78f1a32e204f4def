//! Normal distributions, as encoders tell them.

use burn::tensor::{Device, Tensor, TensorData};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A normal distribution for each row, its dimensions independent.
pub(super) struct Normal {
    pub mean: Tensor<2>,
    /// The logarithm of the variance.
    log: Tensor<2>,
}

impl Normal {
    pub(super) fn new(told: Tensor<2>, dim: usize) -> Self {
        let rows = told.dims()[0];
        let mean = told.clone().slice([0..rows, 0..dim]);
        Normal { mean, log: told.slice([0..rows, dim..2 * dim]).clamp(-8.0, 8.0) }
    }

    pub(super) fn sample(&self, rng: &mut ChaCha8Rng) -> Tensor<2> {
        let [rows, dim] = self.mean.dims();
        let noise = normal(rows, dim, rng, &self.mean.device());
        self.mean.clone() + (self.log.clone() / 2.0).exp() * noise
    }

    /// The mean over rows of the divergence from another distribution; from the standard normal
    /// without one.
    pub(super) fn divergence(&self, other: Option<&Normal>) -> Tensor<1> {
        let rows = self.mean.dims()[0] as f32;
        let (away, log) = match other {
            Some(other) => (self.mean.clone() - other.mean.clone(), other.log.clone()),
            None => (self.mean.clone(), self.log.zeros_like()),
        };
        let ratio = (self.log.clone().exp() + away.powi_scalar(2)) / log.clone().exp();
        (log - self.log.clone() + ratio - 1.0).sum() / (2.0 * rows)
    }
}

/// Draws of the standard normal.
pub(super) fn normal(
    rows: usize,
    columns: usize,
    rng: &mut ChaCha8Rng,
    device: &Device,
) -> Tensor<2> {
    let values: Vec<f32> = StandardNormal.sample_iter(rng).take(rows * columns).collect();
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}
