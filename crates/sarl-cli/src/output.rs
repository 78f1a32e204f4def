//! What the commands say: tables for people, JSON for machines, warnings on stderr.

use std::io::Write;
use std::path::Path;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use sarl::{
    Fitted, Front, HeldOut, HeldOutLabels, HeldOutLosses, Method, Model, Point, Reduced, Role,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Outcome;
use crate::{attributes, goals};

/// Prints to stdout; a reader that has gone is noticed, not panicked at.
pub fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints one JSON object.
pub fn print_json(value: &impl Serialize) -> Outcome {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Says something on stderr that the user should know.
#[allow(clippy::print_stderr, reason = "this is where warnings are said")]
pub fn warn(global: &Global, message: &str) {
    if !global.quiet {
        eprintln!("warning: {message}");
    }
}

/// Says on stderr what was done.
#[allow(clippy::print_stderr, reason = "this is where notes are said")]
pub fn note(global: &Global, message: &str) {
    if !global.quiet {
        eprintln!("note: {message}");
    }
}

/// A rule under the header, and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// A table with a header; the columns that `figures` says are aligned to the right.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, figures: impl Fn(usize) -> bool) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec()).add_rows(rows);
    for (_, column) in table.column_iter_mut().enumerate().filter(|(i, _)| figures(*i)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Eight digits: as many as the mathematics is checked to.
pub fn figure(value: f64) -> String {
    // Adding zero turns a rounded -0 into 0.
    format!("{:.8}", (value * 1e8).round() / 1e8 + 0.0)
}

/// So many dimensions, in words.
pub fn dimensions(count: usize) -> String {
    format!("{count} dimension{}", if count == 1 { "" } else { "s" })
}

/// A gap; rounding can leave one of -1e-17.
fn gap_words(gap: f64) -> String {
    if gap <= 0.0 { "gap 0".to_owned() } else { format!("gap {gap:.1e}") }
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    // No "-0.00 %" for a share of -1e-17; a loss above the variance is a negative share.
    let shown = if share.abs() < 5e-5 { 0.0 } else { share };
    format!("{:.2} %", 100.0 * shown)
}

fn counts(reduced: &Reduced) -> Value {
    let (p, q) = reduced.label_columns();
    json!({
        "n": reduced.rows(),
        "features": reduced.features(),
        "basis": reduced.basis(),
        "labels": { "target": p, "sensitive": q },
    })
}

/// The contract's `bounds` object.
pub fn bounds_json(reduced: &Reduced, front: &Front<'_>) -> Outcome<Value> {
    let bounds = serde_json::to_value(front.bounds()).unwrap_or_default();
    let labels = json!({ "attributes": attributes::bounds_json(&front.label_bounds()?) });
    Ok(joined(joined(counts(reduced), bounds), labels))
}

/// Two objects as one.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut one, other) {
        all.extend(more);
    }
    one
}

/// The bounds for people.
pub fn bounds_table(reduced: &Reduced, front: &Front<'_>) -> Outcome<String> {
    let (p, q) = reduced.label_columns();
    let heading = format!(
        "{} rows, {} features, basis {}; {p} target and {q} sensitive label columns\n",
        reduced.rows(),
        reduced.features(),
        reduced.basis()
    );
    let row =
        |name: &str, value: f64, meaning: String| vec![name.to_owned(), figure(value), meaning];
    let (b, labels) = (front.bounds(), front.label_bounds()?);
    // Sums of several labels are in shares, so that theirs are means.
    let mean = |labels: usize| if labels > 1 { " on average" } else { "" };
    let rows = vec![
        row("gamma_min", b.gamma_min, "least target loss of any encoder".into()),
        row(
            "gamma_max",
            b.gamma_max,
            format!(
                "least target loss without leakage: utility {}{}",
                percent(b.utility(b.gamma_max)),
                mean(labels.target.len())
            ),
        ),
        row("alpha_max", b.alpha_max, "adversary loss without leakage".into()),
        row(
            "alpha_min",
            b.alpha_min,
            format!(
                "adversary loss at full utility: leakage {}{}",
                percent(b.leakage(b.alpha_min)),
                mean(labels.sensitive.len())
            ),
        ),
        row("alpha_bar_min", b.alpha_bar_min, "the worst encoder of full utility".into()),
        row("alpha_star_min", b.alpha_star_min, "the worst encoder of all".into()),
    ];
    let shown = table(&["bound", "value", "what it is"], rows, |i| i == 1);
    Ok(match attributes::bounds_text(&labels) {
        Some(labels) => format!("{heading}{shown}\n\n{labels}"),
        None => format!("{heading}{shown}"),
    })
}

/// The contract's point: training values and, where there are folds, held-out ones.
pub fn point_json(point: &Point, heldout: Option<&HeldOutLosses>) -> Value {
    json!({
        "lambda": point.lambda,
        "dim": point.dim,
        "jy": point.losses.jy,
        "js": point.losses.js,
        "utility": point.utility,
        "leakage": point.leakage,
        "heldout": heldout,
    })
}

/// What `fit` and `retune` print.
pub struct Report<'a> {
    pub model: &'a Model,
    pub heldout: Option<HeldOutLosses>,
    /// The same for each label.
    pub labels: Option<HeldOutLabels>,
    pub seconds: Value,
    pub path: &'a Path,
    /// The levels of the HTML report, and where it is.
    pub html: Option<(Value, &'a Path)>,
}

impl Report<'_> {
    pub fn print(&self, global: &Global) -> Outcome {
        if global.json { print_json(&self.json()?) } else { print(&self.text()?) }
    }

    fn json(&self) -> Outcome<Value> {
        let model = self.model;
        let certificate = model.certificate();
        let goal = json!({ "goal": goals::json(model.goal()) });
        let html = match &self.html {
            Some((levels, path)) => json!({ "levels": levels, "html": path }),
            None => json!({}),
        };
        let all = joined(
            joined(goal, point_json(model.point(), self.heldout.as_ref())),
            json!({
                "attributes": attributes::json(model, self.labels.as_ref())?,
                "dual_bound": certificate.dual_bound,
                "gap": certificate.gap,
                "method": model.method(),
                "bounds": bounds_json(model.reduced(), &model.front()?)?,
                "seconds": self.seconds,
                "model": self.path,
            }),
        );
        Ok(joined(all, html))
    }

    fn text(&self) -> Outcome<String> {
        let model = self.model;
        let front = model.front()?;
        let text = format!(
            "{}\n{}\nwritten to {}",
            bounds_table(model.reduced(), &front)?,
            solution_text(model, self.heldout.as_ref(), self.labels.as_ref())?,
            self.path.display()
        );
        Ok(match &self.html {
            Some((_, path)) => format!("{text}, report to {}", path.display()),
            None => text,
        })
    }
}

