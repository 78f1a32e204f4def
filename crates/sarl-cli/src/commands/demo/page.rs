//! The report of the demo.

use std::path::Path;

use sarl::{Goal, Model};
use sarl_eval::{Asked, Attributes, Labels};
use sarl_lab::{AuditCurve, Inputs, Shown, Subject, Watch};
use sarl_paper::{Sample, Split};
use sarl_report::page::{Page, Section};

use super::fitted::{Encoder, Fitting};
use super::{COLOURS, SHAPES, TEST, TRAIN};
use crate::failure::Outcome;
use crate::inquiry::paths;
use crate::page;
use crate::typed::Typed;
use crate::verdict::{self, Verdict};

/// Both encoders to play with, and what attackers predict of them on fresh rows; gives a verdict on
/// each.
pub fn write(
    encoders: &[Encoder],
    split: &Split<'_>,
    fitting: &Fitting<'_>,
    path: &Path,
    watch: &dyn Watch,
) -> Outcome<Vec<Option<Verdict>>> {
    let attributes = attributes(split);
    let rows = split.test.rows_named(["shape", "colour"], [&SHAPES, &COLOURS]);
    let shown = Shown::new(rows, "Fresh ones, which no encoder was fitted on.".to_owned());
    let table = page::table(&fitting.schema)?;
    let inputs = Inputs::of_rows(&table, split.train.x.as_ref());
    let (mut explorers, mut sections, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
    for one in encoders {
        let title = format!("{} encoder", if one.name == "linear" { "Linear" } else { "Kernel" });
        let curve = curve(one, &title, split, &attributes)?;
        let leakage = one.model.point().leakage;
        verdicts.push(verdict::of_curve(&curve, leakage));
        let retune = Typed::retune(&one.path);
        let command = |_: &_, option: &str| retune.with_goal(option);
        let subject = Subject {
            heldout: Some(&one.folds),
            points: one.points.clone(),
            shown: Some(&shown),
            inputs: Some(&inputs),
            curve: Some(&curve),
            ..Subject::new(title.clone(), &one.model, &command)
        };
        let explorer = subject.explorer(watch)?.explorer;
        let section = curve.section(leakage, explorers.len(), &explorer.positions);
        let title = format!("The audit: {}", title.to_lowercase());
        sections.extend(section.map(|section| Section { title, ..section }));
        explorers.push(explorer);
    }
    let models: Vec<&Model> = encoders.iter().map(|e| &e.model).collect();
    let files = paths(std::slice::from_ref(&fitting.table));
    let made = Page {
        title: "Keep the shape, hide the colour".to_owned(),
        subtitle: format!("sarl demo · four Gaussians in three dimensions, {TRAIN} rows"),
        explorers,
        sections,
        about: page::about(&files, Some(&table), &models, fitting.seed),
        ..Page::default()
    };
    page::write(&made, path)?;
    Ok(verdicts)
}

/// What attackers are asked.
fn attributes(split: &Split<'_>) -> Attributes {
    let asked = |name: &str, classes: [&str; 2], of: fn(&Sample) -> &Labels| Asked {
        name: name.to_owned(),
        classes: classes.map(str::to_owned).to_vec(),
        train: of(&split.train).clone(),
        test: of(&split.test).clone(),
    };
    let all = vec![asked("shape", SHAPES, |s| &s.y), asked("colour", COLOURS, |s| &s.s)];
    Attributes { all, targets: 1 }
}

/// What attackers predict along the front of an encoder.
fn curve(
    of: &Encoder,
    title: &str,
    split: &Split<'_>,
    attributes: &Attributes,
) -> Outcome<AuditCurve> {
    let full = of.model.retune(Goal::Lambda(0.0))?;
    Ok(AuditCurve {
        who: format!("the {}", title.to_lowercase()),
        rows: format!("Attackers learnt from {TRAIN} rows and were tested on {TEST} fresh ones."),
        ..split.audit_curve(&full, of.model.goal().clone(), attributes)?
    })
}
