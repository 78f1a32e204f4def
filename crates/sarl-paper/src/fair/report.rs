//! What the fair classification experiments found, as tables, figures and words.

use sarl_report::Figure;
use serde_json::{Value, json};

use super::{ADVERSARY, Kind, Row, TARGET};
use crate::Table;
use crate::figures::{self, Bar, Places, bars};
use crate::split::{Findings, accuracy};
use crate::summary::{Summary, at_no_more_cell, balance, verdict};

fn majority(found: &Findings) -> f64 {
    match found.sensitive.baseline {
        sarl_eval::Baseline::Class { majority, .. } => majority,
        sarl_eval::Baseline::Number { .. } => 0.0,
    }
}

fn guess(rows: &[Row]) -> f64 {
    rows.first().map_or(0.0, |r| r.summary.mean(majority).mean)
}

/// Every encoder of ours, whatever its λ.
fn ours(rows: &[Row]) -> Vec<&Summary> {
    let ours = rows.iter().filter(|r| matches!(r.kind, Kind::Ours { .. } | Kind::Certified));
    ours.map(|r| &r.summary).collect()
}

fn rivals(rows: &[Row]) -> impl Iterator<Item = &Summary> {
    rows.iter().filter(|r| r.kind == Kind::Rival).map(|r| &r.summary)
}

pub fn table(name: &'static str, title: &str, rows: &[Row]) -> Table {
    let ours = ours(rows);
    let cells = rows.iter().map(|row| {
        let one = &row.summary;
        let (target, adversary) = (one.target(TARGET), one.adversary(ADVERSARY));
        let delta = 100.0 * (adversary.mean - one.mean(majority).mean);
        let mut cells = vec![
            one.full_name(),
            one.cell(target),
            one.cell(adversary),
            if one.found.is_empty() { String::new() } else { format!("{:.1}", delta.abs()) },
            one.cell(one.mean(|t| accuracy(&t.sensitive, "logistic"))),
            one.worst_cell(),
            one.time(),
            match row.kind {
                Kind::Rival => at_no_more_cell(one, &ours, TARGET),
                _ => String::new(),
            },
            row.paper.map_or_else(|| "–".to_owned(), |(t, a, _)| format!("{t:.1} / {a:.1}")),
        ];
        cells.push(match (row.paper, row.kind) {
            (Some((t, _, d)), Kind::Ours { .. }) => {
                verdict(100.0 * target.mean, t, delta.max(0.0), d, 1)
            }
            (Some((t, _, _)), Kind::Rival) if !one.found.is_empty() => {
                format!("target {:+.1}", 100.0 * target.mean - t)
            }
            _ => String::new(),
        });
        cells
    });
    let header = vec![
        "method",
        "target %",
        "adversary % (net-64)",
        "Δ",
        "logistic adversary %",
        "worst case %",
        "seconds to fit",
        "ours at no more",
        "paper",
        "beside the paper",
    ];
    let title = format!("{title} (majority guess {:.1} %)", 100.0 * guess(rows));
    Table { name, title, header, rows: cells.collect() }
}

pub fn figures(suffix: &str, title: &str, rows: &[Row]) -> Vec<Figure> {
    // The bars are the paper's rows, and the rivals that it has not.
    let shown = rows
        .iter()
        .filter(|r| !r.summary.found.is_empty() && (r.paper.is_some() || r.kind == Kind::Rival));
    let bar = |row: &Row| {
        let paper = row.paper.map(|(target, adversary, _)| (target, adversary));
        Bar::new(&row.summary.name, &row.summary, (TARGET, ADVERSARY), paper)
    };
    let methods = bars(title, &shown.map(bar).collect::<Vec<_>>(), guess(rows));
    let place = |s: &Summary| (s.worst(), s.target(TARGET));
    let line = |kernel: bool| {
        let mine =
            rows.iter().filter(|r| matches!(r.kind, Kind::Ours { kernel: k, .. } if k == kernel));
        mine.map(|r| place(&r.summary)).collect()
    };
    let points: Vec<Places<'_>> = rivals(rows)
        .filter(|s| !s.found.is_empty())
        .map(|s| (s.name.as_str(), vec![place(s)]))
        .collect();
    let axes = ("worst case: the best of all probes against what is hidden", "target accuracy");
    let lines = [("Linear-SARL", line(false)), ("Kernel-SARL", line(true))];
    let trade_off = Figure::new("trade-off", title.to_owned())
        .caption("Test rows. Ours at four weights of the adversary, each rival at its own; to the left hides more, upwards keeps more.")
        .panel(figures::trade_off(axes, &lines, &points, guess(rows)));
    let name = |name: &str| match suffix {
        "" => name.to_owned(),
        suffix => format!("{name}-{suffix}"),
    };
    [methods, trade_off].map(|f| Figure { name: name(&f.name), ..f }).into()
}

pub fn common_words() -> Vec<String> {
    vec![
        "Δ is the absolute difference to the majority guess, as in the paper. The last column counts only what lies above that guess: an adversary can fall below it \
         without having learnt nothing, which is what balanced accuracy (in results.json) is for. “Ours at no more” is the best target accuracy among our rows whose worst case is not above the rival's, \
         and how much more that is."
            .to_owned(),
        "What is guaranteed: on the training rows no linear regression on z tells more of the sensitive attribute than the certificate says; at λ → 1 it tells nothing. \
         What is not: a network or a tree sees more than the mean of z, such as its spread, and may find some of the attribute. The worst case over all probes is the number to rely on."
            .to_owned(),
    ]
}

pub fn words(form: &str, rows: &[Row]) -> Vec<String> {
    let mut words = Vec::new();
    for row in rows.iter().filter(|r| r.is_chosen()) {
        let (Some((t, _, d)), one) = (row.paper, &row.summary) else { continue };
        let target = 100.0 * one.target(TARGET).mean;
        let beyond = |probe: &str| {
            let beyond = one.mean(|f| accuracy(&f.sensitive, probe) - majority(f));
            100.0 * beyond.mean.max(0.0)
        };
        words.push(format!(
            "{form}, {} beside the paper, with its kind of adversary: {}; with a logistic adversary: {}.",
            one.name,
            verdict(target, t, beyond(ADVERSARY), d, 1),
            verdict(target, t, beyond("logistic"), d, 1),
        ));
    }
    if rivals(rows).next().is_some() {
        words.push(format!("{form}. {}", balance(rivals(rows), &ours(rows), TARGET)));
    }
    words
}

pub fn results(rows: &[Row]) -> Vec<Value> {
    let one = |row: &Row| {
        let mut value = row.summary.json();
        value["majority"] = json!(row.summary.mean(majority));
        value["paper"] = json!(row.paper.map(
            |(target, adversary, delta)| json!({ "target": target, "adversary": adversary, "delta": delta })
        ));
        value
    };
    rows.iter().map(one).collect()
}
