//! The Cholesky factor at the rate of a matrix product.
//!
//! ```text
//! [A₁₁    ]   [L₁₁    ] [L₁₁ᵀ L₂₁ᵀ]      L₂₁ = A₂₁ L₁₁⁻ᵀ
//! [A₂₁ A₂₂] = [L₂₁ L₂₂] [     L₂₂ᵀ]      L₂₂ L₂₂ᵀ = A₂₂ − L₂₁ L₂₁ᵀ
//! ```
//!
//! Halves are factored in the same way. Rows of `L₂₁` and tiles of what is left are shared out over the
//! threads, each of which multiplies by itself. In faer's factor they share each product, which takes longer on two
//! threads than on one up to some hundred columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as plain;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatMut, MatRef, Par, get_global_parallelism};
use rayon::prelude::*;

use crate::{Error, Result, tiles};

/// Up to this size one thread takes it: measured best between 192 and 512.
const BASE: usize = 256;
/// A half has a whole number of cache lines.
const LINES: usize = 64;
/// Pieces of rows for each thread, and the least of them.
const PIECES: usize = 2;
const ROWS: usize = 64;

/// The Cholesky factor of a positive definite matrix.
pub(crate) fn cholesky(a: MatRef<'_, f64>) -> Result<Mat<f64>> {
    cholesky_of(a.to_owned())
}

/// The same, written over the matrix: covariances of wide rows are large.
pub(crate) fn cholesky_of(mut a: Mat<f64>) -> Result<Mat<f64>> {
    factor(a.as_mut(), get_global_parallelism())?;
    let clear = |(j, column): (usize, faer::ColMut<'_, f64>)| column.subrows_mut(0, j).fill(0.0);
    match a.nrows() > BASE {
        true => a.par_col_iter_mut().enumerate().for_each(clear),
        false => a.col_iter_mut().enumerate().for_each(clear),
    }
    Ok(a)
}

/// Of the lower triangle, which is all that is read and written.
fn factor(a: MatMut<'_, f64>, par: Par) -> Result<()> {
    let size = a.nrows();
    if size <= BASE || par.degree() == 1 {
        return by_one_thread(a);
    }
    let half = (size / 2).next_multiple_of(LINES);
    let (mut first, _, mut below, mut last) = a.split_at_mut(half, half);
    factor(first.as_mut(), par)?;
    let known = first.as_ref();
    let piece = (size - half).div_ceil(PIECES * par.degree()).next_multiple_of(8).max(ROWS);
    below.as_mut().par_row_chunks_mut(piece).for_each(|rows| {
        solve_lower_triangular_in_place(known, rows.transpose_mut(), Par::Seq);
    });
    tiles::add(last.as_mut(), below.as_ref(), -1.0, par);
    factor(last, par)
}

fn by_one_thread(a: MatMut<'_, f64>) -> Result<()> {
    let need = plain::cholesky_in_place_scratch::<f64>(a.nrows(), Par::Seq, Default::default());
    let room = &mut MemBuffer::new(need);
    let found = plain::cholesky_in_place(
        a,
        Default::default(),
        Par::Seq,
        MemStack::new(room),
        Default::default(),
    );
    found.map(|_| ()).map_err(|_| Error::NoConvergence { what: "Cholesky decomposition" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positive definite, and not nearly diagonal.
    fn example(size: usize) -> Mat<f64> {
        let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 7.0 - 1.5;
        let b = Mat::from_fn(size, size, value);
        &b * b.transpose() + Mat::<f64>::identity(size, size) * faer::Scale(size as f64)
    }

    #[test]
    fn it_is_the_factor_for_any_size_and_number_of_threads() {
        for size in [0, 1, 2, BASE, BASE + 1, 2 * BASE + 37, 3 * BASE] {
            let a = example(size);
            for par in [Par::Seq, Par::rayon(2), Par::rayon(16)] {
                let mut found = a.clone();
                factor(found.as_mut(), par).unwrap();
                let lower =
                    Mat::from_fn(size, size, |i, j| if i >= j { found[(i, j)] } else { 0.0 });
                let apart = (&lower * lower.transpose() - &a).norm_max();
                assert!(apart <= 1e-14 * (size as f64) * a.norm_max(), "{size}: {apart:e}");
            }
        }
    }

    #[test]
    fn what_is_above_is_neither_read_nor_left() {
        let a = example(2 * BASE + 3);
        let mut dirty = a.clone();
        (1..a.nrows()).for_each(|j| dirty.col_mut(j).subrows_mut(0, j).fill(f64::NAN));
        assert_eq!(cholesky_of(dirty).unwrap(), cholesky(a.as_ref()).unwrap());
    }

    #[test]
    fn there_is_none_of_a_matrix_that_is_not_positive_definite() {
        for at in [3, BASE + 40, 2 * BASE + 2] {
            let mut a = example(2 * BASE + 3);
            a[(at, at)] = -1.0;
            assert!(cholesky_of(a).is_err(), "{at}");
        }
    }
}
