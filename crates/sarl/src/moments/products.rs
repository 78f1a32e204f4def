//! Sums over some folds, of which the products of columns are added up where they are read.
//!
//! Products are as large as covariances. A copy of their sum would be one more matrix of that size.

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::lane::Lane;
use super::layout::Layout;
use super::sums::Sums;

/// See the module.
pub(super) struct Products<'a> {
    /// The sums of each fold, by worker.
    folds: Vec<Vec<&'a Sums>>,
    /// What each column is multiplied by.
    factors: Option<&'a [f64]>,
    /// Everything but the products.
    pub(super) rest: Sums,
}

impl<'a> Products<'a> {
    pub(super) fn new(
        layout: &Layout,
        lanes: &'a [Lane],
        folds: &[usize],
        factors: Option<&'a [f64]>,
    ) -> Self {
        let of = |&fold: &usize| lanes.iter().map(|lane| &lane.folds[fold]).collect();
        let folds: Vec<Vec<&Sums>> = folds.iter().map(of).collect();
        let add_up = |sums: &mut dyn Iterator<Item = &Sums>| {
            let mut all = Sums::without_products(layout);
            sums.for_each(|one| all.add(one));
            all
        };
        // Workers first: a file holds the sums of folds, so that what it gives back is the same.
        let each: Vec<Sums> =
            folds.iter().map(|lanes| add_up(&mut lanes.iter().copied())).collect();
        let mut rest = add_up(&mut each.iter());
        if let Some(factors) = factors {
            rest.rescale(factors);
        }
        Products { folds, factors, rest }
    }

    /// `Σ w u uᵀ` of two columns.
    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        let place = (i.max(j), i.min(j));
        let fold = |lanes: &Vec<&Sums>| lanes.iter().map(|s| s.scatter()[place]).sum::<f64>();
        let sum: f64 = self.folds.iter().map(fold).sum();
        self.factors.map_or(sum, |factors| sum * factors[i] * factors[j])
    }

    /// Those of column `j` with itself and the columns after it.
    fn column(&self, j: usize, to: &mut [f64]) {
        to.fill(0.0);
        let from = |sums: &'a Sums| &sums.scatter_column(j)[j..j + to.len()];
        let each: Vec<Vec<&[f64]>> =
            self.folds.iter().map(|lanes| lanes.iter().map(|s| from(s)).collect()).collect();
        for lanes in &each {
            match lanes.as_slice() {
                [one] => to.iter_mut().zip(*one).for_each(|(to, v)| *to += v),
                [one, other] => {
                    let both = one.iter().zip(*other).map(|(a, b)| a + b);
                    to.iter_mut().zip(both).for_each(|(to, v)| *to += v);
                }
                many => to.iter_mut().enumerate().for_each(|(i, to)| {
                    *to += many.iter().map(|lane| lane[i]).sum::<f64>();
                }),
            }
        }
    }

    /// `Cov` of the first columns, the lower triangle of them, where `delta` are their means.
    pub(super) fn covariances(&self, delta: &[f64], to: MatMut<'_, f64>) {
        let (count, weight) = (delta.len(), self.rest.weight);
        to.subcols_mut(0, count).par_col_iter_mut().enumerate().for_each(|(j, column)| {
            let Some(column) = column.try_as_col_major_mut() else { return };
            let to = &mut column.as_slice_mut()[j..count];
            self.column(j, to);
            if let Some(factors) = self.factors {
                let own = factors[j];
                to.iter_mut().zip(&factors[j..]).for_each(|(to, factor)| *to *= factor * own);
            }
            let by = delta[j];
            to.iter_mut().zip(&delta[j..]).for_each(|(to, d)| *to = *to / weight - by * d);
        });
    }
}

/// Up to so many rows and columns are mirrored at a time: they stay in the cache.
const TILE: usize = 32;

/// Writes the lower triangle over the upper one.
pub(super) fn mirror(c: MatMut<'_, f64>) {
    let size = c.nrows();
    if size <= TILE {
        let mut c = c;
        for j in 0..size {
            for i in 0..j {
                c[(i, j)] = c[(j, i)];
            }
        }
        return;
    }
    let half = size / 2;
    let (first, above, below, last) = c.split_at_mut(half, half);
    rayon::join(
        || transpose(below.as_ref(), above),
        || rayon::join(|| mirror(first), || mirror(last)),
    );
}

fn transpose(from: MatRef<'_, f64>, to: MatMut<'_, f64>) {
    let (rows, columns) = to.shape();
    if rows.max(columns) <= TILE {
        let mut to = to;
        to.copy_from(from.transpose());
    } else if rows > columns {
        let ((a, b), (above, below)) = (from.split_at_col(rows / 2), to.split_at_row_mut(rows / 2));
        rayon::join(|| transpose(a, above), || transpose(b, below));
    } else {
        let ((a, b), (left, right)) =
            (from.split_at_row(columns / 2), to.split_at_col_mut(columns / 2));
        rayon::join(|| transpose(a, left), || transpose(b, right));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn what_is_below_is_above_too() {
        for size in [0, 1, 2, 31, 32, 33, 65, 130] {
            let lower = Mat::from_fn(size, size, |i, j| (i * 1000 + j) as f64);
            let mut whole = lower.clone();
            mirror(whole.as_mut());
            let expected = Mat::from_fn(size, size, |i, j| lower[(i.max(j), i.min(j))]);
            assert_eq!(whole, expected);
        }
    }
}
