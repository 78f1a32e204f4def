//! What a cell keeps and what it gives away: sums over its rows, which add up over cells.

use std::ops::Range;

use super::goal::{Adversary, CellUtility};
use crate::moments::{Label, LabelKind, Role};
use crate::{Error, Result};

/// What is added up over the rows of a cell: the rows themselves, then for each label its classes or
/// its numbers.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    pub targets: Vec<Kept>,
    /// The place of each label, in their order.
    pub labels: Vec<Range<usize>>,
    /// The counts of each sensitive attribute.
    pub groups: Vec<Range<usize>>,
    pub width: usize,
    /// The sums of all rows.
    pub totals: Vec<f64>,
    /// The sum of squares of each label: the rows, where it has classes.
    pub squares: Vec<f64>,
    adversary: Adversary,
}

/// A target among the sums.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub label: usize,
    pub kind: Kind,
}

/// What is measured of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The share of rows in the most frequent class of their cell.
    Classes,
    /// The share of the squares of its columns that the means of cells explain.
    Variance,
    /// The same of numbers.
    Numbers,
}

impl Measure {
    /// The places of these labels; totals are not known yet.
    pub(super) fn new(
        labels: &[Label],
        adversary: Adversary,
        utility: CellUtility,
    ) -> Result<Self> {
        let (mut targets, mut groups, mut places, mut width) =
            (Vec::new(), Vec::new(), Vec::new(), 1);
        for label in labels {
            let (count, kind) = match (label.kind.clone(), label.role) {
                (LabelKind::Class { classes }, _) => (
                    classes,
                    match utility {
                        CellUtility::Accuracy => Kind::Classes,
                        CellUtility::Variance => Kind::Variance,
                    },
                ),
                (
                    LabelKind::Number { width } | LabelKind::Kernel { columns: width },
                    Role::Target,
                ) => (width, Kind::Numbers),
                (LabelKind::Number { .. } | LabelKind::Kernel { .. }, Role::Sensitive) => {
                    return Err(Error::NoGroups { name: label.name.clone() });
                }
                (LabelKind::Features, _) => return Err(Error::NoTarget),
            };
            let at = width..width + count;
            width = at.end;
            places.push(at.clone());
            match label.role {
                Role::Target => targets.push(Kept { label: places.len() - 1, kind }),
                Role::Sensitive => groups.push(at),
            }
        }
        if targets.is_empty() {
            return Err(Error::NoTarget);
        }
        let (totals, squares) = (vec![0.0; width], vec![0.0; places.len()]);
        Ok(Measure { targets, labels: places, groups, width, totals, squares, adversary })
    }

    /// The same with the sums of all rows, and the squares of labels.
    pub(super) fn of(self, totals: Vec<f64>, squares: Vec<f64>) -> Self {
        Measure { totals, squares, ..self }
    }

    /// What is kept of the targets by a cell of these sums: the mean over targets. Over all cells it
    /// adds up to accuracy, or to the share of variance explained.
    pub(super) fn utility(&self, sums: &[f64]) -> f64 {
        let kept = |target: &Kept| {
            let of_label = &sums[self.labels[target.label].clone()];
            match target.kind {
                Kind::Classes => of_label.iter().copied().fold(0.0, f64::max) / self.totals[0],
                Kind::Numbers | Kind::Variance => self.explained(target.label, sums),
            }
        };
        self.targets.iter().map(kept).sum::<f64>() / self.targets.len() as f64
    }

    /// The share of a label's squares that the mean of a cell explains.
    pub(super) fn explained(&self, label: usize, sums: &[f64]) -> f64 {
        if sums[0] <= 0.0 || self.squares[label] <= 0.0 {
            return 0.0;
        }
        let squares: f64 = sums[self.labels[label].clone()].iter().map(|s| s * s).sum();
        squares / sums[0] / self.squares[label]
    }

    /// What a cell gives away of an attribute. Over all cells it adds up to 1 + (q − 1) · advantage
    /// over q − 1, or to accuracy.
    pub(super) fn leaked(&self, attribute: usize, sums: &[f64]) -> f64 {
        let at = self.groups[attribute].clone();
        let counts = &sums[at.clone()];
        match self.adversary {
            Adversary::Accuracy => counts.iter().copied().fold(0.0, f64::max) / self.totals[0],
            Adversary::Advantage => {
                let shares = counts.iter().zip(&self.totals[at]).map(|(n, all)| n / all.max(1.0));
                shares.fold(0.0, f64::max) / (counts.len() as f64 - 1.0).max(1.0)
            }
        }
    }

    /// What a cell gives away of all attributes.
    pub(super) fn leakage(&self, sums: &[f64]) -> f64 {
        (0..self.groups.len()).map(|a| self.leaked(a, sums)).sum()
    }

    /// What the search makes as large as it can.
    pub(super) fn value(&self, sums: &[f64], price: f64) -> f64 {
        self.utility(sums) - price * self.leakage(sums)
    }

    /// The classes that are predicted from a cell, where accuracy is all that is kept.
    pub(super) fn decision(&self, sums: &[f64]) -> Option<Vec<usize>> {
        let decided = |target: &Kept| {
            let counts = &sums[self.labels[target.label].clone()];
            (target.kind == Kind::Classes).then(|| most(counts))
        };
        self.targets.iter().map(decided).collect()
    }

    /// What publishing nothing keeps.
    pub(super) fn nothing(&self) -> f64 {
        self.utility(&self.totals)
    }
}

/// The place of the largest, the first of several.
pub(super) fn most(counts: &[f64]) -> usize {
    let largest =
        (0..counts.len()).max_by(|&a, &b| counts[a].total_cmp(&counts[b]).then(b.cmp(&a)));
    largest.unwrap_or(0)
}

/// Adds the sums of a cell to those of another.
pub(super) fn add(to: &mut [f64], more: &[f64]) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}
