//! Our encoders and other methods on the same rows, with one audit for all.

mod entry;
mod fair;
mod figure;
mod ours;
mod page;
mod rivals;
mod table;
mod words;

use sarl::{Criterion, FitParams};
use sarl_eval::{Attributes, Labels, Probe, Side};

pub use self::entry::Method;
use self::entry::{Entry, Found, Guesses, Setting};
pub use self::figure::NAME as CHART;
pub use self::ours::Ours;
pub use self::page::PageOf;
pub use self::rivals::Wanted;
use self::rivals::{LeftOut, rival_entries};
use crate::comparison::{Comparison, Probing, Scored, leakages};
use crate::error::Result;
use crate::parts::Parts;
use crate::watch::Watch;

/// What is compared.
pub struct Plan {
    /// Our encoders, and how each is fitted.
    pub encoders: Vec<(Method, FitParams)>,
    /// The leakages to ask of them; some from none to all where there are none.
    pub leakages: Vec<f64>,
    /// The other methods.
    pub rivals: Wanted,
    /// The weights of hiding to try with each of them; its own where there are none.
    pub hiding: Vec<f64>,
    /// Who attacks.
    pub probes: Vec<&'static dyn Probe>,
    /// The seeds of everything that has randomness.
    pub seeds: Vec<u64>,
}

/// Everything that was found out.
pub struct Compared {
    /// The rows.
    pub parts: Parts,
    /// What was predicted.
    pub attributes: Attributes,
    /// Our encoders.
    pub ours: Vec<Ours>,
    seeds: Vec<u64>,
    probes: Vec<&'static dyn Probe>,
    guesses: Guesses,
    /// The raw features, ours, the others.
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
}

impl Plan {
    /// Fits all encoders on the rows of the encoder, which are scaled already, and attacks them.
    ///
    /// # Errors
    ///
    /// A fit of ours that fails, a method that was named and cannot hide such labels, or an
    /// interruption. Another method that fails is a result.
    pub fn run(&self, mut parts: Parts, watch: &dyn Watch) -> Result<Compared> {
        let criterion = self.encoders.first().map(|(_, params)| params.criterion);
        parts.favourable = criterion.and_then(Criterion::favourable);
        let rows = parts.fitted()?;
        for (_, params) in &self.encoders {
            params.check_rows(rows.len() as u64)?;
        }
        let (rivals, left_out) = self.rivals.for_labels(rows)?;
        let attributes = parts.attributes();
        let comparison = parts.comparison(&attributes, Probing::both(&self.probes))?;
        let raw = self.control(&comparison, watch)?;
        let guesses = Guesses::new(&raw.found, attributes.targets);
        let entry = Entry::new(Method::Raw, Setting::None, &[&raw], Vec::new(), &guesses);
        watch.line(&entry.news());
        let entry = entry.judged(&[&raw], None, &comparison);
        let control = Side::favouring(raw.found, &attributes, parts.favourable);
        let entry = Entry { side: Some(control.clone()), ..entry };
        let (mut entries, mut ours) = (vec![entry], Vec::new());
        let beside = Beside { guesses: &guesses, raw: &control };
        for (method, params) in &self.encoders {
            let fitted = Ours::fit(*method, params, rows, watch)?;
            for leakage in leakages(&fitted.model, &self.leakages) {
                let entry = fitted.entry(leakage, &comparison, &self.seeds, &beside, watch)?;
                watch.line(&entry.news());
                entries.push(entry);
            }
            ours.push(fitted);
        }
        let (hiding, seeds) = (&self.hiding, &self.seeds);
        entries.extend(rival_entries(&comparison, &rivals, hiding, seeds, &beside, watch)?);
        watch.check()?;
        let (seeds, probes) = (self.seeds.clone(), self.probes.clone());
        Ok(Compared { parts, attributes, ours, seeds, probes, guesses, entries, left_out })
    }

    /// What attackers predict from the raw features.
    fn control(&self, comparison: &Comparison<'_>, watch: &dyn Watch) -> Result<Scored> {
        watch.check()?;
        watch.step("raw features: trying attackers", 0, 0);
        let threads = rayon::current_num_threads();
        comparison.score(&comparison.rows, 0.0, &self.seeds, threads, &|| watch.stop())
    }
}

/// What each encoder is seen beside: guessing, and the raw features.
struct Beside<'a> {
    guesses: &'a Guesses,
    raw: &'a Side,
}

impl Compared {
    /// The name of the first target.
    fn target(&self) -> Option<&str> {
        let targets = &self.attributes.all[..self.attributes.targets];
        targets.first().map(|a| a.name.as_str())
    }

    /// What an attacker is scored by.
    fn score_of(&self, attribute: usize) -> &'static str {
        match self.attributes.all.get(attribute).map(|a| &a.test) {
            Some(Labels::Numbers(_)) => "R²",
            _ => "accuracy",
        }
    }

    /// The worst case as figures show it: with several attributes, beyond guessing.
    fn worst_place(&self, found: &Found) -> f64 {
        match self.guesses.sensitives.len() {
            1 => found.worst.best.score.mean,
            _ => found.worst.beyond,
        }
    }

    /// What our encoders are, a line for each.
    pub fn kinds(&self) -> impl Iterator<Item = String> {
        self.ours.iter().map(Ours::words)
    }

    /// The methods that have no answer for such labels, in sentences.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        let said = |l: &LeftOut| format!("{} is left out: it {}.", l.rival.title(), l.reason);
        self.left_out.iter().map(said)
    }
}
