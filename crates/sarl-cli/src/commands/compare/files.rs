//! The folder that a comparison leaves.

use std::path::Path;

use sarl_data::AtomicFile;
use serde_json::Value;

use super::figure::{NAME, figure};
use super::report::Report;
use crate::data::check_output;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress;

/// The table and the results.
const TABLE: &str = "compare.csv";
const RESULTS: &str = "results.json";

/// The files in it.
pub fn names() -> Vec<String> {
    let mut names = vec![TABLE.to_owned()];
    names.extend(["svg", "png", "csv"].map(|kind| format!("{NAME}.{kind}")));
    names.push(RESULTS.to_owned());
    names
}

/// Refuses a folder that cannot be made or written to, or that has an input under the name of an
/// output, before any work is done.
pub fn check<'a, I: Iterator<Item = &'a Path>>(folder: &Path, inputs: impl Fn() -> I) -> Outcome {
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
    if near == folder {
        for name in names() {
            check_output(&folder.join(name), inputs())?;
        }
    }
    Ok(())
}

/// Writes everything; the results last.
pub fn write(folder: &Path, report: &Report<'_>, results: &Value) -> Outcome {
    let mut files = vec![(TABLE.to_owned(), report.csv()?)];
    let drawn = figure(report).files();
    files.extend(drawn.map_err(|e| Failure::new(Exit::Machine, e.to_string()))?);
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
