//! The folds of an erasure, each tested on rows that it has not seen.
//!
//! The large matrices of one fold are those of the next: see [`Spare`].

use std::borrow::Cow;

use faer::{Col, Mat};
use rayon::prelude::*;

use super::attributes::HeldOutLabels;
use super::average::{Loss, SHRINKAGE, Side, held_out, strongest};
use super::erased::Directions;
use super::heldout::HeldOutLosses;
use super::taught::{Taught, Weighed, apart};
use super::whole::Whole;
use crate::encoder::{Erasing, split};
use crate::moments::{Covariances, Moments, Over};
use crate::spare::Spare;
use crate::spectral::linalg::{congruence, gram};
use crate::spectral::problem::correlations;
use crate::{Error, Result};

/// All folds, ready to be tested.
pub(super) struct Tests {
    folds: Vec<Tested>,
    fresh: Vec<Fresh>,
    whole: Whole,
}

type Tested = (Directions, Fold);
type Fresh = (Directions, Taught);

/// What finds directions in the covariances of some rows.
pub(super) type Find<'a> = dyn Fn(&Covariances, &mut Spare) -> Result<Directions> + Sync + 'a;

/// Folds of up to so many features are worked on at the same time, each with memory of its own: most of their
/// work is too small for all threads.
const TOGETHER: usize = 1024;

impl Tests {
    pub(super) fn new(moments: &Moments, find: &Find<'_>) -> Result<Self> {
        let folds = moments.options().folds;
        if folds < 2 {
            return Err(Error::OneFold);
        }
        let parts = Parts { moments, find, once: Erasing::keeps_features(moments.layout()) };
        let spare = &mut Spare::default();
        let each: Vec<_> = match moments.layout().features() <= TOGETHER {
            true => {
                let one = |spare: &mut Spare, fold| parts.fold(fold, spare);
                (0..folds).into_par_iter().map_init(Spare::default, one).collect()
            }
            false => (0..folds).map(|fold| parts.fold(fold, spare)).collect(),
        };
        let (mut tested, mut fresh) = (Vec::new(), Vec::new());
        for one in each {
            let (fold, own) = one?;
            tested.push(fold);
            fresh.extend(own);
        }
        let all = moments.covariances_over(parts.over(spare))?;
        let whole = Whole::of_labels(&parts.only_features(all));
        Ok(Tests { folds: tested, fresh, whole })
    }

    /// The losses of a question.
    pub(super) fn at(&self, question: usize) -> Result<(HeldOutLosses, HeldOutLabels)> {
        let (mut kept, mut own, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        for (directions, fold) in &self.folds {
            let removed = &directions.removed[question];
            kept.push(fold.changed(removed));
            own.push(fold.learnt(removed));
        }
        for (directions, taught) in &self.fresh {
            let losses: Vec<Loss<'static>> = taught.losses(&directions.removed[question])?;
            let losses: [Loss<'static>; SHRINKAGE.len()] =
                losses.try_into().map_err(|_| Error::Unstable)?;
            fresh.push(losses);
        }
        let target = Side::new(&self.whole.target, kept.iter());
        Ok(held_out(target, strongest(&self.whole.sensitive, &own, &fresh)))
    }
}

/// The rows of folds, and what finds directions in them.
struct Parts<'a> {
    moments: &'a Moments,
    find: &'a Find<'a>,
    /// See [`Over::once`].
    once: bool,
}

impl Parts<'_> {
    fn over(&self, spare: &mut Spare) -> Over {
        Over { spare: spare.take(), once: self.once }
    }

    /// What is preserved beside the features has no held-out loss.
    fn only_features(&self, c: Covariances) -> Covariances {
        match c.target.labels.len() {
            1 => c,
            _ => Covariances { target: split(&c.target, self.moments.layout()).0, ..c },
        }
    }

