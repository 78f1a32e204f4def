//! Held-out losses over the whole front, from fold moments alone.
//!
//! *The target.* For each fold, the other folds are the training set: their covariances give an
//! encoder and the best linear predictor. The fold's own moments give the loss of that predictor,
//!
//! ```text
//! E‖y − ȳ − Vᵀ(z − z̄)‖² = E‖y − ȳ‖² − 2 tr Vᵀ E[(z − z̄)(y − ȳ)ᵀ] + tr Vᵀ E[(z − z̄)(z − z̄)ᵀ] V
//! ```
//!
//! with the training means throughout; all of it in the t coordinates of the reduced problem.
//!
//! *The adversary.* On the rows that an encoder was fitted on, what it hides is hidden by
//! construction, and an adversary taught on these rows learns nothing. One with rows of its own
//! learns what the encoder failed to hide from them. So there are two adversaries, and the one that
//! finds more counts: one taught on the encoder's own rows, as above, and a fresh one. For that the
//! folds become three parts that share no row: the encoder is fitted on the first, the adversary
//! taught on the second, and tested on the third. It may shrink its weights, because z can have more
//! dimensions than it has rows: the shrinkage that finds most counts.

mod file;

use std::borrow::Cow;
use std::ops::Range;

use faer::{Col, Mat};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::attributes::HeldOutLabels;
use super::average::{Loss, SHRINKAGE, Side, held_out, strongest};
use super::goal::{Goal, Reach};
use super::whole::Whole;
use super::{Front, check_cap, lambdas, seek};
use crate::moments::{Covariances, Known, LabelCovariances, Moments};
use crate::spectral::Reduced;
use crate::spectral::linalg::{congruence, eigh, squares};
use crate::{Error, Result};

/// Held-out losses: means over the folds and standard deviations between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLosses {
    /// Target loss; with several targets the sum of their losses, each as a share of its variance.
    pub jy: f64,
    /// Adversary loss, of the adversary that finds more: one taught on the encoder's own rows, or
    /// one with rows of its own.
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
    /// The share of what all the features give that the target keeps; with several targets the
    /// least of their shares.
    pub utility: f64,
    /// The share of the sensitive variance that an adversary explains; with several attributes
    /// the largest of their shares, each by the adversary that finds most of it.
    pub leakage: f64,
}

pub(crate) use file::StoredHeldOut;

/// The folds of a data set, each reduced and ready to be tested.
#[derive(Clone, Debug)]
pub struct HeldOut {
    folds: Vec<Fold>,
    fresh: Vec<Fresh>,
    whole: Whole,
    cap: Option<usize>,
    /// Where what is not known of the folds can be found.
    source: Option<Moments>,
}

/// An encoder of all folds but one, tested on that one.
#[derive(Clone, Debug)]
struct Fold {
    /// The folds that it was fitted on.
    learnt: Vec<usize>,
    reduced: Reduced,
    weight: f64,
    /// `E[u uᵀ]` on the fold, about the training mean.
    second: Mat<f64>,
    target: Tested,
    sensitive: Tested,
}

/// An encoder of some folds, an adversary of others, tested on a further one.
#[derive(Clone, Debug)]
struct Fresh {
    learnt: Vec<usize>,
    reduced: Reduced,
    weight: f64,
    /// `Cov(u)` and `Cov(u, s)` of the adversary's rows.
    own: Mat<f64>,
    own_cross: Mat<f64>,
    /// `E[u uᵀ]` on the tested fold, about the adversary's means.
    second: Mat<f64>,
    sensitive: Tested,
}

#[derive(Clone, Debug)]
struct Tested {
    /// `E[u (y − ȳ)ᵀ]`.
    cross: Mat<f64>,
    /// `E‖y − ȳ‖²` of each label.
    spread: Vec<f64>,
    /// The columns of each label.
    columns: Vec<Range<usize>>,
}

