//! Attributes as a network tells them: a column for each class, one for a number.

use burn::nn::loss::CrossEntropyLossConfig;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Int, Tensor, TensorData};
use sarl_eval::Labels;

/// Attributes to be told, side by side.
pub(crate) struct Heads {
    heads: Vec<Head>,
}

enum Head {
    Class {
        codes: Vec<i32>,
        count: usize,
    },
    /// In units of its spread, around its mean.
    Number(Vec<f32>),
}

impl Heads {
    pub(crate) fn new(labels: &[Labels]) -> Self {
        let head = |label: &Labels| match label {
            Labels::Classes { codes, count } => {
                Head::Class { codes: codes.iter().map(|&c| c as i32).collect(), count: *count }
            }
            Labels::Numbers(values) => Head::Number(standard(values)),
        };
        Heads { heads: labels.iter().map(head).collect() }
    }

    /// Columns of all heads together.
    pub(crate) fn width(&self) -> usize {
        self.heads.iter().map(Head::width).sum()
    }

    /// Each head with its columns of what was told.
    fn parts(&self, told: &Tensor<2>) -> Vec<(&Head, Tensor<2>)> {
        let rows = told.dims()[0];
        let mut at = 0;
        let part = |head| {
            let from = at;
            at += Head::width(head);
            (head, told.clone().slice([0..rows, from..at]))
        };
        self.heads.iter().map(part).collect()
    }

    /// The mean over heads of the cross-entropy, or of the squares for a number.
    pub(crate) fn likelihood(
        &self,
        told: &Tensor<2>,
        rows: &[usize],
        device: &Device,
    ) -> Tensor<1> {
        self.mean(told, |head, told| match head {
            Head::Class { codes, .. } => {
                let codes: Vec<i32> = rows.iter().map(|&i| codes[i]).collect();
                let codes = TensorData::new(codes, [rows.len()]);
                let codes = Tensor::<1, Int>::from_data(codes, device);
                CrossEntropyLossConfig::new().init(device).forward(told, codes)
            }
            Head::Number(_) => (told - head.columns(rows, device)).powi_scalar(2).mean(),
        })
    }

    /// The mean over heads of the squared distance to the one-hot code or the number.
    pub(crate) fn squares(&self, told: &Tensor<2>, rows: &[usize], device: &Device) -> Tensor<1> {
        self.mean(told, |head, told| {
            (told - head.columns(rows, device)).powi_scalar(2).sum_dim(1).mean()
        })
    }

    /// The mean over heads of the negative entropy of what is told; classes only.
    pub(crate) fn certainty(&self, told: &Tensor<2>) -> Tensor<1> {
        self.mean(told, |_, told| {
            (softmax(told.clone(), 1) * log_softmax(told, 1)).sum_dim(1).mean()
        })
    }

    fn mean(&self, told: &Tensor<2>, of: impl Fn(&Head, Tensor<2>) -> Tensor<1>) -> Tensor<1> {
        let parts = self.parts(told).into_iter().map(|(head, told)| of(head, told));
        let count = self.heads.len().max(1) as f32;
        let sum = parts.reduce(|a, b| a + b);
        sum.unwrap_or_else(|| Tensor::zeros([1], &told.device())) / count
    }

    /// One-hot codes and numbers of these rows, side by side.
    pub(crate) fn columns(&self, rows: &[usize], device: &Device) -> Tensor<2> {
        Tensor::cat(self.heads.iter().map(|h| h.columns(rows, device)).collect(), 1)
    }
}

impl Head {
    fn width(&self) -> usize {
        match self {
            Head::Class { count, .. } => *count,
            Head::Number(_) => 1,
        }
    }

    fn columns(&self, rows: &[usize], device: &Device) -> Tensor<2> {
        let values = match self {
            Head::Class { codes, count } => {
                let mut values = vec![0.0; rows.len() * count];
                for (i, &row) in rows.iter().enumerate() {
                    values[i * count + codes[row] as usize] = 1.0;
                }
                values
            }
            Head::Number(values) => rows.iter().map(|&row| values[row]).collect(),
        };
        Tensor::from_data(TensorData::new(values, [rows.len(), self.width()]), device)
    }
}

fn standard(values: &[f64]) -> Vec<f32> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    values.iter().map(|v| ((v - mean) / spread) as f32).collect()
}
