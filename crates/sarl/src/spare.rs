//! Matrices of the size of the features that are used again.
//!
//! New memory of that size comes page by page from the system, which takes longer than what is then
//! written there.

use faer::Mat;

/// Doubles in a cache line.
const LANE: usize = 8;

/// Matrices that are not needed any more.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Mat<f64>>);

impl Spare {
    /// One of them, or an empty one.
    pub(crate) fn take(&mut self) -> Mat<f64> {
        self.0.pop().unwrap_or_else(Mat::new)
    }

    /// One more.
    pub(crate) fn give(&mut self, matrix: Mat<f64>) {
        if matrix.nrows() > 0 {
            self.0.push(matrix);
        }
    }
}

/// Rows of storage for `rows` rows of doubles: an odd number of cache lines, because a stride of
/// a power of two makes the columns of a product compete for the same cache sets.
pub(crate) fn padded(rows: usize, lane: usize) -> usize {
    let lines = rows.div_ceil(lane);
    (lines + 1 - lines % 2) * lane
}

/// A square matrix of some size with anything in it: the one that is there, or a new one.
pub(crate) fn square(spare: Mat<f64>, size: usize) -> Mat<f64> {
    if spare.shape() == (size, size) {
        return spare;
    }
    let mut new = Mat::with_capacity(padded(size, LANE), size);
    new.resize_with(size, size, |_, _| 0.0);
    new
}
