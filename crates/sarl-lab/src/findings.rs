//! What attackers found, as tables: for the terminal and for the page.

use sarl_eval::{Baseline, Finding, Score, Side, Trial};
use sarl_report::page::Table;

use crate::words::percent;

/// A finding on each attribute, targets first, before (if known) and after.
pub fn each<'a>(
    z: &'a Side,
    raw: Option<&'a Side>,
) -> impl Iterator<Item = (bool, &'a Finding, Option<&'a Finding>)> {
    let of = |side: &'a Side| side.targets.iter().chain(&side.sensitives);
    let mut raw = raw.map(of);
    let hidden_from = z.targets.len();
    of(z)
        .enumerate()
        .map(move |(i, finding)| (i >= hidden_from, finding, raw.as_mut().and_then(Iterator::next)))
}

/// Every probe on one attribute before and after.
pub fn probes(hidden: bool, z: &Finding, raw: Option<&Finding>) -> Table {
    let star = |probe: &str| if probe == z.advantage.probe { " *" } else { "" };
    let row = |trial: &Trial| {
        let mut row = vec![format!("{}{}", trial.probe, star(&trial.probe))];
        if let Some(raw) = raw {
            row.push(raw.trial(&trial.probe).map_or("–".to_owned(), |t| spread(&t.score)));
        }
        row.push(spread(&trial.score));
        row.push(format!("{} to {}", percent(trial.ci[0]), percent(trial.ci[1])));
        if let Score::Class { balanced_accuracy, auc, .. } = trial.score {
            row.push(percent(balanced_accuracy));
            row.push(auc.map_or("–".to_owned(), |a| format!("{a:.3}")));
            row.push(percent(trial.advantage));
        }
        row
    };
    let mut rows: Vec<Vec<String>> = z.probes.iter().map(row).collect();
    let mut header = vec!["attacker"];
    match z.baseline {
        Baseline::Class { majority, guess, chance, .. } => {
            header.extend(raw.map(|_| "raw features"));
            header.extend(["z", "95 % interval", "balanced", "AUC", "advantage"]);
            let mut guesses = vec![("guessing (test rows)", majority)];
            if (guess - majority).abs() > 1e-12 {
                guesses.push(("guessing (training rows)", guess));
            }
            for (name, share) in guesses {
                let mut row = vec![name.to_owned()];
                row.extend(raw.map(|_| percent(share)));
                row.extend([percent(share), String::new(), percent(chance)]);
                rows.push(row);
            }
        }
        Baseline::Number { .. } => {
            header.extend(raw.map(|_| "raw features, R²"));
            header.extend(["z, R²", "95 % interval"]);
        }
    }
    rows.iter_mut().for_each(|row| row.resize(header.len(), String::new()));
    let role = if hidden { "to hide" } else { "to keep" };
    let header = header.into_iter().map(str::to_owned).collect();
    Table { title: format!("{} ({role})", z.attribute), header, rows, names: 1 }
}

fn spread(score: &Score) -> String {
    match score.spread() {
        0.0 => percent(score.value()),
        sd => format!("{:.2} ± {:.2} %", 100.0 * score.value(), 100.0 * sd),
    }
}
