//! A limit for each label of one side.

use crate::spectral::problem::{Half, Problem};

/// A share that is nothing; see [`crate::tolerance::SPAN`].
const NOTHING: f64 = 1e-12;

/// The side whose labels are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front) enum Limited {
    /// At most this share of each label's variance explained.
    Sensitive,
    /// At least this share of what all features explain of each label.
    Target,
}

/// A limit for each label of one side; nothing where there is none.
#[derive(Clone, Debug)]
pub(in crate::front) struct Limits {
    pub(in crate::front) side: Limited,
    pub(in crate::front) shares: Vec<Option<f64>>,
}

impl Limits {
    pub(super) fn half<'p>(&self, problem: &'p Problem) -> &'p Half {
        match self.side {
            Limited::Sensitive => &problem.sensitive,
            Limited::Target => &problem.target,
        }
    }

    /// The same limits, all of them `by` times as high.
    pub(super) fn times(&self, by: f64) -> Self {
        let shares = self.shares.iter().map(|s| s.map(|s| by * s)).collect();
        Limits { side: self.side, shares }
    }
}

/// Whether shares meet the limits.
pub(super) fn fits(limits: &Limits, shares: &[f64]) -> bool {
    let pairs = limits.shares.iter().zip(shares);
    pairs.filter_map(|(limit, share)| Some(((*limit)?, *share))).all(|(limit, share)| {
        match limits.side {
            // Nothing is what the null space has, up to the correlations that rank decisions leave.
            Limited::Sensitive if limit == 0.0 => share <= NOTHING,
            Limited::Sensitive => share <= limit,
            Limited::Target => share >= limit,
        }
    })
}

/// What is explained of each label, as the share that its limit is about.
pub(super) fn shares(
    half: &Half,
    side: Limited,
    explained: impl Fn(&Half) -> Vec<f64>,
) -> Vec<f64> {
    let whole: Vec<f64> = match side {
        Limited::Sensitive => half.attributes.iter().map(|a| a.variance).collect(),
        Limited::Target => half.attainable_each(),
    };
    let share = |(explained, whole): (f64, f64)| match (whole > 0.0, side) {
        (true, _) => explained / whole,
        (false, Limited::Sensitive) => 0.0,
        (false, Limited::Target) => 1.0,
    };
    explained(half).into_iter().zip(whole).map(share).collect()
}