impl Tested {
    /// The loss of each label, in its own units, of predicting by `v` from `z = Gᵀu`, where
    /// `second` is `E[z zᵀ]`.
    fn losses(&self, g: &Mat<f64>, second: &Mat<f64>, v: &Mat<f64>) -> Vec<f64> {
        let cross = g.transpose() * self.cross.as_ref().subrows(0, g.nrows());
        let quadratic = second * v;
        let term = |i: usize, j: usize| v[(i, j)] * (quadratic[(i, j)] - 2.0 * cross[(i, j)]);
        let labels = self.columns.iter().zip(&self.spread);
        let label = |(columns, spread): (&Range<usize>, &f64)| {
            columns
                .clone()
                .fold(*spread, |loss, j| (0..v.nrows()).fold(loss, |loss, i| loss + term(i, j)))
        };
        labels.map(label).collect()
    }
}

impl HeldOut {
    /// Reduces each training set. `cap` bounds the dimensions, as for [`Front::new`].
    pub fn new(moments: &Moments, ridge: f64, cap: Option<usize>) -> Result<Self> {
        check_cap(cap)?;
        let whole = Whole::new(&moments.covariances()?)?;
        Self::with_whole(moments, ridge, cap, whole)
    }

    /// The same, where the problem of all the data is known.
    pub(crate) fn beside(moments: &Moments, reduced: &Reduced, cap: Option<usize>) -> Result<Self> {
        check_cap(cap)?;
        Self::with_whole(moments, reduced.ridge, cap, Whole::of(reduced))
    }

    fn with_whole(moments: &Moments, ridge: f64, cap: Option<usize>, whole: Whole) -> Result<Self> {
        let found = Self::of_ridges(moments, &[ridge], cap, &whole)?.pop();
        let found = found.ok_or(Error::OneFold)?;
        Ok(HeldOut { source: Some(moments.clone()), ..found })
    }

    /// One for each ridge, without a source. Folds are taken one after the other: all of them at once
    /// are many matrices of the size of the features.
    pub(super) fn of_ridges(
        moments: &Moments,
        ridges: &[f64],
        cap: Option<usize>,
        whole: &Whole,
    ) -> Result<Vec<Self>> {
        let count = moments.options().folds;
        if count < 2 {
            return Err(Error::OneFold);
        }
        let part = |fold: usize| parts(moments, fold, ridges);
        let parts: Vec<_> = match moments.layout().features() <= AT_ONCE {
            true => (0..count).into_par_iter().map(part).collect::<Result<_>>()?,
            false => (0..count).map(part).collect::<Result<_>>()?,
        };
        let empty =
            HeldOut { folds: vec![], fresh: vec![], whole: whole.clone(), cap, source: None };
        let mut found = vec![empty; ridges.len()];
        for (folds, fresh) in parts {
            found.iter_mut().zip(folds).for_each(|(found, fold)| found.folds.push(fold));
            found.iter_mut().zip(fresh).for_each(|(found, fresh)| found.fresh.extend(fresh));
        }
        Ok(found)
    }

    /// Finds the unpenalised problem of each fold, where it is not known.
    fn complete(&self) -> Result<()> {
        let Some(moments) = &self.source else { return Ok(()) };
        let fresh = self.fresh.iter().map(|fresh| (&fresh.reduced, &fresh.learnt));
        let folds = self.folds.iter().map(|fold| (&fold.reduced, &fold.learnt)).chain(fresh);
        for (reduced, learnt) in folds.filter(|(reduced, _)| !reduced.is_complete()) {
            reduced.complete(&moments.known_to(learnt)?.covariances)?;
        }
        Ok(())
    }

    /// The losses at λ.
    pub fn at(&self, lambda: f64) -> Result<HeldOutLosses> {
        Goal::Lambda(lambda).check()?;
        let cap = self.cap.unwrap_or(usize::MAX);
        let found = self.average(|reduced| {
            let problem = &reduced.problem;
            problem.subspace(problem.weight(lambda), cap)
        })?;
        Ok(found.0)
    }

    /// The losses at `count` evenly spaced λ, beside [`Front::points`].
    pub fn points(&self, count: usize) -> Result<Vec<HeldOutLosses>> {
        let fresh = self.fresh.iter().map(|fresh| &fresh.reduced);
        for reduced in self.folds.iter().map(|fold| &fold.reduced).chain(fresh) {
            reduced.problem.crossings()?;
        }
        lambdas(count).into_par_iter().map(|lambda| self.at(lambda)).collect()
    }