    /// A fold, and an adversary with rows of its own where there are enough of them.
    fn fold(&self, fold: usize, spare: &mut Spare) -> Result<(Tested, Option<Fresh>)> {
        let folds = self.moments.options().folds;
        let others: Vec<usize> = (1..folds).map(|step| (fold + step) % folds).collect();
        let mut train = self.moments.to_learn_from_over(&others, self.over(spare))?;
        let directions = (self.find)(&train, spare)?;
        // One matrix less while the fold is tested.
        spare.give(std::mem::replace(&mut train.features, Mat::new()));
        let test = self.moments.of_folds_over(&[fold], self.over(spare))?;
        let test = self.only_features(test);
        let known = directions.found.transpose() * &train.sensitive.cross;
        let known = correlations(known.as_ref(), &train.sensitive.variance);
        let directions = directions.only_removed(known.as_ref());
        let tested = Fold::new(&directions, &train, &test);
        let fresh = self.fresh(others.split_at(folds / 2), &test, spare)?;
        spare.give(test.features);
        Ok(((directions, tested), fresh))
    }

    /// An erasure of the first part, and an adversary with the rows of the second.
    fn fresh(
        &self,
        (first, second): (&[usize], &[usize]),
        test: &Covariances,
        spare: &mut Spare,
    ) -> Result<Option<Fresh>> {
        let learn = |part: &[usize], spare: &mut Spare| {
            self.moments.to_learn_from_over(part, self.over(spare)).ok()
        };
        if second.is_empty() {
            return Ok(None);
        }
        let Some(first) = learn(first, spare) else { return Ok(None) };
        let found = (self.find)(&first, spare);
        spare.give(first.features);
        let Ok(directions) = found else { return Ok(None) };
        let Some(second) = learn(second, spare) else { return Ok(None) };
        let none = Mat::zeros(directions.found.ncols(), 0);
        let directions = directions.only_removed(none.as_ref());
        let taught = Taught::new(&directions, &second, test, spare)?;
        spare.give(second.features);
        Ok(Some((directions, taught)))
    }
}

/// An erasure of all folds but one, tested on that one.
struct Fold {
    weight: f64,
    /// `E[uuᵀ]` on the fold, about the mean of the others, for `u = Fᵀx`.
    second: Mat<f64>,
    /// `T Tᵀ`.
    cost: Mat<f64>,
    /// `E‖x − x̄‖²`.
    spread: f64,
    /// `FᵀCov(x, s)` of the rows of the erasure.
    known: Mat<f64>,
    adversary: Weighed,
}

impl Fold {
    fn new(directions: &Directions, train: &Covariances, test: &Covariances) -> Self {
        let step = apart(&test.mean, &train.mean);
        let along: Col<f64> = directions.found.transpose() * &step;
        let image = &test.features * &directions.found;
        let found = directions.found.as_ref();
        Fold {
            weight: test.weight,
            second: found.transpose() * &image + &along * along.transpose(),
            cost: gram(directions.taken.as_ref()),
            spread: test.target.variance.iter().sum::<f64>() + step.squared_norm_l2(),
            known: directions.found.transpose() * &train.sensitive.cross,
            adversary: Weighed::new(found, image.as_ref(), train, test),
        }
    }

    /// How much erasure changes the features of rows that it has not seen.
    fn changed(&self, removed: &Mat<f64>) -> Loss<'static> {
        let second = congruence(removed.as_ref(), self.second.as_ref());
        let cost = congruence(removed.as_ref(), self.cost.as_ref());
        let loss = (0..second.nrows())
            .map(|i| (0..second.nrows()).map(|j| second[(i, j)] * cost[(j, i)]).sum::<f64>());
        let spread = Cow::Owned(vec![self.spread]);
        Loss { weight: self.weight, losses: vec![loss.sum()], spread }
    }

    /// The losses of an adversary taught on the rows of the erasure: it knows what they say of the
    /// directions that stay.
    fn learnt(&self, removed: &Mat<f64>) -> Loss<'static> {
        let gone = removed * (removed.transpose() * &self.known);
        self.adversary.loss(&(&self.known - gone))
    }
}
