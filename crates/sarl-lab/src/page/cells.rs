//! Who is in which cell, drawn.

use sarl::cells::CertifiedAttribute;
use sarl_report::page::Chart;
use sarl_report::{Axis, Bars, Colour, Figure, Legend, Panel};

use crate::certificate::Certified;
use crate::table::{Label, LabelValues, Table};

/// The groups of an attribute and all rows, spread over the cells.
pub(super) fn chart(certified: &Certified<'_>, table: Option<&Table>) -> Chart {
    let cells = expected(certified, table);
    let attributes = &certified.certificate.attributes;
    let figure = Figure::new("cells", "Who is in which cell").caption(
        "For each group, the share of its rows that is in each cell. Where groups have bars of one \
         height the cell says nothing about them: the advantage of any adversary is what these bars \
         differ by. Under each cell stands what is expected there of what is kept.",
    );
    let figure = figure.columns(attributes.len().min(2)).legend(Legend::EachPanel);
    let kept: Vec<&str> = certified.certificate.targets.iter().map(|t| t.name.as_str()).collect();
    let axis = format!("cell, and {} that is expected in it", kept.join(", "));
    let panel = |a: &CertifiedAttribute| {
        let x = Axis::new(axis.clone()).categories(cells.clone());
        let y = Axis::new(format!("share of each {}", a.name)).percent();
        // The name of the only attribute stands on the axis.
        let title = if attributes.len() > 1 { a.name.as_str() } else { "" };
        bars(a, table, Panel::new(title, x, y))
    };
    let figure = attributes.iter().map(panel).fold(figure, Figure::panel);
    figure.into()
}

/// A bar for each group and one for all rows, in each cell.
fn bars(attribute: &CertifiedAttribute, table: Option<&Table>, panel: Panel) -> Panel {
    let counts = &attribute.counts;
    let cells = 0..counts.cells();
    let names = table.and_then(|t| classes(&t.sensitives, &attribute.name));
    let group = |(g, size): (usize, u64)| {
        let name = names.and_then(|n| n.get(g)).cloned().unwrap_or_else(|| g.to_string());
        let share = |c: usize| counts.cell(c).get(g).map_or(0.0, |n| part(*n, size));
        Bars::new(name, cells.clone().map(share).collect()).colour(Colour::Series(g))
    };
    let rows = |c: usize| part(counts.cell(c).iter().sum(), counts.rows());
    let all = Bars::new("all rows", cells.clone().map(rows).collect()).colour(Colour::Neutral);
    let groups = counts.sizes().into_iter().enumerate().map(group);
    groups.chain([all]).fold(panel, Panel::mark)
}

fn part(some: u64, all: u64) -> f64 {
    some as f64 / all.max(1) as f64
}

/// The number of each cell with what is expected in it of each target.
pub(super) fn expected(certified: &Certified<'_>, table: Option<&Table>) -> Vec<String> {
    let targets = &certified.certificate.targets;
    let cell = |c: usize| {
        let each = targets.iter().zip(certified.cells.expected()).map(|(target, expected)| {
            let value = expected.get(c).and_then(|v| v.first()).copied().unwrap_or(f64::NAN);
            let names = table.and_then(|t| classes(&t.targets, &target.name));
            let name = names.and_then(|n| n.get(value as usize)).cloned();
            name.unwrap_or_else(|| format!("{value:.4}"))
        });
        format!("{c}: {}", each.collect::<Vec<_>>().join(", "))
    };
    (0..certified.cells.count()).map(cell).collect()
}

/// The names of the classes of a label.
fn classes<'a>(labels: &'a [Label], name: &str) -> Option<&'a [String]> {
    let label = labels.iter().find(|l| l.name == name)?;
    match &label.values {
        LabelValues::Class { values, .. } => Some(values),
        LabelValues::Number { .. } => None,
    }
}
