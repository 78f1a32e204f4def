//! What is known of a solved problem, as Python takes it.

use std::collections::BTreeMap;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sarl::{Bounds, HeldOutLabels, HeldOutLosses, Kernel, LabelKind, Map, Model, Point, Role};

use crate::fit::LabelOf;

/// A column of a table: its name, and what of a row stands in it.
pub type Column<Row> = (&'static str, fn(&Row) -> f64);

/// A label: its name, its loss, its share and its limit.
pub type Figures = (String, f64, f64, Option<f64>);

/// Name, γ, degree, coef0.
pub type KernelParts = (&'static str, Option<f64>, Option<u32>, Option<f64>);

/// The kernel and its parameters; none if it is linear.
pub fn kernel(model: &Model) -> Option<KernelParts> {
    match model.encoder().map() {
        Map::Linear => None,
        Map::Fourier { .. } => Some(("random-features", None, None, None)),
        Map::Kernel { kernel, .. } => Some(match kernel {
            Kernel::Rbf { gamma } => ("rbf", Some(gamma), None, None),
            Kernel::Laplacian { gamma } => ("laplacian", Some(gamma), None, None),
            Kernel::Polynomial { gamma, coef0, degree } => {
                ("polynomial", Some(gamma), Some(degree), Some(coef0))
            }
        }),
    }
}

/// Labels, as a fit takes them.
pub fn labels(labels: &[sarl::Label]) -> Vec<LabelOf> {
    let size = |kind: &LabelKind| match kind {
        LabelKind::Class { classes } => (*classes, 0),
        LabelKind::Kernel { columns } => (0, *columns),
        LabelKind::Number { .. } | LabelKind::Features => (0, 0),
    };
    let of = |l: &sarl::Label| {
        let (classes, kernel) = size(&l.kind);
        (l.name.clone(), l.role == Role::Target, classes, kernel)
    };
    labels.iter().filter(|l| l.kind != LabelKind::Features).map(of).collect()
}

/// The figures of each label.
pub fn attributes(labels: Vec<sarl::Attribute>) -> Vec<Figures> {
    labels.into_iter().map(|a| (a.name, a.loss, a.share, a.limit)).collect()
}

/// What any encoder could achieve.
pub fn bounds(b: &Bounds) -> BTreeMap<&'static str, f64> {
    BTreeMap::from([
        ("gamma_min", b.gamma_min),
        ("gamma_max", b.gamma_max),
        ("alpha_min", b.alpha_min),
        ("alpha_max", b.alpha_max),
        ("alpha_bar_min", b.alpha_bar_min),
        ("alpha_star_min", b.alpha_star_min),
        ("target_variance", b.target_variance),
        ("attainable", b.attainable),
    ])
}

/// Points of a front: a column of numbers for each name.
pub fn points<'py>(py: Python<'py>, points: &[Point]) -> PyResult<Bound<'py, PyDict>> {
    let columns: [Column<Point>; 5] = [
        ("lambda", |p| p.lambda),
        ("jy", |p| p.losses.jy),
        ("js", |p| p.losses.js),
        ("utility", |p| p.utility),
        ("leakage", |p| p.leakage),
    ];
    let all = PyDict::new(py);
    for (name, of) in columns {
        all.set_item(name, PyArray1::from_vec(py, points.iter().map(of).collect()))?;
    }
    let dims = points.iter().map(|p| p.dim as i64).collect();
    all.set_item("dim", PyArray1::<i64>::from_vec(py, dims))?;
    Ok(all)
}

/// A column of numbers for each figure, and the labels.
pub fn held_out_columns<'py>(
    py: Python<'py>,
    losses: &[HeldOutLosses],
    labels: Option<HeldOutLabels>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let columns: [Column<HeldOutLosses>; 6] = [
        ("jy", |l| l.jy),
        ("js", |l| l.js),
        ("jy_sd", |l| l.jy_sd),
        ("js_sd", |l| l.js_sd),
        ("utility", |l| l.utility),
        ("leakage", |l| l.leakage),
    ];
    if let Some(HeldOutLabels { target, sensitive }) = labels {
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
