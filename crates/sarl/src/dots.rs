//! Few inner products with each row, at the speed of memory.
//!
//! A product with one or two columns is bound by reading the rows. So each row is read once, where
//! it is, and widened on the way: nothing is laid out in double precision first.

use faer::traits::pulp::{Arch, Simd, WithSimd};

use crate::moments::Element;

/// More columns than this are left to a matrix product.
pub(crate) const FEW: usize = 8;

/// Sums of a row that run side by side: as many vectors of four doubles as it takes to begin an addition
/// in each while the ones before are not done.
const LANES: usize = 32;

/// What is computed from some rows. It must be `#[inline(always)]`, and so must be all that it calls:
/// only what is compiled into it has the vectors of this processor. A closure is not.
pub(crate) trait Work {
    /// `FUSED` where a product and a sum are one operation.
    fn run<const FUSED: bool>(self);
}

/// Runs it with the vectors of this processor.
pub(crate) fn with_vectors(work: impl Work) {
    struct Vectors<W>(W);
    impl<W: Work> WithSimd for Vectors<W> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            // Vectors of four doubles or more come with fused operations.
            match size_of::<S::f64s>() >= 32 {
                true => self.0.run::<true>(),
                false => self.0.run::<false>(),
            }
        }
    }
    Arch::new().dispatch(Vectors(work));
}

/// `Σ (row − shift) · weights`; nothing is taken off where the shift is empty.
#[inline(always)]
pub(crate) fn dot<T: Element, const FUSED: bool>(row: &[T], shift: &[f64], weights: &[f64]) -> f64 {
    match shift.is_empty() {
        true => sum::<T, FUSED, false>(row, weights, weights),
        false => sum::<T, FUSED, true>(row, shift, weights),
    }
}

#[inline(always)]
fn sum<T: Element, const FUSED: bool, const SHIFTED: bool>(
    row: &[T],
    shift: &[f64],
    weights: &[f64],
) -> f64 {
    // Arrays of one length: no bound is checked within the loop.
    let (row, last) = row.as_chunks::<LANES>();
    let (shift, last_shift) = shift.as_chunks::<LANES>();
    let (weights, last_weights) = weights.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for ((row, shift), weights) in row.iter().zip(shift).zip(weights) {
        for k in 0..LANES {
            sums[k] = add::<FUSED, SHIFTED>(sums[k], row[k].into(), shift[k], weights[k]);
        }
    }
    let rest = last.iter().zip(last_shift).zip(last_weights);
    let rest = rest.fold(0.0, |sum, ((&v, &shift), &weight)| {
        add::<FUSED, SHIFTED>(sum, v.into(), shift, weight)
    });
    sums.iter().sum::<f64>() + rest
}

#[inline(always)]
fn add<const FUSED: bool, const SHIFTED: bool>(sum: f64, v: f64, shift: f64, weight: f64) -> f64 {
    let v = if SHIFTED { v - shift } else { v };
    if FUSED { v.mul_add(weight, sum) } else { sum + v * weight }
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
