//! What was found out about several attributes in one representation, targets first.

use serde_json::{Value, json};

use crate::audit::{Attribute, Baseline, Finding, Told, Trial};
use crate::fairness::{Change, Fairness, Groups, Judge, Measures, positives};
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

/// The trial of a probe, or the best where it did not try.
fn predicted<'f>(target: &'f Finding, probe: Option<&str>) -> &'f Trial {
    probe.and_then(|probe| target.trial(probe)).unwrap_or(&target.best)
}

/// What can be told of an attribute without looking.
pub fn blind(baseline: &Baseline) -> f64 {
    match *baseline {
        Baseline::Class { guess, majority, .. } => guess.max(majority),
        Baseline::Number { .. } => 0.0,
    }
}

/// How fair predictions of the first target are between the groups of one sensitive attribute.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The place of the attribute among the sensitive ones.
    pub hidden: usize,
    /// The names of its groups, in the order of their codes.
    pub names: Vec<String>,
    /// Whether the groups are fifths of a number.
    pub fifths: bool,
    /// The names of the target's classes that count as positive.
    pub positive: Vec<String>,
    /// The gaps of these predictions.
    pub fairness: Fairness,
    /// Those of the predictions from the raw features, if they are known.
    pub raw: Option<Fairness>,
    /// The change from the raw features to z.
    pub change: Option<Measures<Change>>,
}

impl Judged {
    /// For each sensitive attribute, from what was told of the first target, and from what the raw
    /// features tell if that is known. A favourable class that does not exist makes nothing.
    pub fn all(
        told: &Told,
        raw: Option<&Told>,
        attributes: &Attributes,
        favourable: Option<u32>,
    ) -> Vec<Self> {
        let Some(target) = attributes.all.first() else { return Vec::new() };
        let positive = match &target.test {
            Labels::Classes { count, .. } => positives(*count, favourable),
            Labels::Numbers(_) => Vec::new(),
        };
        let name = |code: u32| {
            target.classes.get(code as usize).cloned().unwrap_or_else(|| code.to_string())
        };
        let positive: Vec<String> = positive.into_iter().map(name).collect();
        let one = |(hidden, asked): (usize, &Asked)| {
            let groups = Groups::new(&asked.test, &asked.classes);
            let judge = Judge { truth: &target.test, groups: &groups.codes, favourable };
            Some(Judged {
                hidden,
                fairness: judge.fairness(told).ok()?,
                raw: raw.and_then(|raw| judge.fairness(raw).ok()),
                change: raw.and_then(|raw| judge.change(raw, told).ok()),
                names: groups.names,
                fifths: groups.fifths,
                positive: positive.clone(),
            })
        };
        let hidden = attributes.all.iter().skip(attributes.targets).enumerate();
        hidden.filter_map(one).collect()
    }

    /// The name of a group.
    pub fn name(&self, group: u32) -> String {
        self.names.get(group as usize).cloned().unwrap_or_else(|| group.to_string())
    }

    /// All of it.
    pub fn json(&self, attribute: &str, probe: Option<&str>) -> Value {
        let mut value = serde_json::to_value(&self.fairness).unwrap_or_default();
        value["attribute"] = json!(attribute);
        value["probe"] = json!(probe);
        value["positive"] = json!(self.positive);
        if let Some(raw) = &self.raw {
            value["raw"] = json!(raw.gaps);
            value["raw"]["ci"] = json!(raw.ci);
        }
        if let Some(change) = &self.change {
            value["change"] = json!(change);
        }
        if let Some(groups) = value["groups"].as_array_mut() {
            for (group, found) in groups.iter_mut().zip(&self.fairness.groups) {
                group["name"] = json!(self.name(found.group));
            }
        }
        value
    }
}

/// What was found out in one view.
#[derive(Clone, Debug)]
pub struct Side {
    /// About what is to be kept.
    pub targets: Vec<Finding>,
    /// About what is to be hidden.
    pub sensitives: Vec<Finding>,
    /// For the first target and each sensitive attribute.
    pub fairness: Vec<Judged>,
    /// The probe whose predictions of the first target these are.
    pub predictor: Option<String>,
    /// The class of the first target that it is good to be told.
    pub favourable: Option<u32>,
}

impl Side {
    /// Sorts the findings of one view, which are in the order of the attributes. Fairness is that of the
    /// best predictor of the target.
    pub fn new(findings: Vec<Finding>, attributes: &Attributes) -> Self {
        Self::favouring(findings, attributes, None)
    }

    /// The same where it is good to be told one class of the first target, if there is such a class.
    pub fn favouring(
        findings: Vec<Finding>,
        attributes: &Attributes,
        favourable: Option<u32>,
    ) -> Self {
        Self::sorted(findings, attributes, None, favourable)
    }

    /// The same for the raw features, beside z: fairness is that of the same kind of predictor, and has
    /// the change from there to z.
    pub fn beside(findings: Vec<Finding>, attributes: &Attributes, z: &Side) -> Self {
        let predictor = z.predictor.as_deref();
        let mut raw = Self::sorted(findings, attributes, predictor, z.favourable);
        if let (Some(told), Some(from)) = (z.told(), raw.told()) {
            let changed = Judged::all(told, Some(from), attributes, z.favourable);
            for (one, changed) in raw.fairness.iter_mut().zip(changed) {
                one.change = changed.change;
            }
        }
        raw
    }

    /// With the fairness of the predictor from the raw features, and the change from there.
    pub fn against(mut self, raw: &Side, attributes: &Attributes) -> Self {
        if let Some(told) = self.told() {
            self.fairness = Judged::all(told, raw.told(), attributes, self.favourable);
        }
        self
    }

    fn sorted(
        mut findings: Vec<Finding>,
        attributes: &Attributes,
        predictor: Option<&str>,
        favourable: Option<u32>,
    ) -> Self {
        let sensitives = findings.split_off(attributes.targets.min(findings.len()));
        let trial = findings.first().map(|target| predicted(target, predictor));
        let predictor = trial.map(|t| t.probe.clone());
        let fairness = trial.map(|t| Judged::all(&t.told, None, attributes, favourable));
        let fairness = fairness.unwrap_or_default();
        Side { targets: findings, sensitives, fairness, predictor, favourable }
    }

    /// What the predictor told of the first target.
    pub fn told(&self) -> Option<&Told> {
        Some(&predicted(self.targets.first()?, self.predictor.as_deref()).told)
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
            let judged = self.fairness.iter().find(|j| j.hidden == i)?;
            Some(judged.json(&self.sensitives.get(i)?.attribute, self.predictor.as_deref()))
        };
        let worst = self.worst().map_or(0, |w| w.0);
        let mut value = json!({
            "target": self.targets.first().map(|f| finding(f, 0)),
            "sensitive": self.sensitives.get(worst).map(|_| hidden(worst)),
            "fairness": fair(worst),
            "fairness_by": (0..self.sensitives.len()).filter_map(fair).collect::<Vec<_>>(),
        });
        if self.targets.len() > 1 {
            let all = self.targets.iter().enumerate().map(|(i, f)| finding(f, i));
            value["targets"] = all.collect();
        }
        if self.sensitives.len() > 1 {
            value["sensitives"] = (0..self.sensitives.len()).map(hidden).collect();
        }
        value
    }
}
