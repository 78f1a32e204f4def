//! NumPy arrays as matrices, and matrices as NumPy arrays.

use faer::{Mat, MatRef};
use numpy::{
    Element as ArrayElement, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1,
    PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use sarl::{Block, Element, LabelBlock};
use sarl_eval::Labels;

use crate::failure::wrong;

/// Rows × columns of single or double precision, contiguous in either order.
#[derive(FromPyObject)]
pub enum Matrix<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// The values of a label: codes of classes, or numbers.
#[derive(FromPyObject)]
pub enum LabelArray<'py> {
    Classes(PyReadonlyArray1<'py, u32>),
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Several numbers of each row, which share a kernel.
    Together(PyReadonlyArray2<'py, f64>),
}

impl LabelArray<'_> {
    pub fn block(&self) -> PyResult<LabelBlock<'_>> {
        Ok(match self {
            LabelArray::Classes(codes) => LabelBlock::Class(slice(codes)?),
            LabelArray::Numbers(values) => {
                let values = slice(values)?;
                LabelBlock::Number(MatRef::from_column_major_slice(values, values.len(), 1))
            }
            LabelArray::Together(values) => LabelBlock::Number(view(values)?),
        })
    }
}

pub fn slice<'a, T: ArrayElement>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| wrong("expected a contiguous array"))
}

/// A view of an array, without a copy.
pub fn view<'a, T: ArrayElement>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<MatRef<'a, T>> {
    let (rows, columns) = (array.shape()[0], array.shape()[1]);
    let values = array.as_slice().map_err(|_| wrong("expected a contiguous array"))?;
    Ok(match array.is_c_contiguous() {
        true => MatRef::from_row_major_slice(values, rows, columns),
        false => MatRef::from_column_major_slice(values, rows, columns),
    })
}

/// Everything of a block but its dense features.
#[derive(Default)]
pub struct Beside<'a> {
    pub codes: Vec<&'a [u32]>,
    pub labels: Vec<LabelBlock<'a>>,
    pub weights: Option<&'a [f64]>,
    /// What decides on the folds of rows.
    pub keys: Option<&'a [u64]>,
}

impl<'a> Beside<'a> {
    /// A block of the dense features and this.
    pub fn with<'b, T: Element>(&self, dense: MatRef<'b, T>) -> Block<'b, T>
    where
        'a: 'b,
    {
        let block = Block::new(dense);
        let block = self.codes.iter().fold(block, |block, codes| block.coded(codes));
        let block = self.labels.iter().fold(block, |block, label| block.label(*label));
        let block = match self.weights {
            Some(weights) => block.weighted(weights),
            None => block,
        };
        match self.keys {
            Some(keys) => block.keys(keys),
            None => block,
        }
    }

    /// Rows `start..start + rows`.
    pub fn slice(&self, start: usize, rows: usize) -> PyResult<Beside<'a>> {
        let short = || wrong("the labels, codes, weights and keys must have as many rows as X");
        let end = start + rows;
        let cut = |codes: &&'a [u32]| codes.get(start..end).ok_or_else(short);
        Ok(Beside {
            codes: self.codes.iter().map(cut).collect::<PyResult<_>>()?,
            labels: self
                .labels
                .iter()
                .map(|label| {
                    Ok(match label {
                        LabelBlock::Class(codes) => LabelBlock::Class(cut(codes)?),
                        LabelBlock::Number(values) if values.nrows() >= end => {
                            LabelBlock::Number(values.subrows(start, rows))
                        }
                        LabelBlock::Number(_) => return Err(short()),
                    })
                })
                .collect::<PyResult<_>>()?,
            weights: match self.weights {
                Some(weights) => Some(weights.get(start..end).ok_or_else(short)?),
                None => None,
            },
            keys: match self.keys {
                Some(keys) => Some(keys.get(start..end).ok_or_else(short)?),
                None => None,
            },
        })
    }
}

/// An element type that results can have.
pub trait Returned: ArrayElement + Element + Default {}

impl Returned for f64 {}
impl Returned for f32 {}

/// Writes rows of a matrix where a row-major array keeps them.
pub fn put<T: Returned>(to: &mut [T], from: MatRef<'_, f64>) {
    let columns = from.ncols();
    for j in 0..columns {
        for (i, &value) in from.col(j).iter().enumerate() {
            to[i * columns + j] = T::of(value);
        }
    }
}

/// A row-major array of these values.
pub fn array<'py, T: Returned>(
    py: Python<'py>,
    values: Vec<T>,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// A matrix as an array.
pub fn returned<'py>(py: Python<'py>, a: MatRef<'_, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut values = vec![0.0; a.nrows() * a.ncols()];
    put(&mut values, a);
    array(py, values, a.nrows(), a.ncols())
}

/// An array of doubles as a matrix of its own.
pub fn owned(matrix: &Matrix<'_>) -> PyResult<Mat<f64>> {
    Ok(match matrix {
        Matrix::Double(array) => view(array)?.to_owned(),
        Matrix::Single(array) => {
            let x = view(array)?;
            Mat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(x[(i, j)]))
        }
    })
}

/// The values of a label with so many classes.
pub fn labels(of: &LabelArray<'_>, count: usize) -> PyResult<Labels> {
    Ok(match of {
        LabelArray::Classes(codes) => Labels::Classes { codes: slice(codes)?.to_vec(), count },
        LabelArray::Numbers(values) => Labels::Numbers(slice(values)?.to_vec()),
        LabelArray::Together(_) => return Err(wrong("expected one column of numbers")),
    })
}
