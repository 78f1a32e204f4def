//! What a device is told of the rows of a block beside their inputs: folds, weights and classes.

use rayon::prelude::*;

use super::block::{Block, Element};
use super::folds::Folds;
use super::layout::Layout;
use super::sums::Sums;
use crate::engine::Rows;

/// What is done with the rows of a block, and what is counted of them.
pub(super) struct Listed {
    beside: Vec<f64>,
    order: Vec<u32>,
    ends: Vec<usize>,
    roots: Option<Vec<f64>>,
    /// The rows, weights and classes of each fold.
    pub(super) counts: Vec<Sums>,
}

impl Listed {
    pub(super) fn new<T: Element>(
        block: &Block<'_, T>,
        groups: &[&[u32]],
        (by, count): (&Folds<'_>, usize),
        (layout, pairs): (&Layout, &[(usize, usize)]),
    ) -> Self {
        let rows = (0..block.rows()).into_par_iter().with_min_len(1024);
        let folds: Vec<usize> = rows.map(|i| by.of(block, i)).collect();
        let weighs = |i: usize| block.weights.is_none_or(|w| w[i] > 0.0);
        let (order, ends) = grouped(&folds, count, weighs);
        let counted = |fold: usize| {
            let mut sums = Sums::counts(layout);
            let start = if fold == 0 { 0 } else { ends[fold - 1] };
            for &i in &order[start..ends[fold]] {
                let i = i as usize;
                sums.count(block.weights.map_or(1.0, |w| w[i]), groups, pairs, i);
            }
            sums
        };
        let counts = (0..count).into_par_iter().map(counted).collect();
        let roots = block.weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        Listed { beside: beside(block), order, ends, roots, counts }
    }

    /// As a device takes it.
    pub(super) fn rows<'a>(&'a self, codes: &'a [&'a [u32]]) -> Rows<'a> {
        let (beside, order, ends) = (&self.beside, &self.order, &self.ends);
        Rows { beside, order, ends, roots: self.roots.as_deref(), codes }
    }
}

/// The rows that count, fold after fold, and where each fold ends.
fn grouped(
    folds: &[usize],
    count: usize,
    counts: impl Fn(usize) -> bool,
) -> (Vec<u32>, Vec<usize>) {
    let mut sizes = vec![0usize; count];
    for (i, &fold) in folds.iter().enumerate() {
        sizes[fold] += usize::from(counts(i));
    }
    let ends: Vec<usize> = sizes
        .iter()
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect();
    let mut at: Vec<usize> = ends.iter().zip(&sizes).map(|(end, size)| end - size).collect();
    let mut order = vec![0u32; ends.last().copied().unwrap_or(0)];
    for (i, &fold) in folds.iter().enumerate() {
        if counts(i) {
            order[at[fold]] = i as u32;
            at[fold] += 1;
        }
    }
    (order, ends)
}

/// The numbers beside the features, row after row.
fn beside<T: Element>(block: &Block<'_, T>) -> Vec<f64> {
    let numbers = block.numbers();
    if numbers.is_empty() {
        return Vec::new();
    }
    (0..block.rows())
        .flat_map(|i| numbers.iter().flat_map(move |v| v.row(i).iter().copied()))
        .collect()
}

impl Sums {
    /// The rows, the weight and the counts of one row.
    fn count(&mut self, weight: f64, groups: &[&[u32]], pairs: &[(usize, usize)], i: usize) {
        self.rows += 1;
        self.weight += weight;
        for (counts, codes) in self.counts.iter_mut().zip(groups) {
            if let Some(count) = counts.get_mut(codes[i] as usize) {
                *count += weight;
            }
        }
        for (pair, &(a, b)) in self.pairs.iter_mut().zip(pairs) {
            let (k, l) = (groups[a][i] as usize, groups[b][i] as usize);
            if k < pair.nrows() && l < pair.ncols() {
                pair[(k, l)] += weight;
            }
        }
    }

    /// Whether no variance has overflown.
    pub(super) fn diagonal_is_finite(&self) -> bool {
        let scatter = self.scatter();
        (0..scatter.ncols()).all(|j| scatter[(j, j)].is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn rows_are_grouped_by_fold_and_those_of_no_weight_left_out() {
        let folds = [2, 0, 1, 0, 2, 1];
        let (order, ends) = grouped(&folds, 3, |i| i != 3);
        assert_eq!(order, [1, 2, 5, 0, 4]);
        assert_eq!(ends, [1, 3, 5]);
    }
}
