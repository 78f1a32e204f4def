//! `Cov(φ)` of some rows, where it is: in memory, or on a device that has the sums of the folds.
//!
//! The method needs three things of it: `W` with `WᵀCW = I` (`(WᵀCW + ρWᵀW) = I` with a ridge), products
//! `C b` with few columns, and its diagonal.

use std::borrow::Cow;

use faer::{Mat, MatRef};

use super::directions::weights_of;
use super::whiten::Whitening;
use crate::Result;
use crate::moments::Covariances;

/// See the module.
pub(crate) trait Spread: Sync {
    /// Everything that is known of the rows. Where the covariances of the features are elsewhere, they
    /// are empty here.
    fn known(&self) -> &Covariances;

    /// m, the number of features.
    fn features(&self) -> usize;

    /// `W` for a ridge.
    fn whitening(&self, ridge: f64) -> Result<Box<dyn White + '_>>;

    /// `C b`.
    fn product(&self, b: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// `bᵀ C b`.
    fn congruence(&self, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(b.transpose() * self.product(b)?)
    }
}

/// `W`, features × basis.
pub(crate) trait White {
    /// k, the dimension of the whitened space.
    fn basis(&self) -> usize;

    /// `Wᵀ a` for features × anything.
    fn whiten(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// `W q` for basis × anything.
    fn unwhiten(&self, q: MatRef<'_, f64>) -> Result<Mat<f64>>;

    /// The same, or the least weights that encode the rows alike.
    fn weights(&self, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.unwhiten(q)
    }
}

/// A whitening in memory, with what it is of.
pub(crate) struct Here<'a> {
    covariances: Cow<'a, Covariances>,
    whitening: Whitening,
}

impl<'a> Here<'a> {
    pub(crate) fn new(covariances: Cow<'a, Covariances>, ridge: f64) -> Result<Self> {
        let whitening = Whitening::new(&covariances, ridge)?;
        Ok(Here { covariances, whitening })
    }
}

impl White for Here<'_> {
    fn basis(&self) -> usize {
        self.whitening.basis()
    }

    fn whiten(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.whitening.whiten(a))
    }

    fn unwhiten(&self, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.whitening.unwhiten(q))
    }

    fn weights(&self, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(weights_of(&self.covariances, &self.whitening, q))
    }
}

impl Spread for Covariances {
    fn known(&self) -> &Covariances {
        self
    }

    fn features(&self) -> usize {
        self.features.nrows()
    }

    fn whitening(&self, ridge: f64) -> Result<Box<dyn White + '_>> {
        Ok(Box::new(Here::new(Cow::Borrowed(self), ridge)?))
    }

    fn product(&self, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(&self.features * b)
    }
}
