//! What the audit says, for people and as JSON.

use sarl_eval::{Attributes, Side};
use sarl_lab::{fairness, findings, plain};
use serde_json::{Value, json};

use super::Trisected;
use crate::args::Audit;
use crate::coding::Held;
use crate::provenance::Origin;
use crate::sheet::{fair, listed};
use crate::terminal::{self, wrap};
use crate::{output, verdict};

/// Everything that was found out.
pub struct Report {
    pub z: Side,
    pub control: Option<Side>,
    pub split: Trisected,
    pub attributes: Attributes,
    pub model: Held,
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
        if !self.split.anew {
            let files = self.origin.as_ref().map(Origin::names);
            rows["encoder"] = json!({ "files": files, "rows": self.model.rows() });
        }
        let mut value = json!({
            "model": output::path_json(&options.model),
            "n_train": parts.probes.len(),
            "n_test": parts.test.len(),
            "rows": rows,
            "encoder": {
                "dim": self.dim(),
                "fitted_on": match (self.split.anew, &self.origin) {
                    (true, _) => json!("a part of DATA"),
                    (false, Some(origin)) => json!(origin.names()),
                    (false, None) => Value::Null,
                },
                "refitted": self.split.anew,
                "leakage": self.model.leakage(),
            },
            "seeds": self.seeds,
            "criterion": self.model.criterion().name(),
        });
        value = output::joined(value, self.z.json(&self.attributes));
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
        if let Some(judged) = self.model.judged() {
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
    pub fn rows(&self) -> String {
        let mut text = self.split.parts.words();
        text += &match (self.split.anew, &self.origin) {
            (true, _) => "The encoder has seen this file, so it was fitted anew with the same \
                             options and goal. Fitted on fewer rows, it may leak a little more than the model.\n"
                .to_owned(),
            (false, Some(origin)) => format!(
                "The encoder is that of the model, fitted on {} rows of {}.\n",
                self.model.rows(),
                plain(&origin.names().join(", "))
            ),
            (false, None) => "The model does not say which rows it was fitted on: if these are among them, \
                             other rows may show more than this audit.\n"
                .to_owned(),
        };
        text
    }

    /// What is and what is not promised.
    fn words(&self) -> String {
        format!(
            "\n* the largest advantage: the share of the way from guessing to certainty, by AUC, balanced accuracy or R².\n\
             {}: on the rows of the fit, linear attackers explain at most {} of the variation in \
             what is hidden{}. What others predict is measured here, not bounded.\n",
            match self.model.is_checked() {
                true => "Guaranteed is only this",
                false =>
                    "What the fit has found, and stored without the sums that it comes from, is this",
            },
            output::percent(self.model.leakage()),
            self.model.judged().map_or_else(String::new, |judged| judged.among)
        )
    }
}
