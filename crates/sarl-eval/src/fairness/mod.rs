//! Fairness of predictions between groups: how large the gaps are, how sure that is, and whether they
//! are larger or smaller than with other predictions of the same rows.
//!
//! ```text
//! demographic parity   max over groups P(ŷ=1 | g) − min over groups P(ŷ=1 | g)
//! equal opportunity    the same difference of P(ŷ=1 | y=1, g)
//! equalized odds       the larger of the differences of P(ŷ=1 | y=1, g) and P(ŷ=1 | y=0, g)
//! ```
//!
//! **Which class is positive.** The favourable one, if it is named. Else with two classes the second, and
//! with more each class in turn against the rest: the largest difference is reported. The figures are
//! those of fairlearn's `MetricFrame`: a rate without rows is 0.
//!
//! **A number as the target.** Demographic parity is the largest difference of mean predictions between
//! groups, in standard deviations of the target among these rows. Equalized odds is the largest such
//! difference among rows in the same fifth of the target. There is no equal opportunity.
//!
//! **A number that is hidden.** Its groups are fifths of its values ([`Groups`]).
//!
//! **Intervals.** Each pair of groups has Newcombe's hybrid score interval of the difference of its
//! rates (from Wilson's interval of each rate), or Welch's of the difference of its means. Its level is 5 %
//! over the number of pairs, classes and rates (Bonferroni), so that all hold together. The gap is the
//! largest difference over pairs: its interval goes from the largest lower limit, at least 0, to the
//! largest upper limit. A group without rows of the truth that a rate is about has no rate: it does not
//! raise the lower limit, and the upper limit is at least the figure.
//!
//! **Changes** are those of the same rows, paired: see [`Change`].
//!
//! ```
//! use sarl_eval::{Judge, Labels, Told};
//!
//! let truth = Labels::Classes { codes: vec![1, 1, 0, 0, 1, 1, 0, 0], count: 2 };
//! let groups = [0, 0, 0, 0, 1, 1, 1, 1];
//! let judge = Judge { truth: &truth, groups: &groups, favourable: None };
//! let fair = judge.fairness(&Told::Classes(vec![1, 1, 1, 0, 1, 0, 0, 0]))?;
//! assert_eq!(fair.gaps.demographic_parity, 0.5);
//! assert!(fair.ci.demographic_parity[0] == 0.0, "of so few rows little is known");
//! # Ok::<(), sarl_eval::Error>(())
//! ```

mod change;
mod counts;
mod groups;
mod means;

use serde::Serialize;

pub use self::change::{Change, Outcome};
use self::counts::Counts;
pub use self::groups::Groups;
use self::means::Means;
use crate::audit::Told;
use crate::error::{Error, Result};
use crate::task::Labels;

/// A thing for each of the three measures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measures<T> {
    /// Of selection rates, or of mean predictions.
    pub demographic_parity: T,
    /// Of true and of false positive rates, or of mean predictions where the target is alike.
    pub equalized_odds: T,
    /// Of true positive rates; none where the target is a number.
    pub equal_opportunity: Option<T>,
}

impl<T> Measures<T> {
    /// Each with its name.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &T)> {
        let first = ("demographic parity", &self.demographic_parity);
        let second = self.equal_opportunity.as_ref().map(|t| ("equal opportunity", t));
        let third = ("equalized odds", &self.equalized_odds);
        [Some(first), second, Some(third)].into_iter().flatten()
    }

    /// What each becomes.
    pub fn map<U>(&self, mut of: impl FnMut(&T) -> U) -> Measures<U> {
        Measures {
            demographic_parity: of(&self.demographic_parity),
            equalized_odds: of(&self.equalized_odds),
            equal_opportunity: self.equal_opportunity.as_ref().map(of),
        }
    }
}

/// What predictions do to each group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// The largest difference between groups, by each measure.
    #[serde(flatten)]
    pub gaps: Measures<f64>,
    /// Their 95 % intervals.
    pub ci: Measures<[f64; 2]>,
    /// Each group, in the order of their codes; groups without rows are left out.
    pub groups: Vec<Group>,
}

/// The rows of one group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Its code.
    pub group: u32,
    /// The number of rows.
    pub rows: usize,
    /// What was predicted of them.
    #[serde(flatten)]
    pub rates: Rates,
}

/// What was predicted of the rows of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Rates {
    /// Classes.
    Class {
        /// The share of rows that were told rightly.
        accuracy: f64,
        /// The share of rows told to be positive, for each class that counts as positive.
        #[serde(rename = "selection_rate")]
        selected: Vec<f64>,
        /// The share of positive rows told to be positive, likewise.
        #[serde(rename = "true_positive_rate")]
        true_positive: Vec<f64>,
        /// The share of negative rows told to be positive, likewise.
        #[serde(rename = "false_positive_rate")]
        false_positive: Vec<f64>,
        /// The number of positive rows, likewise: a rate of none is 0.
        positive_rows: Vec<usize>,
    },
    /// Numbers.
    Number {
        /// The mean of what was told.
        mean_prediction: f64,
        /// The mean of what is true.
        mean_truth: f64,
    },
}

