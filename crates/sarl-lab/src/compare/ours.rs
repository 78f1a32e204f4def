//! Our encoders: one fit of each kind, retuned for each leakage.

use std::time::Instant;

use sarl::{FitParams, Goal, HeldOut, Model};
use sarl_eval::{Attributes, Side};

use super::entry::{Entry, Guesses, Method, Setting};
use crate::comparison::{Comparison, Scored, leakages, retuned};
use crate::error::Result;
use crate::rows::Rows;
use crate::watch::Watch;

/// An encoder of full utility, from which every other trade-off is reached.
pub struct Ours {
    /// Its kind.
    pub method: Method,
    /// The encoder.
    pub model: Model,
    /// Its folds.
    pub folds: Option<HeldOut>,
    seconds: f64,
}

impl Ours {
    pub(super) fn fit(
        method: Method,
        params: &FitParams,
        rows: &Rows,
        watch: &dyn Watch,
    ) -> Result<Self> {
        watch.check()?;
        watch.step(&format!("{}: fitting", method.title()), 0, 0);
        let start = Instant::now();
        let fitted = rows.fit(params, &|| watch.stop())?;
        let (model, folds) = (fitted.solve(Goal::Lambda(0.0))?, fitted.heldout_if_any()?);
        Ok(Ours { method, model, folds, seconds: start.elapsed().as_secs_f64() })
    }

    /// What it is, in a line.
    pub(super) fn words(&self) -> String {
        let ridge = match self.model.reduced().ridge() {
            0.0 => "no ridge".to_owned(),
            ridge => format!("ridge {ridge:.1e}"),
        };
        format!("{}: {}, {ridge}", self.method.title(), self.model.map_name())
    }

    /// The leakages that it is asked for.
    pub(super) fn leakages(&self, given: &[f64]) -> Vec<f64> {
        leakages(&self.model, given)
    }

    /// What attackers predict from it at a leakage, and seconds from the fit to there.
    pub(super) fn at(
        &self,
        leakage: f64,
        comparison: &Comparison<'_>,
        seeds: &[u64],
        watch: &dyn Watch,
    ) -> Result<(Scored, f64)> {
        watch.check()?;
        let setting = Setting::Leakage(leakage).words();
        watch.step(&format!("{} at {setting}: probing", self.method.title()), 0, 0);
        let start = Instant::now();
        let encoder = retuned(&self.model, Goal::Leakage(leakage))?.encoder();
        let retune = start.elapsed().as_secs_f64();
        let z = comparison.rows.encoded(|x| encoder.encode(x))?;
        let threads = rayon::current_num_threads();
        let stop = || watch.stop();
        Ok((comparison.score(&z.view(), self.seconds, seeds, threads, &stop)?, retune))
    }

    pub(super) fn entry(
        &self,
        leakage: f64,
        (scored, retune): (Scored, f64),
        guesses: &Guesses,
        attributes: &Attributes,
    ) -> Entry {
        let setting = Setting::Leakage(leakage);
        let entry = Entry::new(self.method, setting, &[&scored], Vec::new(), guesses);
        let side = Some(Side::new(scored.found, attributes));
        Entry { retune: Some(retune), side, ..entry }
    }
}
