//! The memory that a fit takes, known before it begins.

use super::params::{Approximation, Features, FitParams, KernelParams};
use crate::{Error, Result};

/// Rows of a block at most.
const BLOCK: u64 = 8192;
/// Blocks in memory at a time.
const BLOCKS: u64 = 3;
/// Square matrices of a fit without folds, and of each of several folds; measured.
const SQUARES: u64 = 4;
const SQUARES_PER_FOLD: u64 = 8;
/// What a program takes whatever it does.
const LEAST: u64 = 16 << 20;

fn doubles(a: u64, b: u64) -> u64 {
    8u64.saturating_mul(a).saturating_mul(b)
}

impl FitParams {
    /// The bytes of a fit of so many rows with so many columns of numbers, of which some are dense
    /// and the others one-hot. Held in squares of its features: the columns, or the rows where
    /// these are fewer; for a kernel its landmarks.
    pub fn bytes(&self, rows: u64, dense: u64, columns: u64) -> u64 {
        let (side, mapped) = match &self.features {
            Features::Linear if columns > rows => (rows, doubles(rows, columns)),
            Features::Linear => (columns, 0),
            Features::Kernel(kernel) => kernel.bytes(rows, columns),
        };
        let apart = if self.folds > 1 { self.folds as u64 } else { 0 };
        let squares = SQUARES + SQUARES_PER_FOLD * apart;
        let blocks = BLOCKS.saturating_mul(doubles(rows.min(BLOCK), dense));
        let square = doubles(side, side).saturating_mul(squares);
        square.saturating_add(blocks).saturating_add(mapped).saturating_add(LEAST)
    }

    /// Refuses a fit that needs more memory than there may be.
    pub fn check_memory(&self, rows: u64, dense: u64, columns: u64) -> Result<()> {
        sarl_memory::check(self.bytes(rows, dense, columns)).map_err(Error::Memory)
    }
}

impl KernelParams {
    /// The features, and the bytes of what makes them: candidates, their factor, landmarks, a
    /// block of features.
    fn bytes(&self, rows: u64, columns: u64) -> (u64, u64) {
        let sample = rows.min(self.sample_size() as u64);
        let features = match self.approximation {
            Approximation::RandomFeatures => self.landmarks as u64,
            Approximation::Exact => rows,
            _ => sample.min(self.landmarks as u64),
        };
        let candidates = doubles(sample, columns.saturating_add(features));
        let landmarks = doubles(features, columns);
        let block = doubles(rows.min(BLOCK), features);
        (features, candidates.saturating_add(landmarks).saturating_add(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn fewer_rows_than_columns_are_held() {
        let linear = FitParams::default();
        assert!(linear.bytes(300, 5000, 5000) < linear.bytes(10_000, 5000, 5000) / 10);
        assert_eq!(linear.bytes(u64::MAX, 1, u64::MAX), u64::MAX);
    }

    #[test]
    fn kernels_are_as_large_as_their_features() {
        let mut kernel = KernelParams::new(Family::Rbf);
        kernel.landmarks = 100_000;
        let bytes = |kernel: &KernelParams| FitParams::kernel(kernel.clone()).bytes(500, 3, 3);
        assert!(bytes(&kernel) < 1 << 30, "no more landmarks than rows");
        kernel.approximation = Approximation::RandomFeatures;
        assert!(bytes(&kernel) > 1 << 40, "random features are as many as were asked for");
        let error = FitParams::kernel(kernel).check_memory(500, 3, 3).unwrap_err();
        assert!(matches!(error, Error::Memory(_)), "{error}");
    }
}
