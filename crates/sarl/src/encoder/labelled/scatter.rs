//! Weighted means and centred scatters of blocks of rows, which merge.
//!
//! ```text
//! W = Σ w      ā = Σ w a / W      S = Σ w (a − ā)(b − b̄)ᵀ
//! ```
//!
//! where b are the last columns of a: all of them for a covariance, few for the covariances with
//! labels, which then cost no more than those. Two of them add by Chan's update,
//! `S = S₁ + S₂ + W₁W₂/(W₁+W₂) δδᵀ` with `δ = ā₂ − ā₁`.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    /// Rows of positive weight.
    pub(super) rows: u64,
    pub(super) weight: f64,
    /// The mean of each column.
    pub(super) mean: Vec<f64>,
    /// `Σ w (a − ā)²` of each column.
    pub(super) squares: Vec<f64>,
    /// Columns × the last of them.
    pub(super) products: Mat<f64>,
}

impl Scatter {
    pub(super) fn new(columns: usize, last: usize) -> Self {
        let (mean, squares) = (vec![0.0; columns], vec![0.0; columns]);
        Scatter { rows: 0, weight: 0.0, mean, squares, products: Mat::zeros(columns, last) }
    }

    /// Adds rows × columns, with a positive weight for each row.
    pub(super) fn push(&mut self, mut a: Mat<f64>, weights: Option<&[f64]>) {
        let rows = a.nrows();
        if rows == 0 {
            return;
        }
        let weight = weights.map_or(rows as f64, |w| w.iter().sum());
        let mut new = Scatter::new(a.ncols(), self.products.ncols());
        (new.rows, new.weight) = (rows as u64, weight);
        for j in 0..a.ncols() {
            let column = a.col_as_slice_mut(j);
            let sum: f64 = match weights {
                None => column.iter().sum(),
                Some(w) => column.iter().zip(w).map(|(v, w)| v * w).sum(),
            };
            let mean = sum / weight;
            match weights {
                None => column.iter_mut().for_each(|v| *v -= mean),
                Some(w) => {
                    column.iter_mut().zip(w).for_each(|(v, w)| *v = (*v - mean) * w.sqrt());
                }
            }
            new.mean[j] = mean;
            new.squares[j] = column.iter().map(|v| v * v).sum();
        }
        let last = a.as_ref().subcols(a.ncols() - new.products.ncols(), new.products.ncols());
        let par = Par::rayon(0);
        matmul(new.products.as_mut(), Accum::Replace, a.transpose(), last, 1.0, par);
        self.merge(&new);
    }

    /// Adds the rows of another.
    pub(super) fn merge(&mut self, other: &Scatter) {
        if other.weight == 0.0 {
            return;
        }
        let weight = self.weight + other.weight;
        let step: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(b, a)| b - a).collect();
        let (share, factor) = (other.weight / weight, self.weight * other.weight / weight);
        let first = step.len() - self.products.ncols();
        for j in 0..self.products.ncols() {
            let scale = factor * step[first + j];
            let from = other.products.col_as_slice(j).iter().zip(&step);
            let to = self.products.col_as_slice_mut(j).iter_mut();
            to.zip(from).for_each(|(to, (from, step))| *to += from + scale * step);
        }
        for (j, step) in step.iter().enumerate() {
            self.squares[j] += other.squares[j] + factor * step * step;
            self.mean[j] += share * step;
        }
        (self.rows, self.weight) = (self.rows + other.rows, weight);
    }

    /// The same with columns at other places: `to` for each old one among `columns`, of which the
    /// last `last` are those of products. New columns are zero in all rows so far.
    pub(super) fn moved(&self, to: &[usize], columns: usize, last: usize) -> Self {
        let mut new = Scatter::new(columns, last);
        (new.rows, new.weight) = (self.rows, self.weight);
        let (before, after) = (self.mean.len() - self.products.ncols(), columns - last);
        for (j, &place) in to.iter().enumerate() {
            (new.mean[place], new.squares[place]) = (self.mean[j], self.squares[j]);
            for (k, &other) in to.iter().enumerate().skip(before) {
                new.products[(place, other - after)] = self.products[(j, k - before)];
            }
        }
        new
    }

    /// The covariance, where all columns have products.
    pub(super) fn covariance(&self) -> Mat<f64> {
        let p = &self.products;
        Mat::from_fn(p.nrows(), p.ncols(), |i, j| (p[(i, j)] + p[(j, i)]) / (2.0 * self.weight))
    }
}

/// Some rows as doubles, with room for further columns.
pub(super) fn rows_of<T: crate::moments::Element>(
    x: MatRef<'_, T>,
    rows: &[usize],
    columns: usize,
) -> Mat<f64> {
    let mut a = Mat::zeros(rows.len(), columns);
    for (to, &i) in rows.iter().enumerate() {
        for j in 0..x.ncols() {
            a[(to, j)] = x[(i, j)].into();
        }
    }
    a
}
