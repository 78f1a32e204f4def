//! The columns that a pass reads.

use std::collections::HashMap;

use crate::format::{Pick, ReadAs};

/// The columns to read, each once for each way of reading it.
#[derive(Default)]
pub(crate) struct PickList {
    pub(crate) picks: Vec<Pick>,
    index: HashMap<Pick, usize>,
}

impl PickList {
    /// Adds a column and returns its position.
    pub(crate) fn add(&mut self, name: &str, read: ReadAs) -> usize {
        let pick = Pick { name: name.to_owned(), read };
        let next = self.picks.len();
        let place = *self.index.entry(pick.clone()).or_insert(next);
        if place == next {
            self.picks.push(pick);
        }
        place
    }
}
