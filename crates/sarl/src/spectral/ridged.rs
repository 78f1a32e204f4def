//! Losses of unregularised predictors where the encoder has a ridge.
//!
//! They need `Cov(u)` only. Bounds and shares of what all the features give need the unpenalised problem
//! over the whole feature space, which takes a second whitening, without a ridge: folds do without it
//! until a goal asks for such a share.

use std::sync::OnceLock;

use faer::{Mat, MatRef};

use super::directions::{project, settled};
use super::linalg::{cholesky, solve_lower};
use super::problem::{Half, Problem};
use super::spread::Spread;
use crate::{Error, Result};

/// The problem with a ridge, in its own coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Ridged {
    /// The unpenalised problem over the whole feature space: bounds and certificates. Not there where
    /// nothing has asked for it.
    pub(crate) exact: OnceLock<Problem>,
    /// `L` with `L Lᵀ = Cov(u)`.
    pub(crate) factor: Mat<f64>,
    /// `L⁻¹ Ky` and `L⁻¹ Ks`.
    pub(crate) target: Mat<f64>,
    pub(crate) sensitive: Mat<f64>,
}

impl Ridged {
    pub(super) fn new(c: &dyn Spread, basis: &Mat<f64>, problem: &Problem) -> Result<Self> {
        let h = c.congruence(basis.as_ref())?;
        let factor = cholesky(h.as_ref()).map_err(|_| Error::Unstable)?;
        Ok(Self::from_parts(OnceLock::new(), factor, problem))
    }

    pub(crate) fn from_parts(
        exact: OnceLock<Problem>,
        factor: Mat<f64>,
        problem: &Problem,
    ) -> Self {
        let solved = |cross: &Mat<f64>| {
            let mut k = cross.clone();
            solve_lower(factor.as_ref(), k.as_mut());
            k
        };
        let target = solved(&problem.target.cross);
        let sensitive = solved(&problem.sensitive.cross);
        Ridged { exact, factor, target, sensitive }
    }

    /// Finds the unpenalised problem of these covariances, where it is not known.
    pub(super) fn complete(&self, c: &dyn Spread) -> Result<()> {
        if self.exact.get().is_none() {
            let whitening = c.whitening(0.0)?;
            let (exact, q) = project(c.known(), whitening.as_ref())?;
            let (exact, _) = settled(c, whitening.unwhiten(q.as_ref())?, exact.size())?;
            self.exact.get_or_init(|| exact);
        }
        Ok(())
    }

    pub(super) fn explained(&self, g: MatRef<'_, f64>, y: &Half, s: &Half) -> (Vec<f64>, Vec<f64>) {
        let q = match g.ncols() {
            0 => Mat::zeros(g.nrows(), 0),
            _ => (self.factor.transpose() * g).qr().compute_thin_Q(),
        };
        let each = |k: &Mat<f64>, half: &Half| {
            let cross = q.transpose() * k;
            half.attributes.iter().map(|a| a.explained(cross.as_ref())).collect()
        };
        (each(&self.target, y), each(&self.sensitive, s))
    }
}
