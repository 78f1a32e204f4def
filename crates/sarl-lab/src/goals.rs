//! Goals as options, as JSON and in words.

use sarl::{Goal, NamedLimits};
use serde_json::{Value, json};

use crate::plain;
use crate::words::percent;

/// A goal under the name of its option.
pub fn json(goal: &Goal) -> Value {
    match goal {
        Goal::Lambda(v) => json!({ "lambda": v }),
        Goal::Alpha(v) => json!({ "alpha": v }),
        Goal::Leakage(v) => json!({ "max_leakage": v }),
        Goal::LeakageOf(named) => json!({ "max_leakage": named }),
        Goal::Utility(v) => json!({ "min_utility": v }),
        Goal::UtilityOf(named) => json!({ "min_utility": named }),
    }
}

/// The option of a goal, with every digit.
pub fn option(goal: &Goal) -> String {
    match goal {
        Goal::Lambda(v) => format!("--lambda {v}"),
        Goal::Alpha(v) => format!("--alpha {v}"),
        Goal::Leakage(v) => format!("--max-leakage {v}"),
        Goal::LeakageOf(named) => format!("--max-leakage {}", typed(named)),
        Goal::Utility(v) => format!("--min-utility {v}"),
        Goal::UtilityOf(named) => format!("--min-utility {}", typed(named)),
    }
}

/// Limits as they are typed, in quotes where a shell would split them.
fn typed(named: &NamedLimits) -> String {
    let parts: Vec<String> = named.iter().map(|(name, limit)| format!("{name}={limit}")).collect();
    let all = parts.join(",");
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.=,:+".contains(c);
    match all.chars().all(plain) {
        true => all,
        false => format!("'{}'", all.replace('\'', r"'\''")),
    }
}

/// What was asked for. `several` says whether there are several labels on the limited side.
pub fn words(goal: &Goal, several: bool) -> String {
    let each = if several { " for each" } else { "" };
    let of = |named: &NamedLimits| {
        let parts: Vec<String> = named
            .iter()
            .map(|(name, limit)| format!("{} for {}", percent(*limit), plain(name)))
            .collect();
        parts.join(", ")
    };
    match goal {
        Goal::Lambda(v) => format!("lambda {v}"),
        Goal::Alpha(v) => format!("an attacker loss of at least {v}"),
        Goal::Leakage(v) => format!("a leakage of at most {}{each}", percent(*v)),
        Goal::LeakageOf(named) => format!("a leakage of at most {}", of(named)),
        Goal::Utility(v) => format!("a utility of at least {}{each}", percent(*v)),
        Goal::UtilityOf(named) => format!("a utility of at least {}", of(named)),
    }
}

/// Whether it is the utility that the goal limits.
pub fn keeps(goal: &Goal) -> bool {
    matches!(goal, Goal::Utility(_) | Goal::UtilityOf(_))
}
