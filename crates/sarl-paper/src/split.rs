//! Fitting on one sample, testing on another: what every experiment does.

use std::sync::LazyLock;

use faer::Mat;
use sarl::{FitParams, Fitted, Goal, Model, Ridge, Role};
use sarl_eval::probes::{Logistic, Network};
use sarl_eval::{Asked, Attributes, Finding, Labelled, Labels, Probe, Score, probes};
use sarl_lab::{
    AuditCurve, Comparison, Probing, Run, RunOutcome, Scored, Sides, Watch, standardise,
};

use crate::sample::{Sample, codes};
use crate::summary::Summary;
use crate::{Error, Result};

/// Both sides in some representation.
pub type Encoded = Sides<Mat<f64>>;

/// Rows to learn from and rows to be tested on.
pub struct Split<'w> {
    /// Rows to learn from.
    pub train: Sample,
    /// Rows to be tested on.
    pub test: Sample,
    watch: &'w dyn Watch,
}

/// What the adversary loses at a weight of hiding.
#[derive(Clone, Copy)]
pub(crate) struct Loss {
    pub lambda: f64,
    /// On the rows to learn from.
    pub train: f64,
    /// On the rows to be tested on, with the coefficients of the others.
    pub test: f64,
}

impl<'w> Split<'w> {
    /// The first `numbers` columns get unit variance over the rows to learn from.
    pub fn new(train: Sample, test: Sample, numbers: usize, watch: &'w dyn Watch) -> Self {
        let mut split = Split { train, test, watch };
        standardise(&mut split.train.x, &mut [&mut split.test.x], numbers);
        split
    }

    /// The same with every column.
    pub(crate) fn scaled(train: Sample, test: Sample, watch: &'w dyn Watch) -> Self {
        let columns = train.x.ncols();
        Split::new(train, test, columns, watch)
    }

    /// Rows of a fold, on the way; an error if the work is to end.
    pub(crate) fn fold(&self, train: Sample, test: Sample) -> Result<Self> {
        self.watch.check()?;
        Ok(Split::scaled(train, test, self.watch))
    }

    /// Encoders fitted on the rows to learn from.
    pub fn fit(&self, params: &FitParams) -> Result<Fitted> {
        self.train.fit(params, self.watch)
    }

    /// Audits along the front of a model of full utility, and at a goal.
    pub fn audit_curve(
        &self,
        model: &Model,
        goal: Goal,
        attributes: &Attributes,
    ) -> Result<AuditCurve> {
        let who = probes::all();
        let comparison = self.comparison(attributes, Probing::both(&who));
        Ok(AuditCurve::along(&comparison, model, Some(goal), &[0], self.watch)?)
    }

    /// Both sides encoded.
    pub fn encode(&self, model: &Model) -> Result<Encoded> {
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

    /// The encoder at a weight of hiding, and what the adversary loses: mean squared errors.
    pub(crate) fn at(&self, model: &Model, lambda: f64) -> Result<(Model, Loss)> {
        self.watch.check()?;
        let model = model.retune(Goal::Lambda(lambda))?;
        let encoder = model.encoder();
        let z = encoder.encode(self.test.x.as_ref())?;
        let predicted = encoder.predict(Role::Sensitive, z.as_ref())?;
        let truth = codes(&self.test.s);
        let row = |i: usize| {
            (0..predicted.ncols())
                .map(|j| (predicted[(i, j)] - f64::from(truth[i] as usize == j)).powi(2))
                .sum::<f64>()
        };
        let test = (0..predicted.nrows()).map(row).sum::<f64>() / predicted.nrows() as f64;
        let train = model.point().losses.js;
        Ok((model, Loss { lambda, train, test }))
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
        let (rows, categories) = (self.sides(), &self.train.categories[..]);
        Comparison { rows, categories, attributes, targets, sensitives, probes, favourable }
    }

    /// Rivals on these rows.
    pub(crate) fn run(&self, runs: &[Run], probes: Probing<'_>) -> Result<Vec<RunOutcome>> {
        let attributes = self.attributes();
        let comparison = self.comparison(&attributes, probes);
        Ok(comparison.run(runs, "rivals", self.watch, &|_, _| ())?)
    }

    /// What these probes predict of target and sensitive attribute.
    pub fn probe(&self, z: &Encoded, who: Probing<'_>, seeds: &[u64]) -> Result<Findings> {
        Findings::new(self.scored(z, who, seeds, 0.0)?.found)
    }

    /// The same, with what else is known of an encoder that took so long to fit.
    pub(crate) fn summary(
        &self,
        name: impl Into<String>,
        z: &Encoded,
        who: Probing<'_>,
        seeds: &[u64],
        seconds: Option<f64>,
    ) -> Result<Summary> {
        let mut summary = Summary::named(name);
        summary.add(self.scored(z, who, seeds, seconds.unwrap_or(0.0))?)?;
        summary.seconds.truncate(usize::from(seconds.is_some()));
        Ok(summary)
    }

    fn scored(&self, z: &Encoded, who: Probing<'_>, seeds: &[u64], seconds: f64) -> Result<Scored> {
        let (attributes, threads) = (self.attributes(), rayon::current_num_threads());
        let comparison = self.comparison(&attributes, who);
        Ok(comparison.score(&z.view(), seconds, seeds, threads, &|| self.watch.stop())?)
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
    /// Of what is kept.
    pub target: Finding,
    /// Of what is hidden.
    pub sensitive: Finding,
}

impl Findings {
    /// Of a target and a sensitive attribute, in this order.
    pub fn new(found: Vec<Finding>) -> Result<Self> {
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(target), Some(sensitive)) => Ok(Findings { target, sensitive }),
            _ => Err(Error::Unfinished),
        }
    }
}

/// Accuracy of a probe.
pub(crate) fn accuracy(finding: &Finding, probe: &str) -> f64 {
    finding.trial(probe).map_or(f64::NAN, |t| t.score.value())
}

/// Balanced accuracy of a probe.
pub(crate) fn balanced(finding: &Finding, probe: &str) -> f64 {
    match finding.trial(probe).map(|t| t.score) {
        Some(Score::Class { balanced_accuracy, .. }) => balanced_accuracy,
        _ => f64::NAN,
    }
}

/// The paper's classifiers for the target, every probe against what is hidden.
pub(crate) fn everyone() -> Probing<'static> {
    const KEPT: [&dyn Probe; 2] = [&Logistic, &Network::SMALL];
    static HIDDEN: LazyLock<[&'static dyn Probe; 6]> = LazyLock::new(probes::all);
    Probing { targets: &KEPT, sensitives: &*HIDDEN }
}
