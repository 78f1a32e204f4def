//! Erasure of rows whose labels are known.

use std::borrow::Cow;
use std::collections::BTreeMap;

use faer::MatRef;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sarl::{Block, Element, Layout, Oracle, OracleSums, Quadratic, QuadraticSums};

use crate::arrays::{Beside, LabelArray, Matrix, Returned, array, returned, slice, view};
use crate::failure::{refused, wrong};
use crate::figures;
use crate::files;
use crate::fit::{LabelOf, layout_of};
use crate::rows::{CHUNK, moved};
use crate::work::released;

#[derive(Clone)]
enum Sums {
    Oracle(OracleSums),
    Quadratic(QuadraticSums),
}

impl Sums {
    fn push<T: Element>(&mut self, block: &Block<'_, T>) -> sarl::Result<()> {
        match self {
            Sums::Oracle(sums) => sums.push(block),
            Sums::Quadratic(sums) => sums.push(block),
        }
    }
}

/// The sums of an erasure by known labels, which rows are added to.
#[pyclass(module = "sarl._core")]
#[derive(Clone)]
pub struct LabelledSums(Sums);

#[pymethods]
impl LabelledSums {
    #[new]
    #[pyo3(signature = (dense, labels, *, quadratic))]
    fn new(dense: usize, labels: Vec<LabelOf>, quadratic: bool) -> PyResult<Self> {
        let layout: Layout = layout_of(dense, &[], &labels, true, false);
        Ok(LabelledSums(match quadratic {
            true => Sums::Quadratic(QuadraticSums::new(layout).map_err(refused)?),
            false => Sums::Oracle(OracleSums::new(layout).map_err(refused)?),
        }))
    }

    /// Rows so far.
    #[getter]
    fn rows(&self) -> u64 {
        match &self.0 {
            Sums::Oracle(sums) => sums.rows(),
            Sums::Quadratic(sums) => sums.rows(),
        }
    }

    /// A copy that can go on by itself.
    fn copy(&self) -> Self {
        self.clone()
    }

    /// Adds rows: all of them, or none if any is refused.
    #[pyo3(signature = (x, labels, weights, *, threads=None))]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        labels: Vec<LabelArray<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let beside = Beside {
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            weights: weights.as_ref().map(slice).transpose()?,
            ..Default::default()
        };
        match &x {
            Matrix::Double(x) => self.add(py, view(x)?, &beside, threads),
            Matrix::Single(x) => self.add(py, view(x)?, &beside, threads),
        }
    }

    /// Adds the rows of another.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        match (&mut self.0, &other.0) {
            (Sums::Oracle(own), Sums::Oracle(other)) => own.merge(other).map_err(refused),
            (Sums::Quadratic(own), Sums::Quadratic(other)) => own.merge(other).map_err(refused),
            _ => Err(wrong("an oracle erasure and a quadratic one cannot be merged")),
        }
    }

    /// Renumbers the classes of a label.
    fn reclass(&mut self, label: usize, to: Vec<u32>, classes: usize) -> PyResult<()> {
        match &mut self.0 {
            Sums::Oracle(sums) => sums.reclass(label, &to, classes).map_err(refused),
            Sums::Quadratic(sums) => sums.reclass(label, &to, classes).map_err(refused),
        }
    }

    /// The erasure of all rows so far.
    #[pyo3(signature = (threads=None))]
    fn solve(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<LabelledErasure> {
        let solved = released(py, threads, || match &self.0 {
            Sums::Oracle(sums) => sums.solve().map(|e| LabelledErasure(Erased::Oracle(e))),
            Sums::Quadratic(sums) => sums.solve().map(|e| LabelledErasure(Erased::Quadratic(e))),
        })?;
        solved.map_err(refused)
    }
}

impl LabelledSums {
    fn add<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let mut sums = self.0.clone();
        let step = (CHUNK / x.ncols().max(1)).max(1);
        for start in (0..x.nrows()).step_by(step) {
            let rows = step.min(x.nrows() - start);
            let some = beside.slice(start, rows)?;
            let part = x.subrows(start, rows);
            let pushed = released(py, threads, || sums.push(&some.with(part)))?;
            pushed.map_err(refused)?;
            py.check_signals()?;
        }
        self.0 = sums;
        Ok(())
    }
}

#[derive(Clone)]
enum Erased {
    Oracle(Oracle),
    Quadratic(Quadratic),
}

/// An erasure by known labels.
#[pyclass(module = "sarl._core", frozen)]
#[derive(Clone)]
pub struct LabelledErasure(Erased);

type OracleParts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);
type ClassParts<'py> = Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)>;

#[pymethods]
impl LabelledErasure {
    /// Whether classes are made equal in their covariances too.
    #[getter]
    fn is_quadratic(&self) -> bool {
        matches!(self.0, Erased::Quadratic(_))
    }

    #[getter]
    fn inputs(&self) -> usize {
        match &self.0 {
            Erased::Oracle(e) => e.inputs(),
            Erased::Quadratic(e) => e.inputs(),
        }
    }

