//! What to aim for, and what was found.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::limit::Limit;
use crate::spectral::Losses;
use crate::{Error, Result, tolerance};

/// The trade-off that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The weight of the adversary in `(1−λ) Jy − λ Js`, 0 to 1; both ends are limits.
    Lambda(f64),
    /// The least target loss with an adversary loss of at least this.
    Alpha(f64),
    /// The least target loss with at most this share of the sensitive variance explained, 0 to 1.
    Leakage(f64),
    /// The least leakage that keeps this share of the attainable, 0 to 1.
    Utility(f64),
}

impl Goal {
    /// The name and the value, for messages.
    pub fn parts(self) -> (&'static str, f64) {
        match self {
            Goal::Lambda(value) => ("lambda", value),
            Goal::Alpha(value) => ("alpha", value),
            Goal::Leakage(value) => ("leakage", value),
            Goal::Utility(value) => ("utility", value),
        }
    }

    /// Whether the value is one that can be asked for at all.
    pub fn check(self) -> Result<()> {
        let (name, value) = self.parts();
        let unit = (0.0..=1.0).contains(&value);
        match self {
            Goal::Alpha(_) if value.is_finite() => Ok(()),
            Goal::Alpha(_) => {
                Err(Error::Argument { name, value, expected: "expected a finite number" })
            }
            _ if unit => Ok(()),
            _ => Err(Error::Argument { name, value, expected: "expected 0 to 1" }),
        }
    }

    /// The constraint that this goal is, if it is one.
    pub(super) fn limit(self, bounds: &Bounds) -> Result<Option<Limit>> {
        self.check()?;
        let most = |leak: f64| Ok(Some(Limit::Leak(leak.max(0.0))));
        match self {
            Goal::Lambda(_) => Ok(None),
            Goal::Alpha(alpha) if alpha > bounds.alpha_max * (1.0 + tolerance::REACH) => {
                let (low, high) = (bounds.alpha_min, bounds.alpha_max);
                Err(Error::Unreachable { goal: "alpha", asked: alpha, low, high })
            }
            Goal::Alpha(alpha) => most(bounds.alpha_max - alpha),
            Goal::Leakage(share) => most(share * bounds.alpha_max),
            Goal::Utility(share) => {
                let loss = bounds.loss_of_utility(share);
                Ok(Some(Limit::Keep(bounds.target_variance - loss)))
            }
        }
    }

    /// The same goal for another sample of the same population: absolute losses become shares.
    pub(super) fn as_share(self, bounds: &Bounds) -> Goal {
        match self {
            Goal::Alpha(alpha) => Goal::Leakage(bounds.leakage(alpha).clamp(0.0, 1.0)),
            other => other,
        }
    }
}

/// How the solution was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Theorem 3 at λ.
    Spectral,
    /// The goal lies inside a jump of the front: a rotation between directions of equal worth.
    Rotated,
    /// The goal lies inside a jump: a direction mixed with one that neither label knows.
    Diluted,
}

/// Proof of how near the optimum is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// No encoder does better than this: the least target loss for the leakage reached, or, for
    /// [`Goal::Utility`], the greatest adversary loss for the utility asked.
    pub dual_bound: f64,
    /// The distance of the solution from the bound.
    pub gap: f64,
}

/// A point of the front.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The weight of the adversary.
    pub lambda: f64,
    /// The dimensions of z.
    pub dim: usize,
    /// The losses on the training data.
    #[serde(flatten)]
    pub losses: Losses,
    /// The share of the attainable that the target keeps.
    pub utility: f64,
    /// The share of the sensitive variance that an adversary explains.
    pub leakage: f64,
}

/// The encoder that meets a goal, in the coordinates of the reduced problem.
#[derive(Clone, Debug)]
pub struct Solution {
    /// What was asked.
    pub goal: Goal,
    /// Where it lies; inside a jump, the λ of the jump.
    pub point: Point,
    /// How near it is to the best.
    pub certificate: Certificate,
    /// How it was reached.
    pub method: Method,
    /// Orthonormal, as many rows as the reduced problem has directions.
    pub(crate) subspace: Mat<f64>,
}
