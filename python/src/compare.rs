//! Our encoders and other methods on the same rows.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sarl::{FitParams, Goal, Scale};
use sarl_lab::{Files, Method, PageOf, Parts, Plan, Rows, Table, Wanted, facts};

use crate::audit::probe;
use crate::failure::{lab_failed, wrong};
use crate::files;
use crate::report::{Named, Side, call, rows_of};
use crate::watch::watched;

/// What a comparison found out.
#[pyclass(module = "sarl._core", frozen)]
pub struct Compared {
    compared: Arc<sarl_lab::Compared>,
    table: Arc<Table>,
}

/// The methods to compare with, by name, with what they are.
#[pyfunction]
pub fn rivals() -> Vec<(&'static str, &'static str)> {
    sarl_rivals::all().iter().map(|r| (r.name(), r.about().description)).collect()
}

/// Compares encoders on rows, which are parted here. `encoders` are the parameters of the linear one and
/// of the one with a kernel.
#[pyfunction]
#[pyo3(signature = (data, test, labels, schema, *, encoders, scale, rivals, leakages, hiding, probes, seeds, test_size, threads=None, progress=None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
pub fn compare(
    py: Python<'_>,
    data: Side<'_>,
    test: Option<Side<'_>>,
    labels: Vec<Named>,
    schema: &str,
    encoders: (String, String),
    scale: bool,
    rivals: Vec<String>,
    leakages: Vec<f64>,
    hiding: Vec<f64>,
    probes: Vec<String>,
    seeds: Vec<u64>,
    test_size: Option<f64>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Compared> {
    let params = |text: &str| -> PyResult<FitParams> {
        serde_json::from_str(text).map_err(|e| wrong(format!("these are no parameters: {e}")))
    };
    let plan = Plan {
        encoders: vec![
            (Method::Linear, params(&encoders.0)?),
            (Method::Kernel, params(&encoders.1)?),
        ],
        leakages,
        rivals: Wanted::new(&rivals).map_err(lab_failed)?,
        hiding,
        probes: probes.iter().map(|name| probe(name)).collect::<PyResult<_>>()?,
        seeds,
    };
    let table = Arc::new(Table::from_json(schema).map_err(lab_failed)?);
    let data = Rows { categories: table.categories(), ..rows_of(&data, &labels)? };
    let test = test.map(|side| rows_of(&side, &labels)).transpose()?;
    let (numbers, seed) = (table.numbers(), plan.seeds.first().copied().unwrap_or(0));
    let compared = watched(py, threads, progress, move |watch| {
        let files = Files {
            data: vec!["X".to_owned()],
            test: test.iter().map(|_| "X_test".to_owned()).collect(),
        };
        let mut parts = Parts::new(data, test, true, test_size, files, seed)?;
        parts.standardise(numbers, if scale { Scale::Standard } else { Scale::None });
        plan.run(parts, watch)
    })?;
    Ok(Compared { compared: Arc::new(compared), table })
}

#[pymethods]
impl Compared {
    /// All of it, as JSON.
    fn json(&self) -> String {
        self.compared.json().to_string()
    }

    /// The names of the columns of the table, and its rows.
    fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        self.compared.listed()
    }

    /// What came of it in one line, if there is another method, and in sentences.
    fn words(&self) -> (Option<String>, Vec<String>) {
        let compared = &self.compared;
        let mut all = vec![compared.parts.words().trim_end().to_owned()];
        all.extend(compared.kinds().chain(compared.left_out()).chain(compared.sentences()));
        (compared.line().map(|(_, line)| line), all)
    }

    /// Writes the page. The texts are the call that made it, and the templates of the calls for a linear
    /// encoder and for one with a kernel.
    #[pyo3(signature = (path, text, *, rows, threads=None, progress=None))]
    fn report(
        &self,
        py: Python<'_>,
        path: PathBuf,
        text: (String, String, String),
        rows: usize,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (made, linear, kernel) = text;
        let (compared, table) = (Arc::clone(&self.compared), Arc::clone(&self.table));
        let html = watched(py, threads, progress, move |watch| {
            let command = |method: Method, goal: &Goal, _: &str| match method {
                Method::Linear => call(&linear, goal),
                _ => call(&kernel, goal),
            };
            let models: Vec<_> = compared.ours.iter().map(|ours| &ours.model).collect();
            let of = PageOf {
                subtitle: "sarl.compare".to_owned(),
                rows,
                columns: &table,
                command: &command,
                makes: ["Call for such an encoder of all rows", "Call for this encoder"],
                about: facts(&[], Some(&table), &models, made, compared.parts.seed),
            };
            Ok(compared.page(of, watch)?.html()?)
        })?;
        files::write(&path, html.as_bytes())
    }
}
