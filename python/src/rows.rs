//! Every row encoded or erased, into an array.

use faer::MatRef;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use sarl::{Element, Encoder, Erasure, Map};

use crate::arrays::{Beside, Returned, put};
use crate::failure::{refused, wrong};
use crate::work::released;

/// Numbers that are read between two questions whether somebody pressed Ctrl-C.
pub const CHUNK: usize = 1 << 22;
/// The same where little is done with each: a question costs threads that wait for work.
const CHUNK_LINEAR: usize = 1 << 25;

/// z of each row.
pub fn encoded<'py, T: Element + Returned>(
    py: Python<'py>,
    encoder: &Encoder,
    x: MatRef<'_, T>,
    codes: &[&[u32]],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let beside = Beside { codes: codes.to_vec(), ..Default::default() };
    let chunk = match encoder.map() {
        Map::Linear => CHUNK_LINEAR,
        _ => CHUNK,
    };
    filled(py, x, (encoder.dim(), chunk), |start, x, to| {
        let beside = beside.slice(start, x.nrows())?;
        let encode = || {
            put(to, encoder.encode_block(&beside.with(x))?.as_ref());
            Ok(())
        };
        released(py, threads, encode)?.map_err(|e| refused(moved(e, start)))
    })
}

/// Each row without what is hidden.
pub fn erased<'py, T: Element + Returned>(
    py: Python<'py>,
    erasure: &Erasure,
    x: MatRef<'_, T>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let (width, expected) = (x.ncols(), erasure.mean().len());
    if width != expected {
        return Err(wrong(format!("X has {width} features, but {expected} are expected")));
    }
    filled(py, x, (width, CHUNK_LINEAR), |start, x, to| {
        let done = released(py, threads, || erasure.apply_to(x, to))?;
        done.map_err(|e| refused(moved(e, start)))
    })
}

/// An array of so many columns and as many rows as x has, filled from so many numbers at a time.
fn filled<'py, T: Element + Returned>(
    py: Python<'py>,
    x: MatRef<'_, T>,
    (width, chunk): (usize, usize),
    mut fill: impl FnMut(usize, MatRef<'_, T>, &mut [T]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    // By numpy, which asks for large pages: a Rust vector of this size takes longer to be touched
    // than to be filled.
    let result = PyArray2::zeros(py, [x.nrows(), width], false);
    let mut written = result.readwrite();
    let out = written.as_slice_mut().map_err(|_| wrong("the result is not contiguous"))?;
    let step = (chunk / x.ncols().max(1)).max(1);
    for start in (0..x.nrows()).step_by(step) {
        let rows = step.min(x.nrows() - start);
        fill(start, x.subrows(start, rows), &mut out[start * width..(start + rows) * width])?;
        py.check_signals()?;
    }
    drop(written);
    Ok(result)
}

/// The same error in rows counted from the first of all.
pub fn moved(error: sarl::Error, by: usize) -> sarl::Error {
    match error {
        sarl::Error::NotFinite { row, place, value } => {
            sarl::Error::NotFinite { row: row + by as u64, place, value }
        }
        other => other,
    }
}
