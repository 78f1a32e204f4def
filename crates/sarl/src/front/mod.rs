//! The trade-off front: bounds, points, goals solved exactly, held-out losses.
//!
//! ```text
//! γ_min = ty − tr Ay                      α_max = ts
//! γ_max = ty − tr NᵀAyN, N = null(As)     α_min = ts − tr VᵀAsV, V = range(Ay)
//! ```
//!
//! bound every encoder. A constraint on the leakage (or its mirror, on the utility) is solved as it
//! stands, not by bisecting λ: where an eigenvalue of `B(λ)` crosses zero the front jumps, and no λ
//! reaches what lies inside. There the best of three is taken: Theorem 3 beside the jump, a rotation
//! within the crossing eigenspace at a fixed rank, or a direction diluted with one that neither
//! label knows. Weak duality proves how good it is: for every λ in [0, 1)
//!
//! ```text
//! Jy ≥ [ (1−λ)ty − λts + Σ_{β<0} β(λ) + λα ] / (1−λ)          for every encoder with Js ≥ α
//! ```
//!
//! and the largest of these is the certificate's dual bound.
//!
//! People think in shares: leakage is `1 − Js/α_max`, utility `(ty − Jy)/(ty − γ_min)`.
//!
//! ```
//! use sarl::{Block, Front, Goal, Layout, Moments, MomentsOptions, Reduced, Role};
//! # use faer::MatRef;
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut moments = Moments::new(layout, MomentsOptions::default())?;
//! let x = [0.0, 1.0, 1.0, 3.0, 2.0, 2.0, 3.0, 5.0, 2.5, 1.0, 0.5, 0.0];
//! let block = Block::new(MatRef::from_row_major_slice(&x, 6, 2));
//! moments.push(&block.class(&[0, 0, 1, 1, 1, 0]).class(&[0, 1, 0, 1, 0, 0]))?;
//! let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
//! let front = Front::new(&reduced, None)?;
//! let best = front.solve(Goal::Leakage(0.1))?;
//! assert!(best.point.leakage <= 0.1 + 1e-12 && best.certificate.gap < 1e-9);
//! # Ok::<(), sarl::Error>(())
//! ```

mod attributes;
mod average;
mod bounds;
mod choose;
mod constrained;
mod erased;
mod goal;
mod heldout;
mod limit;
mod region;
mod removing;
mod root;
mod several;
mod taught;
mod tested;
mod whole;

pub use attributes::{
    Attribute, Attributes, HeldOutLabel, HeldOutLabels, LabelBounds, SensitiveBounds, TargetBounds,
};
pub use bounds::Bounds;
pub use choose::{RidgeChoice, best_ridge, default_ridge, mean_variance};
pub use erased::{
    best_erasing_ridge, erased_heldout, erased_heldout_at, erased_heldout_points, preserved_heldout,
};
pub use goal::{Certificate, Goal, Method, NamedLimits, Point, Solution};
pub(crate) use heldout::StoredHeldOut;
pub use heldout::{HeldOut, HeldOutLosses};
pub(crate) use removing::{STORED, removing, removing_along};

use faer::Mat;
use rayon::prelude::*;

use crate::spectral::Reduced;
use crate::spectral::problem::Problem;
use crate::{Error, Result, tolerance};
use constrained::Search;
use goal::Aim;
use limit::{Limit, dual};

/// All trade-offs of a reduced problem, with at most r dimensions.
#[derive(Clone, Debug)]
pub struct Front<'a> {
    reduced: &'a Reduced,
    cap: usize,
    bounds: Bounds,
}

impl<'a> Front<'a> {
    /// The front over encoders with at most `cap` dimensions, or as many as help.
    pub fn new(reduced: &'a Reduced, cap: Option<usize>) -> Result<Self> {
        check_cap(cap)?;
        let cap = cap.unwrap_or(usize::MAX);
        Ok(Front { reduced, cap, bounds: Bounds::new(reduced.exact(), cap)? })
    }

    /// What any encoder could achieve.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The λ strictly between 0 and 1 at which the optimal dimensionality steps down, ascending,
    /// once for each dimension lost.
    pub fn breakpoints(&self) -> Result<Vec<f64>> {
        let problem = &self.reduced.problem;
        let inner = |c: &&f64| **c > 0.0 && **c < 1.0;
        Ok(problem.crossings()?.iter().filter(inner).map(|&c| problem.lambda(c)).collect())
    }

    /// The optimal number of dimensions at λ.
    pub fn dimension(&self, lambda: f64) -> Result<usize> {
        Goal::Lambda(lambda).check()?;
        let problem = &self.reduced.problem;
        Ok(problem.dimension(problem.weight(lambda))?.min(self.cap) + self.reduced.outside())
    }

    /// The point at λ.
    pub fn point(&self, lambda: f64) -> Result<Point> {
        Goal::Lambda(lambda).check()?;
        let problem = &self.reduced.problem;
        let g = problem.subspace(problem.weight(lambda), self.cap)?;
        Ok(self.point_of(lambda, &g))
    }

    /// `count` points from λ = 0 to λ = 1, evenly spaced.
    pub fn points(&self, count: usize) -> Result<Vec<Point>> {
        if self.reduced.size() > 0 {
            self.reduced.problem.crossings()?;
        }
        lambdas(count).into_par_iter().map(|lambda| self.point(lambda)).collect()
    }

