//! Encoders in one ring: fitted on the same rows, asked by the same probes.

use std::time::Instant;

use faer::{Mat, MatRef};
use sarl::Model;
use sarl_eval::{Attribute, Finding, Labels, Options, Probe, View, explained, on_threads};
use sarl_rivals::{Data, Error, Fitting, Rival};

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

/// The rows that all learn from and those that all are tested on.
pub struct Ring<'a> {
    pub train: MatRef<'a, f64>,
    pub test: MatRef<'a, f64>,
    /// What is told of z: targets first, then what is hidden.
    pub attributes: &'a [Attribute<'a>],
    /// The same of the rows to learn from.
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

/// Both sides in some representation.
pub struct Encoded {
    pub train: Mat<f64>,
    pub test: Mat<f64>,
}

/// What came of an encoder.
pub struct Scored {
    /// For each attribute.
    pub found: Vec<Finding>,
    /// For each sensitive attribute, the share of its variance among the training rows that least
    /// squares on z explain.
    pub leakages: Vec<f64>,
    pub dim: usize,
    /// Seconds that the fit took.
    pub seconds: f64,
}

/// How a bout ended.
pub enum Ending {
    Scored(Box<Scored>),
    /// The training failed: there is no encoder.
    Diverged,
}

impl Ring<'_> {
    /// Fits and audits, as many at a time as there are threads.
    pub fn run(&self, bouts: &[Bout], what: &'static str, quiet: bool) -> Outcome<Vec<Ending>> {
        let count = Count::new(what, quiet);
        count.at(0, bouts.len());
        let work = |i: usize, failed: &(dyn Fn() -> bool + Sync)| self.bout(&bouts[i], failed);
        let is_reason = |f: &Failure| f.exit != Exit::Interrupted;
        let done = |done, all| count.at(done, all);
        on_threads(bouts.len(), rayon::current_num_threads(), work, is_reason, &done)
    }

    fn bout(&self, bout: &Bout, failed: &(dyn Fn() -> bool + Sync)) -> Outcome<Ending> {
        let stop = || failed() || progress::interrupted();
        let data = Data { x: self.train, targets: self.targets, sensitives: self.sensitives };
        let how = Fitting { hiding: bout.hiding, seed: bout.seed, stop: &stop };
        let start = Instant::now();
        let encoder = match bout.rival.fit(&data, &how) {
            Err(Error::Diverged { .. } | Error::Failed { .. }) => return Ok(Ending::Diverged),
            encoder => encoder?,
        };
        let seconds = start.elapsed().as_secs_f64();
        let z = Encoded { train: encoder.encode(self.train)?, test: encoder.encode(self.test)? };
        let scored = self.score(&z, seconds, &[bout.seed], 1, &stop)?;
        Ok(Ending::Scored(Box::new(scored)))
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
        let views = [View { train: z.train.as_ref(), test: z.test.as_ref() }];
        let (kept, hidden) = self.attributes.split_at(self.targets.len());
        let mut found = Vec::new();
        for (attributes, probes) in [(kept, self.probes.targets), (hidden, self.probes.sensitives)]
        {
            let options = Options { probes, seeds, threads, stop, progress: &|_, _| () };
            found.extend(sarl_eval::audit(&views, attributes, &options)?.into_iter().flatten());
        }
        let leakage = |s: &Labels| Ok(explained(z.train.as_ref(), s)?);
        Ok(Scored {
            found,
            leakages: self.sensitives.iter().map(leakage).collect::<Outcome<_>>()?,
            dim: z.train.ncols(),
            seconds,
        })
    }
}
