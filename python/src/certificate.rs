//! What is guaranteed against every adversary, as the JSON of the command line.

use sarl::cells::{CellCertificate, Cells, CertifiedAttribute, Figures};
use serde_json::{Map, Value, json};

/// The cells of a model: what was asked, what is expected in each, and what is certified.
pub fn cells(cells: &Cells) -> Value {
    json!({
        "goal": cells.goal(),
        "expected": cells.expected(),
        "certificate": cells.certificate().map(|found| json(found, cells.count())),
    })
}

/// The certificate of a model with so many cells.
pub fn json(certificate: &CellCertificate, cells: usize) -> Value {
    let bounds = certificate.bounds();
    let attributes: Map<String, Value> = certificate
        .attributes
        .iter()
        .zip(&bounds)
        .map(|(a, bound)| (a.name.clone(), attribute(a, bound)))
        .collect();
    json!({
        "confidence": certificate.confidence,
        "cells": cells,
        "rows": certificate.rows,
        "looks": certificate.looks,
        "attributes": attributes,
        "targets": certificate.targets,
    })
}

fn attribute(a: &CertifiedAttribute, bound: &Figures) -> Value {
    json!({
        "groups": a.counts.groups(),
        "advantage": bound.advantage,
        "balanced_accuracy": bound.balanced_accuracy,
        "accuracy": bound.accuracy,
        "tv": bound.tv,
        "majority": a.counts.majority(),
        "observed": a.counts.observed(),
        "rule": a.rule,
        "counts": (0..a.counts.cells()).map(|c| a.counts.cell(c)).collect::<Vec<_>>(),
    })
}
