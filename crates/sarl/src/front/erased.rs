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

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::attributes::HeldOutLabels;
use super::goal::Goal;
use super::heldout::HeldOutLosses;
use super::lambdas;
use super::removing::{HELD_OUT, removing, removing_along};
use super::tested::Tests;
use crate::encoder::{Erasure, complement};
use crate::moments::{Covariances, LabelCovariances, Moments};
use crate::spare::Spare;
use crate::spectral::Reduced;
use crate::spectral::linalg::{beside, span};
use crate::spectral::secular::Secular;
use crate::{Error, Result};

/// A direction that leaves no more than this of another one, of length 1, is the same: the directions
/// themselves have fewer digits here.
const WITHIN: f64 = 1e-8;

/// The held-out losses of full erasure, with the features as the target. `ridge` is that of
/// [`Erasing::new`](crate::Erasing::new).
pub fn erased_heldout(moments: &Moments, ridge: f64) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let full =
        |c: &Covariances, spare: &mut Spare| Ok(Directions::of(&Erasure::full(c, ridge, spare)?));
    Tests::new(moments, &full)?.at(0)
}

/// The held-out losses of an erasure that preserves the targets beside the features.
pub fn preserved_heldout(moments: &Moments) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let preserving = |c: &Covariances, _: &mut Spare| {
        Ok(Directions::of(&Erasure::preserving(c, moments.layout())?))
    };
    Tests::new(moments, &preserving)?.at(0)
}

/// The same of the erasure that is best for a goal.
pub fn erased_heldout_at(moments: &Moments, goal: &Goal) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let goal = match goal {
        Goal::Alpha(_) => share(goal, &moments.covariances()?.sensitive),
        other => other.clone(),
    };
    let partial = |c: &Covariances, spare: &mut Spare| {
        let (reduced, solution) = removing(c, &goal, HELD_OUT, spare)?;
        Directions::new(reduced, vec![complement(solution.subspace.as_ref())])
    };
    Tests::new(moments, &partial)?.at(0)
}

/// The same at `count` evenly spaced λ, beside [`Front::points`](crate::Front::points).
pub fn erased_heldout_points(moments: &Moments, count: usize) -> Result<Vec<HeldOutLosses>> {
    let along = |c: &Covariances, spare: &mut Spare| {
        let reduced = removing_along(c, HELD_OUT, spare)?;
        let problem = &reduced.problem;
        let secular = Secular::new(problem)?;
        let removed = |lambda: f64| secular.removed(problem.weight(lambda));
        let removed = lambdas(count).into_par_iter().map(removed).collect::<Result<_>>()?;
        Directions::new(reduced, removed)
    };
    let tests = Tests::new(moments, &along)?;
    (0..count).into_par_iter().map(|point| Ok(tests.at(point)?.0)).collect()
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
    /// E of each question.
    pub(super) removed: Vec<Mat<f64>>,
}

impl Directions {
    /// Those of an erasure, which all go.
    fn of(erasure: &Erasure) -> Self {
        let (found, taken) = (erasure.found().to_owned(), erasure.taken().to_owned());
        let removed = vec![Mat::identity(found.ncols(), found.ncols())];
        Directions { found, taken, removed }
    }

    fn new(reduced: Reduced, removed: Vec<Mat<f64>>) -> Result<Self> {
        let unknown = Error::Unavailable("the inputs of these features are not known");
        let (taken, _) = reduced.inputs.ok_or(unknown)?;
        Ok(Directions { found: reduced.basis, taken, removed })
    }

    /// No more than the span of those that are removed and of others.
    pub(super) fn only_removed(self, others: MatRef<'_, f64>) -> Self {
        let count = self.found.ncols();
        let mut all = others.to_owned();
        for removed in &self.removed {
            all = beside(all.as_ref(), removed.as_ref());
        }
        let (basis, rank) = span(all.as_ref(), WITHIN, false);
        if rank >= count {
            return self;
        }
        let basis = basis.subcols(0, rank);
        Directions {
            found: &self.found * basis,
            taken: basis.transpose() * &self.taken,
            removed: self.removed.iter().map(|removed| basis.transpose() * removed).collect(),
        }
    }
}
