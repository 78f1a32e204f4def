//! Fitting on one sample, testing on another: what every experiment does.

use std::sync::LazyLock;

use sarl::{FitParams, Fitted, Goal, Model, Ridge, Role};
use sarl_eval::probes::{Logistic, Network};
use sarl_eval::{Attribute, Attributes, Finding, Labelled, Probe, Score, Side, probes};

use super::sample::{Sample, codes};
use super::showing::Showing;
use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::{fit, standardise};
use crate::page::hear;
use crate::progress;
pub use crate::ring::Encoded;
use crate::ring::{Bout, Ending, Probing, Ring};

/// Rows to learn from and rows to be tested on.
pub struct Split {
    pub train: Sample,
    pub test: Sample,
}

impl Split {
    /// The first `numbers` columns get unit variance over the rows to learn from.
    pub fn new(train: Sample, test: Sample, numbers: usize) -> Self {
        let mut split = Split { train, test };
        standardise(&mut split.train.x, &mut [&mut split.test.x], numbers);
        split
    }

    /// Encoders fitted on the rows to learn from.
    pub fn fit(&self, params: &FitParams) -> Outcome<Fitted> {
        fit(self.train.x.as_ref(), &self.labels(), params)
    }

    /// Audits along the front of a model of full utility, and at a goal.
    pub fn hear(
        &self,
        model: &Model,
        goal: Goal,
        attributes: &Attributes,
        global: &Global,
    ) -> Outcome<(Side, Vec<(f64, Side)>)> {
        let (asked, who) = (attributes.asked(), probes::all());
        let ring = self.ring(&asked, Probing::both(&who));
        hear(&ring, model, Some(goal), attributes, &[0], global)
    }

    fn labels(&self) -> Labelled<'_> {
        Labelled {
            targets: std::slice::from_ref(&self.train.y),
            sensitives: std::slice::from_ref(&self.train.s),
            names: &[],
            weights: None,
        }
    }

    /// Both sides encoded.
    pub fn encode(&self, model: &Model) -> Outcome<Encoded> {
        let encoder = model.encoder();
        let fit = encoder.encode(self.train.x.as_ref())?;
        let test = encoder.encode(self.test.x.as_ref())?;
        Ok(Encoded { fit, train: None, test })
    }

    /// The raw features, for the control.
    pub fn raw(&self) -> Encoded {
        Encoded { fit: self.train.x.clone(), train: None, test: self.test.x.clone() }
    }

    /// The adversary's mean squared error on the test rows, with the coefficients of the training
    /// rows.
    pub fn adversary_loss(&self, model: &Model) -> Outcome<f64> {
        let encoder = model.encoder();
        let z = encoder.encode(self.test.x.as_ref())?;
        let told = encoder.predict(Role::Sensitive, z.as_ref())?;
        let truth = codes(&self.test.s);
        let row = |i: usize| {
            (0..told.ncols())
                .map(|j| (told[(i, j)] - f64::from(truth[i] as usize == j)).powi(2))
                .sum::<f64>()
        };
        Ok((0..told.nrows()).map(row).sum::<f64>() / told.nrows() as f64)
    }

    fn attributes(&self) -> [Attribute<'_>; 2] {
        [
            Attribute { name: "target", train: &self.train.y, test: &self.test.y },
            Attribute { name: "sensitive", train: &self.train.s, test: &self.test.s },
        ]
    }

    fn ring<'a>(&'a self, attributes: &'a [Attribute<'a>], probes: Probing<'a>) -> Ring<'a> {
        let labels = self.labels();
        Ring {
            fit: self.train.x.as_ref(),
            train: None,
            test: self.test.x.as_ref(),
            attributes,
            targets: labels.targets,
            sensitives: labels.sensitives,
            probes,
        }
    }

    /// Rivals on these rows.
    pub fn contest(
        &self,
        bouts: &[Bout],
        probes: Probing<'_>,
        quiet: bool,
    ) -> Outcome<Vec<Ending>> {
        self.ring(&self.attributes(), probes).run(bouts, "rivals", quiet, &|_, _| ())
    }

    /// What these probes tell of target and sensitive attribute.
    pub fn probe(&self, z: &Encoded, who: Probing<'_>, seeds: &[u64]) -> Outcome<Told> {
        Ok(self.scored(z, who, seeds)?.0)
    }

    /// The same, with what else is known of an encoder that took so long to fit.
    pub fn show(
        &self,
        name: impl Into<String>,
        z: &Encoded,
        who: Probing<'_>,
        seeds: &[u64],
        seconds: Option<f64>,
    ) -> Outcome<Showing> {
        let (told, leakages) = self.scored(z, who, seeds)?;
        Ok(Showing {
            told: vec![told],
            leakages,
            seconds: seconds.into_iter().collect(),
            dim: z.fit.ncols(),
            ..Showing::named(name)
        })
    }

    fn scored(&self, z: &Encoded, who: Probing<'_>, seeds: &[u64]) -> Outcome<(Told, Vec<f64>)> {
        let threads = rayon::current_num_threads();
        let attributes = self.attributes();
        let ring = self.ring(&attributes, who);
        let scored = ring.score(z, 0.0, seeds, threads, &progress::interrupted)?;
        Ok((Told::new(scored.found)?, scored.leakages))
    }
}

