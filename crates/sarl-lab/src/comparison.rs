//! Encoders compared: fitted on the same rows, attacked by the same probes.

use std::time::Instant;

use faer::{Mat, MatRef};
use sarl::{Goal, Model};
use sarl_eval::{Attributes, Finding, Labels, Options, Probe, View, explained, on_threads};
use sarl_rivals::{Data, Fitting, Rival};

use crate::error::{Error, Result};
use crate::watch::Watch;

/// The leakages to ask for, as shares of that of full utility.
const SHARES: [f64; 7] = [0.0, 0.05, 0.15, 0.3, 0.5, 0.75, 1.0];
/// Leakages nearer to each other than this are one.
const SAME: f64 = 1e-9;

/// The leakages to ask of a model of full utility, which cannot leak more: those given, or some
/// from none to all.
pub(crate) fn leakages(model: &Model, given: &[f64]) -> Vec<f64> {
    let most = model.point().leakage;
    let mut all: Vec<f64> = match given.is_empty() {
        true => SHARES.iter().map(|share| share * most).collect(),
        false => given.iter().map(|leakage| leakage.min(most)).collect(),
    };
    all.sort_by(f64::total_cmp);
    all.dedup_by(|next, last| *next - *last < SAME);
    all
}

/// The same fit for another goal; as it is where no more leakage is allowed than it has.
pub(crate) fn retuned(model: &Model, goal: Goal) -> Result<Model> {
    Ok(match goal {
        Goal::Leakage(leakage) if leakage >= model.point().leakage => model.clone(),
        goal => model.retune(goal)?,
    })
}

/// Of those of ours that leak no more than this, the one that keeps the most; with what it keeps.
/// Each is given with what it leaks and what it keeps.
pub fn best_at_no_more<T>(
    leaked: f64,
    ours: impl Iterator<Item = (T, f64, f64)>,
) -> Option<(T, f64)> {
    /// Rounding of means.
    const SAME: f64 = 1e-12;
    let no_more = ours.filter(|(_, leaks, _)| *leaks <= leaked + SAME);
    no_more.map(|(one, _, kept)| (one, kept)).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The rows of a comparison, in some representation.
pub struct Sides<M> {
    /// Those that encoders are fitted on.
    pub fit: M,
    /// Those that attackers learn from; nothing where these are the rows of the encoder, as in the
    /// paper's experiments.
    pub train: Option<M>,
    /// Those that all are tested on.
    pub test: M,
}

impl Sides<MatRef<'_, f64>> {
    /// All rows by an encoder.
    pub fn encoded<E>(
        &self,
        by: impl Fn(MatRef<'_, f64>) -> std::result::Result<Mat<f64>, E>,
    ) -> std::result::Result<Sides<Mat<f64>>, E> {
        let train = self.train.map(&by).transpose()?;
        Ok(Sides { fit: by(self.fit)?, train, test: by(self.test)? })
    }
}

impl Sides<Mat<f64>> {
    /// A view of them.
    pub fn view(&self) -> Sides<MatRef<'_, f64>> {
        let train = self.train.as_ref().map(Mat::as_ref);
        Sides { fit: self.fit.as_ref(), train, test: self.test.as_ref() }
    }
}

/// What all encoders are fitted on, attacked with and tested on.
pub struct Comparison<'a> {
    /// The rows.
    pub rows: Sides<MatRef<'a, f64>>,
    /// The numbers of values of the categories whose one-hot columns are the last.
    pub categories: &'a [usize],
    /// What is predicted from z: targets first, then what is hidden.
    pub attributes: &'a Attributes,
    /// The targets of the rows that encoders are fitted on.
    pub targets: &'a [Labels],
    /// What is hidden in these rows.
    pub sensitives: &'a [Labels],
    /// Who predicts.
    pub probes: Probing<'a>,
    /// The class of the first target that it is good to be told, if one is.
    pub favourable: Option<u32>,
}

