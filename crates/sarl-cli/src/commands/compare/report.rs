//! What the comparison says, for people, as a table and as JSON.

use sarl_eval::{Attributes, Labels, Probe};
use serde_json::{Map, Value, json};

use super::entry::{Best, Entry, Found, Guesses};
use super::rivals::LeftOut;
use super::{files, words};
use crate::args::Compare;
use crate::failure::{Exit, Failure, Outcome};
use crate::inquiry::{Parts, Split};
use crate::output;
use crate::sheet::{Sheet, Step};
use crate::terminal::{Tone, emphasis, wrap};

/// Everything that was found out.
pub struct Report<'a> {
    pub options: &'a Compare,
    pub parts: &'a Parts,
    pub attributes: &'a Attributes,
    pub seeds: Vec<u64>,
    pub probes: Vec<&'static dyn Probe>,
    pub guesses: Guesses,
    /// The raw features, ours, the others.
    pub entries: Vec<Entry>,
    pub left_out: Vec<LeftOut>,
    /// What our encoders are.
    pub kinds: Vec<String>,
    pub seconds: Value,
}

impl Report<'_> {
    /// The name of the first target.
    pub fn target(&self) -> Option<&str> {
        let targets = &self.attributes.all[..self.attributes.targets];
        targets.first().map(|a| a.name.as_str())
    }

    /// What a probe is scored by.
    pub fn score_of(&self, attribute: usize) -> &'static str {
        match self.attributes.all.get(attribute).map(|a| &a.test) {
            Some(Labels::Numbers(_)) => "R²",
            _ => "accuracy",
        }
    }

    pub fn target_score(&self) -> &'static str {
        self.score_of(0)
    }

    /// The worst case as figures show it: with several attributes, beyond guessing.
    pub fn worst_place(&self, found: &Found) -> f64 {
        match self.guesses.sensitives.len() {
            1 => found.worst.best.mean,
            _ => found.worst.beyond,
        }
    }

    pub fn json(&self) -> Value {
        let probes: Vec<&str> = self.probes.iter().map(|p| p.name()).collect();
        let hidden = self.guesses.sensitives.iter().map(|(n, g)| (n.clone(), json!(g)));
        let left_out =
            self.left_out.iter().map(|l| json!({ "rival": l.rival.name(), "reason": l.reason }));
        json!({
            "data": self.options.data.data,
            "test": (self.parts.split == Split::Test).then_some(&self.options.probing.test),
            "n_train": self.parts.probes.len(),
            "n_test": self.parts.test.len(),
            "rows": self.parts.json(&self.options.data.data, &self.options.probing, self.options.encoder.seed),
            "seeds": self.seeds,
            "probes": probes,
            "guess": { "target": self.guesses.target, "sensitive": hidden.collect::<Map<_, _>>() },
            "entries": self.entries.iter().map(|e| self.entry_json(e)).collect::<Vec<_>>(),
            "left_out": left_out.collect::<Vec<_>>(),
            "files": files::names(),
            "html": self.options.page.html,
            "seconds": self.seconds,
        })
    }

    fn entry_json(&self, entry: &Entry) -> Value {
        let found = entry.found.as_ref();
        let worst = found.map(|f| {
            let best = &f.worst.best;
            json!({ "mean": best.mean, "sd": best.sd, "runs": best.runs, "probe": best.probe, "attribute": f.worst.attribute, "advantage": f.worst.advantage })
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
            "linear_leakage": found.map(|f| f.leakage),
            "fit_seconds": found.filter(|_| fitted).map(|f| f.seconds),
            "retune_seconds": entry.retune,
            "runs": entry.runs,
            "diverged": entry.failures.len(),
            "failures": entry.failures,
            "ours_at_no_more": ours,
        })
    }

    /// The table with every digit.
    pub fn csv(&self) -> Outcome<Vec<u8>> {
        const PLACES: [(&str, &str); 19] = [
            ("method", "/method"),
            ("leakage", "/setting/leakage"),
            ("weight", "/setting/weight"),
            ("dim", "/dim"),
            ("target", "/target/mean"),
            ("target_sd", "/target/sd"),
            ("target_probe", "/target/probe"),
            ("worst", "/worst/mean"),
            ("worst_sd", "/worst/sd"),
            ("worst_probe", "/worst/probe"),
            ("worst_attribute", "/worst/attribute"),
            ("advantage", "/worst/advantage/mean"),
            ("advantage_probe", "/worst/advantage/probe"),
            ("linear_leakage", "/linear_leakage"),
            ("fit_seconds", "/fit_seconds"),
            ("runs", "/runs"),
            ("diverged", "/diverged"),
            ("ours_at_no_more", "/ours_at_no_more/target"),
            ("difference", "/ours_at_no_more/difference"),
        ];
        let failed = |e: csv::Error| Failure::new(Exit::Machine, e.to_string());
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(PLACES.map(|p| p.0)).map_err(failed)?;
        for entry in &self.entries {
            let values = self.entry_json(entry);
            let cell = |(_, at): (&str, &str)| match values.pointer(at) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            };
            csv.write_record(PLACES.map(cell)).map_err(failed)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }

    pub fn text(&self) -> String {
        let (options, probing) = (self.options, &self.options.probing);
        let mut text = String::new();
        let (best, line) = words::line(self).unwrap_or_default();
        if !line.is_empty() {
            let tone = if best { Tone::Good } else { Tone::Strong };
            text += &format!("{}\n\n", emphasis(&wrap(&line), tone));
        }
        text += &format!("{}\n\n", self.table());
        let mut said = self.parts.words(&options.data.data, probing, options.encoder.seed);
        for kind in &self.kinds {
            said += &format!("{kind}\n");
        }
        for LeftOut { rival, reason } in &self.left_out {
            said += &format!("{} is left out: it {reason}.\n", rival.title());
        }
        for sentence in words::sentences(self) {
            // What the first line has said is not said again.
            let parts = sentence.split_inclusive(". ");
            let more: String = parts.filter(|part| !line.contains(part.trim())).collect();
            if !more.is_empty() {
                said += &format!("{more}\n");
            }
        }
        text += &wrap(&said);
        let total = self.seconds["total"].as_f64().unwrap_or(0.0);
        let written = files::names().join(", ");
        if let Some(path) = &options.page.html {
            text += &format!("\nreport written to {}", path.display());
        }
        let written = format!("written to {}: {written}; {total:.1} s", options.output.display());
        format!("{text}\n{}", wrap(&written))
    }

    fn table(&self) -> String {
        const STEPS: [Step; 9] = [
            Step::Stack,
            Step::Drop(&["fit s", "dim"]),
            Step::Drop(&["linear leakage"]),
            Step::NoSpread,
            Step::Say("none leaks as little", "none"),
            Step::Say("leakage ", ""),
            Step::Say("accuracy %", "acc. %"),
            Step::Say("advantage %", "advantage"),
            Step::Stack,
        ];
        let (header, rows) = self.listed();
        Sheet::new(&header, rows, |i| i > 1).text(&STEPS)
    }

    /// The table: the names of its columns and its rows.
    pub fn listed(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let target = self.target().map(|name| format!("{name}, {} %", self.target_score()));
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
            row.extend(found.target.as_ref().map(Best::percent));
            let named = if several { format!("{} ", found.worst.attribute) } else { String::new() };
            row.push(format!("{named}{}", found.worst.best.percent()));
            row.push(found.worst.advantage.percent());
            row.push(output::percent(found.leakage));
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
                words::points(difference)
            ),
            None => "none leaks as little".to_owned(),
        }
    }
}
