//! A guarantee against every adversary: z is cut into few cells, and the cell is published.
//!
//! Whatever an adversary computes from a cell, it is a table from cells to groups. With the counts of
//! cells and groups on fresh rows, everything about every adversary is known: see [`Figures`] for what the best
//! one reaches, [`bounds()`] for what none exceeds on rows drawn alike.
//!
//! ```text
//! rows ─┬─ fit ─────► Fitted ──► Cutter: encoders of every leakage
//!       ├─ choose ──► Cutter ──► models with cells whose bounds should meet the limit
//!       └─ certify ─► Cutter ──► the most useful one whose certificate does
//! ```
//!
//! [`Part::of`] gives each row its part, and a [`Cutter`] takes the rows of the last two. The search is over intervals (exact, by dynamic programming) where z
//! has one column, else boxes by recursive cuts; then cells are merged, also such as do not touch.
//!
//! ```
//! use sarl::cells::{Adversary, Ask, CellGoal, CellUtility, Cutter, Limits};
//! use sarl::{Block, Fit, FitParams, Layout, Role};
//! let rows = |from: usize, n: usize| {
//!     let x = faer::Mat::from_fn(n, 2, |i, j| (((from + i) * (7 + 4 * j)) % 31) as f64 - 15.0);
//!     let y: Vec<u32> = (0..n).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
//!     let s: Vec<u32> = (0..n).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
//!     (x, y, s)
//! };
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut fit = Fit::new(FitParams::default(), layout)?;
//! let (x, y, s) = rows(0, 2000);
//! fit.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let (adversary, limits) = (Adversary::Advantage, Limits::Each(0.5));
//! let utility = CellUtility::Accuracy;
//! let goal = CellGoal { adversary, limits, utility, confidence: 0.95, cells: 4 };
//! let mut cutter = Cutter::new(&fit.finish()?, vec![Ask::One(goal)], 0)?;
//! let (x, y, s) = rows(2000, 2000);
//! cutter.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! cutter.choose(2000)?;
//! let (x, y, s) = rows(4000, 2000);
//! cutter.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let model = &cutter.finish()?[0][0];
//! let certificate = model.cells().and_then(|cells| cells.certificate());
//! assert!(certificate.is_some_and(|found| found.bounds()[0].advantage <= 0.5));
//! # Ok::<(), sarl::Error>(())
//! ```

mod binomial;
mod bounds;
mod candidates;
#[expect(clippy::module_inception, reason = "the type has the name of what this is all about")]
mod cells;
mod certifier;
mod choose;
mod counts;
mod cutter;
mod fine;
mod goal;
mod intervals;
mod measure;
mod merging;
mod partition;
mod plan;
mod proposals;
mod sample;
#[cfg(test)]
mod tests;

pub use binomial::upper as clopper_pearson_upper;
pub use bounds::{Rule, bounds};
pub use cells::{CellCertificate, Cells, CertifiedAttribute, CertifiedTarget, PartRows};
pub use certifier::{Certifier, Counted};
pub use counts::{Counts, Figures};
pub use cutter::{Ask, Cutter};
pub use goal::{Adversary, CellGoal, CellUtility, Limits, MOST_CELLS};
pub use partition::{Node, Partition};

/// What a row serves for. No row serves twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The fit of the encoder.
    Fit,
    /// The choice of cells.
    Choose,
    /// The certificate.
    Certify,
}

impl Part {
    /// The share of rows that each part gets: fit, choose, certify.
    pub const SHARES: [f64; 3] = [0.4, 0.3, 0.3];
    /// The parts, in the order in which their rows are needed.
    pub const EACH: [Part; 3] = [Part::Fit, Part::Choose, Part::Certify];

    /// The part of a row, counted from 0: a fixed function of its place and the seed. Where rows are on
    /// several machines, the key of an id ([`text_key`](crate::text_key)) takes the place: any partition of them then gives the
    /// same parts. It must not follow from what a row holds: rows that certify would not be drawn
    /// like the others.
    pub fn of(row: u64, seed: u64) -> Self {
        // The finaliser of SplitMix64: every bit of the place moves every bit of the result.
        let mut bits = row.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed ^ 0x5851_f42d);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        match share {
            s if s < Self::SHARES[0] => Part::Fit,
            s if s < Self::SHARES[0] + Self::SHARES[1] => Part::Choose,
            _ => Part::Certify,
        }
    }

    /// Those of `rows` rows that are in this part, where `first` rows came before them.
    pub fn among(self, first: u64, rows: usize, seed: u64) -> Vec<usize> {
        (0..rows).filter(|&row| Part::of(first + row as u64, seed) == self).collect()
    }

    /// How many of so many rows are in this part.
    pub fn count(self, rows: u64, seed: u64) -> u64 {
        (0..rows).filter(|&row| Part::of(row, seed) == self).count() as u64
    }
}
