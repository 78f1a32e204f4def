//! Means over runs.

use sarl_eval::Finding;
use sarl_eval::audit::mean_and_spread;

/// The mean over runs, and the spread between them.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// How many runs there were.
    pub runs: usize,
}

impl Mean {
    /// Of these values.
    pub fn of(values: &[f64]) -> Self {
        let (mean, sd) = mean_and_spread(values);
        Mean { mean, sd, runs: values.len() }
    }

    /// Accuracy or R² of a probe: over the findings of several encoders, or over the seeds of the
    /// probe where there is one.
    pub fn score(findings: &[&Finding], probe: &str) -> Self {
        let trials = findings.iter().map(|f| f.trial(probe));
        match findings {
            [one] => one.trial(probe).map_or(Mean { mean: f64::NAN, sd: 0.0, runs: 0 }, |t| Mean {
                mean: t.score.value(),
                sd: t.score.spread(),
                runs: t.runs,
            }),
            _ => Mean::of(
                &trials.map(|t| t.map_or(f64::NAN, |t| t.score.value())).collect::<Vec<_>>(),
            ),
        }
    }

    /// As a percentage, with the spread if there is one.
    pub fn percent(&self) -> String {
        match self.runs {
            1 => format!("{:.1}", 100.0 * self.mean),
            _ => format!("{:.1} ± {:.1}", 100.0 * self.mean, 100.0 * self.sd),
        }
    }
}
