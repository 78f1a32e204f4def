//! From covariances to a problem of size t ≤ p + q that no longer knows n or m.
//!
//! ```text
//! Q = orthonormal basis of the columns of [WᵀCs WᵀCy]      k×t
//! z = Gᵀ u,   u = Qᵀ Wᵀ (φ(x) − mean φ)                    G orthonormal, t×r
//! ```
//!
//! Without a ridge `Cov(u) = I`, so `Cov(z) = I` and the losses are the paper's. With a ridge the
//! encoder is chosen by the penalised problem, but losses, bounds and certificates are always
//! those of unregularised predictors and adversaries: `Cov(u) = H = L Lᵀ` turns `G` into an
//! orthonormal basis of `Lᵀ G` against `L⁻¹ Ky`, `L⁻¹ Ks`.

use faer::prelude::SolveLstsq;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::attribute::Attribute;
use super::directions::{project, settled, spare_directions, with_spare};
use super::linalg::solve_lower;
use super::problem::{Half, Problem};
use super::ridged::Ridged;
use super::spread::Spread;
use super::whiten::Whitening;
use crate::moments::{Covariances, InputCovariances};
use crate::{Error, Result};

/// Losses of the best linear predictor of the target and of the best linear adversary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Mean squared error on the target, summed over its columns.
    pub jy: f64,
    /// Mean squared error on the sensitive attribute, summed over its columns.
    pub js: f64,
}

/// The reduced problem: everything that any goal needs, without the data.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub(crate) rows: u64,
    pub(crate) weight: f64,
    pub(crate) features: usize,
    pub(crate) basis_size: usize,
    pub(crate) ridge: f64,
    /// The problem whose optimum is the encoder.
    pub(crate) problem: Problem,
    pub(crate) ridged: Option<Ridged>,
    /// `W Q`, features × t, with a few more columns, uncorrelated with all labels, if there are any;
    /// see [`spare_directions`].
    pub(crate) basis: Mat<f64>,
    /// `(W Q)ᵀ mean φ`.
    pub(crate) centre: Vec<f64>,
    pub(crate) target_mean: Vec<f64>,
    pub(crate) sensitive_mean: Vec<f64>,
    /// `Cov(u, x)` and the mean of x, where x is known.
    pub(crate) inputs: Option<(Mat<f64>, Vec<f64>)>,
    /// Where the problem is about some directions only and all others are kept: a problem over the
    /// same directions whose optimum no encoder exceeds.
    pub(crate) bounding: Option<Problem>,
}

impl Reduced {
    /// Reduces the problem; `ridge` is ρ in `C + ρI`.
    pub fn new(covariances: &Covariances, ridge: f64) -> Result<Self> {
        Self::of(covariances, ridge)
    }

    /// The same, wherever the covariances are.
    pub(crate) fn of(spread: &dyn Spread, ridge: f64) -> Result<Self> {
        let reduced = Self::penalised(spread, ridge)?;
        reduced.complete(spread)?;
        Ok(reduced)
    }

