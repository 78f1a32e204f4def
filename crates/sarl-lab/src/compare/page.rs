//! The comparison as a report.

use sarl::Goal;
use sarl_report::page::{Chart, Fact, Page, Section, State, Table, Verdict};

use super::Compared;
use super::entry::{Entry, Method};
use crate::error::Result;
use crate::page::{AuditCurve, Inputs, Shown, Subject, spreads};
use crate::parts::Split;
use crate::table::Table as Columns;
use crate::watch::Watch;

/// What the page of a comparison says beside its figures.
pub struct PageOf<'a> {
    /// What made it.
    pub subtitle: String,
    /// Test rows that are shown encoded, at most.
    pub rows: usize,
    /// The columns of the table.
    pub columns: &'a Columns,
    /// What to type for an encoder of ours with a goal; the last is the option of the command line
    /// for it.
    pub command: &'a dyn Fn(Method, &Goal, &str) -> String,
    /// What that makes where the encoders here learnt on a part of the data, and where on all of it.
    pub makes: [&'a str; 2],
    /// Data, versions, seeds, the command.
    pub about: Vec<Fact>,
}

impl Compared {
    /// Our encoders to play with, the comparison, the audits of ours in detail.
    pub fn page(&self, of: PageOf<'_>, watch: &dyn Watch) -> Result<Page> {
        let shown = Shown::of_tested(&self.parts.test, of.rows);
        // The encoders have learnt from rows that are scaled already.
        let inputs = Inputs::of_table(of.columns, spreads(self.parts.probes.x.as_ref()));
        let (mut explorers, mut details, mut title) = (Vec::new(), Vec::new(), String::new());
        for fitted in &self.ours {
            let name = fitted.method.title();
            let curve = self.curve(fitted.method);
            let command = |goal: &Goal, option: &str| (of.command)(fitted.method, goal, option);
            let subject = Subject {
                heldout: fitted.folds.as_ref(),
                own: false,
                shown: shown.as_ref(),
                inputs: Some(&inputs),
                makes: of.makes[usize::from(self.parts.split == Split::Test)],
                curve: Some(&curve),
                ..Subject::new(name, &fitted.model, &command)
            };
            let explorer = subject.explorer(watch)?.explorer;
            let at = explorer.positions.get(explorer.start).map_or(0.0, |p| p.leakage);
            let detail = curve.section(at, explorers.len(), &explorer.positions);
            let named = |s: Section| Section { title: format!("The audit of {name}"), ..s };
            details.extend(detail.map(named));
            explorers.push(explorer);
            title = format!("Keep {}, hide {}: methods compared", subject.kept, subject.hidden);
        }
        Ok(Page {
            title,
            subtitle: of.subtitle,
            verdict: self.line().map(|(best, text)| Verdict {
                state: if best { State::Good } else { State::Open },
                text,
            }),
            explorers,
            sections: [self.section()].into_iter().chain(details).collect(),
            about: of.about,
            ..Page::default()
        })
    }

    /// What was found along the front of a method of ours, beside the others.
    fn curve(&self, method: Method) -> AuditCurve {
        let mine = self.entries.iter().filter(|e| e.method.name() == method.name());
        let levels = mine.filter_map(|e| Some((e.found.as_ref()?.leakage, e.side.clone()?)));
        let raw = self.entries.iter().find(|e| matches!(e.method, Method::Raw));
        let mut rivals: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for entry in self.entries.iter().filter(|e| e.method.is_rival()) {
            let Some(place) = self.place(entry) else { continue };
            match rivals.iter_mut().find(|r| r.0 == entry.method.title()) {
                Some(rival) => rival.1.push(place),
                None => rivals.push((entry.method.title().to_owned(), vec![place])),
            }
        }
        AuditCurve {
            who: method.title().to_owned(),
            attributes: self.attributes.clone(),
            control: raw.and_then(|e| e.side.clone()),
            levels: levels.collect(),
            rivals,
            rows: self.parts.words(),
        }
    }

    /// What leaks and what is kept.
    fn place(&self, entry: &Entry) -> Option<(f64, f64)> {
        Some((self.worst_place(entry.found.as_ref()?), entry.target()?))
    }

    fn section(&self) -> Section {
        let (header, rows) = self.listed();
        // What the verdict says is not said again.
        let line = self.line().map_or(String::new(), |(_, line)| line);
        let mut text = self.sentences();
        text.retain(|sentence| !line.contains(sentence.as_str()));
        text.extend(self.kinds());
        let title = "Every method at every setting, on test rows".to_owned();
        Section {
            title: "The comparison".to_owned(),
            text,
            charts: vec![Chart { wide: true, ..self.figure().into() }],
            tables: [Table { title, header, rows, names: 2 }]
                .into_iter()
                .chain(self.fairness())
                .collect(),
            lead: true,
            holds: None,
        }
    }
}
