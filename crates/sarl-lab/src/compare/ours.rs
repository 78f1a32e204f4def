//! Our encoders: one fit of each kind, retuned for each leakage.

use std::time::Instant;

use sarl::{FitParams, Goal, HeldOut, Model};
use sarl_eval::Side;

use super::Beside;
use super::entry::{Entry, Method, Setting};
use crate::comparison::{Comparison, retuned};
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

    /// What came of it at a leakage.
    pub(super) fn entry(
        &self,
        leakage: f64,
        comparison: &Comparison<'_>,
        seeds: &[u64],
        beside: &Beside<'_>,
        watch: &dyn Watch,
    ) -> Result<Entry> {
        watch.check()?;
        let (method, setting) = (self.method, Setting::Leakage(leakage));
        watch.step(&format!("{} at {}: probing", method.title(), setting.words()), 0, 0);
        let start = Instant::now();
        let encoder = retuned(&self.model, Goal::Leakage(leakage))?.encoder();
        let retune = Some(start.elapsed().as_secs_f64());
        let z = comparison.rows.encoded(|x| encoder.encode(x))?;
        let (threads, stop) = (rayon::current_num_threads(), || watch.stop());
        let scored = comparison.score(&z.view(), self.seconds, seeds, threads, &stop)?;
        let entry = Entry::new(method, setting, &[&scored], Vec::new(), beside.guesses);
        let entry = entry.judged(&[&scored], Some(beside.raw), comparison);
        let attributes = comparison.attributes;
        let side = Side::favouring(scored.found, attributes, comparison.favourable);
        let side = Some(side.against(beside.raw, attributes));
        Ok(Entry { retune, side, ..entry })
    }
}