    /// Rows of the fit, the mean squared change of a row, and the mean square of a centred row.
    #[getter]
    fn figures(&self) -> (u64, f64, f64) {
        match &self.0 {
            Erased::Oracle(e) => (e.rows(), e.change(), e.variance()),
            Erased::Quadratic(e) => (e.rows(), e.change(), e.variance()),
        }
    }

    /// The labels, as a fit takes them.
    #[getter]
    fn labels(&self) -> Vec<LabelOf> {
        match &self.0 {
            Erased::Oracle(e) => figures::labels(e.labels()),
            Erased::Quadratic(e) => figures::labels(std::slice::from_ref(e.label())),
        }
    }

    /// The mean of each label column, and label columns × inputs.
    fn oracle_parts<'py>(&self, py: Python<'py>) -> PyResult<OracleParts<'py>> {
        match &self.0 {
            Erased::Oracle(e) => {
                Ok((PyArray1::from_slice(py, e.label_mean()), returned(py, e.coefficients())?))
            }
            Erased::Quadratic(_) => Err(wrong("a quadratic erasure has a matrix for each class")),
        }
    }

    /// The mean of all rows.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        match &self.0 {
            Erased::Quadratic(e) => Ok(PyArray1::from_slice(py, e.mean())),
            Erased::Oracle(_) => Err(wrong("an oracle erasure has no mean of x")),
        }
    }

    /// The mean and the map of a class; none of one without rows.
    fn class_parts<'py>(&self, py: Python<'py>, class: usize) -> PyResult<ClassParts<'py>> {
        let Erased::Quadratic(e) = &self.0 else { return Ok(None) };
        let Some((mean, map)) = e.class(class) else { return Ok(None) };
        Ok(Some((PyArray1::from_slice(py, mean), returned(py, map)?)))
    }

    /// Each row erased by its labels, of the shape and precision of x.
    #[pyo3(signature = (x, labels, threads=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        labels: Vec<LabelArray<'py>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let beside = Beside {
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            ..Default::default()
        };
        Ok(match &x {
            Matrix::Double(x) => self.erased(py, view(x)?, &beside, threads)?.into_any(),
            Matrix::Single(x) => self.erased(py, view(x)?, &beside, threads)?.into_any(),
        })
    }

    /// Texts that travel along.
    #[getter]
    fn extra(&self) -> BTreeMap<String, String> {
        match &self.0 {
            Erased::Oracle(e) => e.extra().clone(),
            Erased::Quadratic(e) => e.extra().clone(),
        }
    }

    /// The bytes of its file.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        extra: BTreeMap<String, String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes(extra)?))
    }

    /// Writes the file: whole, or not at all.
    fn save(&self, path: std::path::PathBuf, extra: BTreeMap<String, String>) -> PyResult<()> {
        files::write(&path, &self.bytes(extra)?)
    }

    /// Whether these are the bytes of one.
    #[staticmethod]
    fn is_file(bytes: Cow<'_, [u8]>) -> bool {
        Oracle::is_file(&bytes) || Quadratic::is_file(&bytes)
    }

    /// Reads a file's bytes and checks all of it.
    #[staticmethod]
    fn from_bytes(bytes: Cow<'_, [u8]>) -> PyResult<Self> {
        Ok(LabelledErasure(match Quadratic::is_file(&bytes) {
            true => Erased::Quadratic(Quadratic::from_bytes(&bytes).map_err(refused)?),
            false => Erased::Oracle(Oracle::from_bytes(&bytes).map_err(refused)?),
        }))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let from = py.get_type::<LabelledErasure>().getattr("from_bytes")?;
        let bytes = self.to_bytes(py, self.extra())?;
        Ok((from, (bytes,)).into_pyobject(py)?.into_any())
    }
}

impl LabelledErasure {
    fn bytes(&self, extra: BTreeMap<String, String>) -> PyResult<Vec<u8>> {
        let bytes = match self.0.clone() {
            Erased::Oracle(e) => e.with_extra(extra).to_bytes(),
            Erased::Quadratic(e) => e.with_extra(extra).to_bytes(),
        };
        bytes.map_err(refused)
    }

    fn erased<'py, T: Element + Returned>(
        &self,
        py: Python<'py>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        let (rows, width) = x.shape();
        if width != self.inputs() {
            let expected = self.inputs();
            return Err(wrong(format!("X has {width} features, but {expected} are expected")));
        }
        let mut all = Vec::with_capacity(rows * width);
        let step = (CHUNK / width.max(1)).max(1);
        for start in (0..rows).step_by(step) {
            let count = step.min(rows - start);
            let some = beside.slice(start, count)?;
            let block = some.with(x.subrows(start, count));
            let part = released(py, threads, || match &self.0 {
                Erased::Oracle(e) => e.apply(&block),
                Erased::Quadratic(e) => e.apply(&block),
            })?;
            all.extend(part.map_err(|e| refused(moved(e, start)))?);
            py.check_signals()?;
        }
        array(py, all, rows, width)
    }
}
