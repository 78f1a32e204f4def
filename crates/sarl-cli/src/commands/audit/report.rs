//! What the audit says, for people and as JSON.

use std::path::PathBuf;

use sarl::Model;
use sarl_eval::{Attributes, Baseline, Fairness, Finding, Labels, Score, Side, Told, Trial};
use serde_json::{Value, json};

use super::Split;
use crate::args::Audit;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::Rows;
use crate::origin::Origin;
use crate::output;

/// Everything that was found out.
pub struct Report {
    pub z: Side,
    pub control: Option<Side>,
    pub split: Split,
    pub attributes: Attributes,
    pub model: Model,
    pub origin: Option<Origin>,
    pub seeds: Vec<u64>,
}

impl Report {
    fn dim(&self) -> usize {
        self.split.sides.train.z.ncols()
    }

    pub fn json(&self, options: &Audit, seconds: f64) -> Value {
        let side = |rows: &Rows, files: &[PathBuf]| json!({ "files": files, "rows": rows.len(), "of": rows.of });
        let tested = if self.split.sides.apart { &options.probing.test } else { &options.data };
        let mut value = json!({
            "model": options.model,
            "n_train": self.split.sides.train.len(),
            "n_test": self.split.sides.test.len(),
            "rows": {
                "train": side(&self.split.sides.train, &options.data),
                "test": side(&self.split.sides.test, tested),
                "test_share": (!self.split.sides.apart).then_some(options.probing.test_share),
                "seed": options.seed,
            },
            "encoder": {
                "dim": self.dim(),
                "fitted_on": match (&self.split.anew, &self.origin) {
                    (Some(_), _) => json!("the rows to learn from"),
                    (None, Some(origin)) => json!(origin.names()),
                    (None, None) => Value::Null,
                },
                "refitted": self.split.anew.is_some(),
                "leakage": self.model.point().leakage,
            },
            "seeds": self.seeds,
        });
        if let (Value::Object(all), Value::Object(more)) =
            (&mut value, self.z.json(&self.attributes))
        {
            all.extend(more);
        }
        value["control"] = json!(self.control.as_ref().map(|c| c.json(&self.attributes)));
        value["seconds"] = json!({ "total": seconds });
        value
    }

