//! Second moments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use faer::MatRef;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sarl::{Element, HeldOut, LabelKind, Layout, MomentsOptions, Precision, Role};

use crate::arrays::{Beside, LabelArray, Matrix, Scaling, slice, view};
use crate::failure::{refused, wrong};
use crate::goal::{Limit, goal};
use crate::map::FeatureMap;
use crate::model::{Column, model_of};
use crate::work::{interruptible, released};

/// Numbers that are read between two questions whether somebody pressed Ctrl-C.
const CHUNK: usize = 1 << 23;

/// The second moments of rows and their labels.
#[pyclass(module = "sarl._core")]
pub struct Moments {
    pub moments: Arc<sarl::Moments>,
    pub map: Arc<sarl::FeatureMap>,
    /// Of the rows as they come, before the map.
    pub layout: Layout,
}

/// A label: its name, whether it is the target, and the number of its classes; 0 for a number.
type LabelOf = (String, bool, usize);

#[pymethods]
impl Moments {
    #[new]
    #[pyo3(signature = (dense, categories, labels, *, features_are_target, folds, seed, precision, map=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn new(
        dense: usize,
        categories: Vec<usize>,
        labels: Vec<LabelOf>,
        features_are_target: bool,
        folds: usize,
        seed: u64,
        precision: &str,
        map: Option<&Bound<'_, FeatureMap>>,
    ) -> PyResult<Self> {
        let precision = match precision {
            "double" => Precision::Double,
            "single" => Precision::Single,
            other => return Err(wrong(format!("there is no precision {other:?}"))),
        };
        let (layout, map) = match map {
            None => {
                let map = Arc::new(sarl::FeatureMap::coded(dense, &categories));
                (Layout::dense(dense).coded(&categories), map)
            }
            // One-hot columns come as dense ones, and inputs are kept for reconstructing them.
            Some(map) => (Layout::dense(dense).keep_inputs(), Arc::clone(&map.get().map)),
        };
        let layout = if features_are_target { layout.keep_features() } else { layout };
        let layout = labels.iter().fold(layout, |layout, (name, target, classes)| {
            let role = if *target { Role::Target } else { Role::Sensitive };
            match *classes {
                0 => layout.number(name, role, 1),
                classes => layout.class(name, role, classes),
            }
        });
        let options = MomentsOptions { folds, seed, precision };
        let moments = Arc::new(map.moments(&layout, options).map_err(refused)?);
        Ok(Moments { moments, map, layout })
    }

    /// Rows so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.moments.rows()
    }

    /// Texts that travel along.
    #[getter]
    fn extra(&self) -> BTreeMap<String, String> {
        self.moments.extra.clone()
    }

    #[setter]
    fn set_extra(&mut self, extra: BTreeMap<String, String>) {
        Arc::make_mut(&mut self.moments).extra = extra;
    }

    /// Adds rows: all of them, or none if any is refused.
    #[pyo3(signature = (x, codes, labels, weights, *, shift, factor, threads=None, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn push(
        &mut self,
        py: Python<'_>,
        x: Matrix<'_>,
        codes: Vec<PyReadonlyArray1<'_, u32>>,
        labels: Vec<LabelArray<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        shift: Vec<f64>,
        factor: Vec<f64>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let beside = Beside {
            codes: codes.iter().map(slice).collect::<PyResult<_>>()?,
            labels: labels.iter().map(LabelArray::block).collect::<PyResult<_>>()?,
            weights: weights.as_ref().map(slice).transpose()?,
        };
        let how = How { scaling: Scaling::new(shift, factor)?, threads, progress };
        match &x {
            Matrix::Double(x) => self.add(py, view(x)?, &beside, &how),
            Matrix::Single(x) => self.add(py, view(x)?, &beside, &how),
        }
    }

    /// Adds the rows of other moments.
    fn merge(&mut self, other: &Self) -> PyResult<()> {
        if !self.map.is_linear() || !other.map.is_linear() {
            return Err(wrong("moments behind a kernel cannot be merged"));
        }
        Arc::make_mut(&mut self.moments).merge(&other.moments).map_err(refused)
    }

    /// Renumbers the classes of a label.
    fn reclass(&mut self, label: usize, to: Vec<u32>, classes: usize) -> PyResult<()> {
        let moments = Arc::make_mut(&mut self.moments);
        moments.reclass(label, &to, classes).map_err(refused)?;
        self.relabel();
        Ok(())
    }

    /// A copy that can go on by itself.
    fn copy(&self) -> Self {
        let (moments, map) = (Arc::clone(&self.moments), Arc::clone(&self.map));
        Moments { moments, map, layout: self.layout.clone() }
    }

    /// Held-out losses at evenly spaced λ, or at a goal, there for each label too.
    #[pyo3(signature = (*, standardise, ridge, cap, points=None, goal_name=None, value=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn held_out<'py>(
        &self,
        py: Python<'py>,
        standardise: bool,
        ridge: f64,
        cap: Option<usize>,
        points: Option<usize>,
        goal_name: Option<&str>,
        value: Option<Limit>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let asked = match (goal_name, value) {
            (Some(name), Some(value)) => Some(goal(name, value)?),
            _ => None,
        };
        let moments = Arc::clone(&self.moments);
        let losses = interruptible(
            py,
            threads,
            move |_| {
                let moments = standardised(&moments, standardise)?.0;
                let held = HeldOut::new(&moments, ridge, cap)?;
                match asked {
                    None => Ok((held.points(points.unwrap_or(101))?, None)),
                    Some(goal) => {
                        let reduced = sarl::Reduced::new(&moments.covariances()?, ridge)?;
                        let front = sarl::Front::new(&reduced, cap)?;
                        let (losses, labels) = held.solve_each(goal, &front)?;
                        Ok((vec![losses], Some(labels)))
                    }
                }
            },
            || Ok(()),
        )?;
        let (losses, labels) = losses.map_err(refused)?;
        let all = PyDict::new(py);
        let columns: [Column<sarl::HeldOutLosses>; 6] = [
            ("jy", |l| l.jy),
            ("js", |l| l.js),
            ("jy_sd", |l| l.jy_sd),
            ("js_sd", |l| l.js_sd),
            ("utility", |l| l.utility),
            ("leakage", |l| l.leakage),
        ];
        if let Some(sarl::HeldOutLabels { target, sensitive }) = labels {
            let figures = |labels: Vec<sarl::HeldOutLabel>| -> Vec<(String, f64, f64)> {
                labels.into_iter().map(|l| (l.name, l.loss, l.share)).collect()
            };
            all.set_item("labels", (figures(target), figures(sensitive)))?;
        }
        for (name, of) in columns {
            all.set_item(name, PyArray1::from_vec(py, losses.iter().map(of).collect()))?;
        }
        Ok(all)
    }

    /// Solves for a goal: the model, the mean and the spread of each dense column, and the mean
    /// and the variance of each label column of the target and of what is hidden.
    #[pyo3(signature = (*, standardise, ridge, cap, goal_name, value, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        standardise: bool,
        ridge: Option<f64>,
        cap: Option<usize>,
        goal_name: &str,
        value: Limit,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let goal = goal(goal_name, value)?;
        let (moments, map) = (Arc::clone(&self.moments), Arc::clone(&self.map));
        let layout = self.layout.clone();
        let solved = interruptible(
            py,
            threads,
            move |_| {
                let (moments, spreads) = standardised(&moments, standardise)?;
                let ridge = match ridge {
                    Some(ridge) => ridge,
                    None => sarl::best_ridge(&moments, cap)?.ridge,
                };
                let covariances = moments.covariances()?;
                let reduced = sarl::Reduced::new(&covariances, ridge)?;
                let model = sarl::Model::new(&map, &layout, &reduced, cap, goal)?;
                let label = |l: &sarl::LabelCovariances| (l.mean.clone(), l.variance.clone());
                Ok((model, spreads, [label(&covariances.target), label(&covariances.sensitive)]))
            },
            || Ok(()),
        )?;
        let (model, spreads, labels) = solved.map_err(refused)?;
        let scaling = match standardise {
            true => Scaling::standard(&spreads),
            false => Scaling::default(),
        };
        let model = Bound::new(py, model_of(model, scaling))?;
        Ok((model, spreads, labels).into_pyobject(py)?.into_any())
    }

    /// All sums, in the safetensors format.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.moments.to_bytes().map_err(refused)?))
    }

    /// The inverse of `to_bytes`; moments behind a kernel need its map.
    #[staticmethod]
    #[pyo3(signature = (bytes, map=None, width=0))]
    fn from_bytes(
        bytes: Cow<'_, [u8]>,
        map: Option<&Bound<'_, FeatureMap>>,
        width: usize,
    ) -> PyResult<Self> {
        let moments = sarl::Moments::from_bytes(&bytes).map_err(refused)?;
        let layout = moments.layout().clone();
        let (layout, map) = match map {
            None => {
                let map = sarl::FeatureMap::coded(layout.dense_features(), layout.categories());
                (layout, Arc::new(map))
            }
            Some(map) => (Layout::dense(width).keep_inputs(), Arc::clone(&map.get().map)),
        };
        let mut this = Moments { moments: Arc::new(moments), map, layout };
        this.relabel();
        Ok(this)
    }
}

