//! An experiment as a report: its encoders to play with, its tables and figures.

use std::path::Path;

use sarl::{HeldOut, Model};
use sarl_eval::Labels;
use sarl_lab::{Inputs, Rows, Shown, Subject, facts, spreads};
use sarl_report::page::{Chart, Explorer, Page, Section, Table};

use crate::sample::Sample;
use crate::split::Split;
use crate::tables::Columns;
use crate::write::Commands;
use crate::{Effort, Experiment, Name, Result};

/// Rows that are shown at most.
const ROWS: usize = 1000;

/// An encoder of an experiment.
pub struct Study {
    name: String,
    kept: String,
    hidden: String,
    model: Model,
    folds: Option<HeldOut>,
    shown: Option<Shown>,
    inputs: Inputs,
}

impl Study {
    /// Fitted on the rows to learn from, shown on those to be tested on.
    pub fn new(
        name: impl Into<String>,
        (kept, hidden): (&str, &str),
        (model, folds): (Model, Option<HeldOut>),
        split: &Split<'_>,
        columns: Option<&Columns>,
    ) -> Self {
        let columns = match columns {
            Some(columns) => features(columns, hidden),
            None => (1..=split.train.x.ncols()).map(|j| (format!("x{j}"), false, 0)).collect(),
        };
        let inputs = Inputs::new(columns.into_iter(), spreads(split.train.x.as_ref()));
        Study {
            name: name.into(),
            kept: kept.to_owned(),
            hidden: hidden.to_owned(),
            model,
            folds,
            shown: shown(&split.test, kept, hidden),
            inputs,
        }
    }

    /// The same with names of the classes of what is kept and of what is hidden.
    pub fn classes(mut self, kept: &[&str], hidden: &[&str]) -> Self {
        for values in self.shown.iter_mut().flat_map(|shown| &mut shown.labels) {
            let names = if values.hidden { hidden } else { kept };
            values.classes = names.iter().map(|n| (*n).to_owned()).collect();
        }
        self
    }

    /// The file of its model.
    fn file(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let words = self.name.chars().map(plain).collect::<String>();
        let words: Vec<&str> = words.split('-').filter(|w| !w.is_empty()).collect();
        format!("{}.safetensors", words.join("-"))
    }

    /// Writes its model, and lets it be played with.
    fn explorer(
        &self,
        folder: &Path,
        effort: &Effort<'_>,
        commands: &Commands<'_>,
    ) -> Result<Explorer> {
        let path = folder.join(self.file());
        sarl_data::write_file(&path, &self.model.to_bytes()?)?;
        let command = |_: &_, option: &str| (commands.retune)(&path, option);
        let subject = Subject {
            kept: self.kept.clone(),
            hidden: self.hidden.clone(),
            heldout: self.folds.as_ref(),
            shown: self.shown.as_ref(),
            inputs: Some(&self.inputs),
            advice: "The tables below measure it.",
            ..Subject::new(self.name.clone(), &self.model, &command)
        };
        Ok(subject.explorer(effort.watch)?.explorer)
    }
}

/// Neighbouring inputs of the same feature are one column.
fn features(columns: &Columns, hidden: &str) -> Vec<(String, bool, usize)> {
    let column = |run: &[usize]| {
        let name = run.first().and_then(|&i| columns.names.get(i)).cloned().unwrap_or_default();
        let sensitive = name == hidden;
        (name, sensitive, if run.len() > 1 { run.len() } else { 0 })
    };
    columns.feature.chunk_by(|a, b| a == b).map(column).collect()
}

/// Some of the rows, evenly over all of them.
fn shown(sample: &Sample, kept: &str, hidden: &str) -> Option<Shown> {
    let classes = |labels: &Labels| -> Vec<String> {
        (0..labels.classes().unwrap_or(0)).map(|c| format!("class {c}")).collect()
    };
    let rows = sample.rows_named([kept, hidden], [&[], &[]]);
    let classes = vec![classes(&sample.y), classes(&sample.s)];
    Shown::of_tested(&Rows { classes, ..rows }, ROWS)
}

impl Experiment {
    /// Writes the models of an experiment and makes its page.
    pub(crate) fn page(
        &self,
        name: Name,
        folder: &Path,
        effort: &Effort<'_>,
        commands: &Commands<'_>,
    ) -> Result<Page> {
        let mut explorers = Vec::new();
        for study in &self.studies {
            effort.step(&format!("{}: the front of {}", name.word(), study.name))?;
            explorers.push(study.explorer(folder, effort, commands)?);
        }
        let models: Vec<&Model> = self.studies.iter().map(|s| &s.model).collect();
        Ok(Page {
            title: format!("The paper's experiment “{}”", name.word()),
            subtitle: "sarl reproduce · Sadeghi, Yu, Boddeti, ICCV 2019".to_owned(),
            explorers,
            sections: vec![self.section()],
            about: facts(&[], None, &models, commands.own.clone(), effort.seed()),
            ..Page::default()
        })
    }

    /// Its words, figures and tables.
    fn section(&self) -> Section {
        let tables = self.tables.iter().map(|t| Table {
            title: t.title.clone(),
            header: t.header.iter().map(|h| (*h).to_owned()).collect(),
            rows: t.rows.clone(),
            names: 1,
        });
        let protocol = std::iter::once(self.protocol.to_owned());
        Section {
            title: "The experiment".to_owned(),
            text: protocol.chain(self.words.clone()).collect(),
            charts: self.figures.iter().cloned().map(Chart::from).collect(),
            tables: tables.collect(),
            lead: true,
            ..Section::default()
        }
    }
}
