//! Held-out losses of erasures, full or partial, from fold moments alone.
//!
//! Erasure found on some folds is `x̂ = x − takenᵀ foundᵀ (x − x̄)` on any rows. On a fold that it has
//! not seen it changes x by `E‖takenᵀ foundᵀ (x − x̄)‖²`, and two adversaries try it: one taught on
//! the rows of the erasure, which learns what was left there on purpose; and one with rows of its
//! own, which are neither those of the erasure nor those that it is tested on. What that one learns
//! is in `taught`. The one that finds more counts.
//!
//! Everything is computed in a space of directions from which those that go are chosen: `found` is
//! `F E` and `taken` is `Eᵀ T`, for weights `F` with `Cov = I` and `T = Cov(x, F)ᵀ`. A full erasure
//! has no other directions, `E = I`.

use std::borrow::Cow;

use faer::{Col, Mat};
use rayon::prelude::*;

use super::attributes::HeldOutLabels;
use super::average::{Loss, SHRINKAGE, Side, held_out, strongest};
use super::goal::Goal;
use super::heldout::HeldOutLosses;
use super::lambdas;
use super::removing::{removing, removing_along};
use super::taught::{Taught, Weighed, apart};
use super::whole::Whole;
use crate::encoder::{Erasure, complement, split};
use crate::moments::{Covariances, LabelCovariances, Moments};
use crate::spectral::Reduced;
use crate::spectral::linalg::{congruence, gram};
use crate::{Error, Result};

/// The held-out losses of full erasure, with the features as the target. `ridge` is that of
/// [`Erasing::new`](crate::Erasing::new).
pub fn erased_heldout(moments: &Moments, ridge: f64) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let full = |c: &Covariances| Ok(Directions::of(&Erasure::full(c, ridge)?));
    Tests::new(moments, &full)?.at(|directions| Ok(directions.removed.clone()))
}

/// The held-out losses of an erasure that preserves the targets beside the features.
pub fn preserved_heldout(moments: &Moments) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let preserving =
        |c: &Covariances| Ok(Directions::of(&Erasure::preserving(c, moments.layout())?));
    Tests::new(moments, &preserving)?.at(|directions| Ok(directions.removed.clone()))
}

/// The same of the erasure that is best for a goal.
pub fn erased_heldout_at(moments: &Moments, goal: &Goal) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let goal = share(goal, &moments.covariances()?.sensitive);
    let partial = |c: &Covariances| {
        let (reduced, solution) = removing(c, &goal)?;
        Directions::new(reduced, complement(solution.subspace.as_ref()))
    };
    Tests::new(moments, &partial)?.at(|directions| Ok(directions.removed.clone()))
}

/// The same at `count` evenly spaced λ, beside [`Front::points`](crate::Front::points).
pub fn erased_heldout_points(moments: &Moments, count: usize) -> Result<Vec<HeldOutLosses>> {
    let along = |c: &Covariances| Directions::new(removing_along(c)?, Mat::new());
    let tests = Tests::new(moments, &along)?;
    let at = |lambda: f64| -> Result<HeldOutLosses> {
        let found = tests.at(|directions| {
            let Some(reduced) = &directions.problem else { return Ok(Mat::new()) };
            let problem = &reduced.problem;
            let kept = problem.subspace(problem.weight(lambda), usize::MAX)?;
            Ok(complement(kept.as_ref()))
        })?;
        Ok(found.0)
    };
    for directions in tests.folds.iter().map(|f| &f.0).chain(tests.fresh.iter().map(|f| &f.0)) {
        directions.problem.iter().try_for_each(|r| r.problem.crossings().map(|_| ()))?;
    }
    lambdas(count).into_par_iter().map(at).collect()
}

/// The same goal for other rows: an absolute loss becomes a share.
fn share(goal: &Goal, hidden: &LabelCovariances) -> Goal {
    let total: f64 = hidden.variance.iter().sum();
    match goal {
        Goal::Alpha(alpha) if hidden.labels.len() == 1 && total > 0.0 => {
            Goal::Leakage((1.0 - alpha / total).clamp(0.0, 1.0))
        }
        other => other.clone(),
    }
}

