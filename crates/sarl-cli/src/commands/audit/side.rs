//! What was found out in one view: in z, or in the raw features.

use sarl_eval::{Fairness, Finding, Labels, Told};
use serde_json::{Value, json};

use crate::inquiry::{Asked, Attributes, blind};

/// What was found out in one view.
pub struct Side {
    pub targets: Vec<Finding>,
    pub sensitives: Vec<Finding>,
    /// For the first target and each sensitive class.
    pub fairness: Vec<(usize, Fairness)>,
}

impl Side {
    pub fn new(mut findings: Vec<Finding>, attributes: &Attributes) -> Self {
        let sensitives = findings.split_off(attributes.targets);
        let told = findings.first().map(|f| &f.best.told);
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
        Side { targets: findings, sensitives, fairness }
    }

    /// The sensitive attribute that is told best beyond what can be told without looking.
    pub fn worst(&self) -> Option<(usize, &Finding)> {
        let beyond = |f: &Finding| f.best.score.value() - blind(&f.baseline);
        let all = self.sensitives.iter().enumerate();
        all.max_by(|a, b| beyond(a.1).total_cmp(&beyond(b.1)))
    }

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
            value["probe"] = json!(self.targets.first()?.best.probe);
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
