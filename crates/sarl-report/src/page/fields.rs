//! What is said at each position of a slider, by name: written here, moved by the scripts.

use serde_json::{Map, Value, json};

use super::{Bound, Position, State};
use crate::format::{NARROW_SPACE, NONE, count, fixed, percent};
use crate::page::html::{text, typed};

/// A figure or sentence of a position.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// The exact number that is written.
    pub(super) value: Option<f64>,
}

/// Everything that is said at a position.
pub(super) fn of(position: &Position) -> Vec<Field> {
    let number = |name, text: String, value: f64| match value.is_finite() {
        true => Field { name, text, value: Some(value) },
        false => Field { name, text: NONE.to_owned(), value: None },
    };
    let p = position;
    let bound = match p.bound_on {
        Bound::Target => "Bound on the target's loss",
        Bound::Adversary => "Bound on the attacker's loss",
    };
    let mut all = vec![
        number("leakage", percent(p.leakage), p.leakage),
        number("utility", percent(p.utility), p.utility),
        number("dim", count(p.dim), p.dim as f64),
        number("dimensions", dimensions(p.dim), p.dim as f64),
        number("lambda", multiplier(p.lambda), p.lambda),
        number("js", fixed(p.js, 6), p.js),
        number("jy", fixed(p.jy, 6), p.jy),
        number("dual_bound", fixed(p.dual_bound, 6), p.dual_bound),
        number("gap", gap(p.gap), p.gap),
    ];
    all.extend(held_out(p));
    let together = |text: &str| text.replace(" %", &format!("{NARROW_SPACE}%"));
    let said = p.says.iter().map(|(name, text)| (*name, together(text)));
    let words = [
        ("verdict", together(&p.verdict.text)),
        ("state", state(p.verdict.state).to_owned()),
        ("method", p.method.clone()),
        ("bound_on", bound.to_owned()),
        ("command", p.command.clone()),
    ];
    all.extend(words.into_iter().chain(said).map(|(name, text)| Field { name, text, value: None }));
    all
}

/// Held-out shares with their spread, and those that lead: held-out where they are known.
fn held_out(position: &Position) -> Vec<Field> {
    let missing = |name| Field { name, text: "not measured".to_owned(), value: None };
    let field = |name, text, value| Field { name, text, value: Some(value) };
    let Some(held) = position.heldout else {
        return vec![
            missing("heldout_leakage"),
            missing("heldout_utility"),
            field("leaks", percent(position.leakage), position.leakage),
            field("keeps", percent(position.utility), position.utility),
            field("leaks_short", percent(position.leakage), position.leakage),
            field("keeps_short", percent(position.utility), position.utility),
        ];
    };
    let spread = |value: f64, sd: f64| format!("{} ± {}", percent(value), percent(sd));
    let leakage = |nothing: &str| match held.leakage > 0.0 {
        true => spread(held.leakage, held.leakage_sd),
        false => nothing.to_owned(),
    };
    let short = if held.leakage > 0.0 { percent(held.leakage) } else { "none".to_owned() };
    vec![
        field("leaks_short", short, held.leakage),
        field("keeps_short", percent(held.utility), held.utility),
        field("leaks", leakage("nothing measurable"), held.leakage),
        field("keeps", spread(held.utility, held.utility_sd), held.utility),
        field("heldout_leakage", leakage("none measurable"), held.leakage),
        field("heldout_utility", spread(held.utility, held.utility_sd), held.utility),
    ]
}

/// The name of a state in the style sheet.
pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Good => "good",
        State::Open => "open",
        State::Bad => "bad",
    }
}

fn dimensions(dim: usize) -> String {
    match dim {
        1 => "1 dimension".to_owned(),
        _ => format!("{} dimensions", count(dim)),
    }
}

/// Six decimal places, of which the last two go where they are zero.
fn multiplier(value: f64) -> String {
    let text = fixed(value, 6);
    let shorter = text.strip_suffix('0').unwrap_or(&text);
    shorter.strip_suffix('0').unwrap_or(shorter).to_owned()
}

fn gap(value: f64) -> String {
    if value.abs() <= 1e-12 {
        return "0".to_owned();
    }
    let text = format!("{value:.1e}");
    let (lead, power) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if power.starts_with('-') { "" } else { "+" };
    format!("{lead}e{sign}{power}").replace('-', "−")
}

/// A place for a field, filled with what a position says.
pub(super) fn span(name: &str, at: &[Field]) -> String {
    let Some(field) = at.iter().find(|f| f.name == name) else { return String::new() };
    let inside = match name {
        "command" => return typed(&field.text),
        _ => &field.text,
    };
    let value = field.value.map(|v| v.to_string());
    let class = if field.value.is_some() { "figure" } else { "" };
    let mut attributes = vec![("class", class), ("data-field", name)];
    attributes.extend(value.as_deref().map(|v| ("data-value", v)));
    text("span", &attributes, inside)
}

/// For each name what every position says, for the scripts: texts and, where there are, numbers.
pub(super) fn columns(positions: &[Position]) -> Value {
    let mut columns: Map<String, Value> = Map::new();
    for (at, position) in positions.iter().enumerate() {
        for Field { name, text, value } in of(position) {
            let column = columns.entry(name).or_insert_with(|| {
                let empty = vec![Value::Null; positions.len()];
                json!({ "text": empty, "value": empty })
            });
            column["text"][at] = json!(text);
            column["value"][at] = json!(value);
        }
    }
    for column in columns.values_mut() {
        shorten(column);
    }
    Value::Object(columns)
}

/// Without numbers where there are none, and each text once where some are equal: then `text` is a
/// list of different ones and `at` says which of them each position has.
fn shorten(column: &mut Value) {
    let Some(column) = column.as_object_mut() else { return };
    if column["value"].as_array().is_some_and(|v| v.iter().all(Value::is_null)) {
        column.remove("value");
    }
    let Some(texts) = column["text"].as_array() else { return };
    let mut pool: Vec<Value> = Vec::new();
    let mut at = Vec::with_capacity(texts.len());
    for text in texts {
        at.push(pool.iter().position(|t| t == text).unwrap_or_else(|| {
            pool.push(text.clone());
            pool.len() - 1
        }));
    }
    if pool.len() < texts.len() {
        column.insert("text".to_owned(), json!(pool));
        column.insert("at".to_owned(), json!(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0.5, 0.551475, 0.12].map(multiplier), ["0.5000", "0.551475", "0.1200"]);
        assert_eq!([0.0, 5.6e-15, 2.34e-5, 12.0].map(gap), ["0", "0", "2.3e−5", "1.2e+1"]);
        assert_eq!([1, 2000].map(dimensions), ["1 dimension", "2,000 dimensions"]);
    }
}
