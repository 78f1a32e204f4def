//! Features of many rows at once: each worker takes a stripe of rows through the whole map, kernel,
//! function and triangular solve, while it is in its cache.
//!
//! A row's features lie side by side, as moments read them: the stripe is a matrix of features ×
//! rows, the kernel is one product with the landmarks, and `L⁻¹` is solved for all rows of the stripe
//! together.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::exp::exp_all;
use super::kernel::Points;
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
    /// The landmarks of an RBF kernel.
    points: Option<Points>,
}

impl<'a> Ready<'a> {
    fn new(columns: &'a Columns) -> Self {
        let points = match columns {
            Columns::Kernel { kernel: kernel @ Kernel::Rbf { .. }, landmarks } => {
                Some(Points::new(*kernel, landmarks.as_ref()))
            }
            _ => None,
        };
        Ready { columns, points }
    }

    /// The inputs of rows, one row after the other.
    fn centred<T: Element>(&self, x: MatRef<'_, T>, to: &mut Vec<f64>) {
        to.clear();
        let centre = self.points.as_ref().map_or(&[][..], |points| &points.centre);
        for i in 0..x.nrows() {
            to.extend(x.row(i).iter().map(|&v| v.into()));
            let start = to.len() - x.ncols();
            to[start..].iter_mut().zip(centre).for_each(|(v, c)| *v -= c);
        }
    }

    /// The columns of the map, of inputs × rows into columns × rows.
    fn apply(&self, x: MatRef<'_, f64>, mut to: MatMut<'_, f64>) {
        match (self.columns, &self.points) {
            (Columns::Kernel { kernel, .. }, Some(points)) => {
                points.rbf_of_columns(x, to, kernel.gamma());
            }
            (Columns::Linear { .. }, _) => to.copy_from(x),
            _ => to.copy_from(self.columns.apply(x.transpose()).transpose()),
        }
    }
}

impl Points {
    /// An RBF kernel of centred inputs × rows, by this thread.
    fn rbf_of_columns(&self, x: MatRef<'_, f64>, mut to: MatMut<'_, f64>, gamma: f64) {
        matmul(to.as_mut(), Accum::Replace, &self.at, x, 2.0 * gamma, Par::Seq);
        for (i, column) in to.col_iter_mut().enumerate() {
            let Some(column) = column.try_as_col_major_mut() else { continue };
            let column = column.as_slice_mut();
            let row = x.col(i);
            let apart = |j: usize| {
                let pairs = self.at.row(j).iter().zip(row.iter());
                pairs.map(|(a, b)| (a - b) * (a - b)).sum()
            };
            self.squares.exponents(column, gamma, row.squared_norm_l2(), apart);
            exp_all(column);
        }
    }
}
