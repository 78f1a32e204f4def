//! One worker's share of the rows: packed chunks multiplied into that worker's own sums.
//!
//! Rows are shifted, scaled by the root of their weight and packed, fold by fold, as the columns
//! of a buffer with a padded stride; a full buffer `U` (columns × rows) adds `U Uᵀ` to the lower
//! triangle of its fold's scatter.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatRef, Par};

use super::Precision;
use super::block::{Block, Element, row_slice};
use super::layout::Layout;
use super::sums::{Sums, padded};

/// Rows packed before a product: measured best for double precision between 128 and 512.
const CHUNK: usize = 256;
/// In single precision the product is widened once per chunk, which a longer one amortises.
const CHUNK_SINGLE: usize = 1024;

/// What all lanes of an accumulator share while they work on a block.
pub(crate) struct Plan<'a> {
    pub(crate) shift: &'a [f64],
    pub(crate) pairs: &'a [(usize, usize)],
    pub(crate) fold_of: &'a (dyn Fn(u64) -> usize + Sync),
    /// The number of the block's first row.
    pub(crate) first: u64,
    pub(crate) par: Par,
}

/// A worker's sums, one per fold, and its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) folds: Vec<Sums>,
    columns: usize,
    buffers: Buffers,
}

#[derive(Clone, Debug)]
enum Buffers {
    Double(Vec<Packed<f64>>),
    /// With a product to widen from.
    Single(Vec<Packed<f32>>, Mat<f32>),
}

#[derive(Clone, Debug)]
struct Packed<C> {
    rows: Mat<C>,
    filled: usize,
}

impl Lane {
    pub(crate) fn new(layout: &Layout, folds: usize, precision: Precision) -> Self {
        let columns = layout.columns();
        let buffers = match precision {
            Precision::Double => {
                let empty = Packed { rows: Mat::zeros(padded(columns, 8), CHUNK), filled: 0 };
                Buffers::Double(vec![empty; folds])
            }
            Precision::Single => {
                let stride = padded(columns, 16);
                let empty = Packed { rows: Mat::zeros(stride, CHUNK_SINGLE), filled: 0 };
                Buffers::Single(vec![empty; folds], Mat::zeros(stride, columns))
            }
        };
        Lane { folds: vec![Sums::new(layout); folds], columns, buffers }
    }

    /// Adds rows `start..end` of the block.
    pub(crate) fn push<T: Element>(
        &mut self,
        block: &Block<'_, T>,
        (start, end): (usize, usize),
        plan: &Plan<'_>,
    ) {
        let columns = self.columns;
        match &mut self.buffers {
            Buffers::Double(buffers) => {
                let flush = |sums: &mut Sums, u: MatRef<'_, f64>| {
                    let lower = BlockStructure::TriangularLower;
                    let full = BlockStructure::Rectangular;
                    let to = sums.scatter_mut();
                    matmul(to, lower, Accum::Add, u, full, u.transpose(), full, 1.0, plan.par);
                };
                pack(&mut self.folds, buffers, block, (start, end), plan, columns, flush);
            }
            Buffers::Single(buffers, product) => {
                let mut product = product.as_mut().subrows_mut(0, columns);
                let flush = |sums: &mut Sums, u: MatRef<'_, f32>| {
                    let lower = BlockStructure::TriangularLower;
                    let full = BlockStructure::Rectangular;
                    let to = product.as_mut();
                    matmul(to, lower, Accum::Replace, u, full, u.transpose(), full, 1.0, plan.par);
                    widen(sums, product.as_ref());
                };
                pack(&mut self.folds, buffers, block, (start, end), plan, columns, flush);
            }
        }
    }
}

/// Adds a single-precision product to the double-precision scatter.
fn widen(sums: &mut Sums, product: MatRef<'_, f32>) {
    let mut scatter = sums.scatter_mut();
    for j in 0..product.ncols() {
        let from = product.col(j).try_as_col_major().map(|c| c.as_slice());
        let to = scatter.as_mut().col_mut(j).try_as_col_major_mut().map(|c| c.as_slice_mut());
        if let (Some(from), Some(to)) = (from, to) {
            for (t, &f) in to[j..].iter_mut().zip(&from[j..]) {
                *t += f64::from(f);
            }
        }
    }
}

/// The element type that products are formed in.
trait Compute: Copy + Into<f64> + Send + 'static {
    fn from_f64(value: f64) -> Self;
}

impl Compute for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

impl Compute for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

fn pack<T: Element, C: Compute>(
    folds: &mut [Sums],
    buffers: &mut [Packed<C>],
    block: &Block<'_, T>,
    (start, end): (usize, usize),
    plan: &Plan<'_>,
    columns: usize,
    mut flush: impl FnMut(&mut Sums, MatRef<'_, C>),
) {
    let groups = block.groups();
    let numbers = block.numbers();
    for i in start..end {
        let root = block.weights.map_or(1.0, |w| w[i].sqrt());
        if root == 0.0 {
            continue;
        }
        let fold = (plan.fold_of)(plan.first + i as u64);
        let (sums, buffer) = (&mut folds[fold], &mut buffers[fold]);
        let packed = &mut buffer.rows.col_as_slice_mut(buffer.filled)[..columns];
        pack_row(packed, block.dense, &numbers, plan.shift, root, i);
        sums.count_row(packed, root, &groups, plan.pairs, i);
        buffer.filled += 1;
        if buffer.filled == buffer.rows.ncols() {
            flush(sums, buffer.rows.as_ref().subrows(0, columns));
            buffer.filled = 0;
        }
    }
    for (sums, buffer) in folds.iter_mut().zip(buffers) {
        if buffer.filled > 0 {
            flush(sums, buffer.rows.as_ref().submatrix(0, 0, columns, buffer.filled));
            buffer.filled = 0;
        }
    }
}

#[inline(always)]
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
        Some(row) => {
            for ((t, &v), &c) in to.iter_mut().zip(row).zip(shift) {
                *t = shifted(v.into(), c);
            }
        }
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
