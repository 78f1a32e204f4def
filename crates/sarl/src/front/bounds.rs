//! What any encoder could achieve.
//!
//! ```text
//! γ_min = min Jy              reached as λ → 0        α_max = max Js             the loss without z
//! γ_max = min Jy, Js = α_max  reached as λ → 1        α_min = max Js, Jy = γ_min reached as λ → 0
//! ᾱ_min = min Js, Jy = γ_min                          α*_min = min Js
//! ```
//!
//! All six are over encoders with at most r dimensions, the cap that was asked for; without one
//! (or with r at least the rank of the target) they are the paper's Lemma 4.

use serde::{Deserialize, Serialize};

use super::goal::Reach;
use crate::Result;
use crate::spectral::Losses;
use crate::spectral::linalg::{congruence, eigh, squares};
use crate::spectral::problem::Problem;

/// The six bounds; see the module. Mean squared errors, summed over label columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The least target loss of any encoder.
    pub gamma_min: f64,
    /// The least target loss of an encoder that leaks nothing.
    pub gamma_max: f64,
    /// The greatest adversary loss among encoders of target loss `gamma_min`.
    pub alpha_min: f64,
    /// The greatest adversary loss of any encoder: it knows nothing but the mean.
    pub alpha_max: f64,
    /// The least adversary loss among encoders of target loss `gamma_min`.
    pub alpha_bar_min: f64,
    /// The least adversary loss of any encoder.
    pub alpha_star_min: f64,
    /// The target loss without any encoder: its variance.
    pub target_variance: f64,
    /// The part of that variance that all the features explain, without a cap on dimensions:
    /// what utility is a share of.
    #[serde(default)]
    pub attainable: f64,
}

impl Bounds {
    pub(crate) fn new(problem: &Problem, cap: usize) -> Result<Self> {
        let (y, s) = (&problem.target, &problem.sensitive);
        let (ty, ts) = (y.total(), s.total());
        let (useful, blind) = (problem.subspace(0.0, cap)?, problem.subspace(1.0, cap)?);
        // Rounding must not make a loss negative.
        let left = |total: f64, explained: f64| (total - explained).max(0.0);
        let alpha_min = left(ts, s.explained(useful.as_ref()));
        let more = cap.saturating_sub(y.rank);
        let worst = left(ts, s.explained(problem.most_useful_and_telling(cap)?.as_ref()));
        Ok(Bounds {
            gamma_min: left(ty, y.explained(useful.as_ref())),
            gamma_max: left(ty, y.explained(blind.as_ref())),
            alpha_min,
            alpha_max: ts,
            alpha_bar_min: left(worst, largest(&congruence(y.null(), s.a.as_ref()), more)?),
            alpha_star_min: left(ts, largest(&s.a, cap)?),
            target_variance: ty,
            attainable: squares(y.cross.as_ref()) + y.beyond,
        })
    }

    pub(super) fn reach(&self) -> Reach {
        let Bounds { alpha_min, alpha_max, attainable, .. } = *self;
        Reach { alpha_min, alpha_max, attainable }
    }

    /// All of them, for comparing.
    pub(crate) fn figures(&self) -> [f64; 8] {
        [
            self.gamma_min,
            self.gamma_max,
            self.alpha_min,
            self.alpha_max,
            self.alpha_bar_min,
            self.alpha_star_min,
            self.target_variance,
            self.attainable,
        ]
    }

    /// The share of the sensitive variance that the best linear adversary explains, 0 to 1. With
    /// several attributes, the mean of their shares.
    pub fn leakage(&self, js: f64) -> f64 {
        1.0 - js / self.alpha_max
    }

    /// The share of what all the features give that the target keeps, 0 to 1. With several
    /// targets, that of their sum.
    pub fn utility(&self, jy: f64) -> f64 {
        match self.attainable > 0.0 {
            true => (self.target_variance - jy) / self.attainable,
            false => 1.0,
        }
    }

    /// Whether losses respect the bounds that hold for every encoder, up to `slack`.
    pub fn admit(&self, losses: Losses, slack: f64) -> bool {
        losses.jy >= self.gamma_min - slack
            && losses.js >= self.alpha_star_min - slack
            && losses.js <= self.alpha_max + slack
    }
}

/// The sum of the `count` largest eigenvalues.
fn largest(a: &faer::Mat<f64>, count: usize) -> Result<f64> {
    if count == 0 || a.nrows() == 0 {
        return Ok(0.0);
    }
    if count >= a.nrows() {
        return Ok((0..a.nrows()).map(|i| a[(i, i)]).sum());
    }
    let (values, _) = eigh(a.as_ref())?;
    Ok(values.iter().rev().take(count).sum())
}
