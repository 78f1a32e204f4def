//! Fits: rows in, solved problems out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use faer::MatRef;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sarl::{Chosen, FitParams, Fitted, Layout, Role};
use sarl_cuda::Products;

use crate::arrays::{Beside, LabelArray, Matrix, slice, view};
use crate::failure::{refused, wrong};
use crate::figures::held_out_columns;
use crate::goal::{Limit, goal};
use crate::model::{Model, model_of};
use crate::placed::Placement;
use crate::push::pass_by;
use crate::solved::Solved;
use crate::work::{interruptible, released};

/// A fit that rows are added to.
#[pyclass(module = "sarl._core")]
pub struct Fit {
    pub fit: Arc<sarl::Fit>,
    /// The last one that was finished, and for which parameters.
    pub finished: Arc<OnceLock<(String, Arc<Fitted>)>>,
}

/// A label: its name, whether it is the target, the number of its classes, 0 for numbers, and the number
/// of the columns that share a kernel, 0 without one.
pub type LabelOf = (String, bool, usize, usize);

/// What a kernel learnt, as bytes, and the mean and the spread of each dense input.
type ChosenParts<'py> = (Bound<'py, PyBytes>, Vec<(f64, f64)>);

fn parsed(params: &str) -> PyResult<FitParams> {
    serde_json::from_str(params).map_err(|e| wrong(format!("these are no parameters: {e}")))
}

pub fn layout_of(
    dense: usize,
    categories: &[usize],
    labels: &[LabelOf],
    features_are_target: bool,
    keep_inputs: bool,
) -> Layout {
    let layout = Layout::dense(dense).coded(categories);
    let layout = if keep_inputs { layout.keep_inputs() } else { layout };
    let layout = if features_are_target { layout.keep_features() } else { layout };
    labels.iter().fold(layout, |layout, (name, target, classes, kernel)| {
        let role = if *target { Role::Target } else { Role::Sensitive };
        match (*classes, *kernel) {
            (0, 0) => layout.number(name, role, 1),
            (0, columns) => layout.kernel(name, role, columns),
            (classes, _) => layout.class(name, role, classes),
        }
    })
}

#[pymethods]
impl Fit {
    #[new]
    #[pyo3(signature = (params, dense, categories, labels, *, features_are_target, keep_inputs))]
    fn new(
        params: &str,
        dense: usize,
        categories: Vec<usize>,
        labels: Vec<LabelOf>,
        features_are_target: bool,
        keep_inputs: bool,
    ) -> PyResult<Self> {
        let layout = layout_of(dense, &categories, &labels, features_are_target, keep_inputs);
        Ok(Self::of(sarl::Fit::new(parsed(params)?, layout).map_err(refused)?))
    }

    /// Lets a device add up the rows that come; fast products are those of its matrix units. Rows that lie
    /// on a GPU are near it.
    #[pyo3(signature = (device, fast, near=0))]
    fn on(&mut self, device: &str, fast: bool, near: usize) -> PyResult<()> {
        let device: sarl_cuda::Device = device.parse().map_err(wrong)?;
        let products = if fast { Products::Fast } else { Products::Asked };
        let failed = |fault| PyRuntimeError::new_err(format!("device=\"{device}\": {fault}"));
        if let Some(engine) = device.engine_near(near, products).map_err(failed)? {
            *self = Self::of((*self.fit).clone().on(engine));
        }
        Ok(())
    }

    /// What has added up the rows.
    #[getter]
    fn device(&self) -> String {
        self.fit.device_name().unwrap_or_else(|| "cpu".to_owned())
    }

