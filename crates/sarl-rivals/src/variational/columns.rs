//! The features as the decoder tells them.

use burn::tensor::Tensor;
use faer::MatRef;

/// The least logarithm of the variance of a number around what the decoder tells.
const LEAST: f32 = -4.0;

/// Columns of two values first, then the others; those of one value are left out.
pub(super) struct Columns {
    pub values: Vec<f32>,
    /// Columns of two values.
    pub binary: usize,
    /// Columns of more.
    pub numbers: usize,
}

impl Columns {
    pub(super) fn new(x: MatRef<'_, f64>) -> Self {
        let (mut binary, mut numbers) = (Vec::new(), Vec::new());
        for j in 0..x.ncols() {
            let column = (0..x.nrows()).map(|i| x[(i, j)]);
            let (least, most) = column
                .clone()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            if least == most {
                continue;
            }
            if column.clone().all(|v| v == least || v == most) {
                binary.push((j, least, most - least));
            } else {
                numbers.push((j, 0.0, 1.0));
            }
        }
        let all = || binary.iter().chain(&numbers);
        let row = |i| all().map(move |&(j, zero, unit)| ((x[(i, j)] - zero) / unit) as f32);
        let values = (0..x.nrows()).flat_map(row).collect();
        Columns { values, binary: binary.len(), numbers: numbers.len() }
    }

    pub(super) fn width(&self) -> usize {
        self.binary + self.numbers
    }

    /// The mean over rows of the negative log-likelihood, less a constant.
    pub(super) fn surprise(&self, told: Tensor<2>, x: Tensor<2>, spread: Tensor<1>) -> Tensor<1> {
        let (rows, split, width) = (told.dims()[0], self.binary, self.width());
        let mut sum = Tensor::zeros([1], &told.device());
        if self.binary > 0 {
            let (told, x) =
                (told.clone().slice([0..rows, 0..split]), x.clone().slice([0..rows, 0..split]));
            let tail = told.clone().abs().neg().exp().log1p();
            sum = sum + (told.clone().clamp_min(0.0) - told * x + tail).sum();
        }
        if self.numbers > 0 {
            let (told, x) = (told.slice([0..rows, split..width]), x.slice([0..rows, split..width]));
            let spread = spread.clamp_min(LEAST).unsqueeze::<2>();
            let squares = (told - x).powi_scalar(2) * spread.clone().neg().exp();
            sum = sum + (squares + spread).sum() / 2.0;
        }
        sum / rows as f32
    }
}
