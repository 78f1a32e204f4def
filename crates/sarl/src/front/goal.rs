//! What to aim for, and what was found.

use std::collections::BTreeMap;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::limit::Limit;
use super::several::{Limited, Limits};
use crate::moments::Role;
use crate::spectral::Losses;
use crate::spectral::problem::{Half, Problem};
use crate::{Error, Result, tolerance};

/// Limits of labels, by name.
pub type NamedLimits = BTreeMap<String, f64>;

/// The trade-off that is wanted.
///
/// With several sensitive labels or several targets a share is that of each: no label may leak
/// more, every target keeps as much. [`Goal::LeakageOf`] and [`Goal::UtilityOf`] give the labels
/// that they name limits of their own, and the others none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The weight of the adversary in `(1−λ) Jy − λ Js`, 0 to 1; both ends are limits.
    Lambda(f64),
    /// The least target loss with an adversary loss of at least this.
    Alpha(f64),
    /// The least target loss with at most this share of each sensitive label's variance
    /// explained, 0 to 1.
    Leakage(f64),
    /// The same with a share for each sensitive label that is named.
    LeakageOf(NamedLimits),
    /// The least leakage that keeps this share of what all the features give of each target,
    /// 0 to 1.
    Utility(f64),
    /// The same with a share for each target that is named.
    UtilityOf(NamedLimits),
}

/// What shares are of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) alpha_min: f64,
    pub(super) alpha_max: f64,
    /// What all the features explain of the target.
    pub(super) attainable: f64,
}

impl Reach {
    /// The share of what can be kept that this is.
    pub(super) fn kept(&self, explained: f64) -> f64 {
        if self.attainable > 0.0 { explained / self.attainable } else { 1.0 }
    }
}

/// A goal as the solver takes it.
pub(super) enum Aim {
    /// Theorem 3 at λ.
    Lambda(f64),
    /// One constraint on all that is explained of a side.
    One(Limit),
    /// A constraint on each of several labels of a side.
    Each(Limits),
}

impl Goal {
    /// What it limits, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Goal::Lambda(_) => "lambda",
            Goal::Alpha(_) => "alpha",
            Goal::Leakage(_) | Goal::LeakageOf(_) => "leakage",
            Goal::Utility(_) | Goal::UtilityOf(_) => "utility",
        }
    }

    /// The values, one or one for each name.
    fn values(&self) -> Vec<f64> {
        match self {
            Goal::Lambda(v) | Goal::Alpha(v) | Goal::Leakage(v) | Goal::Utility(v) => vec![*v],
            Goal::LeakageOf(named) | Goal::UtilityOf(named) => named.values().copied().collect(),
        }
    }

    /// The value that is hardest to meet, for messages.
    pub(super) fn hardest(&self) -> f64 {
        let values = self.values().into_iter();
        match self {
            Goal::LeakageOf(_) => values.fold(1.0, f64::min),
            _ => values.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Whether the value is one that can be asked for at all.
    pub fn check(&self) -> Result<()> {
        let name = self.name();
        let values = self.values();
        if values.is_empty() {
            let expected = "expected at least one";
            return Err(Error::Argument { name: "the number of limits", value: 0.0, expected });
        }
        let unit = |value: &f64| (0.0..=1.0).contains(value);
        let (bad, expected) = match self {
            Goal::Alpha(_) => (values.iter().find(|v| !v.is_finite()), "expected a finite number"),
            _ => (values.iter().find(|v| !unit(v)), "expected 0 to 1"),
        };
        match bad {
            None => Ok(()),
            Some(&value) => Err(Error::Argument { name, value, expected }),
        }
    }

    /// What the solver has to do.
    pub(super) fn aim(&self, problem: &Problem, bounds: &Reach) -> Result<Aim> {
        self.check()?;
        let most = |leak: f64| Aim::One(Limit::Leak(leak.max(0.0)));
        Ok(match self {
            Goal::Lambda(lambda) => Aim::Lambda(*lambda),
            Goal::Alpha(alpha) if *alpha > bounds.alpha_max * (1.0 + tolerance::REACH) => {
                let (low, high) = (bounds.alpha_min, bounds.alpha_max);
                return Err(Error::Unreachable { goal: "alpha", asked: *alpha, low, high });
            }
            Goal::Alpha(alpha) => most(bounds.alpha_max - alpha),
            Goal::Leakage(_) | Goal::LeakageOf(_) => {
                let shares = self.shares(&problem.sensitive, "sensitive attribute")?;
                match shares.as_slice() {
                    [Some(share)] => most(share * bounds.alpha_max),
                    _ => Aim::Each(Limits { side: Limited::Sensitive, shares }),
                }
            }
            Goal::Utility(_) | Goal::UtilityOf(_) => {
                let shares = self.shares(&problem.target, "target")?;
                match shares.as_slice() {
                    [Some(share)] => Aim::One(Limit::Keep(share * bounds.attainable)),
                    _ => Aim::Each(Limits { side: Limited::Target, shares }),
                }
            }
        })
    }

    /// Whether it is a share of what all the features give.
    pub(super) fn is_of_all(&self) -> bool {
        matches!(self, Goal::Utility(_) | Goal::UtilityOf(_))
    }

    /// The limit of each label of a side.
    fn shares(&self, half: &Half, role: &'static str) -> Result<Vec<Option<f64>>> {
        let labels = || half.attributes.iter();
        let (Goal::LeakageOf(named) | Goal::UtilityOf(named)) = self else {
            return Ok(labels().map(|_| Some(self.hardest())).collect());
        };
        if let Some(name) = named.keys().find(|name| labels().all(|a| a.name != **name)) {
            let known = labels().map(|a| a.name.clone()).collect();
            return Err(Error::UnknownLabel { role, name: name.clone(), known });
        }
        Ok(labels().map(|a| named.get(&a.name).copied()).collect())
    }

    /// The limit that this goal sets for a label, if it does.
    pub fn limit_of(&self, role: Role, name: &str) -> Option<f64> {
        match (self, role) {
            (Goal::Leakage(share), Role::Sensitive) | (Goal::Utility(share), Role::Target) => {
                Some(*share)
            }
            (Goal::LeakageOf(named), Role::Sensitive) | (Goal::UtilityOf(named), Role::Target) => {
                named.get(name).copied()
            }
            _ => None,
        }
    }

    /// The same goal for another sample of the same population: absolute losses become shares.
    /// With several labels the losses are sums of shares already.
    pub(super) fn as_share(&self, problem: &Problem, bounds: &Bounds) -> Goal {
        match self {
            Goal::Alpha(alpha) if problem.sensitive.attributes.len() == 1 => {
                Goal::Leakage(bounds.leakage(*alpha).clamp(0.0, 1.0))
            }
            other => other.clone(),
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// No encoder does better than this: the least target loss for the leakage reached, or, for
    /// [`Goal::Utility`], the greatest adversary loss for the utility asked.
    pub dual_bound: f64,
    /// The distance of the solution from the bound.
    pub gap: f64,
    /// With several limits, the multiplier of each label of the limited side, in order: how much
    /// of the sum on the other side a little more of its share would gain. Weak duality makes
    /// the bound of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub multipliers: Vec<f64>,
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
    /// The share of what all the features give that the target keeps; with several targets the
    /// least of their shares.
    pub utility: f64,
    /// The share of the sensitive variance that an adversary explains; with several attributes
    /// the largest of their shares.
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
