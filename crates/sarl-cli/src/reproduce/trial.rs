//! Fitting on one sample, testing on another: what every experiment does.

use std::sync::LazyLock;

use faer::Mat;
use sarl::{FitParams, Fitted, Goal, Model, Ridge, Role};
use sarl_eval::probes::{Logistic, Network};
use sarl_eval::{Asked, Attributes, Finding, Labelled, Labels, Probe, Score, probes};
pub use sarl_lab::Mean;
use sarl_lab::{AuditCurve, Comparison, Probing, Run, RunOutcome, Scored, Sides, standardise};

use super::sample::{Sample, codes};
use super::summary::Summary;
use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress;

/// Both sides in some representation.
pub type Encoded = Sides<Mat<f64>>;

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
        self.train.fit(params)
    }

    /// Audits along the front of a model of full utility, and at a goal.
    pub fn audit_curve(
        &self,
        model: &Model,
        goal: Goal,
        attributes: &Attributes,
        global: &Global,
    ) -> Outcome<AuditCurve> {
        let (who, watch) = (probes::all(), progress::watch(global.quiet));
        let comparison = self.comparison(attributes, Probing::both(&who));
        Ok(AuditCurve::along(&comparison, model, Some(goal), &[0], &watch)?)
    }

    /// Both sides encoded.
    pub fn encode(&self, model: &Model) -> Outcome<Encoded> {
        let encoder = model.encoder();
        Ok(self.sides().encoded(|x| encoder.encode(x))?)
    }

    /// The raw features, for the control.
    pub fn raw(&self) -> Encoded {
        Sides { fit: self.train.x.clone(), train: None, test: self.test.x.clone() }
    }

    /// The same where they are.
    fn sides(&self) -> Sides<faer::MatRef<'_, f64>> {
        Sides { fit: self.train.x.as_ref(), train: None, test: self.test.x.as_ref() }
    }

    /// The adversary's mean squared error on the test rows, with the coefficients of the training
    /// rows.
    pub fn adversary_loss(&self, model: &Model) -> Outcome<f64> {
        let encoder = model.encoder();
        let z = encoder.encode(self.test.x.as_ref())?;
        let predicted = encoder.predict(Role::Sensitive, z.as_ref())?;
        let truth = codes(&self.test.s);
        let row = |i: usize| {
            (0..predicted.ncols())
                .map(|j| (predicted[(i, j)] - f64::from(truth[i] as usize == j)).powi(2))
                .sum::<f64>()
        };
        Ok((0..predicted.nrows()).map(row).sum::<f64>() / predicted.nrows() as f64)
    }

    fn attributes(&self) -> Attributes {
        let asked = |name: &str, train: &Labels, test: &Labels| {
            let (name, train, test) = (name.to_owned(), train.clone(), test.clone());
            Asked { name, classes: Vec::new(), train, test }
        };
        let (train, test) = (&self.train, &self.test);
        let all = [asked("target", &train.y, &test.y), asked("sensitive", &train.s, &test.s)];
        Attributes { all: all.into(), targets: 1 }
    }

    fn comparison<'a>(&'a self, attributes: &'a Attributes, probes: Probing<'a>) -> Comparison<'a> {
        let Labelled { targets, sensitives, .. } = self.train.labels();
        let favourable = None;
        Comparison { rows: self.sides(), attributes, targets, sensitives, probes, favourable }
    }

    /// Rivals on these rows.
    pub fn run(&self, runs: &[Run], probes: Probing<'_>, quiet: bool) -> Outcome<Vec<RunOutcome>> {
        let (attributes, watch) = (self.attributes(), progress::watch(quiet));
        Ok(self.comparison(&attributes, probes).run(runs, "rivals", &watch, &|_, _| ())?)
    }

    /// What these probes predict of target and sensitive attribute.
    pub fn probe(&self, z: &Encoded, who: Probing<'_>, seeds: &[u64]) -> Outcome<Findings> {
        Findings::new(self.scored(z, who, seeds, 0.0)?.found)
    }

    /// The same, with what else is known of an encoder that took so long to fit.
    pub fn summary(
        &self,
        name: impl Into<String>,
        z: &Encoded,
        who: Probing<'_>,
        seeds: &[u64],
        seconds: Option<f64>,
    ) -> Outcome<Summary> {
        let mut summary = Summary::named(name);
        summary.add(self.scored(z, who, seeds, seconds.unwrap_or(0.0))?)?;
        summary.seconds.truncate(usize::from(seconds.is_some()));
        Ok(summary)
    }

    fn scored(
        &self,
        z: &Encoded,
        who: Probing<'_>,
        seeds: &[u64],
        seconds: f64,
    ) -> Outcome<Scored> {
        let (attributes, threads) = (self.attributes(), rayon::current_num_threads());
        let comparison = self.comparison(&attributes, who);
        Ok(comparison.score(&z.view(), seconds, seeds, threads, &progress::interrupted)?)
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

/// What was found of both attributes.
#[derive(Clone)]
pub struct Findings {
    pub target: Finding,
    pub sensitive: Finding,
}

impl Findings {
    /// Of a target and a sensitive attribute, in this order.
    pub fn new(found: Vec<Finding>) -> Outcome<Self> {
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(target), Some(sensitive)) => Ok(Findings { target, sensitive }),
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
