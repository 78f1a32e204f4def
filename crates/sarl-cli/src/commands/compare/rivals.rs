//! The other methods: which of them, at which weights, with which seeds.

use sarl_rivals::{Error, Rival};

use super::entry::{Entry, Guesses, Method, Setting};
use crate::args::Global;
use crate::failure::{Failure, Outcome};
use crate::inquiry::choose;
use crate::memory::Rows;
use crate::progress;
use crate::ring::{Bout, Ending, Ring, Scored};

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
    pub fn new(names: &[String]) -> Outcome<Self> {
        match names {
            [] => return Ok(Wanted::All),
            [word] if word == "all" => return Ok(Wanted::All),
            [word] if word == "none" => return Ok(Wanted::Named(Vec::new())),
            _ => {}
        }
        if let Some(word) = names.iter().find(|n| *n == "all" || *n == "none") {
            return Err(Failure::usage(format!("--rivals: `{word}` stands alone")));
        }
        Ok(Wanted::Named(choose("rival", &sarl_rivals::all(), |r| r.name(), names)?))
    }

    /// Those that can work on rows with such labels, and those that cannot; that one cannot is an
    /// error if it was named.
    pub fn for_labels(&self, rows: &Rows) -> Outcome<(Vec<&'static dyn Rival>, Vec<LeftOut>)> {
        let (all, named) = match self {
            Wanted::All => (sarl_rivals::all(), false),
            Wanted::Named(rivals) => (rivals.clone(), true),
        };
        let (mut fit, mut left_out) = (Vec::new(), Vec::new());
        for rival in all {
            match rival.accepts(&rows.targets, &rows.sensitives) {
                Ok(()) => fit.push(rival),
                Err(Error::Unfit { reason, .. }) if !named => {
                    left_out.push(LeftOut { rival, reason });
                }
                Err(error) => {
                    return Err(Failure::from(error)
                        .hint(format!("leave {} out of --rivals", rival.name())));
                }
            }
        }
        Ok((fit, left_out))
    }
}

/// One for each rival and weight.
pub fn entries(
    ring: &Ring<'_>,
    rivals: &[&'static dyn Rival],
    hiding: &[f64],
    seeds: &[u64],
    guesses: &Guesses,
    global: &Global,
) -> Outcome<Vec<Entry>> {
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
    let bout = |(rival, setting): (&'static dyn Rival, Setting), seed: u64| {
        let hiding = match setting {
            Setting::Weight(weight) => weight,
            // A method without a weight does not look at it.
            Setting::None | Setting::Leakage(_) => 1.0,
        };
        Bout { rival, hiding, seed }
    };
    let bouts: Vec<Bout> =
        settings.iter().flat_map(|&one| seeds.iter().map(move |&seed| bout(one, seed))).collect();
    let news = |i: usize, ending: &Ending| {
        let (rival, setting) = settings[i / seeds.len()];
        let seed = format!("seed {}", bouts[i].seed);
        announce_run(Method::Rival(rival), setting, &seed, ending, guesses, global);
    };
    let mut endings = ring.run(&bouts, "fitting rivals", global.quiet, &news)?.into_iter();
    let entry = |&(rival, setting): &(&'static dyn Rival, Setting)| {
        let (mut scored, mut failures): (Vec<Scored>, Vec<String>) = (Vec::new(), Vec::new());
        for ending in endings.by_ref().take(seeds.len()) {
            match ending {
                Ending::Scored(one) => scored.push(*one),
                Ending::Failed(reason) => failures.push(reason),
            }
        }
        Entry::new(Method::Rival(rival), setting, &scored, failures, guesses)
    };
    Ok(settings.iter().map(entry).collect())
}

/// Says how one run of a rival ended.
fn announce_run(
    method: Method,
    setting: Setting,
    seed: &str,
    ending: &Ending,
    guesses: &Guesses,
    global: &Global,
) {
    let entry = match ending {
        Ending::Scored(scored) => {
            Entry::new(method, setting, std::slice::from_ref(&**scored), Vec::new(), guesses)
        }
        Ending::Failed(reason) => Entry::new(method, setting, &[], vec![reason.clone()], guesses),
    };
    progress::line(&format!("{} ({seed})", entry.news(guesses)), global.quiet);
}
