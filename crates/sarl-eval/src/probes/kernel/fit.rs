//! Least squares for every ridge, and what each row would be told without itself.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};

use crate::error::{Error, Result};
use crate::task::Labels;

/// Ridges tried.
const RIDGES: [f64; 10] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];
/// A row's weight in its own fit at most: beyond, its residual is rounding.
const OWN: f64 = 1.0 - 1e-6;

/// What is to be told, a column for each class or one for a number.
pub(super) struct Outputs {
    values: Mat<f64>,
    means: Vec<f64>,
    /// What the squares of each column are divided by: a rare class counts as a frequent one.
    variances: Vec<f64>,
}

impl Outputs {
    pub(super) fn new(labels: &Labels, which: &[usize]) -> Self {
        let values = match labels {
            Labels::Classes { codes, count } => {
                Mat::from_fn(which.len(), *count, |i, j| f64::from(codes[which[i]] as usize == j))
            }
            Labels::Numbers(values) => Mat::from_fn(which.len(), 1, |i, _| values[which[i]]),
        };
        let means = means(values.as_ref());
        let n = values.nrows().max(1) as f64;
        let variance =
            |j: usize| values.col(j).iter().map(|v| (v - means[j]).powi(2)).sum::<f64>() / n;
        let variances = (0..means.len()).map(variance).collect();
        Outputs { values, means, variances }
    }
}

/// Φ about its means, turned to the eigenvectors of ΦᵀΦ/n = V S Vᵀ.
pub(super) struct Fit {
    mean: Vec<f64>,
    output_mean: Vec<f64>,
    vectors: Mat<f64>,
    values: Vec<f64>,
    /// Φ V.
    turned: Mat<f64>,
    /// VᵀΦᵀY/n.
    products: Mat<f64>,
}

impl Fit {
    pub(super) fn new(mut phi: Mat<f64>, y: &Outputs) -> Result<Self> {
        let n = phi.nrows() as f64;
        let mean = means(phi.as_ref());
        for (j, m) in mean.iter().enumerate() {
            phi.col_mut(j).iter_mut().for_each(|v| *v -= m);
        }
        let columns = phi.ncols();
        let mut gram = Mat::<f64>::zeros(columns, columns);
        let transposed = phi.transpose();
        matmul(gram.as_mut(), Accum::Replace, transposed, phi.as_ref(), 1.0 / n, Par::Seq);
        let eigen = gram.self_adjoint_eigen(Side::Lower).map_err(|e| Error::Probe {
            probe: "rbf".to_owned(),
            reason: format!("the eigenvalues were not found: {e:?}"),
        })?;
        let vectors = eigen.U().to_owned();
        let values = eigen.S().column_vector().iter().map(|v| v.max(0.0)).collect();
        let mut turned = Mat::<f64>::zeros(phi.nrows(), columns);
        matmul(turned.as_mut(), Accum::Replace, phi.as_ref(), vectors.as_ref(), 1.0, Par::Seq);
        let mut products = Mat::<f64>::zeros(columns, y.values.ncols());
        let (left, right) = (turned.transpose(), y.values.as_ref());
        matmul(products.as_mut(), Accum::Replace, left, right, 1.0 / n, Par::Seq);
        Ok(Fit { mean, output_mean: y.means.clone(), vectors, values, turned, products })
    }

    /// The ridge with the least loss on rows left out, and that loss: 1 for the mean.
    pub(super) fn best_ridge(&self, y: &Outputs) -> (f64, f64) {
        let squares = Mat::from_fn(self.turned.nrows(), self.turned.ncols(), |i, j| {
            self.turned[(i, j)].powi(2)
        });
        let of = |ridge: f64| (ridge, self.left_out(&squares, y, ridge));
        let all = RIDGES.into_iter().map(of);
        all.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((RIDGES[0], f64::INFINITY))
    }

    /// The mean over outputs of the mean squared residual of rows left out, over the variance.
    fn left_out(&self, squares: &Mat<f64>, y: &Outputs, ridge: f64) -> f64 {
        let n = self.turned.nrows() as f64;
        let inverse = Mat::from_fn(self.values.len(), 1, |k, _| 1.0 / (self.values[k] + ridge));
        let own = squares * &inverse;
        let told = &self.turned * self.scaled(ridge);
        let (mut loss, mut counted) = (0.0, 0.0_f64);
        for (j, &variance) in y.variances.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let squared = |i: usize| {
                let weight = (own[(i, 0)] / n + 1.0 / n).min(OWN);
                let residual = y.values[(i, j)] - y.means[j] - told[(i, j)];
                (residual / (1.0 - weight)).powi(2)
            };
            loss += (0..self.turned.nrows()).map(squared).sum::<f64>() / n / variance;
            counted += 1.0;
        }
        loss / counted.max(1.0)
    }

    /// (S + ρ)⁻¹ VᵀΦᵀY/n.
    fn scaled(&self, ridge: f64) -> Mat<f64> {
        Mat::from_fn(self.products.nrows(), self.products.ncols(), |i, j| {
            self.products[(i, j)] / (self.values[i] + ridge)
        })
    }

    /// Ȳ + (Φ − Φ̄) V (S + ρ)⁻¹ VᵀΦᵀY/n.
    pub(super) fn predict(&self, phi: MatRef<'_, f64>, ridge: f64) -> Mat<f64> {
        let weights = &self.vectors * self.scaled(ridge);
        let offset = |j: usize| {
            let shift: f64 = weights.col(j).iter().zip(&self.mean).map(|(w, m)| w * m).sum();
            self.output_mean[j] - shift
        };
        let offsets: Vec<f64> = (0..weights.ncols()).map(offset).collect();
        let mut out = Mat::from_fn(phi.nrows(), weights.ncols(), |_, j| offsets[j]);
        matmul(out.as_mut(), Accum::Add, phi, weights.as_ref(), 1.0, Par::Seq);
        out
    }
}

fn means(x: MatRef<'_, f64>) -> Vec<f64> {
    let n = x.nrows().max(1) as f64;
    (0..x.ncols()).map(|j| x.col(j).iter().sum::<f64>() / n).collect()
}
