//! The audit.

use std::sync::{Arc, Mutex, PoisonError};

use faer::Mat;
use pyo3::prelude::*;
use sarl_eval::{Asked, Attributes, Labels, Options, Probe, Side, View, probes as all_probes};

use crate::arrays::{LabelArray, Matrix, owned, slice};
use crate::failure::{probe_failed, wrong};
use crate::work::interruptible;

/// The probes by name, with what they are.
#[pyfunction]
pub fn probes() -> Vec<(&'static str, &'static str)> {
    all_probes::all().iter().map(|p| (p.name(), p.description())).collect()
}

/// An attribute: its name, the names of its classes, and its values on both sides.
type Attribute<'py> = (String, Vec<String>, LabelArray<'py>, LabelArray<'py>);

/// Audits each view (rows to learn from, rows to be tested on) for each attribute, targets first.
/// A JSON text for each view.
#[pyfunction]
#[pyo3(signature = (views, attributes, targets, *, probes, seeds, threads, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub fn audit(
    py: Python<'_>,
    views: Vec<(Matrix<'_>, Matrix<'_>)>,
    attributes: Vec<Attribute<'_>>,
    targets: usize,
    probes: Vec<String>,
    seeds: Vec<u64>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let who = probes.iter().map(|name| probe(name)).collect::<PyResult<Vec<_>>>()?;
    let views = views.iter().map(|(train, test)| Ok((owned(train)?, owned(test)?)));
    let views: Vec<(Mat<f64>, Mat<f64>)> = views.collect::<PyResult<_>>()?;
    let asked = attributes.iter().map(|(name, classes, train, test)| {
        let labels = |of: &LabelArray<'_>| labels(of, classes.len());
        Ok(Asked {
            name: name.clone(),
            classes: classes.clone(),
            train: labels(train)?,
            test: labels(test)?,
        })
    });
    let attributes = Attributes { all: asked.collect::<PyResult<_>>()?, targets };
    let told = Arc::new(Mutex::new((0, 0)));
    let tell = Arc::clone(&told);
    let work = move |stop: &(dyn Fn() -> bool + Sync)| {
        let views: Vec<View<'_>> = views
            .iter()
            .map(|(train, test)| View { train: train.as_ref(), test: test.as_ref() })
            .collect();
        let found = sarl_eval::audit(
            &views,
            &attributes.asked(),
            &Options {
                probes: &who,
                seeds: &seeds,
                threads,
                stop,
                progress: &|done, all| {
                    *tell.lock().unwrap_or_else(PoisonError::into_inner) = (done, all);
                },
            },
        )?;
        let json = |found| Side::new(found, &attributes).json(&attributes).to_string();
        Ok(found.into_iter().map(json).collect())
    };
    let mut shown = 0;
    let show = || {
        let (done, all) = *told.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Some(progress) if done != std::mem::replace(&mut shown, done) => {
                progress.call1((done, all)).map(drop)
            }
            _ => Ok(()),
        }
    };
    interruptible(py, Some(threads), work, show)?.map_err(probe_failed)
}

fn probe(name: &str) -> PyResult<&'static dyn Probe> {
    let all = all_probes::all();
    all.iter().copied().find(|p| p.name() == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|p| p.name()).collect();
        wrong(format!("there is no probe {name:?}; there are: {}", known.join(", ")))
    })
}

fn labels(of: &LabelArray<'_>, count: usize) -> PyResult<Labels> {
    Ok(match of {
        LabelArray::Classes(codes) => Labels::Classes { codes: slice(codes)?.to_vec(), count },
        LabelArray::Numbers(values) => Labels::Numbers(slice(values)?.to_vec()),
    })
}