/// The linear encoder of the paper, which has no ridge.
pub fn linear() -> FitParams {
    FitParams { ridge: Ridge::Fixed(0.0), ..Default::default() }
}

/// A kernel encoder with the ridge that does best on held-out rows.
pub fn kernel() -> FitParams {
    let kernel = sarl::KernelParams::new(sarl::Family::Rbf);
    FitParams { ridge: Ridge::Auto, ..FitParams::kernel(kernel) }
}

/// What was told of both attributes.
#[derive(Clone)]
pub struct Told {
    pub target: Finding,
    pub sensitive: Finding,
}

impl Told {
    /// Of a target and a sensitive attribute, in this order.
    pub fn new(found: Vec<Finding>) -> Outcome<Self> {
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(target), Some(sensitive)) => Ok(Told { target, sensitive }),
            _ => Err(Failure::new(Exit::Machine, "the audit is not whole")),
        }
    }
}

/// Accuracy of a probe.
pub fn accuracy(finding: &Finding, probe: &str) -> f64 {
    finding.trial(probe).map_or(f64::NAN, |t| t.score.value())
}

/// Balanced accuracy of a probe.
pub fn balanced(finding: &Finding, probe: &str) -> f64 {
    match finding.trial(probe).map(|t| t.score) {
        Some(Score::Class { balanced_accuracy, .. }) => balanced_accuracy,
        _ => f64::NAN,
    }
}

/// The paper's classifiers for the target, every probe against what is hidden.
pub fn everyone() -> Probing<'static> {
    const KEPT: [&dyn Probe; 2] = [&Logistic, &Network::SMALL];
    static HIDDEN: LazyLock<[&'static dyn Probe; 6]> = LazyLock::new(probes::all);
    Probing { targets: &KEPT, sensitives: &*HIDDEN }
}

/// The mean over runs, and the spread between them.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Mean {
    pub mean: f64,
    pub sd: f64,
    pub runs: usize,
}

impl Mean {
    pub fn of(values: &[f64]) -> Self {
        let (mean, sd) = sarl_eval::audit::mean_and_spread(values);
        Mean { mean, sd, runs: values.len() }
    }

    /// Of a probe, over its seeds.
    pub fn over_seeds(finding: &Finding, probe: &str) -> Self {
        finding.trial(probe).map_or(Mean { mean: f64::NAN, sd: 0.0, runs: 0 }, |t| Mean {
            mean: t.score.value(),
            sd: t.score.spread(),
            runs: t.runs,
        })
    }

    /// As a percentage, with the spread if there is one.
    pub fn percent(&self) -> String {
        match self.runs {
            1 => format!("{:.1}", 100.0 * self.mean),
            _ => format!("{:.1} ± {:.1}", 100.0 * self.mean, 100.0 * self.sd),
        }
    }
}
