//! What a kernel needs to know of the rows before they are mapped: their spread, and a sample.

use faer::MatRef;
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use sarl::{Element, Reservoir, tolerance};

use crate::arrays::{Matrix, Scaling, returned, slice, view};
use crate::failure::{NotFinite, refused};
use crate::work::released;

/// The mean and the standard deviation of each column of rows that pass by.
#[pyclass(module = "sarl._core")]
#[derive(Default)]
pub struct Spreads {
    rows: u64,
    weight: f64,
    /// About the first row: a mean far from zero costs no digits.
    about: Vec<f64>,
    sum: Vec<f64>,
    squares: Vec<f64>,
}

#[pymethods]
impl Spreads {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Lets rows pass by.
    #[pyo3(signature = (x, weights=None))]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let weights = weights.as_ref().map(slice).transpose()?;
        match &x {
            Matrix::Double(x) => self.add(py, view(x)?, weights),
            Matrix::Single(x) => self.add(py, view(x)?, weights),
        }
    }

    /// The mean and the standard deviation of each column; that of a constant is zero.
    fn finish(&self) -> Vec<(f64, f64)> {
        let spread = |j: usize| {
            let mean = self.sum[j] / self.weight;
            let variance = (self.squares[j] / self.weight - mean * mean).max(0.0);
            let (mean, deviation) = (mean + self.about[j], variance.sqrt());
            let constant = deviation <= tolerance::CONSTANT * mean.abs();
            (mean, if constant { 0.0 } else { deviation })
        };
        (0..self.about.len()).map(spread).collect()
    }
}

impl Spreads {
    fn add<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        weights: Option<&[f64]>,
    ) -> PyResult<()> {
        if self.about.is_empty() && x.nrows() > 0 {
            self.about = x.row(0).iter().map(|&v| v.into()).collect();
            (self.sum, self.squares) = (vec![0.0; x.ncols()], vec![0.0; x.ncols()]);
        }
        let columns = x.ncols().min(self.about.len());
        let bad = released(py, None, || {
            (0..columns).find_map(|j| {
                let (mut sum, mut squares, about) = (0.0, 0.0, self.about[j]);
                for (i, &value) in x.col(j).iter().enumerate() {
                    let (value, weight): (f64, f64) = (value.into(), weights.map_or(1.0, |w| w[i]));
                    if !value.is_finite() {
                        return Some((i, j, value));
                    }
                    sum += weight * (value - about);
                    squares += weight * (value - about) * (value - about);
                }
                self.sum[j] += sum;
                self.squares[j] += squares;
                None
            })
        })?;
        if let Some((row, column, value)) = bad {
            return Err(NotFinite::new_err((self.rows + row as u64, column, value)));
        }
        self.rows += x.nrows() as u64;
        self.weight += weights.map_or(x.nrows() as f64, |w| w.iter().sum());
        Ok(())
    }
}

/// A uniform sample of scaled rows that pass by.
#[pyclass(module = "sarl._core")]
pub struct Sample {
    reservoir: Reservoir,
    scaling: Scaling,
}

#[pymethods]
impl Sample {
    #[new]
    fn new(
        capacity: usize,
        width: usize,
        seed: u64,
        shift: Vec<f64>,
        factor: Vec<f64>,
    ) -> PyResult<Self> {
        let scaling = Scaling::new(shift, factor)?;
        Ok(Sample { reservoir: Reservoir::new(capacity, width, seed), scaling })
    }

    /// Lets rows pass by.
    fn push(&mut self, py: Python<'_>, x: Matrix<'_>) -> PyResult<()> {
        let pushed = match &x {
            Matrix::Double(x) => self.add(py, view(x)?),
            Matrix::Single(x) => self.add(py, view(x)?),
        };
        pushed?.map_err(refused)
    }

    /// The sample, a row for each.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        returned(py, self.reservoir.rows().as_ref())
    }
}

impl Sample {
    fn add<T: Element>(&mut self, py: Python<'_>, x: MatRef<'_, T>) -> PyResult<sarl::Result<()>> {
        self.scaling.check(x.ncols())?;
        released(py, None, || {
            let scaled = self.scaling.apply(x);
            self.reservoir.push(MatRef::from_row_major_slice(&scaled, x.nrows(), x.ncols()))
        })
    }
}
