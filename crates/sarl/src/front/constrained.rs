//! Exact control: the best encoder under a constraint, also where no λ reaches it.
//!
//! With `y(G) = tr GᵀAyG` and `s(G) = tr GᵀAsG`, either the most `y` subject to `s ≤ c`, or the
//! least `s` subject to `y ≥ b`, over at most r dimensions. Three ways, best taken:
//!
//! - *Theorem 3.* `s` and `y` fall as λ grows; where they do so without a jump, some λ meets the
//!   constraint exactly.
//! - *Fixed rank.* Over exactly i directions (the i smallest eigenvalues of `B`, of either sign)
//!   the reachable `(y, s)` are convex. Where two eigenvalues meet, rotating inside their common
//!   eigenspace passes through everything between. The best value is
//!   `u_i = min_μ Σ_{j≤i} η_j(Ay − μAs) + μc`, a minimum of functions that are concave in i and
//!   hence concave in i itself: climbing from the ranks beside the jump finds the best rank.
//! - *Dilution.* With a direction w that neither label knows, `√θ v + √(1−θ) w` counts θ of v:
//!   the convex hull itself is reached.

use faer::{Mat, MatRef};

use super::goal::Method;
use super::limit::{END, ENOUGH, Explained, Limit, along_front};
use super::root::{Bracket, narrow};
use crate::spectral::Reduced;
use crate::spectral::linalg::{beside, congruence, eigh};
use crate::spectral::problem::Problem;
use crate::{Result, tolerance};

/// A constraint with no more slack than this share of itself is met exactly.
const TIGHT: f64 = 3e-12;
/// Points of the path with a ridge that are looked at.
const RIDGE_STEPS: usize = 201;
/// λ short of the limits, for ranks that the limits do not have.
const NEARLY: f64 = 1e-10;

/// A candidate solution.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) subspace: Mat<f64>,
    pub(super) lambda: f64,
    pub(super) method: Method,
    value: f64,
}

/// The search for one constraint.
pub(super) struct Search<'a> {
    reduced: &'a Reduced,
    problem: &'a Problem,
    cap: usize,
    /// What was asked.
    asked: Limit,
    /// A hair inside of it.
    limit: Limit,
}

impl<'a> Search<'a> {
    pub(super) fn new(reduced: &'a Reduced, cap: usize, limit: Limit) -> Self {
        let problem = &reduced.problem;
        let cap = cap.min(problem.size());
        Search { reduced, problem, cap, asked: limit, limit: limit.inside() }
    }

    /// What unregularised predictors explain.
    pub(super) fn measure(&self, g: &Mat<f64>) -> Explained {
        let (y, s) = self.reduced.explained(g.as_ref());
        Explained { y: y.iter().sum(), s: s.iter().sum() }
    }

    /// The best encoder, or, if none meets the constraint, the most that can be explained.
    ///
    /// Aiming inside must not miss what meets the constraint up to rounding: where the front has
    /// steps, the next one may be far.
    pub(super) fn solve(&self) -> Result<std::result::Result<Found, Explained>> {
        let inside = self.search()?;
        if let Ok(found) = &inside
            && self.asked.slack(self.measure(&found.subspace)) <= TIGHT * self.asked.size()
        {
            return Ok(inside);
        }
        let at = Search { limit: self.asked.rounded(), ..*self };
        let Ok(at) = at.search()? else { return Ok(inside) };
        let slack = self.asked.slack(self.measure(&at.subspace));
        let meets = slack >= -self.rounding() * self.asked.size();
        let better = inside.as_ref().is_ok_and(|found| at.value > found.value);
        Ok(if meets && (better || inside.is_err()) { Ok(at) } else { inside })
    }

    fn search(&self) -> Result<std::result::Result<Found, Explained>> {
        match self.reduced.ridge > 0.0 {
            true => self.along_ridge(),
            false => self.along_problem(),
        }
    }