    pub(crate) fn point_of(&self, lambda: f64, g: &Mat<f64>) -> Point {
        let largest = |shares: Vec<f64>| shares.into_iter().fold(0.0, f64::max);
        let least = |shares: Vec<f64>| shares.into_iter().fold(f64::INFINITY, f64::min);
        Point {
            lambda,
            dim: g.ncols() + self.reduced.outside(),
            losses: self.reduced.losses(g.as_ref()),
            utility: least(self.reduced.utilities(g.as_ref())),
            leakage: largest(self.reduced.leakages(g.as_ref())),
        }
    }

    /// The best encoder for a goal, with its certificate.
    pub fn solve(&self, goal: Goal) -> Result<Solution> {
        let reach = self.bounds.reach();
        let sought = seek(self.reduced, self.cap, &goal, &reach)?;
        let several::Reached { subspace, method, lambda, mut multipliers } = sought;
        if let (true, Aim::Each(limits)) =
            (self.reduced.ridge > 0.0, goal.aim(&self.reduced.problem, &reach)?)
        {
            multipliers = several::multipliers(self.reduced.exact(), self.cap, &limits)?;
        }
        let mut point = self.point_of(lambda, &subspace);
        let found = self.attributes(&goal, &subspace);
        point.utility = found.target.iter().map(|a| a.share).fold(f64::INFINITY, f64::min);
        point.leakage = found.sensitive.iter().map(|a| a.share).fold(0.0, f64::max);
        let certificate = self.certify(&goal, &point, multipliers)?;
        Ok(Solution { goal, point, certificate, method, subspace })
    }

    /// How near to the best a point is, for a goal that it was meant to meet. `multipliers` are
    /// those of several limits.
    pub(crate) fn certify(
        &self,
        goal: &Goal,
        point: &Point,
        multipliers: Vec<f64>,
    ) -> Result<Certificate> {
        self.certify_by(self.reduced.certifying(), goal, point, multipliers)
    }

    /// The same by a problem whose optimum no encoder exceeds.
    pub(crate) fn certify_by(
        &self,
        exact: &Problem,
        goal: &Goal,
        point: &Point,
        multipliers: Vec<f64>,
    ) -> Result<Certificate> {
        let leaked = Limit::Leak((self.bounds.alpha_max - point.losses.js).max(0.0));
        let (best, keeps) = match goal.aim(exact, &self.bounds.reach())? {
            Aim::Lambda(_) => (dual(exact, self.cap, leaked)?, false),
            Aim::One(limit) => (dual(exact, self.cap, limit)?, matches!(limit, Limit::Keep(_))),
            Aim::Each(limits) => {
                let best = several::bound(exact, self.cap, &limits, &multipliers)?;
                (best, limits.side == several::Limited::Target)
            }
        };
        let (dual_bound, gap) = match keeps {
            false => {
                let dual_bound = self.bounds.target_variance - best;
                (dual_bound, point.losses.jy - dual_bound)
            }
            true => {
                let dual_bound = self.bounds.alpha_max + best;
                (dual_bound, dual_bound - point.losses.js)
            }
        };
        Ok(Certificate { dual_bound, gap, multipliers })
    }

    /// Whether λ sits on a step of the front, where an arbitrarily small change of λ or of the
    /// data changes the losses by a finite amount.
    pub fn at_jump(&self, lambda: f64) -> Result<bool> {
        let near = |c: &f64| (c - lambda).abs() <= tolerance::TIE.sqrt();
        Ok(self.breakpoints()?.iter().any(near))
    }
}

/// The best encoder for a goal, without a proof.
fn seek(
    reduced: &Reduced,
    cap: usize,
    goal: &Goal,
    reach: &goal::Reach,
) -> Result<several::Reached> {
    let problem = &reduced.problem;
    let reached = |subspace, lambda, method| {
        Ok(several::Reached { subspace, lambda, method, multipliers: Vec::new() })
    };
    match goal.aim(problem, reach)? {
        Aim::Lambda(lambda) => {
            reached(problem.subspace(problem.weight(lambda), cap)?, lambda, Method::Spectral)
        }
        Aim::One(limit) => match Search::new(reduced, cap, limit).solve()? {
            Ok(found) => reached(found.subspace, problem.lambda(found.lambda), found.method),
            Err(most) => Err(unreachable(goal, reach.kept(most.y))),
        },
        Aim::Each(limits) => match several::Search::new(reduced, cap, &limits).solve()? {
            Ok(found) => Ok(found),
            Err(share) => Err(unreachable(goal, share * goal.hardest())),
        },
    }
}

fn unreachable(goal: &Goal, high: f64) -> Error {
    Error::Unreachable { goal: goal.name(), asked: goal.hardest(), low: 0.0, high }
}

fn check_cap(cap: Option<usize>) -> Result<()> {
    if cap == Some(0) {
        let expected = "expected at least 1";
        return Err(Error::Argument { name: "the cap on dimensions", value: 0.0, expected });
    }
    Ok(())
}

/// `count` values from 0 to 1, evenly spaced.
pub(crate) fn lambdas(count: usize) -> Vec<f64> {
    match count {
        0 => Vec::new(),
        1 => vec![0.5],
        _ => (0..count).map(|i| i as f64 / (count - 1) as f64).collect(),
    }
}
