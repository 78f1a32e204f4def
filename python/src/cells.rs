//! A guarantee against every adversary: rows in three parts, cells that one part chooses and another
//! certifies. What [`sarl::cells`] does, over arrays, in the order of `sarl fit --max-advantage`.

use std::sync::Arc;

use faer::MatRef;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sarl::cells::{Ask, CellGoal, Cells, Certifier, Counted, Cutter as Core, Part, PartRows};
use sarl::{Block, Element, Encoder, Fitted};
use serde_json::{Value, json};

use crate::arrays::{Beside, LabelArray, Matrix, array, slice, view};
use crate::failure::{refused, wrong};
use crate::fit::Fit;
use crate::model::{Model, model_of};
use crate::rows::{CHUNK, moved};
use crate::solved::Solved;
use crate::work::{interruptible, released};

/// Seeds that are asked at most for parts of very few rows.
const SEEDS: u64 = 100;

/// What each row serves for: 0 the fit, 1 the choice of cells, 2 the certificate. Where fewer than two
/// rows would fit or choose, the next seed that gives them more is asked.
#[pyfunction]
pub fn parts(py: Python<'_>, rows: u64, seed: u64) -> Bound<'_, PyArray1<u8>> {
    let by = |seed: u64| -> Vec<u8> { (0..rows).map(|row| Part::of(row, seed) as u8).collect() };
    let enough = |parts: &Vec<u8>| {
        [0, 1].iter().all(|part| parts.iter().filter(|of| *of == part).take(2).count() == 2)
    };
    let found = (0..SEEDS).map(|i| by(seed.wrapping_add(i))).find(enough);
    PyArray1::from_vec(py, found.unwrap_or_else(|| by(seed)))
}

/// What each row serves for by its key, wherever it is: see [`parts`].
#[pyfunction]
pub fn key_parts<'py>(
    py: Python<'py>,
    keys: PyReadonlyArray1<'py, u64>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let found = slice(&keys)?.iter().map(|&key| Part::of(key, seed) as u8).collect();
    Ok(PyArray1::from_vec(py, found))
}

/// What was counted on some rows and on others, both as [`Counter::counted`] gives it.
#[pyfunction]
pub fn add_counted<'py>(py: Python<'py>, a: &[u8], b: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let mut sum = counted_of(a)?;
    sum.merge(&counted_of(b)?).map_err(refused)?;
    counted_bytes(py, &sum)
}

fn counted_of(bytes: &[u8]) -> PyResult<Counted> {
    serde_json::from_slice(bytes).map_err(|e| wrong(format!("these are no counts: {e}")))
}

fn counted_bytes<'py>(py: Python<'py>, counted: &Counted) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = serde_json::to_vec(counted).map_err(|e| wrong(e.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

/// From a fit to a model whose cells meet a goal: rows to choose on, then rows to certify on.
#[pyclass(module = "sarl._core")]
pub struct Cutter {
    fitted: Arc<Fitted>,
    /// Nothing where it was interrupted, or is done.
    core: Option<Core>,
}

#[pymethods]
impl Cutter {
    /// For encoders of a fit. The goal is that of a model file, as JSON.
    #[new]
    #[pyo3(signature = (fit, params, goal, seed, *, threads=None))]
    fn new(
        py: Python<'_>,
        fit: &Fit,
        params: &str,
        goal: &str,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let goal: CellGoal =
            serde_json::from_str(goal).map_err(|e| wrong(format!("this is no goal: {e}")))?;
        goal.check().map_err(refused)?;
        let fitted = fit.finish(py, params, threads)?;
        let shared = Arc::clone(&fitted);
        let asks = vec![Ask::One(goal)];
        let core = interruptible(py, threads, move |_| Core::new(&shared, asks, seed), || Ok(()))?;
        Ok(Cutter { fitted, core: Some(core.map_err(refused)?) })
    }

    /// Adds rows to choose on or, after `choose`, to certify on.
    #[pyo3(signature = (x, codes, labels, *, threads=None))]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        labels: Vec<LabelArray<'_>>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let beside = beside(&codes, &labels)?;
        match &x {
            Matrix::Double(x) => self.add(py, view(x)?, &beside, threads),
            Matrix::Single(x) => self.add(py, view(x)?, &beside, threads),
        }
    }

    /// Chooses cells that should meet the goal when so many other rows certify them.
    #[pyo3(signature = (rows, *, threads=None))]
    fn choose(&mut self, py: Python<'_>, rows: u64, threads: Option<usize>) -> PyResult<()> {
        let mut core = self.core.take().ok_or_else(ended)?;
        let chosen =
            interruptible(py, threads, move |_| core.choose(rows).map(|()| core), || Ok(()))?;
        self.core = Some(chosen.map_err(refused)?);
        Ok(())
    }

    /// The models whose cells wait to be certified, where others count rows for them.
    fn proposals(&self) -> PyResult<Vec<Model>> {
        let core = self.core.as_ref().ok_or_else(ended)?;
        let whole = |model: &sarl::Model| model_of(Solved::Whole(Box::new(model.clone())));
        Ok(core.proposals().into_iter().map(whole).collect())
    }

    /// Adds what others counted for each of the proposals.
    fn merge(&mut self, counted: Vec<Vec<u8>>) -> PyResult<()> {
        let core = self.core.as_mut().ok_or_else(ended)?;
        let counted = counted.iter().map(|of| counted_of(of)).collect::<PyResult<Vec<_>>>()?;
        core.merge(&counted).map_err(refused)
    }

    /// The most useful model that is certified to meet the goal, with what a solution of the fit
    /// comes with.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let core = self.core.take().ok_or_else(ended)?;
        let model = core.finish().map_err(refused)?.concat().pop().ok_or_else(ended)?;
        let model = Bound::new(py, model_of(Solved::Whole(Box::new(model))))?;
        Ok((model, self.fitted.spreads().to_vec()).into_pyobject(py)?.into_any())
    }
}

