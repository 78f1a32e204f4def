//! What was found out about several attributes in one representation, targets first.

use serde_json::{Value, json};

use crate::audit::{Attribute, Baseline, Finding, Told};
use crate::fairness::Fairness;
use crate::task::Labels;

/// An attribute with its values and the names of its classes.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// The names of its classes, in the order of their codes; none for a number.
    pub classes: Vec<String>,
    /// Its values in the rows that probes learn from.
    pub train: Labels,
    /// Its values in the rows that they are tested on.
    pub test: Labels,
}

/// What is to be told: targets first.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// All of them.
    pub all: Vec<Asked>,
    /// How many of them are to be kept; the others are to be hidden.
    pub targets: usize,
}

impl Attributes {
    /// As the audit wants them.
    pub fn asked(&self) -> Vec<Attribute<'_>> {
        let all = self.all.iter();
        all.map(|a| Attribute { name: &a.name, train: &a.train, test: &a.test }).collect()
    }
}

/// What can be told of an attribute without looking.
pub fn blind(baseline: &Baseline) -> f64 {
    match *baseline {
        Baseline::Class { guess, majority, .. } => guess.max(majority),
        Baseline::Number { .. } => 0.0,
    }
}

/// What was found out in one view.
#[derive(Clone, Debug)]
pub struct Side {
    /// About what is to be kept.
    pub targets: Vec<Finding>,
    /// About what is to be hidden.
    pub sensitives: Vec<Finding>,
    /// For the first target and each sensitive class.
    pub fairness: Vec<(usize, Fairness)>,
    /// The probe whose predictions of the first target these are.
    pub predictor: Option<String>,
}

impl Side {
    /// Sorts the findings of one view, which are in the order of the attributes. Fairness is that of the
    /// best predictor of the target.
    pub fn new(findings: Vec<Finding>, attributes: &Attributes) -> Self {
        Self::fair_by(findings, attributes, None)
    }

    /// The same, beside another view: fairness is that of the same kind of predictor.
    pub fn beside(findings: Vec<Finding>, attributes: &Attributes, other: &Side) -> Self {
        Self::fair_by(findings, attributes, other.predictor.clone())
    }

    fn fair_by(
        mut findings: Vec<Finding>,
        attributes: &Attributes,
        predictor: Option<String>,
    ) -> Self {
        let sensitives = findings.split_off(attributes.targets);
        let target = findings.first();
        let named = predictor.as_deref().and_then(|name| target?.trial(name));
        let trial = named.or(target.map(|f| &f.best));
        let predictor = trial.map(|t| t.probe.clone());
        let told = trial.map(|t| &t.told);
        let truth = attributes.all.first().map(|a| &a.test);
        let fairness = match (told, truth) {
            (Some(Told::Classes(told)), Some(Labels::Classes { codes, count })) => {
                let hidden = attributes.all[attributes.targets..].iter().enumerate();
                let fair = |(i, hidden): (usize, &Asked)| match &hidden.test {
                    Labels::Classes { codes: groups, .. } => {
                        Some((i, Fairness::new(codes, told, *count, groups).ok()?))
                    }
                    Labels::Numbers(_) => None,
                };
                hidden.filter_map(fair).collect()
            }
            _ => Vec::new(),
        };
        Side { targets: findings, sensitives, fairness, predictor }
    }

    /// The sensitive attribute with the largest advantage over guessing.
    pub fn worst(&self) -> Option<(usize, &Finding)> {
        let all = self.sensitives.iter().enumerate();
        all.max_by(|a, b| a.1.advantage.value.total_cmp(&b.1.advantage.value))
    }

    /// All of it, the worst case of what is to be hidden first.
    pub fn json(&self, attributes: &Attributes) -> Value {
        let finding = |f: &Finding, role: usize| {
            let mut value = serde_json::to_value(f).unwrap_or_default();
            value["classes"] = json!(attributes.all.get(role).map(|a| &a.classes));
            if let Some((trial, balanced)) = f.best_balanced() {
                value["best_balanced"] =
                    json!({ "probe": trial.probe, "balanced_accuracy": balanced });
            }
            value
        };
        let hidden = |i: usize| finding(&self.sensitives[i], attributes.targets + i);
        let fair = |i: usize| {
            let fairness = self.fairness.iter().find(|(at, _)| *at == i)?;
            let names = &attributes.all[attributes.targets + i].classes;
            let mut value = serde_json::to_value(&fairness.1).unwrap_or_default();
            value["attribute"] = json!(self.sensitives[i].attribute);
            value["probe"] = json!(self.predictor);
            if let Some(groups) = value["groups"].as_array_mut() {
                for group in groups {
                    group["name"] = json!(names.get(group["group"].as_u64().unwrap_or(0) as usize));
                }
            }
            Some(value)
        };
        let worst = self.worst().map_or(0, |w| w.0);
        let mut value = json!({
            "target": self.targets.first().map(|f| finding(f, 0)),
            "sensitive": self.sensitives.get(worst).map(|_| hidden(worst)),
            "fairness": fair(worst),
        });
        if self.targets.len() > 1 {
            let all = self.targets.iter().enumerate().map(|(i, f)| finding(f, i));
            value["targets"] = all.collect();
        }
        if self.sensitives.len() > 1 {
            value["sensitives"] = (0..self.sensitives.len()).map(hidden).collect();
            value["fairness_by"] = (0..self.sensitives.len()).filter_map(fair).collect();
        }
        value
    }
}
