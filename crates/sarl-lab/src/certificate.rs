//! What is guaranteed against every adversary: as JSON, and in plain sentences.
//!
//! With [`Certified::json`] a model with cells is a point of the certified front, with
//! [`sentences`] its guarantee in words.

use sarl::Model;
use sarl::cells::{
    Adversary, CellCertificate, CellGoal, Cells, CertifiedAttribute, Figures, Limits,
};
use serde_json::{Map, Value, json};

use crate::plain;
use crate::words::{count, percent};

/// What is not guaranteed.
pub const LIMITS: &str = "Not covered: rows from elsewhere, adversaries that know more about a row than \
                          z, and rows that are published again by another encoder.";

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
        let counts: Vec<&[u64]> = (0..a.counts.cells()).map(|c| a.counts.cell(c)).collect();
        let value = json!({
            "groups": a.counts.groups(),
            "advantage": bound.advantage,
            "balanced_accuracy": bound.balanced_accuracy,
            "accuracy": bound.accuracy,
            "tv": bound.tv,
            "majority": a.counts.majority(),
            "observed": figures(&a.counts.observed()),
            "rule": a.rule,
            "counts": counts,
        });
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

/// The guarantee, first of all: a line for each attribute.
pub fn sentences(certificate: &CellCertificate) -> String {
    let each = certificate.attributes.iter().zip(certificate.bounds()).map(|(a, bound)| {
        format!(
            "With {} confidence, no adversary that sees only z, however powerful, predicts {} with \
             more than {} balanced accuracy on rows drawn like these; guessing has {}.",
            whole(certificate.confidence),
            plain(&a.name),
            percent(bound.balanced_accuracy),
            percent(1.0 / a.counts.groups() as f64),
        )
    });
    each.collect::<Vec<_>>().join("\n")
}

/// How well each target is predicted from the cell.
pub fn kept(certificate: &CellCertificate) -> Vec<String> {
    let each = certificate.targets.iter().map(|target| {
        format!(
            "{} is predicted from the cell with a score of {} on the rows that certify \
             (without z: {}).",
            plain(&target.name),
            percent(target.score),
            percent(target.guess)
        )
    });
    each.collect()
}

/// Which rows served what.
pub fn parts(certificate: &CellCertificate) -> String {
    let rows = &certificate.rows;
    format!(
        "{} rows certify; {} others fitted the encoder, {} others chose the cells.",
        count(rows.certify),
        count(rows.fit),
        count(rows.choose)
    )
}

/// Limits beside what was seen, and beside guessing: a line for each attribute and figure.
pub fn figures(certificate: &CellCertificate) -> (Vec<String>, Vec<Vec<String>>) {
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
    (header.map(str::to_owned).to_vec(), rows)
}

/// A confidence without needless digits.
pub fn whole(confidence: f64) -> String {
    format!("{} %", (1e8 * confidence).round() / 1e6)
}

/// A model with cells and their certificate: a point of the certified front.
#[derive(Clone, Copy, Debug)]
pub struct Certified<'a> {
    pub(crate) model: &'a Model,
    pub(crate) cells: &'a Cells,
    pub(crate) certificate: &'a CellCertificate,
}

impl<'a> Certified<'a> {
    /// Nothing where the model has no cells, or they are not certified.
    pub fn new(model: &'a Model) -> Option<Self> {
        let cells = model.cells()?;
        Some(Certified { model, cells, certificate: cells.certificate()? })
    }

    /// What no adversary exceeds, of the attribute that is given away most.
    pub fn advantage(&self) -> f64 {
        self.certificate.bounds().iter().map(|b| b.advantage).fold(0.0, f64::max)
    }

    /// What the best adversary reaches on the rows that certify, of the same kind.
    pub fn observed(&self) -> f64 {
        let all = self.certificate.attributes.iter();
        all.map(|a| a.counts.observed().advantage).fold(0.0, f64::max)
    }

    /// The mean score of the targets on the rows that certify.
    pub fn utility(&self) -> f64 {
        self.mean(|t| t.score)
    }

    /// The same without z.
    pub fn guess(&self) -> f64 {
        self.mean(|t| t.guess)
    }

    fn mean(&self, of: impl Fn(&sarl::cells::CertifiedTarget) -> f64) -> f64 {
        let targets = &self.certificate.targets;
        targets.iter().map(of).sum::<f64>() / targets.len() as f64
    }

    /// The point, with its certificate.
    pub fn json(&self) -> Value {
        json!({
            "advantage": self.advantage(),
            "utility": self.utility(),
            "lambda": self.model.point().lambda,
            "certificate": json(self.certificate, self.cells.count()),
        })
    }
}
