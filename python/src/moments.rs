//! Second moments.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use faer::MatRef;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sarl::{
    Element, HeldOut, LabelBlock, LabelKind, Layout, MomentsOptions, Precision, Role, Wide,
};

use crate::arrays::{Beside, LabelArray, Matrix, Scaling, slice, view};
use crate::failure::{refused, wrong};
use crate::goal::{Limit, goal};
use crate::map::FeatureMap;
use crate::model::{Column, model_of};
use crate::solved::Solved;
use crate::work::{interruptible, released};

/// Numbers that are read between two questions whether somebody pressed Ctrl-C.
const CHUNK: usize = 1 << 23;

/// The second moments of rows and their labels.
#[pyclass(module = "sarl._core")]
pub struct Moments {
    pub moments: Arc<sarl::Moments>,
    /// The rows themselves, while there are fewer of them than features.
    held: Option<Held>,
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
        let held = match map.is_linear() && Wide::suits(1, layout.features()) {
            true => Some(Held::new(Wide::new(layout.clone(), options, 0).map_err(refused)?)),
            false => None,
        };
        Ok(Moments { moments, held, map, layout })
    }

    /// Rows so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.held.as_ref().map_or_else(|| self.moments.rows(), |held| held.rows.rows())
    }

    /// Texts that travel along.
    #[getter]
    fn extra(&self) -> BTreeMap<String, String> {
        let held = self.held.as_ref().map(|held| &held.rows.extra);
        held.unwrap_or(&self.moments.extra).clone()
    }

    #[setter]
    fn set_extra(&mut self, extra: BTreeMap<String, String>) {
        Arc::make_mut(&mut self.moments).extra.clone_from(&extra);
        if let Some(held) = &mut self.held {
            Arc::make_mut(&mut held.rows).extra = extra;
        }
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
        let rows = beside.labels.first().map_or(0, |label| match label {
            LabelBlock::Class(codes) => codes.len(),
            LabelBlock::Number(values) => values.nrows(),
        });
        let after = self.rows() + rows as u64;
        if !Wide::suits(after, self.layout.features()) {
            self.add_up(py, threads)?;
        }
        match &x {
            Matrix::Double(x) => self.add(py, view(x)?, &beside, &how),
            Matrix::Single(x) => self.add(py, view(x)?, &beside, &how),
        }
    }

    /// Adds the rows of other moments.
    fn merge(&mut self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if !self.map.is_linear() || !other.map.is_linear() {
            return Err(wrong("moments behind a kernel cannot be merged"));
        }
        self.add_up(py, None)?;
        let theirs = match &other.held {
            Some(held) => released(py, None, || held.rows.added_up())?.map_err(refused)?,
            None => (*other.moments).clone(),
        };
        Arc::make_mut(&mut self.moments).merge(&theirs).map_err(refused)
    }

    /// Renumbers the classes of a label.
    fn reclass(&mut self, label: usize, to: Vec<u32>, classes: usize) -> PyResult<()> {
        let moments = Arc::make_mut(&mut self.moments);
        moments.reclass(label, &to, classes).map_err(refused)?;
        if let Some(held) = &mut self.held {
            let rows = Arc::make_mut(&mut held.rows);
            rows.reclass(label, &to, classes).map_err(refused)?;
            held.spanned = Arc::default();
        }
        self.relabel();
        Ok(())
    }

    /// A copy that can go on by itself.
    fn copy(&self) -> Self {
        let (moments, map) = (Arc::clone(&self.moments), Arc::clone(&self.map));
        Moments { moments, held: self.held.clone(), map, layout: self.layout.clone() }
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
        let (moments, held) = (Arc::clone(&self.moments), self.held.clone());
        let (layout, linear) = (self.layout.clone(), self.map.is_linear());
        let losses = interruptible(
            py,
            threads,
            move |_| {
                let moments = match &held {
                    Some(held) => held.moments(standardise)?,
                    None => standardised(&moments, standardise)?.0,
                };
                let full = |goal: &sarl::Goal| {
                    linear && cap.is_none() && sarl::Erasing::suits(&layout, goal)
                };
                if asked.as_ref().is_some_and(full) {
                    let (losses, labels) = sarl::erased_heldout(&moments, ridge)?;
                    return Ok((vec![losses], Some(labels)));
                }
                // The ridge of a full erasure is none of the trade-offs'.
                let erases = layout.labels().iter().any(|l| l.kind == LabelKind::Features);
                let ridge = if erases { 0.0 } else { ridge };
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
    /// A full erasure that is not wanted whole holds no more than what goes.
    #[pyo3(signature = (*, standardise, ridge, ridge_asked, cap, goal_name, value, whole=true, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        standardise: bool,
        ridge: Option<f64>,
        ridge_asked: bool,
        cap: Option<usize>,
        goal_name: &str,
        value: Limit,
        whole: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let goal = goal(goal_name, value)?;
        let (moments, map) = (Arc::clone(&self.moments), Arc::clone(&self.map));
        let (layout, held) = (self.layout.clone(), self.held.clone());
        let solved = interruptible(
            py,
            threads,
            move |_| {
                let (moments, spreads, map) = match &held {
                    Some(held) => held.solved(standardise)?,
                    None => {
                        let (moments, spreads) = standardised(&moments, standardise)?;
                        (moments, spreads, map)
                    }
                };
                let thin = !whole && cap.is_none() && sarl::Erasing::suits(&layout, &goal);
                let ridge = match ridge {
                    Some(ridge) => ridge,
                    None if thin => sarl::best_erasing_ridge(&moments)?,
                    None if ridge_asked => sarl::best_ridge(&moments, cap)?.ridge,
                    None => sarl::default_ridge(&moments, cap)?.map_or(0.0, |best| best.ridge),
                };
                let covariances = moments.covariances()?;
                let model = match thin {
                    true => Solved::Erasing(Box::new(sarl::Erasing::new(
                        &map,
                        &layout,
                        &covariances,
                        goal,
                        ridge,
                    )?)),
                    false => {
                        let reduced = sarl::Reduced::new(&covariances, ridge)?;
                        let model = sarl::Model::new(&map, &layout, &reduced, cap, goal)?;
                        Solved::Whole(Box::new(model))
                    }
                };
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
        let bytes = match &self.held {
            Some(held) => held.rows.to_bytes(),
            None => self.moments.to_bytes(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(refused)?))
    }

    /// The inverse of `to_bytes`; moments behind a kernel need its map.
    #[staticmethod]
    #[pyo3(signature = (bytes, map=None, width=0))]
    fn from_bytes(
        bytes: Cow<'_, [u8]>,
        map: Option<&Bound<'_, FeatureMap>>,
        width: usize,
    ) -> PyResult<Self> {
        if let Ok(rows) = Wide::from_bytes(&bytes) {
            return Self::of_rows(rows);
        }
        let moments = sarl::Moments::from_bytes(&bytes).map_err(refused)?;
        let layout = moments.layout().clone();
        let (layout, map) = match map {
            None => {
                let map = sarl::FeatureMap::coded(layout.dense_features(), layout.categories());
                (layout, Arc::new(map))
            }
            Some(map) => (Layout::dense(width).keep_inputs(), Arc::clone(&map.get().map)),
        };
        let mut this = Moments { moments: Arc::new(moments), held: None, map, layout };
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
        if let Some(held) = &mut self.held {
            let rows = Arc::make_mut(&mut held.rows);
            let block = beside.slice(0, x.nrows())?;
            released(py, how.threads, || rows.push(&block.with(x)))?.map_err(refused)?;
            held.spanned = Arc::default();
            return how.progress.map_or(Ok(()), |p| p.call1((x.nrows(),)).map(drop));
        }
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

    /// Held rows, as if they had been pushed.
    fn of_rows(rows: Wide) -> PyResult<Self> {
        let layout = rows.layout().clone();
        let map = sarl::FeatureMap::coded(layout.dense_features(), layout.categories());
        let moments = map.moments(&layout, rows.options()).map_err(refused)?;
        let (moments, map) = (Arc::new(moments), Arc::new(map));
        Ok(Moments { moments, held: Some(Held::new(rows)), map, layout })
    }

    /// Turns rows that are held into sums, which more rows can be added to.
    fn add_up(&mut self, py: Python<'_>, threads: Option<usize>) -> PyResult<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let moments = match held.rows.rows() {
            0 => return Ok(()),
            _ => released(py, threads, || held.rows.added_up())?,
        };
        match moments {
            Ok(moments) => self.moments = Arc::new(moments),
            Err(error) => {
                self.held = Some(held);
                return Err(refused(error));
            }
        }
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

/// Rows that are fewer than their features, and the moments in their span once they were asked
/// for.
#[derive(Clone)]
struct Held {
    rows: Arc<Wide>,
    spanned: Arc<OnceLock<(bool, Arc<sarl::Moments>)>>,
}

type Mapped = (Arc<sarl::Moments>, Vec<(f64, f64)>, Arc<sarl::FeatureMap>);

impl Held {
    fn new(rows: Wide) -> Self {
        Held { rows: Arc::new(rows), spanned: Arc::default() }
    }

    /// With the map, which has a copy of the rows.
    fn solved(&self, standardise: bool) -> sarl::Result<Mapped> {
        let sarl::Spanned { map, moments, spreads } = (*self.rows).clone().spanned(standardise)?;
        let moments = Arc::new(moments);
        let _ = self.spanned.set((standardise, Arc::clone(&moments)));
        Ok((moments, spreads, Arc::new(map)))
    }

    fn moments(&self, standardise: bool) -> sarl::Result<Arc<sarl::Moments>> {
        match self.spanned.get().filter(|found| found.0 == standardise) {
            Some((_, moments)) => Ok(Arc::clone(moments)),
            None => Ok(self.solved(standardise)?.0),
        }
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