/// Ridges that [`best_erasing_ridge`] tries: shares of the mean variance of a feature.
const RIDGES: [f64; 6] = [0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The ridge of a full erasure from which an adversary with rows of its own learns least. The
/// first is none, which changes the features least, so another must do better.
pub fn best_erasing_ridge(moments: &Moments) -> Result<f64> {
    let mut best = (f64::INFINITY, 0.0);
    for ridge in RIDGES {
        let leakage = erased_heldout(moments, ridge)?.0.leakage;
        if leakage < best.0 {
            best = (leakage, ridge);
        }
    }
    Ok(best.1)
}

/// Directions that can be removed; see the module.
pub(super) struct Directions {
    /// F, features × t.
    pub(super) found: Mat<f64>,
    /// T, t × features.
    pub(super) taken: Mat<f64>,
    /// E, where it is the same for all questions.
    removed: Mat<f64>,
    problem: Option<Reduced>,
}

impl Directions {
    /// Those of an erasure, which all go.
    fn of(erasure: &Erasure) -> Self {
        let (found, taken) = (erasure.found().to_owned(), erasure.taken().to_owned());
        let removed = Mat::identity(found.ncols(), found.ncols());
        Directions { found, taken, removed, problem: None }
    }

    fn new(reduced: Reduced, removed: Mat<f64>) -> Result<Self> {
        let taken = reduced.inputs.as_ref().map(|(taken, _)| taken.clone());
        let taken =
            taken.ok_or(Error::Unavailable("the inputs of these features are not known"))?;
        Ok(Directions { found: reduced.basis.clone(), taken, removed, problem: Some(reduced) })
    }
}

impl Directions {
    /// No more than those that are removed, where they are the same for all questions.
    fn only_removed(self) -> Self {
        let count = self.removed.ncols();
        if count == 0 || count == self.found.ncols() {
            return self;
        }
        Directions {
            found: &self.found * &self.removed,
            taken: self.removed.transpose() * &self.taken,
            removed: Mat::identity(count, count),
            problem: None,
        }
    }
}

/// All folds, ready to be tested.
struct Tests {
    folds: Vec<(Directions, Fold)>,
    fresh: Vec<(Directions, Taught)>,
    whole: Whole,
}

impl Tests {
    fn new(moments: &Moments, find: &dyn Fn(&Covariances) -> Result<Directions>) -> Result<Self> {
        let folds = moments.options().folds;
        if folds < 2 {
            return Err(Error::OneFold);
        }
        // What is preserved beside the features has no held-out loss.
        let only_features = |c: Covariances| match c.target.labels.len() {
            1 => c,
            _ => Covariances { target: split(&c.target, moments.layout()).0, ..c },
        };
        let (mut tested, mut fresh) = (Vec::new(), Vec::new());
        for fold in 0..folds {
            let others: Vec<usize> = (1..folds).map(|step| (fold + step) % folds).collect();
            let test = only_features(moments.of_folds(&[fold])?);
            let train = moments.to_learn_from(&others)?;
            let directions = find(&train)?;
            let one = Fold::new(&directions, &train, &test);
            tested.push((directions, one));
            drop(train);
            let (first, second) = others.split_at(folds / 2);
            let parts = (moments.to_learn_from(first), moments.to_learn_from(second));
            let (Ok(first), Ok(second)) = parts else { continue };
            let Ok(directions) = find(&first) else { continue };
            drop(first);
            let directions = directions.only_removed();
            let one = Taught::new(&directions, &second, &test)?;
            fresh.push((directions, one));
        }
        let whole = Whole::of_labels(&only_features(moments.covariances()?));
        Ok(Tests { folds: tested, fresh, whole })
    }

    /// The losses where `remove` says which directions go.
    fn at(
        &self,
        remove: impl Fn(&Directions) -> Result<Mat<f64>>,
    ) -> Result<(HeldOutLosses, HeldOutLabels)> {
        let (mut kept, mut own, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        for (directions, fold) in &self.folds {
            let removed = remove(directions)?;
            kept.push(fold.changed(&removed));
            own.push(fold.learnt(&removed));
        }
        for (directions, taught) in &self.fresh {
            let removed = remove(directions)?;
            let losses: Vec<Loss<'static>> = taught.losses(&removed)?;
            let losses: [Loss<'static>; SHRINKAGE.len()] =
                losses.try_into().map_err(|_| Error::Unstable)?;
            fresh.push(losses);
        }
        let target = Side::new(&self.whole.target, kept.iter());
        Ok(held_out(target, strongest(&self.whole.sensitive, &own, &fresh)))
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
        let inner = congruence(directions.found.as_ref(), test.features.as_ref());
        Fold {
            weight: test.weight,
            second: inner + &along * along.transpose(),
            cost: gram(directions.taken.as_ref()),
            spread: test.target.variance.iter().sum::<f64>() + step.squared_norm_l2(),
            known: directions.found.transpose() * &train.sensitive.cross,
            adversary: Weighed::new(directions.found.as_ref(), train, test),
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
