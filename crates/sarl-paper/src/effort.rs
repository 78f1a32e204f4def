//! How much an experiment does, and who follows it.

use std::time::Instant;

use sarl_lab::Watch;
use serde::Serialize;

use crate::Result;

/// How much to do.
pub struct Effort<'a> {
    /// One at least.
    pub seeds: Vec<u64>,
    /// Shuffles of the German data.
    pub shuffles: u64,
    /// How much to do for the methods that the paper compares with.
    pub rivals: Rivals,
    /// Who follows the work.
    pub watch: &'a dyn Watch,
}

/// How much to do for the methods that the paper compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rivals {
    /// Our encoders alone.
    None,
    /// Every one of them with few seeds.
    Quick,
    /// With more seeds, shuffles and weights.
    Full,
}

impl Effort<'_> {
    /// Whether rivals run at all.
    pub(crate) fn with_rivals(&self) -> bool {
        self.rivals != Rivals::None
    }

    /// The weights of hiding of a rival's front.
    pub(crate) fn weights<'w>(&self, quick: &'w [f64], full: &'w [f64]) -> &'w [f64] {
        match self.rivals {
            Rivals::None => &[],
            Rivals::Quick => quick,
            Rivals::Full => full,
        }
    }

    /// The first seed.
    pub(crate) fn seed(&self) -> u64 {
        self.seeds.first().copied().unwrap_or(0)
    }

    /// Says what is being done, unless the work is to end.
    pub(crate) fn step(&self, what: &str) -> Result<()> {
        self.watch.check()?;
        self.watch.step(what, 0, 0);
        Ok(())
    }
}

/// Does something; how many seconds it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let done = work()?;
    Ok((done, start.elapsed().as_secs_f64()))
}
