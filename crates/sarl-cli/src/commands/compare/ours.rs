//! Our encoders: one fit of each kind, retuned for each leakage.

use std::time::Instant;

use sarl::{FitParams, Goal, HeldOut, Model};
use sarl_eval::{Attributes, Side};

use super::entry::{Entry, Guesses, Method, Setting};
use crate::args::{Approximation, EncoderOptions, Global, KernelName, NumberOrAuto, ScalePolicy};
use crate::encoding::params;
use crate::failure::{Failure, Outcome};
use crate::memory::Rows;
use crate::progress::{self, Spinner};
use crate::ring::{self, Ring};

/// A linear encoder and one with a kernel, and how each is fitted.
pub fn encoders(given: &EncoderOptions) -> Outcome<[(Method, FitParams); 2]> {
    let linear = EncoderOptions {
        kernel: KernelName::Linear,
        approx: Approximation::default(),
        ..given.clone()
    };
    let kernel = match given.kernel {
        KernelName::Linear => {
            let ridge = Some(NumberOrAuto::Auto);
            EncoderOptions { kernel: KernelName::Rbf, ridge, ..given.clone() }
        }
        _ => given.clone(),
    };
    for options in [&linear, &kernel] {
        if options.ridge == Some(NumberOrAuto::Auto) && options.folds < 2 {
            return Err(Failure::usage("--folds is 1: --ridge auto needs held-out losses")
                .hint("give --folds 2 or more, or both --kernel and a --ridge"));
        }
    }
    let params = |options: &EncoderOptions| params(options, ScalePolicy::None);
    Ok([(Method::Linear, params(&linear)?), (Method::Kernel, params(&kernel)?)])
}

/// An encoder of full utility, from which every other trade-off is reached.
pub struct Fitted {
    pub method: Method,
    pub model: Model,
    pub folds: Option<HeldOut>,
    seconds: f64,
}

impl Fitted {
    pub fn new(method: Method, params: &FitParams, rows: &Rows, global: &Global) -> Outcome<Self> {
        progress::check()?;
        let _spinner = Spinner::shown(format!("{}: fitting", method.title()), global.quiet);
        let start = Instant::now();
        let fitted = rows.fit(params)?;
        let (model, folds) = (fitted.solve(Goal::Lambda(0.0))?, fitted.heldout_if_any()?);
        Ok(Fitted { method, model, folds, seconds: start.elapsed().as_secs_f64() })
    }

    /// What it is, in a line.
    pub fn words(&self) -> String {
        let ridge = match self.model.reduced().ridge() {
            0.0 => "no ridge".to_owned(),
            ridge => format!("ridge {ridge:.1e}"),
        };
        format!("{}: {}, {ridge}", self.method.title(), self.model.map_name())
    }

    /// One for each leakage.
    pub fn entries(
        &self,
        ring: &Ring<'_>,
        leakages: &[f64],
        seeds: &[u64],
        guesses: &Guesses,
        attributes: &Attributes,
        global: &Global,
    ) -> Outcome<Vec<Entry>> {
        let entry = |leakage: f64| {
            progress::check()?;
            let setting = Setting::Leakage(leakage);
            let what = format!("{} at {}: probing", self.method.title(), setting.words());
            let spinner = Spinner::shown(what, global.quiet);
            let start = Instant::now();
            let encoder = match leakage >= self.model.point().leakage {
                true => self.model.encoder(),
                false => self.model.retune(Goal::Leakage(leakage))?.encoder(),
            };
            let retune = start.elapsed().as_secs_f64();
            let z = ring.encoded(|x| Ok(encoder.encode(x)?))?;
            let threads = rayon::current_num_threads();
            let scored = ring.score(&z, self.seconds, seeds, threads, &progress::interrupted)?;
            let one = std::slice::from_ref(&scored);
            let entry = Entry::new(self.method, setting, one, Vec::new(), guesses);
            let side = Some(Side::new(scored.found, attributes));
            drop(spinner);
            super::announce(&entry, guesses, global);
            Ok(Entry { retune: Some(retune), side, ..entry })
        };
        ring::leakages(&self.model, leakages).into_iter().map(entry).collect()
    }
}
