//! Figures and names as people read them, in the terminal and on the page.

use sarl::{HeldOutLosses, Point};
use sarl_eval::{Attributes, Baseline, Finding, Labels, Measure, Score};
use serde_json::{Value, json};

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    // No "-0.00 %" for a share of -1e-17; a loss above the variance is a negative share.
    let shown = if share.abs() < 5e-5 { 0.0 } else { share };
    format!("{:.2} %", 100.0 * shown)
}

/// A share, or a difference of shares, in points, as it is shown: a tenth is the least.
pub fn points(share: f64) -> f64 {
    // Adding zero turns a rounded -0 into 0.
    (1000.0 * share).round() / 10.0 + 0.0
}

/// A share in points with one digit.
pub fn figure(share: f64) -> String {
    format!("{:.1}", points(share))
}

/// A whole number, its digits in groups.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = {
        let first = digits.len() % 3;
        let (head, rest) = digits.split_at(first);
        let rest = (0..rest.len()).step_by(3).map(|i| &rest[i..i + 3]);
        Some(head).filter(|h| !h.is_empty()).into_iter().chain(rest).collect()
    };
    groups.join(",")
}

/// With a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// An attacker as people call it.
pub fn attacker(probe: &str) -> String {
    let (kind, more) = probe.split_once(", ").unwrap_or((probe, ""));
    let kind = match kind {
        "linear" => "least squares",
        "logistic" => "logistic regression",
        "net-64" => "a network",
        "net-128x128" => "a large network",
        "rbf" => "a kernel machine",
        "trees" => "boosted trees",
        other => other,
    };
    match more.is_empty() {
        true => kind.to_owned(),
        false => format!("{kind} with the {more}"),
    }
}

/// Whether an attacker is linear.
pub fn is_linear(probe: &str) -> bool {
    probe.starts_with("linear") || probe.starts_with("logistic")
}

/// What the largest advantage was measured by: its name, its value, and what guessing has.
pub fn measured(worst: &Finding) -> Option<(&'static str, String, String)> {
    let trial = worst.trial(&worst.advantage.probe).unwrap_or(&worst.best);
    match (trial.score, worst.advantage.measure, &worst.baseline) {
        (Score::Class { auc: Some(auc), .. }, Measure::Area, _) => {
            Some(("AUC", format!("{auc:.3}"), "0.5".to_owned()))
        }
        (Score::Class { balanced_accuracy, .. }, _, Baseline::Class { chance, .. }) => {
            let share = |share| format!("{} %", figure(share));
            Some(("balanced accuracy", share(balanced_accuracy), share(*chance)))
        }
        _ => None,
    }
}

/// The most common class of a hidden attribute among the rows that attackers learn from.
pub fn common(attributes: &Attributes, hidden: usize) -> Option<&str> {
    let asked = attributes.all.get(attributes.targets + hidden)?;
    let Labels::Classes { codes, count } = &asked.train else { return None };
    let mut sizes = vec![0_usize; *count];
    codes.iter().for_each(|&c| sizes.get_mut(c as usize).into_iter().for_each(|s| *s += 1));
    let most = sizes.iter().enumerate().max_by_key(|(_, size)| **size)?;
    asked.classes.get(most.0).map(String::as_str)
}

/// A point as JSON: training values and, where there are folds, held-out ones.
pub fn point_json(point: &Point, heldout: Option<&HeldOutLosses>) -> Value {
    json!({
        "lambda": point.lambda,
        "dim": point.dim,
        "jy": point.losses.jy,
        "js": point.losses.js,
        "utility": point.utility,
        "leakage": point.leakage,
        "heldout": heldout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!((figure(0.7786), figure(-1e-9)), ("77.9".to_owned(), "0.0".to_owned()));
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn attackers_have_names() {
        assert_eq!(attacker("trees"), "boosted trees");
        assert_eq!(attacker("rbf, encoder's rows"), "a kernel machine with the encoder's rows");
        assert!(is_linear("logistic") && !is_linear("net-64"));
    }
}