/// Who predicts what.
#[derive(Clone, Copy)]
pub struct Probing<'a> {
    /// What is kept.
    pub targets: &'a [&'a dyn Probe],
    /// What is hidden.
    pub sensitives: &'a [&'a dyn Probe],
}

impl<'a> Probing<'a> {
    /// The same for both.
    pub fn both(probes: &'a [&'a dyn Probe]) -> Self {
        Probing { targets: probes, sensitives: probes }
    }
}

/// A rival at one weight of hiding, with one seed.
#[derive(Clone, Copy)]
pub struct Run {
    /// The method.
    pub rival: &'static dyn Rival,
    /// The weight of hiding.
    pub hiding: f64,
    /// The seed.
    pub seed: u64,
}

/// What came of an encoder.
pub struct Scored {
    /// For each attribute.
    pub found: Vec<Finding>,
    /// For each sensitive attribute, the share of its variance among the rows of the fit that least
    /// squares on z explain.
    pub leakages: Vec<f64>,
    /// Dimensions of z.
    pub dim: usize,
    /// Seconds that the fit took.
    pub seconds: f64,
}

/// How a run ended.
pub enum RunOutcome {
    /// With an encoder.
    Scored(Box<Scored>),
    /// Without one, for this reason.
    Failed(String),
}

impl Comparison<'_> {
    /// Fits and audits, as many at a time as there are threads; `ended` is called after each.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`]. A rival that fails is a result.
    pub fn run(
        &self,
        runs: &[Run],
        what: &str,
        watch: &dyn Watch,
        ended: &(dyn Fn(usize, &RunOutcome) + Sync),
    ) -> Result<Vec<RunOutcome>> {
        watch.step(what, 0, runs.len());
        let work = |i: usize, failed: &(dyn Fn() -> bool + Sync)| {
            let outcome = match self.one(&runs[i], &|| failed() || watch.stop()) {
                Ok(scored) => RunOutcome::Scored(Box::new(scored)),
                Err(error) if error.is_interruption() => return Err(error),
                Err(error) => RunOutcome::Failed(error.to_string()),
            };
            ended(i, &outcome);
            Ok(outcome)
        };
        let is_reason = |error: &Error| !error.is_interruption();
        let done = |done, all| watch.step(what, done, all);
        on_threads(runs.len(), rayon::current_num_threads(), work, is_reason, &done)
    }

    fn one(&self, run: &Run, stop: &(dyn Fn() -> bool + Sync)) -> Result<Scored> {
        let Comparison { categories, targets, sensitives, .. } = *self;
        let data = Data { x: self.rows.fit, categories, targets, sensitives };
        let how = Fitting { hiding: run.hiding, seed: run.seed, stop };
        let start = Instant::now();
        let encoder = run.rival.fit(&data, &how)?;
        let seconds = start.elapsed().as_secs_f64();
        let z = self.rows.encoded(|x| encoder.encode(x))?;
        self.score(&z.view(), seconds, &[run.seed], 1, stop)
    }

    /// What attackers predict from a representation, by an encoder that took so long to fit.
    pub fn score(
        &self,
        z: &Sides<MatRef<'_, f64>>,
        seconds: f64,
        seeds: &[u64],
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Scored> {
        let views = [View { train: z.train.unwrap_or(z.fit), test: z.test }];
        let asked = self.attributes.asked();
        let (kept, hidden) = asked.split_at(self.attributes.targets);
        let mut found = Vec::new();
        for (attributes, probes) in [(kept, self.probes.targets), (hidden, self.probes.sensitives)]
        {
            let options = Options { probes, seeds, threads, stop, progress: &|_, _| (), own: None };
            found.extend(sarl_eval::audit(&views, attributes, &options)?.into_iter().flatten());
        }
        let leakages = self.sensitives.iter().map(|s| explained(z.fit, s));
        Ok(Scored {
            found,
            leakages: leakages.collect::<sarl::Result<_>>()?,
            dim: z.fit.ncols(),
            seconds,
        })
    }
}
