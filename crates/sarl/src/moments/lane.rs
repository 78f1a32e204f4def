//! One worker's share of the rows: packed chunks multiplied into that worker's own sums.
//!
//! Rows are shifted, scaled by the root of their weight and packed, fold by fold, as the columns
//! of a buffer with a padded stride; a full buffer `U` (columns × rows) adds `U Uᵀ` to the lower
//! triangle of its fold's scatter.

use faer::linalg::matmul::matmul as product;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::Precision;
use super::block::{Block, Element, row_slice};
use super::folds::Folds;
use super::layout::Layout;
use super::sums::{Sums, codes_are_many};
use crate::dots;
use crate::spare::padded;
use crate::tiles::{self, Compute};

/// Rows packed before a product: measured best for double precision between 128 and 512. A scatter that is
/// larger than a cache is read and written less often with more of them.
const CHUNK: usize = 256;
const CHUNK_WIDE: usize = 512;
const WIDE: usize = 512;
/// The same for single precision, whose products are widened after so many rows: more are hardly
/// faster, and a buffer of them is there for each fold.
const CHUNK_SINGLE: usize = 1024;

/// What all lanes of an accumulator share while they work on a block.
pub(crate) struct Plan<'a> {
    pub(crate) shift: &'a [f64],
    pub(crate) pairs: &'a [(usize, usize)],
    pub(crate) folds: Folds<'a>,
    pub(crate) par: Par,
}

/// A worker's sums, one per fold, and its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) folds: Vec<Sums>,
    columns: usize,
    buffers: Buffers,
}

/// One for each fold, from the first row on.
#[derive(Clone, Debug)]
enum Buffers {
    Double(Vec<Packed<f64>>),
    Single(Vec<Packed<f32>>),
}

#[derive(Clone, Debug)]
struct Packed<C> {
    /// Columns × rows.
    rows: Mat<C>,
    filled: usize,
    /// Rows × the classes of the groups of few: the root of the weight in a row's class.
    classes: Mat<C>,
}

impl<C: Compute> Packed<C> {
    fn new(stride: usize, chunk: usize, few: usize) -> Self {
        Packed { rows: Mat::zeros(stride, chunk), filled: 0, classes: Mat::zeros(chunk, few) }
    }

    /// Notes the classes of row `i` of the block in the next place.
    fn note(&mut self, groups: &[(usize, &[u32])], root: f64, i: usize) {
        let mut start = 0;
        for &(classes, codes) in groups {
            // No class is an indicator of zeros.
            if (codes[i] as usize) < classes {
                self.classes[(self.filled, start + codes[i] as usize)] = C::from_f64(root);
            }
            start += classes;
        }
    }

    /// Empties the buffer into the sums.
    fn flush(&mut self, sums: &mut Sums, columns: usize, par: Par) {
        let u = self.rows.as_ref().submatrix(0, 0, columns, self.filled);
        if self.classes.ncols() > 0 {
            let classes = self.classes.as_ref().subrows(0, self.filled);
            let mut tables = Mat::zeros(columns, classes.ncols());
            let one = C::from_f64(1.0);
            product(tables.as_mut(), Accum::Replace, u, classes, one, par);
            sums.add_tables(tables.as_ref());
            self.classes.fill(C::from_f64(0.0));
        }
        tiles::add(sums.scatter_mut(), u, 1.0, par);
        self.filled = 0;
    }
}

impl Lane {
    pub(crate) fn new(layout: &Layout, folds: usize, precision: Precision) -> Self {
        Self::of((0..folds).map(|_| Sums::new(layout)).collect(), layout, precision)
    }

    /// With sums that are there already.
    pub(crate) fn of(sums: Vec<Sums>, layout: &Layout, precision: Precision) -> Self {
        let buffers = match precision {
            Precision::Double => Buffers::Double(Vec::new()),
            Precision::Single => Buffers::Single(Vec::new()),
        };
        Lane { folds: sums, columns: layout.columns(), buffers }
    }

