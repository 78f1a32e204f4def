//! A uniform sample of rows that pass by in blocks.

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::error::Place;
use crate::moments::{Element, check_finite};
use crate::{Error, Result};

/// Keeps `capacity` of the rows seen, each with the same probability (Vitter's algorithm R):
/// candidates for landmarks and for the median heuristic, from data of any length.
#[derive(Clone, Debug)]
pub struct Reservoir {
    capacity: usize,
    width: usize,
    seen: u64,
    rows: Vec<f64>,
    rng: ChaCha8Rng,
}

impl Reservoir {
    /// An empty sample of rows of `width` columns.
    pub fn new(capacity: usize, width: usize, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Reservoir { capacity, width, seen: 0, rows: Vec::new(), rng }
    }

    /// Lets a block pass by.
    pub fn push<T: Element>(&mut self, x: MatRef<'_, T>) -> Result<()> {
        if x.ncols() != self.width {
            return Err(Error::shape("columns", x.ncols(), self.width));
        }
        check_finite(x, self.seen, Place::Feature)?;
        for i in 0..x.nrows() {
            self.seen += 1;
            let row = x.row(i).iter().map(|&v| v.into());
            if self.rows.len() < self.capacity * self.width {
                self.rows.extend(row);
                continue;
            }
            let slot = self.rng.random_range(0..self.seen) as usize;
            if slot < self.capacity {
                let at = slot * self.width;
                self.rows.splice(at..at + self.width, row);
            }
        }
        Ok(())
    }

    /// The sample, rows × width.
    pub fn rows(&self) -> Mat<f64> {
        let rows = self.rows.len().checked_div(self.width).unwrap_or(0);
        MatRef::from_row_major_slice(&self.rows, rows, self.width).to_owned()
    }
}
