//! `W` with `Wᵀ C W = I` on the numerical range of `C`, by pivoted Cholesky.
//!
//! `C` is scaled to a correlation matrix first, so that neither the basis nor its size depends on
//! the units of the features: a feature enters when more than
//! [`RANK`](crate::tolerance::RANK) of *its own* variance is not explained by those before it, and
//! more than what rounding can have left there ([`Covariances::floor`]).
//! With a ridge, `C + ρI` has full rank and its plain Cholesky factor is used; what rounding can
//! have left is added to the ridge, so that no direction is made of it.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::linalg::{cholesky_of, pivoted_cholesky, solve_lower, solve_lower_transposed};
use crate::moments::{Covariances, constant};
use crate::spare::square;
use crate::{Error, Result};

/// `W = Sᵀ L⁻ᵀ`, with `S` picking and scaling features.
pub(crate) struct Whitening {
    features: usize,
    /// How many of them vary.
    varying: usize,
    picked: Vec<usize>,
    /// One over the scale of each picked feature.
    inverse_scale: Vec<f64>,
    factor: Mat<f64>,
}

impl Whitening {
    pub(crate) fn new(covariances: &Covariances, ridge: f64) -> Result<Self> {
        match ridge > 0.0 {
            true => {
                Self::varying(covariances)?;
                Self::ridged(covariances, ridge)
            }
            false => Self::over(covariances, Mat::new()),
        }
    }

    /// Without a ridge, with the factor written over a matrix that is not needed any more.
    pub(crate) fn over(covariances: &Covariances, spare: Mat<f64>) -> Result<Self> {
        Self::plain(covariances, &Self::varying(covariances)?, spare)
    }

    /// The matrix that the factor was written over.
    pub(crate) fn into_spare(self) -> Mat<f64> {
        self.factor
    }

    fn varying(covariances: &Covariances) -> Result<Vec<usize>> {
        let c = covariances.features.as_ref();
        let variances: Vec<f64> = (0..c.nrows()).map(|j| c[(j, j)]).collect();
        varying(covariances, &variances)
    }

    fn ridged(covariances: &Covariances, ridge: f64) -> Result<Self> {
        let mut a = covariances.features.clone();
        let m = a.nrows();
        for j in 0..m {
            a[(j, j)] += ridge;
        }
        match &covariances.turned_floor {
            Some(floor) => a += floor,
            None => (0..m).for_each(|j| a[(j, j)] += covariances.floor_of(j)),
        }
        let factor = cholesky_of(a).map_err(|_| Error::Unstable)?;
        let (picked, inverse_scale) = ((0..m).collect(), vec![1.0; m]);
        Ok(Whitening { features: m, varying: m, picked, inverse_scale, factor })
    }

    fn plain(covariances: &Covariances, varying: &[usize], spare: Mat<f64>) -> Result<Self> {
        let c = &covariances.features;
        let rank = covariances.rank_tolerance;
        let shrunk: Vec<f64> = varying.iter().map(|&j| shrunk(covariances, j, c[(j, j)])).collect();
        let inverse: Vec<f64> =
            varying.iter().zip(&shrunk).map(|(&j, shrunk)| shrunk / c[(j, j)].sqrt()).collect();
        // A factor is written over the correlations, which are made again where it does not do.
        let correlations = |spare: Mat<f64>| {
            let mut to = square(spare, varying.len());
            to.par_col_iter_mut().enumerate().for_each(|(j, mut to)| {
                let from = c.col(varying[j]);
                for (i, to) in to.as_mut().iter_mut().enumerate() {
                    *to = from[varying[i]] * inverse[i] * inverse[j];
                }
                to[j] = shrunk[j] * shrunk[j];
            });
            to
        };
        let (order, factor) = match clearly_full(correlations(spare), rank) {
            Some(factor) => ((0..varying.len()).collect(), factor),
            None => pivoted_cholesky(correlations(Mat::new()), rank)?,
        };
        Ok(Whitening {
            features: c.nrows(),
            varying: varying.len(),
            picked: order.iter().map(|&i| varying[i]).collect(),
            inverse_scale: order.iter().map(|&i| inverse[i]).collect(),
            factor,
        })
    }

