//! One encoder in the comparison, and what was found of it.

use sarl_eval::{Finding, Side, blind};
use sarl_rivals::Rival;
use serde::Serialize;
use serde_json::{Value, json};

use super::fair::Fair;
use crate::comparison::{Comparison, Scored, best_at_no_more};
use crate::mean::Mean;
use crate::words::percent;

#[cfg(test)]
mod tests;

/// Who made an encoder.
#[derive(Clone, Copy)]
pub enum Method {
    /// Nobody: the raw features.
    Raw,
    /// Ours, linear.
    Linear,
    /// Ours, with a kernel.
    Kernel,
    /// Another method.
    Rival(&'static dyn Rival),
}

impl Method {
    /// The name in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Method::Raw => "raw",
            Method::Linear => "linear-sarl",
            Method::Kernel => "kernel-sarl",
            Method::Rival(rival) => rival.name(),
        }
    }

    /// The name in tables and figures.
    pub fn title(self) -> &'static str {
        match self {
            Method::Raw => "Raw features",
            Method::Linear => "Linear-SARL",
            Method::Kernel => "Kernel-SARL",
            Method::Rival(rival) => rival.title(),
        }
    }

    /// Whether it is one of ours.
    pub fn is_ours(self) -> bool {
        matches!(self, Method::Linear | Method::Kernel)
    }

    /// Whether it is another method.
    pub fn is_rival(self) -> bool {
        matches!(self, Method::Rival(_))
    }
}

/// What was asked of a method.
#[derive(Clone, Copy, PartialEq)]
pub enum Setting {
    /// There is nothing to ask.
    None,
    Leakage(f64),
    /// The weight of hiding.
    Weight(f64),
}

impl Setting {
    pub fn words(self) -> String {
        match self {
            Setting::None => "–".to_owned(),
            Setting::Leakage(share) => format!("leakage {}", percent(share)),
            Setting::Weight(weight) => format!("weight {weight}"),
        }
    }

    pub fn json(self) -> Value {
        match self {
            Setting::None => json!({}),
            Setting::Leakage(share) => json!({ "leakage": share }),
            Setting::Weight(weight) => json!({ "weight": weight }),
        }
    }
}

/// The probe that predicts an attribute best, over seeds.
#[derive(Clone, Serialize)]
pub struct Best {
    #[serde(flatten)]
    pub score: Mean,
    pub probe: String,
}

impl Best {
    /// By accuracy or R²: of one encoder over the seeds of the probes, or of several over the seeds
    /// of the fits.
    fn of(findings: &[&Finding]) -> Option<Self> {
        Self::by(findings, |probe| Mean::score(findings, probe))
    }

    /// By advantage over guessing.
    fn advantage(findings: &[&Finding]) -> Option<Self> {
        Self::by(findings, |probe| {
            let trials = findings.iter().filter_map(|f| f.trial(probe));
            Mean::of(&trials.map(|t| t.advantage).collect::<Vec<_>>())
        })
    }

    fn by(findings: &[&Finding], score: impl Fn(&str) -> Mean) -> Option<Self> {
        let probes = findings.first()?.probes.iter().map(|t| &t.probe);
        let all = probes.map(|probe| Best { score: score(probe), probe: probe.clone() });
        all.max_by(|a, b| a.score.mean.total_cmp(&b.score.mean))
    }
}

/// What can be predicted of each attribute without looking.
pub struct Guesses {
    /// Of the first target, if there is one.
    pub target: Option<f64>,
    pub sensitives: Vec<(String, f64)>,
    /// How many of the attributes are targets.
    targets: usize,
}

impl Guesses {
    /// From what was found of the raw features, targets first.
    pub fn new(found: &[Finding], targets: usize) -> Self {
        let target = found[..targets].first().map(|f| blind(&f.baseline));
        let hidden = found[targets..].iter();
        let sensitives = hidden.map(|f| (f.attribute.clone(), blind(&f.baseline))).collect();
        Guesses { target, sensitives, targets }
    }
}

/// The sensitive attribute that is predicted best beyond guessing.
pub struct Worst {
    pub best: Best,
    pub attribute: String,
    /// How far beyond guessing.
    pub beyond: f64,
    /// The probe with the largest advantage over guessing, by balanced accuracy, AUC or R².
    pub advantage: Best,
}

/// What was found of an encoder, over seeds.
pub struct Found {
    pub dim: usize,
    /// The first target.
    pub target: Option<Best>,
    pub worst: Worst,
    /// The largest share of the variance of a sensitive attribute that least squares explain among
    /// the rows of the fit.
    pub leakage: f64,
    /// Seconds of a fit.
    pub seconds: f64,
}