/// How rows are read.
struct How<'a, 'py> {
    scaling: Scaling,
    threads: Option<usize>,
    progress: Option<&'a Bound<'py, PyAny>>,
}

impl Moments {
    fn add<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        how: &How<'_, '_>,
    ) -> PyResult<()> {
        how.scaling.check(x.ncols())?;
        let step = (CHUNK / x.ncols().max(self.map.outputs()).max(1)).max(1);
        // What is refused, or interrupted, leaves the moments as they were.
        let mut moments = Arc::clone(&self.moments);
        if x.nrows() <= step {
            moments = std::mem::replace(&mut self.moments, moments);
        }
        let map = Arc::clone(&self.map);
        let mut done = Ok(());
        for start in (0..x.nrows()).step_by(step) {
            let rows = step.min(x.nrows() - start);
            let part = x.subrows(start, rows);
            let beside = beside.slice(start, rows)?;
            let into = Arc::make_mut(&mut moments);
            let scaling = &how.scaling;
            done = released(py, how.threads, || {
                // Rows that lie apart are read where they are; others are laid out first.
                if scaling.is_none() && part.row_stride() != 1 {
                    return map.push(into, &beside.with(part));
                }
                let scaled = scaling.apply(part);
                let scaled = MatRef::from_row_major_slice(&scaled, rows, part.ncols());
                map.push(into, &beside.with(scaled))
            })?;
            if done.is_err() {
                break;
            }
            if let Some(progress) = how.progress {
                progress.call1((rows,))?;
            }
            py.check_signals()?;
        }
        done.map_err(refused)?;
        self.moments = moments;
        Ok(())
    }

    /// The layout of the rows as they come, with the labels that the moments have now.
    fn relabel(&mut self) {
        let labels = self.moments.layout().labels();
        if self.map.is_linear() {
            self.layout = self.moments.layout().clone();
            return;
        }
        let layout = Layout::dense(self.layout.dense_features()).keep_inputs();
        self.layout = labels.iter().fold(layout, |layout, label| match label.kind {
            LabelKind::Class { classes } => layout.class(&label.name, label.role, classes),
            LabelKind::Number { width } => layout.number(&label.name, label.role, width),
            LabelKind::Features => layout.keep_features(),
        });
    }
}

type Standardised = (Arc<sarl::Moments>, Vec<(f64, f64)>);

/// Standardised moments, if that is wanted, and the mean and spread of each dense column.
fn standardised(moments: &Arc<sarl::Moments>, wanted: bool) -> sarl::Result<Standardised> {
    if !wanted {
        return Ok((Arc::clone(moments), moments.spreads()?));
    }
    let mut own = (**moments).clone();
    let spreads = own.standardise()?;
    Ok((Arc::new(own), spreads))
}
