//! Few inner products with each row, at the speed of memory.
//!
//! A product with one or two columns is bound by reading the rows. So each row is read once, where
//! it is, and widened on the way: nothing is laid out in double precision first.

use faer::traits::pulp::Arch;

use crate::moments::Element;

/// More columns than this are left to a matrix product.
pub(crate) const FEW: usize = 8;

/// Sums that run side by side, so that they are added in vectors.
const LANES: usize = 16;

/// Runs what is computed from some rows with the vectors of this processor: the functions below are
/// compiled into it.
pub(crate) fn with_vectors<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// `Σ (row − shift) · weights`; nothing is taken off where the shift is empty.
#[inline(always)]
pub(crate) fn dot<T: Element>(row: &[T], shift: &[f64], weights: &[f64]) -> f64 {
    match shift.is_empty() {
        true => plain(row, weights),
        false => shifted(row, shift, weights),
    }
}

#[inline(always)]
fn plain<T: Element>(row: &[T], weights: &[f64]) -> f64 {
    let (rows, columns) = (row.chunks_exact(LANES), weights.chunks_exact(LANES));
    let rest = rows.remainder().iter().zip(columns.remainder());
    let rest: f64 = rest.map(|(&v, w)| v.into() * w).sum();
    let mut sums = [0.0; LANES];
    for (row, weights) in rows.zip(columns) {
        for k in 0..LANES {
            sums[k] += row[k].into() * weights[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[inline(always)]
fn shifted<T: Element>(row: &[T], shift: &[f64], weights: &[f64]) -> f64 {
    let (rows, shifts) = (row.chunks_exact(LANES), shift.chunks_exact(LANES));
    let columns = weights.chunks_exact(LANES);
    let rest = rows.remainder().iter().zip(shifts.remainder()).zip(columns.remainder());
    let rest: f64 = rest.map(|((&v, s), w)| (v.into() - s) * w).sum();
    let mut sums = [0.0; LANES];
    for ((row, shift), weights) in rows.zip(shifts).zip(columns) {
        for k in 0..LANES {
            sums[k] += (row[k].into() - shift[k]) * weights[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// `to = row − amount · taken`.
#[inline(always)]
pub(crate) fn take_off<T: Element>(to: &mut [T], row: &[T], amount: f64, taken: &[f64]) {
    for ((to, &v), taken) in to.iter_mut().zip(row).zip(taken) {
        *to = T::of(v.into() - amount * taken);
    }
}

/// The same with several amounts; `buffer` is as long as the row.
#[inline(always)]
pub(crate) fn take_off_each<T: Element>(
    to: &mut [T],
    row: &[T],
    amounts: &[f64],
    taken: &[Vec<f64>],
    buffer: &mut [f64],
) {
    buffer.iter_mut().zip(row).for_each(|(b, &v)| *b = v.into());
    for (amount, taken) in amounts.iter().zip(taken) {
        buffer.iter_mut().zip(taken).for_each(|(b, taken)| *b -= amount * taken);
    }
    to.iter_mut().zip(buffer).for_each(|(to, b)| *to = T::of(*b));
}