    /// The losses when each training set is encoded for the same goal. `front` is that of all
    /// the data: an absolute goal becomes the share that it means there.
    pub fn solve(&self, goal: Goal, front: &Front<'_>) -> Result<HeldOutLosses> {
        Ok(self.solve_each(goal, front)?.0)
    }

    /// The same, and for each label.
    pub fn solve_each(
        &self,
        goal: Goal,
        front: &Front<'_>,
    ) -> Result<(HeldOutLosses, HeldOutLabels)> {
        let goal = goal.as_share(&front.reduced.problem, front.bounds());
        if goal.is_of_all() {
            self.complete()?;
        }
        let cap = self.cap.unwrap_or(usize::MAX);
        self.average(|reduced| match seek(reduced, cap, &goal, &reach(reduced)) {
            Ok(found) => Ok(found.subspace),
            // With a ridge a fold may fall just short of a utility that all the data reach.
            Err(Error::Unreachable { .. }) => reduced.problem.subspace(0.0, cap),
            Err(error) => Err(error),
        })
    }

    fn average(
        &self,
        encoder: impl Fn(&Reduced) -> Result<Mat<f64>> + Sync,
    ) -> Result<(HeldOutLosses, HeldOutLabels)> {
        let folds = self.folds.par_iter().map(|fold| fold.losses(&encoder(&fold.reduced)?));
        let folds: Vec<[Loss<'_>; 2]> = folds.collect::<Result<_>>()?;
        let (kept, own): (Vec<_>, Vec<_>) = folds.into_iter().map(<(_, _)>::from).unzip();
        let fresh = self.fresh.par_iter().map(|fresh| fresh.losses(&encoder(&fresh.reduced)?));
        let fresh: Vec<[Loss<'_>; SHRINKAGE.len()]> = fresh.collect::<Result<_>>()?;
        let target = Side::new(&self.whole.target, kept.iter());
        Ok(held_out(target, strongest(&self.whole.sensitive, &own, &fresh)))
    }
}

/// Up to this many features, the matrices of all folds fit in memory at once.
const AT_ONCE: usize = 512;

/// A fold tested, and a fresh adversary on it, for each ridge. A fresh one needs three parts in which
/// all labels vary.
fn parts(
    moments: &Moments,
    fold: usize,
    ridges: &[f64],
) -> Result<(Vec<Fold>, Vec<Option<Fresh>>)> {
    let count = moments.options().folds;
    let others: Vec<usize> = (1..count).map(|step| (fold + step) % count).collect();
    let train = moments.known_to(&others)?;
    let test = moments.of_folds(&[fold])?;
    let one = |ridge: &f64| Fold::new(&train, &test, others.clone(), *ridge);
    let folds = ridges.par_iter().map(one).collect::<Result<Vec<Fold>>>()?;
    drop(train);
    let (first, second) = others.split_at(count / 2);
    if second.is_empty() || count < 3 {
        return Ok((folds, vec![None; ridges.len()]));
    }
    let learn = || Ok((moments.known_to(first)?, moments.to_learn_from(second)?));
    let Some((known, own)) = unless_few(learn())? else {
        return Ok((folds, vec![None; ridges.len()]));
    };
    let one = |ridge: &f64| unless_few(Fresh::new(&known, &own, &test, first.to_vec(), *ridge));
    Ok((folds, ridges.par_iter().map(one).collect::<Result<_>>()?))
}

/// Nothing where too few rows are the reason.
fn unless_few<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_about_few_rows() => Ok(None),
        found => found.map(Some),
    }
}

/// The problem of some folds, with a basis over all features.
fn penalised(known: &Known, ridge: f64) -> Result<Reduced> {
    let mut reduced = Reduced::penalised(&known.covariances, ridge)?;
    if let Some(within) = &known.within {
        reduced.basis = within * reduced.basis;
    }
    Ok(reduced)
}

/// What shares are of in a fold: utility needs it [complete](Reduced::is_complete).
fn reach(reduced: &Reduced) -> Reach {
    let target = &reduced.exact().target;
    let attainable = squares(target.cross.as_ref()) + target.beyond;
    Reach { alpha_min: 0.0, alpha_max: reduced.problem.sensitive.total(), attainable }
}

