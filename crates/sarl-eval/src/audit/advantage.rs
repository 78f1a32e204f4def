//! How much more a probe tells than guessing does, between 0 (guessing) and 1 (everything).
//!
//! ```text
//! class, k classes among the test rows    (balanced accuracy − 1/k) / (1 − 1/k)
//! class, k = 2                            2 AUC − 1
//! number                                  R²
//! ```
//!
//! Balanced accuracy and AUC do not depend on how frequent a class is, so that a rare group cannot
//! hide: guessing the majority has none of either.

use serde::Serialize;

use super::Trial;
use crate::intervals;
use crate::metrics::Area;

/// The chance that an interval misses.
pub const LEVEL: f64 = 0.05;

/// What an advantage was measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Measure {
    /// The mean over classes of the share told rightly, at even odds.
    #[serde(rename = "balanced_accuracy")]
    Balanced,
    /// The area under the ROC curve.
    #[serde(rename = "auc")]
    Area,
    /// The share of the variance that is explained.
    #[serde(rename = "r2")]
    Explained,
}

/// One figure of one probe, with what its interval needs; means over seeds.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// For each class among the test rows, the share told rightly and its rows.
    Balanced(Vec<(f64, usize)>),
    /// Of two classes.
    Area(Area),
    /// Of a number.
    Explained {
        /// The share of the variance that is explained.
        r2: f64,
        /// Its standard error.
        error: f64,
    },
}

impl Evidence {
    fn measure(&self) -> Measure {
        match self {
            Evidence::Balanced(_) => Measure::Balanced,
            Evidence::Area(_) => Measure::Area,
            Evidence::Explained { .. } => Measure::Explained,
        }
    }

    /// As an advantage.
    pub fn value(&self) -> f64 {
        match self {
            Evidence::Balanced(shares) => {
                let k = shares.len() as f64;
                even(shares.iter().map(|s| s.0).sum::<f64>() / k, shares.len())
            }
            Evidence::Area(area) => even(area.value, 2),
            Evidence::Explained { r2, .. } => *r2,
        }
    }

    /// The interval of the advantage.
    fn limits(&self, level: f64) -> [f64; 2] {
        match self {
            Evidence::Balanced(shares) => {
                intervals::mean_share(shares, level).map(|v| even(v, shares.len()))
            }
            Evidence::Area(area) => {
                intervals::area(area.value, area.rows, area.variance, level).map(|v| even(v, 2))
            }
            Evidence::Explained { r2, error } => intervals::explained(*r2, *error, level),
        }
    }
}

/// The advantage of a figure that guessing among `classes` makes one over their number.
fn even(value: f64, classes: usize) -> f64 {
    let chance = 1.0 / classes as f64;
    // Of a single class nothing can be told that is not known.
    if classes < 2 { 0.0 } else { (value - chance) / (1.0 - chance) }
}

/// The worst case over probes and measures.
#[derive(Clone, Debug, Serialize)]
pub struct Advantage {
    /// The probe that has most of it.
    pub probe: String,
    /// By which measure.
    pub measure: Measure,
    /// How much.
    pub value: f64,
    /// Its 95 % interval: those of all `tries` hold together, and this is from the largest of their
    /// lower ends to the largest of their upper ends.
    pub ci: [f64; 2],
    /// Probes times measures.
    pub tries: usize,
}

impl Advantage {
    /// None if there is no trial.
    pub fn worst(trials: &[Trial]) -> Option<Self> {
        let all: Vec<(&Trial, &Evidence)> =
            trials.iter().flat_map(|t| t.evidence.iter().map(move |e| (t, e))).collect();
        let tries = all.len();
        let (trial, evidence) =
            all.iter().max_by(|a, b| a.1.value().total_cmp(&b.1.value())).copied()?;
        let limits = all.iter().map(|(_, e)| e.limits(LEVEL / tries as f64));
        let ci = limits.fold([f64::NEG_INFINITY; 2], |m, l| [m[0].max(l[0]), m[1].max(l[1])]);
        let (probe, measure, value) = (trial.probe.clone(), evidence.measure(), evidence.value());
        Some(Advantage { probe, measure, value, ci, tries })
    }

    /// Whether it is more than guessing beyond its interval.
    pub fn is_certain(&self) -> bool {
        self.ci[0] > 0.0
    }
}
