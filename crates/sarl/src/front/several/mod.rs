//! The best encoder with a limit for each of several labels.
//!
//! With the labels of one side as blocks, `As = Σ Asᵢ`, an encoder `G` has a part that the labels
//! see, and everything depends on `P`, the Gram matrix of that part, `0 ⪯ P ⪯ I`:
//!
//! ```text
//! maximise tr(P Ay)   subject to  tr(P Asᵢ) ≤ cᵢ            most kept, each leakage limited
//! minimise tr(P As)   subject to  tr(P Ayᵢ) ≥ bᵢ            least leaked, each utility kept
//! ```
//!
//! Both are convex. Every such P is reached if there are a few directions that no label knows: with
//! `P = Σ θⱼ uⱼuⱼᵀ` the encoder's columns are `√θⱼ uⱼ + √(1−θⱼ) wⱼ`, and at a corner only f of the θ
//! are fractional, with f(f+1)/2 at most the number of limits. Where such directions are missing,
//! or the dimensions are capped, whole directions near the corner are improved under the limits
//! and the gap to the dual bound is reported.
//!
//! - `limits`: what is asked.
//! - `faced`: limits at their ends, solved by restricting the space.
//! - `program`: the programme and weak duality.
//! - `barrier`: its solution, from inside.
//! - `purify`: from there to a corner.
//! - `polish`: whole directions only.

mod barrier;
mod faced;
mod limits;
mod polish;
mod program;
mod purify;
mod ridge;
mod starts;

use faer::Mat;

use self::barrier::centre;
use self::faced::Faced;
pub(super) use self::limits::{Limited, Limits};
use self::limits::{fits, shares};
use self::polish::{padded, polish};
use self::program::{Counted, Program};
use self::purify::{Corner, purify};
use self::starts::{Ranks, start_from};
use super::goal::Method;
use crate::spectral::Reduced;
use crate::spectral::linalg::{beside, congruence};
use crate::spectral::problem::Problem;
use crate::{Error, Result};

/// How far inside its limits a solution aims to be, as a share of each: what is reported must meet
/// them after all rounding.
const HAIR: f64 = 1e-12;
/// How often it aims ten times further inside before giving up.
const ATTEMPTS: u32 = 5;

/// Bases that whole directions are sought from; random ones only for small problems.
const STARTS: usize = 8;
/// A gap to the dual bound that no further search is worth, as a share of the bound.
const GOOD: f64 = 1e-9;

/// A solution.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    pub(super) subspace: Mat<f64>,
    pub(super) method: Method,
    /// The weight of the adversary: that of the limit with the largest multiplier.
    pub(super) lambda: f64,
    /// For each label of the limited side, the multiplier that proves the dual bound.
    pub(super) multipliers: Vec<f64>,
}

/// The search for the best encoder under several limits.
pub(super) struct Search<'a> {
    reduced: &'a Reduced,
    cap: usize,
    limits: &'a Limits,
}

impl<'a> Search<'a> {
    pub(super) fn new(reduced: &'a Reduced, cap: usize, limits: &'a Limits) -> Self {
        Search { reduced, cap: cap.min(reduced.problem.size()), limits }
    }

    /// The best encoder; where none meets the limits, the share of them all that can be met.
    pub(super) fn solve(&self) -> Result<std::result::Result<Reached, f64>> {
        let found = match self.reduced.ridge > 0.0 {
            true => self.along_ridge()?,
            false => self.best(self.limits)?,
        };
        match found {
            Some(found) => Ok(Ok(found)),
            None => Ok(Err(self.reach()?)),
        }
    }

