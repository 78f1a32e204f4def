//! `sarl inspect`.

use sarl::FitParams;
use sarl_data::{ColumnReport, ColumnRole, Inspection, Refused, Source};
use sarl_lab::plain;
use serde_json::json;

use crate::args::{Global, Inspect};
use crate::failure::Outcome;
use crate::output;
use crate::progress::Pass;
use crate::request::request_without_labels;

/// Letters of a line.
const LINE: usize = 80;
/// Letters of a column's name that are shown.
const NAME: usize = 34;

pub fn run(options: &Inspect, global: &Global) -> Outcome {
    let source = Source::open(&options.files.data)?.with_threads(rayon::current_num_threads());
    let request = request_without_labels(&options.data, &source)?;
    let total = source.rows_hint().map(|h| h.rows);
    let mut pass = Pass::new("reading the columns", total, global.quiet);
    let found = source.inspect(&request, &mut |p| pass.at(p.rows))?;
    drop(pass);
    let used = |c: &&ColumnReport| c.role == ColumnRole::Feature;
    let features: u64 = found.columns.iter().filter(used).map(|c| c.width as u64).sum();
    let dense = found.columns.iter().filter(used).filter(|c| c.width == 1).count() as u64;
    let memory = FitParams { folds: options.folds as usize, ..Default::default() };
    let memory = memory.bytes(found.rows, dense, features);
    if global.json {
        let columns: Vec<_> = found.columns.iter().map(column_json).collect();
        return output::print_json(&json!({
            "rows": found.rows,
            "columns": columns,
            "features": features,
            "memory_bytes": memory,
            "add": add(&found),
        }));
    }
    output::print(&text(&found, features, memory))
}

fn column_json(column: &ColumnReport) -> serde_json::Value {
    json!({
        "name": column.name,
        "kind": column.kind,
        "role": column.role,
        "values": column.values,
        "more_values": column.more,
        "missing": column.missing,
        "width": column.width,
        "refused": column.refused,
        "remark": column.remarks.join("; "),
    })
}

fn text(found: &Inspection, features: u64, memory: u64) -> String {
    let mut columns = found.columns.clone();
    for c in &mut columns {
        c.name = plain(&c.name).into_owned();
        c.remarks.iter_mut().for_each(|remark| *remark = plain(remark).into_owned());
    }
    let name = columns.iter().map(|c| c.name.chars().count()).max().unwrap_or(0).clamp(6, NAME);
    let mut lines = vec![
        format!("{} rows, {} columns", found.rows, columns.len()),
        String::new(),
        line("column", name, "role", "kind", "values", "missing"),
        "─".repeat(line("", name, "", "", "", "missing").chars().count()),
    ];
    for c in &columns {
        let values = format!("{}{}", if c.more { ">" } else { "" }, c.values);
        let (role, kind) = (c.role.word(), c.kind.word());
        lines.push(line(&cut(&c.name, name), name, role, kind, &values, &c.missing.to_string()));
        c.remarks.iter().for_each(|remark| lines.extend(wrapped(remark)));
    }
    lines.push(String::new());
    lines.push(format!(
        "a linear fit would learn from {features} columns of numbers and need about {}",
        sarl_memory::shown(memory)
    ));
    if let Some(add) = add(found) {
        lines.push(format!("for that, add: {}", plain(&add)));
    }
    lines.join("\n")
}

fn line(column: &str, name: usize, role: &str, kind: &str, values: &str, missing: &str) -> String {
    format!("{column:<name$}  {role:<9}  {kind:<11}  {values:>7}  {missing:>9}")
}

fn cut(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// A remark under its column, in lines that fit.
fn wrapped(remark: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in remark.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= LINE => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("    {word}")),
        }
    }
    lines
}

/// The options without which a fit would stop.
fn add(found: &Inspection) -> Option<String> {
    let refused = |why| found.columns.iter().filter(move |c| c.refused == Some(why));
    let bad: Vec<&str> = refused(Refused::Contents)
        .filter(|c| c.role == ColumnRole::Feature)
        .map(|c| c.name.as_str())
        .collect();
    let mut options = Vec::new();
    if !bad.is_empty() {
        options.push(format!("--drop {}", sarl_data::quoted(&bad.join(","))));
    }
    if refused(Refused::Gaps).next().is_some() {
        options.push("--missing mean".to_owned());
    }
    (!options.is_empty()).then(|| options.join(" "))
}
