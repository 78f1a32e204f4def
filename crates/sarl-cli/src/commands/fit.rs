//! `sarl fit`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sarl::{HeldOut, HeldOutLabels, HeldOutLosses, Model};
use sarl_lab::{Inputs, Subject};
use serde_json::{Value, json};

use super::certified;
use crate::args::{Fit, Global};
use crate::failure::{Failure, Outcome};
use crate::page::{TableReport, audit_curve, table};
use crate::solution::Report;
use crate::typed::Typed;
use crate::verdict::{self, Verdict};
use crate::{data, given_away, output, parts, progress, warnings};

pub fn run(options: &Fit, global: &Global) -> Outcome {
    let start = Instant::now();
    model_output(&options.output)?;
    let outputs: Vec<&Path> =
        [&options.output].into_iter().chain(&options.page.html).map(PathBuf::as_path).collect();
    if let Some(goal) = options.goal.certified(&options.cells)? {
        return certified::fit(options, &goal, &outputs, global);
    }
    let goal = options.goal.goal()?;
    parts::no_audit(&options.fitting.files, options.audit)?;
    let fitted = data::fit(&options.fitting, &outputs, global)?;
    let read = start.elapsed();
    let front = fitted.fit.front()?;
    let mut warnings = warnings::about_fit(&fitted, &front, global)?;
    let mut model = fitted.fit.solve(goal.clone())?;
    let folds = output::heldout(&fitted.fit, global)?;
    let solved = folds.as_ref().map(|folds| folds.solve_each(goal, &front)).transpose()?;
    folds.iter().for_each(|folds| model.keep_heldout(folds.clone()));
    let (heldout, labels): (Option<HeldOutLosses>, Option<HeldOutLabels>) = solved.unzip();
    let about = fitted.provenance(&options.fitting.encoder, heldout, labels.clone())?;
    about.store(&mut model)?;
    progress::check()?;
    sarl_data::write_file(&options.output, &model.to_bytes()?)?;
    given_away::notes(&model, &about).iter().for_each(|note| output::note(global, note));
    warnings.extend(warnings::about_solution(&model, heldout.as_ref(), global)?);
    let (levels, audit) = match &options.page.html {
        Some(_) => report(options, &fitted, &model, folds.as_ref(), warnings, global)?,
        None => (None, None),
    };
    let total = start.elapsed().as_secs_f64();
    let seconds = json!({
        "data": read.as_secs_f64(),
        "solve": total - read.as_secs_f64(),
        "total": total,
    });
    let html = levels.zip(options.page.html.as_deref());
    let path = &options.output;
    let device = Some(crate::device::name(Some(fitted.fit.moments())));
    Report { model: &model, heldout, labels, audit, seconds, path, html, device }.print(global)
}

fn report(
    options: &Fit,
    fitted: &data::FittedTable,
    model: &Model,
    heldout: Option<&HeldOut>,
    warnings: Vec<String>,
    global: &Global,
) -> Outcome<(Option<Value>, Option<Verdict>)> {
    let data::FittedTable { fit, schema, given, .. } = fitted;
    let curve = match options.audit {
        true => {
            let source = given.rows("--audit")?;
            Some(audit_curve(source, schema, fit.params(), Some(model.goal().clone()), global)?)
        }
        false => None,
    };
    let (table, retune) = (table(schema)?, Typed::retune(&options.output));
    let inputs = Inputs::of_table(&table, fit.feature_spreads()?);
    let command = |_: &_, option: &str| retune.with_goal(option);
    let subject = Subject {
        heldout,
        inputs: Some(&inputs),
        curve: curve.as_ref(),
        advice: "No audit was run: `--audit` runs one, and so does `sarl audit`.",
        ..Subject::new("The trade-off", model, &command)
    };
    let seed = options.fitting.encoder.seed;
    let report = TableReport { command: "fit", given, schema, table, subject, warnings, seed };
    let levels = report.write(&options.page, global)?;
    let again = "For this the encoder was fitted again, on part of the rows.";
    let audit = curve.as_ref().and_then(|c| verdict::of_curve(c, model.point().leakage));
    Ok((levels, audit.map(|verdict| verdict.and(again))))
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
