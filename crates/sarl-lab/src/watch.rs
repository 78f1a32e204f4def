//! How work is followed from outside, and ended.

use crate::error::{Error, Result};

/// Who follows the work. It may be called from several threads.
pub trait Watch: Sync {
    /// Asked now and then; work ends with [`Error::Interrupted`] when it is true.
    fn stop(&self) -> bool;

    /// What is being done, and how many pieces of it are done, of how many; 0 of 0 where nothing is
    /// counted.
    fn step(&self, what: &str, done: usize, all: usize);

    /// A result, in a line.
    fn line(&self, text: &str);

    /// An error if the work is to end.
    fn check(&self) -> Result<()> {
        if self.stop() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Nobody.
pub struct Silent;

impl Watch for Silent {
    fn stop(&self) -> bool {
        false
    }

    fn step(&self, _: &str, _: usize, _: usize) {}

    fn line(&self, _: &str) {}
}
