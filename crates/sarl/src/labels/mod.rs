//! From the labels of a row to the columns that are kept or hidden.
//!
//! Everywhere else a label is columns. Here it is decided which ones:
//!
//! ```text
//! classes                 one indicator for each
//! numbers                 themselves
//! numbers with a kernel   features ψ of a Gaussian kernel over them (kernel.rs)
//! ```
//!
//! and, for the attribute s that is hidden, what of it counts:
//!
//! ```text
//! parity              s
//! equalized odds      1[y=c] (s − E[s | y=c]), one block for each class c of the target
//! equal opportunity   the block of the favourable class
//! ```
//!
//! Of a target that is a number, what counts is s less its regression on features of the target's kernel, whatever
//! the target itself is kept as. [`LabelMap`] brings the columns whose sums these are combinations of;
//! `moments/made.rs` has the combinations.

mod kernel;
mod map;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use kernel::LabelSample;
pub(crate) use map::{LabelMap, Reclassed};

/// What of an attribute is to be hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// All of it: z must not tell it.
    #[default]
    Parity,
    /// What tells it among the rows of one class of the target.
    EqualOpportunity {
        /// The class.
        favourable: u32,
    },
    /// What tells it among the rows of any one class of the target, or beside a target that is a
    /// number.
    EqualizedOdds,
}

impl Criterion {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Parity => "parity",
            Criterion::EqualOpportunity { .. } => "equal-opportunity",
            Criterion::EqualizedOdds => "equalized-odds",
        }
    }

    /// The one class of the target that counts, if it is one.
    pub fn favourable(self) -> Option<u32> {
        match self {
            Criterion::EqualOpportunity { favourable } => Some(favourable),
            Criterion::Parity | Criterion::EqualizedOdds => None,
        }
    }
}
