//! Files of erasures, which hold no whole problem: what `sarl info` says of them, and other goals.

use std::path::Path;

use sarl::{Erasing, Goal, Label, Oracle, Quadratic};
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;
use crate::terminal::{self, wrap};

/// An erasure as a file has it.
pub struct Erasure {
    kind: &'static str,
    labels: Vec<Label>,
    inputs: usize,
    rows: u64,
    /// The mean squared change of a row, and the mean square of a centred one.
    change: f64,
    variance: f64,
    /// What a partial one was asked for and has reached.
    partial: Option<Partial>,
}

struct Partial {
    goal: Goal,
    leakage: f64,
    gap: f64,
}

/// What else can be done.
const WHOLE: &str = "save it with `Eraser.save(path, whole=True)` in Python";

/// Whether a file is one of an erasure.
pub fn is_file(bytes: &[u8]) -> bool {
    Erasing::is_file(bytes) || Oracle::is_file(bytes) || Quadratic::is_file(bytes)
}

impl Erasure {
    /// Reads one.
    pub fn read(path: &Path, bytes: &[u8]) -> Outcome<Self> {
        let found = match (Oracle::is_file(bytes), Quadratic::is_file(bytes)) {
            (true, _) => Oracle::from_bytes(bytes).map(|e| Erasure {
                kind: "oracle",
                labels: e.labels().to_vec(),
                inputs: e.inputs(),
                rows: e.rows(),
                change: e.change(),
                variance: e.variance(),
                partial: None,
            }),
            (_, true) => Quadratic::from_bytes(bytes).map(|e| Erasure {
                kind: "quadratic",
                labels: vec![e.label().clone()],
                inputs: e.inputs(),
                rows: e.rows(),
                change: e.change(),
                variance: e.variance(),
                partial: None,
            }),
            _ => Erasing::from_bytes(bytes).map(|e| Self::of(&e)),
        };
        found.map_err(|e| Failure::new(Exit::Data, format!("{}: {e}", path.display())))
    }

    /// One that needs no labels.
    fn of(e: &Erasing) -> Self {
        // A full erasure knows no other goals.
        let (goal, leakage, gap) = (e.goal().clone(), e.point().leakage, e.certificate().gap);
        Erasure {
            kind: match (e.is_preserving(), e.has_space()) {
                (true, _) => "preserving",
                (false, true) => "partial",
                (false, false) => "full",
            },
            labels: e.labels().to_vec(),
            inputs: e.inputs(),
            rows: e.rows(),
            change: e.point().losses.jy,
            variance: e.bounds().target_variance,
            partial: e.has_space().then_some(Partial { goal, leakage, gap }),
        }
    }

    fn words(&self) -> &'static str {
        match self.kind {
            "partial" => "part of what is linear is left, at the least change",
            "oracle" => {
                "rows lose what their own labels say of them linearly: labels must be known"
            }
            "quadratic" => "means and covariances of classes are made equal: classes must be known",
            "preserving" => "nothing linear is left, and the covariance with the target is kept",
            _ => "nothing linear is left, at the least change",
        }
    }

    /// Prints what it is; `table` shows labels.
    pub fn print(&self, path: &Path, global: &Global, table: fn(&[Label]) -> String) -> Outcome {
        let kept = if self.variance > 0.0 { 1.0 - self.change / self.variance } else { 1.0 };
        if global.json {
            let about = json!({
                "erasure": self.kind,
                "n": self.rows,
                "inputs": self.inputs,
                "labels": self.labels,
                "change": self.change,
                "variance": self.variance,
                "utility": kept,
            });
            let partial = self.partial.as_ref().map_or(json!({}), Partial::json);
            return output::print_json(&output::joined(about, partial));
        }
        output::print(&wrap(&format!(
            "{}: {} erasure over {} inputs, of {} rows: {}. It changes a row by {} on average, \
             squared; rows vary by {}.\n",
            terminal::path(path),
            self.kind,
            self.inputs,
            self.rows,
            self.words(),
            output::digits(self.change),
            output::digits(self.variance)
        )))?;
        if let Some(partial) = &self.partial {
            output::print(&wrap(&format!(
                "Asked for: {}. Leakage on the rows of the fit: {}. Gap to the best: {}.\n",
                sarl_lab::goals::option(&partial.goal),
                output::digits(partial.leakage),
                output::digits(partial.gap.max(0.0))
            )))?;
        }
        output::print(&table(&self.labels))
    }
}

impl Partial {
    fn json(&self) -> Value {
        json!({
            "goal": sarl_lab::goals::json(&self.goal),
            "leakage": self.leakage,
            "gap": self.gap,
        })
    }
}

/// Why a command cannot use the file of an erasure.
pub fn refused(path: &Path, bytes: &[u8]) -> Failure {
    let path = path.display();
    if Oracle::is_file(bytes) || Quadratic::is_file(bytes) {
        let message = format!("{path}: holds an erasure that needs the labels of rows");
        return Failure::new(Exit::Data, message).hint("`sarl.load` in Python reads it");
    }
    let kind = match Erasing::from_bytes(bytes).is_ok_and(|e| e.has_space()) {
        true => "partial",
        false => "full",
    };
    let message = format!("{path}: holds a {kind} erasure, without the problem that it solved");
    Failure::new(Exit::Data, message).hint(WHOLE)
}

/// Why there is no report of an erasure.
pub fn no_page(path: &Path) -> Failure {
    let message = format!(
        "--html: {} holds an erasure, without the problem that it solved, which the report shows",
        path.display()
    );
    Failure::new(Exit::Data, message).hint(WHOLE)
}

/// Another goal for a partial erasure, met with its directions; none for other files.
pub fn retuned(path: &Path, bytes: &[u8], goal: &Goal) -> Outcome<Option<Erasing>> {
    if !Erasing::is_file(bytes) {
        return Ok(None);
    }
    let read = Erasing::from_bytes(bytes);
    let before = read.map_err(|e| Failure::new(Exit::Data, format!("{}: {e}", path.display())))?;
    if !before.has_space() {
        return Err(refused(path, bytes));
    }
    // Held-out losses are those of the goal before.
    let mut extra = before.extra().clone();
    extra.retain(|name, _| !name.starts_with("heldout"));
    Ok(Some(before.retune(goal.clone())?.with_extra(extra)))
}

/// Writes a partial erasure and says what it is.
pub fn write(
    erasing: &Erasing,
    path: &Path,
    global: &Global,
    table: fn(&[Label]) -> String,
) -> Outcome {
    sarl_data::write_file(path, &erasing.to_bytes()?)?;
    Erasure::of(erasing).print(path, global, table)
}
