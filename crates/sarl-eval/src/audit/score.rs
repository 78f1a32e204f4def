//! From predictions to what is reported.

use super::advantage::{Advantage, Evidence, LEVEL};
use super::run::Run;
use super::{Attribute, Baseline, Finding, Score, Told, Trial};
use crate::error::{Error, Result};
use crate::metrics::Area;
use crate::task::{Labels, Prediction};
use crate::{intervals, metrics};

impl Finding {
    pub(super) fn new(attribute: &Attribute<'_>, probes: Vec<Trial>) -> Result<Self> {
        let best = probes.iter().max_by(|a, b| a.score.value().total_cmp(&b.score.value()));
        let best = best.ok_or(Error::Empty { what: "probes for this attribute" })?.clone();
        let baseline = Baseline::new(attribute.train, attribute.test);
        let advantage = Advantage::worst(&probes);
        let advantage = advantage.ok_or(Error::Empty { what: "probes for this attribute" })?;
        let attribute = attribute.name.to_owned();
        Ok(Finding { attribute, baseline, advantage, best, probes })
    }

    /// The trial of a probe.
    pub fn trial(&self, probe: &str) -> Option<&Trial> {
        self.probes.iter().find(|t| t.probe == probe)
    }

    /// The trial with the largest balanced accuracy, which a rare class cannot hide from.
    pub fn best_balanced(&self) -> Option<(&Trial, f64)> {
        let balanced = |t| match t {
            &Trial { score: Score::Class { balanced_accuracy, .. }, .. } => Some(balanced_accuracy),
            _ => None,
        };
        let scored = self.probes.iter().filter_map(|t| Some((t, balanced(t)?)));
        scored.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Baseline {
    fn new(train: &Labels, test: &Labels) -> Self {
        match (train, test) {
            (Labels::Classes { codes: seen, count }, Labels::Classes { codes, .. }) => {
                let [seen, tested] = [seen, codes].map(|codes| {
                    let mut rows = vec![0u64; *count];
                    codes.iter().for_each(|&c| rows[c as usize] += 1);
                    rows.iter().map(|&n| n as f64 / codes.len() as f64).collect::<Vec<_>>()
                });
                let most = |shares: &[f64]| {
                    (1..*count).fold(0, |b, j| if shares[j] > shares[b] { j } else { b })
                };
                Baseline::Class {
                    classes: *count,
                    majority: tested[most(&tested)],
                    guess: tested[most(&seen)],
                    chance: 1.0 / *count as f64,
                }
            }
            (_, labels) => {
                let values = match labels {
                    Labels::Numbers(values) => &values[..],
                    Labels::Classes { .. } => &[],
                };
                let n = values.len().max(1) as f64;
                let mean = values.iter().sum::<f64>() / n;
                let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
                Baseline::Number { variance }
            }
        }
    }
}

impl Trial {
    /// None if the probe did not run.
    pub(super) fn new(probe: &str, attribute: &Attribute<'_>, runs: &[&Run]) -> Option<Self> {
        let (score, ci, evidence) = match attribute.test {
            Labels::Classes { codes, count } => of_class(codes, *count, attribute.train, runs)?,
            Labels::Numbers(values) => of_number(values, runs)?,
        };
        let told = match &runs.first()?.told {
            Prediction::Numbers(told) => Told::Numbers(told.clone()),
            classes => Told::Classes(classes.likely()),
        };
        let advantage = evidence.iter().map(Evidence::value).fold(f64::NEG_INFINITY, f64::max);
        let seconds = runs.iter().map(|r| r.seconds).sum();
        let probe = probe.to_owned();
        Some(Trial { probe, score, ci, advantage, runs: runs.len(), seconds, told, evidence })
    }
}

/// The score of a probe, the interval of its first figure, and what is known of its advantage.
type Judged = (Score, [f64; 2], Vec<Evidence>);

fn of_class(codes: &[u32], count: usize, train: &Labels, runs: &[&Run]) -> Option<Judged> {
    let shares = shares(train, count);
    let over =
        |of: &dyn Fn(&Run) -> f64| mean_and_spread(&runs.iter().map(|r| of(r)).collect::<Vec<_>>());
    let (accuracy, accuracy_sd) = over(&|r| metrics::accuracy(codes, &r.told.likely()));
    let recalls: Vec<Vec<(f64, usize)>> = runs
        .iter()
        .map(|r| metrics::recalls(codes, &r.told.at_even_odds(&shares), count))
        .collect();
    let mean = |at: usize| {
        let sum: f64 = recalls.iter().map(|r| r[at].0).sum();
        (sum / recalls.len() as f64, recalls[0][at].1)
    };
    let balanced: Vec<(f64, usize)> = (0..recalls.first()?.len()).map(mean).collect();
    let balanced_accuracy = balanced.iter().map(|r| r.0).sum::<f64>() / balanced.len() as f64;
    let scores: Vec<_> = runs.iter().filter_map(|r| r.told.scores()).collect();
    let areas: Vec<f64> = scores.iter().filter_map(|s| metrics::auc(codes, *s)).collect();
    let auc = (!areas.is_empty()).then(|| mean_and_spread(&areas).0);
    let mut evidence = vec![Evidence::Balanced(balanced)];
    if count == 2 {
        let areas: Vec<Area> = scores.iter().filter_map(|s| Area::of_two(codes, *s)).collect();
        let mean = |of: fn(&Area) -> f64| areas.iter().map(of).sum::<f64>() / areas.len() as f64;
        evidence.extend(areas.first().map(|first| {
            Evidence::Area(Area {
                value: mean(|a| a.value),
                variance: mean(|a| a.variance),
                ..*first
            })
        }));
    }
    let ci = intervals::share(accuracy, codes.len(), LEVEL);
    Some((Score::Class { accuracy, accuracy_sd, balanced_accuracy, auc }, ci, evidence))
}

fn of_number(values: &[f64], runs: &[&Run]) -> Option<Judged> {
    let told: Vec<&[f64]> = runs
        .iter()
        .filter_map(|r| match &r.told {
            Prediction::Numbers(told) => Some(&told[..]),
            _ => None,
        })
        .collect();
    let all: Vec<f64> = told.iter().map(|told| metrics::r2(values, told)).collect();
    all.first()?;
    let (r2, r2_sd) = mean_and_spread(&all);
    let error = metrics::r2_error(values, &told);
    let ci = intervals::explained(r2, error, LEVEL);
    Some((Score::Number { r2, r2_sd }, ci, vec![Evidence::Explained { r2, error }]))
}

/// The share of each class.
fn shares(labels: &Labels, count: usize) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    if let Labels::Classes { codes, .. } = labels {
        codes.iter().for_each(|&c| shares[c as usize] += 1.0 / codes.len() as f64);
    }
    shares
}

/// The mean and the standard deviation (of a sample; 0 for a single value).
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}
