//! The comparison in sentences.

use sarl_eval::audit::LEVEL;
use sarl_eval::{Labels, intervals};

use super::entry::Entry;
use super::report::Report;

/// A difference of shares in points, as it is shown: a tenth is the least.
pub fn points(difference: f64) -> f64 {
    // Adding zero turns a rounded -0 into 0.
    (1000.0 * difference).round() / 10.0 + 0.0
}

/// What to read out of it, what is guaranteed and what is not.
pub fn sentences(report: &Report<'_>) -> Vec<String> {
    let mut all = failed(report);
    match report.target() {
        Some(_) => all.extend(verdict(report)),
        None => all.push("There is no target to probe: the features themselves are kept, so only what leaks is compared.".to_owned()),
    }
    let ours = report.entries.iter().filter(|e| e.method.is_ours());
    let retune = ours.filter_map(|e| e.retune).fold(0.0, f64::max);
    all.push(format!(
        "Each of our encoders is fitted once for all leakages; another takes at most {retune:.3} s."
    ));
    all.push(
        "Guaranteed is the linear leakage of ours on the rows that it learnt from: no more than was asked for. Everything else is measured on rows apart, for all methods alike, and another adversary may find more."
            .to_owned(),
    );
    all
}

fn failed(report: &Report<'_>) -> Vec<String> {
    let one = |e: &Entry| {
        let reason = e.failures.first()?;
        let (title, failed) = (e.title(), e.failures.len());
        Some(format!("{title}: {failed} of {} runs failed and do not count ({reason}).", e.runs))
    };
    report.entries.iter().filter_map(one).collect()
}

/// Who is ahead of whom where no more leaks.
fn verdict(report: &Report<'_>) -> Vec<String> {
    let rivals: Vec<&Entry> =
        report.entries.iter().filter(|e| e.method.is_rival() && e.found.is_some()).collect();
    if rivals.is_empty() {
        return Vec::new();
    }
    let (mut ahead, mut level, mut behind, mut beyond) = (0, 0, Vec::new(), Vec::new());
    for rival in &rivals {
        match rival.ours_at_no_more(&report.entries).map(|(_, difference)| points(difference)) {
            Some(points) if points > 0.0 => ahead += 1,
            Some(points) if points < 0.0 => {
                behind.push(format!("{} by {:.1} points", rival.title(), -points));
            }
            Some(_) => level += 1,
            None => beyond.push(alone(rival, report)),
        }
    }
    let level = if level > 0 { format!(", as much as {level}") } else { String::new() };
    let ours = report.entries.iter().filter(|e| e.method.is_ours()).count();
    let mut all = vec![format!(
        "Against {} point{} of other methods, at a worst case no higher than theirs, ours keeps more than {ahead}{level} and less than {}{}.",
        rivals.len(),
        if rivals.len() == 1 { "" } else { "s" },
        behind.len(),
        listed(&behind),
    )];
    if !beyond.is_empty() {
        let leak = if beyond.len() == 1 { "leaks" } else { "leak" };
        let (count, listed) = (beyond.len(), listed(&beyond));
        all.push(format!("{count} {leak} less than any of our {ours} points{listed}."));
    }
    all.extend(noise(report, &rivals));
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
fn alone(rival: &Entry, report: &Report<'_>) -> String {
    let target = rival.target().zip(report.guesses.target);
    match target.is_some_and(|(told, guess)| points(told - guess) <= 0.0) {
        true => format!("{}, which tells no more than guessing", rival.title()),
        false => rival.title(),
    }
}

/// How far these differences can be trusted.
fn noise(report: &Report<'_>, rivals: &[&Entry]) -> Option<String> {
    let Labels::Classes { codes, .. } = &report.attributes.all.first()?.test else { return None };
    let told = report.entries.iter().filter_map(Entry::target).fold(0.0, f64::max);
    let [low, high] = intervals::share(told, codes.len(), LEVEL);
    let good_to = (high - low) / 2.0;
    let differences = rivals.iter().filter_map(|e| Some(e.ours_at_no_more(&report.entries)?.1));
    let beyond = differences.filter(|d| d.abs() > good_to).count();
    Some(format!(
        "An accuracy on {} rows is good to ± {:.1} points (95 %): {beyond} of these differences {} larger. The best of our points was taken each time, which flatters ours a little.",
        codes.len(),
        100.0 * good_to,
        if beyond == 1 { "is" } else { "are" },
    ))
}
