//! What no adversary exceeds on rows drawn like those that were counted, with confidence 1 − δ.
//!
//! An adversary that sees only the cell is one of `q^K` tables. What the best of them reaches on all rows that
//! there could be is one number, and **one** table `f*` reaches it: which one does not depend on the rows that
//! were counted. What the best table reaches on the counted rows is at least what `f*` reaches there. So a limit
//! that holds for one fixed table with confidence `1 − δ` and grows with what was counted holds, at the best
//! table, for all of them: nothing has to be divided by the number of tables.
//!
//! - **Accuracy**: the limit of Clopper and Pearson for the count of the best table, at level δ.
//! - **Balanced accuracy**, [`Rule::Mean`]: a mean of `q` independent shares, by Hoeffding's inequality at most
//!   `sqrt( (Σ_s 1/n_s) / (2q²) · ln(1/δ) )` above what was seen.
//! - [`Rule::Subsets`], for two groups: the largest over all sets of cells of the upper limit of the one
//!   group's share less the lower limit of the other's, each at level δ / 2. It is the better one where a cell
//!   is rare.
//! - **Total variation** of two groups among several: the largest over pairs, by Hoeffding's inequality for a
//!   difference of two shares.
//!
//! The rule is chosen before the rows are counted, never after.

use serde::{Deserialize, Serialize};

use super::binomial::{hoeffding, lower, upper};
use super::counts::{Counts, Figures, pairs};

/// More cells than this have too many sets for [`Rule::Subsets`].
const MOST_CELLS: usize = 10;

/// How balanced accuracy is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// By the inequality of Hoeffding.
    Mean,
    /// By exact limits for every set of cells; for two groups and at most ten cells.
    Subsets,
}

impl Rule {
    /// Whether it can be used.
    pub fn suits(self, cells: usize, groups: usize) -> bool {
        self == Rule::Mean || (groups == 2 && cells <= MOST_CELLS)
    }

    /// The one that would be tighter on rows like these, if there were `times` as many.
    pub fn for_rows_like(counts: &Counts, times: f64, delta: f64) -> Self {
        if !Rule::Subsets.suits(counts.cells(), counts.groups()) {
            return Rule::Mean;
        }
        let scaled: Vec<Vec<u64>> = (0..counts.cells())
            .map(|c| counts.cell(c).iter().map(|&n| (n as f64 * times).round() as u64).collect())
            .collect();
        let Ok(scaled) = Counts::from_rows(counts.groups(), &scaled) else { return Rule::Mean };
        let [mean, subsets] =
            [Rule::Mean, Rule::Subsets].map(|rule| bounds(&scaled, delta, rule).advantage);
        if subsets < mean { Rule::Subsets } else { Rule::Mean }
    }
}

/// Upper limits of what any adversary reaches, each with confidence `1 − delta`.
pub fn bounds(counts: &Counts, delta: f64, rule: Rule) -> Figures {
    let (cells, groups, sizes) = (counts.cells(), counts.groups(), counts.sizes());
    let q = groups as f64;
    let observed = counts.observed();
    let accuracy = upper(counts.recognised(), counts.rows(), delta);
    if cells < 2 {
        // The only tables name one group.
        return Figures::new(1.0 / q, groups, accuracy, 0.0);
    }
    if sizes.contains(&0) {
        // Nothing is known of a group without rows.
        return Figures::new(1.0, groups, accuracy, 1.0);
    }
    let balanced = match rule {
        Rule::Subsets if rule.suits(cells, groups) => 0.5 + 0.5 * subsets(counts, &sizes, delta),
        _ => observed.balanced_accuracy + mean_margin(&sizes, delta),
    };
    let tv = match groups {
        2 => 2.0 * balanced - 1.0,
        _ => {
            let between = |(a, b): (usize, usize)| {
                let spread = 1.0 / sizes[a] as f64 + 1.0 / sizes[b] as f64;
                counts.between(a, b, &sizes) + (-0.5 * spread * delta.ln()).sqrt()
            };
            pairs(groups).map(between).fold(0.0, f64::max)
        }
    };
    Figures::new(balanced.clamp(1.0 / q, 1.0), groups, accuracy, tv.clamp(0.0, 1.0))
}

/// How far a balanced accuracy can be above what was seen, by [`Rule::Mean`].
pub(super) fn mean_margin(sizes: &[u64], delta: f64) -> f64 {
    let q = sizes.len() as f64;
    let spread: f64 = sizes.iter().map(|&n| 1.0 / n as f64).sum();
    (-spread / (2.0 * q * q) * delta.ln()).sqrt()
}

/// The largest difference between the shares of two groups that a set of cells can have.
fn subsets(counts: &Counts, sizes: &[u64], delta: f64) -> f64 {
    let cells = counts.cells();
    let level = 0.5 * delta;
    // No exact limit is farther off than Hoeffding's: most sets need no limit at all.
    let most = hoeffding(sizes[0], level) + hoeffding(sizes[1], level);
    let count = |set: u32, s: usize| -> u64 {
        (0..cells).filter(|c| set >> c & 1 == 1).map(|c| counts.cell(c)[s]).sum()
    };
    let seen =
        |(one, other): (u64, u64)| one as f64 / sizes[0] as f64 - other as f64 / sizes[1] as f64;
    let all = 1..(1u32 << cells) - 1;
    let mut sets: Vec<(u64, u64)> = all.map(|set| (count(set, 0), count(set, 1))).collect();
    sets.sort_by(|&a, &b| seen(b).total_cmp(&seen(a)));
    let mut largest = f64::NEG_INFINITY;
    for (one, other) in sets {
        if seen((one, other)) + most <= largest {
            break;
        }
        largest = largest.max(upper(one, sizes[0], level) - lower(other, sizes[1], level));
    }
    largest
}