    /// The best encoder of the problem whose limits these are.
    fn best(&self, limits: &Limits) -> Result<Option<Reached>> {
        let problem = &self.reduced.problem;
        let labels = limits.shares.len();
        if let Some(free) = self.free(limits)? {
            return Ok(Some(free));
        }
        let Some(faced) = Faced::new(problem, self.cap, limits) else { return Ok(None) };
        for attempt in 0..ATTEMPTS {
            let hair = HAIR * 10_f64.powi(attempt as i32);
            let aimed = faced.aimed(hair);
            let Some(centre) = centre(&aimed)? else { return Ok(None) };
            let corner = purify(&aimed, &centre, &self.aside(&faced))?;
            let multipliers = faced.for_labels(&centre.multipliers, labels);
            let (subspace, method) = match self.mixed(&faced, &corner) {
                Some(mixed) => mixed,
                None => match self.whole(&faced, &corner, hair, &centre.multipliers)? {
                    Some(whole) => (whole, Method::Rotated),
                    None => return Ok(None),
                },
            };
            if self.meets(limits, &subspace) {
                let lambda = self.lambda(limits, &multipliers);
                return Ok(Some(Reached { subspace, method, lambda, multipliers }));
            }
        }
        Err(Error::NoConvergence { what: "search for an encoder within the limits" })
    }

    /// The end of the front that has most of what is wanted, if it meets the limits.
    fn free(&self, limits: &Limits) -> Result<Option<Reached>> {
        let multipliers = vec![0.0; limits.shares.len()];
        let at = |lambda: f64| -> Result<Reached> {
            let subspace = self.reduced.problem.subspace(lambda, self.cap)?;
            let multipliers = multipliers.clone();
            Ok(Reached { subspace, method: Method::Spectral, lambda, multipliers })
        };
        let (best, other, end) = match limits.side {
            Limited::Sensitive => (0.0, 1.0, 0.0),
            Limited::Target => (1.0, 0.0, 1.0),
        };
        let found = at(best)?;
        if self.meets(limits, &found.subspace) {
            return Ok(Some(found));
        }
        // Nothing may leak, or all must be kept: the other end of the front.
        let found = at(other)?;
        let ends = limits.shares.iter().all(|s| *s == Some(end));
        Ok((ends && self.meets(limits, &found.subspace)).then_some(found))
    }

    /// Whether the figures that are reported meet the limits.
    fn meets(&self, limits: &Limits, g: &Mat<f64>) -> bool {
        let shares = match (self.reduced.ridge > 0.0, limits.side) {
            // With a ridge these limits are those of the penalised problem.
            (true, _) => shares(limits.half(&self.reduced.problem), limits.side, |half| {
                let explained = half.explained_each(g.as_ref().subrows(0, self.reduced.size()));
                self.reduced.without_rounding(explained, half)
            }),
            (false, Limited::Sensitive) => self.reduced.leakages(g.as_ref()),
            (false, Limited::Target) => self.reduced.utilities(g.as_ref()),
        };
        fits(limits, &shares)
    }

    /// What decides where nothing is gained: less leakage, or more of the target.
    fn aside(&self, faced: &Faced) -> Mat<f64> {
        let problem = &self.reduced.problem;
        let frame = faced.frame.as_ref();
        match self.limits.side {
            Limited::Sensitive => congruence(frame, problem.sensitive.a.as_ref()),
            Limited::Target => congruence(frame, problem.target.a.as_ref()) * faer::Scale(-1.0),
        }
    }

    /// The directions beyond those that the labels see.
    fn spare(&self) -> usize {
        self.reduced.basis.ncols() - self.reduced.size()
    }

    /// The corner itself, its fractional directions mixed with ones that no label knows.
    fn mixed(&self, faced: &Faced, corner: &Corner) -> Option<(Mat<f64>, Method)> {
        let fractional = corner.shares.len();
        let dim = corner.whole.ncols() + fractional;
        if fractional > self.spare() || dim > faced.room {
            return None;
        }
        if fractional == 0 {
            return Some((faced.lifted(corner.whole.as_ref()), Method::Spectral));
        }
        let size = corner.whole.nrows();
        let mut g = Mat::zeros(size + fractional, dim);
        let both = beside(corner.whole.as_ref(), corner.partial.as_ref());
        g.as_mut().subrows_mut(0, size).copy_from(&both);
        for (j, share) in corner.shares.iter().enumerate() {
            let column = corner.whole.ncols() + j;
            g.col_mut(column).iter_mut().for_each(|v| *v *= share.sqrt());
            g[(size + j, column)] = (1.0 - share).sqrt();
        }
        Some((faced.lifted(g.as_ref()), Method::Diluted))
    }

