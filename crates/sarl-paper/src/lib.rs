//! The experiments of the paper (Sadeghi, Yu, Boddeti, ICCV 2019), with its numbers beside ours.
//!
//! [`Name::run`] reads the data set of an experiment, fits our encoders and other methods on it, and
//! gives an [`Experiment`]: tables, figures, words and JSON. [`Experiment::write`] makes files of
//! them. Nothing here prints: progress and interruption go through [`sarl_lab::Watch`].
//!
//! ```
//! use rand::SeedableRng;
//! use sarl::Goal;
//! use sarl_lab::Silent;
//! use sarl_paper::{Split, linear, mixture};
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
//! let split = Split::new(mixture(400, &mut rng), mixture(100, &mut rng), 0, &Silent);
//! let model = split.fit(&linear())?.solve(Goal::Leakage(0.01))?;
//! assert_eq!(split.encode(&model)?.test.nrows(), 100);
//! # Ok::<(), sarl_paper::Error>(())
//! ```

mod certified;
mod cifar100;
mod effort;
mod error;
mod fair;
mod figures;
mod gaussian;
mod sample;
mod split;
mod study;
mod summary;
mod tables;
mod uci;
mod write;
mod yaleb;

use sarl_report::Figure;
use serde_json::Value;

pub use effort::{Effort, Rivals};
pub use error::{Error, Result};
pub use sample::{Sample, codes, mixture};
pub use split::{Encoded, Findings, Split, kernel, linear};
use study::Study;
pub use write::Commands;

/// The experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The mixture of four Gaussians.
    Gaussian,
    /// UCI Adult: income kept, gender hidden.
    Adult,
    /// UCI German: credit kept, age hidden.
    German,
    /// Extended Yale B: identity and light.
    Yaleb,
    /// CIFAR-100: coarse class kept, fine class hidden.
    Cifar100,
    /// Guarantees against every adversary: Adult and ACSIncome, ours and FARE's.
    Certified,
}

impl Name {
    /// All of them.
    pub const EACH: [Self; 6] =
        [Self::Gaussian, Self::Adult, Self::German, Self::Yaleb, Self::Cifar100, Self::Certified];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Name::Gaussian => "gaussian",
            Name::Adult => "adult",
            Name::German => "german",
            Name::Yaleb => "yaleb",
            Name::Cifar100 => "cifar100",
            Name::Certified => "certified",
        }
    }

    /// Does it.
    pub fn run(self, effort: &Effort<'_>) -> Result<Experiment> {
        if effort.seeds.is_empty() {
            return Err(Error::NoSeeds);
        }
        match self {
            Name::Gaussian => gaussian::run(effort),
            Name::Adult => fair::adult(effort),
            Name::German => fair::german(effort),
            Name::Yaleb => yaleb::run(effort),
            Name::Cifar100 => cifar100::run(effort),
            Name::Certified => certified::run(effort),
        }
    }
}

/// What an experiment found.
pub struct Experiment {
    /// How it was done, in one paragraph.
    pub protocol: &'static str,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// What to read out of it.
    pub words: Vec<String>,
    /// Its encoders, for the report.
    studies: Vec<Study>,
    /// Everything else, for `results.json`.
    results: Value,
}

/// A table, written as CSV.
pub struct Table {
    /// The name of its file.
    pub name: &'static str,
    /// What it is about.
    pub title: String,
    /// What its columns are.
    pub header: Vec<&'static str>,
    /// Its cells.
    pub rows: Vec<Vec<String>>,
}
