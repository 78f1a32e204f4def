//! Erasure in place.

use faer::MatRef;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use sarl::{Element, Erasure};

use crate::arrays::Returned;
use crate::failure::{refused, wrong};
use crate::model::{CHUNK, moved};
use crate::work::released;

/// All rows erased.
pub fn erased<'py, T: Element + Returned>(
    py: Python<'py>,
    erasure: &Erasure,
    x: MatRef<'_, T>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let (n, width) = x.shape();
    if width != erasure.mean().len() {
        let expected = erasure.mean().len();
        return Err(wrong(format!("X has {width} features, but {expected} are expected")));
    }
    let result = PyArray2::zeros(py, [n, width], false);
    let mut written = result.readwrite();
    let out = written.as_slice_mut().map_err(|_| wrong("the result is not contiguous"))?;
    let step = (CHUNK / width.max(1)).max(1);
    for start in (0..n).step_by(step) {
        let rows = step.min(n - start);
        let to = &mut out[start * width..(start + rows) * width];
        let done = released(py, threads, || erasure.apply_to(x.subrows(start, rows), to))?;
        done.map_err(|e| refused(moved(e, start)))?;
        py.check_signals()?;
    }
    drop(written);
    Ok(result)
}