    /// The same without the unpenalised problem, where there is a ridge: encoders, predictors and losses
    /// do not need it.
    pub(crate) fn penalised(spread: &dyn Spread, ridge: f64) -> Result<Self> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            let expected = "expected a finite number, 0 or more";
            return Err(Error::Argument { name: "the ridge", value: ridge, expected });
        }
        let c = spread.known();
        let whitening = spread.whitening(ridge)?;
        let (problem, q) = project(c, whitening.as_ref())?;
        let spare = if ridge == 0.0 { spare_directions(&problem) } else { 0 };
        let q = with_spare(q, spare);
        let (basis_size, basis) = (whitening.basis(), whitening.weights(q.as_ref())?);
        drop(whitening);
        let (problem, basis, ridged) = match ridge > 0.0 {
            true => {
                let ridged = Ridged::new(spread, &basis, &problem)?;
                (problem, basis, Some(ridged))
            }
            false => {
                let (problem, basis) = settled(spread, basis, problem.size())?;
                (problem, basis, None)
            }
        };
        let mean = faer::ColRef::from_slice(&c.mean);
        Ok(Reduced {
            rows: c.rows,
            weight: c.weight,
            features: spread.features(),
            basis_size,
            ridge,
            problem,
            ridged,
            centre: (basis.transpose() * mean).iter().copied().collect(),
            target_mean: c.target.mean.clone(),
            sensitive_mean: c.sensitive.mean.clone(),
            inputs: along_inputs(spread, &basis)?,
            basis,
            bounding: None,
        })
    }

    /// A problem whose features are not known any more: it can be solved, but encodes nothing.
    pub(crate) fn of_problem(
        problem: Problem,
        ridged: Option<Ridged>,
        ridge: f64,
        directions: usize,
    ) -> Self {
        let means = |half: &Half| vec![0.0; half.variance.len()];
        Reduced {
            rows: 0,
            weight: 0.0,
            features: 0,
            basis_size: directions,
            ridge,
            target_mean: means(&problem.target),
            sensitive_mean: means(&problem.sensitive),
            problem,
            ridged,
            basis: Mat::zeros(0, directions),
            centre: vec![0.0; directions],
            inputs: None,
            bounding: None,
        }
    }

    /// Rows of positive weight.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// m, the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// k, the dimension of the whitened space.
    pub fn basis(&self) -> usize {
        self.basis_size
    }

    /// t, the size of the reduced problem.
    pub fn size(&self) -> usize {
        self.problem.size()
    }

    /// ρ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// p and q, the numbers of label columns.
    pub fn label_columns(&self) -> (usize, usize) {
        (self.target_mean.len(), self.sensitive_mean.len())
    }

    /// Finds the unpenalised problem, where it is not known.
    pub(crate) fn complete(&self, spread: &dyn Spread) -> Result<()> {
        self.ridged.as_ref().map_or(Ok(()), |ridged| ridged.complete(spread))
    }

    /// Whether the unpenalised problem is known.
    pub(crate) fn is_complete(&self) -> bool {
        self.ridged.as_ref().is_none_or(|ridged| ridged.exact.get().is_some())
    }

    /// The unpenalised problem. Only of a [complete](Reduced::is_complete) one; the penalised one
    /// otherwise.
    pub(crate) fn exact(&self) -> &Problem {
        let exact = self.ridged.as_ref().and_then(|ridged| ridged.exact.get());
        exact.unwrap_or(&self.problem)
    }

    /// The problem that certificates come from.
    pub(crate) fn certifying(&self) -> &Problem {
        self.bounding.as_ref().unwrap_or_else(|| self.exact())
    }

    /// The number of directions outside of the problem, which are all kept.
    pub(crate) fn outside(&self) -> usize {
        self.bounding.as_ref().map_or(0, |_| self.basis_size - self.size())
    }

    /// Whether there is a direction uncorrelated with all labels.
    pub(crate) fn has_spare(&self) -> bool {
        self.basis.ncols() > self.size()
    }

    /// The losses of the best unregularised linear predictors from `z = Gᵀ u`.
    pub(crate) fn losses(&self, g: MatRef<'_, f64>) -> Losses {
        let (y, s) = (&self.problem.target, &self.problem.sensitive);
        let (ey, es) = self.explained(g);
        let left = |half: &Half, explained: Vec<f64>| {
            // Rounding must not make a loss negative.
            (half.total() - explained.iter().sum::<f64>()).max(0.0)
        };
        Losses { jy: left(y, ey), js: left(s, es) }
    }

    /// What unregularised predictors from `z = Gᵀ u` explain of each target and each sensitive
    /// label, on the scale of the problem.
    pub(crate) fn explained(&self, g: MatRef<'_, f64>) -> (Vec<f64>, Vec<f64>) {
        let (y, s) = (&self.problem.target, &self.problem.sensitive);
        let g = g.subrows(0, self.size());
        let (ey, es) = match &self.ridged {
            None => (y.explained_each(g), s.explained_each(g)),
            Some(ridged) => ridged.explained(g, y, s),
        };
        (self.without_rounding(ey, y), self.without_rounding(es, s))
    }

    /// What is no more than the rounding of its own computation is nothing: inner products of t
    /// terms with directions that are themselves rounded, squared.
    pub(crate) fn without_rounding(&self, mut explained: Vec<f64>, half: &Half) -> Vec<f64> {
        let rounding = 32.0 * f64::EPSILON * (self.size() + 4) as f64;
        for (value, attribute) in explained.iter_mut().zip(&half.attributes) {
            if *value <= rounding * rounding * attribute.variance {
                *value = 0.0;
            }
        }
        explained
    }

    /// The rounding of what is explained, as a share of it: sums of squares of inner products of t
    /// terms.
    pub(crate) fn rounding(&self) -> f64 {
        4.0 * f64::EPSILON * (self.size() + 4) as f64
    }

    /// The share of each sensitive label's variance that an adversary explains from `z = Gᵀ u`.
    pub(crate) fn leakages(&self, g: MatRef<'_, f64>) -> Vec<f64> {
        let attributes = &self.problem.sensitive.attributes;
        let share = |(explained, a): (f64, &Attribute)| {
            if a.variance > 0.0 { explained / a.variance } else { 0.0 }
        };
        self.explained(g).1.into_iter().zip(attributes).map(share).collect()
    }

    /// The share of what all the features give of each target that `z = Gᵀ u` keeps; 1 where
    /// they give nothing.
    pub(crate) fn utilities(&self, g: MatRef<'_, f64>) -> Vec<f64> {
        let attainable = self.exact().target.attainable_each();
        let rounding = self.rounding();
        let share = |(explained, whole): (f64, f64)| match explained / whole {
            _ if whole <= 0.0 => 1.0,
            // All is kept, up to the rounding of two sums of squares.
            share if (share - 1.0).abs() <= rounding => 1.0,
            share => share,
        };
        self.explained(g).0.into_iter().zip(attainable).map(share).collect()
    }

    /// The best unregularised linear predictors of both sides from `z = Gᵀ u`, dim × columns, in
    /// the units of the labels.
    pub(crate) fn predictors(&self, g: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let (y, s) = (&self.problem.target, &self.problem.sensitive);
        let g = g.subrows(0, self.size());
        let own =
            |half: &Half| in_own_units(self.regress(g, half.cross.as_ref()), &half.attributes);
        (own(y), own(s))
    }

    /// `Cov(z)⁻¹ Gᵀ K`: least squares on z of what has the covariance `K` with u. `L⁻¹K ≈ LᵀG V`.
    pub(crate) fn regress(&self, g: MatRef<'_, f64>, cross: MatRef<'_, f64>) -> Mat<f64> {
        let Some(ridged) = &self.ridged else { return g.transpose() * cross };
        if g.ncols() == 0 {
            return Mat::zeros(0, cross.ncols());
        }
        let mut k = cross.to_owned();
        solve_lower(ridged.factor.as_ref(), k.as_mut());
        (ridged.factor.transpose() * g).qr().solve_lstsq(k)
    }
}

