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
    /// The bytes that a fit of so many rows takes with everything that can be asked of it, for so many
    /// columns of numbers, of which some are dense and the others one-hot. Its squares are as wide as
    /// its features: the columns, or the rows where these are fewer. Those of landmarks are not
    /// counted: how many there will be is known when they are chosen.
    pub fn bytes(&self, rows: u64, dense: u64, columns: u64) -> u64 {
        let apart = if self.folds > 1 { self.folds as u64 } else { 0 };
        self.with_squares(SQUARES + SQUARES_PER_FOLD * apart, rows, dense, columns)
    }

    fn with_squares(&self, squares: u64, rows: u64, dense: u64, columns: u64) -> u64 {
        let (side, mapped) = match &self.features {
            Features::Linear if columns > rows => (rows, doubles(rows, columns)),
            Features::Linear => (columns, 0),
            Features::Kernel(kernel) => kernel.bytes(rows, columns),
        };
        let blocks = BLOCKS.saturating_mul(doubles(rows.min(BLOCK), dense));
        let square = doubles(side, side).saturating_mul(squares);
        square.saturating_add(blocks).saturating_add(mapped).saturating_add(LEAST)
    }

    /// Refuses rows whose sums alone need more memory than there may be.
    pub(super) fn check_memory(&self, rows: u64, dense: u64, columns: u64) -> Result<()> {
        let needed = self.with_squares(self.sums(), rows, dense, columns);
        sarl_memory::check(needed).map_err(Error::Memory)
    }

    /// Refuses so many features whose sums alone need more memory than there may be.
    pub(super) fn check_features(&self, features: u64) -> Result<()> {
        let needed = doubles(features, features).saturating_mul(self.sums());
        sarl_memory::check(needed).map_err(Error::Memory)
    }

    /// The squares that are added up.
    fn sums(&self) -> u64 {
        self.folds.max(1) as u64
    }
}

impl KernelParams {
    /// The features that are known before any are chosen, and the bytes of what they are chosen
    /// from.
    fn bytes(&self, rows: u64, columns: u64) -> (u64, u64) {
        let sample = rows.min(self.sample_size() as u64);
        let features = match self.approximation {
            Approximation::RandomFeatures => self.landmarks as u64,
            _ => 0,
        };
        let block = doubles(rows.min(BLOCK), features);
        let candidates = doubles(sample, columns);
        (features, candidates.saturating_add(doubles(features, columns)).saturating_add(block))
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
        assert!(bytes(&kernel) < 1 << 30, "how many landmarks there will be is not known");
        kernel.approximation = Approximation::RandomFeatures;
        assert!(bytes(&kernel) > 1 << 40, "random features are as many as were asked for");
        let params = FitParams::kernel(kernel);
        for refused in [params.check_memory(500, 3, 3), params.check_features(1_000_000)] {
            assert!(matches!(refused, Err(Error::Memory(_))), "{refused:?}");
        }
        assert!(params.check_features(100).is_ok());
    }
}
