//! What was done, so that it can be done again.

use std::path::PathBuf;

use indicatif::HumanCount;
use sarl::Model;
use sarl_data::{FeatureValues, Label, LabelValues, Schema};
use sarl_report::page::Fact;

use super::command::typed;

/// A fact in words.
pub fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into(), code: false }
}

/// What every report says last: the command, and by whom.
fn made(seed: u64) -> Vec<Fact> {
    vec![
        Fact { name: "Command".to_owned(), value: typed(), code: true },
        fact("Seed", seed.to_string()),
        fact("Version", format!("sarl {}", env!("CARGO_PKG_VERSION"))),
    ]
}

/// Data, encoder, command, version.
pub fn facts(
    files: &[PathBuf],
    schema: Option<&Schema>,
    models: &[&Model],
    seed: u64,
) -> Vec<Fact> {
    let mut all = Vec::new();
    if !files.is_empty() {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        all.push(fact("Data", names.join(", ")));
    }
    let scaled = models.iter().any(|model| model.scaling().is_some());
    all.extend(schema.into_iter().flat_map(|schema| columns(schema, scaled)));
    for model in models {
        let reduced = model.reduced();
        let (p, q) = reduced.label_columns();
        let ridge = match reduced.ridge() {
            0.0 => "no ridge".to_owned(),
            ridge => format!("ridge {ridge:.3e}"),
        };
        all.push(fact(
            "Encoder",
            format!(
                "{}, {ridge}; {} rows, {} features spanning {} directions, {p} target and {q} sensitive label columns",
                model.map_name(),
                HumanCount(reduced.rows()),
                reduced.features(),
                reduced.basis(),
            ),
        ));
    }
    all.extend(made(seed));
    all
}

/// What the columns hold.
fn columns(schema: &Schema, scaled: bool) -> Vec<Fact> {
    let numbers =
        schema.features().iter().filter(|f| matches!(f.values, FeatureValues::Number { .. }));
    let numbers = numbers.count();
    let categories = schema.features().len() - numbers;
    let mut rows = HumanCount(schema.rows()).to_string();
    if schema.dropped_rows() > 0 {
        let dropped = HumanCount(schema.dropped_rows());
        rows += &format!("; {dropped} more had missing values and were left out");
    }
    let scaled = match scaled {
        true => "; numbers have unit variance",
        false => "; numbers are as they come",
    };
    let mut all = vec![
        fact("Rows", rows),
        fact(
            "Columns",
            format!(
                "{numbers} numeric and {categories} categorical columns, {} inputs in all{scaled}",
                schema.width()
            ),
        ),
    ];
    match schema.target_is_features() {
        true => all.push(fact("Kept", "the features themselves")),
        false => all.extend(schema.targets().iter().map(|l| fact("Kept", label(l)))),
    }
    all.extend(schema.sensitives().iter().map(|l| fact("Hidden", label(l))));
    all.extend(schema.weight().map(|w| fact("Weights", w)));
    all
}

fn label(label: &Label) -> String {
    const SHOWN: usize = 8;
    match &label.values {
        LabelValues::Number { mean, std, .. } => {
            format!("{}: a number, mean {mean:.4}, standard deviation {std:.4}", label.name)
        }
        LabelValues::Class { values, counts, .. } => {
            let all: u64 = counts.iter().sum();
            let share = |count: u64| 100.0 * count as f64 / all.max(1) as f64;
            let classes = values.iter().zip(counts).take(SHOWN);
            let classes: Vec<String> =
                classes.map(|(name, &count)| format!("{name} ({:.1} %)", share(count))).collect();
            let more = match values.len() > SHOWN {
                true => format!(" and {} more", values.len() - SHOWN),
                false => String::new(),
            };
            format!("{}: {}{more}", label.name, classes.join(", "))
        }
    }
}
