//! Columns side by side, row by row: what a fit reads, from what Arrow has.
//!
//! The rows are written in tiles that stay in the first cache, so that each line of it is filled by
//! all columns that meet in it before it leaves.

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::Returned;
use crate::failure::wrong;

/// Bytes of a tile.
const TILE: usize = 16 << 10;

/// A column, or the rows of a narrower matrix.
#[derive(FromPyObject)]
pub enum Columns<'py> {
    Double(PyReadonlyArray1<'py, f64>),
    Single(PyReadonlyArray1<'py, f32>),
    Doubles(PyReadonlyArray2<'py, f64>),
    Singles(PyReadonlyArray2<'py, f32>),
}

/// Where values are, row by row, and how many each row has.
enum Source<'a> {
    Double(&'a [f64], usize),
    Single(&'a [f32], usize),
}

impl Columns<'_> {
    fn source(&self) -> PyResult<Source<'_>> {
        let refused = |_| wrong("expected a contiguous array");
        let by_rows = |contiguous: bool| match contiguous {
            true => Ok(()),
            false => Err(wrong("expected an array that is contiguous row by row")),
        };
        Ok(match self {
            Columns::Double(a) => Source::Double(a.as_slice().map_err(refused)?, 1),
            Columns::Single(a) => Source::Single(a.as_slice().map_err(refused)?, 1),
            Columns::Doubles(a) => {
                by_rows(a.is_c_contiguous())?;
                Source::Double(a.as_slice().map_err(refused)?, a.shape()[1])
            }
            Columns::Singles(a) => {
                by_rows(a.is_c_contiguous())?;
                Source::Single(a.as_slice().map_err(refused)?, a.shape()[1])
            }
        })
    }
}

impl Source<'_> {
    fn width(&self) -> usize {
        match self {
            Source::Double(_, width) | Source::Single(_, width) => *width,
        }
    }

    fn has(&self, rows: usize) -> bool {
        match self {
            Source::Double(values, width) => values.len() == rows * width,
            Source::Single(values, width) => values.len() == rows * width,
        }
    }

    /// Writes rows from `start` on into a tile of rows of `width`, from the column `at` on.
    fn write<T: Returned>(&self, tile: &mut [T], width: usize, start: usize, at: usize) {
        match self {
            Source::Double(values, own) => write(values, *own, tile, width, start, at),
            Source::Single(values, own) => write(values, *own, tile, width, start, at),
        }
    }
}

#[inline(always)]
fn write<S: Copy + Into<f64>, T: Returned>(
    values: &[S],
    own: usize,
    tile: &mut [T],
    width: usize,
    start: usize,
    at: usize,
) {
    if own == 1 {
        for (row, &value) in tile.chunks_exact_mut(width).zip(&values[start..]) {
            row[at] = T::of(value.into());
        }
        return;
    }
    for (row, from) in tile.chunks_exact_mut(width).zip(values[start * own..].chunks_exact(own)) {
        row[at..at + own].iter_mut().zip(from).for_each(|(to, &value)| *to = T::of(value.into()));
    }
}

/// Columns and rows of matrices side by side, in double precision unless all are single.
#[pyfunction]
pub fn side_by_side<'py>(
    py: Python<'py>,
    columns: Vec<Columns<'py>>,
    rows: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let sources = columns.iter().map(Columns::source).collect::<PyResult<Vec<_>>>()?;
    if !sources.iter().all(|source| source.has(rows)) {
        return Err(wrong("the columns have different numbers of rows"));
    }
    match sources.iter().all(|source| matches!(source, Source::Single(..))) {
        true => Ok(laid_out::<f32>(py, &sources, rows)?.into_any()),
        false => Ok(laid_out::<f64>(py, &sources, rows)?.into_any()),
    }
}

fn laid_out<'py, T: Returned>(
    py: Python<'py>,
    sources: &[Source<'_>],
    rows: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let width: usize = sources.iter().map(Source::width).sum();
    let result = PyArray2::zeros(py, [rows, width], false);
    if rows * width == 0 {
        return Ok(result);
    }
    let mut written = result.readwrite();
    let out = written.as_slice_mut().map_err(|_| wrong("the result is not contiguous"))?;
    let step = (TILE / (width * size_of::<T>())).max(8);
    for (tile, start) in out.chunks_mut(step * width).zip((0..).step_by(step)) {
        let mut at = 0;
        for source in sources {
            source.write(tile, width, start, at);
            at += source.width();
        }
    }
    drop(written);
    Ok(result)
}
