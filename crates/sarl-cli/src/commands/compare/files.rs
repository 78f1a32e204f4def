//! The folder that a comparison leaves.

use std::path::{Path, PathBuf};

use sarl_data::AtomicFile;
use sarl_lab::{CHART, Compared};
use serde_json::Value;

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::{outputs, progress};

/// The table and the results.
const TABLE: &str = "compare.csv";
const RESULTS: &str = "results.json";

/// The files in it.
pub fn names() -> Vec<String> {
    let mut names = vec![TABLE.to_owned()];
    names.extend(["svg", "png", "csv"].map(|kind| format!("{CHART}.{kind}")));
    names.push(RESULTS.to_owned());
    names
}

/// Refuses a folder that cannot be made or written to, or that has an input under the name of an
/// output, before any work is done.
pub fn check<'a>(
    folder: &Path,
    html: Option<&Path>,
    inputs: impl Iterator<Item = &'a Path>,
    global: &Global,
) -> Outcome {
    outputs::local(folder)?;
    let fail = |why: String| {
        let message = format!("{}: cannot write: {why}", folder.display());
        Err(Failure::new(Exit::Machine, message).hint("give another folder with -o"))
    };
    let near = folder
        .ancestors()
        .map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path })
        .find(|path| path.exists());
    let Some(near) = near else { return fail("there is no folder above it".to_owned()) };
    if !near.is_dir() {
        return fail(format!("`{}` is a file", near.display()));
    }
    // Begun and dropped, it leaves nothing.
    if AtomicFile::create(&near.join(".sarl-compare")).is_err() {
        return fail(format!("no file can be made in `{}`", near.display()));
    }
    let inside: Vec<PathBuf> = match near == folder {
        true => names().iter().map(|name| folder.join(name)).collect(),
        false => Vec::new(),
    };
    outputs::check(inside.iter().map(PathBuf::as_path).chain(html), inputs, global)
}

/// Writes everything; the results last.
pub fn write(folder: &Path, compared: &Compared, results: &Value) -> Outcome {
    let mut files = vec![(TABLE.to_owned(), csv(results)?)];
    files.extend(compared.figure().files()?);
    files.push((RESULTS.to_owned(), serde_json::to_string_pretty(results)?.into_bytes()));
    progress::check()?;
    let failed =
        |e: std::io::Error| Failure::new(Exit::Machine, format!("{}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, bytes) in files {
        sarl_data::write_file(&folder.join(name), &bytes)?;
    }
    Ok(())
}

/// What fairness is measured by, a column for each and for each hidden attribute.
const MEASURES: [&str; 3] = ["demographic_parity", "equal_opportunity", "equalized_odds"];

/// The entries as a table with every digit.
fn csv(results: &Value) -> Outcome<Vec<u8>> {
    const PLACES: [(&str, &str); 19] = [
        ("method", "/method"),
        ("leakage", "/setting/leakage"),
        ("weight", "/setting/weight"),
        ("dim", "/dim"),
        ("target", "/target/mean"),
        ("target_sd", "/target/sd"),
        ("target_probe", "/target/probe"),
        ("worst", "/worst/mean"),
        ("worst_sd", "/worst/sd"),
        ("worst_probe", "/worst/probe"),
        ("worst_attribute", "/worst/attribute"),
        ("advantage", "/worst/advantage/mean"),
        ("advantage_probe", "/worst/advantage/probe"),
        ("linear_leakage", "/linear_leakage"),
        ("fit_seconds", "/fit_seconds"),
        ("runs", "/runs"),
        ("diverged", "/diverged"),
        ("ours_at_no_more", "/ours_at_no_more/target"),
        ("difference", "/ours_at_no_more/difference"),
    ];
    let mut places: Vec<(String, String)> =
        PLACES.iter().map(|(name, at)| ((*name).to_owned(), (*at).to_owned())).collect();
    let entries = || results["entries"].as_array().into_iter().flatten();
    let judged = entries().filter_map(|e| e["fairness"].as_array()).find(|all| !all.is_empty());
    for (i, fairness) in judged.into_iter().flatten().enumerate() {
        let hidden = fairness["attribute"].as_str().unwrap_or_default();
        for measure in MEASURES {
            places.push((format!("{measure}_{hidden}"), format!("/fairness/{i}/{measure}")));
        }
    }
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(places.iter().map(|p| &p.0))?;
    for entry in entries() {
        let cell = |(_, at): &(String, String)| match entry.pointer(at) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        csv.write_record(places.iter().map(cell))?;
    }
    csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
}