    /// With a ridge the encoders are those of the penalised problem and the losses are not: along
    /// λ they need not be monotone. So the whole path is looked at, and refined wherever the
    /// constraint turns.
    fn along_ridge(&self) -> Result<std::result::Result<Found, Explained>> {
        let mut best: Option<Found> = None;
        let mut most = Explained { y: 0.0, s: 0.0 };
        let mut consider = |found: Found| match &mut best {
            Some(best) => keep_better(best, found),
            None => best = Some(found),
        };
        let mut before: Option<(f64, bool)> = None;
        for lambda in super::lambdas(RIDGE_STEPS) {
            let found = self.theorem3(lambda)?;
            // At leakage 0 the slack of a perfect encoder is its rounding.
            let none = -END * self.limit.scale(self.problem);
            let e = self.measure(&found.subspace);
            let fits = self.slack(&found) >= none;
            if e.y > most.y {
                most = e;
            }
            if fits {
                consider(found);
            }
            if let Some((last, fitted)) = before.filter(|(_, fitted)| *fitted != fits) {
                let (inside, outside) = if fitted { (last, lambda) } else { (lambda, last) };
                let enough = self.limit.enough(self.problem);
                let slack = |lambda: f64| Ok(self.slack(&self.theorem3(lambda)?));
                let bracket = narrow(Bracket { inside, outside }, enough, slack)?;
                let turn = self.theorem3(bracket.inside)?;
                let (left, rank) = (self.slack(&turn), turn.subspace.ncols());
                consider(turn);
                if left > 10.0 * enough {
                    let beyond = self.theorem3(bracket.outside)?.subspace.ncols();
                    self.best_rank(rank, beyond)?.map(&mut consider);
                }
            }
            before = Some((lambda, fits));
        }
        match best {
            Some(best) => Ok(Ok(self.refined(best)?)),
            None => Ok(Err(most)),
        }
    }

    /// Looks closer and closer around the best λ of the path.
    fn refined(&self, mut best: Found) -> Result<Found> {
        let mut reach = 1.0 / (RIDGE_STEPS - 1) as f64;
        while best.method == Method::Spectral && reach > 1e-7 {
            let centre = best.lambda;
            for step in -4..=4 {
                let lambda = (centre + f64::from(step) * reach / 4.0).clamp(0.0, 1.0);
                let found = self.theorem3(lambda)?;
                if self.slack(&found) >= 0.0 {
                    keep_better(&mut best, found);
                }
            }
            reach /= 4.0;
        }
        Ok(best)
    }

    fn along_problem(&self) -> Result<std::result::Result<Found, Explained>> {
        let (easy, hard) = self.limit.ends();
        let free = self.theorem3(hard)?;
        if self.meets(&free) {
            return Ok(Ok(free));
        }
        let safe = self.theorem3(easy)?;
        let slack = self.slack(&safe);
        let scale = self.limit.scale(self.problem);
        let e = self.measure(&safe.subspace);
        if self.asked.slack(e) < -self.rounding() * scale {
            return Ok(Err(e));
        }
        if slack <= (END * scale).max(2.0 * self.limit.enough(self.problem)) {
            return Ok(Ok(safe));
        }
        let measure = |g: &Mat<f64>| self.measure(g);
        let bracket = along_front(self.problem, self.cap, self.limit, &measure)?;
        let mut best = self.theorem3(bracket.inside)?;
        if self.slack(&best) <= 10.0 * self.limit.enough(self.problem) {
            return Ok(Ok(best));
        }
        let beyond = self.theorem3(bracket.outside)?.subspace.ncols();
        if let Some(found) = self.best_rank(best.subspace.ncols(), beyond)? {
            keep_better(&mut best, found);
        }
        if self.reduced.has_spare()
            && let Some(found) = self.diluted(bracket.inside)?
        {
            keep_better(&mut best, found);
        }
        Ok(Ok(best))
    }

    /// Whether what was asked is met by more than the rounding of a share.
    fn meets(&self, found: &Found) -> bool {
        let slack = self.asked.slack(self.measure(&found.subspace));
        slack >= 4.0 * f64::EPSILON * self.asked.size()
    }