/// What predictions are judged by: the truth and the group of each row.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// What is true.
    pub truth: &'a Labels,
    /// The code of the group of each row.
    pub groups: &'a [u32],
    /// The class that it is good to be told, which is then the positive one.
    pub favourable: Option<u32>,
}

/// The classes that count as positive.
pub(crate) fn positives(classes: usize, favourable: Option<u32>) -> Vec<u32> {
    match (favourable, classes) {
        (Some(class), _) => vec![class],
        (None, 0..=2) => vec![1],
        (None, _) => (0..classes as u32).collect(),
    }
}

impl Judge<'_> {
    /// Compares the groups.
    ///
    /// # Errors
    ///
    /// Sizes that do not agree, no rows, a class that does not exist, classes told of a number.
    pub fn fairness(&self, told: &Told) -> Result<Fairness> {
        let (groups, places) = self.places()?;
        Ok(match (self.truth, told) {
            (Labels::Classes { codes, count }, Told::Classes(told)) => {
                let positives = self.positives(*count)?;
                let mut counts = Counts::new(groups.len(), *count);
                check_codes(told, codes.len(), *count)?;
                for (&group, (&truth, &told)) in places.iter().zip(codes.iter().zip(told)) {
                    counts.add(group, truth, told, 1.0);
                }
                let (gaps, ci) = (counts.gaps(&counts, &positives), counts.intervals(&positives));
                let groups = groups.iter().enumerate();
                let groups = groups.map(|(at, &group)| counts.group(at, group, &positives));
                Fairness { gaps, ci, groups: groups.collect() }
            }
            (Labels::Numbers(truth), Told::Numbers(told)) => {
                check_numbers(told, truth.len())?;
                let means = Means::new(truth, told, &places, groups.len());
                let (gaps, ci) = (means.gaps(), means.intervals());
                let groups = groups.iter().enumerate().map(|(at, &group)| means.group(at, group));
                Fairness { gaps, ci, groups: groups.collect() }
            }
            _ => return Err(Error::Mixed { what: "predictions" }),
        })
    }

    /// How the gaps change from the first predictions to the second, of the same rows.
    ///
    /// # Errors
    ///
    /// As [`fairness`](Self::fairness).
    pub fn change(&self, from: &Told, to: &Told) -> Result<Measures<Change>> {
        let fair = [self.fairness(from)?, self.fairness(to)?];
        let (groups, places) = self.places()?;
        let drawn = match (self.truth, from, to) {
            (Labels::Classes { codes, count }, Told::Classes(from), Told::Classes(to)) => {
                let rows = places.iter().zip(codes).zip(from.iter().zip(to));
                let rows = rows.map(|((&g, &truth), (&from, &to))| (g, truth, from, to));
                change::of_classes(rows, (groups.len(), *count), &self.positives(*count)?)
            }
            (Labels::Numbers(truth), Told::Numbers(from), Told::Numbers(to)) => {
                change::of_numbers(truth, [from, to], &places, groups.len())
            }
            _ => return Err(Error::Mixed { what: "predictions" }),
        };
        Ok(change::changes([&fair[0], &fair[1]], &drawn))
    }

    /// The codes that occur, and the place of each row's among them.
    fn places(&self) -> Result<(Vec<u32>, Vec<usize>)> {
        self.truth.check()?;
        let (expected, found) = (self.truth.rows(), self.groups.len());
        if found != expected {
            return Err(Error::Shape { what: "groups", expected, found });
        }
        if expected == 0 {
            return Err(Error::Empty { what: "predictions" });
        }
        let mut codes = self.groups.to_vec();
        codes.sort_unstable();
        codes.dedup();
        let place = |code: &u32| codes.partition_point(|c| c < code);
        let places = self.groups.iter().map(place).collect();
        Ok((codes, places))
    }

    fn positives(&self, classes: usize) -> Result<Vec<u32>> {
        match self.favourable {
            Some(code) if code as usize >= classes => Err(Error::Code { code, classes }),
            favourable => Ok(positives(classes, favourable)),
        }
    }
}

fn check_codes(told: &[u32], rows: usize, classes: usize) -> Result<()> {
    if told.len() != rows {
        return Err(Error::Shape { what: "predictions", expected: rows, found: told.len() });
    }
    let wrong = told.iter().find(|&&c| c as usize >= classes);
    wrong.map_or(Ok(()), |&code| Err(Error::Code { code, classes }))
}

fn check_numbers(told: &[f64], rows: usize) -> Result<()> {
    if told.len() != rows {
        return Err(Error::Shape { what: "predictions", expected: rows, found: told.len() });
    }
    let wrong = told.iter().position(|v| !v.is_finite());
    wrong.map_or(Ok(()), |row| Err(Error::NotFinite { row }))
}

#[cfg(test)]
mod tests;