    /// k, the dimension of the whitened space.
    pub(crate) fn basis(&self) -> usize {
        self.picked.len()
    }

    /// `Wᵀ a` for features × anything.
    pub(crate) fn whiten(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        let mut b = Mat::from_fn(self.basis(), a.ncols(), |i, j| {
            a[(self.picked[i], j)] * self.inverse_scale[i]
        });
        solve_lower(self.factor.as_ref(), b.as_mut());
        b
    }

    /// `W g` for basis × anything.
    pub(crate) fn unwhiten(&self, g: MatRef<'_, f64>) -> Mat<f64> {
        let mut b = g.to_owned();
        solve_lower_transposed(self.factor.as_ref(), b.as_mut());
        let mut w = Mat::zeros(self.features, g.ncols());
        for j in 0..g.ncols() {
            for (i, &feature) in self.picked.iter().enumerate() {
                w[(feature, j)] = b[(i, j)] * self.inverse_scale[i];
            }
        }
        w
    }

    /// The part of `w` in the range of `C`: of all weights that encode the training rows alike, the
    /// least ones. Which of them pivoting finds depends on the basis that the features have, and
    /// the features of a kernel have whatever basis its landmarks come in.
    pub(crate) fn least(&self, c: MatRef<'_, f64>, w: Mat<f64>) -> Mat<f64> {
        match self.range(c) {
            None => w,
            Some(range) => &range * (range.transpose() * w),
        }
    }

    /// An orthonormal basis of the range of `C`, where that is less than all that varies.
    pub(crate) fn range(&self, c: MatRef<'_, f64>) -> Option<Mat<f64>> {
        let less = self.basis() < self.varying;
        less.then(|| self.whiten(c).transpose().to_owned().qr().compute_thin_Q())
    }

    /// `W Wᵀ a`: the inverse of `C` on its range, where `a` is in it.
    pub(crate) fn solve(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        self.unwhiten(self.whiten(a).as_ref())
    }
}

/// The features that vary, by their variances.
pub(crate) fn varying(covariances: &Covariances, variances: &[f64]) -> Result<Vec<usize>> {
    let varies = |&j: &usize| {
        let (variance, floor) = (variances[j].max(0.0), covariances.floor.get(j).unwrap_or(&0.0));
        variance > *floor && !constant(variance, covariances.mean[j])
    };
    let varying: Vec<usize> = (0..variances.len()).filter(varies).collect();
    if varying.is_empty() { Err(Error::NoVariation) } else { Ok(varying) }
}

/// The standard deviation that a feature is scaled to. There is one threshold for all pivots: a feature
/// that needs a higher one is scaled down instead.
pub(crate) fn shrunk(covariances: &Covariances, j: usize, variance: f64) -> f64 {
    let rank = covariances.rank_tolerance;
    let floor = covariances.floor.get(j).map_or(0.0, |floor| floor / variance);
    (rank / floor.max(rank)).sqrt()
}

/// Whether a factor with such a least number on its diagonal shows that each feature says something that
/// those before it do not.
pub(crate) fn is_clearly_full(least: f64, rank: f64) -> bool {
    least * least > CLEAR * rank
}

/// Pivots this many times above the threshold of the rank leave no doubt about it.
const CLEAR: f64 = 100.0;

/// The factor without pivoting, which is several times faster to find, where it does.
fn clearly_full(correlation: Mat<f64>, rank: f64) -> Option<Mat<f64>> {
    let factor = cholesky_of(correlation).ok()?;
    let least = (0..factor.nrows()).map(|j| factor[(j, j)]).fold(f64::INFINITY, f64::min);
    is_clearly_full(least, rank).then_some(factor)
}
