//! The report of a fit on a table.

use std::path::Path;

use sarl::{FitParams, Goal, Model};
use sarl_data::{BlockOptions, Schema, Source};
use sarl_lab::{AuditCurve, PageText, Shown, Subject, Table, facts};
use sarl_report::page::{Fact, Page};
use serde_json::Value;

use crate::args::{Global, PageOptions, ProbeOptions};
use crate::failure::Outcome;
use crate::given::Given;
use crate::inquiry::{Files, file_names};
use crate::typed::typed;
use crate::{memory, progress};

/// Writes a page; the file is whole or absent.
pub fn write(page: &Page, path: &Path) -> Outcome {
    Ok(sarl_data::write_file(path, page.html()?.as_bytes())?)
}

/// What pages say of the columns.
pub fn table(schema: &Schema) -> Outcome<Table> {
    Ok(Table::from_json(&schema.to_json()?)?)
}

/// Data, encoder, command, version.
pub fn about(files: &[String], table: Option<&Table>, models: &[&Model], seed: u64) -> Vec<Fact> {
    facts(files, table, models, typed(), seed)
}

/// Rows at most for an audit of many encoders.
const ROWS: u32 = 15_000;

/// Fits the encoder anew on a part of the rows and lets attackers learn from the rest, at several
/// leakages and at the goal, if there is one.
pub fn audit_curve(
    data: &Source,
    schema: &Schema,
    params: &FitParams,
    goal: Option<Goal>,
    global: &Global,
) -> Outcome<AuditCurve> {
    let probing = ProbeOptions { seeds: 1, rows: ROWS, ..Default::default() };
    let files = Files::of(data.clone(), file_names(data), &probing)?;
    let mut parts = files.read(schema, None, true, &probing, params.seed, global)?;
    parts.standardise(schema.dense_width(), params.scale);
    Ok(AuditCurve::refitted(&parts, params, goal, &progress::watch(global.quiet))?)
}

/// What the report of one fit is made of.
pub struct TableReport<'a> {
    /// The command that makes it.
    pub command: &'static str,
    pub given: &'a Given,
    pub schema: &'a Schema,
    pub table: Table,
    /// The fit; the rows that are shown are drawn here.
    pub subject: Subject<'a>,
    pub warnings: Vec<String>,
    pub seed: u64,
}

impl TableReport<'_> {
    /// Writes it, if a file was asked for; what it says of each level, as JSON.
    pub fn write(self, options: &PageOptions, global: &Global) -> Outcome<Option<Value>> {
        let Some(path) = &options.html else { return Ok(None) };
        let shown = self.draw(options.html_rows as usize, global)?;
        let text = PageText {
            subtitle: subtitle(self.command, &self.given.names()),
            // An audit that was asked for by itself is what the report is about.
            audit_leads: self.command == "audit",
            warnings: self.warnings,
            about: about(&self.given.names(), Some(&self.table), &[self.subject.model], self.seed),
        };
        let subject = Subject { shown: shown.as_ref(), ..self.subject };
        let (page, levels) = subject.page(text, &progress::watch(global.quiet))?;
        write(&page, path)?;
        Ok(Some(levels))
    }

    /// Rows to be shown, drawn at random.
    fn draw(&self, count: usize, global: &Global) -> Outcome<Option<Shown>> {
        let Some(source) = self.given.source().filter(|_| count > 0) else { return Ok(None) };
        let options = BlockOptions::default();
        let draw = (count, self.seed);
        let rows = memory::read(source, self.schema, None, &options, draw, global)?;
        Ok(Some(Shown::drawn(rows, self.seed)))
    }
}

/// What made a page, on what.
pub fn subtitle(command: &str, files: &[String]) -> String {
    format!("sarl {command} · {}", short_names(files))
}

/// Names without folders.
fn short_names(files: &[String]) -> String {
    let name =
        |path: &String| Path::new(path).file_name().map(|n| n.to_string_lossy().into_owned());
    let names: Vec<String> = files.iter().filter_map(name).collect();
    match names.len() > 3 {
        true => format!("{} and {} more", names[0], names.len() - 1),
        false => names.join(", "),
    }
}
