//! What `sarl info` says of files of erasures, which hold no problem that was solved.

use std::path::Path;

use sarl::{Erasing, Label, Oracle, Quadratic};
use serde_json::json;

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
}

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
            }),
            (_, true) => Quadratic::from_bytes(bytes).map(|e| Erasure {
                kind: "quadratic",
                labels: vec![e.label().clone()],
                inputs: e.inputs(),
                rows: e.rows(),
                change: e.change(),
                variance: e.variance(),
            }),
            _ => Erasing::from_bytes(bytes).map(|e| Erasure {
                kind: if e.is_preserving() { "preserving" } else { "full" },
                labels: e.labels().to_vec(),
                inputs: e.inputs(),
                rows: e.rows(),
                change: e.point().losses.jy,
                variance: e.bounds().target_variance,
            }),
        };
        found.map_err(|e| Failure::new(Exit::Data, format!("{}: {e}", path.display())))
    }

    fn words(&self) -> &'static str {
        match self.kind {
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
            return output::print_json(&json!({
                "erasure": self.kind,
                "n": self.rows,
                "inputs": self.inputs,
                "labels": self.labels,
                "change": self.change,
                "variance": self.variance,
                "utility": kept,
            }));
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
        output::print(&table(&self.labels))
    }
}
