//! Erasure in place: what the encoder does not keep is taken off x.
//!
//! With the features as the target the reduced problem spans all that varies, so the directions
//! that z leaves out, `e = G⊥ᵀ u`, are few: no more than there are label columns to hide. They are
//! uncorrelated with z, hence
//!
//! ```text
//! x̂ = x̄ + Cov(x, z) z = x − Cov(x, e) e
//! ```
//!
//! on the training data, at the cost of the few. On other rows the second form also keeps what
//! never varied in the training data, as LEACE does.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::model::Model;
use crate::error::Place;
use crate::features::{Columns, FeatureMap, Scaling};
use crate::moments::{Element, LabelKind, check_finite, row_slice};
use crate::{Error, Result, dots};

/// `x̂ = x − takenᵀ foundᵀ (x − mean)`: erasure of the shape of x.
#[derive(Clone, Debug)]
pub struct Erasure {
    pub(super) mean: Vec<f64>,
    pub(super) found: Mat<f64>,
    pub(super) taken: Mat<f64>,
}

impl Erasure {
    /// The mean of the inputs, which erasure keeps.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Inputs × e: how much of each erased direction is found in a row.
    pub fn found(&self) -> MatRef<'_, f64> {
        self.found.as_ref()
    }

    /// The same for inputs, where it is that of coordinates in the span of the rows.
    pub(super) fn over_inputs(self, map: &FeatureMap) -> Self {
        let Erasure { mean, found, taken } = self;
        match &map.span {
            None => Erasure { mean, found, taken },
            Some(span) => Erasure {
                mean: span.mean(),
                found: span.unfold(found.as_ref()),
                taken: span.unfold(taken.transpose()).transpose().to_owned(),
            },
        }
    }

    /// The same in the units of x, where it is that of scaled rows.
    pub(super) fn unscaled(mut self, scaling: Option<&Scaling>) -> Self {
        let Some(Scaling { shift, factor }) = scaling else { return self };
        for (j, (shift, factor)) in shift.iter().zip(factor).enumerate() {
            self.mean[j] = self.mean[j] / factor + shift;
            self.found.row_mut(j).iter_mut().for_each(|v| *v *= factor);
            self.taken.col_mut(j).iter_mut().for_each(|v| *v /= factor);
        }
        self
    }

    /// e × inputs: what is taken off for it.
    pub fn taken(&self) -> MatRef<'_, f64> {
        self.taken.as_ref()
    }
}

/// Rows that one worker erases at a time.
const ROWS: usize = 512;

/// What a worker keeps from part to part.
#[derive(Default)]
struct Buffers {
    centred: Vec<f64>,
    taken: Vec<f64>,
}

impl Erasure {
    /// Every row erased, one after the other, in parallel.
    pub fn apply<T: Element>(&self, x: MatRef<'_, T>) -> Result<Vec<T>> {
        let mut to = vec![T::of(0.0); x.nrows() * x.ncols()];
        self.apply_to(x, &mut to)?;
        Ok(to)
    }

    /// The same into a place that has room for the rows.
    pub fn apply_to<T: Element>(&self, x: MatRef<'_, T>, to: &mut [T]) -> Result<()> {
        let width = self.mean.len();
        if x.ncols() != width {
            return Err(Error::shape("features", x.ncols(), width));
        }
        if to.len() != x.nrows() * width {
            return Err(Error::shape("places for numbers", to.len(), x.nrows() * width));
        }
        if let Some(few) = Few::new(self)
            && x.nrows() > 0
            && row_slice(x, 0).is_some()
        {
            return few.apply(x, to);
        }
        let parts = to.par_chunks_mut(ROWS * width.max(1)).enumerate();
        parts.try_for_each_init(Buffers::default, |buffers, (part, to)| {
            let first = part * ROWS;
            self.part(x.subrows(first, to.len() / width), to, buffers, first as u64)
        })
    }

    fn part<T: Element>(
        &self,
        x: MatRef<'_, T>,
        to: &mut [T],
        Buffers { centred, taken }: &mut Buffers,
        first: u64,
    ) -> Result<()> {
        let (rows, width) = x.shape();
        centred.resize(rows * width, 0.0);
        taken.resize(rows * width, 0.0);
        for (i, place) in centred.chunks_exact_mut(width).enumerate() {
            let row = x.row(i).iter().zip(&self.mean);
            place.iter_mut().zip(row).for_each(|(c, (&v, mean))| *c = v.into() - mean);
        }
        // No early exit: the loop vectorises, and almost every part is fine.
        if centred.iter().fold(false, |bad, v| bad | !v.is_finite()) {
            check_finite(x, first, Place::Feature)?;
        }
        let amount = MatRef::from_row_major_slice(centred, rows, width) * &self.found;
        let into = MatMut::from_row_major_slice_mut(taken, rows, width);
        matmul(into, Accum::Replace, &amount, &self.taken, 1.0, Par::Seq);
        let places = to.chunks_exact_mut(width).zip(taken.chunks_exact(width)).enumerate();
        for (i, (to, taken)) in places {
            for ((to, &v), taken) in to.iter_mut().zip(x.row(i).iter()).zip(taken) {
                *to = T::of(v.into() - taken);
            }
        }
        Ok(())
    }
}

