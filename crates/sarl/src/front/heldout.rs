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
mod folds;

use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::attributes::HeldOutLabels;
use super::average::{Loss, SHRINKAGE, Side, held_out, strongest};
use super::goal::{Goal, Reach};
use super::whole::Whole;
use super::{Front, check_cap, lambdas, seek};
use crate::moments::Moments;
use crate::spectral::Reduced;
use crate::spectral::linalg::squares;
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
pub(super) use folds::Learning;
use folds::{Fold, Fresh, Parts, square};

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
        let found = Self::of_ridges(&mut Learning::once(moments)?, &[ridge], cap, &whole)?.pop();
        let found = found.ok_or(Error::OneFold)?;
        Ok(HeldOut { source: Some(moments.clone()), ..found })
    }

    /// One for each ridge, without a source. Not all folds at once: they are many matrices of the size
    /// of the features.
    pub(super) fn of_ridges(
        learning: &mut Learning<'_>,
        ridges: &[f64],
        cap: Option<usize>,
        whole: &Whole,
    ) -> Result<Vec<Self>> {
        if learning.moments.options().folds < 2 {
            return Err(Error::OneFold);
        }
        let parts = match each_fold(learning, ridges) {
            Err(error) if learning.may_stay_here(&error) => {
                learning.stay_here();
                each_fold(learning, ridges)?
            }
            parts => parts?,
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

/// What shares are of in a fold: utility needs it [complete](Reduced::is_complete).
fn reach(reduced: &Reduced) -> Reach {
    let target = &reduced.exact().target;
    let attainable = squares(target.cross.as_ref()) + target.beyond;
    Reach { alpha_min: 0.0, alpha_max: reduced.problem.sensitive.total(), attainable }
}

/// The parts of each fold for each ridge.
fn each_fold(learning: &Learning<'_>, ridges: &[f64]) -> Result<Vec<Parts>> {
    let moments = learning.moments;
    let count = moments.options().folds;
    let some = match learning.there_for(ridges) {
        // A device takes one after the other.
        Some(_) => 1,
        None => at_once(moments.layout().features(), count, ridges.len()),
    };
    let all: Vec<usize> = (0..count).collect();
    let mut parts = Vec::with_capacity(count);
    for some in all.chunks(some) {
        let some = some.par_iter().map(|&fold| folds::parts(learning, fold, ridges));
        parts.extend(some.collect::<Result<Vec<_>>>()?);
    }
    Ok(parts)
}

/// Up to this many features, all folds are taken at once.
const SMALL: usize = 512;
/// Threads that work well together on one fold of more features.
const THREADS: usize = 4;
/// Square matrices that a fold needs, and each ridge beside them.
const SQUARES: u64 = 8;
const SQUARES_PER_RIDGE: u64 = 2;

/// How many folds are taken at once: as many as there are threads and memory for.
fn at_once(features: usize, folds: usize, ridges: usize) -> usize {
    if features <= SMALL {
        return folds;
    }
    let fold = square(features as u64).saturating_mul(SQUARES + SQUARES_PER_RIDGE * ridges as u64);
    let most = (rayon::current_num_threads() / THREADS).clamp(1, folds);
    let fits = |count: &usize| sarl_memory::check(fold.saturating_mul(*count as u64)).is_ok();
    (1..=most).rev().find(fits).unwrap_or(1)
}
