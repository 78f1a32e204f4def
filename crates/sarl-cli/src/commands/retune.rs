//! `sarl retune`.

use std::path::Path;
use std::time::Instant;

use sarl::{HeldOutLabels, HeldOutLosses, Model};
use sarl_data::{Input, is_address};
use serde_json::json;

use super::erasures;
use super::fit::model_output;
use super::info::labels;
use crate::args::{Global, Retune};
use crate::failure::{Exit, Failure, Outcome};
use crate::provenance::Provenance;
use crate::solution::Report;
use crate::{output, outputs, warnings};

pub fn run(options: &Retune, global: &Global) -> Outcome {
    let start = Instant::now();
    let goal = options.goal.goal()?;
    model_output(&options.output)?;
    // A model may be retuned in place: the old one is whole until the new one is.
    outputs::check([options.output.as_path()], [], global)?;
    let bytes = bytes_of(&options.model)?;
    if let Some(erasing) = erasures::retuned(&options.model, &bytes, &goal)? {
        return erasures::write(&erasing, &options.output, global, labels);
    }
    let before = read(&options.model, &bytes)?;
    if before.cells().is_some() {
        let message = "the new model has no cells: nothing is guaranteed against every adversary";
        output::warn(global, message);
    }
    let mut model = before.retune(goal.clone())?;
    let front = model.front()?;
    let solved = model.heldout().map(|folds| folds.solve_each(goal, &front)).transpose()?;
    let (heldout, labels): (Option<HeldOutLosses>, Option<HeldOutLabels>) = solved.unzip();
    let about = Provenance::of(&before.extra)?;
    Provenance { heldout, heldout_labels: labels.clone(), ..about }.store(&mut model)?;
    sarl_data::write_file(&options.output, &model.to_bytes()?)?;
    warnings::about_solution(&model, heldout.as_ref(), global)?;
    let seconds = json!({ "total": start.elapsed().as_secs_f64() });
    let (html, audit, path) = (None, None, &options.output);
    let device = None;
    Report { model: &model, heldout, labels, audit, seconds, path, html, device }.print(global)
}

/// Reads a model file.
pub fn load(path: &Path) -> Outcome<Model> {
    read(path, &bytes_of(path)?)
}

/// The bytes of a model file.
pub fn bytes_of(path: &Path) -> Outcome<Vec<u8>> {
    if is_address(path) {
        return Ok(Input::new(path)?.read()?);
    }
    std::fs::read(path).map_err(|e| {
        // As for data: what is not there or is no file is the user's, all else the machine's.
        let exit = match e.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory => Exit::Data,
            _ => Exit::Machine,
        };
        let reason = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::IsADirectory => "is a folder, expected a model file".to_owned(),
            _ => e.to_string(),
        };
        Failure::new(exit, format!("{}: {reason}", path.display()))
    })
}

/// The model in the bytes of a file.
pub fn read(path: &Path, bytes: &[u8]) -> Outcome<Model> {
    if erasures::is_file(bytes) {
        return Err(erasures::refused(path, bytes));
    }
    Model::from_bytes(bytes).map_err(|e| {
        Failure::new(Exit::Data, format!("{}: {e}", path.display()))
            .hint("model files are written by `sarl fit` and `sarl retune`")
    })
}