/// An erasure of few directions, each of which lies in one piece.
struct Few<'a> {
    mean: &'a [f64],
    found: Vec<Vec<f64>>,
    taken: Vec<Vec<f64>>,
}

impl<'a> Few<'a> {
    fn new(erasure: &'a Erasure) -> Option<Self> {
        let Erasure { mean, found, taken } = erasure;
        (1..=dots::FEW).contains(&found.ncols()).then(|| Few {
            mean,
            found: found.col_iter().map(|c| c.iter().copied().collect()).collect(),
            taken: taken.row_iter().map(|r| r.iter().copied().collect()).collect(),
        })
    }

    /// Each row is read once.
    fn apply<T: Element>(&self, x: MatRef<'_, T>, to: &mut [T]) -> Result<()> {
        let width = self.mean.len();
        let parts = to.par_chunks_mut(ROWS * width.max(1)).enumerate();
        parts.try_for_each_init(Vec::new, |buffer, (part, to)| {
            let first = part * ROWS;
            buffer.resize(width, 0.0);
            dots::with_vectors(Rows { few: self, x, first, to, buffer });
            for (i, to) in to.chunks_exact(width).enumerate() {
                // A value that is not finite leaves no finite number in its row.
                if !to[0].finite() {
                    check_finite(x.subrows(first + i, 1), (first + i) as u64, Place::Feature)?;
                }
            }
            Ok(())
        })
    }

    #[inline(always)]
    fn row<T: Element, const FUSED: bool>(&self, row: &[T], to: &mut [T], buffer: &mut [f64]) {
        let mut amounts = [0.0; dots::FEW];
        for (amount, found) in amounts.iter_mut().zip(&self.found) {
            *amount = dots::dot::<T, FUSED>(row, self.mean, found);
        }
        match self.taken.as_slice() {
            [taken] => dots::take_off(to, row, amounts[0], taken),
            taken => dots::take_off_each(to, row, &amounts[..taken.len()], taken, buffer),
        }
    }
}

/// Some rows of an erasure of few directions.
struct Rows<'a, T> {
    few: &'a Few<'a>,
    x: MatRef<'a, T>,
    first: usize,
    to: &'a mut [T],
    buffer: &'a mut [f64],
}

impl<T: Element> dots::Work for Rows<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (i, to) in self.to.chunks_exact_mut(self.few.mean.len()).enumerate() {
            let Some(row) = row_slice(self.x, self.first + i) else { continue };
            self.few.row::<T, FUSED>(row, to, self.buffer);
        }
    }
}

impl Model {
    /// Erasure in place, for a linear encoder that has the features as the target and no ridge.
    pub fn erasure(&self) -> Result<Erasure> {
        let linear = matches!(self.columns, Columns::Linear { .. });
        let keeps = self.labels.iter().any(|l| l.kind == LabelKind::Features);
        let whole = linear && keeps && self.reduced.ridged.is_none();
        let (Some((cross, mean)), true) = (&self.reduced.inputs, whole) else {
            let message = "erasure in place needs a linear encoder without a ridge that has the \
                           features themselves as its target";
            return Err(Error::Unavailable(message));
        };
        let erased = complement(self.subspace.as_ref());
        let t = erased.nrows();
        let erasure = Erasure {
            mean: mean.clone(),
            found: self.reduced.basis.as_ref().subcols(0, t) * &erased,
            taken: erased.transpose() * cross.as_ref().subrows(0, t),
        };
        Ok(erasure.unscaled(self.raw.scaling.as_ref()))
    }
}

/// An orthonormal basis of what the orthonormal columns of `g` leave out, of which there is little:
/// again and again the axis that is covered least, made orthogonal twice.
pub(crate) fn complement(g: MatRef<'_, f64>) -> Mat<f64> {
    let (t, kept) = g.shape();
    let mut rest = Mat::zeros(t, t - kept);
    let mut left: Vec<f64> = (0..t).map(|i| 1.0 - g.row(i).squared_norm_l2()).collect();
    for j in 0..t - kept {
        let axis = (0..t).max_by(|&a, &b| left[a].total_cmp(&left[b])).unwrap_or(0);
        let mut w = faer::Col::from_fn(t, |i| if i == axis { 1.0 } else { 0.0 });
        for _ in 0..2 {
            let found = rest.as_ref().subcols(0, j);
            w -= g * (g.transpose() * &w) + found * (found.transpose() * &w);
            let norm = w.norm_l2();
            w *= faer::Scale(1.0 / norm);
        }
        left.iter_mut().zip(w.iter()).for_each(|(left, v)| *left -= v * v);
        rest.col_mut(j).copy_from(&w);
    }
    rest
}
