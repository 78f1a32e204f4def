//! What a probe is asked, and what it answers.

use faer::{Mat, MatRef};

use crate::error::{Error, Result};
use crate::metrics::decide;

/// An attribute of each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// A class.
    Classes {
        /// A code for each row, less than `count`.
        codes: Vec<u32>,
        /// The number of classes.
        count: usize,
    },
    /// A number.
    Numbers(Vec<f64>),
}

impl Labels {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Labels::Classes { codes, .. } => codes.len(),
            Labels::Numbers(values) => values.len(),
        }
    }

    /// The number of classes, of a class.
    pub fn classes(&self) -> Option<usize> {
        match self {
            Labels::Classes { count, .. } => Some(*count),
            Labels::Numbers(_) => None,
        }
    }

    /// Every code is one of a class, every number finite.
    pub fn check(&self) -> Result<()> {
        match self {
            Labels::Classes { codes, count } => {
                let wrong = codes.iter().find(|&&c| c as usize >= *count);
                wrong.map_or(Ok(()), |&code| Err(Error::Code { code, classes: *count }))
            }
            Labels::Numbers(values) => {
                let wrong = values.iter().position(|v| !v.is_finite());
                wrong.map_or(Ok(()), |row| Err(Error::NotFinite { row }))
            }
        }
    }

    /// Some of the rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Labels::Classes { codes, count } => {
                Labels::Classes { codes: rows.iter().map(|&i| codes[i]).collect(), count: *count }
            }
            Labels::Numbers(values) => Labels::Numbers(rows.iter().map(|&i| values[i]).collect()),
        }
    }
}

/// An attribute to be learnt from rows and told for other rows.
///
/// The columns of `train` have mean 0 and variance 1, those of `test` the same scale.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The rows to learn from, a row for each sample.
    pub train: MatRef<'a, f64>,
    /// The attribute of these rows.
    pub labels: &'a Labels,
    /// The rows to tell the attribute for.
    pub test: MatRef<'a, f64>,
    /// The spread that each column had before it was scaled: distances may be better told in the
    /// columns' own units. Empty if it is not known.
    pub spreads: &'a [f64],
    /// The seed of everything random.
    pub seed: u64,
    /// Asked now and then; the probe gives up with [`Error::Interrupted`](crate::Error::Interrupted)
    /// when it says so.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// What a probe says about the test rows.
#[derive(Clone, Debug)]
pub enum Prediction {
    /// A column for each class with an estimate of its probability, which need not lie in 0 to 1.
    Shares(Mat<f64>),
    /// A column for each class with the logarithm of its probability, up to a number for each row.
    Logits(Mat<f64>),
    /// A number for each row.
    Numbers(Vec<f64>),
}

impl Prediction {
    /// The class that the probe believes in.
    pub fn likely(&self) -> Vec<u32> {
        match self {
            Prediction::Shares(scores) | Prediction::Logits(scores) => decide(scores.as_ref()),
            Prediction::Numbers(_) => Vec::new(),
        }
    }

    /// The class that the row speaks for most, had all classes of the training rows been equally
    /// frequent: the decision for balanced accuracy, which a rare class can win.
    pub fn at_even_odds(&self, shares: &[f64]) -> Vec<u32> {
        let even = |scores: &Mat<f64>, of: &dyn Fn(f64, f64) -> f64| {
            let cell = |i: usize, j: usize| match shares[j] > 0.0 {
                true => of(scores[(i, j)], shares[j]),
                // What was never seen is never told.
                false => f64::NEG_INFINITY,
            };
            decide(Mat::from_fn(scores.nrows(), scores.ncols(), cell).as_ref())
        };
        match self {
            Prediction::Shares(scores) => even(scores, &|p, share| p / share),
            Prediction::Logits(scores) => even(scores, &|l, share| l - share.ln()),
            Prediction::Numbers(_) => Vec::new(),
        }
    }

    /// A column for each class, larger for rows that are more likely in it.
    pub fn scores(&self) -> Option<MatRef<'_, f64>> {
        match self {
            Prediction::Shares(scores) | Prediction::Logits(scores) => Some(scores.as_ref()),
            Prediction::Numbers(_) => None,
        }
    }
}

/// A learner that stands for an adversary, or for an honest user of the representation.
pub trait Probe: Sync {
    /// Its name in tables, JSON and options.
    fn name(&self) -> &str;

    /// What it is, in a line.
    fn description(&self) -> &str;

    /// Whether the seed changes what it says by more than a detail.
    fn is_random(&self) -> bool;

    /// How many of so many seeds are worth a run on so many rows.
    fn runs(&self, rows: usize, seeds: usize) -> usize {
        let _ = rows;
        if self.is_random() { seeds } else { seeds.min(1) }
    }

    /// Whether it can learn an attribute of this kind.
    fn learns(&self, labels: &Labels) -> bool {
        let _ = labels;
        true
    }

    /// Learns from the training rows and tells the attribute of the test rows.
    fn predict(&self, task: &Task<'_>) -> Result<Prediction>;
}
