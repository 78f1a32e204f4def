//! The other methods: which of them, at which weights, with which seeds.

use sarl_rivals::{Error as RivalError, Rival};

use super::Beside;
use super::entry::{Entry, Guesses, Method, Setting};
use crate::comparison::{Comparison, Run, RunOutcome, Scored};
use crate::error::{Error, Result};
use crate::parts::choose;
use crate::rows::Rows;
use crate::watch::Watch;

/// Who was asked for.
pub enum Wanted {
    /// All that can work on such data.
    All,
    /// These.
    Named(Vec<&'static dyn Rival>),
}

/// A method that has no answer for these labels.
pub struct LeftOut {
    pub rival: &'static dyn Rival,
    pub reason: &'static str,
}

impl Wanted {
    /// By name; `all` (which nothing stands for too) or `none` alone.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] or [`Error::StandsAlone`].
    pub fn new(names: &[String]) -> Result<Self> {
        match names {
            [] => return Ok(Wanted::All),
            [word] if word == "all" => return Ok(Wanted::All),
            [word] if word == "none" => return Ok(Wanted::Named(Vec::new())),
            _ => {}
        }
        if let Some(word) = names.iter().find(|n| *n == "all" || *n == "none") {
            return Err(Error::StandsAlone { word: word.clone() });
        }
        Ok(Wanted::Named(choose("rival", &sarl_rivals::all(), |r| r.name(), names)?))
    }

    /// Those that can work on rows with such labels, and those that cannot; that one cannot is an
    /// error if it was named.
    pub(super) fn for_labels(
        &self,
        rows: &Rows,
    ) -> Result<(Vec<&'static dyn Rival>, Vec<LeftOut>)> {
        let (all, named) = match self {
            Wanted::All => (sarl_rivals::all(), false),
            Wanted::Named(rivals) => (rivals.clone(), true),
        };
        let (mut fit, mut left_out) = (Vec::new(), Vec::new());
        for rival in all {
            match rival.accepts(&rows.targets, &rows.sensitives) {
                Ok(()) => fit.push(rival),
                Err(RivalError::Unfit { reason, .. }) if !named => {
                    left_out.push(LeftOut { rival, reason });
                }
                Err(error) => return Err(Error::Unfit { name: rival.name(), error }),
            }
        }
        Ok((fit, left_out))
    }
}

/// One for each rival and weight.
pub(super) fn rival_entries(
    comparison: &Comparison<'_>,
    rivals: &[&'static dyn Rival],
    hiding: &[f64],
    seeds: &[u64],
    beside: &Beside<'_>,
    watch: &dyn Watch,
) -> Result<Vec<Entry>> {
    let mut weights = hiding.to_vec();
    weights.sort_by(f64::total_cmp);
    weights.dedup();
    let mut settings = Vec::new();
    for &rival in rivals {
        match (rival.hiding(), &weights[..]) {
            (None, _) => settings.push((rival, Setting::None)),
            (Some(own), []) => settings.push((rival, Setting::Weight(own))),
            (_, given) => settings.extend(given.iter().map(|&w| (rival, Setting::Weight(w)))),
        }
    }
    let run = |(rival, setting): (&'static dyn Rival, Setting), seed: u64| {
        let hiding = match setting {
            Setting::Weight(weight) => weight,
            // A method without a weight does not look at it.
            Setting::None | Setting::Leakage(_) => 1.0,
        };
        Run { rival, hiding, seed }
    };
    let runs: Vec<Run> =
        settings.iter().flat_map(|&one| seeds.iter().map(move |&seed| run(one, seed))).collect();
    let ended = |i: usize, outcome: &RunOutcome| {
        let news = entry(settings[i / seeds.len()], std::slice::from_ref(outcome), beside.guesses)
            .0
            .news();
        watch.line(&format!("{news} (seed {})", runs[i].seed));
    };
    let outcomes = comparison.run(&runs, "fitting rivals", watch, &ended)?;
    let each = settings.iter().zip(outcomes.chunks(seeds.len().max(1)));
    let judged = |(&one, outcomes): (_, &[RunOutcome])| {
        let (entry, scored) = entry(one, outcomes, beside.guesses);
        entry.judged(&scored, Some(beside.raw), comparison)
    };
    Ok(each.map(judged).collect())
}

/// What came of a rival at a setting, and of each run that did not fail.
fn entry<'o>(
    (rival, setting): (&'static dyn Rival, Setting),
    outcomes: &'o [RunOutcome],
    guesses: &Guesses,
) -> (Entry, Vec<&'o Scored>) {
    let (mut scored, mut failures): (Vec<&Scored>, Vec<String>) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            RunOutcome::Scored(one) => scored.push(one),
            RunOutcome::Failed(reason) => failures.push(reason.clone()),
        }
    }
    let entry = Entry::new(Method::Rival(rival), setting, &scored, failures, guesses);
    (entry, scored)
}
