//! What is guaranteed against every adversary, in the terminal.

use sarl::cells::{CellCertificate, Cells};
use sarl_data::{LabelValues, Schema};
use sarl_lab::certificate::{self, sentences};
pub use sarl_lab::certificate::{LIMITS, goal_json, json};

use crate::output::percent;
use crate::sheet::{Sheet, Step};
use crate::terminal::{Tone, emphasis, wrap};

/// Everything about a certificate, for people.
pub fn text(certificate: &CellCertificate, cells: &Cells, schema: Option<&Schema>) -> String {
    let mut text = emphasis(&wrap(&sentences(certificate)), Tone::Strong);
    let (header, rows) = certificate::figures(certificate);
    let figures = Sheet::new(&header, rows, |i| i > 1).text(&[Step::Stack]);
    text += &format!("\n{}\n\n{figures}", wrap(LIMITS));
    for kept in certificate::kept(certificate) {
        text += &format!("\n{}", wrap(&kept));
    }
    let parts = wrap(&certificate::parts(certificate));
    text += &format!("\n\n{}\n{parts}", counts(certificate, cells, schema));
    text
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
