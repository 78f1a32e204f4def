//! The comparison in sentences.

use sarl_eval::audit::LEVEL;
use sarl_eval::{Labels, intervals};

use super::Compared;
use super::entry::Entry;
use crate::words::points;

impl Compared {
    /// What to read out of it, what is guaranteed and what is not.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = failed(self);
        match self.target() {
            Some(_) => all.extend(verdict(self)),
            None => all.push("There is no target to probe: the features themselves are kept, so only what leaks is compared.".to_owned()),
        }
        all.extend(self.fairness_sentences());
        let ours = self.entries.iter().filter(|e| e.method.is_ours());
        let retune = ours.filter_map(|e| e.retune).fold(0.0, f64::max);
        all.push(format!(
            "Each of our encoders is fitted once for all leakages; another takes at most {retune:.3} s."
        ));
        all.push(
            "Guaranteed is the linear leakage of ours on the rows that it learnt from: no more than was asked for. Everything else is measured on rows apart, for all methods alike, and another attacker may predict more."
                .to_owned(),
        );
        all
    }

    /// What came of it in one line, and whether no other method is ahead of ours.
    pub fn line(&self) -> Option<(bool, String)> {
        let standing = Standing::new(self)?;
        let less = match standing.beyond.len() {
            0 => String::new(),
            1 => " 1 point leaks less than any of ours.".to_owned(),
            count => format!(" {count} points leak less than any of ours."),
        };
        let best = standing.behind.is_empty() && standing.beyond.is_empty();
        let noise = noise(self).map_or(String::new(), |noise| format!(" {noise}"));
        Some((best, format!("{}{less}{noise}", standing.words())))
    }
}

fn failed(compared: &Compared) -> Vec<String> {
    let one = |e: &Entry| {
        let reason = e.failures.first()?;
        let (title, failed) = (e.title(), e.failures.len());
        Some(format!("{title}: {failed} of {} runs failed and do not count ({reason}).", e.runs))
    };
    compared.entries.iter().filter_map(one).collect()
}

/// Who is ahead of whom where no more leaks.
struct Standing {
    /// Points of other methods.
    rivals: usize,
    /// How many ours keeps more than, and as much as.
    ahead: usize,
    level: usize,
    /// Those that keep more than ours.
    behind: Vec<String>,
    /// Those that leak less than any point of ours.
    beyond: Vec<String>,
}

impl Standing {
    /// Nothing where there is nobody to compare with.
    fn new(compared: &Compared) -> Option<Self> {
        let rivals: Vec<&Entry> = rivals(compared);
        let mut all =
            Self { rivals: rivals.len(), ahead: 0, level: 0, behind: vec![], beyond: vec![] };
        for rival in &rivals {
            match rival.ours_at_no_more(&compared.entries).map(|(_, difference)| points(difference))
            {
                Some(points) if points > 0.0 => all.ahead += 1,
                Some(points) if points < 0.0 => {
                    all.behind.push(format!("{} by {:.1} points", rival.title(), -points));
                }
                Some(_) => all.level += 1,
                None => all.beyond.push(alone(rival, compared)),
            }
        }
        (!rivals.is_empty() && compared.target().is_some()).then_some(all)
    }

    fn words(&self) -> String {
        let Standing { rivals, ahead, level, behind, .. } = self;
        let noun = if *rivals == 1 { "point" } else { "points" };
        if ahead == rivals {
            let all = if *rivals == 1 { "the only" } else { &format!("all {rivals}") };
            return format!(
                "Ours keeps more than {all} {noun} of other methods at the same or lower worst case."
            );
        }
        let level = if *level > 0 { format!(", as much as {level}") } else { String::new() };
        format!(
            "At the same or lower worst case, ours keeps more than {ahead} of {rivals} {noun} of other methods{level} and less than {}{}.",
            behind.len(),
            listed(behind),
        )
    }
}

/// The points of other methods.
fn rivals(compared: &Compared) -> Vec<&Entry> {
    compared.entries.iter().filter(|e| e.method.is_rival() && e.found.is_some()).collect()
}

fn verdict(compared: &Compared) -> Vec<String> {
    let Some(standing) = Standing::new(compared) else { return Vec::new() };
    let ours = compared.entries.iter().filter(|e| e.method.is_ours()).count();
    let mut all = vec![standing.words()];
    if !standing.beyond.is_empty() {
        let leak = if standing.beyond.len() == 1 { "leaks" } else { "leak" };
        let (count, listed) = (standing.beyond.len(), listed(&standing.beyond));
        all.push(format!("{count} {leak} less than any of our {ours} points{listed}."));
    }
    all.extend(noise(compared).map(|noise| {
        format!("{noise} The best of our points was taken each time, which flatters ours a little.")
    }));
    all
}

/// Names in brackets, if there are any.
fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join("; ")),
    }
}

/// A rival that leaks less than any point of ours; a constant does that too.
fn alone(rival: &Entry, compared: &Compared) -> String {
    let target = rival.target().zip(compared.guesses.target);
    match target.is_some_and(|(kept, guess)| points(kept - guess) <= 0.0) {
        true => format!("{}, which predicts no more than guessing", rival.title()),
        false => rival.title(),
    }
}

/// How far these differences can be trusted.
fn noise(compared: &Compared) -> Option<String> {
    let Labels::Classes { codes, .. } = &compared.attributes.all.first()?.test else { return None };
    let most = compared.entries.iter().filter_map(Entry::target).fold(0.0, f64::max);
    let [low, high] = intervals::share(most, codes.len(), LEVEL);
    let good_to = (high - low) / 2.0;
    let rivals = rivals(compared);
    let differences = rivals.iter().filter_map(|e| Some(e.ours_at_no_more(&compared.entries)?.1));
    let beyond = differences.filter(|d| d.abs() > good_to).count();
    let exceed = match beyond {
        0 => "None of these differences exceeds".to_owned(),
        1 => "One of these differences exceeds".to_owned(),
        count => format!("{count} of these differences exceed"),
    };
    Some(format!(
        "{exceed} the ± {:.1}-point noise of {} test rows (95 %).",
        100.0 * good_to,
        codes.len()
    ))
}