/// `E[u uᵀ]` on the test rows about the mean of those that taught, and how far the means are apart.
fn second_about(basis: &Mat<f64>, taught: &[f64], test: &Covariances) -> (Mat<f64>, Col<f64>) {
    let step = Col::from_fn(taught.len(), |i| test.mean[i] - taught[i]);
    let step = basis.transpose() * step;
    let second = congruence(basis.as_ref(), test.features.as_ref()) + &step * step.transpose();
    (second, step)
}

/// A label on the test rows, about its mean in the rows that a predictor was taught on.
fn tested(
    basis: &Mat<f64>,
    step: &Col<f64>,
    taught: &LabelCovariances,
    test: &LabelCovariances,
) -> Tested {
    let moved: Vec<f64> = test.mean.iter().zip(&taught.mean).map(|(a, b)| a - b).collect();
    let mut cross = basis.transpose() * &test.cross;
    for j in 0..cross.ncols() {
        for i in 0..cross.nrows() {
            cross[(i, j)] += step[i] * moved[j];
        }
    }
    let spread = |j: usize| test.variance[j] + moved[j] * moved[j];
    let mut at = 0;
    let columns = test.labels.iter().map(|label| {
        at += label.width;
        at - label.width..at
    });
    let columns: Vec<Range<usize>> = columns.collect();
    let spread = columns.iter().map(|label| label.clone().map(spread).sum()).collect();
    Tested { cross, spread, columns }
}

impl Fold {
    fn new(train: &Known, test: &Covariances, learnt: Vec<usize>, ridge: f64) -> Result<Self> {
        let reduced = penalised(train, ridge)?;
        let basis = &reduced.basis;
        let (second, step) = second_about(basis, &train.mean, test);
        let train = &train.covariances;
        Ok(Fold {
            weight: test.weight,
            target: tested(basis, &step, &train.target, &test.target),
            sensitive: tested(basis, &step, &train.sensitive, &test.sensitive),
            second,
            reduced,
            learnt,
        })
    }

    fn losses(&self, g: &Mat<f64>) -> Result<[Loss<'_>; 2]> {
        let (vy, vs) = self.reduced.predictors(g.as_ref());
        let rows = g.nrows();
        let second = congruence(g.as_ref(), self.second.as_ref().submatrix(0, 0, rows, rows));
        Ok([(&self.target, vy), (&self.sensitive, vs)].map(|(tested, v)| {
            let losses = tested.losses(g, &second, &v);
            Loss { weight: self.weight, losses, spread: Cow::Borrowed(&tested.spread) }
        }))
    }
}

impl Fresh {
    fn new(
        first: &Known,
        own: &Covariances,
        test: &Covariances,
        learnt: Vec<usize>,
        ridge: f64,
    ) -> Result<Self> {
        let reduced = penalised(first, ridge)?;
        let basis = &reduced.basis;
        let (second, step) = second_about(basis, &own.mean, test);
        Ok(Fresh {
            weight: test.weight,
            own: congruence(basis.as_ref(), own.features.as_ref()),
            own_cross: basis.transpose() * &own.sensitive.cross,
            sensitive: tested(basis, &step, &own.sensitive, &test.sensitive),
            second,
            reduced,
            learnt,
        })
    }

    /// For each shrinkage what the adversary leaves.
    fn losses(&self, g: &Mat<f64>) -> Result<[Loss<'_>; SHRINKAGE.len()]> {
        let rows = g.nrows();
        let part = |a: &Mat<f64>| congruence(g.as_ref(), a.as_ref().submatrix(0, 0, rows, rows));
        let (own, second) = (part(&self.own), part(&self.second));
        let (values, vectors) = eigh(own.as_ref())?;
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let cross =
            vectors.transpose() * (g.transpose() * self.own_cross.as_ref().subrows(0, rows));
        Ok(SHRINKAGE.map(|shrinkage| {
            let mut v = cross.clone();
            for (i, value) in values.iter().enumerate() {
                let held = value.max(0.0) + shrinkage * mean;
                v.row_mut(i).iter_mut().for_each(|v| *v = if held > 0.0 { *v / held } else { 0.0 });
            }
            let losses = self.sensitive.losses(g, &second, &(&vectors * v));
            Loss { weight: self.weight, losses, spread: Cow::Borrowed(&self.sensitive.spread) }
        }))
    }
}
