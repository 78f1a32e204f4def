//! Models: a solved problem with its encoder.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sarl::{Encoder, Erasure};

use crate::arrays::{Matrix, owned, returned, slice, view};
use crate::failure::{refused, wrong};
use crate::figures::{Figures, KernelParts, held_out_columns};
use crate::fit::LabelOf;
use crate::goal::{Limit, goal, parameter};
use crate::rows::{encoded, erased};
use crate::solved::Solved;
use crate::work::released;
use crate::{cells, figures, files, onnx};

type ErasureParts<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// A model, with the scaling of the rows that it encodes.
#[pyclass(module = "sarl._core", frozen)]
pub struct Model {
    pub solved: Solved,
    encoder: OnceLock<Encoder>,
    erasure: OnceLock<Erasure>,
}

pub fn model_of(solved: Solved) -> Model {
    Model { solved, encoder: OnceLock::new(), erasure: OnceLock::new() }
}

#[pymethods]
impl Model {
    /// Another goal from the same fit.
    fn retune(&self, goal_name: &str, value: Limit) -> PyResult<Self> {
        self.solved.check_uncut("other trade-off")?;
        Ok(model_of(self.solved.retune(goal(goal_name, value)?)?))
    }

    /// z of each row, of the precision of x.
    #[pyo3(signature = (x, codes, threads=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        codes: Vec<PyReadonlyArray1<'py, u32>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let codes = codes.iter().map(slice).collect::<PyResult<Vec<_>>>()?;
        let encoder = self.encoder()?;
        Ok(match &x {
            Matrix::Double(x) => encoded(py, encoder, view(x)?, &codes, threads)?.into_any(),
            Matrix::Single(x) => encoded(py, encoder, view(x)?, &codes, threads)?.into_any(),
        })
    }

    /// The cell of each row.
    #[pyo3(signature = (x, codes, threads=None))]
    fn cell<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        codes: Vec<PyReadonlyArray1<'py, u32>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let codes = codes.iter().map(slice).collect::<PyResult<Vec<_>>>()?;
        match &x {
            Matrix::Double(x) => cells::cells_of(py, self.encoder()?, view(x)?, &codes, threads),
            Matrix::Single(x) => cells::cells_of(py, self.encoder()?, view(x)?, &codes, threads),
        }
    }

    /// The cells, as JSON: what was asked, expected and certified; none where z is not cut.
    #[getter]
    fn cells(&self) -> Option<String> {
        self.solved.cells().map(|cells| cells::about(cells).to_string())
    }

    /// The centres of the cells, cells × dim.
    fn centres<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        cells::centres(py, &self.solved)
    }

    /// x without what is hidden, of the shape and precision of x.
    #[pyo3(signature = (x, threads=None))]
    fn erase<'py>(
        &self,
        py: Python<'py>,
        x: Matrix<'py>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let erasure = self.erasure()?;
        Ok(match &x {
            Matrix::Double(x) => erased(py, erasure, view(x)?, threads)?.into_any(),
            Matrix::Single(x) => erased(py, erasure, view(x)?, threads)?.into_any(),
        })
    }

    /// The best linear reconstruction of the inputs, one-hot columns and all, in their units.
    fn decode<'py>(&self, py: Python<'py>, z: Matrix<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.encoder()?.reconstruct(owned(&z)?.as_ref()).map_err(refused)?;
        returned(py, x.as_ref())
    }

    /// The number of dimensions of z.
    #[getter]
    fn dim(&self) -> usize {
        self.solved.point().dim
    }

    /// Whether the whole problem is there, which other goals need.
    #[getter]
    fn is_whole(&self) -> bool {
        self.solved.is_whole()
    }

    /// Whether it is an erasure that preserves targets.
    #[getter]
    fn is_preserving(&self) -> bool {
        match &self.solved {
            Solved::Erasing(erasing) => erasing.is_preserving(),
            Solved::Whole(_) => false,
        }
    }

    /// Whether z is linear in x.
    #[getter]
    fn is_linear(&self) -> bool {
        self.solved.is_linear()
    }

    /// The cap on dimensions.
    #[getter]
    fn cap(&self) -> Option<usize> {
        self.solved.cap()
    }

    /// The ridge.
    #[getter]
    fn ridge(&self) -> f64 {
        self.solved.ridge()
    }

    /// The number of rows it was fitted on.
    #[getter]
    fn rows(&self) -> u64 {
        self.solved.rows()
    }

    /// The dimension of the whitened space.
    #[getter]
    fn basis(&self) -> usize {
        self.solved.basis()
    }

    /// The kernel and its parameters: name, γ, degree, coef0; none if it is linear.
    #[getter]
    fn kernel(&self) -> Option<KernelParts> {
        let Solved::Whole(model) = &self.solved else { return None };
        figures::kernel(model)
    }

    /// The goal: the name of its parameter, and its value.
    #[getter]
    fn goal(&self) -> (&'static str, Limit) {
        parameter(self.solved.goal())
    }

    /// For the targets and for what is hidden, each label: name, loss in its own units, share, limit.
    fn attributes(&self) -> PyResult<(Vec<Figures>, Vec<Figures>)> {
        let sarl::Attributes { target, sensitive } = self.solved.attributes().map_err(refused)?;
        Ok((figures::attributes(target), figures::attributes(sensitive)))
    }

    /// λ, dimensions, target loss, adversary loss, utility, leakage.
    #[getter]
    fn point(&self) -> (f64, usize, f64, f64, f64, f64) {
        let p = self.solved.point();
        (p.lambda, p.dim, p.losses.jy, p.losses.js, p.utility, p.leakage)
    }

    /// The dual bound, and the gap to it.
    #[getter]
    fn certificate(&self) -> (f64, f64) {
        let certificate = self.solved.certificate();
        (certificate.dual_bound, certificate.gap)
    }

    /// What any encoder could achieve.
    fn bounds(&self) -> PyResult<BTreeMap<&'static str, f64>> {
        Ok(figures::bounds(&self.solved.bounds().map_err(refused)?))
    }

    /// The front at evenly spaced λ: a column of numbers for each name.
    #[pyo3(signature = (points, threads=None))]
    fn front<'py>(
        &self,
        py: Python<'py>,
        points: usize,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let front = self.solved.front()?;
        let points = released(py, threads, || front.points(points))?;
        figures::points(py, &points.map_err(refused)?)
    }

    /// The λ at which dimensions are lost.
    fn breakpoints(&self) -> PyResult<Vec<f64>> {
        self.solved.front()?.breakpoints().map_err(refused)
    }

    /// Columns × dim: z = weightsᵀ columns − offset.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        returned(py, self.encoder()?.weights())
    }

    /// The shift and the factor of each dense column; empty, if they come as they are.
    #[getter]
    fn scaling(&self) -> (Vec<f64>, Vec<f64>) {
        let scaling = self.solved.scaling();
        scaling.map(|s| (s.shift().to_vec(), s.factor().to_vec())).unwrap_or_default()
    }

    /// The number of inputs, one-hot columns included.
    #[getter]
    fn inputs(&self) -> usize {
        self.solved.inputs()
    }

    /// The labels, as a fit takes them.
    #[getter]
    fn labels(&self) -> Vec<LabelOf> {
        figures::labels(self.solved.labels())
    }

    /// What of the attributes is hidden: the name of the criterion, and the code of the favourable class.
    #[getter]
    fn criterion(&self) -> (&'static str, Option<u32>) {
        let criterion = self.solved.criterion();
        (criterion.name(), criterion.favourable())
    }

    /// Erasure in the units of the inputs: the mean, what finds a direction (directions × inputs)
    /// and what is taken off for it (directions × inputs).
    fn erasure_parts<'py>(&self, py: Python<'py>) -> PyResult<ErasureParts<'py>> {
        let erasure = self.erasure()?;
        let mean = PyArray1::from_slice(py, erasure.mean());
        let (found, taken) = (erasure.found().transpose(), erasure.taken());
        Ok((mean, returned(py, found)?, returned(py, taken)?))
    }

    /// Held-out losses at evenly spaced λ, or at a goal, from the folds that the file had; none
    /// without them.
    #[pyo3(signature = (*, points=None, goal_name=None, value=None, threads=None))]
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        points: Option<usize>,
        goal_name: Option<&str>,
        value: Option<Limit>,
        threads: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Solved::Whole(model) = &self.solved else { return Ok(None) };
        let Some(folds) = model.heldout() else { return Ok(None) };
        let asked = match (goal_name, value) {
            (Some(name), Some(value)) => Some(goal(name, value)?),
            _ => None,
        };
        let found = released(py, threads, || match asked {
            Some(goal) => {
                let (losses, labels) = folds.solve_each(goal, &model.front()?)?;
                Ok((vec![losses], Some(labels)))
            }
            None => Ok((folds.points(points.unwrap_or(101))?, None)),
        })?;
        let (losses, labels) = found.map_err(refused)?;
        held_out_columns(py, &losses, labels).map(Some)
    }

    /// Texts that travel along.
    #[getter]
    fn extra(&self) -> BTreeMap<String, String> {
        self.solved.extra().clone()
    }

    /// Writes the model file: whole, or not at all.
    fn save(&self, path: std::path::PathBuf, extra: BTreeMap<String, String>) -> PyResult<()> {
        let bytes = self.solved.clone().with_extra(extra).to_bytes().map_err(refused)?;
        files::write(&path, &bytes)
    }

    /// Reads a model file's bytes and checks all of it.
    #[staticmethod]
    fn from_bytes(bytes: Cow<'_, [u8]>) -> PyResult<Self> {
        Ok(model_of(Solved::from_bytes(&bytes).map_err(refused)?))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.solved.to_bytes().map_err(refused)?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let from = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((from, (self.to_bytes(py)?,)).into_pyobject(py)?.into_any())
    }

    /// Writes the encoder as an ONNX model. `columns` are the columns of a table, a name with its
    /// categories or none for a number; without them there is one input, a matrix.
    #[pyo3(signature = (path, *, columns, erase, double))]
    fn to_onnx(
        &self,
        path: std::path::PathBuf,
        columns: Option<onnx::Columns>,
        erase: bool,
        double: bool,
    ) -> PyResult<()> {
        let bytes = match erase {
            true => sarl_onnx::eraser(self.erasure()?, double).map_err(|e| wrong(e.to_string()))?,
            false => onnx::encoder(self.encoder()?, columns.as_ref(), double)?,
        };
        files::write(&path, &bytes)
    }
}

impl Model {
    /// The encoder of rows as they come.
    fn encoder(&self) -> PyResult<&Encoder> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let encoder = self.solved.whole()?.encoder();
        Ok(self.encoder.get_or_init(|| encoder))
    }

    /// Erasure of rows as they come.
    fn erasure(&self) -> PyResult<&Erasure> {
        if let Some(erasure) = self.erasure.get() {
            return Ok(erasure);
        }
        self.solved.check_uncut("erasure")?;
        let erasure = self.solved.erasure().map_err(refused)?;
        Ok(self.erasure.get_or_init(|| erasure))
    }
}
