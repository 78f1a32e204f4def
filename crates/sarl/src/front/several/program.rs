//! The problem with a limit for each label, as a semidefinite programme in t dimensions.
//!
//! ```text
//! maximise tr(P C)   subject to   tr(P Aᵢ) ≤ cᵢ,   0 ⪯ P ⪯ I
//! ```
//!
//! By weak duality no feasible P, and so no encoder, gains more than
//!
//! ```text
//! Σ (eigenvalues of C − Σ μᵢ Aᵢ)⁺ + Σ μᵢ cᵢ          for every μ ≥ 0
//! ```
//!
//! and with at most r dimensions only the r largest of the positive eigenvalues count.

use faer::{Mat, MatRef};

use crate::Result;
use crate::spectral::linalg::{eigh, squares};

/// What one limit counts: `A = sign · K Kᵀ`, or the dimensions themselves.
#[derive(Clone, Debug)]
pub(super) enum Counted {
    Columns { factor: Mat<f64>, sign: f64 },
    Dimensions,
}

impl Counted {
    /// The diagonal of `VᵀAV`.
    pub(super) fn diagonal(&self, v: MatRef<'_, f64>) -> Vec<f64> {
        match self {
            Counted::Dimensions => vec![1.0; v.ncols()],
            Counted::Columns { factor, sign } => {
                let y = v.transpose() * factor;
                (0..y.nrows()).map(|j| sign * y.row(j).squared_norm_l2()).collect()
            }
        }
    }

    /// `VᵀAV`.
    pub(super) fn within(&self, v: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Counted::Dimensions => Mat::identity(v.ncols(), v.ncols()),
            Counted::Columns { factor, sign } => {
                let y = v.transpose() * factor;
                (&y * y.transpose()) * faer::Scale(*sign)
            }
        }
    }

    /// `tr A` without its sign.
    pub(super) fn size(&self, dimensions: usize) -> f64 {
        match self {
            Counted::Dimensions => dimensions as f64,
            Counted::Columns { factor, .. } => squares(factor.as_ref()),
        }
    }

    /// `VᵀAW`.
    pub(super) fn between(&self, v: MatRef<'_, f64>, w: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Counted::Dimensions => v.transpose() * w,
            Counted::Columns { factor, sign } => {
                (v.transpose() * factor) * (factor.transpose() * w) * faer::Scale(*sign)
            }
        }
    }

    /// The same over a space with `more` directions that no label knows.
    pub(super) fn padded(&self, more: usize) -> Self {
        match self {
            Counted::Dimensions => Counted::Dimensions,
            Counted::Columns { factor, sign } => {
                Counted::Columns { factor: padded_rows(factor.as_ref(), more), sign: *sign }
            }
        }
    }
}

/// A matrix with rows of zeros under it.
pub(super) fn padded_rows(a: MatRef<'_, f64>, more: usize) -> Mat<f64> {
    let mut tall = Mat::zeros(a.nrows() + more, a.ncols());
    tall.as_mut().subrows_mut(0, a.nrows()).copy_from(a);
    tall
}

/// One limit.
#[derive(Clone, Debug)]
pub(super) struct Count {
    pub(super) counted: Counted,
    pub(super) most: f64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// `C`: positive semidefinite, or its negative.
    pub(super) gain: Mat<f64>,
    pub(super) counts: Vec<Count>,
}

impl Program {
    pub(super) fn size(&self) -> usize {
        self.gain.nrows()
    }

    /// `C − Σ μᵢ Aᵢ`.
    pub(super) fn net(&self, multipliers: &[f64]) -> Mat<f64> {
        let mut net = self.gain.clone();
        for (count, &by) in self.counts.iter().zip(multipliers).filter(|(_, by)| **by != 0.0) {
            match &count.counted {
                Counted::Dimensions => (0..net.nrows()).for_each(|j| net[(j, j)] -= by),
                Counted::Columns { factor, sign } => {
                    let scaled = factor * faer::Scale(by * sign);
                    net -= &scaled * factor.transpose();
                }
            }
        }
        net
    }

    /// The most that weak duality allows at these multipliers, with at most `cap` dimensions.
    pub(super) fn bound(&self, multipliers: &[f64], cap: usize) -> Result<f64> {
        let (values, _) = eigh(self.net(multipliers).as_ref())?;
        let gained: f64 = values.iter().rev().take(cap).filter(|v| **v > 0.0).sum();
        let allowed = self.counts.iter().zip(multipliers).map(|(c, m)| m * c.most);
        Ok(gained + allowed.sum::<f64>())
    }

    /// No P gains less than this.
    pub(super) fn least(&self) -> f64 {
        let trace: f64 = (0..self.size()).map(|j| self.gain[(j, j)]).sum();
        trace.min(0.0)
    }

    /// The diagonal of `VᵀCV`.
    pub(super) fn gains(&self, v: MatRef<'_, f64>) -> Vec<f64> {
        let product = &self.gain * v;
        (0..v.ncols()).map(|j| v.col(j).transpose() * product.col(j)).collect()
    }
}
