//! The page of one fit.

use sarl_report::page::{Fact, Holds, Page, Section};
use serde_json::Value;

use super::explorer::{Made, Subject};
use super::words::warnings;
use crate::error::Result;
use crate::watch::Watch;

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
    ///
    /// # Errors
    ///
    /// What the core says, or an interruption.
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
