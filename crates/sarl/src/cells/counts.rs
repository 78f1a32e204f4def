//! How often each cell met each group: all that any adversary can learn from.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Rows by cell and group. Counts of different rows add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    cells: usize,
    groups: usize,
    /// Cell by cell.
    counts: Vec<u64>,
}

/// What the best adversary reaches, of all there can be: each is a table from cells to groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How far above guessing: 0 where cells say nothing, 1 where they give the group away. For
    /// two groups it is the total variation between them.
    pub advantage: f64,
    /// The mean over groups of the share of a group that is recognised.
    pub balanced_accuracy: f64,
    /// The share of rows whose group is recognised.
    pub accuracy: f64,
    /// The largest total variation between two groups: no classifier of cells has a larger gap of
    /// demographic parity.
    pub tv: f64,
}

impl Figures {
    /// Those of a balanced accuracy among so many groups.
    pub(super) fn new(balanced: f64, groups: usize, accuracy: f64, tv: f64) -> Self {
        let guess = 1.0 / groups as f64;
        let advantage = ((balanced - guess) / (1.0 - guess)).clamp(0.0, 1.0);
        Figures { advantage, balanced_accuracy: balanced, accuracy, tv }
    }
}

impl Counts {
    /// Nothing counted yet.
    pub fn new(cells: usize, groups: usize) -> Self {
        Counts { cells, groups, counts: vec![0; cells * groups] }
    }

    /// From rows of counts, one for each cell.
    pub fn from_rows(groups: usize, rows: &[Vec<u64>]) -> Result<Self> {
        if let Some(row) = rows.iter().find(|row| row.len() != groups) {
            return Err(Error::shape("groups", row.len(), groups));
        }
        Ok(Counts { cells: rows.len(), groups, counts: rows.concat() })
    }

    /// Sets the count of a cell and a group.
    pub(super) fn set(&mut self, cell: usize, group: usize, count: u64) {
        self.counts[cell * self.groups + group] = count;
    }

    /// One more row.
    pub fn add(&mut self, cell: u32, group: u32) {
        let at = cell as usize * self.groups + group as usize;
        if let Some(count) = self.counts.get_mut(at).filter(|_| (group as usize) < self.groups) {
            *count += 1;
        }
    }

    /// Adds what was counted on other rows.
    pub fn merge(&mut self, other: &Counts) -> Result<()> {
        if (other.cells, other.groups) != (self.cells, self.groups) {
            return Err(Error::shape("counts", other.counts.len(), self.counts.len()));
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(to, more)| *to += more);
        Ok(())
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The counts of a cell, by group.
    pub fn cell(&self, cell: usize) -> &[u64] {
        &self.counts[cell * self.groups..][..self.groups]
    }

    /// Whether stored counts have their shape, and a sum.
    pub(super) fn is_sound(&self) -> bool {
        let total = self.counts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
        let size = self.cells.checked_mul(self.groups);
        size == Some(self.counts.len()) && self.groups >= 2 && total.is_some()
    }

    /// Whether sound counts can be added without an overflow.
    pub(super) fn has_room(&self, other: &Counts) -> bool {
        self.rows().checked_add(other.rows()).is_some()
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The rows of each group.
    pub fn sizes(&self) -> Vec<u64> {
        (0..self.groups).map(|s| (0..self.cells).map(|c| self.cell(c)[s]).sum()).collect()
    }

    /// The share of the largest group: what guessing reaches.
    pub fn majority(&self) -> f64 {
        let most = self.sizes().into_iter().max().unwrap_or(0);
        most as f64 / self.rows().max(1) as f64
    }

    /// How many rows the best adversary recognises.
    pub(super) fn recognised(&self) -> u64 {
        (0..self.cells).map(|c| self.cell(c).iter().copied().max().unwrap_or(0)).sum()
    }

    /// The share of each group that is in a cell.
    pub(super) fn shares(&self, cell: usize, sizes: &[u64]) -> impl Iterator<Item = f64> {
        let share = |(&count, &size): (&u64, &u64)| count as f64 / size.max(1) as f64;
        self.cell(cell).iter().zip(sizes).map(share)
    }

    /// Total variation between two groups.
    pub(super) fn between(&self, a: usize, b: usize, sizes: &[u64]) -> f64 {
        let share = |c: usize, s: usize| self.cell(c)[s] as f64 / sizes[s].max(1) as f64;
        0.5 * (0..self.cells).map(|c| (share(c, a) - share(c, b)).abs()).sum::<f64>()
    }

    /// What the best adversary reaches on these very rows.
    pub fn observed(&self) -> Figures {
        let sizes = self.sizes();
        let best = |c: usize| self.shares(c, &sizes).fold(0.0, f64::max);
        let balanced = (0..self.cells).map(best).sum::<f64>() / self.groups as f64;
        let accuracy = self.recognised() as f64 / self.rows().max(1) as f64;
        let tv = pairs(self.groups).map(|(a, b)| self.between(a, b, &sizes)).fold(0.0, f64::max);
        Figures::new(balanced, self.groups, accuracy, tv)
    }
}

/// Each two groups.
pub(super) fn pairs(groups: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..groups).flat_map(move |a| (a + 1..groups).map(move |b| (a, b)))
}
