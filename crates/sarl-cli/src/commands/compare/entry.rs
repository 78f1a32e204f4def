//! One encoder in the comparison, and what was found of it.

use sarl_eval::audit::mean_and_spread;
use sarl_eval::{Finding, Side, Trial, blind};
use sarl_rivals::Rival;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output;
use crate::ring::Scored;

#[cfg(test)]
mod tests;

/// Who made an encoder.
#[derive(Clone, Copy)]
pub enum Method {
    /// Nobody: the raw features.
    Raw,
    Linear,
    Kernel,
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

    pub fn is_ours(self) -> bool {
        matches!(self, Method::Linear | Method::Kernel)
    }

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
            Setting::Leakage(share) => format!("leakage {}", output::percent(share)),
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

/// The probe that tells most of an attribute: accuracy or R², over seeds.
#[derive(Clone, Serialize)]
pub struct Best {
    pub mean: f64,
    pub sd: f64,
    pub runs: usize,
    pub probe: String,
}

impl Best {
    /// Of one encoder over the seeds of the probes, or of several over the seeds of the fits.
    fn of(findings: &[&Finding]) -> Option<Self> {
        let best = |trial: &Trial| {
            let (mean, sd, runs) = match findings {
                [_] => (trial.score.value(), trial.score.spread(), trial.runs),
                _ => {
                    let trials = findings.iter().filter_map(|f| f.trial(&trial.probe));
                    let values: Vec<f64> = trials.map(|t| t.score.value()).collect();
                    let (mean, sd) = mean_and_spread(&values);
                    (mean, sd, values.len())
                }
            };
            Best { mean, sd, runs, probe: trial.probe.clone() }
        };
        let all = findings.first()?.probes.iter().map(best);
        all.max_by(|a, b| a.mean.total_cmp(&b.mean))
    }

    /// The same by advantage over guessing.
    fn advantage(findings: &[&Finding]) -> Option<Self> {
        let best = |trial: &Trial| {
            let trials = findings.iter().filter_map(|f| f.trial(&trial.probe));
            let values: Vec<f64> = trials.map(|t| t.advantage).collect();
            let (mean, sd) = mean_and_spread(&values);
            Best { mean, sd, runs: values.len(), probe: trial.probe.clone() }
        };
        let all = findings.first()?.probes.iter().map(best);
        all.max_by(|a, b| a.mean.total_cmp(&b.mean))
    }

    /// As a percentage, with the spread if there is one.
    pub fn percent(&self) -> String {
        match self.runs {
            1 => format!("{:.1}", 100.0 * self.mean),
            _ => format!("{:.1} ± {:.1}", 100.0 * self.mean, 100.0 * self.sd),
        }
    }
}

/// What can be told of each attribute without looking.
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

/// The sensitive attribute that is told best beyond guessing.
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
    fn new(scored: &[Scored], guesses: &Guesses) -> Option<Self> {
        let first = scored.first()?;
        let of = |at: usize| {
            let all: Vec<&Finding> = scored.iter().filter_map(|s| s.found.get(at)).collect();
            Best::of(&all)
        };
        let advantage = |at: usize| {
            let all: Vec<&Finding> = scored.iter().filter_map(|s| s.found.get(at)).collect();
            Best::advantage(&all)
        };
        let worst = |(i, (name, guess)): (usize, &(String, f64))| {
            let best = of(guesses.targets + i)?;
            let beyond = best.mean - guess;
            Some(Worst {
                best,
                attribute: name.clone(),
                beyond,
                advantage: advantage(guesses.targets + i)?,
            })
        };
        let hidden = guesses.sensitives.iter().enumerate().filter_map(worst);
        let worst = hidden.max_by(|a, b| a.beyond.total_cmp(&b.beyond))?;
        let mean = |of: &dyn Fn(&Scored) -> f64| {
            mean_and_spread(&scored.iter().map(of).collect::<Vec<_>>()).0
        };
        Some(Found {
            dim: first.dim,
            target: guesses.target.and_then(|_| of(0)),
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
}

impl Entry {
    pub fn new(
        method: Method,
        setting: Setting,
        scored: &[Scored],
        failures: Vec<String>,
        guesses: &Guesses,
    ) -> Self {
        let found = Found::new(scored, guesses);
        let (runs, retune, side) = (scored.len() + failures.len(), None, None);
        Entry { method, setting, found, runs, failures, retune, side }
    }

    /// What came of it, in a line.
    pub fn news(&self, guesses: &Guesses) -> String {
        let title = self.title();
        let Some(found) = &self.found else {
            let reason = self.failures.first().map_or("no run ended", String::as_str);
            return format!("{title}: failed: {reason}");
        };
        let target = match (&found.target, guesses.target) {
            (Some(best), Some(_)) => format!("target {} %, ", best.percent()),
            _ => String::new(),
        };
        let worst = &found.worst;
        let (told, advantage) = (worst.best.percent(), worst.advantage.percent());
        format!("{title}: {target}{} {told} %, advantage {advantage} %", worst.attribute)
    }

    /// Its name with its setting.
    pub fn title(&self) -> String {
        match self.setting {
            Setting::None => self.method.title().to_owned(),
            _ => format!("{} at {}", self.method.title(), self.setting.words()),
        }
    }

    /// How well the target is told.
    pub fn target(&self) -> Option<f64> {
        Some(self.found.as_ref()?.target.as_ref()?.mean)
    }

    /// Of these, the one of ours that keeps most and leaks no more than this one; with how much
    /// more it keeps.
    pub fn ours_at_no_more<'e>(&self, entries: &'e [Entry]) -> Option<(&'e Entry, f64)> {
        /// Rounding of means.
        const SAME: f64 = 1e-12;
        let (found, target) = (self.found.as_ref()?, self.target()?);
        let no_more = |e: &&Entry| {
            e.found.as_ref().is_some_and(|f| f.worst.beyond <= found.worst.beyond + SAME)
        };
        let ours = entries.iter().filter(|e| e.method.is_ours()).filter(no_more);
        let kept = ours.filter_map(|e| Some((e, e.target()? - target)));
        kept.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
