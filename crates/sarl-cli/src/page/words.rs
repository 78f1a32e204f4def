//! The report in plain language.

use indicatif::HumanCount;
use sarl::{LabelKind, Model, Role};
use sarl_report::page::{Live, Note, NoteKind, Words};

use super::audit::Audited;
use crate::findings;

/// What the summary is made of.
pub struct Told<'a> {
    pub model: &'a Model,
    /// The names of what is kept and of what is hidden.
    pub kept: &'a str,
    pub hidden: &'a str,
    /// Whether held-out losses are known.
    pub heldout: bool,
    /// The audit, if there was one.
    pub audit: Option<&'a Audited<'a>>,
    /// What to do for an audit, if there was none.
    pub advice: &'a str,
}

impl Told<'_> {
    /// Kept, hidden, guaranteed, not guaranteed.
    pub fn summary(&self) -> Vec<Note> {
        vec![self.kept(), self.hidden(), self.guaranteed(), self.not_guaranteed()]
    }

    fn kept(&self) -> Note {
        let mut text: Vec<Words> = vec![
            Live::Utility.into(),
            match self.several(Role::Target) {
                true => {
                    format!(" of what the features tell of each of {}, at least, in ", self.kept)
                }
                false => format!(" of what the features tell of {}, in ", self.kept),
            }
            .into(),
            Live::Dimensions.into(),
            ".".into(),
        ];
        if self.heldout {
            text.extend([" On held-out rows ".into(), Live::HeldoutUtility.into(), ".".into()]);
        }
        note(NoteKind::Kept, "What is kept", text)
    }

    fn hidden(&self) -> Note {
        let mut text: Vec<Words> = vec![
            "Linear adversaries explain ".into(),
            Live::Leakage.into(),
            match self.several(Role::Sensitive) {
                true => format!(" of the variance of each of {} from z, at most.", self.hidden),
                false => format!(" of the variance of {} from z.", self.hidden),
            }
            .into(),
        ];
        if self.heldout {
            text.extend([" On held-out rows ".into(), Live::HeldoutLeakage.into(), ".".into()]);
        }
        note(NoteKind::Hidden, "What is hidden", text)
    }

    fn guaranteed(&self) -> Note {
        let rows = HumanCount(self.model.reduced().rows());
        let text = vec![
            format!("Against linear adversaries, on the {rows} rows of the fit: none explains more than ")
                .into(),
            Live::Leakage.into(),
            match self.hides_classes() {
                true => ", and at no leakage none beats a constant under any convex loss. ".into(),
                false => ". ".into(),
            },
            "No other such encoder keeps more at this leakage, up to a gap of ".into(),
            Live::Gap.into(),
            match self.model.reduced().ridge() > 0.0 {
                true => ", the price of the ridge on these rows.".into(),
                false => ": the optimum is global.".into(),
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
        hidden.all(|l| matches!(l.kind, LabelKind::Class { .. }))
    }

    fn not_guaranteed(&self) -> Note {
        let worst = self.audit.and_then(|a| Some((&a.what, findings::worst(a.z)?)));
        let audit = match worst {
            Some((what, worst)) => format!("The audit found, of {what}: {worst}."),
            None => self.advice.to_owned(),
        };
        let text = vec![
            format!(
                "Networks or trees may find more in z. {audit} Other rows may leak more than those of \
                 the fit. What was not named as sensitive is not hidden."
            )
            .into(),
        ];
        note(NoteKind::NotGuaranteed, "What is not guaranteed", text)
    }
}

/// What the reader should beware of.
pub fn warnings(all: &[String]) -> Vec<Note> {
    all.iter().map(|text| note(NoteKind::Warning, "Beware", vec![text.as_str().into()])).collect()
}

fn note(kind: NoteKind, title: &str, text: Vec<Words>) -> Note {
    Note { kind, title: title.to_owned(), text }
}
