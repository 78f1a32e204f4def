//! The report in plain language.

use sarl::{LabelKind, Role};
use sarl_report::page::{HeldOut, Note, NoteKind, Words};

use super::subject::Subject;
use crate::criterion::judged;
use crate::words::count;

/// What positions say of audits and of held-out rows, by name.
pub const AUDIT: &str = "audit";
pub const FAIRNESS: &str = "fairness";
pub const KEPT_WARNING: &str = "kept_warning";
pub const LEAK_WARNING: &str = "leak_warning";

impl Subject<'_> {
    /// Kept, hidden, guaranteed, not guaranteed.
    pub(super) fn summary(&self) -> Vec<Note> {
        vec![self.keeps(), self.hides(), self.guaranteed(), self.not_guaranteed()]
    }

    fn keeps(&self) -> Note {
        let such = if self.model.is_linear() { "a linear encoder" } else { "such an encoder" };
        let of = match self.several(Role::Target) {
            true => format!("each of {}, at least,", self.kept),
            false => self.kept.clone(),
        };
        let mut text: Vec<Words> = vec![
            "Keeps ".into(),
            Words::Live("keeps"),
            format!(" of the information on {of} that {such} of these columns can carry").into(),
        ];
        text.extend(self.training("utility"));
        text.extend([
            ". z has ".into(),
            Words::Live("dimensions"),
            ". ".into(),
            Words::Live(KEPT_WARNING),
        ]);
        note(NoteKind::Kept, "What is kept", text)
    }

    fn hides(&self) -> Note {
        let of = match self.several(Role::Sensitive) {
            true => format!("each of {}{}, at most", self.hidden, self.among()),
            false => format!("{}{}", self.hidden, self.among()),
        };
        let mut text: Vec<Words> = vec![
            "From the encoded data (z), the best linear attacker explains ".into(),
            Words::Live("leaks"),
            format!(" of the variation in {of}").into(),
        ];
        text.extend(self.training("leakage"));
        text.extend([". ".into(), Words::Live(LEAK_WARNING)]);
        note(NoteKind::Hidden, "What is hidden", text)
    }

    /// On which rows a figure is, with that of the training rows second.
    fn training(&self, field: &'static str) -> Vec<Words> {
        match self.heldout.is_some() {
            true => {
                vec![" (held-out rows; ".into(), Words::Live(field), " on training rows)".into()]
            }
            false => vec![" (training rows; held-out rows were not measured)".into()],
        }
    }

    fn guaranteed(&self) -> Note {
        let rows = count(self.model.reduced().rows());
        let text = vec![
            format!("On the {rows} training rows no linear attacker explains more than ").into(),
            Words::Live("leakage"),
            self.among().into(),
            match self.hides_classes() {
                true => ", and at no leakage none beats a constant under any convex loss. ".into(),
                false => ". ".into(),
            },
            "No other such encoder keeps more at this leakage, up to a gap of ".into(),
            Words::Live("gap"),
            match self.model.reduced().ridge() > 0.0 {
                true => ", the price of the ridge on these rows.".into(),
                false => ".".into(),
            },
        ];
        note(NoteKind::Guaranteed, "What is guaranteed", text)
    }

    fn several(&self, role: Role) -> bool {
        self.model.labels().iter().filter(|l| l.role == role).count() > 1
    }

    /// Of a number without covariance only the squared loss is known.
    fn hides_classes(&self) -> bool {
        let mut hidden = self.model.labels().iter().filter(|l| l.role == Role::Sensitive);
        judged(self.model).is_none() && hidden.all(|l| matches!(l.kind, LabelKind::Class { .. }))
    }

    /// What the figures are about, where it is not all of an attribute.
    fn among(&self) -> String {
        judged(self.model).map_or_else(String::new, |judged| judged.among)
    }

    fn not_guaranteed(&self) -> Note {
        let columns = self.inputs.map_or(&[][..], |i| i.columns.as_slice());
        let example = columns.iter().find(|c| c.categories > 0 && !c.sensitive);
        let example = match example {
            Some(column) => format!("{}, for example, is not", column.name),
            None => "no other column is".to_owned(),
        };
        let allowed = judged(self.model).map_or_else(String::new, |j| format!(" {}", j.allowed));
        let text = vec![
            Words::Live(AUDIT),
            " ".into(),
            Words::Live(FAIRNESS),
            allowed.into(),
            format!(" Only {} is hidden; {example}.", self.hidden).into(),
        ];
        note(NoteKind::NotGuaranteed, "What is not guaranteed", text)
    }
}

/// What is said where training rows flatter by more than the spread of the held-out figures.
pub fn gaps(utility: f64, leakage: f64, heldout: Option<&HeldOut>) -> [(&'static str, String); 2] {
    let kept = heldout.is_some_and(|h| h.utility < utility - h.utility_sd);
    let leaked = heldout.is_some_and(|h| h.leakage.max(0.0) > leakage + h.leakage_sd);
    let say = |yes: bool, words: &str| if yes { words.to_owned() } else { String::new() };
    [
        (KEPT_WARNING, say(kept, "Beware: training rows flatter by more than the spread.")),
        (LEAK_WARNING, say(leaked, "Beware: held-out rows leak more, by more than the spread.")),
    ]
}

/// What is said of attackers where there was no audit; how to get one.
pub fn unaudited(advice: &str) -> String {
    format!("Attackers that are not linear may predict more. {advice}").trim_end().to_owned()
}

/// What the reader should beware of.
pub fn warnings(all: &[String]) -> Vec<Note> {
    all.iter().map(|text| note(NoteKind::Warning, "Beware", vec![text.as_str().into()])).collect()
}

pub(super) fn note(kind: NoteKind, title: &str, text: Vec<Words>) -> Note {
    Note { kind, title: title.to_owned(), text }
}
