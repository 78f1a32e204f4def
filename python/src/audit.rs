//! The audit.

use std::sync::{Arc, Mutex, PoisonError};

use faer::Mat;
use pyo3::prelude::*;
use sarl_eval::{Asked, Attributes, Options, Own, Probe, Side, View, probes as all_probes};

use crate::arrays::{LabelArray, Matrix, labels, owned};
use crate::failure::{probe_failed, wrong};
use crate::foreign::Foreign;
use crate::work::interruptible;

/// The probes by name, with what they are.
#[pyfunction]
pub fn probes() -> Vec<(&'static str, &'static str)> {
    all_probes::all().map(|p| (p.name(), p.description())).to_vec()
}

/// An attribute: its name, the names of its classes, and its values on both sides.
type Attribute<'py> = (String, Vec<String>, LabelArray<'py>, LabelArray<'py>);

/// Audits each view (rows to learn from, rows to be tested on) for each attribute, targets first.
/// A JSON text for each view.
#[pyfunction]
#[pyo3(signature = (views, attributes, targets, *, probes, seeds, threads, favourable=None, own=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub fn audit(
    py: Python<'_>,
    views: Vec<(Matrix<'_>, Matrix<'_>)>,
    attributes: Vec<Attribute<'_>>,
    targets: usize,
    probes: Vec<Named<'_>>,
    seeds: Vec<u64>,
    threads: usize,
    favourable: Option<u32>,
    own: Option<(Matrix<'_>, Vec<(usize, LabelArray<'_>)>)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let who = probes.into_iter().map(Who::new).collect::<PyResult<Vec<_>>>()?;
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
    let own = own
        .map(|(rows, values)| {
            let values = values.iter().map(|(at, v)| {
                let classes = attributes.all.get(*at).map_or(0, |a| a.classes.len());
                Ok((*at, labels(v, classes)?))
            });
            Ok::<_, PyErr>((owned(&rows)?, values.collect::<PyResult<Vec<_>>>()?))
        })
        .transpose()?;
    let told = Arc::new(Mutex::new((0, 0)));
    let tell = Arc::clone(&told);
    let work = move |stop: &(dyn Fn() -> bool + Sync)| {
        let views: Vec<View<'_>> = views
            .iter()
            .map(|(train, test)| View { train: train.as_ref(), test: test.as_ref() })
            .collect();
        let who: Vec<&dyn Probe> = who.iter().map(Who::probe).collect();
        let who_else = all_probes::unblinded(&who);
        let own = own.as_ref().filter(|_| !who_else.is_empty());
        let own = own.map(|(rows, labels)| Own { rows: rows.as_ref(), labels, probes: &who_else });
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
                own,
            },
        )?;
        let mut sides: Vec<Side> = Vec::new();
        for found in found {
            sides.push(match sides.first() {
                None => Side::favouring(found, &attributes, favourable),
                Some(z) => Side::beside(found, &attributes, z),
            });
        }
        Ok(sides.iter().map(|side| side.json(&attributes).to_string()).collect())
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

/// A probe of ours by its name; or a name, a function of Python's that learns and tells, and whether
/// it does so with classes and with numbers.
#[derive(FromPyObject)]
pub enum Named<'py> {
    Ours(String),
    Theirs((String, Bound<'py, PyAny>, (bool, bool))),
}

/// The same, ready to be asked.
enum Who {
    Ours(&'static dyn Probe),
    Theirs(Foreign),
}

impl Who {
    fn new(asked: Named<'_>) -> PyResult<Self> {
        Ok(match asked {
            Named::Ours(name) => Who::Ours(probe(&name)?),
            Named::Theirs((name, learn, learns)) => {
                Who::Theirs(Foreign { name, learn: learn.unbind(), learns })
            }
        })
    }

    fn probe(&self) -> &dyn Probe {
        match self {
            Who::Ours(probe) => *probe,
            Who::Theirs(probe) => probe,
        }
    }
}

pub fn probe(name: &str) -> PyResult<&'static dyn Probe> {
    let all = all_probes::all();
    all.iter().copied().find(|p| p.name() == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|p| p.name()).collect();
        wrong(format!("there is no probe {name:?}; there are: {}", known.join(", ")))
    })
}
