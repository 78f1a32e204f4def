//! What was found, in sentences for a reader in a hurry: the verdict, the strongest attacker.

use sarl_eval::{Baseline, Finding, blind};
use sarl_report::page::{State, Verdict};

use super::audit::Audited;
use crate::words::{attacker, capital, common, figure as points, is_linear, measured};

/// Linear attackers that explain no more than this are counted as seeing nothing.
const HIDDEN: f64 = 0.015;
/// An advantage from here on is bad, not only open.
const LARGE: f64 = 0.1;

/// A share with one digit.
pub fn share(value: f64) -> String {
    format!("{} %", points(value))
}

/// What is known about a position.
pub struct Known<'a> {
    /// What linear attackers explain, on held-out rows where they are known.
    pub leakage: f64,
    /// The name of what is hidden.
    pub hidden: &'a str,
    /// The audit that is nearest to it, and whether it is of this very position.
    pub audit: Option<(&'a Audited<'a>, bool)>,
    /// Whether other positions were audited.
    pub elsewhere: bool,
}

impl Known<'_> {
    /// One line that says the worst.
    pub fn verdict(&self) -> Verdict {
        let hidden = self.leakage <= HIDDEN;
        let linear = match hidden {
            true => "Hidden from linear attackers.".to_owned(),
            false => format!(
                "Linear attackers explain {} of the variation in {}.",
                share(self.leakage),
                self.hidden
            ),
        };
        let worst = self.audit.and_then(|(audit, _)| audit.z.worst());
        let (state, others) = match worst {
            None if self.elsewhere => {
                (State::Open, "This position was not audited: others may predict more.".to_owned())
            }
            None => (
                State::Open,
                "Only linear attackers were looked at: others may predict more.".to_owned(),
            ),
            Some((_, worst)) => self.judged(worst, hidden),
        };
        let place = match self.audit {
            Some((audit, false)) => format!(" (Audited: {}, the nearest.)", audit.what),
            _ => String::new(),
        };
        Verdict { state, text: format!("{linear} {others}{place}") }
    }

    /// What attackers of every kind made of it.
    fn judged(&self, worst: &Finding, hidden: bool) -> (State, String) {
        let advantage = &worst.advantage;
        if !advantage.is_certain() {
            let tried = worst.probes.len();
            let (state, who) = match worst.probes.iter().all(|t| is_linear(&t.probe)) {
                true => (State::Open, "no other attackers were tried".to_owned()),
                false if hidden => {
                    (State::Good, format!("none of {tried} attackers tried clearly beats guessing"))
                }
                false => {
                    (State::Open, format!("none of {tried} attackers tried clearly beats guessing"))
                }
            };
            return (state, format!("{}.", capital(&who)));
        }
        let (who, figure) = figure(worst);
        let predicted = format!("{} predicted {figure}.", worst.attribute);
        let large = advantage.value >= LARGE;
        let state = if large { State::Bad } else { State::Open };
        let text = match (is_linear(&who), hidden, large) {
            (false, true, true) => format!("NOT hidden from non-linear ones: {predicted}"),
            (false, false, true) => format!("Non-linear ones do better: {predicted}"),
            (true, _, true) => format!("NOT hidden in the audit: {predicted}"),
            (_, _, false) => format!("Attackers gain a little: {predicted}"),
        };
        (state, text)
    }
}

/// The figure that shows most, with what guessing has; and whose it is.
fn figure(worst: &Finding) -> (String, String) {
    let best = &worst.best;
    let guess = blind(&worst.baseline);
    let beyond = best.ci[0] > guess && matches!(worst.baseline, Baseline::Class { .. });
    if beyond {
        let right = share(best.score.value());
        return (
            best.probe.clone(),
            format!("right in {right} of rows (guessing: {})", share(guess)),
        );
    }
    let words = match measured(worst) {
        Some((name, value, guess)) => {
            let article = if name == "AUC" { "an" } else { "a" };
            format!("with {article} {name} of {value} (guessing: {guess})")
        }
        None => {
            let trial = worst.trial(&worst.advantage.probe).unwrap_or(best);
            format!("to {} of its variation (guessing: 0 %)", share(trial.score.value()))
        }
    };
    (worst.advantage.probe.clone(), words)
}

/// What the strongest attackers reached, beside guessing.
pub fn strongest(audited: &Audited<'_>) -> Option<String> {
    let (at, worst) = audited.z.worst()?;
    let (name, best) = (&worst.attribute, &worst.best);
    let guess = blind(&worst.baseline);
    let (value, who) = (best.score.value(), attacker(&best.probe));
    let Baseline::Class { .. } = worst.baseline else {
        let clear = if worst.advantage.is_certain() { "" } else { " No clear gain over guessing." };
        return Some(format!(
            "The strongest attacker tried ({who}) explains {} of the variation in {name} (95 %: {} to {}).{clear}",
            share(value),
            share(best.ci[0]),
            share(best.ci[1])
        ));
    };
    let class = common(audited.attributes, at)
        .map_or("the most common class".to_owned(), |class| format!("“{class}”"));
    let gain = match best.ci[0] > guess {
        true => format!("{:.1} points more.", 100.0 * (value - guess)),
        false => "No clear gain.".to_owned(),
    };
    let plain = format!(
        "The strongest attacker tried ({who}) is right about {name} in {} of rows; always guessing {class} gives {}. {gain}",
        share(value),
        share(guess)
    );
    Some(format!("{plain} {}", beyond_accuracy(worst)))
}

/// The largest advantage, by a measure that a rare class cannot hide behind.
fn beyond_accuracy(worst: &Finding) -> String {
    let Some((name, value, guess)) = measured(worst) else { return String::new() };
    let advantage = &worst.advantage;
    let chance = if advantage.is_certain() { "" } else { ", which may be chance" };
    format!(
        "Classes weighed alike: {name} {value} (guessing: {guess}), an advantage of {} ({}){chance}.",
        share(advantage.value),
        attacker(&advantage.probe)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_audit_the_verdict_says_who_was_looked_at() {
        let known = Known { leakage: 0.01, hidden: "sex", audit: None, elsewhere: false };
        let verdict = known.verdict();
        assert_eq!(verdict.state, State::Open);
        assert!(
            verdict.text.starts_with("Hidden from linear attackers. Only linear"),
            "{}",
            verdict.text
        );
        let leaking = Known { leakage: 0.09, ..known }.verdict();
        assert!(leaking.text.starts_with("Linear attackers explain 9.0 %"), "{}", leaking.text);
    }
}
