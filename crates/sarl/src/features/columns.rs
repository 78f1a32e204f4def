//! What is computed from a row before any product, and how exactly.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, MatRef, Par};
use rayon::prelude::*;

use super::Kernel;

/// The columns that a frozen encoder computes before its one matrix product.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// x itself, so many inputs.
    Linear { width: usize },
    /// `k(u_j, x)`, landmarks × inputs.
    Kernel { kernel: Kernel, landmarks: Mat<f64> },
    /// `cos` and `sin` of `ωᵀx`, inputs × frequencies.
    Fourier { frequencies: Mat<f64> },
}

/// What an encoder computes from a row before its one matrix product, to look at.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    /// x itself.
    Linear,
    /// `k(u_j, x)` over landmarks `u_j`.
    Kernel {
        /// k.
        kernel: Kernel,
        /// Landmarks × inputs.
        landmarks: MatRef<'a, f64>,
    },
    /// `√(1/h) cos ωᵀx`, then `√(1/h) sin ωᵀx`, over h frequencies.
    Fourier {
        /// Inputs × h.
        frequencies: MatRef<'a, f64>,
    },
}

impl Columns {
    pub(crate) fn view(&self) -> Map<'_> {
        match self {
            Columns::Linear { .. } => Map::Linear,
            Columns::Kernel { kernel, landmarks } => {
                Map::Kernel { kernel: *kernel, landmarks: landmarks.as_ref() }
            }
            Columns::Fourier { frequencies } => Map::Fourier { frequencies: frequencies.as_ref() },
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        match self {
            Columns::Linear { width } => *width,
            Columns::Kernel { landmarks, .. } => landmarks.ncols(),
            Columns::Fourier { frequencies } => frequencies.nrows(),
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        match self {
            Columns::Linear { .. } => self.inputs(),
            Columns::Kernel { landmarks, .. } => landmarks.nrows(),
            Columns::Fourier { frequencies } => 2 * frequencies.ncols(),
        }
    }

    pub(crate) fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Columns::Linear { .. } => x.to_owned(),
            Columns::Kernel { kernel, landmarks } => kernel.block(x, landmarks.as_ref()),
            Columns::Fourier { frequencies } => fourier(x, frequencies),
        }
    }
}

fn fourier(x: MatRef<'_, f64>, frequencies: &Mat<f64>) -> Mat<f64> {
    let phase = x * frequencies;
    let h = frequencies.ncols();
    let scale = (1.0 / h as f64).sqrt();
    let mut features = Mat::zeros(x.nrows(), 2 * h);
    features.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        for (v, p) in column.iter_mut().zip(phase.col(j % h).iter()) {
            *v = scale * if j < h { p.cos() } else { p.sin() };
        }
    });
    features
}

/// Roundings that one column of a map may be off by: its products and its function.
const ROUNDINGS: f64 = 16.0;

/// The same for a kernel over so many inputs: a power multiplies the rounding of its base.
fn roundings(kernel: Kernel, inputs: usize) -> f64 {
    match kernel {
        Kernel::Rbf { .. } | Kernel::Laplacian { .. } => ROUNDINGS,
        Kernel::Polynomial { degree, .. } => {
            (f64::from(degree) * (4.0 + (inputs as f64).sqrt())).max(ROUNDINGS)
        }
    }
}

/// Rows that one thread adds up at a time.
const ROWS: usize = 256;

/// The length of each row of `L⁻¹`.
pub(super) fn inverse_rows(factor: &Mat<f64>) -> Vec<f64> {
    let m = factor.nrows();
    let mut inverse = Mat::zeros(m, m);
    invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::rayon(0));
    // Column by column, as they lie in memory, and scaled: no square overflows.
    let largest = inverse.norm_max();
    let mut squares = vec![0.0; m];
    let parts = squares.par_chunks_mut(ROWS).enumerate();
    parts.for_each(|(part, squares)| {
        let first = part * ROWS;
        for (j, column) in inverse.col_iter().enumerate().take(first + squares.len()) {
            let rows = column.subrows(first, squares.len());
            for (square, value) in squares.iter_mut().zip(rows.iter()).skip(j.saturating_sub(first))
            {
                *square += (value / largest).powi(2);
            }
        }
    });
    squares.into_iter().map(|square: f64| largest * square.sqrt()).collect()
}

/// How far each feature of a map may be off by rounding: the error of a column, `‖row of L⁻¹‖` times
/// as large in what `L⁻¹` makes of the columns.
pub(super) fn noise(columns: &Columns, inverse_rows: Option<Vec<f64>>) -> Vec<f64> {
    let one = ROUNDINGS * f64::EPSILON;
    match (columns, inverse_rows) {
        (Columns::Linear { .. }, _) => Vec::new(),
        (Columns::Kernel { kernel, landmarks }, rows) => {
            // |k(u, x)|² ≤ k(u, u) k(x, x); the moments know how large k(x, x) is in the rows.
            let largest = kernel.diagonal(landmarks.as_ref()).into_iter().fold(0.0, f64::max);
            let size = largest.sqrt() * roundings(*kernel, landmarks.ncols()) / ROUNDINGS;
            let rows = rows.unwrap_or_else(|| vec![1.0; landmarks.nrows()]);
            rows.into_iter().map(|norm| one * size * norm).collect()
        }
        (Columns::Fourier { frequencies }, _) => {
            let h = frequencies.ncols();
            let phase = |j: usize| 1.0 + frequencies.col(j).norm_l2();
            (0..2 * h).map(|j| one * phase(j % h) / (h as f64).sqrt()).collect()
        }
    }
}
