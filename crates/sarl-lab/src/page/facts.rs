//! What was done, so that it can be done again.

use sarl::Model;
use sarl_report::page::Fact;

use crate::table::{Label, LabelValues, Table};
use crate::words::count;

/// A fact in words.
fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), value: value.into(), code: false }
}

/// Data, encoder, command, version.
pub fn facts(
    files: &[String],
    table: Option<&Table>,
    models: &[&Model],
    command: String,
    seed: u64,
) -> Vec<Fact> {
    let mut all = Vec::new();
    if !files.is_empty() {
        all.push(fact("Data", files.join(", ")));
    }
    let scaled = models.iter().any(|model| model.scaling().is_some());
    all.extend(table.into_iter().flat_map(|table| columns(table, scaled)));
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
                count(reduced.rows()),
                reduced.features(),
                reduced.basis(),
            ),
        ));
    }
    all.extend([
        Fact { name: "Command".to_owned(), value: command, code: true },
        fact("Seed", seed.to_string()),
        fact("Version", format!("sarl {}", env!("CARGO_PKG_VERSION"))),
    ]);
    all
}

/// What the columns hold.
fn columns(table: &Table, scaled: bool) -> Vec<Fact> {
    let numbers = table.numbers();
    let categories = table.features.len() - numbers;
    let mut rows = count(table.rows);
    if table.dropped > 0 {
        let dropped = count(table.dropped);
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
                table.width()
            ),
        ),
    ];
    match table.target_is_features {
        true => {
            all.push(fact("Kept", "the features themselves"));
            all.extend(table.targets.iter().map(|l| fact("Hidden beside", label(l))));
        }
        false => all.extend(table.targets.iter().map(|l| fact("Kept", label(l)))),
    }
    all.extend(table.sensitives.iter().map(|l| fact("Hidden", label(l))));
    all.extend(table.weight.iter().map(|w| fact("Weights", w)));
    all
}

fn label(label: &Label) -> String {
    const SHOWN: usize = 8;
    match &label.values {
        LabelValues::Number { mean, std } => {
            format!("{}: a number, mean {mean:.4}, standard deviation {std:.4}", label.name)
        }
        LabelValues::Class { values, counts } => {
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
