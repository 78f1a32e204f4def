//! What is guaranteed against every adversary: as JSON, and in plain sentences.

use sarl::cells::{
    Adversary, CellCertificate, CellGoal, Cells, CertifiedAttribute, Figures, Limits,
};
use sarl_data::{LabelValues, Schema};
use serde_json::{Map, Value, json};

use crate::output::{joined, percent};
use crate::sheet::{Sheet, Step};
use crate::terminal::{Tone, emphasis, wrap};

/// A goal under the name of its option.
pub fn goal_json(goal: &CellGoal) -> Value {
    let limits = match &goal.limits {
        Limits::Each(limit) => json!(limit),
        Limits::Named(named) => json!(named),
    };
    match goal.adversary {
        Adversary::Advantage => json!({ "max_advantage": limits }),
        Adversary::Accuracy => json!({ "max_adversary_accuracy": limits }),
    }
}

/// The certificate of a model with `cells` cells.
pub fn json(certificate: &CellCertificate, cells: usize) -> Value {
    let figures = |f: &Figures| {
        json!({
            "advantage": f.advantage,
            "balanced_accuracy": f.balanced_accuracy,
            "accuracy": f.accuracy,
            "tv": f.tv,
        })
    };
    let attribute = |(a, bound): (&CertifiedAttribute, Figures)| {
        let value = joined(
            json!({ "groups": a.counts.groups() }),
            joined(
                figures(&bound),
                json!({
                    "majority": a.counts.majority(),
                    "observed": figures(&a.counts.observed()),
                    "rule": a.rule,
                    "counts": (0..a.counts.cells()).map(|c| a.counts.cell(c)).collect::<Vec<_>>(),
                }),
            ),
        );
        (a.name.clone(), value)
    };
    let bounds = certificate.bounds();
    let attributes: Map<String, Value> =
        certificate.attributes.iter().zip(bounds).map(attribute).collect();
    json!({
        "confidence": certificate.confidence,
        "cells": cells,
        "rows": certificate.rows,
        "looks": certificate.looks,
        "attributes": attributes,
        "targets": certificate.targets,
    })
}

/// The guarantee, first of all.
pub fn sentences(certificate: &CellCertificate) -> String {
    let each = certificate.attributes.iter().zip(certificate.bounds()).map(|(a, bound)| {
        format!(
            "With {} confidence, no adversary that sees only z, however powerful, predicts {} with \
             more than {} balanced accuracy on rows drawn like these; guessing has {}.",
            whole(certificate.confidence),
            a.name,
            percent(bound.balanced_accuracy),
            percent(1.0 / a.counts.groups() as f64),
        )
    });
    each.collect::<Vec<_>>().join("\n")
}

/// What is not guaranteed.
pub const LIMITS: &str = "Not covered: rows from elsewhere, adversaries that know more about a row than \
                          z, and rows that are published again by another encoder.";

/// A confidence without needless digits.
fn whole(confidence: f64) -> String {
    format!("{} %", (1e8 * confidence).round() / 1e6)
}

/// Everything about a certificate, for people.
pub fn text(certificate: &CellCertificate, cells: &Cells, schema: Option<&Schema>) -> String {
    let mut text = emphasis(&wrap(&sentences(certificate)), Tone::Strong);
    text += &format!("\n{}\n\n{}", wrap(LIMITS), figures(certificate));
    for target in &certificate.targets {
        text += &format!(
            "\n{}",
            wrap(&format!(
                "{} is predicted from the cell with a score of {} on the rows that certify \
                 (without z: {}).",
                target.name,
                percent(target.score),
                percent(target.guess)
            ))
        );
    }
    text += &format!("\n\n{}\n{}", counts(certificate, cells, schema), wrap(&parts(certificate)));
    text
}

/// Which rows served what.
fn parts(certificate: &CellCertificate) -> String {
    let rows = &certificate.rows;
    format!(
        "{} rows certify; {} others fitted the encoder, {} others chose the cells.",
        rows.certify, rows.fit, rows.choose
    )
}

/// Limits beside what was seen.
fn figures(certificate: &CellCertificate) -> String {
    let mut rows = Vec::new();
    for (a, bound) in certificate.attributes.iter().zip(certificate.bounds()) {
        let seen = a.counts.observed();
        let guess = 1.0 / a.counts.groups() as f64;
        let mut row = |what: &str, bound: f64, seen: f64, guess: Option<f64>| {
            let guess = guess.map_or("-".to_owned(), percent);
            rows.push(vec![a.name.clone(), what.to_owned(), percent(bound), percent(seen), guess]);
        };
        row("advantage", bound.advantage, seen.advantage, Some(0.0));
        row("balanced accuracy", bound.balanced_accuracy, seen.balanced_accuracy, Some(guess));
        row("accuracy", bound.accuracy, seen.accuracy, Some(a.counts.majority()));
        row("parity gap of any classifier", bound.tv, seen.tv, None);
    }
    let header = ["hidden", "best adversary", "at most", "seen", "guessing"];
    Sheet::new(&header, rows, |i| i > 1).text(&[Step::Stack])
}

/// Who is in which cell.
fn counts(certificate: &CellCertificate, cells: &Cells, schema: Option<&Schema>) -> String {
    let classes = |labels: Option<&[sarl_data::Label]>, name: &str, count: usize| -> Vec<String> {
        let label = labels.unwrap_or(&[]).iter().find(|l| l.name == name);
        match label.map(|l| &l.values) {
            Some(LabelValues::Class { values, .. }) => values.clone(),
            _ => (0..count).map(|c| c.to_string()).collect(),
        }
    };
    let mut text = String::new();
    for a in &certificate.attributes {
        let groups = classes(schema.map(Schema::sensitives), &a.name, a.counts.groups());
        let mut header = vec!["cell".to_owned()];
        let targets = certificate.targets.iter().map(|t| format!("expected {}", t.name));
        header.extend(targets);
        header.push("rows".to_owned());
        header.extend(groups.iter().map(|g| format!("of {} {g}", a.name)));
        let sizes = a.counts.sizes();
        let row = |cell: usize| {
            let mut row = vec![cell.to_string()];
            for (t, target) in certificate.targets.iter().enumerate() {
                let expected = cells.expected()[t].get(cell).and_then(|v| v.first()).copied();
                let names = classes(schema.map(Schema::targets), &target.name, 0);
                let expected = expected.unwrap_or(f64::NAN);
                let named = names.get(expected as usize).filter(|_| !names.is_empty()).cloned();
                row.push(named.unwrap_or_else(|| crate::output::digits(expected)));
            }
            let here: u64 = a.counts.cell(cell).iter().sum();
            row.push(percent(here as f64 / a.counts.rows().max(1) as f64));
            let shares = a.counts.cell(cell).iter().zip(&sizes);
            row.extend(shares.map(|(n, all)| percent(*n as f64 / (*all).max(1) as f64)));
            row
        };
        let rows = (0..a.counts.cells()).map(row).collect();
        let kept = certificate.targets.len();
        text += &Sheet::new(&header, rows, |i| i == 0 || i > kept).text(&[Step::Stack]);
        text.push('\n');
    }
    text
}
