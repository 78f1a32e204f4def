//! `sarl front`.

use std::path::Path;

use sarl::{Goal, HeldOut};
use sarl_lab::{AuditCurve, Inputs, Row, Subject, front_rows};
use serde_json::{Value, json};

use super::certified;
use crate::args::{Front, Global};
use crate::failure::Outcome;
use crate::page::{self, TableReport, audit_curve};
use crate::terminal::{self, Tone, emphasis, title, wrap};
use crate::typed::Typed;
use crate::{data, output, parts, points, verdict, warnings};

/// Points over λ in a report; of more than these, some.
const MOST_POINTS: usize = 1001;

pub fn run(options: &Front, global: &Global) -> Outcome {
    let outputs: Vec<&Path> =
        options.csv.iter().chain(&options.page.html).map(|p| p.as_path()).collect();
    parts::no_audit(&options.fitting.files, options.audit)?;
    if options.certified {
        return certified::front(options, &outputs, global);
    }
    options.cells.check_unused()?;
    let fitted = data::fit(&options.fitting, &outputs, global)?;
    let (reduced, front) = (fitted.fit.reduced()?, fitted.fit.front()?);
    let warnings = warnings::about_fit(&fitted, &front, global)?;
    let heldout = output::heldout(&fitted.fit, global)?;
    let rows = front_rows(&front, heldout.as_ref(), options.points as usize)?;
    let breakpoints = front.breakpoints()?;
    if let Some(path) = &options.csv {
        sarl_data::write_file(path, points::csv(&rows).as_bytes())?;
    }
    let (levels, curve) = match &options.page.html {
        Some(_) => report(options, &fitted, heldout.as_ref(), &rows, warnings, global)?,
        None => (None, None),
    };
    if global.json {
        let points: Vec<_> = rows.iter().map(|(p, h)| output::point_json(p, h.as_ref())).collect();
        let mut value = json!({
            "bounds": output::bounds_json(reduced, &front)?,
            "criterion": fitted.fit.params().criterion.name(),
            "device": crate::device::name(Some(fitted.fit.moments())),
            "breakpoints": breakpoints,
            "points": points,
        });
        if let (Some(levels), Some(path)) = (levels, &options.page.html) {
            value["levels"] = levels;
            value["html"] = output::path_json(path);
        }
        return output::print_json(&value);
    }
    output::print(&result(&rows, curve.is_some()))?;
    output::print(&format!("\n{}", points::table(&rows)))?;
    if let (Some(first), Some(last)) = (breakpoints.first(), breakpoints.last()) {
        let count = breakpoints.len();
        let lost = if count == 1 { "dimension is" } else { "dimensions are" };
        let (first, last) = (output::digits(*first), output::digits(*last));
        output::print(&format!("{count} {lost} lost between lambda {first} and {last}"))?;
    }
    if let Some(curve) = &curve {
        output::print(&audited(curve))?;
    }
    output::print(&format!("\n{}", points::drawing(&rows)))?;
    output::print(&format!("\n{}", output::bounds_table(reduced, &front)?))?;
    match &options.page.html {
        Some(path) => output::print(&format!("\nreport written to {}", terminal::path(path))),
        None => Ok(()),
    }
}

fn report(
    options: &Front,
    fitted: &data::FittedTable,
    heldout: Option<&HeldOut>,
    rows: &[Row],
    warnings: Vec<String>,
    global: &Global,
) -> Outcome<(Option<Value>, Option<AuditCurve>)> {
    let data::FittedTable { fit, schema, given, .. } = fitted;
    let model = fit.solve(Goal::Lambda(0.0))?;
    let curve = match options.audit {
        true => {
            let source = given.rows("--audit")?;
            Some(audit_curve(source, schema, fit.params(), None, global)?)
        }
        false => None,
    };
    let every = rows.len().div_ceil(MOST_POINTS);
    let (table, again) = (page::table(schema)?, Typed::fit(&[]));
    let inputs = Inputs::of_table(&table, fit.feature_spreads()?);
    let command = |_: &_, option: &str| again.with_goal(option);
    let subject = Subject {
        heldout,
        points: rows.iter().step_by(every.max(1)).copied().collect(),
        own: false,
        inputs: Some(&inputs),
        curve: curve.as_ref(),
        advice: "No audit was run: `--audit` runs one.",
        ..Subject::new("The trade-off", &model, &command)
    };
    let seed = options.fitting.encoder.seed;
    let report = TableReport { command: "front", given, schema, table, subject, warnings, seed };
    let levels = report.write(&options.page, global)?;
    Ok((levels, curve))
}

/// The ends of the front in words.
fn result(rows: &[Row], audited: bool) -> String {
    let (Some((full, full_held)), Some((none, none_held))) = (rows.first(), rows.last()) else {
        return String::new();
    };
    let both = |new_rows: Option<f64>, training: f64, of: &str| {
        let training = verdict::share(training);
        match new_rows.map(verdict::share) {
            Some(new) => format!("{new}{of} (new rows; {training} on the training rows)"),
            None => format!("{training}{of} (training rows)"),
        }
    };
    let said = wrap(&format!(
        "An encoder that keeps all it can of the target leaks {}. One that leaks nothing of the \
         training rows keeps {}.",
        both(full_held.map(|h| h.leakage), full.leakage, ""),
        both(none_held.map(|h| h.utility), none.utility, " of that"),
    ));
    let scope = match audited {
        true => "",
        false => "\nOnly linear attackers were looked at; `sarl audit` tries others.",
    };
    format!("{}{scope}", emphasis(&said, Tone::Strong))
}

/// The strongest attackers along the front.
fn audited(curve: &AuditCurve) -> String {
    format!(
        "\n{}\n{}\n{}",
        title("What attackers made of it, on rows apart"),
        verdict::along(&curve.levels),
        wrap(
            "Advantage: the share of the way from guessing to certainty, by AUC, balanced accuracy or R². The interval holds for all attackers together. For this the encoders were fitted again, on part of the rows."
        ),
    )
}
