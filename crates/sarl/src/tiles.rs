//! `U Uᵀ`, added to the lower triangle of a matrix tile by tile: packed rows to a scatter, or what a Cholesky
//! factor has taken off what is left.
//!
//! A product in single precision is formed in a tile that stays in the cache of its core, and widened
//! from there: the matrix is read and written once for all columns of `U`, and no second one of its
//! size is needed. Tiles share no entry, so that all threads can work on one matrix.

use faer::linalg::matmul::matmul as product;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::dots;
use crate::spare::padded;

/// The side of a tile: measured best between 128 and 512, for 256 to 4,096 columns.
const TILE: usize = 256;
/// The least, where there are more threads than larger tiles keep busy.
const SMALL_TILE: usize = 128;
const TILES_PER_THREAD: usize = 3;

/// The element type that products are formed in.
pub(crate) trait Compute:
    faer::traits::ComplexField + Copy + Into<f64> + Send + Sync + 'static
{
    /// What a worker needs beside the tile.
    type Room: Send;

    fn from_f64(value: f64) -> Self;

    fn room() -> Self::Room;

    /// Adds this part of `by · A Bᵀ`, of which the lower triangle is enough on the diagonal.
    fn fill(
        tile: Tile<'_>,
        both: (MatRef<'_, Self>, MatRef<'_, Self>),
        by: f64,
        room: &mut Self::Room,
    );
}

/// A part of a matrix, from this row and column on.
pub(crate) struct Tile<'a> {
    row: usize,
    column: usize,
    to: MatMut<'a, f64>,
}

impl Tile<'_> {
    fn is_on_diagonal(&self) -> bool {
        self.row == self.column
    }
}

impl Compute for f64 {
    type Room = ();

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    fn room() {}

    fn fill(tile: Tile<'_>, both: (MatRef<'_, f64>, MatRef<'_, f64>), by: f64, (): &mut ()) {
        let diagonal = tile.is_on_diagonal();
        let Tile { row, column, to } = tile;
        let (a, b) = (both.0.subrows(row, to.nrows()), both.1.subrows(column, to.ncols()));
        multiply(to, Accum::Add, (a, b), by, diagonal);
    }
}

impl Compute for f32 {
    type Room = Mat<f32>;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn room() -> Mat<f32> {
        Mat::zeros(padded(TILE, 16), TILE)
    }

    fn fill(
        tile: Tile<'_>,
        both: (MatRef<'_, f32>, MatRef<'_, f32>),
        by: f64,
        room: &mut Mat<f32>,
    ) {
        let diagonal = tile.is_on_diagonal();
        let Tile { row, column, mut to } = tile;
        let (rows, columns) = to.shape();
        let mut sum = room.as_mut().submatrix_mut(0, 0, rows, columns);
        let (a, b) = (both.0.subrows(row, rows), both.1.subrows(column, columns));
        multiply(sum.as_mut(), Accum::Replace, (a, b), by as f32, diagonal);
        for j in 0..columns {
            let first = if diagonal { j } else { 0 };
            let from = sum.as_ref().col(j).try_as_col_major().map(|c| c.as_slice());
            let to = to.as_mut().col_mut(j).try_as_col_major_mut().map(|c| c.as_slice_mut());
            if let (Some(from), Some(to)) = (from, to) {
                dots::with_vectors(Widened { to: &mut to[first..], from: &from[first..] });
            }
        }
    }
}

/// `to += from`.
struct Widened<'a> {
    to: &'a mut [f64],
    from: &'a [f32],
}

impl dots::Work for Widened<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.to.iter_mut().zip(self.from).for_each(|(to, &from)| *to += f64::from(from));
    }
}

fn multiply<C: Compute>(
    to: MatMut<'_, C>,
    how: Accum,
    (a, b): (MatRef<'_, C>, MatRef<'_, C>),
    by: C,
    diagonal: bool,
) {
    if diagonal {
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular(to, lower, how, a, full, b.transpose(), full, by, Par::Seq);
    } else {
        product(to, how, a, b.transpose(), by, Par::Seq);
    }
}

/// Adds `by · U Uᵀ` to the lower triangle, by this thread or by all.
pub(crate) fn add<C: Compute>(to: MatMut<'_, f64>, u: MatRef<'_, C>, by: f64, par: Par) {
    add_products(to, (u, u), by, par);
}

/// The same with `by · A Bᵀ`, which must be symmetric.
pub(crate) fn add_products<C: Compute>(
    to: MatMut<'_, f64>,
    both: (MatRef<'_, C>, MatRef<'_, C>),
    by: f64,
    par: Par,
) {
    let tiles = tiles(to, side(both.0.nrows(), par));
    match par {
        Par::Seq => {
            let mut room = C::room();
            tiles.into_iter().for_each(|tile| C::fill(tile, both, by, &mut room));
        }
        _ => {
            let fill = |room: &mut C::Room, tile: Tile<'_>| C::fill(tile, both, by, room);
            tiles.into_par_iter().for_each_init(C::room, fill);
        }
    }
}

/// A side that gives each thread some tiles.
fn side(columns: usize, par: Par) -> usize {
    let panels = columns.div_ceil(TILE);
    let few = panels * (panels + 1) / 2 < TILES_PER_THREAD * par.degree();
    if few { SMALL_TILE } else { TILE }
}

/// The tiles of a lower triangle, with those on the diagonal square.
fn tiles(whole: MatMut<'_, f64>, side: usize) -> Vec<Tile<'_>> {
    let mut tiles = Vec::new();
    let (mut rest, mut column) = (whole, 0);
    while rest.ncols() > 0 {
        let width = side.min(rest.ncols());
        let (panel, after) = rest.split_at_col_mut(width);
        rest = after;
        let (mut below, mut row) = (panel.split_at_row_mut(column).1, column);
        while below.nrows() > 0 {
            let height = side.min(below.nrows());
            let (to, after) = below.split_at_row_mut(height);
            tiles.push(Tile { row, column, to });
            (below, row) = (after, row + height);
        }
        column += width;
    }
    tiles
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a matrix that has something in it already; what is above the diagonal does not count.
    fn check<C: Compute>(columns: usize, rows: usize, by: f64, tolerance: f64) {
        let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 7.0 - 1.5;
        let u = Mat::from_fn(columns, rows, |i, j| C::from_f64(value(i, j)));
        let wide = Mat::from_fn(columns, rows, |i, j| u[(i, j)].into());
        let before = Mat::from_fn(columns, columns, |i, j| (i + j) as f64);
        let expected = &before + &wide * wide.transpose() * faer::Scale(by);
        for par in [Par::Seq, Par::rayon(2), Par::rayon(64)] {
            let mut scatter = before.clone();
            add(scatter.as_mut(), u.as_ref(), by, par);
            for j in 0..columns {
                for i in j..columns {
                    let (found, expected) = (scatter[(i, j)], expected[(i, j)]);
                    let apart = (found - expected).abs();
                    assert!(apart <= tolerance * rows as f64, "({i}, {j}): {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn tiles_are_the_product() {
        for columns in [1, 3, TILE - 1, TILE, TILE + 1, 2 * TILE + 5] {
            for by in [1.0, -1.0] {
                check::<f64>(columns, 37, by, 1e-14);
                check::<f32>(columns, 37, by, 1e-5);
            }
        }
    }
}
