//! Encoders in one ring: fitted on the same rows, asked by the same probes.

use std::time::Instant;

use faer::{Mat, MatRef};
use sarl::Model;
use sarl_eval::{Attribute, Finding, Labels, Options, Probe, View, explained, on_threads};
use sarl_rivals::{Data, Fitting, Rival};

use crate::failure::{Exit, Failure, Outcome};
use crate::progress::{self, Count};

/// The leakages to ask for, as shares of that of full utility.
const SHARES: [f64; 7] = [0.0, 0.05, 0.15, 0.3, 0.5, 0.75, 1.0];
/// Leakages nearer to each other than this are one.
const SAME: f64 = 1e-9;

/// The leakages to ask of a model of full utility, which cannot leak more: those given, or some
/// from none to all.
pub fn leakages(model: &Model, given: &[f64]) -> Vec<f64> {
    let most = model.point().leakage;
    let mut all: Vec<f64> = match given.is_empty() {
        true => SHARES.iter().map(|share| share * most).collect(),
        false => given.iter().map(|leakage| leakage.min(most)).collect(),
    };
    all.sort_by(f64::total_cmp);
    all.dedup_by(|next, last| *next - *last < SAME);
    all
}

/// The rows that all encoders are fitted on, those that all probes learn from, and those that all are
/// tested on.
pub struct Ring<'a> {
    pub fit: MatRef<'a, f64>,
    /// Nothing where probes learn from the rows of the encoder, as in the paper's experiments.
    pub train: Option<MatRef<'a, f64>>,
    pub test: MatRef<'a, f64>,
    /// What is told of z: targets first, then what is hidden.
    pub attributes: &'a [Attribute<'a>],
    /// The same of the rows that encoders are fitted on.
    pub targets: &'a [Labels],
    pub sensitives: &'a [Labels],
    pub probes: Probing<'a>,
}

/// Who is asked.
#[derive(Clone, Copy)]
pub struct Probing<'a> {
    /// About what is kept.
    pub targets: &'a [&'a dyn Probe],
    /// About what is hidden.
    pub sensitives: &'a [&'a dyn Probe],
}

impl<'a> Probing<'a> {
    /// The same about both.
    pub fn both(probes: &'a [&'a dyn Probe]) -> Self {
        Probing { targets: probes, sensitives: probes }
    }
}

/// A rival at one weight of hiding, with one seed.
#[derive(Clone, Copy)]
pub struct Bout {
    pub rival: &'static dyn Rival,
    pub hiding: f64,
    pub seed: u64,
}

/// All rows in some representation.
pub struct Encoded {
    pub fit: Mat<f64>,
    /// Nothing where probes learn from the rows of the encoder.
    pub train: Option<Mat<f64>>,
    pub test: Mat<f64>,
}

/// What came of an encoder.
pub struct Scored {
    /// For each attribute.
    pub found: Vec<Finding>,
    /// For each sensitive attribute, the share of its variance among the rows of the fit that least
    /// squares on z explain.
    pub leakages: Vec<f64>,
    pub dim: usize,
    /// Seconds that the fit took.
    pub seconds: f64,
}

/// How a bout ended.
pub enum Ending {
    Scored(Box<Scored>),
    /// There is no encoder, for this reason.
    Failed(String),
}

impl Ring<'_> {
    /// Fits and audits, as many at a time as there are threads; `ended` hears of each.
    pub fn run(
        &self,
        bouts: &[Bout],
        what: &'static str,
        quiet: bool,
        ended: &(dyn Fn(usize, &Ending) + Sync),
    ) -> Outcome<Vec<Ending>> {
        let count = Count::new(what, quiet);
        count.at(0, bouts.len());
        let work = |i: usize, failed: &(dyn Fn() -> bool + Sync)| {
            let ending = self.bout(&bouts[i], failed)?;
            ended(i, &ending);
            Ok(ending)
        };
        let is_reason = |f: &Failure| f.exit != Exit::Interrupted;
        let done = |done, all| count.at(done, all);
        on_threads(bouts.len(), rayon::current_num_threads(), work, is_reason, &done)
    }

    /// A rival that fails is a result; only an interruption ends the run.
    fn bout(&self, bout: &Bout, failed: &(dyn Fn() -> bool + Sync)) -> Outcome<Ending> {
        let stop = || failed() || progress::interrupted();
        match self.fought(bout, &stop) {
            Ok(scored) => Ok(Ending::Scored(Box::new(scored))),
            Err(failure) if failure.exit == Exit::Interrupted => Err(failure),
            Err(failure) => Ok(Ending::Failed(failure.message)),
        }
    }

    fn fought(&self, bout: &Bout, stop: &(dyn Fn() -> bool + Sync)) -> Outcome<Scored> {
        let data = Data { x: self.fit, targets: self.targets, sensitives: self.sensitives };
        let how = Fitting { hiding: bout.hiding, seed: bout.seed, stop };
        let start = Instant::now();
        let encoder = bout.rival.fit(&data, &how)?;
        let seconds = start.elapsed().as_secs_f64();
        let z = self.encoded(|x| Ok(encoder.encode(x)?))?;
        self.score(&z, seconds, &[bout.seed], 1, stop)
    }

    /// All rows by an encoder.
    pub fn encoded(&self, by: impl Fn(MatRef<'_, f64>) -> Outcome<Mat<f64>>) -> Outcome<Encoded> {
        let train = self.train.map(&by).transpose()?;
        Ok(Encoded { fit: by(self.fit)?, train, test: by(self.test)? })
    }

    /// What the probes tell of a representation.
    pub fn score(
        &self,
        z: &Encoded,
        seconds: f64,
        seeds: &[u64],
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Outcome<Scored> {
        let train = z.train.as_ref().unwrap_or(&z.fit).as_ref();
        let views = [View { train, test: z.test.as_ref() }];
        let (kept, hidden) = self.attributes.split_at(self.targets.len());
        let mut found = Vec::new();
        for (attributes, probes) in [(kept, self.probes.targets), (hidden, self.probes.sensitives)]
        {
            let options = Options { probes, seeds, threads, stop, progress: &|_, _| (), own: None };
            found.extend(sarl_eval::audit(&views, attributes, &options)?.into_iter().flatten());
        }
        let leakage = |s: &Labels| Ok(explained(z.fit.as_ref(), s)?);
        Ok(Scored {
            found,
            leakages: self.sensitives.iter().map(leakage).collect::<Outcome<_>>()?,
            dim: z.fit.ncols(),
            seconds,
        })
    }
}