impl Cutter {
    fn add<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let core = self.core.as_mut().ok_or_else(ended)?;
        let at = (self.fitted.map().outputs(), core.rows());
        each(py, x, beside, at, threads, |block| core.push(block))
    }
}

fn ended() -> PyErr {
    wrong("there are no cells to choose or to certify")
}

/// Counts rows that neither fitted a model nor chose its cells.
#[pyclass(module = "sarl._core")]
pub struct Counter {
    certifier: Certifier,
    known: PartRows,
    cells: usize,
    width: usize,
}

#[pymethods]
impl Counter {
    #[new]
    fn new(model: &Model) -> PyResult<Self> {
        let whole = model.solved.whole()?;
        let certifier = Certifier::new(whole).map_err(refused)?;
        let cells = whole.cells();
        let known = cells.and_then(|c| c.certificate()).map(|c| c.rows).unwrap_or_default();
        let width = whole.encoder().weights().nrows();
        Ok(Counter { certifier, known, cells: cells.map_or(0, |c| c.count()), width })
    }

    /// Adds rows.
    #[pyo3(signature = (x, codes, labels, *, threads=None))]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        labels: Vec<LabelArray<'_>>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let beside = beside(&codes, &labels)?;
        let certifier = &mut self.certifier;
        let at = (self.width, certifier.rows());
        match &x {
            Matrix::Double(x) => each(py, view(x)?, &beside, at, threads, |b| certifier.push(b)),
            Matrix::Single(x) => each(py, view(x)?, &beside, at, threads, |b| certifier.push(b)),
        }
    }

    /// What was counted, for another machine.
    fn counted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        counted_bytes(py, self.certifier.counted())
    }

    /// What the rows prove, as JSON; without figures of targets where they were not known.
    fn certificate(&self, confidence: f64, targets: bool) -> String {
        let mut found = self.certifier.certificate(confidence, 1, self.known);
        if !targets {
            found.targets.clear();
        }
        sarl_lab::certificate::json(&found, self.cells).to_string()
    }
}

fn beside<'a>(
    codes: &'a [PyReadonlyArray1<'_, u32>],
    labels: &'a [LabelArray<'_>],
) -> PyResult<Beside<'a>> {
    Ok(Beside {
        codes: codes.iter().map(slice).collect::<PyResult<_>>()?,
        labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
        ..Default::default()
    })
}

/// Hands rows over, some at a time, for features of so many columns; so many rows came before.
fn each<T: Element>(
    py: Python<'_>,
    x: MatRef<'_, T>,
    beside: &Beside<'_>,
    (width, before): (usize, u64),
    threads: Option<usize>,
    mut work: impl FnMut(&Block<'_, T>) -> sarl::Result<()> + Send,
) -> PyResult<()> {
    let step = (CHUNK / x.ncols().max(width).max(1)).max(1);
    for start in (0..x.nrows()).step_by(step) {
        let rows = step.min(x.nrows() - start);
        let part = beside.slice(start, rows)?;
        released(py, threads, || work(&part.with(x.subrows(start, rows))))?
            .map_err(|e| refused(moved(e, before as usize + start)))?;
        py.check_signals()?;
    }
    Ok(())
}

/// The cell of each row.
pub fn cells_of<'py, T: Element>(
    py: Python<'py>,
    encoder: &Encoder,
    x: MatRef<'_, T>,
    codes: &[&[u32]],
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let beside = Beside { codes: codes.to_vec(), ..Default::default() };
    let mut cells: Vec<i64> = Vec::with_capacity(x.nrows());
    each(py, x, &beside, (encoder.weights().nrows(), 0), threads, |block| {
        cells.extend(encoder.cells_of(block)?.into_iter().map(i64::from));
        Ok(())
    })?;
    Ok(PyArray1::from_vec(py, cells))
}

/// The cells of a model: what was asked, what is expected in each, and what is certified.
pub fn about(cells: &Cells) -> Value {
    let certificate = cells.certificate();
    json!({
        "goal": cells.goal(),
        "expected": cells.expected(),
        "certificate": certificate.map(|found| sarl_lab::certificate::json(found, cells.count())),
    })
}

/// The centres of the cells of a model, cells × dim.
pub fn centres<'py>(py: Python<'py>, solved: &Solved) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let Some(cells) = solved.cells() else { return Err(wrong("this model has no cells")) };
    let centres = cells.centres();
    array(py, centres.concat(), centres.len(), centres.first().map_or(0, Vec::len))
}
