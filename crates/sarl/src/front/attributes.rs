//! Figures of each label, in its own units.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::{Front, Goal};
use crate::Result;
use crate::moments::Role;
use crate::spectral::problem::{Half, Problem};

/// One label of a solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// The label's name.
    pub name: String,
    /// Mean squared error, summed over the label's columns, in its own units.
    pub loss: f64,
    /// Of a target, the share of what all the features give that is kept; of a sensitive label,
    /// the share of its variance that an adversary explains.
    pub share: f64,
    /// The share that was asked for, at least of a target, at most of a sensitive label.
    pub limit: Option<f64>,
}

/// The labels of a solution, on the training data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// The targets.
    pub target: Vec<Attribute>,
    /// The sensitive labels.
    pub sensitive: Vec<Attribute>,
}

/// One label on rows that the encoder was not fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLabel {
    /// The label's name.
    pub name: String,
    /// Mean squared error, summed over the label's columns, in its own units.
    pub loss: f64,
    /// The share kept or leaked, as in [`Attribute`], of what there is in all the data.
    pub share: f64,
}

/// The labels on rows that the encoder was not fitted on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLabels {
    /// The targets.
    pub target: Vec<HeldOutLabel>,
    /// The sensitive labels.
    pub sensitive: Vec<HeldOutLabel>,
}

impl HeldOutLabels {
    /// The loss and the share of a role's label, counted from 0.
    pub fn share(&self, role: Role, label: usize) -> Option<(f64, f64)> {
        let labels = match role {
            Role::Target => &self.target,
            Role::Sensitive => &self.sensitive,
        };
        labels.get(label).map(|l| (l.loss, l.share))
    }
}

/// What encoders can do about one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetBounds {
    /// The label's name.
    pub name: String,
    /// Its variance: the loss without any encoder.
    pub variance: f64,
    /// The least loss of any encoder, without a cap on dimensions.
    pub gamma_min: f64,
    /// The loss of the encoder that leaks nothing and keeps most of all targets together.
    pub gamma_max: f64,
}

/// What encoders can do about one sensitive label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitiveBounds {
    /// The label's name.
    pub name: String,
    /// Its variance: the loss of an adversary who knows nothing.
    pub alpha_max: f64,
    /// The adversary's loss at full utility.
    pub alpha_min: f64,
    /// The least loss of an adversary who has all the features.
    pub alpha_star_min: f64,
}

/// What encoders can do about each label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelBounds {
    /// The targets.
    pub target: Vec<TargetBounds>,
    /// The sensitive labels.
    pub sensitive: Vec<SensitiveBounds>,
}

impl Front<'_> {
    /// The figures of each label for an encoder that was meant for a goal.
    pub(crate) fn attributes(&self, goal: &Goal, g: &Mat<f64>) -> Attributes {
        let (y, s) = self.reduced.explained(g.as_ref());
        let problem = &self.reduced.problem;
        let labels = |half: &Half, role: Role, explained: &[f64], shares: Vec<f64>| {
            let shares = shares.into_iter().zip(losses(half, explained));
            let named = half.attributes.iter().zip(shares);
            let one = |(a, (share, loss)): (&crate::spectral::attribute::Attribute, (f64, f64))| {
                let limit = goal.limit_of(role, &a.name);
                let share = self.rounded(share, limit, role);
                Attribute { name: a.name.clone(), loss, share, limit }
            };
            named.map(one).collect()
        };
        let (kept, leaked) =
            (self.reduced.utilities(g.as_ref()), self.reduced.leakages(g.as_ref()));
        Attributes {
            target: labels(&problem.target, Role::Target, &y, kept),
            sensitive: labels(&problem.sensitive, Role::Sensitive, &s, leaked),
        }
    }

    /// A share that misses its limit by no more than the rounding of its own computation is the
    /// limit: steps of the front are met there.
    fn rounded(&self, share: f64, limit: Option<f64>, role: Role) -> f64 {
        let Some(limit) = limit else { return share };
        let missed = match role {
            Role::Target => limit - share,
            Role::Sensitive => share - limit,
        };
        let rounding = self.reduced.rounding() * limit;
        if missed > 0.0 && missed <= rounding { limit } else { share }
    }

    /// What encoders can do about each label, in its own units.
    pub fn label_bounds(&self) -> Result<LabelBounds> {
        let exact: &Problem = self.reduced.exact();
        let (y, s) = (&exact.target, &exact.sensitive);
        let at = |lambda: f64| exact.subspace(lambda, self.cap);
        let (useful, blind) = (at(0.0)?, at(1.0)?);
        let left = |half: &Half, g: MatRef<'_, f64>| losses(half, &half.explained_each(g));
        let least = |half: &Half| losses(half, &half.attainable_each());
        let kept = least(y).into_iter().zip(left(y, blind.as_ref()));
        let leaked = least(s).into_iter().zip(left(s, useful.as_ref()));
        let target = y.attributes.iter().zip(kept).map(|(a, (gamma_min, gamma_max))| {
            let variance = a.scale * a.variance;
            TargetBounds { name: a.name.clone(), variance, gamma_min, gamma_max }
        });
        let sensitive = s.attributes.iter().zip(leaked).map(|(a, (alpha_star_min, alpha_min))| {
            let alpha_max = a.scale * a.variance;
            SensitiveBounds { name: a.name.clone(), alpha_max, alpha_min, alpha_star_min }
        });
        Ok(LabelBounds { target: target.collect(), sensitive: sensitive.collect() })
    }
}

/// What is left of each label's variance, in its own units.
fn losses(half: &Half, explained: &[f64]) -> Vec<f64> {
    let left = half.attributes.iter().zip(explained);
    // Rounding must not make a loss negative.
    left.map(|(a, e)| a.scale * (a.variance - e).max(0.0)).collect()
}
