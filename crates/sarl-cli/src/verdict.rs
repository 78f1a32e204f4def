//! The result in plain sentences: what an encoder keeps and hides, and what attackers made of it.

use sarl::{HeldOutLosses, Label, LabelKind, Model, Role};
use sarl_eval::{Attributes, Baseline, Finding, Side, blind};
use sarl_lab::words::{attacker, common, figure, is_linear, measured};
use sarl_lab::{AuditCurve, criterion, plain};

use crate::sheet::{Sheet, Step};
use crate::terminal::{Tone, emphasis, wrap};

/// What is said of a leakage that is below nothing.
pub const NONE: &str = "none measurable";

/// An advantage from here on is no small one.
const LARGE: f64 = 0.1;

/// Names that are listed one by one.
const LISTED: usize = 4;

/// Whether a leakage on new rows is more than nothing: an attacker that only guesses worse has none.
pub fn measurable(leakage: f64) -> bool {
    leakage > -5e-5
}

/// A leakage on new rows.
pub fn leakage(share: f64) -> String {
    match measurable(share) {
        true => crate::output::percent(share),
        false => NONE.to_owned(),
    }
}

/// A share with one digit.
pub fn share(value: f64) -> String {
    match value {
        v if v <= 0.0 => "nothing measurable".to_owned(),
        v if v < 5e-4 => "less than 0.1 %".to_owned(),
        v => format!("{:.1} %", 100.0 * v),
    }
}

/// What an encoder keeps, and what linear attackers explain of what it hides.
pub fn of_model(model: &Model, heldout: Option<&HeldOutLosses>) -> String {
    let of = |role: Role| model.labels().iter().filter(move |l| l.role == role);
    let (kept, least) = named(&of(Role::Target).collect::<Vec<_>>(), "at least ");
    let (hidden, most) = named(&of(Role::Sensitive).collect::<Vec<_>>(), "at most ");
    let encoder = if model.is_linear() { "a linear encoder" } else { "a kernel encoder" };
    let figures = |new: Option<f64>, old: f64, word: &str| match new {
        Some(new) => {
            let word = if new > 0.0 { word } else { "" };
            let old = format!("(new rows; {} on the training rows)", share(old));
            (format!("{word}{}", share(new)), old)
        }
        None => (format!("{word}{}", share(old)), "(training rows)".to_owned()),
    };
    let point = model.point();
    let (utility, kept_on) = figures(heldout.map(|h| h.utility), point.utility, least);
    let (leakage, hidden_on) = figures(heldout.map(|h| h.leakage), point.leakage, most);
    let judged = criterion::judged(model);
    let among = judged.as_ref().map_or("", |judged| &judged.among);
    let allowed = judged.as_ref().map_or_else(String::new, |j| format!("\n{}", j.allowed));
    format!(
        "Keeps {utility} of what {encoder} of these columns can carry of {kept} {kept_on}.\n\
         The best linear attacker explains {leakage} of the variation in {hidden}{among} {hidden_on}.{allowed}"
    )
}

/// Labels by their names; with several, a word that says that the figure is a limit.
fn named<'w>(labels: &[&Label], word: &'w str) -> (String, &'w str) {
    let name = |label: &Label| match label.kind {
        LabelKind::Features => "the features".to_owned(),
        _ => plain(&label.name).into_owned(),
    };
    let names: Vec<String> = labels.iter().map(|l| name(l)).collect();
    match &names[..] {
        [one] => (one.clone(), ""),
        all if all.len() > LISTED => (format!("each of {} labels", all.len()), word),
        all => (format!("each of {}", all.join(", ")), word),
    }
}

/// What attackers of every kind made of an encoder.
pub struct Verdict {
    /// The first words.
    lead: &'static str,
    tone: Tone,
    text: String,
}

impl Verdict {
    /// With another sentence.
    pub fn and(mut self, sentence: &str) -> Self {
        self.text += &format!(" {sentence}");
        self
    }

    /// For the terminal.
    pub fn shown(&self) -> String {
        let text = wrap(&format!("{} {}", self.lead, self.text));
        match text.strip_prefix(self.lead) {
            Some(rest) => format!("{}{rest}", emphasis(self.lead, self.tone)),
            None => text,
        }
    }
}

