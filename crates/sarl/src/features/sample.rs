//! A uniform sample of rows that pass by in blocks.

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Columns that one thread writes at a time: numbers that lie beside each other are read together.
const COLUMNS: usize = 8;

/// Rows that lie one behind the other as a matrix.
pub(super) fn by_columns(rows: &[f64], width: usize) -> Mat<f64> {
    let count = rows.len().checked_div(width).unwrap_or(0);
    let mut all = Mat::zeros(count, width);
    all.as_mut().par_col_chunks_mut(COLUMNS).enumerate().for_each(|(part, mut to)| {
        for (i, row) in rows.chunks_exact(width.max(1)).enumerate() {
            for j in 0..to.ncols() {
                to[(i, j)] = row[part * COLUMNS + j];
            }
        }
    });
    all
}

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
        by_columns(&self.rows, self.width)
    }
}