/// `Cov(u, x)` and the mean of x, where x is known.
fn along_inputs(spread: &dyn Spread, basis: &Mat<f64>) -> Result<Option<(Mat<f64>, Vec<f64>)>> {
    let c = spread.known();
    Ok(match &c.inputs {
        InputCovariances::Features | InputCovariances::Span => {
            let cross = spread.product(basis.as_ref())?;
            Some((cross.transpose().to_owned(), c.mean.clone()))
        }
        InputCovariances::Kept(x) => Some((basis.transpose() * &x.cross, x.mean.clone())),
        InputCovariances::Gone => None,
    })
}

/// Undoes the scaling of the labels' columns.
fn in_own_units(mut columns: Mat<f64>, attributes: &[Attribute]) -> Mat<f64> {
    for attribute in attributes.iter().filter(|a| a.scale != 1.0) {
        for j in attribute.columns.clone() {
            columns.col_mut(j).iter_mut().for_each(|v| *v *= attribute.scale.sqrt());
        }
    }
    columns
}

/// Whether no label column is explained by more than its variance, beyond rounding: a file that
/// says otherwise is not read.
pub(crate) fn possible(half: &Half) -> bool {
    let slack = 5e-8 * half.total();
    half.variance.iter().enumerate().all(|(j, v)| half.cross.col(j).squared_norm_l2() <= v + slack)
}

/// What all the features explain of each target, in its own units.
pub(crate) fn attainable(c: &Covariances) -> Result<Vec<f64>> {
    let cross = Whitening::new(c, 0.0)?.whiten(c.target.cross.as_ref());
    let mut at = 0;
    let explained = c.target.labels.iter().map(|label| {
        at += label.width;
        cross.subcols(at - label.width, label.width).squared_norm_l2()
    });
    Ok(explained.collect())
}
