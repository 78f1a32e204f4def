//! Constraints in explained variance, and the bound that weak duality sets.
//!
//! With `y(G) = tr GᵀAyG` and `s(G) = tr GᵀAsG`, for every encoder and any λ
//!
//! ```text
//! y ≤ [ λ c − Σ_{β<0} β(λ) ] / (1−λ)          s ≥ [ (1−λ) b + Σ_{β<0} β(λ) ] / λ
//! ```
//!
//! when `s ≤ c`, respectively `y ≥ b`.

use faer::{Mat, MatRef};

use super::root::{Bracket, narrow};
use crate::Result;
use crate::spectral::problem::Problem;

/// A constraint in explained variance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// At most this much of the sensitive variance explained; the target as much as can be.
    Leak(f64),
    /// At least this much of the target's variance explained; the sensitive as little as can be.
    Keep(f64),
}

/// Explained variances of target and sensitive attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explained {
    pub(super) y: f64,
    pub(super) s: f64,
}

impl Limit {
    /// How far the constraint is from being violated.
    pub(super) fn slack(self, e: Explained) -> f64 {
        match self {
            Limit::Leak(most) => most - e.s,
            Limit::Keep(least) => e.y - least,
        }
    }

    /// The constraint a hair inside of itself: what is reported must meet it after all rounding.
    pub(super) fn inside(self) -> Self {
        match self {
            Limit::Leak(most) => Limit::Leak(most * (1.0 - HAIR)),
            Limit::Keep(least) => Limit::Keep(least * (1.0 + HAIR)),
        }
    }

    /// The constraint up to rounding: what meets it to 1e-13 of itself meets it.
    pub(super) fn rounded(self) -> Self {
        match self {
            Limit::Leak(most) => Limit::Leak(most * (1.0 + ENOUGH)),
            Limit::Keep(least) => Limit::Keep(least * (1.0 - ENOUGH)),
        }
    }

    /// What is allowed, or required.
    pub(super) fn size(self) -> f64 {
        match self {
            Limit::Leak(size) | Limit::Keep(size) => size,
        }
    }

    /// What is maximised.
    pub(super) fn value(self, e: Explained) -> f64 {
        match self {
            Limit::Leak(_) => e.y,
            Limit::Keep(_) => -e.s,
        }
    }

    /// λ at the end where the constraint holds most easily, then the other.
    pub(super) fn ends(self) -> (f64, f64) {
        match self {
            Limit::Leak(_) => (1.0, 0.0),
            Limit::Keep(_) => (0.0, 1.0),
        }
    }

    /// The size that slack is measured against.
    pub(super) fn scale(self, problem: &Problem) -> f64 {
        match self {
            Limit::Leak(_) => problem.sensitive.total(),
            Limit::Keep(_) => problem.target.total(),
        }
    }

    /// Slack below this is none: relative to what is asked, because near leakage 0 the target
    /// gains with the root of the leakage.
    pub(super) fn enough(self, problem: &Problem) -> f64 {
        match self {
            Limit::Leak(most) => ENOUGH * most.min(problem.sensitive.total()),
            Limit::Keep(_) => ENOUGH * problem.target.total(),
        }
    }

    pub(super) fn matrix(self, problem: &Problem) -> &Mat<f64> {
        match self {
            Limit::Leak(_) => &problem.sensitive.a,
            Limit::Keep(_) => &problem.target.a,
        }
    }
}

/// How far inside a constraint to aim, as a share of it.
const HAIR: f64 = 1e-12;
/// Slack below this share of the variance is none.
pub(super) const ENOUGH: f64 = 1e-13;
/// A constraint this near to its end is at its end; see [`Limit::ends`].
pub(super) const END: f64 = 1e-20;
/// The best value that weak duality allows: most `y`, or least `s` (negated).
pub(super) fn dual(problem: &Problem, cap: usize, limit: Limit) -> Result<f64> {
    let measure = |g: &Mat<f64>| explained(problem, g.as_ref());
    let (easy, hard) = limit.ends();
    for end in [hard, easy] {
        let e = measure(&problem.subspace(end, cap)?);
        let slack = limit.slack(e);
        let touches = end == easy && slack <= END * limit.scale(problem);
        if (end == hard && slack >= 0.0) || touches {
            return Ok(limit.value(e));
        }
    }
    let bracket = along_front(problem, cap, limit, &measure)?;
    let at = |lambda: f64| -> Result<f64> {
        let e = measure(&problem.subspace(lambda, cap)?);
        // In explained variance itself: the weights of unit variances over those variances.
        let (y, s) = ((1.0 - lambda) / problem.target.total(), lambda / problem.sensitive.total());
        Ok(match limit {
            Limit::Leak(c) if y > 0.0 => e.y + s * (c - e.s) / y,
            Limit::Keep(b) if s > 0.0 => -(e.s + y * (b - e.y) / s),
            _ => f64::INFINITY,
        })
    };
    Ok(at(bracket.inside)?.min(at(bracket.outside)?))
}

fn explained(problem: &Problem, g: MatRef<'_, f64>) -> Explained {
    Explained { y: problem.target.explained(g), s: problem.sensitive.explained(g) }
}

/// The λ at which the constraint turns, along Theorem 3.
pub(super) fn along_front(
    problem: &Problem,
    cap: usize,
    limit: Limit,
    measure: &dyn Fn(&Mat<f64>) -> Explained,
) -> Result<Bracket> {
    let (inside, outside) = limit.ends();
    narrow(Bracket { inside, outside }, limit.enough(problem), |lambda| {
        Ok(limit.slack(measure(&problem.subspace(lambda, cap)?)))
    })
}
