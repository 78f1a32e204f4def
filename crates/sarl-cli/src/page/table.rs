//! The report of a fit on a table.

use std::path::PathBuf;

use indicatif::HumanCount;
use sarl::{HeldOut, HeldOutLosses, Model, Point, Role};
use sarl_data::{BlockOptions, LabelValues, Schema, Source};
use sarl_report::page::{Holds, Page, Section, Values};
use serde_json::Value;

use super::audit::{Audited, Heard};
use super::embedding::{Shown, values};
use super::explorer::{Made, Subject, THIS, names};
use super::inputs::Inputs;
use super::words::warnings;
use super::{Typed, facts, write};
use crate::args::{Global, PageOptions};
use crate::failure::Outcome;
use crate::memory::Rows;

/// What the report of one fit is made of.
pub struct TableReport<'a> {
    /// The command that makes it.
    pub command: &'static str,
    pub files: &'a [PathBuf],
    pub schema: &'a Schema,
    pub model: &'a Model,
    pub heldout: Option<&'a HeldOut>,
    /// Over λ.
    pub points: &'a [(Point, Option<HeldOutLosses>)],
    /// Whether the slider starts at the model's own goal.
    pub own: bool,
    pub retune: Typed,
    pub inputs: Inputs,
    /// Audits along the front, or one of the model alone.
    pub heard: Option<&'a Heard>,
    pub audited: Option<Audited<'a>>,
    /// How to get one, if there is none.
    pub advice: &'a str,
    pub warnings: Vec<String>,
    pub seed: u64,
}

impl TableReport<'_> {
    /// Writes it, if a file was asked for; what it says of each level, as JSON.
    pub fn write(self, options: &PageOptions, global: &Global) -> Outcome<Option<Value>> {
        let Some(path) = &options.html else { return Ok(None) };
        let shown = draw(self.files, self.schema, options.html_rows as usize, self.seed, global)?;
        let (kept, hidden) = (names(self.model, Role::Target), names(self.model, Role::Sensitive));
        let subject = Subject {
            name: "The trade-off".to_owned(),
            kept: &kept,
            hidden: &hidden,
            model: self.model,
            heldout: self.heldout,
            points: self.points,
            own: self.own,
            shown: shown.as_ref(),
            inputs: Some(&self.inputs),
            command: self.retune.clone(),
            makes: THIS,
            heard: self.heard,
            audited: self.audited.as_ref(),
            advice: self.advice,
        };
        let Made { explorer, levels, each } = subject.explorer(global.quiet)?;
        let at = explorer.positions.get(explorer.start).map_or(0.0, |p| p.leakage);
        let positions = &explorer.positions;
        let (audited, holds): (Option<Audited<'_>>, Vec<bool>) = match (self.audited, self.heard) {
            (Some(audited), _) => {
                (Some(audited), (0..positions.len()).map(|k| k == explorer.start).collect())
            }
            (None, Some(heard)) => (heard.audited(at), heard.holds(at, positions)),
            (None, None) => (None, Vec::new()),
        };
        // An audit that was asked for by itself is what the report is about.
        let lead = self.command == "audit";
        let section = |audited: &Audited<'_>| {
            let words = audited.what.clone();
            let holds = Some(Holds { explorer: 0, at: holds.clone(), words });
            Section { lead, holds, ..audited.section() }
        };
        let page = Page {
            title: format!("Keep {kept}, hide {hidden}"),
            subtitle: format!("sarl {} · {}", self.command, file_names(self.files)),
            warnings: warnings(&self.warnings),
            explorers: vec![explorer],
            sections: each.into_iter().chain(audited.iter().map(section)).collect::<Vec<Section>>(),
            about: facts(self.files, Some(self.schema), &[self.model], self.seed),
            ..Page::default()
        };
        write(&page, path)?;
        Ok(Some(levels))
    }
}

/// Names without folders.
fn file_names(files: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let names: Vec<String> = files.iter().filter_map(name).collect();
    match names.len() > 3 {
        true => format!("{} and {} more", names[0], names.len() - 1),
        false => names.join(", "),
    }
}

/// Rows to be shown, drawn at random.
fn draw(
    files: &[PathBuf],
    schema: &Schema,
    count: usize,
    seed: u64,
    global: &Global,
) -> Outcome<Option<Shown>> {
    if count == 0 {
        return Ok(None);
    }
    let source = Source::open(files)?.with_threads(rayon::current_num_threads());
    let rows = Rows::read(&source, schema, None, &BlockOptions::default(), count, seed, global)?;
    let words = match rows.of > rows.len() as u64 {
        true => format!("Drawn at random from {} (seed {seed}).", HumanCount(rows.of)),
        false => "All that there are.".to_owned(),
    };
    Ok(Some(Shown { labels: labels(schema, &rows), x: rows.x, words }))
}

/// The labels of rows, what is hidden first.
pub fn labels(schema: &Schema, rows: &Rows) -> Vec<Values> {
    let hidden = schema.sensitives().iter().zip(&rows.sensitives).map(|l| (true, l));
    let kept = schema.targets().iter().zip(&rows.targets).map(|l| (false, l));
    let one = |(hidden, (label, labels)): (bool, (&sarl_data::Label, &sarl_eval::Labels))| {
        let classes = match &label.values {
            LabelValues::Class { values, .. } => values.as_slice(),
            LabelValues::Number { .. } => &[],
        };
        values(&label.name, hidden, classes, labels)
    };
    hidden.chain(kept).map(one).collect()
}