    /// Whole directions near the corner, of the rank that does best.
    fn whole(
        &self,
        faced: &Faced,
        corner: &Corner,
        hair: f64,
        multipliers: &[f64],
    ) -> Result<Option<Mat<f64>>> {
        let spare = self.spare();
        let (aimed, loose) = (faced.aimed(hair), faced.aimed(0.0));
        let [aimed, loose] = [aimed, loose].map(|p| padded(&uncapped(p), spare));
        let multipliers = &multipliers[..aimed.counts.len()];
        let most = faced.room.min(aimed.size());
        let low = corner.whole.ncols().min(most);
        let ranks = Ranks { low, high: (low + corner.shares.len()).min(most), most };
        let bound = aimed.bound(multipliers, faced.room)?;
        let mut best: Option<(Mat<f64>, f64)> = None;
        for start in 0..STARTS {
            let Some(basis) = start_from(start, &aimed, corner, multipliers)? else { break };
            ranks.climb(|rank| {
                let start = basis.as_ref().subcols(0, rank);
                let Some(found) = polish(&aimed, &loose, start, multipliers)? else {
                    return Ok(false);
                };
                let improves = best.as_ref().is_none_or(|(_, gain)| found.1 > *gain);
                if improves {
                    best = Some(found);
                }
                Ok(improves)
            })?;
            let size = bound.abs().max(f64::MIN_POSITIVE);
            if best.as_ref().is_some_and(|(_, gain)| bound - gain <= GOOD * size) {
                break;
            }
        }
        Ok(best.map(|(g, _)| faced.lifted(g.as_ref())))
    }

    /// The weight of the adversary that belongs to the largest multiplier.
    fn lambda(&self, limits: &Limits, multipliers: &[f64]) -> f64 {
        let largest = multipliers.iter().copied().fold(0.0, f64::max);
        let none = |s: &Option<f64>| s.is_some_and(|s| s <= 0.0);
        match limits.side {
            Limited::Sensitive if limits.shares.iter().any(none) => 1.0,
            Limited::Sensitive => largest / (1.0 + largest),
            Limited::Target => 1.0 / (1.0 + largest),
        }
    }

    /// The share of all limits that can be met, for the message.
    fn reach(&self) -> Result<f64> {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            let limits = self.limits.times(middle);
            let search = Search { limits: &limits, ..*self };
            let found = match self.reduced.ridge > 0.0 {
                true => search.along_ridge()?,
                false => search.best(&limits)?,
            };
            if found.is_some() { low = middle } else { high = middle }
        }
        Ok(low)
    }
}

/// The multipliers that prove how good an encoder within the limits can be.
pub(super) fn multipliers(problem: &Problem, cap: usize, limits: &Limits) -> Result<Vec<f64>> {
    let labels = limits.shares.len();
    let Some(faced) = Faced::new(problem, cap, limits) else { return Ok(vec![0.0; labels]) };
    Ok(match centre(&faced.aimed(0.0))? {
        Some(centre) => faced.for_labels(&centre.multipliers, labels),
        None => vec![0.0; labels],
    })
}

/// The best value that weak duality allows at these multipliers: most `y`, or least `s` (negated).
pub(super) fn bound(
    problem: &Problem,
    cap: usize,
    limits: &Limits,
    multipliers: &[f64],
) -> Result<f64> {
    match Faced::new(problem, cap, limits) {
        Some(faced) if limits.side == Limited::Sensitive => {
            Ok(faced.bound(multipliers)? + problem.target.beyond)
        }
        Some(faced) => faced.bound(multipliers),
        None => Ok(f64::INFINITY),
    }
}

/// A programme without the cap: a subspace has the rank that it has.
fn uncapped(mut program: Program) -> Program {
    program.counts.retain(|c| !matches!(c.counted, Counted::Dimensions));
    program
}