    /// The rounding of what is explained, as a share of it.
    fn rounding(&self) -> f64 {
        self.reduced.rounding()
    }

    fn slack(&self, found: &Found) -> f64 {
        self.limit.slack(self.measure(&found.subspace))
    }

    fn found(&self, subspace: Mat<f64>, lambda: f64, method: Method) -> Found {
        let value = self.limit.value(self.measure(&subspace));
        Found { subspace, lambda, method, value }
    }

    fn theorem3(&self, lambda: f64) -> Result<Found> {
        let g = self.problem.subspace(lambda, self.cap)?;
        Ok(self.found(g, lambda, Method::Spectral))
    }

    /// Climbs over the ranks, from those on either side of the jump.
    fn best_rank(&self, one: usize, other: usize) -> Result<Option<Found>> {
        let (low, high) = (one.min(other), one.max(other).min(self.cap));
        let mut best: Option<Found> = None;
        let mut better = |rank: usize| -> Result<bool> {
            let Some(found) = self.fixed_rank(rank)? else { return Ok(false) };
            let improves = best.as_ref().is_none_or(|b| found.value > b.value);
            if improves {
                best = Some(found);
            }
            Ok(improves)
        };
        for rank in low..=high {
            better(rank)?;
        }
        for rank in (0..low).rev() {
            if !better(rank)? {
                break;
            }
        }
        for rank in high + 1..=self.cap {
            if !better(rank)? {
                break;
            }
        }
        Ok(best)
    }

    /// The best of exactly `rank` directions, if any meet the constraint.
    fn fixed_rank(&self, rank: usize) -> Result<Option<Found>> {
        let lowest = |lambda: f64| -> Result<Mat<f64>> {
            let (_, vectors) = eigh(self.problem.b(lambda).as_ref())?;
            Ok(vectors.subcols(0, rank).to_owned())
        };
        let short = |end: f64| end.clamp(NEARLY, 1.0 - NEARLY);
        let (easy, hard) = self.limit.ends();
        let (inside, outside) = (short(easy), short(hard));
        let slack = |lambda: f64| Ok(self.limit.slack(self.measure(&lowest(lambda)?)));
        if slack(inside)? < 0.0 {
            return Ok(None);
        }
        if slack(outside)? >= 0.0 {
            return Ok(Some(self.found(lowest(outside)?, hard, Method::Rotated)));
        }
        let enough = self.limit.enough(self.problem);
        let bracket = narrow(Bracket { inside, outside }, enough, slack)?;
        let g = lowest(bracket.inside)?;
        let found = self.found(g, bracket.inside, Method::Rotated);
        if rank == 0 || self.slack(&found) <= 10.0 * enough {
            return Ok(Some(found));
        }
        let mut best = found;
        if let Some(rotated) = self.rotated(bracket.inside, rank)? {
            keep_better(&mut best, rotated);
        }
        Ok(Some(best))
    }

    /// Rotates inside the eigenspace that the boundary between the first `rank` eigenvalues and
    /// the rest cuts, until the constraint is met exactly.
    fn rotated(&self, lambda: f64, rank: usize) -> Result<Option<Found>> {
        let (values, vectors) = eigh(self.problem.b(lambda).as_ref())?;
        let (from, to) = eigenspace(&values, values[rank - 1], self.problem.spread(lambda));
        let (below, tied) = (vectors.subcols(0, from), vectors.subcols(from, to - from));
        let take = rank - from;
        let tied = self.ascending(tied)?;
        let along = |at: f64| beside(below, window(tied.as_ref(), take, at).as_ref());
        let slack = |at: f64| Ok(self.limit.slack(self.measure(&along(at))));
        let steps = (to - from - take) as f64;
        let (inside, outside) = match self.limit {
            Limit::Leak(_) => (0.0, steps),
            Limit::Keep(_) => (steps, 0.0),
        };
        if slack(inside)? < 0.0 {
            return Ok(None);
        }
        let at = match slack(outside)? >= 0.0 {
            true => outside,
            false => {
                let enough = self.limit.enough(self.problem);
                narrow(Bracket { inside, outside }, enough, slack)?.inside
            }
        };
        Ok(Some(self.found(along(at), lambda, Method::Rotated)))
    }

