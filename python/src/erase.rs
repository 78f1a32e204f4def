//! Erasure in place.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use sarl::{Element, Place};

use crate::arrays::Returned;
use crate::failure::{refused, wrong};
use crate::model::{CHUNK, moved};
use crate::solved::Solved;
use crate::work::released;

/// Rows that one worker erases at a time.
const ROWS: usize = 512;

/// `x − takenᵀ foundᵀ (x − mean)`, in the units of x.
pub struct Erased {
    pub mean: Vec<f64>,
    /// Inputs × directions.
    pub found: Mat<f64>,
    /// Directions × inputs.
    pub taken: Mat<f64>,
}

/// What a worker keeps from part to part.
#[derive(Default)]
struct Buffers {
    centred: Vec<f64>,
    taken: Vec<f64>,
}

impl Erased {
    pub fn new(solved: &Solved) -> PyResult<Self> {
        let erasure = solved.erasure().map_err(refused)?;
        Ok(Erased {
            mean: erasure.mean().to_vec(),
            found: erasure.found().to_owned(),
            taken: erasure.taken().to_owned(),
        })
    }

    /// All rows erased.
    pub fn rows<'py, T: Element + Returned>(
        &self,
        py: Python<'py>,
        x: MatRef<'_, T>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let (n, width) = x.shape();
        if width != self.mean.len() {
            let expected = self.mean.len();
            return Err(wrong(format!("X has {width} features, but {expected} are expected")));
        }
        let result = PyArray2::zeros(py, [n, width], false);
        let mut written = result.readwrite();
        let out = written.as_slice_mut().map_err(|_| wrong("the result is not contiguous"))?;
        let step = (CHUNK / width.max(1)).max(1);
        for start in (0..n).step_by(step) {
            let rows = step.min(n - start);
            let to = &mut out[start * width..(start + rows) * width];
            let done = released(py, threads, || {
                let parts = to.par_chunks_mut(ROWS * width).enumerate();
                parts.try_for_each_init(Buffers::default, |buffers, (chunk, to)| {
                    let first = start + chunk * ROWS;
                    let part = x.subrows(first, to.len() / width);
                    self.part(part, to, buffers).map_err(|e| moved(e, first))
                })
            })?;
            done.map_err(refused)?;
            py.check_signals()?;
        }
        drop(written);
        Ok(result)
    }

    /// Some rows, into an array that keeps them row by row.
    fn part<T: Element + Returned>(
        &self,
        x: MatRef<'_, T>,
        to: &mut [T],
        Buffers { centred, taken }: &mut Buffers,
    ) -> sarl::Result<()> {
        let (rows, width) = x.shape();
        centred.resize(rows * width, 0.0);
        taken.resize(rows * width, 0.0);
        for (i, place) in centred.chunks_exact_mut(width).enumerate() {
            let row = x.row(i).iter().zip(&self.mean);
            place.iter_mut().zip(row).for_each(|(c, (&v, mean))| *c = v.into() - mean);
        }
        // No early exit: the loop vectorises, and almost every part is fine.
        if centred.iter().fold(false, |bad, v| bad | !v.is_finite()) {
            let at = centred.iter().position(|v| !v.is_finite()).unwrap_or(0);
            let (i, j) = (at / width, at % width);
            let (row, value) = (i as u64, x[(i, j)].into());
            return Err(sarl::Error::NotFinite { row, place: Place::Feature(j), value });
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
