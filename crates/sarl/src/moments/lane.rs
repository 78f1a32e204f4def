//! One worker's share of the rows: packed chunks multiplied into that worker's own sums.
//!
//! Rows are shifted, scaled by the root of their weight and packed, fold by fold, as the columns
//! of a buffer with a padded stride; a full buffer `U` (columns × rows) adds `U Uᵀ` to the lower
//! triangle of its fold's scatter.

use faer::linalg::matmul::matmul as product;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, ColMut, Mat, MatRef, Par};
use rayon::prelude::*;

use super::Precision;
use super::block::{Block, Element, row_slice};
use super::folds::Folds;
use super::layout::Layout;
use super::sums::{Sums, codes_are_many, padded};

/// Rows packed before a product: measured best for double precision between 128 and 512.
const CHUNK: usize = 256;
/// The same for single precision.
const CHUNK_SINGLE: usize = 512;
/// Single-precision products are added up over this many chunks before they are widened.
const WIDEN: usize = 4;

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

#[derive(Clone, Debug)]
enum Buffers {
    Double(Vec<Packed<f64>>),
    /// With the products to widen from.
    Single(Vec<Packed<f32>>, Vec<Product>),
}

/// A single-precision product over some chunks of a fold.
#[derive(Clone, Debug)]
struct Product {
    sum: Mat<f32>,
    chunks: usize,
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
    fn new(stride: usize, chunk: usize, layout: &Layout) -> Self {
        let few = layout.groups().into_iter().filter(|&g| !codes_are_many(g)).sum();
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

    /// Empties the buffer into the sums: their tables here, their scatter by `multiply`.
    fn flush(
        &mut self,
        sums: &mut Sums,
        columns: usize,
        par: Par,
        multiply: impl FnOnce(&mut Sums, MatRef<'_, C>),
    ) {
        let u = self.rows.as_ref().submatrix(0, 0, columns, self.filled);
        if self.classes.ncols() > 0 {
            let classes = self.classes.as_ref().subrows(0, self.filled);
            let mut tables = Mat::zeros(columns, classes.ncols());
            let one = C::from_f64(1.0);
            product(tables.as_mut(), Accum::Replace, u, classes, one, par);
            sums.add_tables(tables.as_ref());
            self.classes.fill(C::from_f64(0.0));
        }
        multiply(sums, u);
        self.filled = 0;
    }
}

impl Lane {
    pub(crate) fn new(layout: &Layout, folds: usize, precision: Precision) -> Self {
        Self::of((0..folds).map(|_| Sums::new(layout)).collect(), layout, precision)
    }

    /// With sums that are there already.
    pub(crate) fn of(sums: Vec<Sums>, layout: &Layout, precision: Precision) -> Self {
        let (columns, folds) = (layout.columns(), sums.len());
        let buffers = match precision {
            Precision::Double => {
                let empty = Packed::new(padded(columns, 8), CHUNK, layout);
                Buffers::Double(vec![empty; folds])
            }
            Precision::Single => {
                let stride = padded(columns, 16);
                let empty = Packed::new(stride, CHUNK_SINGLE, layout);
                let product = Product { sum: Mat::zeros(stride, columns), chunks: 0 };
                Buffers::Single(vec![empty; folds], vec![product; folds])
            }
        };
        Lane { folds: sums, columns, buffers }
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
                let flush = |_: usize, sums: &mut Sums, u: MatRef<'_, f64>| {
                    let lower = BlockStructure::TriangularLower;
                    let full = BlockStructure::Rectangular;
                    let to = sums.scatter_mut();
                    matmul(to, lower, Accum::Add, u, full, u.transpose(), full, 1.0, plan.par);
                };
                pack(&mut self.folds, buffers, block, (start, end), plan, columns, flush);
            }
            Buffers::Single(buffers, products) => {
                let flush = |fold: usize, sums: &mut Sums, u: MatRef<'_, f32>| {
                    let lower = BlockStructure::TriangularLower;
                    let full = BlockStructure::Rectangular;
                    let product = &mut products[fold];
                    let start = if product.chunks == 0 { Accum::Replace } else { Accum::Add };
                    let to = product.sum.as_mut().subrows_mut(0, columns);
                    matmul(to, lower, start, u, full, u.transpose(), full, 1.0, plan.par);
                    product.chunks += 1;
                    if product.chunks == WIDEN {
                        product.widen(sums, columns, plan.par);
                    }
                };
                pack(&mut self.folds, buffers, block, (start, end), plan, columns, flush);
                for (sums, product) in self.folds.iter_mut().zip(products) {
                    product.widen(sums, columns, plan.par);
                }
            }
        }
    }
}

impl Product {
    /// Adds it to the double-precision scatter, and begins anew.
    fn widen(&mut self, sums: &mut Sums, columns: usize, par: Par) {
        if self.chunks > 0 {
            widen(sums, self.sum.as_ref().subrows(0, columns), par);
            self.chunks = 0;
        }
    }
}

/// Adds a single-precision product to the double-precision scatter.
fn widen(sums: &mut Sums, product: MatRef<'_, f32>, par: Par) {
    let column = |j: usize, to: ColMut<'_, f64>| {
        let from = product.col(j).try_as_col_major().map(|c| c.as_slice());
        let to = to.try_as_col_major_mut().map(|c| c.as_slice_mut());
        if let (Some(from), Some(to)) = (from, to) {
            for (t, &f) in to[j..].iter_mut().zip(&from[j..]) {
                *t += f64::from(f);
            }
        }
    };
    let scatter = sums.scatter_mut();
    match par {
        Par::Seq => scatter.col_iter_mut().enumerate().for_each(|(j, to)| column(j, to)),
        _ => scatter.par_col_iter_mut().enumerate().for_each(|(j, to)| column(j, to)),
    }
}

/// The element type that products are formed in.
trait Compute: faer::traits::ComplexField + Copy + Into<f64> + Send + 'static {
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
    mut flush: impl FnMut(usize, &mut Sums, MatRef<'_, C>),
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
        buffer.flush(sums, columns, plan.par, |sums, u| flush(fold, sums, u));
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