    /// An eigenspace's basis in ascending order of what the constraint counts.
    fn ascending(&self, tied: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let inner = congruence(tied, self.limit.matrix(self.problem).as_ref());
        let (_, order) = eigh(inner.as_ref())?;
        Ok(tied * order)
    }

    /// Takes of the crossing eigenspace as much as the constraint allows, the last direction in
    /// part. There `λ s(v) = (1−λ) y(v)`, so any part of it lies on the hull.
    fn diluted(&self, lambda: f64) -> Result<Option<Found>> {
        let (values, vectors) = eigh(self.problem.b(lambda).as_ref())?;
        let (from, to) = eigenspace(&values, 0.0, self.problem.spread(lambda));
        if from == to {
            return Ok(None);
        }
        let tied = self.ascending(vectors.subcols(from, to - from))?;
        let counted = |g: MatRef<'_, f64>| match self.limit {
            Limit::Leak(_) => self.problem.sensitive.explained(g),
            Limit::Keep(_) => self.problem.target.explained(g),
        };
        let wanted = match self.limit {
            Limit::Leak(most) => most,
            Limit::Keep(least) => least,
        };
        let mut taken = self.with_spare(vectors.subcols(0, from));
        let mut left = wanted - counted(vectors.subcols(0, from));
        for j in (0..tied.ncols()).rev() {
            if left <= 0.0 {
                break;
            }
            let direction = tied.subcols(j, 1);
            let counts = counted(direction);
            let share = (left / counts).min(1.0);
            let mut mixed = self.with_spare(direction) * faer::Scale(share.sqrt());
            mixed[(self.problem.size(), 0)] = (1.0 - share).sqrt();
            taken = beside(taken.as_ref(), mixed.as_ref());
            // A second share, of what rounding leaves, would give the spare direction away and
            // with it what it hides.
            if share < 1.0 {
                break;
            }
            left -= counts;
        }
        let found = self.found(taken, lambda, Method::Diluted);
        let scale = self.limit.scale(self.problem);
        let fits = found.subspace.ncols() <= self.cap && self.slack(&found) >= -ENOUGH * scale;
        Ok(fits.then_some(found))
    }

    /// The same directions with a coordinate for the spare one.
    fn with_spare(&self, g: MatRef<'_, f64>) -> Mat<f64> {
        let mut wide = Mat::zeros(g.nrows() + 1, g.ncols());
        wide.as_mut().subrows_mut(0, g.nrows()).copy_from(g);
        wide
    }
}

fn keep_better(best: &mut Found, other: Found) {
    if other.value > best.value {
        *best = other;
    }
}

/// The range of ascending eigenvalues that tie with `value`, relative to `size`: that of the parts
/// of `B`, because where both sides balance in every direction `B` itself is nothing but rounding.
fn eigenspace(values: &[f64], value: f64, size: f64) -> (usize, usize) {
    let near = |v: f64| (v - value).abs() <= tolerance::TIE * size;
    let from = values.iter().position(|&v| near(v)).unwrap_or(values.len());
    let to = values.iter().rposition(|&v| near(v)).map_or(from, |i| i + 1);
    (from, to)
}

/// `take` directions out of a basis in ascending order, moving with `at` from the first ones to
/// the last ones: between whole numbers the first of the window turns into the one after it.
fn window(basis: MatRef<'_, f64>, take: usize, at: f64) -> Mat<f64> {
    let last = basis.ncols() - take;
    let start = (at.floor() as usize).min(last);
    let angle = (at - start as f64).clamp(0.0, 1.0) * std::f64::consts::FRAC_PI_2;
    let mut g = basis.subcols(start, take).to_owned();
    if start < last && take > 0 {
        let (sine, cosine) = angle.sin_cos();
        for i in 0..g.nrows() {
            g[(i, 0)] = cosine * basis[(i, start)] + sine * basis[(i, start + take)];
        }
    }
    g
}
