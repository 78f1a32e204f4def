//! The page of one fit.

use std::path::PathBuf;

use pyo3::prelude::*;
use sarl::Goal;
use sarl_lab::{
    AuditCurve, Error, Files, Inputs, PageText, Parts, Reservoir, Rows, Shown, Subject, Table,
    facts,
};

use crate::arrays::{LabelArray, Matrix, labels, owned};
use crate::failure::{lab_failed, wrong};
use crate::files;
use crate::goal::{Limit, parameter};
use crate::model::Model;
use crate::watch::watched;

/// A label: its name, whether it is to be kept, the names of its classes, and the kernel that it shares
/// with its neighbours, by name.
pub type Named = (String, bool, Vec<String>, Option<String>);

/// Some rows: all inputs, the labels, their places, and how many rows there were.
pub type Side<'py> = (Matrix<'py>, Vec<LabelArray<'py>>, Vec<u64>, u64);

/// The places of at most `cap` of `rows` rows, drawn as the command line draws them.
#[pyfunction]
pub fn draw_rows(rows: usize, cap: usize, seed: u64) -> Vec<usize> {
    Reservoir::draw(rows, cap, seed)
}

/// Rows with the labels that they have.
pub fn rows_of(side: &Side<'_>, named: &[Named]) -> PyResult<Rows> {
    let (x, values, places, of) = side;
    let mut rows = Rows { places: places.clone(), of: *of, ..Rows::new(owned(x)?) };
    for ((name, target, classes, kernel), values) in named.iter().zip(values) {
        // A class that nobody met is counted, because a label has two at least.
        let values = labels(values, classes.len().max(2))?;
        if *target { &mut rows.targets } else { &mut rows.sensitives }.push(values);
        rows.names.push(name.clone());
        rows.classes.push(classes.clone());
        rows.kernels.push(kernel.clone());
    }
    Ok(rows)
}

/// A call with the parameter of a goal where the template says `{goal}`.
pub fn call(template: &str, goal: &Goal) -> String {
    let (name, limit) = parameter(goal);
    let value = match limit {
        Limit::One(value) => value.to_string(),
        Limit::Named(named) => {
            let one = |(name, limit): (&String, &f64)| format!("{name:?}: {limit}");
            format!("{{{}}}", named.iter().map(one).collect::<Vec<_>>().join(", "))
        }
    };
    template.replace("{goal}", &format!("{name}={value}"))
}

/// What a page says beside its figures: the subtitle, the call that made it, the template of the call
/// for another goal, and the seed.
type Text = (String, String, String, u64);

/// Writes the page of a model. `schema` describes the columns, `spreads` are the standard deviations of
/// the inputs where they are known. `shown` are rows to show, `audited` rows to fit anew on and to
/// attack.
#[pyfunction]
#[pyo3(signature = (model, path, text, *, schema, labels, spreads=None, shown=None, audited=None, threads=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub fn report(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    path: PathBuf,
    text: Text,
    schema: &str,
    labels: Vec<Named>,
    spreads: Option<Vec<f64>>,
    shown: Option<Side<'_>>,
    audited: Option<Side<'_>>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (subtitle, made, template, seed) = text;
    let model = model.get().solved.whole()?.clone();
    let table = Table::from_json(schema).map_err(lab_failed)?;
    let shown = shown.map(|side| rows_of(&side, &labels)).transpose()?;
    let params = model.params().cloned();
    let audited = match (audited, params) {
        (None, _) => None,
        (Some(side), Some(params)) => Some((rows_of(&side, &labels)?, params)),
        (Some(_), None) => {
            return Err(wrong("the model does not say how it was fitted: it cannot be audited"));
        }
    };
    let html = watched(py, threads, progress, move |watch| {
        let inputs = match (&spreads, &shown) {
            (Some(spreads), _) => Some(Inputs::of_table(&table, spreads.clone())),
            (None, Some(rows)) => Some(Inputs::of_rows(&table, rows.x.as_ref())),
            (None, None) => None,
        };
        let shown = shown.map(|rows| Shown::drawn(rows, seed));
        let curve = audited.map(|(rows, params)| {
            let files = Files { data: vec!["X".to_owned()], test: Vec::new() };
            let mut parts = Parts::new(rows, None, true, None, files, seed)?;
            parts.standardise(table.numbers(), params.scale);
            AuditCurve::refitted(&parts, &params, Some(model.goal().clone()), watch)
        });
        let curve = curve.transpose()?;
        let command = |goal: &Goal, _: &str| call(&template, goal);
        let subject = Subject {
            heldout: model.heldout(),
            shown: shown.as_ref(),
            inputs: inputs.as_ref(),
            makes: "Call for this encoder",
            curve: curve.as_ref(),
            advice: "No audit was run: `audit=True` runs one, and so does `sarl.audit`.",
            ..Subject::new("The trade-off", &model, &command)
        };
        let about = facts(&[], Some(&table), &[&model], made, seed);
        let text = PageText { subtitle, audit_leads: false, warnings: Vec::new(), about };
        Ok::<_, Error>(subject.page(text, watch)?.0.html()?)
    })?;
    files::write(&path, html.as_bytes())
}