impl Found {
    fn new(scored: &[&Scored], guesses: &Guesses) -> Option<Self> {
        let first = scored.first()?;
        let of = |at: usize| -> Vec<&Finding> {
            scored.iter().filter_map(|s| s.found.get(at)).collect()
        };
        let worst = |(i, (name, guess)): (usize, &(String, f64))| {
            let findings = of(guesses.targets + i);
            let best = Best::of(&findings)?;
            let (beyond, advantage) = (best.score.mean - guess, Best::advantage(&findings)?);
            Some(Worst { best, attribute: name.clone(), beyond, advantage })
        };
        let hidden = guesses.sensitives.iter().enumerate().filter_map(worst);
        let worst = hidden.max_by(|a, b| a.beyond.total_cmp(&b.beyond))?;
        let mean = |of: &dyn Fn(&Scored) -> f64| {
            Mean::of(&scored.iter().map(|s| of(s)).collect::<Vec<_>>()).mean
        };
        Some(Found {
            dim: first.dim,
            target: guesses.target.and_then(|_| Best::of(&of(0))),
            worst,
            leakage: mean(&|s| s.leakages.iter().copied().fold(0.0, f64::max)),
            seconds: mean(&|s| s.seconds),
        })
    }
}

/// One encoder of the comparison.
pub struct Entry {
    pub method: Method,
    pub setting: Setting,
    /// Nothing if every run failed.
    pub found: Option<Found>,
    pub runs: usize,
    /// Why runs failed, one reason for each.
    pub failures: Vec<String>,
    /// Seconds from the fit to this setting, where one fit serves them all.
    pub retune: Option<f64>,
    /// Everything that was found, for the report.
    pub side: Option<Side>,
    /// The gaps between the groups of each hidden attribute.
    pub fairness: Vec<Fair>,
}

impl Entry {
    pub fn new(
        method: Method,
        setting: Setting,
        scored: &[&Scored],
        failures: Vec<String>,
        guesses: &Guesses,
    ) -> Self {
        let found = Found::new(scored, guesses);
        let (runs, retune, side) = (scored.len() + failures.len(), None, None);
        let fairness = Vec::new();
        Entry { method, setting, found, runs, failures, retune, side, fairness }
    }

    /// With the fairness of the best predictor of the target, beside that from the raw features.
    pub fn judged(self, scored: &[&Scored], raw: Option<&Side>, by: &Comparison<'_>) -> Self {
        let probe = self.found.as_ref().and_then(|f| f.target.as_ref()).map(|best| &best.probe);
        let asked = (by.attributes, by.favourable);
        let fairness = probe.map(|probe| Fair::each(scored, probe, raw, asked));
        Entry { fairness: fairness.unwrap_or_default(), ..self }
    }

    /// What came of it, in a line.
    pub fn news(&self) -> String {
        let title = self.title();
        let Some(found) = &self.found else {
            let reason = self.failures.first().map_or("no run ended", String::as_str);
            return format!("{title}: failed: {reason}");
        };
        let target = found.target.as_ref();
        let target = target.map_or(String::new(), |t| format!("target {} %, ", t.score.percent()));
        let worst = &found.worst;
        let (best, advantage) = (worst.best.score.percent(), worst.advantage.score.percent());
        format!("{title}: {target}{} {best} %, advantage {advantage} %", worst.attribute)
    }

    /// Its name with its setting.
    pub fn title(&self) -> String {
        match self.setting {
            Setting::None => self.method.title().to_owned(),
            _ => format!("{} at {}", self.method.title(), self.setting.words()),
        }
    }

    /// How well the target is predicted.
    pub fn target(&self) -> Option<f64> {
        Some(self.found.as_ref()?.target.as_ref()?.score.mean)
    }

    /// Of these, the one of ours that keeps most and leaks no more than this one; with how much
    /// more it keeps.
    pub fn ours_at_no_more<'e>(&self, entries: &'e [Entry]) -> Option<(&'e Entry, f64)> {
        let (leaked, target) = (self.found.as_ref()?.worst.beyond, self.target()?);
        let ours = entries.iter().filter(|e| e.method.is_ours());
        let ours = ours.filter_map(|e| Some((e, e.found.as_ref()?.worst.beyond, e.target()?)));
        best_at_no_more(leaked, ours).map(|(e, kept)| (e, kept - target))
    }
}
