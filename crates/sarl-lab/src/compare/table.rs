//! The comparison as JSON and as a table.

use serde_json::{Map, Value, json};

use super::Compared;
use super::entry::Entry;
use crate::parts::Split;
use crate::words::{percent, points};

impl Compared {
    /// All of it.
    pub fn json(&self) -> Value {
        let probes: Vec<&str> = self.probes.iter().map(|p| p.name()).collect();
        let hidden = self.guesses.sensitives.iter().map(|(n, g)| (n.clone(), json!(g)));
        let left_out =
            self.left_out.iter().map(|l| json!({ "rival": l.rival.name(), "reason": l.reason }));
        json!({
            "data": self.parts.files.data,
            "test": (self.parts.split == Split::Test).then_some(&self.parts.files.test),
            "n_train": self.parts.probes.len(),
            "n_test": self.parts.test.len(),
            "rows": self.parts.json(),
            "seeds": self.seeds,
            "probes": probes,
            "guess": { "target": self.guesses.target, "sensitive": hidden.collect::<Map<_, _>>() },
            "entries": self.entries.iter().map(|e| self.entry_json(e)).collect::<Vec<_>>(),
            "left_out": left_out.collect::<Vec<_>>(),
        })
    }

    fn entry_json(&self, entry: &Entry) -> Value {
        let found = entry.found.as_ref();
        let worst = found.map(|f| {
            let best = &f.worst.best;
            json!({ "mean": best.score.mean, "sd": best.score.sd, "runs": best.score.runs, "probe": best.probe, "attribute": f.worst.attribute, "advantage": f.worst.advantage })
        });
        let ours = entry.method.is_rival().then(|| entry.ours_at_no_more(&self.entries)).flatten();
        let ours = ours.map(|(ours, difference)| {
            json!({ "method": ours.method.name(), "setting": ours.setting.json(), "target": ours.target(), "difference": difference })
        });
        let fitted = entry.method.is_ours() || entry.method.is_rival();
        json!({
            "method": entry.method.name(),
            "ours": entry.method.is_ours(),
            "setting": entry.setting.json(),
            "dim": found.map(|f| f.dim),
            "target": found.and_then(|f| f.target.as_ref()),
            "worst": worst,
            "fairness": entry.fairness_json(&self.attributes),
            "linear_leakage": found.map(|f| f.leakage),
            "fit_seconds": found.filter(|_| fitted).map(|f| f.seconds),
            "retune_seconds": entry.retune,
            "runs": entry.runs,
            "diverged": entry.failures.len(),
            "failures": entry.failures,
            "ours_at_no_more": ours,
        })
    }

    /// The table: the names of its columns and its rows.
    pub fn listed(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let target = self.target().map(|name| format!("{name}, {} %", self.score_of(0)));
        let several = self.guesses.sensitives.len() > 1;
        let worst = match (&self.guesses.sensitives[..], self.score_of(self.attributes.targets)) {
            ([(name, _)], "R²") => format!("{name}, worst R² %"),
            ([(name, _)], _) => format!("{name}, worst case %"),
            _ => "worst case %".to_owned(),
        };
        let rivals = self.entries.iter().any(|e| e.method.is_rival());
        let compared = rivals && target.is_some();
        let mut header = vec!["method", "setting", "dim"];
        header.extend(target.as_deref());
        header.extend([worst.as_str(), "advantage %", "linear leakage", "fit s"]);
        header.extend(compared.then_some("best of ours at no more"));
        let row = |entry: &Entry| {
            let mut row = vec![entry.method.title().to_owned(), entry.setting.words()];
            let Some(found) = &entry.found else {
                row.push("failed".to_owned());
                row.resize(header.len(), String::new());
                return row;
            };
            row.push(found.dim.to_string());
            row.extend(found.target.as_ref().map(|t| t.score.percent()));
            let named = if several { format!("{} ", found.worst.attribute) } else { String::new() };
            row.push(format!("{named}{}", found.worst.best.score.percent()));
            row.push(found.worst.advantage.score.percent());
            row.push(percent(found.leakage));
            row.push(match entry.method.is_ours() || entry.method.is_rival() {
                true => format!("{:.2}", found.seconds),
                false => String::new(),
            });
            if compared {
                row.push(match entry.method.is_rival() {
                    true => self.ours_at_no_more(entry),
                    false => String::new(),
                });
            }
            row
        };
        let mut rows: Vec<Vec<String>> = self.entries.iter().map(row).collect();
        let mut guess = vec!["Guessing".to_owned(), String::new(), String::new()];
        guess.extend(self.guesses.target.map(|g| format!("{:.1}", 100.0 * g)));
        let hidden = self.guesses.sensitives.iter();
        let hidden = hidden.map(|(name, guess)| match several {
            true => format!("{name} {:.1}", 100.0 * guess),
            false => format!("{:.1}", 100.0 * guess),
        });
        guess.push(hidden.collect::<Vec<_>>().join(",\n"));
        guess.resize(header.len(), String::new());
        rows.push(guess);
        (header.into_iter().map(str::to_owned).collect(), rows)
    }

    fn ours_at_no_more(&self, entry: &Entry) -> String {
        match entry.ours_at_no_more(&self.entries) {
            Some((ours, difference)) => format!(
                "{:.1} ({:+.1})",
                100.0 * ours.target().unwrap_or(f64::NAN),
                points(difference)
            ),
            None => "none leaks as little".to_owned(),
        }
    }
}
