//! A guarantee against every adversary: rows in three parts, cells that one part chooses and another
//! certifies. What [`sarl::cells`] does, over arrays, in the order of `sarl fit --max-advantage`.

use std::mem;
use std::sync::Arc;

use faer::MatRef;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use sarl::cells::{CellGoal, Cells, Certifier, Chooser, Part, PartRows, Proposals};
use sarl::{Block, Element, Encoder, Fitted};
use serde_json::{Value, json};

use crate::arrays::{Beside, LabelArray, Matrix, array, slice, view};
use crate::failure::{refused, wrong};
use crate::fit::Fit;
use crate::model::{CHUNK, Model, model_of, moved};
use crate::solved::Solved;
use crate::work::{interruptible, released};

/// Seeds that are asked at most for parts of very few rows.
const SEEDS: u64 = 100;

/// What each row serves for: 0 the fit, 1 the choice of cells, 2 the certificate. Where fewer than two
/// rows would fit or choose, the next seed that gives them more is asked.
#[pyfunction]
pub fn parts(py: Python<'_>, rows: u64, seed: u64) -> Bound<'_, PyArray1<u8>> {
    let by = |seed: u64| -> Vec<u8> {
        let part = |row| match Part::of(row, seed) {
            Part::Fit => 0,
            Part::Choose => 1,
            Part::Certify => 2,
        };
        (0..rows).map(part).collect()
    };
    let enough = |parts: &Vec<u8>| {
        [0, 1].iter().all(|part| parts.iter().filter(|of| *of == part).take(2).count() == 2)
    };
    let found = (0..SEEDS).map(|i| by(seed.wrapping_add(i))).find(enough);
    PyArray1::from_vec(py, found.unwrap_or_else(|| by(seed)))
}

/// From a fit to a model whose cells meet a goal: rows to choose on, then rows to certify on.
#[pyclass(module = "sarl._core")]
pub struct Cutter {
    fitted: Arc<Fitted>,
    goal: CellGoal,
    step: Step,
}

enum Step {
    Choosing(Box<Chooser>),
    Certifying(Box<Proposals>),
    /// It was interrupted, or it is done.
    Ended,
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
        let chooser = interruptible(py, threads, move |_| Chooser::new(&shared, seed), || Ok(()))?;
        let step = Step::Choosing(Box::new(chooser.map_err(refused)?));
        let cutter = Cutter { fitted, goal, step };
        cutter.goal.check_names(cutter.fitted.layout().labels()).map_err(refused)?;
        Ok(cutter)
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
        let Step::Choosing(chooser) = mem::replace(&mut self.step, Step::Ended) else {
            return Err(wrong("the cells were chosen before"));
        };
        let goal = self.goal.clone();
        let chosen = interruptible(py, threads, move |_| chooser.choose(&goal, rows), || Ok(()))?;
        self.step = Step::Certifying(Box::new(chosen.map_err(refused)?));
        Ok(())
    }

    /// The most useful model that is certified to meet the goal, with what a solution of the fit
    /// comes with.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Step::Certifying(proposals) = mem::replace(&mut self.step, Step::Ended) else {
            return Err(wrong("no cells were chosen"));
        };
        let model = proposals.first_met().map_err(refused)?;
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
        let width = self.fitted.map().outputs();
        let step = &mut self.step;
        let before = match step {
            Step::Choosing(chooser) => chooser.rows(),
            Step::Certifying(proposals) => proposals.rows(),
            Step::Ended => return Err(wrong("there are no cells to choose or to certify")),
        };
        each(py, x, beside, (width, before), threads, |block| match step {
            Step::Choosing(chooser) => chooser.push(block),
            Step::Certifying(proposals) => proposals.push(block),
            Step::Ended => Ok(()),
        })
    }
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
        weights: None,
        keys: None,
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
    let beside = Beside { codes: codes.to_vec(), labels: Vec::new(), weights: None, keys: None };
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
