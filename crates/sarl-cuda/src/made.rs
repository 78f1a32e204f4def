//! Matrices for the sums that come back.
//!
//! Pages that are new to the process take longer than the copy into them, so that large matrices are
//! made while rows are added.

use std::thread::{self, JoinHandle};

use faer::Mat;
use sarl::engine::scatter_rows;

/// Fewer bytes than this are made when they are needed.
const LARGE: usize = 64 << 20;
/// Threads that make them.
const MOST: usize = 8;

/// Matrices that are being made.
#[derive(Default)]
pub(crate) struct Made(Vec<JoinHandle<Vec<Mat<f64>>>>);

fn empty(count: usize, columns: usize) -> Vec<Mat<f64>> {
    (0..count).map(|_| Mat::zeros(scatter_rows(columns), columns)).collect()
}

impl Made {
    /// Begins with one for each fold, where they are large.
    pub(crate) fn begin(folds: usize, columns: usize) -> Self {
        if folds * columns * columns * 8 < LARGE {
            return Made::default();
        }
        let threads = folds.min(MOST);
        let share = |i: usize| folds / threads + usize::from(i < folds % threads);
        let begin = |i: usize| {
            let count = share(i);
            thread::Builder::new().spawn(move || empty(count, columns)).ok()
        };
        Made((0..threads).filter_map(begin).collect())
    }

    /// All of them, zero; those that nobody has begun are made now.
    pub(crate) fn take(&mut self, folds: usize, columns: usize) -> Vec<Mat<f64>> {
        let done = std::mem::take(&mut self.0).into_iter().filter_map(|made| made.join().ok());
        let mut all: Vec<Mat<f64>> = done.flatten().collect();
        all.extend(empty(folds.saturating_sub(all.len()), columns));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_for_each_fold_each_time() {
        for (folds, columns) in [(3, 20), (11, 1000)] {
            let mut made = Made::begin(folds, columns);
            for _ in 0..2 {
                let all = made.take(folds, columns);
                assert_eq!(all.len(), folds);
                assert!(all.iter().all(|m| m.shape() == (scatter_rows(columns), columns)));
            }
        }
    }
}
