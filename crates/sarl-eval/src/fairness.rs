//! Fairness of a classifier between groups, with the conventions of fairlearn's `MetricFrame`.
//!
//! ```text
//! demographic parity   max over groups P(ŷ=1 | g) − min over groups P(ŷ=1 | g)
//! equal opportunity    the same difference of P(ŷ=1 | y=1, g)
//! equalized odds       the larger of the differences of P(ŷ=1 | y=1, g) and P(ŷ=1 | y=0, g)
//! ```
//!
//! With two classes the second one is positive. With more, each class in turn is positive against
//! the rest, and the largest difference is reported. As in fairlearn, a rate without rows is 0.

use serde::Serialize;

use crate::error::{Error, Result};

/// What a classifier does to each group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fairness {
    /// The largest difference of selection rates.
    pub demographic_parity: f64,
    /// The largest difference of true or of false positive rates.
    pub equalized_odds: f64,
    /// The largest difference of true positive rates.
    pub equal_opportunity: f64,
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
    /// The share of rows that were told rightly.
    pub accuracy: f64,
    /// The share of rows told to be positive, for each class that counts as positive.
    #[serde(rename = "selection_rate")]
    pub selected: Vec<f64>,
    /// The share of positive rows told to be positive, likewise.
    #[serde(rename = "true_positive_rate")]
    pub true_positive: Vec<f64>,
    /// The share of negative rows told to be positive, likewise.
    #[serde(rename = "false_positive_rate")]
    pub false_positive: Vec<f64>,
}

impl Fairness {
    /// Compares the groups.
    pub fn new(truth: &[u32], told: &[u32], classes: usize, groups: &[u32]) -> Result<Self> {
        let rows = truth.len();
        for (what, found) in [("predictions", told.len()), ("groups", groups.len())] {
            if found != rows {
                return Err(Error::Shape { what, expected: rows, found });
            }
        }
        if rows == 0 {
            return Err(Error::Empty { what: "predictions" });
        }
        let positives: Vec<u32> = match classes {
            0..=2 => vec![1],
            _ => (0..classes as u32).collect(),
        };
        let last = groups.iter().copied().max().unwrap_or(0);
        let mut members = vec![Vec::new(); last as usize + 1];
        for (i, &g) in groups.iter().enumerate() {
            members[g as usize].push((truth[i], told[i]));
        }
        let there = members.iter().zip(0..).filter(|(m, _)| !m.is_empty());
        let groups: Vec<Group> = there.map(|(m, g)| Group::new(g, m, &positives)).collect();
        let difference = |rates: fn(&Group) -> &[f64]| {
            let of = |p: usize| {
                let values = groups.iter().map(|g| rates(g)[p]);
                values.clone().fold(f64::NEG_INFINITY, f64::max)
                    - values.fold(f64::INFINITY, f64::min)
            };
            (0..positives.len()).map(of).fold(0.0, f64::max)
        };
        let equal_opportunity = difference(|g| &g.true_positive);
        Ok(Fairness {
            demographic_parity: difference(|g| &g.selected),
            equalized_odds: equal_opportunity.max(difference(|g| &g.false_positive)),
            equal_opportunity,
            groups,
        })
    }
}

impl Group {
    fn new(group: u32, rows: &[(u32, u32)], positives: &[u32]) -> Self {
        let rate = |of: &dyn Fn(u32) -> bool, positive: u32| {
            let within: Vec<_> = rows.iter().filter(|(truth, _)| of(*truth)).collect();
            let chosen = within.iter().filter(|(_, told)| *told == positive).count();
            chosen as f64 / within.len().max(1) as f64
        };
        let rates = |of: &dyn Fn(u32, u32) -> bool| {
            positives.iter().map(|&p| rate(&|truth| of(truth, p), p)).collect()
        };
        let right = rows.iter().filter(|(truth, told)| truth == told).count();
        Group {
            group,
            rows: rows.len(),
            accuracy: right as f64 / rows.len() as f64,
            selected: rates(&|_, _| true),
            true_positive: rates(&|truth, p| truth == p),
            false_positive: rates(&|truth, p| truth != p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_by_hand() {
        let truth = [1, 1, 0, 0, 1, 1, 0, 0];
        let told = [1, 1, 1, 0, 1, 0, 0, 0];
        let groups = [0, 0, 0, 0, 1, 1, 1, 1];
        let fair = Fairness::new(&truth, &told, 2, &groups).unwrap();
        assert_eq!(fair.demographic_parity, 0.5);
        assert_eq!(fair.equal_opportunity, 0.5);
        assert_eq!(fair.equalized_odds, 0.5);
        assert_eq!(fair.groups[0].accuracy, 0.75);
    }

    #[test]
    fn more_classes_take_the_worst_one_against_the_rest() {
        let fair = Fairness::new(&[0, 1, 2, 0, 1, 2], &[0, 1, 2, 2, 1, 2], 3, &[0, 0, 0, 3, 3, 3]);
        let fair = fair.unwrap();
        assert_eq!(fair.groups.len(), 2);
        assert_eq!(fair.equal_opportunity, 1.0);
        assert!((fair.demographic_parity - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn sizes_must_agree() {
        assert!(Fairness::new(&[0], &[0, 1], 2, &[0]).is_err());
        assert!(Fairness::new(&[], &[], 2, &[]).is_err());
    }
}
