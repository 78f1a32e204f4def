//! What is asked of cells.

use serde::{Deserialize, Serialize};

use crate::front::NamedLimits;
use crate::moments::{Label, Role};
use crate::{Error, Result};

/// What of an adversary is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adversary {
    /// How far its balanced accuracy is above guessing, 0 to 1.
    Advantage,
    /// Its accuracy.
    Accuracy,
}

/// What of a target is kept, where it has classes. Of numbers it is always the variance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellUtility {
    /// The accuracy of the best prediction from cells. As many cells as classes are enough.
    #[default]
    Accuracy,
    /// The share of variance that cells explain: more cells keep how likely each class is.
    Variance,
}

/// Limits of each sensitive attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limits {
    /// The same for each.
    Each(f64),
    /// For those that are named; the others have none.
    Named(NamedLimits),
}

/// The most utility with certified limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellGoal {
    /// What is limited.
    pub adversary: Adversary,
    /// By how much.
    pub limits: Limits,
    /// What is kept.
    #[serde(default)]
    pub utility: CellUtility,
    /// How sure the certificate is, for example 0.95.
    pub confidence: f64,
    /// The most cells that there may be.
    pub cells: usize,
}

/// More cells than this are not searched for.
pub const MOST_CELLS: usize = 32;

impl CellGoal {
    /// Whether it can be asked for.
    pub fn check(&self) -> Result<()> {
        let argument = |name, value, expected| Err(Error::Argument { name, value, expected });
        let values = match &self.limits {
            Limits::Each(value) => vec![*value],
            Limits::Named(named) => named.values().copied().collect(),
        };
        let name = self.name();
        if let Some(&value) = values.iter().find(|v| !(0.0..=1.0).contains(*v)) {
            return argument(name, value, "expected 0 to 1");
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return argument("confidence", self.confidence, "expected above 0, below 1");
        }
        if !(2..=MOST_CELLS).contains(&self.cells) {
            return argument("cells", self.cells as f64, "expected 2 to 32");
        }
        Ok(())
    }

    /// What is limited, for messages.
    pub fn name(&self) -> &'static str {
        match self.adversary {
            Adversary::Advantage => "advantage",
            Adversary::Accuracy => "adversary accuracy",
        }
    }

    /// Whether there is a sensitive label of each name that has a limit.
    pub fn check_names(&self, labels: &[Label]) -> Result<()> {
        let Limits::Named(named) = &self.limits else { return Ok(()) };
        let hidden = labels.iter().filter(|l| l.role == Role::Sensitive);
        let known: Vec<String> = hidden.map(|l| l.name.clone()).collect();
        match named.keys().find(|name| !known.contains(name)) {
            Some(name) => {
                let role = "sensitive attribute";
                Err(Error::UnknownLabel { role, name: name.clone(), known })
            }
            None => Ok(()),
        }
    }

    /// The figure that is limited.
    pub fn figure(&self, figures: &super::Figures) -> f64 {
        match self.adversary {
            Adversary::Advantage => figures.advantage,
            Adversary::Accuracy => figures.accuracy,
        }
    }

    /// The limit of an attribute.
    pub fn limit(&self, name: &str) -> f64 {
        match &self.limits {
            Limits::Each(limit) => *limit,
            Limits::Named(named) => named.get(name).copied().unwrap_or(1.0),
        }
    }
}
