//! An adversary with rows of its own, for every erasure in a space of directions.
//!
//! It learns from erased rows, in units of standard deviations `D`, with some shrinkages τ:
//!
//! ```text
//! (A + τI) v = b        A = D⁻¹ Cov(x̂) D⁻¹        b = D⁻¹ Cov(x̂, s)
//! ```
//!
//! With `x̂ = x − takenᵀ foundᵀ (x − x̄)` the matrix is a change of low rank of that of x,
//!
//! ```text
//! A = A₀ + U N Uᵀ       U = D⁻¹ [takenᵀ  C found]       N = [foundᵀC found  −I; −I  0]
//! ```
//!
//! so one factor of `A₀ + τI` serves every choice of directions, by the formula of Woodbury with
//! `N⁻¹ = [0 −I; −I −foundᵀC found]`.

use std::borrow::Cow;

use faer::prelude::Solve;
use faer::{Col, Mat, MatRef};
use rayon::prelude::*;

use super::average::{Loss, SHRINKAGE};
use super::erased::Directions;
use crate::moments::{Covariances, LabelCovariances};
use crate::spare::{Spare, square};
use crate::spectral::linalg::{
    beside, cholesky_of, congruence, solve_lower, solve_lower_transposed,
};
use crate::{Result, tolerance};

/// How far means are apart.
pub(super) fn apart(a: &[f64], b: &[f64]) -> Col<f64> {
    Col::from_fn(a.len(), |i| a[i] - b[i])
}

/// The spread of each label on the test rows about its mean in the rows that taught.
fn spreads(taught: &LabelCovariances, test: &LabelCovariances) -> Vec<f64> {
    let moved = apart(&test.mean, &taught.mean);
    of_labels(&widths(test), |j| test.variance[j] + moved[j] * moved[j])
}

fn widths(part: &LabelCovariances) -> Vec<usize> {
    part.labels.iter().map(|label| label.width).collect()
}

/// A figure of each column, summed over the columns of each label.
fn of_labels(widths: &[usize], column: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut at = 0;
    let labels = widths.iter().map(|width| {
        at += width;
        (at - width..at).map(&column).sum()
    });
    labels.collect()
}

/// Predictions of the hidden labels by combinations of some weights of x, on the test rows.
pub(super) struct Weighed {
    weight: f64,
    widths: Vec<usize>,
    /// `BᵀCB`, `Bᵀ(step of the means)` and `BᵀCov(x, s)` for weights `B`.
    quadratic: Mat<f64>,
    along: Col<f64>,
    cross: Mat<f64>,
    /// How far the means of the labels are apart.
    moved: Col<f64>,
    spread: Vec<f64>,
}

impl Weighed {
    /// `image` is what the covariances of the test rows make of the weights.
    pub(super) fn new(
        weights: MatRef<'_, f64>,
        image: MatRef<'_, f64>,
        taught: &Covariances,
        test: &Covariances,
    ) -> Self {
        Weighed {
            weight: test.weight,
            widths: widths(&test.sensitive),
            quadratic: weights.transpose() * image,
            along: weights.transpose() * apart(&test.mean, &taught.mean),
            cross: weights.transpose() * &test.sensitive.cross,
            moved: apart(&test.sensitive.mean, &taught.sensitive.mean),
            spread: spreads(&taught.sensitive, &test.sensitive),
        }
    }

    /// The losses of predicting column j by the combination in column j of `by`.
    pub(super) fn loss(&self, by: &Mat<f64>) -> Loss<'static> {
        let inner = &self.quadratic * by;
        let change = of_labels(&self.widths, |j| {
            let (by, inner) = (by.col(j), inner.col(j));
            let along = by.transpose() * &self.along;
            let quadratic = by.transpose() * inner;
            let cross = by.transpose() * self.cross.col(j);
            quadratic + along * along - 2.0 * (cross + along * self.moved[j])
        });
        let losses = self.spread.iter().zip(change).map(|(spread, change)| spread + change);
        Loss {
            weight: self.weight,
            losses: losses.collect(),
            spread: Cow::Owned(self.spread.clone()),
        }
    }
}

/// See the module.
pub(super) struct Taught {
    /// `FᵀC F` and `FᵀCov(x, s)` of the adversary's rows.
    inner: Mat<f64>,
    known: Mat<f64>,
    shrunk: Vec<Shrunk>,
}

/// What one shrinkage needs: `Z = (A₀ + τI)⁻¹ R` for `R = D⁻¹ [Tᵀ  C F  Cov(x, s)]`.
struct Shrunk {
    /// `RᵀZ`.
    gram: Mat<f64>,
    /// Predictions by `[D⁻¹Z  F]`.
    weighed: Weighed,
}

