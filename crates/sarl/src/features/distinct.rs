//! A sample of rows that does not depend on how they are split up or in which order they come.
//!
//! Each different row has a hash. The rows with the smallest hashes are kept, each once, with the
//! total weight of its copies: of two samples the smallest of both are the sample of all rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use faer::{Mat, MatRef};

use super::sample::{Reservoir, by_columns};
use crate::moments::{FoldBy, Hasher, splitmix};

/// Rows of `width` columns, of which the last is the weight of a row.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    capacity: usize,
    width: usize,
    seed: u64,
    hasher: Hasher,
    rows: BTreeMap<u64, Vec<f64>>,
}

impl Distinct {
    fn new(capacity: usize, width: usize, seed: u64) -> Self {
        // Not the hash that decides on folds.
        let seed = splitmix(!seed);
        let hasher = Hasher::new(width.saturating_sub(1));
        Distinct { capacity, width, seed, hasher, rows: BTreeMap::new() }
    }

    fn push_rows(&mut self, rows: impl Iterator<Item = usize>, write: impl Fn(usize, &mut [f64])) {
        let mut row = vec![0.0; self.width];
        for i in rows {
            row.fill(0.0);
            write(i, &mut row);
            self.add(&row);
        }
    }

    fn add(&mut self, row: &[f64]) {
        let Some((weight, values)) = row.split_last() else { return };
        let hash = splitmix(self.hasher.hash(values) ^ self.seed);
        let full = self.rows.len() >= self.capacity;
        if full && self.rows.last_key_value().is_none_or(|(last, _)| hash > *last) {
            return;
        }
        match self.rows.entry(hash) {
            Entry::Occupied(mut kept) => {
                if let Some(total) = kept.get_mut().last_mut() {
                    *total += weight;
                }
            }
            Entry::Vacant(place) => {
                place.insert(row.to_vec());
                if full {
                    self.rows.pop_last();
                }
            }
        }
    }

    fn rows(&self) -> Mat<f64> {
        let values: Vec<f64> = self.rows.values().flatten().copied().collect();
        by_columns(&values, self.width)
    }
}

/// Rows that pass by, of which some are kept; the last column is the weight of a row.
#[derive(Clone, Debug)]
pub(crate) enum Sample {
    /// Each with the same probability, by the order in which they come.
    Uniform(Box<Reservoir>),
    /// Different ones, whatever the order.
    Distinct(Distinct),
}

impl Sample {
    /// One that depends on the order of rows where their folds do.
    pub(crate) fn new(by: FoldBy, capacity: usize, width: usize, seed: u64) -> Self {
        match by {
            FoldBy::Position => Sample::Uniform(Box::new(Reservoir::new(capacity, width, seed))),
            FoldBy::Content | FoldBy::Key => Sample::Distinct(Distinct::new(capacity, width, seed)),
        }
    }

    /// Lets rows pass by that `write` puts in their place.
    pub(crate) fn push_rows(
        &mut self,
        rows: impl Iterator<Item = usize>,
        write: impl Fn(usize, &mut [f64]),
    ) {
        match self {
            Sample::Uniform(kept) => kept.push_rows(rows, write),
            Sample::Distinct(kept) => kept.push_rows(rows, write),
        }
    }

    /// The sample, rows × width.
    pub(crate) fn rows(&self) -> Mat<f64> {
        match self {
            Sample::Uniform(kept) => kept.rows(),
            Sample::Distinct(kept) => kept.rows(),
        }
    }

    /// Whether samples of parts are together a sample of all rows.
    pub(crate) fn adds_up(&self) -> bool {
        matches!(self, Sample::Distinct(_))
    }

    /// Adds rows that are a sample themselves.
    pub(crate) fn add_sample(&mut self, rows: MatRef<'_, f64>) {
        self.push_rows(0..rows.nrows(), |i, to| {
            to.iter_mut().zip(rows.row(i).iter()).for_each(|(to, v)| *to = *v);
        });
    }
}