/// The chosen point, held-out figures before training ones, and the certificate in one line.
pub fn solution_text(
    model: &Model,
    heldout: Option<&HeldOutLosses>,
    labels: Option<&HeldOutLabels>,
) -> Outcome<String> {
    let point = model.point();
    let several = |role: Role| model.labels().iter().filter(|l| l.role == role).count() > 1;
    let limited = if goals::keeps(model.goal()) { Role::Target } else { Role::Sensitive };
    // Several limits have multipliers, and no front that they lie on.
    let each = !model.certificate().multipliers.is_empty();
    let (of_targets, of_attributes) = (several(Role::Target), several(Role::Sensitive));
    let worst = |name: &str, several: bool, which: &str| match several {
        true => format!("{name}, {which}"),
        false => name.to_owned(),
    };
    let heading = format!(
        "\n{}: {}, lambda {:.6}{}",
        goals::words(model.goal(), several(limited)),
        dimensions(point.dim),
        point.lambda,
        match model.method() {
            Method::Spectral => "",
            Method::Rotated if each => ", of whole directions near the optimum",
            Method::Diluted if each => ", some of a direction mixed with one that no label knows",
            Method::Rotated => ", reached by rotation inside a jump of the front",
            Method::Diluted => ", reached by dilution inside a jump of the front",
        }
    );
    let (jy, js) = (point.losses.jy, point.losses.js);
    let row = |name: &str, share: f64, loss: f64, held: Option<(f64, f64, f64)>| {
        let [held_share, held_loss, spread] = match held {
            Some((share, loss, sd)) => [percent(share), figure(loss), format!("± {sd:.6}")],
            None => ["-".to_owned(), "-".to_owned(), "-".to_owned()],
        };
        vec![name.to_owned(), held_share, percent(share), held_loss, spread, figure(loss)]
    };
    let rows = vec![
        row(
            &worst("target: utility", of_targets, "the least"),
            point.utility,
            jy,
            heldout.map(|h| (h.utility, h.jy, h.jy_sd)),
        ),
        row(
            &worst("adversary: leakage", of_attributes, "the largest"),
            point.leakage,
            js,
            heldout.map(|h| (h.leakage, h.js, h.js_sd)),
        ),
    ];
    let header = ["", "held-out", "training", "held-out loss", "spread", "training loss"];
    let mut text = format!("{heading}\n{}\n", table(&header, rows, |i| i > 0));
    if let Some(each) = attributes::text(model, labels)? {
        text += &format!("\n{each}\n");
    }
    Ok(text + &certificate(model))
}

fn certificate(model: &Model) -> String {
    let (dual_bound, gap) = (model.certificate().dual_bound, model.certificate().gap);
    let gap = match model.reduced().ridge() > 0.0 {
        false => gap_words(gap),
        true => format!("{}, the price of the ridge on the training rows", gap_words(gap)),
    };
    let dual_bound = figure(dual_bound);
    match goals::keeps(model.goal()) {
        true => format!(
            "certificate: no linear encoder of these features hides more than an adversary loss of \
             {dual_bound} at this utility; {gap}"
        ),
        false => format!(
            "certificate: no linear encoder of these features has a target loss below \
             {dual_bound} at this leakage; {gap}"
        ),
    }
}

/// Held-out losses where there are folds for them; without, the reason as a warning.
pub fn heldout(fitted: &Fitted, global: &Global) -> Outcome<Option<HeldOut>> {
    if fitted.params().folds < 2 {
        return Ok(None);
    }
    match fitted.heldout() {
        Ok(heldout) => Ok(Some(heldout)),
        Err(error @ (sarl::Error::Folds(_) | sarl::Error::ConstantLabel { .. })) => {
            warn(global, &error.to_string());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