impl Taught {
    pub(super) fn new(
        directions: &Directions,
        own: &Covariances,
        test: &Covariances,
        spare: &mut Spare,
    ) -> Result<Self> {
        let Directions { found, taken, .. } = directions;
        let inverse = own.deviations().map(|sd| if sd > 0.0 { 1.0 / sd } else { 0.0 });
        let inverse: Vec<f64> = inverse.collect();
        let image = &own.features * found;
        let mut right = beside(taken.transpose(), image.as_ref());
        right = beside(right.as_ref(), own.sensitive.cross.as_ref());
        scale_rows(&mut right, &inverse);
        let size = own.mean.len();
        let variance = |j: usize| own.features[(j, j)] * (inverse[j] * inverse[j]);
        let mean = (0..size).map(variance).sum::<f64>() / size as f64;
        let mean = mean.max(tolerance::RANK);
        let mut all = Mat::zeros(size, 0);
        let mut grams = Vec::new();
        for shrinkage in SHRINKAGE {
            let a = shrunk(own, &inverse, shrinkage * mean, spare.take());
            let factor = cholesky_of(a)?;
            let mut z = right.clone();
            solve_lower(factor.as_ref(), z.as_mut());
            solve_lower_transposed(factor.as_ref(), z.as_mut());
            spare.give(factor);
            grams.push(right.transpose() * &z);
            scale_rows(&mut z, &inverse);
            all = beside(all.as_ref(), z.as_ref());
        }
        Ok(Taught {
            inner: found.transpose() * &image,
            known: found.transpose() * &own.sensitive.cross,
            shrunk: Self::weighed(all, grams, found, (own, test)),
        })
    }

    /// One product with the test rows' covariances for all shrinkages.
    fn weighed(
        all: Mat<f64>,
        grams: Vec<Mat<f64>>,
        found: &Mat<f64>,
        (own, test): (&Covariances, &Covariances),
    ) -> Vec<Shrunk> {
        let all = beside(all.as_ref(), found.as_ref());
        let image = &test.features * &all;
        let each = grams.into_iter().enumerate().map(|(i, gram)| {
            let width = gram.ncols();
            let both = |a: &Mat<f64>| {
                let of_found = a.as_ref().subcols(a.ncols() - found.ncols(), found.ncols());
                beside(a.as_ref().subcols(i * width, width), of_found)
            };
            let (weights, image) = (both(&all), both(&image));
            Shrunk { gram, weighed: Weighed::new(weights.as_ref(), image.as_ref(), own, test) }
        });
        each.collect()
    }

    /// The losses for each shrinkage where these directions go.
    pub(super) fn losses(&self, removed: &Mat<f64>) -> Result<Vec<Loss<'static>>> {
        self.shrunk
            .iter()
            .map(|shrunk| Ok(shrunk.weighed.loss(&self.by(shrunk, removed))))
            .collect()
    }

    /// The adversary's weights as a combination of `[D⁻¹Z  F]`.
    fn by(&self, shrunk: &Shrunk, removed: &Mat<f64>) -> Mat<f64> {
        let (t, q) = (self.inner.nrows(), self.known.ncols());
        let (count, gram) = (removed.ncols(), &shrunk.gram);
        // b in the columns of R: Cov(x, s) less what is taken off it.
        let mut b = Mat::zeros(2 * t + q, q);
        let off = removed * (removed.transpose() * &self.known);
        b.as_mut().subrows_mut(0, t).copy_from(off * faer::Scale(-1.0));
        (0..q).for_each(|j| b[(2 * t + j, j)] = 1.0);
        if count > 0 {
            // U in the columns of R.
            let mut u = Mat::zeros(2 * t + q, 2 * count);
            u.as_mut().submatrix_mut(0, 0, t, count).copy_from(removed);
            u.as_mut().submatrix_mut(t, count, t, count).copy_from(removed);
            let mut capacity = congruence(u.as_ref(), gram.as_ref());
            let own = congruence(removed.as_ref(), self.inner.as_ref());
            for i in 0..count {
                capacity[(i, count + i)] -= 1.0;
                capacity[(count + i, i)] -= 1.0;
                for j in 0..count {
                    capacity[(count + i, count + j)] -= own[(i, j)];
                }
            }
            let found = u.transpose() * (gram * &b);
            b -= &u * capacity.full_piv_lu().solve(found);
        }
        // Weights of x̂ as weights of x.
        let taken = gram.as_ref().subrows(0, t) * &b;
        let off = removed * (removed.transpose() * taken);
        let mut by = Mat::zeros(3 * t + q, q);
        by.as_mut().subrows_mut(0, 2 * t + q).copy_from(&b);
        by.as_mut().subrows_mut(2 * t + q, t).copy_from(off * faer::Scale(-1.0));
        by
    }
}

/// The lower triangle of `D⁻¹CD⁻¹ + τI`.
fn shrunk(own: &Covariances, inverse: &[f64], tau: f64, spare: Mat<f64>) -> Mat<f64> {
    let mut a = square(spare, inverse.len());
    a.par_col_iter_mut().enumerate().for_each(|(j, mut to)| {
        let from = own.features.col(j).subrows(j, inverse.len() - j);
        let to_lower = to.as_mut().subrows_mut(j, inverse.len() - j);
        for ((to, from), scale) in to_lower.iter_mut().zip(from.iter()).zip(&inverse[j..]) {
            *to = from * (scale * inverse[j]);
        }
        to[j] += tau;
    });
    a
}

fn scale_rows(a: &mut Mat<f64>, by: &[f64]) {
    a.par_col_iter_mut().for_each(|column| {
        column.iter_mut().zip(by).for_each(|(v, scale)| *v *= scale);
    });
}