    pub fn text(&self, options: &Audit, seconds: f64) -> String {
        let mut text = self.rows(options);
        for (i, asked) in self.attributes.all.iter().enumerate() {
            let of = |side: &'_ Side| -> Finding {
                match i.checked_sub(self.attributes.targets) {
                    None => side.targets[i].clone(),
                    Some(i) => side.sensitives[i].clone(),
                }
            };
            let role = if i < self.attributes.targets { "to keep" } else { "to hide" };
            text += &format!(
                "\n── {} ({role}) ──\n{}\n",
                asked.name,
                table(&of(&self.z), self.control.as_ref().map(of).as_ref())
            );
        }
        text += &self.fairness();
        text += &self.words();
        text += &format!("\n{seconds:.1} s");
        text
    }

    /// Which rows were used for what.
    fn rows(&self, options: &Audit) -> String {
        let sides = &self.split.sides;
        let mut text = sides.words("Probes", &options.data, &options.probing, options.seed);
        text += &match (&self.split.anew, &self.origin) {
            (Some(_), _) => "The encoder has seen this file, so it was fitted anew, with the same \
                             options and goal, on the rows that the probes learnt from.\n"
                .to_owned(),
            (None, Some(origin)) => {
                format!(
                    "The encoder is that of the model, fitted on {}.\n",
                    origin.names().join(", ")
                )
            }
            (None, None) => "The model does not say which rows it was fitted on.\n".to_owned(),
        };
        text
    }

    fn fairness(&self) -> String {
        let Some(target) = self.z.targets.first() else { return String::new() };
        let mut text = String::new();
        for (i, fair) in &self.z.fairness {
            let hidden = &self.attributes.all[self.attributes.targets + i];
            let raw = self.control.as_ref().and_then(|c| c.fairness.iter().find(|f| f.0 == *i));
            let row = |name: &str, of: fn(&Fairness) -> f64| {
                let mut row = vec![name.to_owned()];
                row.extend(raw.map(|r| format!("{:.3}", of(&r.1))));
                row.push(format!("{:.3}", of(fair)));
                row
            };
            let mut rows = vec![
                row("demographic parity difference", |f| f.demographic_parity),
                row("equalized odds difference", |f| f.equalized_odds),
                row("equal opportunity difference", |f| f.equal_opportunity),
            ];
            for (g, group) in fair.groups.iter().enumerate() {
                let name = hidden.classes.get(group.group as usize).map_or("?", String::as_str);
                let mut row =
                    vec![format!("accuracy, {} = {name} ({} rows)", hidden.name, group.rows)];
                let raw = raw.and_then(|r| r.1.groups.get(g));
                row.extend(raw.map(|r| output::percent(r.accuracy)));
                row.push(output::percent(group.accuracy));
                rows.push(row);
            }
            let mut header = vec![""];
            header.extend(raw.map(|_| "raw features"));
            header.push("z");
            text += &format!(
                "\n── Fairness of the best predictor of {} ({}) between groups of {} ──\n{}\n",
                target.attribute,
                target.best.probe,
                hidden.name,
                output::table(&header, rows, |i| i > 0)
            );
        }
        text
    }

    /// What is and what is not promised.
    fn words(&self) -> String {
        let Some((_, worst)) = self.z.worst() else { return String::new() };
        let [low, high] = worst.best.ci;
        let value = worst.best.score.value();
        let found = match worst.baseline {
            Baseline::Class { majority, guess, .. } => {
                let blind = guess.max(majority);
                let points = 100.0 * (value - blind);
                let beyond = match low > blind {
                    true => format!("{points:.1} points more than"),
                    false => "no more, within its interval, than".to_owned(),
                };
                format!(
                    "{} tells {} in {} of the rows (95 %: {} to {}), {beyond} the majority guess of {}",
                    worst.best.probe,
                    worst.attribute,
                    output::percent(value),
                    output::percent(low),
                    output::percent(high),
                    output::percent(blind),
                )
            }
            Baseline::Number { .. } => format!(
                "{} explains {} of the variance of {} (95 %: {} to {})",
                worst.best.probe,
                output::percent(value),
                worst.attribute,
                output::percent(low),
                output::percent(high),
            ),
        };
        format!(
            "\nWorst case: {found}.\nThe certificate of the encoder is about linear adversaries: they explain {} of the sensitive \
             variance in the rows that it was fitted on. What others find is measured here, not bounded.\n",
            output::percent(self.model.point().leakage)
        )
    }

    /// The test rows with their labels and what the best target probe told.
    pub fn predictions(&self) -> Outcome<Vec<u8>> {
        let Some(target) = self.z.targets.first() else {
            return Err(Failure::usage("--predictions: the model has no target to predict"));
        };
        let mut header = vec!["row".to_owned()];
        header.extend(self.attributes.all.iter().map(|a| a.name.clone()));
        header.push(format!("{}_predicted", target.attribute));
        let class = |names: &[String], code: u32| {
            names.get(code as usize).cloned().unwrap_or_else(|| code.to_string())
        };
        let cell = |labels: &Labels, names: &[String], i: usize| match labels {
            Labels::Classes { codes, .. } => class(names, codes[i]),
            Labels::Numbers(values) => values[i].to_string(),
        };
        let mut csv = csv::Writer::from_writer(Vec::new());
        let failed = |e: csv::Error| Failure::new(Exit::Machine, e.to_string());
        csv.write_record(&header).map_err(failed)?;
        for (i, place) in self.split.sides.test.places.iter().enumerate() {
            let mut line = vec![place.to_string()];
            line.extend(self.attributes.all.iter().map(|a| cell(&a.test, &a.classes, i)));
            line.push(match &target.best.told {
                Told::Classes(codes) => class(&self.attributes.all[0].classes, codes[i]),
                Told::Numbers(values) => values[i].to_string(),
            });
            csv.write_record(&line).map_err(failed)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }
}

/// Every probe before and after.
fn table(z: &Finding, raw: Option<&Finding>) -> String {
    let star = |probe: &str| if probe == z.best.probe { " *" } else { "" };
    let row = |trial: &Trial| {
        let mut row = vec![format!("{}{}", trial.probe, star(trial.probe))];
        if let Some(raw) = raw {
            row.push(raw.trial(trial.probe).map_or("–".to_owned(), |t| spread(&t.score)));
        }
        row.push(spread(&trial.score));
        row.push(format!("{} to {}", output::percent(trial.ci[0]), output::percent(trial.ci[1])));
        if let Score::Class { balanced_accuracy, auc, .. } = trial.score {
            row.push(output::percent(balanced_accuracy));
            row.push(auc.map_or("–".to_owned(), |a| format!("{a:.3}")));
        }
        row
    };
    let mut rows: Vec<Vec<String>> = z.probes.iter().map(row).collect();
    let mut header = vec!["probe"];
    match z.baseline {
        Baseline::Class { majority, guess, chance, .. } => {
            header.extend(raw.map(|_| "raw features"));
            header.extend(["z", "95 % interval", "balanced", "AUC"]);
            let mut guesses = vec![("majority of the test rows", majority)];
            if (guess - majority).abs() > 1e-12 {
                guesses.push(("majority of the training rows", guess));
            }
            for (name, share) in guesses {
                let mut row = vec![name.to_owned()];
                row.extend(raw.map(|_| output::percent(share)));
                row.extend([output::percent(share), String::new(), output::percent(chance)]);
                rows.push(row);
            }
        }
        Baseline::Number { .. } => {
            header.extend(raw.map(|_| "raw features, R²"));
            header.extend(["z, R²", "95 % interval"]);
        }
    }
    output::table(&header, rows, |i| i > 0)
}

fn spread(score: &Score) -> String {
    match score.spread() {
        0.0 => output::percent(score.value()),
        sd => format!("{:.2} ± {:.2} %", 100.0 * score.value(), 100.0 * sd),
    }
}