    /// Adds rows `start..end` of the block.
    pub(crate) fn push<T: Element>(
        &mut self,
        block: &Block<'_, T>,
        rows: (usize, usize),
        plan: &Plan<'_>,
    ) {
        let Lane { folds, columns, buffers } = self;
        let few = folds.first().map_or(0, Sums::classes_of_few);
        let chunk = if *columns < WIDE { CHUNK } else { CHUNK_WIDE };
        match buffers {
            Buffers::Double(buffers) => {
                buffers.resize_with(folds.len(), || Packed::new(padded(*columns, 8), chunk, few));
                pack(folds, buffers, block, rows, plan, *columns);
            }
            Buffers::Single(buffers) => {
                buffers.resize_with(folds.len(), || {
                    Packed::new(padded(*columns, 16), CHUNK_SINGLE, few)
                });
                pack(folds, buffers, block, rows, plan, *columns);
            }
        }
    }
}

fn pack<T: Element, C: Compute>(
    folds: &mut [Sums],
    buffers: &mut [Packed<C>],
    block: &Block<'_, T>,
    (start, end): (usize, usize),
    plan: &Plan<'_>,
    columns: usize,
) {
    let full = buffers.first().map_or(0, |buffer| buffer.rows.ncols());
    let groups = block.groups();
    let numbers = block.numbers();
    let sizes = folds.first().map_or(Vec::new(), |f| f.tables.iter().map(Mat::ncols).collect());
    let few: Vec<(usize, &[u32])> =
        sizes.into_iter().zip(groups.iter().copied()).filter(|g| !codes_are_many(g.0)).collect();
    // Rows that wait for their buffer to be full, with the roots of their weights. Where there are no
    // other workers they are packed by all threads.
    let mut waiting: Vec<Vec<(usize, f64)>> = vec![Vec::new(); folds.len()];
    let together = !matches!(plan.par, Par::Seq);
    let row = |to: &mut [C], (i, root): (usize, f64)| {
        pack_row(&mut to[..columns], block.dense, &numbers, plan.shift, root, i);
    };
    let mut empty = |fold: usize, rows: &mut Vec<(usize, f64)>| {
        let (sums, buffer) = (&mut folds[fold], &mut buffers[fold]);
        if together {
            let packed = buffer.rows.as_mut().subcols_mut(0, rows.len()).par_col_iter_mut();
            packed.zip(rows.par_iter()).for_each(|(to, &from)| {
                let to = to.try_as_col_major_mut().map(|c| c.as_slice_mut());
                to.into_iter().for_each(|to| row(to, from));
            });
        }
        for &(i, root) in rows.iter() {
            let packed = &mut buffer.rows.col_as_slice_mut(buffer.filled)[..columns];
            if !together {
                row(packed, (i, root));
            }
            sums.count_row(packed, root, &groups, plan.pairs, i);
            buffer.note(&few, root, i);
            buffer.filled += 1;
        }
        buffer.flush(sums, columns, plan.par);
        rows.clear();
    };
    for i in start..end {
        let root = block.weights.map_or(1.0, |w| w[i].sqrt());
        if root == 0.0 {
            continue;
        }
        let fold = plan.folds.of(block, i);
        waiting[fold].push((i, root));
        if waiting[fold].len() == full {
            empty(fold, &mut waiting[fold]);
        }
    }
    for (fold, rows) in waiting.iter_mut().enumerate().filter(|(_, rows)| !rows.is_empty()) {
        empty(fold, rows);
    }
}

fn pack_row<T: Element, C: Compute>(
    to: &mut [C],
    dense: MatRef<'_, T>,
    numbers: &[MatRef<'_, f64>],
    shift: &[f64],
    root: f64,
    i: usize,
) {
    let shifted = |value: f64, shift: f64| C::from_f64((value - shift) * root);
    let width = dense.ncols();
    match row_slice(dense, i) {
        Some(row) => dots::with_vectors(Shifted { to: &mut to[..width], row, shift, root }),
        None => {
            for j in 0..width {
                to[j] = shifted(dense[(i, j)].into(), shift[j]);
            }
        }
    }
    let mut at = width;
    for values in numbers {
        for j in 0..values.ncols() {
            to[at] = shifted(values[(i, j)], shift[at]);
            at += 1;
        }
    }
}

/// `to = (row − shift) · root`.
struct Shifted<'a, T, C> {
    to: &'a mut [C],
    row: &'a [T],
    shift: &'a [f64],
    root: f64,
}

impl<T: Element, C: Compute> dots::Work for Shifted<'_, T, C> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for ((to, &v), &shift) in self.to.iter_mut().zip(self.row).zip(self.shift) {
            *to = C::from_f64((v.into() - shift) * self.root);
        }
    }
}
