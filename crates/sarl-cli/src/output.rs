//! What the commands say: tables for people, JSON for machines, warnings on stderr.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sarl::{Fitted, Front, HeldOut, Reduced};
use sarl_lab::plain_json;
pub use sarl_lab::words::{percent, point_json};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::Global;
use crate::attributes;
use crate::failure::{Failure, Outcome};
use crate::sheet::{Sheet, Step};
use crate::terminal::{Tone, labelled, printable, wrap};

/// Whether stdout is one of the outputs, so that nothing else is printed there.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Keeps everything but an output from stdout.
pub fn give_stdout_away() {
    TAKEN.store(true, Ordering::SeqCst);
}

/// Prints to stdout; a reader that has gone is noticed, not panicked at.
pub fn print(text: &str) -> Outcome {
    if TAKEN.load(Ordering::SeqCst) {
        return Ok(());
    }
    print_raw(&printable(text))
}

/// Prints a text of our own as it is.
pub fn print_raw(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    let done = writeln!(out, "{text}").and_then(|()| out.flush());
    done.map_err(|e| {
        let message = format!("stdout: cannot write: {e}");
        Failure { message, ..e.into() }
    })
}

/// Prints one JSON object.
pub fn print_json(value: &impl Serialize) -> Outcome {
    print_raw(&plain_json(&serde_json::to_string_pretty(value)?))
}

/// A path as JSON has it; what is not UTF-8 in it becomes U+FFFD.
pub fn path_json(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

/// Says something on stderr. Where that cannot be written to, nothing can be done about it.
pub fn say(name: &str, tone: Tone, message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", labelled(name, tone, message));
}

/// Says something on stderr that the user should know.
pub fn warn(global: &Global, message: &str) {
    if !global.quiet {
        say("warning:", Tone::Bad, message);
    }
}

/// Says on stderr what was done.
pub fn note(global: &Global, message: &str) {
    if !global.quiet {
        say("note:", Tone::Strong, message);
    }
}

/// A table with a header; the columns that `figures` says are aligned to the right.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, figures: impl Fn(usize) -> bool) -> String {
    Sheet::new(header, rows, figures).text(&[Step::Stack])
}

/// Four significant digits: as many as people read.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size < 1e-12 || !value.is_finite() {
        return if value.is_finite() { "0".to_owned() } else { value.to_string() };
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    // At least four decimals of a share, none of a number in the thousands.
    let decimals = (3.0 - size.log10().floor()).clamp(0.0, 4.0);
    format!("{value:.*}", decimals as usize)
}

/// So many dimensions, in words.
pub fn dimensions(count: usize) -> String {
    format!("{count} dimension{}", if count == 1 { "" } else { "s" })
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
pub fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut one, other) {
        all.extend(more);
    }
    one
}

/// The bounds for people.
pub fn bounds_table(reduced: &Reduced, front: &Front<'_>) -> Outcome<String> {
    let (p, q) = reduced.label_columns();
    let heading = format!(
        "Bounds: {} rows, {} features, basis {}; {p} target and {q} sensitive label columns",
        reduced.rows(),
        reduced.features(),
        reduced.basis()
    );
    let row =
        |name: &str, value: f64, meaning: String| vec![name.to_owned(), digits(value), meaning];
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
        row("alpha_max", b.alpha_max, "attacker loss without leakage".into()),
        row(
            "alpha_min",
            b.alpha_min,
            format!(
                "attacker loss at full utility: leakage {}{}",
                percent(b.leakage(b.alpha_min)),
                mean(labels.sensitive.len())
            ),
        ),
        row("alpha_bar_min", b.alpha_bar_min, "the worst encoder of full utility".into()),
        row("alpha_star_min", b.alpha_star_min, "the worst encoder of all".into()),
    ];
    let shown = table(&["bound", "value", "what it is"], rows, |i| i == 1);
    let heading = wrap(&heading);
    Ok(match attributes::bounds_text(&labels) {
        Some(labels) => format!("{heading}\n{shown}\n\n{labels}"),
        None => format!("{heading}\n{shown}"),
    })
}

/// Held-out losses where there are folds for them; without, the reason as a warning.
pub fn heldout(fitted: &Fitted, global: &Global) -> Outcome<Option<HeldOut>> {
    if fitted.params().folds < 2 {
        return Ok(None);
    }
    match fitted.heldout() {
        Ok(heldout) => Ok(Some(heldout)),
        Err(
            error @ (sarl::Error::OneFold
            | sarl::Error::FewInFold { .. }
            | sarl::Error::ConstantLabel { .. }
            | sarl::Error::ConstantWithin { .. }),
        ) => {
            warn(global, &error.to_string());
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
