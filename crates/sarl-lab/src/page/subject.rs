//! One fit: what a page of it is made of, and the page.

use sarl::{Goal, HeldOut, HeldOutLosses, LabelKind, Model, Point, Role};
use sarl_report::page::{Fact, Holds, Page, Section};
use serde_json::Value;

use super::audit::{AuditCurve, Audited};
use super::embedding::Shown;
use super::explorer::Made;
use super::inputs::Inputs;
use super::words::warnings;
use crate::error::Result;
use crate::watch::Watch;

/// Points over λ in a report.
pub const POINTS: usize = 101;

/// A point of the front over λ, with its held-out losses.
pub type Row = (Point, Option<HeldOutLosses>);

/// The points over λ, training beside held-out.
pub fn front_rows(
    front: &sarl::Front<'_>,
    heldout: Option<&HeldOut>,
    count: usize,
) -> Result<Vec<Row>> {
    let held = match heldout {
        Some(heldout) => heldout.points(count)?.into_iter().map(Some).collect(),
        None => vec![None; count],
    };
    Ok(front.points(count)?.into_iter().zip(held).collect())
}

/// What to type for an encoder with a goal; the second is the option of the command line for it.
pub type Command<'a> = &'a dyn Fn(&Goal, &str) -> String;

/// What an explorer is made of.
pub struct Subject<'a> {
    /// What it is called.
    pub name: String,
    /// The names of what is kept.
    pub kept: String,
    /// The names of what is hidden.
    pub hidden: String,
    /// The fit, at one goal.
    pub model: &'a Model,
    /// Its folds.
    pub heldout: Option<&'a HeldOut>,
    /// Over λ; [`POINTS`] of them where there are none.
    pub points: Vec<Row>,
    /// Whether the slider starts at the model's own goal.
    pub own: bool,
    /// Rows that are shown encoded.
    pub shown: Option<&'a Shown>,
    /// The columns.
    pub inputs: Option<&'a Inputs>,
    /// What to type for the encoder at a position.
    pub command: Command<'a>,
    /// What that makes, in a few words.
    pub makes: &'a str,
    /// Audits along this front.
    pub curve: Option<&'a AuditCurve>,
    /// An audit of the model alone.
    pub audited: Option<&'a Audited<'a>>,
    /// How to get an audit, if there is none.
    pub advice: &'a str,
}

impl<'a> Subject<'a> {
    /// A fit with nothing but itself.
    pub fn new(name: impl Into<String>, model: &'a Model, command: Command<'a>) -> Self {
        Subject {
            name: name.into(),
            kept: names(model, Role::Target),
            hidden: names(model, Role::Sensitive),
            model,
            heldout: None,
            points: Vec::new(),
            own: true,
            shown: None,
            inputs: None,
            command,
            makes: "Command for this encoder",
            curve: None,
            audited: None,
            advice: "",
        }
    }
}

/// What a page says beside the front.
pub struct PageText {
    /// What made it, on what.
    pub subtitle: String,
    /// Whether the audit is what the page is about, and stands first.
    pub audit_leads: bool,
    /// What the reader should beware of.
    pub warnings: Vec<String>,
    /// Data, versions, seeds, the command.
    pub about: Vec<Fact>,
}

impl Subject<'_> {
    /// The page of this fit, and what it says of each level, as JSON.
    pub fn page(&self, text: PageText, watch: &dyn Watch) -> Result<(Page, Value)> {
        let Made { explorer, levels, each } = self.explorer(watch)?;
        let positions = &explorer.positions;
        let audit = match (self.audited, self.curve) {
            (Some(audited), _) => {
                let at = (0..positions.len()).map(|k| k == explorer.start).collect();
                let holds = Some(Holds { explorer: 0, at, words: audited.what.clone() });
                Some(Section { holds, ..audited.section() })
            }
            (None, Some(curve)) => {
                let at = positions.get(explorer.start).map_or(0.0, |p| p.leakage);
                curve.section(at, 0, positions)
            }
            (None, None) => None,
        };
        let audit = audit.map(|section| Section { lead: text.audit_leads, ..section });
        let page = Page {
            title: format!("Keep {}, hide {}", self.kept, self.hidden),
            subtitle: text.subtitle,
            warnings: warnings(&text.warnings),
            explorers: vec![explorer],
            sections: each.into_iter().chain(audit).collect(),
            about: text.about,
            ..Page::default()
        };
        Ok((page, levels))
    }
}

/// The names of the labels of a role.
pub(super) fn names(model: &Model, role: Role) -> String {
    let of = model.labels().iter().filter(|l| l.role == role);
    let name = |l: &sarl::Label| match l.kind {
        LabelKind::Features => "the features".to_owned(),
        _ => l.name.clone(),
    };
    of.map(name).collect::<Vec<_>>().join(", ")
}
