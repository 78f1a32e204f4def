//! `sarl fit`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sarl::Model;
use serde_json::json;

use crate::args::{Fit, Global};
use crate::failure::{Failure, Outcome};
use crate::origin::Origin;
use crate::output::Report;
use crate::{data, output, progress};

/// Where a model keeps the schema of its table.
pub const SCHEMA: &str = "schema";
/// Where a model keeps its held-out losses.
pub const HELDOUT: &str = "heldout";

pub fn run(options: &Fit, global: &Global) -> Outcome {
    let start = Instant::now();
    let goal = options.goal.goal()?;
    model_output(&options.output)?;
    let fitted = data::fit(&options.data, &options.encoder, &[&options.output], global)?;
    let read = start.elapsed();
    let front = sarl::Front::new(&fitted.reduced, fitted.cap)?;
    output::warn_about(&fitted, &front, global);
    let mut model = Model::new(&fitted.map, &fitted.layout, &fitted.reduced, fitted.cap, goal)?;
    let heldout = match output::heldout(&fitted, global)? {
        Some(heldout) => Some(heldout.solve(goal, &front)?),
        None => None,
    };
    model.extra.insert(SCHEMA.into(), fitted.schema.to_json()?);
    model.extra.insert(HELDOUT.into(), serde_json::to_string(&heldout)?);
    Origin::new(&options.encoder, fitted.files.iter().map(PathBuf::as_path))?.store(&mut model)?;
    progress::check()?;
    sarl_data::write_file(&options.output, &model.to_bytes()?)?;
    output::warn_about_solution(&model, heldout.as_ref(), global)?;
    let total = start.elapsed().as_secs_f64();
    let seconds = json!({
        "data": read.as_secs_f64(),
        "solve": total - read.as_secs_f64(),
        "total": total,
    });
    Report { model: &model, heldout, seconds, path: &options.output }.print(global)
}

/// A model is a file: it cannot go to stdout.
pub fn model_output(path: &Path) -> Outcome {
    if path == Path::new("-") {
        return Err(
            Failure::usage("a model cannot be written to stdout").hint("give -o a file name")
        );
    }
    Ok(())
}
