//! What the audit says, for people and as JSON.

use sarl::Model;
use sarl_data::Schema;
use sarl_eval::{Attributes, Labels, Side, Told};
use sarl_lab::criterion::{criterion, judged};
use sarl_lab::{Audited, Inputs, Subject, fairness, findings, plain};
use serde_json::{Value, json};

use super::Trisected;
use crate::args::{Audit, Global};
use crate::failure::{Exit, Failure, Outcome};
use crate::given::Given;
use crate::inquiry::Files;
use crate::page::{TableReport, table};
use crate::provenance::Origin;
use crate::sheet::{fair, listed};
use crate::terminal::{self, wrap};
use crate::typed::Typed;
use crate::{output, verdict};

/// Everything that was found out.
pub struct Report {
    pub z: Side,
    pub control: Option<Side>,
    pub split: Trisected,
    pub attributes: Attributes,
    pub model: Model,
    pub origin: Option<Origin>,
    pub seeds: Vec<u64>,
}

impl Report {
    fn dim(&self) -> usize {
        self.split.parts.probes.z.ncols()
    }

    pub fn json(&self, options: &Audit, seconds: f64) -> Value {
        let parts = &self.split.parts;
        let mut rows = parts.json();
        if self.split.anew.is_none() {
            let files = self.origin.as_ref().map(Origin::names);
            rows["encoder"] = json!({ "files": files, "rows": self.model.reduced().rows() });
        }
        let mut value = json!({
            "model": output::path_json(&options.model),
            "n_train": parts.probes.len(),
            "n_test": parts.test.len(),
            "rows": rows,
            "encoder": {
                "dim": self.dim(),
                "fitted_on": match (&self.split.anew, &self.origin) {
                    (Some(_), _) => json!("a part of DATA"),
                    (None, Some(origin)) => json!(origin.names()),
                    (None, None) => Value::Null,
                },
                "refitted": self.split.anew.is_some(),
                "leakage": self.model.point().leakage,
            },
            "seeds": self.seeds,
            "criterion": criterion(&self.model).name(),
        });
        if let (Value::Object(all), Value::Object(more)) =
            (&mut value, self.z.json(&self.attributes))
        {
            all.extend(more);
        }
        value["control"] = json!(self.control.as_ref().map(|c| c.json(&self.attributes)));
        if let Some(path) = &options.page.html {
            value["html"] = output::path_json(path);
        }
        value["seconds"] = json!({ "total": seconds });
        value
    }

    pub fn text(&self, options: &Audit, seconds: f64) -> String {
        let verdict = verdict::of_audit(&self.z, self.control.as_ref(), &self.attributes);
        let mut text = verdict.map_or(String::new(), |v| format!("{}\n\n", v.shown()));
        if let Some(judged) = judged(&self.model) {
            text +=
                &wrap(&format!("Attackers here predict it in all rows. {}\n\n", judged.allowed));
        }
        text += &wrap(&self.rows());
        // What is to be hidden comes first.
        let mut each: Vec<_> = findings::each(&self.z, self.control.as_ref()).collect();
        each.sort_by_key(|(hidden, ..)| !hidden);
        for (hidden, z, raw) in each {
            text += &listed(&findings::probes(hidden, z, raw));
        }
        for [gaps, groups] in fairness::tables(&self.z, &self.attributes) {
            text += &fair(&gaps);
            text += &listed(&groups);
        }
        let said = fairness::sentences(&self.z, &self.attributes);
        if !said.is_empty() {
            text += &format!("\n{}\n", wrap(&said.join("\n")));
        }
        text += &wrap(&self.words());
        if let Some(path) = &options.page.html {
            text += &format!("\nreport written to {}", terminal::path(path));
        }
        text += &format!("\n{seconds:.1} s");
        text
    }

    /// Which rows were used for what.
    fn rows(&self) -> String {
        let mut text = self.split.parts.words();
        text += &match (&self.split.anew, &self.origin) {
            (Some(_), _) => "The encoder has seen this file, so it was fitted anew with the same \
                             options and goal. Fitted on fewer rows, it may leak a little more than the model.\n"
                .to_owned(),
            (None, Some(origin)) => format!(
                "The encoder is that of the model, fitted on {} rows of {}.\n",
                self.model.reduced().rows(),
                plain(&origin.names().join(", "))
            ),
            (None, None) => "The model does not say which rows it was fitted on: if these are among them, \
                             other rows may show more than this audit.\n"
                .to_owned(),
        };
        text
    }

    /// What is and what is not promised.
    fn words(&self) -> String {
        format!(
            "\n* the largest advantage: the share of the way from guessing to certainty, by AUC, balanced accuracy or R².\n\
             Guaranteed is only this: on the rows of the fit, linear attackers explain at most {} of the variation in \
             what is hidden{}. What others predict is measured here, not bounded.\n",
            output::percent(self.model.point().leakage),
            judged(&self.model).map_or_else(String::new, |judged| judged.among)
        )
    }

    /// The report, if one was asked for.
    pub fn page(
        &self,
        options: &Audit,
        schema: &Schema,
        files: &Files,
        global: &Global,
    ) -> Outcome {
        if options.page.html.is_none() {
            return Ok(());
        }
        let rows = self.rows();
        let audited = Audited {
            attributes: &self.attributes,
            control: self.control.as_ref(),
            z: &self.z,
            what: format!("z of {}", terminal::path(&options.model)),
            leakage: self.model.point().leakage,
            rows: rows.trim_end(),
        };
        let (table, retune) = (table(schema)?, Typed::retune(&options.model));
        let inputs = Inputs::of_rows(&table, self.split.parts.probes.x.as_ref());
        let command = |goal: &_, option: &str| retune.with_goal(goal, option);
        let subject = Subject {
            inputs: Some(&inputs),
            audited: Some(&audited),
            ..Subject::new("The trade-off", &self.model, &command)
        };
        let report = TableReport {
            command: "audit",
            given: &Given::Files(files.data.clone()),
            schema,
            table,
            subject,
            warnings: Vec::new(),
            seed: options.seed,
        };
        report.write(&options.page, global)?;
        Ok(())
    }

    /// The test rows with their labels and what the best attacker predicts of the target.
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
        csv.write_record(&header)?;
        for (i, place) in self.split.parts.test.places.iter().enumerate() {
            let mut line = vec![place.to_string()];
            line.extend(self.attributes.all.iter().map(|a| cell(&a.test, &a.classes, i)));
            line.push(match &target.best.told {
                Told::Classes(codes) => class(&self.attributes.all[0].classes, codes[i]),
                Told::Numbers(values) => values[i].to_string(),
            });
            csv.write_record(&line)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }
}
