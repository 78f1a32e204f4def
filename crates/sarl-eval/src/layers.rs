//! Fully connected layers, as the networks of probes and of adversarial encoders need them.
//!
//! Weights are drawn by a generator that the caller seeds, so that a seed means the same whatever
//! runs beside it.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use faer::MatRef;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Rows that go through the layers at a time when nothing is learnt.
pub const SCORED: usize = 8192;

/// Row by row, in single precision.
pub fn floats(x: MatRef<'_, f64>) -> Vec<f32> {
    (0..x.nrows()).flat_map(|i| (0..x.ncols()).map(move |j| x[(i, j)] as f32)).collect()
}

/// Fully connected layers with ReLU between them.
#[derive(Module, Debug)]
pub struct Layers {
    layers: Vec<Linear>,
}

impl Layers {
    /// He's uniform initialisation of the weights.
    pub fn new(
        inputs: usize,
        hidden: &[usize],
        outputs: usize,
        rng: &mut ChaCha8Rng,
        device: &Device,
    ) -> Self {
        let widths: Vec<usize> =
            [inputs].into_iter().chain(hidden.iter().copied()).chain([outputs]).collect();
        let layer = |pair: &[usize]| {
            let bound = (6.0 / pair[0] as f32).sqrt();
            let weights: Vec<f32> =
                (0..pair[0] * pair[1]).map(|_| rng.random_range(-bound..bound)).collect();
            let weights = TensorData::new(weights, [pair[0], pair[1]]);
            // Biases spread the kinks of the units over the inputs.
            let reach = 1.0 / (pair[0] as f32).sqrt();
            let bias: Vec<f32> = (0..pair[1]).map(|_| rng.random_range(-reach..reach)).collect();
            let bias = TensorData::new(bias, [pair[1]]);
            Linear {
                weight: Param::from_tensor(Tensor::from_data(weights, device)),
                bias: Some(Param::from_tensor(Tensor::from_data(bias, device))),
            }
        };
        Layers { layers: widths.windows(2).map(layer).collect() }
    }

    /// What comes out for these rows.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        self.layers.iter().enumerate().fold(x, |x, (i, layer)| {
            let out = layer.forward(x);
            if i < last { relu(out) } else { out }
        })
    }

    /// What comes out for many rows of this width, row by row.
    ///
    /// # Errors
    ///
    /// What the framework says when its numbers cannot be read.
    pub fn scores(&self, x: &[f32], width: usize, device: &Device) -> Result<Vec<f32>, String> {
        let mut all = Vec::new();
        for rows in x.chunks(SCORED * width) {
            let shape = [rows.len() / width, width];
            let x = Tensor::from_data(TensorData::new(rows.to_vec(), shape), device);
            let told = self.forward(x).into_data().try_into_vec::<f32>();
            all.extend(told.map_err(|e| format!("{e:?}"))?);
        }
        Ok(all)
    }
}
