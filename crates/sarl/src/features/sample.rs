//! A uniform sample of rows that pass by in blocks.

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

    /// Lets rows pass by that `write` puts in their place; only those that are kept are written.
    pub(crate) fn push_rows(
        &mut self,
        rows: impl Iterator<Item = usize>,
        write: impl Fn(usize, &mut [f64]),
    ) {
        for i in rows {
            self.seen += 1;
            let at = match self.rows.len() < self.capacity * self.width {
                true => {
                    let end = self.rows.len();
                    self.rows.resize(end + self.width, 0.0);
                    end
                }
                false => match self.rng.random_range(0..self.seen) as usize {
                    slot if slot < self.capacity => slot * self.width,
                    _ => continue,
                },
            };
            let to = &mut self.rows[at..at + self.width];
            to.fill(0.0);
            write(i, to);
        }
    }

    /// The sample, rows × width.
    pub fn rows(&self) -> Mat<f64> {
        let rows = self.rows.len().checked_div(self.width).unwrap_or(0);
        MatRef::from_row_major_slice(&self.rows, rows, self.width).to_owned()
    }
}