    /// Rows so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.fit.rows()
    }

    /// Whether rows must pass by before they are pushed.
    #[getter]
    fn needs_sample(&self) -> bool {
        self.fit.needs_sample()
    }

    /// The width of the kernel, and the share of it that landmarks leave unexplained.
    #[getter]
    fn kernel(&self) -> Option<(Option<f64>, f64)> {
        let map = self.fit.map().filter(|map| !map.is_linear())?;
        Some((map.gamma(), map.residual()))
    }

    /// Lets rows pass by that kernels are fitted to, those of labels too, or that landmarks are taken
    /// from.
    #[pyo3(signature = (x, codes, labels, weights=None, *, landmarks=false, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn sample(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        labels: Vec<LabelArray<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        landmarks: bool,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let beside = Beside {
            codes: codes.iter().map(slice).collect::<PyResult<_>>()?,
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            weights: weights.as_ref().map(slice).transpose()?,
            keys: None,
        };
        let fit = Arc::make_mut(&mut self.fit);
        let done = match &x {
            Matrix::Double(x) => pass_by(py, fit, view(x)?, &beside, landmarks, threads),
            Matrix::Single(x) => pass_by(py, fit, view(x)?, &beside, landmarks, threads),
        };
        done?.map_err(refused)
    }

    /// Chooses the landmarks of a kernel.
    #[pyo3(signature = (threads=None))]
    fn choose(&mut self, py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
        let mut fit = (*self.fit).clone();
        let chosen = interruptible(
            py,
            threads,
            move |stop| {
                fit.choose(stop)?;
                Ok(fit)
            },
            || Ok(()),
        )?;
        *self = Self::of(chosen.map_err(refused)?);
        Ok(())
    }

    /// Adds rows: all of them, or none if any is refused. Keys decide on folds, where these are not
    /// by position.
    ///
    /// In place, the sums are not copied first. What is refused leaves them as they were all the same,
    /// as all rows are one block, but nothing can interrupt it.
    #[pyo3(signature = (x, codes, labels, weights, *, keys=None, threads=None, progress=None,
                        in_place=false))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        labels: Vec<LabelArray<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        keys: Option<PyReadonlyArray1<'_, u64>>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
        in_place: bool,
    ) -> PyResult<()> {
        let beside = Beside {
            codes: codes.iter().map(slice).collect::<PyResult<_>>()?,
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            weights: weights.as_ref().map(slice).transpose()?,
            keys: keys.as_ref().map(slice).transpose()?,
        };
        match &x {
            Matrix::Double(x) if in_place => self.add_here(py, view(x)?, &beside, threads),
            Matrix::Single(x) if in_place => self.add_here(py, view(x)?, &beside, threads),
            Matrix::Double(x) => self.add(py, view(x)?, &beside, threads, progress),
            Matrix::Single(x) => self.add(py, view(x)?, &beside, threads, progress),
        }
    }

    /// Adds rows that lie on a GPU, where they are: all of them, or none if any is refused. Whether a GPU
    /// took them; they must come from host memory otherwise.
    ///
    /// What is added stays there until `settle`.
    #[pyo3(signature = (x, labels, weights, *, keys=None, threads=None))]
    fn push_placed(
        &mut self,
        py: Python<'_>,
        x: Placement,
        labels: Vec<LabelArray<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        keys: Option<PyReadonlyArray1<'_, u64>>,
        threads: Option<usize>,
    ) -> PyResult<bool> {
        let beside = Beside {
            codes: Vec::new(),
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            weights: weights.as_ref().map(slice).transpose()?,
            keys: keys.as_ref().map(slice).transpose()?,
        };
        let placed = x.rows();
        let block = beside.slice(0, placed.rows)?;
        self.finished = Arc::default();
        let fit = Arc::make_mut(&mut self.fit);
        let nothing = MatRef::from_row_major_slice(&[], placed.rows, 0);
        released(py, threads, || fit.push_placed(&placed, &block.with(nothing)))?.map_err(refused)
    }

    /// Takes what a GPU has added up, and leaves its memory free.
    #[pyo3(signature = (threads=None))]
    fn settle(&mut self, py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
        if self.fit.device_rows().is_none() {
            return Ok(());
        }
        let fit = Arc::make_mut(&mut self.fit);
        released(py, threads, || fit.settle())?.map_err(refused)
    }

    /// Adds the rows of another fit.
    fn merge(&mut self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let mut fit = (*self.fit).clone();
        let theirs = Arc::clone(&other.fit);
        let merged = released(py, None, move || fit.merge(&theirs).map(|()| fit))?;
        *self = Self::of(merged.map_err(refused)?);
        Ok(())
    }

    /// Renumbers the classes of a label.
    fn reclass(&mut self, label: usize, to: Vec<u32>, classes: usize) -> PyResult<()> {
        let mut fit = (*self.fit).clone();
        fit.reclass(label, &to, classes).map_err(refused)?;
        *self = Self::of(fit);
        Ok(())
    }

    /// Renumbers the categories of a feature.
    fn recode(&mut self, category: usize, to: Vec<u32>, size: usize) -> PyResult<()> {
        let mut fit = (*self.fit).clone();
        fit.recode(category, &to, size).map_err(refused)?;
        *self = Self::of(fit);
        Ok(())
    }

    /// The same kernels, features and labels without rows.
    fn without_rows(&self) -> PyResult<Self> {
        Ok(Self::of(self.fit.without_rows().map_err(refused)?))
    }

    /// A copy that can go on by itself.
    fn copy(&self) -> Self {
        Fit { fit: Arc::clone(&self.fit), finished: Arc::clone(&self.finished) }
    }

    /// Held-out losses at evenly spaced λ, or at a goal, there for each label too. Not `whole` are
    /// those of erasures in a space of few directions; with `preserve` those of one that preserves
    /// targets.
    #[pyo3(signature = (params, *, points=None, goal_name=None, value=None, whole=true, preserve=false, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        points: Option<usize>,
        goal_name: Option<&str>,
        value: Option<Limit>,
        whole: bool,
        preserve: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let asked = match (goal_name, value) {
            (Some(name), Some(value)) => Some(goal(name, value)?),
            _ => None,
        };
        let fitted = self.finish(py, params, threads)?;
        let losses = interruptible(
            py,
            threads,
            move |_| match asked {
                Some(_) if preserve => {
                    let (losses, labels) = fitted.preserved_heldout()?;
                    Ok((vec![losses], Some(labels)))
                }
                Some(goal) if fitted.erases(&goal) || (!whole && fitted.erases_any()) => {
                    let (losses, labels) = fitted.erased_heldout(&goal)?;
                    Ok((vec![losses], Some(labels)))
                }
                None if !whole && fitted.erases_any() => {
                    Ok((fitted.erased_heldout_points(points.unwrap_or(101))?, None))
                }
                Some(goal) => {
                    let (losses, labels) = fitted.heldout()?.solve_each(goal, &fitted.front()?)?;
                    Ok((vec![losses], Some(labels)))
                }
                None => Ok((fitted.heldout()?.points(points.unwrap_or(101))?, None)),
            },
            || Ok(()),
        )?;
        let (losses, labels) = losses.map_err(refused)?;
        held_out_columns(py, &losses, labels)
    }

    /// Solves for a goal: the model, and the mean and the spread of each dense column.
    /// An erasure that is not wanted whole holds no more than the directions that it needs, or with
    /// `front` those that all goals need. A full one may preserve targets beside the features.
    #[pyo3(signature = (params, *, goal_name, value, whole=true, front=false, preserve=false, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        goal_name: &str,
        value: Limit,
        whole: bool,
        front: bool,
        preserve: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let goal = goal(goal_name, value)?;
        let fitted = self.finish(py, params, threads)?;
        let shared = Arc::clone(&fitted);
        let solved = interruptible(
            py,
            threads,
            move |_| {
                if preserve {
                    return Ok(Solved::Erasing(Box::new(shared.preserve()?)));
                }
                Ok(match (!whole && shared.erases_any(), front) {
                    (true, true) => Solved::Erasing(Box::new(shared.erase_along(goal)?)),
                    (true, false) => Solved::Erasing(Box::new(shared.erase(goal)?)),
                    (false, _) => Solved::Whole(Box::new(shared.solve(goal)?)),
                })
            },
            || Ok(()),
        )?;
        let model = Bound::new(py, model_of(solved.map_err(refused)?))?;
        Ok((model, fitted.spreads().to_vec()).into_pyobject(py)?.into_any())
    }

    /// A model of this fit with its folds, so that a file of it has held-out losses for every goal.
    #[pyo3(signature = (params, model, *, threads=None))]
    fn with_folds<'py>(
        &self,
        py: Python<'py>,
        params: &str,
        model: &Bound<'py, Model>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, Model>> {
        let Solved::Whole(whole) = &model.get().solved else { return Ok(model.clone()) };
        let fitted = self.finish(py, params, threads)?;
        let folds = interruptible(py, threads, move |_| fitted.heldout_if_any(), || Ok(()))?;
        let Some(folds) = folds.map_err(refused)? else { return Ok(model.clone()) };
        let mut whole = whole.clone();
        whole.keep_heldout(folds);
        Bound::new(py, model_of(Solved::Whole(whole)))
    }

    /// The standard deviation of each input, one-hot columns included.
    #[pyo3(signature = (params, *, threads=None))]
    fn feature_spreads(
        &self,
        py: Python<'_>,
        params: &str,
        threads: Option<usize>,
    ) -> PyResult<Vec<f64>> {
        self.finish(py, params, threads)?.feature_spreads().map_err(refused)
    }

    /// The rows in the safetensors format, with texts that travel along.
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        extra: BTreeMap<String, String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.fit.to_bytes(extra).map_err(refused)?))
    }

    /// What a kernel learnt before its rows were pushed.
    fn chosen<'py>(&self, py: Python<'py>) -> PyResult<Option<ChosenParts<'py>>> {
        let chosen = self.fit.chosen().map_err(refused)?;
        Ok(chosen.map(|c| (PyBytes::new(py, &c.map), c.spreads)))
    }

    /// The inverse of `to_bytes` for a linear fit, with the texts.
    #[staticmethod]
    fn from_bytes(
        params: &str,
        bytes: Cow<'_, [u8]>,
    ) -> PyResult<(Self, BTreeMap<String, String>)> {
        let found = sarl::Fit::from_bytes(parsed(params)?, &bytes);
        let (fit, extra) = found.map_err(refused)?;
        Ok((Self::of(fit), extra))
    }

    /// The same for a kernel.
    #[staticmethod]
    fn from_chosen(
        params: &str,
        bytes: Cow<'_, [u8]>,
        chosen: (Cow<'_, [u8]>, Vec<(f64, f64)>),
        layout: (usize, Vec<usize>, Vec<LabelOf>),
    ) -> PyResult<Self> {
        let ((map, spreads), (dense, categories, labels)) = (chosen, layout);
        let layout = layout_of(dense, &categories, &labels, false, true);
        let chosen = Chosen { map: map.into_owned(), spreads };
        let fit = sarl::Fit::from_chosen(parsed(params)?, layout, chosen, &bytes);
        Ok(Self::of(fit.map_err(refused)?))
    }
}

impl Fit {
    fn of(fit: sarl::Fit) -> Self {
        Fit { fit: Arc::new(fit), finished: Arc::default() }
    }

    /// The fit with all its rows, for these parameters; the last one is kept.
    pub fn finish(
        &self,
        py: Python<'_>,
        params: &str,
        threads: Option<usize>,
    ) -> PyResult<Arc<Fitted>> {
        if let Some((_, fitted)) = self.finished.get().filter(|(known, _)| known == params) {
            return Ok(Arc::clone(fitted));
        }
        let (fit, other) = (Arc::clone(&self.fit), parsed(params)?);
        let fitted = interruptible(
            py,
            threads,
            move |_| Arc::unwrap_or_clone(fit).with(&other)?.finish(),
            || Ok(()),
        )?;
        let fitted = Arc::new(fitted.map_err(refused)?);
        let _ = self.finished.set((params.to_owned(), Arc::clone(&fitted)));
        Ok(fitted)
    }
}