/// Whether these attackers are all linear.
fn all_linear(worst: &Finding) -> bool {
    worst.probes.iter().all(|t| is_linear(&t.probe))
}

/// The same of the encoder nearest to a leakage.
pub fn of_curve(curve: &AuditCurve, leakage: f64) -> Option<Verdict> {
    let (_, z) = curve.nearest(leakage)?;
    of_audit(z, curve.control.as_ref(), &curve.attributes)
}

/// The strongest attacker on z, by its advantage over guessing; beside it the raw features, if
/// they were tried.
pub fn of_audit(z: &Side, raw: Option<&Side>, attributes: &Attributes) -> Option<Verdict> {
    let (at, worst) = z.worst()?;
    let verdict = judged(at, worst, raw, attributes);
    Some(match all_linear(worst) {
        true => verdict.and("Only linear attackers were tried."),
        false => verdict,
    })
}

fn judged(at: usize, worst: &Finding, raw: Option<&Side>, attributes: &Attributes) -> Verdict {
    let advantage = &worst.advantage;
    let (lead, tone) = match (advantage.is_certain(), advantage.value >= LARGE) {
        (true, true) => ("NOT hidden:", Tone::Bad),
        (true, false) => ("A small gain:", Tone::Bad),
        (false, _) => ("No clear gain:", Tone::Good),
    };
    let interval = format!("{} to {} %", figure(advantage.ci[0]), figure(advantage.ci[1]));
    let name = plain(&worst.attribute);
    let Baseline::Class { .. } = worst.baseline else {
        let text = format!(
            "the strongest attacker tried ({}) explains {} of the variation in {name} (95 % \
             interval: {interval}); guessing explains nothing.{}",
            attacker(&advantage.probe),
            share(advantage.value),
            beside(raw, at, "they explain"),
        );
        return Verdict { lead, tone, text };
    };
    let best = &worst.best;
    let text = format!(
        "the strongest attacker tried ({}) has an advantage of {} % over guessing {name} (95 % \
         interval: {interval}){}. In plain accuracy {} is right about {name} in {} of rows; always \
         guessing {} gives {}.{}",
        attacker(&advantage.probe),
        figure(advantage.value),
        measured(worst).map_or(String::new(), |(name, value, guess)| format!(
            ": {name} {value}, guessing has {guess}"
        )),
        match best.probe == advantage.probe {
            true => "it".to_owned(),
            false => format!("the best ({})", attacker(&best.probe)),
        },
        share(best.score.value()),
        common(attributes, at)
            .map_or("the most common class".to_owned(), |class| format!("\"{}\"", plain(class))),
        share(blind(&worst.baseline)),
        beside(raw, at, "the advantage is"),
    );
    Verdict { lead, tone, text }
}

/// The same from the raw features.
fn beside(raw: Option<&Side>, at: usize, words: &str) -> String {
    match raw.and_then(|side| side.sensitives.get(at)) {
        Some(raw) => format!(" On the raw features {words} {} %.", figure(raw.advantage.value)),
        None => String::new(),
    }
}

/// The strongest attacker on each of several encoders, by their leakage on the training rows.
pub fn along(levels: &[(f64, Side)]) -> String {
    let row = |(leakage, side): &(f64, Side)| {
        let (_, worst) = side.worst()?;
        let advantage = &worst.advantage;
        Some(vec![
            crate::output::percent(*leakage),
            attacker(&advantage.probe),
            worst.attribute.clone(),
            format!("{} %", figure(advantage.value)),
            format!("{} to {} %", figure(advantage.ci[0]), figure(advantage.ci[1])),
            if advantage.is_certain() { "clear" } else { "may be chance" }.to_owned(),
        ])
    };
    let header =
        ["leakage", "strongest attacker", "predicts", "advantage", "95 % interval", "gain"];
    let rows = levels.iter().filter_map(row).collect();
    let sheet = Sheet::new(&header, rows, |i| i == 0 || i == 3 || i == 4);
    sheet.text(&[Step::Drop(&["predicts"]), Step::Stack, Step::Drop(&["gain"])])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_nothing_is_nothing() {
        assert_eq!(share(-0.02), "nothing measurable");
        assert_eq!(leakage(-0.02), NONE);
        assert_eq!(leakage(-1e-17), "0.00 %");
        assert_eq!(share(1e-5), "less than 0.1 %");
    }
}
