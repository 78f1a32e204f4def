//! From predictions to what is reported.

use faer::Mat;

use super::run::Run;
use super::{Attribute, Baseline, Finding, Score, Told, Trial};
use crate::error::{Error, Result};
use crate::metrics;
use crate::task::{Labels, Prediction};

impl Finding {
    pub(super) fn new(attribute: &Attribute<'_>, probes: Vec<Trial>) -> Result<Self> {
        let best = probes.iter().max_by(|a, b| a.score.value().total_cmp(&b.score.value()));
        let best = best.ok_or(Error::Empty { what: "probes for this attribute" })?.clone();
        let baseline = Baseline::new(attribute.train, attribute.test);
        Ok(Finding { attribute: attribute.name.to_owned(), baseline, best, probes })
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
    pub(super) fn new(
        probe: &'static str,
        attribute: &Attribute<'_>,
        runs: &[&Run],
    ) -> Option<Self> {
        let first = runs.first()?;
        let over = |score: &dyn Fn(&Run) -> f64| {
            mean_and_spread(&runs.iter().map(|r| score(r)).collect::<Vec<_>>())
        };
        let rows = attribute.test.rows();
        let (score, ci, told) = match (attribute.test, &first.told) {
            (Labels::Classes { codes, count }, Prediction::Scores(scores)) => {
                let of = |run: &Run, by: &dyn Fn(&Mat<f64>) -> f64| match &run.told {
                    Prediction::Scores(scores) => by(scores),
                    Prediction::Numbers(_) => f64::NAN,
                };
                let decided = |s: &Mat<f64>| metrics::decide(s.as_ref());
                let (accuracy, accuracy_sd) =
                    over(&|r| of(r, &|s| metrics::accuracy(codes, &decided(s))));
                let balanced =
                    |s: &Mat<f64>| metrics::balanced_accuracy(codes, &decided(s), *count);
                let (balanced_accuracy, _) = over(&|r| of(r, &balanced));
                let area = |s: &Mat<f64>| metrics::auc(codes, s.as_ref()).unwrap_or(f64::NAN);
                let auc = Some(over(&|r| of(r, &area)).0).filter(|a| a.is_finite());
                (
                    Score::Class { accuracy, accuracy_sd, balanced_accuracy, auc },
                    metrics::wilson(accuracy, rows),
                    Told::Classes(decided(scores)),
                )
            }
            (Labels::Numbers(values), Prediction::Numbers(told)) => {
                let (r2, r2_sd) = over(&|r| match &r.told {
                    Prediction::Numbers(told) => metrics::r2(values, told),
                    Prediction::Scores(_) => f64::NAN,
                });
                let ci = metrics::r2_interval(values, told, 0);
                (Score::Number { r2, r2_sd }, ci, Told::Numbers(told.clone()))
            }
            _ => return None,
        };
        let seconds = runs.iter().map(|r| r.seconds).sum();
        Some(Trial { probe, score, ci, runs: runs.len(), seconds, told })
    }
}

/// The mean and the standard deviation (of a sample; 0 for a single value).
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}
