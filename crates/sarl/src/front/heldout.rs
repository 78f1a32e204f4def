//! Held-out losses over the whole front, from fold moments alone.
//!
//! For each fold, the other folds are the training set: their covariances give an encoder and the
//! best linear predictors. The fold's own moments give the loss of those predictors on it,
//!
//! ```text
//! E‖y − ȳ − Vᵀz‖² = E‖y − ȳ‖² − 2 tr Vᵀ E[z (y − ȳ)ᵀ] + tr Vᵀ E[z zᵀ] V,      z = Gᵀ u
//! ```
//!
//! with the training means throughout; all of it in the t coordinates of the reduced problem.

use faer::{Col, Mat};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::goal::Goal;
use super::{Front, check_cap, lambdas};
use crate::moments::{Covariances, LabelCovariances, Moments};
use crate::spectral::Reduced;
use crate::{Error, Result};

/// Held-out losses: means over the folds and standard deviations between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLosses {
    /// Target loss.
    pub jy: f64,
    /// Adversary loss.
    pub js: f64,
    /// Standard deviation of the target loss over the folds.
    pub jy_sd: f64,
    /// Standard deviation of the adversary loss over the folds.
    pub js_sd: f64,
    /// Standard deviation over the folds of the share of the fold's own target variance that is
    /// explained. How much of the target there is in a fold does not enter, as it does `jy_sd`.
    #[serde(default)]
    pub kept_sd: f64,
    /// The same of the sensitive attributes.
    #[serde(default)]
    pub leaked_sd: f64,
}

/// The folds of a data set, each reduced and ready to be tested.
#[derive(Clone, Debug)]
pub struct HeldOut {
    folds: Vec<Fold>,
    cap: Option<usize>,
}

#[derive(Clone, Debug)]
struct Fold {
    reduced: Reduced,
    weight: f64,
    /// `E[u uᵀ]` on the fold, about the training mean.
    second: Mat<f64>,
    target: Tested,
    sensitive: Tested,
}

#[derive(Clone, Debug)]
struct Tested {
    /// `E[u (y − ȳ)ᵀ]`.
    cross: Mat<f64>,
    /// `E‖y − ȳ‖²`.
    spread: f64,
}

impl Tested {
    /// The share of the variance that a loss leaves explained.
    fn explained(&self, loss: f64) -> f64 {
        if self.spread > 0.0 { 1.0 - loss / self.spread } else { 0.0 }
    }
}

impl HeldOut {
    /// Reduces each training set. `cap` bounds the dimensions, as for [`Front::new`].
    pub fn new(moments: &Moments, ridge: f64, cap: Option<usize>) -> Result<Self> {
        check_cap(cap)?;
        let splits = moments.splits()?;
        let folds = splits.iter().map(|(train, test)| Fold::new(train, test, ridge));
        Ok(HeldOut { folds: folds.collect::<Result<_>>()?, cap })
    }

    /// The losses at λ.
    pub fn at(&self, lambda: f64) -> Result<HeldOutLosses> {
        Goal::Lambda(lambda).check()?;
        let cap = self.cap.unwrap_or(usize::MAX);
        self.average(|fold| {
            let problem = &fold.reduced.problem;
            problem.subspace(problem.weight(lambda), cap)
        })
    }

    /// The losses at `count` evenly spaced λ, beside [`Front::points`].
    pub fn points(&self, count: usize) -> Result<Vec<HeldOutLosses>> {
        for fold in &self.folds {
            fold.reduced.problem.crossings()?;
        }
        lambdas(count).into_par_iter().map(|lambda| self.at(lambda)).collect()
    }

    /// The losses when each training set is encoded for the same goal. `front` is that of all
    /// the data: an absolute goal becomes the share that it means there.
    pub fn solve(&self, goal: Goal, front: &Front<'_>) -> Result<HeldOutLosses> {
        let goal = goal.as_share(front.bounds());
        self.average(|fold| {
            let front = Front::new(&fold.reduced, self.cap)?;
            match front.solve(goal) {
                Ok(solution) => Ok(solution.subspace),
                // With a ridge a fold may fall just short of a utility that all the data reach.
                Err(Error::Unreachable { .. }) => {
                    fold.reduced.problem.subspace(0.0, self.cap.unwrap_or(usize::MAX))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn average(&self, encoder: impl Fn(&Fold) -> Result<Mat<f64>>) -> Result<HeldOutLosses> {
        let mut losses = Vec::with_capacity(self.folds.len());
        for fold in &self.folds {
            let (jy, js) = fold.losses(&encoder(fold)?);
            let shares = (fold.target.explained(jy), fold.sensitive.explained(js));
            losses.push((fold.weight, [jy, js, shares.0, shares.1]));
        }
        let of = |i: usize| mean_and_spread(losses.iter().map(move |l| (l.0, l.1[i])));
        let [(jy, jy_sd), (js, js_sd)] = [of(0), of(1)];
        Ok(HeldOutLosses { jy, js, jy_sd, js_sd, kept_sd: of(2).1, leaked_sd: of(3).1 })
    }
}

/// The weighted mean, and the standard deviation between the values.
fn mean_and_spread(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let weight: f64 = values.clone().map(|v| v.0).sum();
    let mean = values.clone().map(|(w, v)| w * v).sum::<f64>() / weight;
    let count = values.clone().count() as f64;
    let squares: f64 = values.map(|(_, v)| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

impl Fold {
    fn new(train: &Covariances, test: &Covariances, ridge: f64) -> Result<Self> {
        let reduced = Reduced::new(train, ridge)?;
        let basis = &reduced.basis;
        let step = Col::from_fn(train.mean.len(), |i| test.mean[i] - train.mean[i]);
        let step = basis.transpose() * step;
        let second = basis.transpose() * (&test.features * basis) + &step * step.transpose();
        let tested = |train: &LabelCovariances, test: &LabelCovariances| {
            let moved: Vec<f64> = test.mean.iter().zip(&train.mean).map(|(a, b)| a - b).collect();
            let mut cross = basis.transpose() * &test.cross;
            for j in 0..cross.ncols() {
                for i in 0..cross.nrows() {
                    cross[(i, j)] += step[i] * moved[j];
                }
            }
            let moved: f64 = moved.iter().map(|m| m * m).sum();
            Tested { cross, spread: test.variance.iter().sum::<f64>() + moved }
        };
        Ok(Fold {
            weight: test.weight,
            target: tested(&train.target, &test.target),
            sensitive: tested(&train.sensitive, &test.sensitive),
            second,
            reduced,
        })
    }

    fn losses(&self, g: &Mat<f64>) -> (f64, f64) {
        let (vy, vs) = self.reduced.predictors(g.as_ref());
        let rows = g.nrows();
        let second = g.transpose() * (self.second.as_ref().submatrix(0, 0, rows, rows) * g);
        let loss = |v: &Mat<f64>, tested: &Tested| {
            let cross = g.transpose() * tested.cross.as_ref().subrows(0, rows);
            let quadratic = &second * v;
            let mut loss = tested.spread;
            for j in 0..v.ncols() {
                for i in 0..v.nrows() {
                    loss += v[(i, j)] * (quadratic[(i, j)] - 2.0 * cross[(i, j)]);
                }
            }
            loss
        };
        (loss(&vy, &self.target), loss(&vs, &self.sensitive))
    }
}
