//! Features of many rows at once: each worker takes a stripe of rows through the whole map, kernel,
//! function and triangular solve, while it is in its cache.
//!
//! A row's features lie side by side, as moments read them: the stripe is a matrix of features ×
//! rows, the kernel is one product with the landmarks, and `L⁻¹` is solved for all rows of the stripe
//! together.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::exp::exp_all;
use super::kernel::Squares;
use super::{Columns, FeatureMap, Kernel};
use crate::moments::Element;

/// Rows to a stripe.
const STRIPE: usize = 256;

impl FeatureMap {
    /// φ of each row of x, one row after the other.
    pub(super) fn fill<T: Element>(&self, x: MatRef<'_, T>, to: &mut Vec<f64>) {
        let m = self.columns.outputs();
        to.resize(x.nrows() * m, 0.0);
        let ready = Ready::new(&self.columns);
        let factor = self.factor.as_deref();
        to.par_chunks_mut(STRIPE * m).enumerate().for_each_init(Vec::new, |rows, (i, to)| {
            let count = to.len() / m;
            ready.centred(x.subrows(i * STRIPE, count), rows);
            let inputs = MatRef::from_column_major_slice(rows, x.ncols(), count);
            let mut features = MatMut::from_column_major_slice_mut(to, m, count);
            ready.apply(inputs, features.as_mut());
            if let Some(factor) = factor {
                solve_lower_triangular_in_place(factor.as_ref(), features, Par::Seq);
            }
        });
    }
}

/// A map with what is the same for all rows.
struct Ready<'a> {
    columns: &'a Columns,
    /// What is taken off each input first; nothing, if it is empty.
    centre: Vec<f64>,
    /// The landmarks about that, and their squared lengths.
    landmarks: Mat<f64>,
    squares: Squares,
}

impl<'a> Ready<'a> {
    fn new(columns: &'a Columns) -> Self {
        let Columns::Kernel { kernel: Kernel::Rbf { .. }, landmarks: u } = columns else {
            let (centre, landmarks) = (Vec::new(), Mat::new());
            return Ready { columns, centre, squares: Squares::of(&landmarks), landmarks };
        };
        // Distances stay, and ‖x‖² + ‖u‖² − 2xᵀu cancels less.
        let count = u.nrows().max(1) as f64;
        let centre: Vec<f64> =
            (0..u.ncols()).map(|j| u.col(j).iter().sum::<f64>() / count).collect();
        let landmarks = Mat::from_fn(u.nrows(), u.ncols(), |i, j| u[(i, j)] - centre[j]);
        Ready { columns, centre, squares: Squares::of(&landmarks), landmarks }
    }

    /// The inputs of rows, one row after the other.
    fn centred<T: Element>(&self, x: MatRef<'_, T>, to: &mut Vec<f64>) {
        to.clear();
        for i in 0..x.nrows() {
            to.extend(x.row(i).iter().map(|&v| v.into()));
            let start = to.len() - x.ncols();
            to[start..].iter_mut().zip(&self.centre).for_each(|(v, c)| *v -= c);
        }
    }

    /// The columns of the map, of inputs × rows into columns × rows.
    fn apply(&self, x: MatRef<'_, f64>, mut to: MatMut<'_, f64>) {
        match self.columns {
            Columns::Linear { .. } => to.copy_from(x),
            Columns::Kernel { kernel: Kernel::Rbf { gamma }, .. } => self.rbf(x, to, *gamma),
            Columns::Kernel { kernel, landmarks } => {
                to.copy_from(kernel.block(x.transpose(), landmarks.as_ref()).transpose());
            }
            Columns::Fourier { .. } => to.copy_from(self.columns.apply(x.transpose()).transpose()),
        }
    }

    fn rbf(&self, x: MatRef<'_, f64>, mut to: MatMut<'_, f64>, gamma: f64) {
        matmul(to.as_mut(), Accum::Replace, &self.landmarks, x, 2.0 * gamma, Par::Seq);
        for (i, column) in to.col_iter_mut().enumerate() {
            let Some(column) = column.try_as_col_major_mut() else { continue };
            let column = column.as_slice_mut();
            let row = x.col(i);
            let apart = |j: usize| {
                let pairs = self.landmarks.row(j).iter().zip(row.iter());
                pairs.map(|(a, b)| (a - b) * (a - b)).sum()
            };
            self.squares.exponents(column, gamma, row.squared_norm_l2(), apart);
            exp_all(column);
        }
    }
}
