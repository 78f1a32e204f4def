//! A fit as a front to play with.

use sarl::{Bounds, HeldOutLosses, Method};
use sarl_report::page::{
    Bound, Explorer, Front, HeldOut as Shares, Position, Section, Table, Verdict,
};
use serde_json::{Value, json};

use super::embedding::{Projector, embedding, turn, weights};
use super::figures::Plot;
use super::level::{Level, levels};
use super::subject::{POINTS, Subject, front_rows};
use super::verdict::{self, Known};
use super::words;
use crate::error::Result;
use crate::watch::Watch;
use crate::words::{count, percent, point_json};
use crate::{fairness, goals};

/// An explorer, and what it says of each position as JSON.
pub struct Made {
    /// The explorer.
    pub explorer: Explorer,
    /// What it says of each level.
    pub levels: Value,
    /// What is kept and leaked of each label, where there are several.
    pub each: Option<Section>,
}

impl Subject<'_> {
    /// Solves along the front, and draws it.
    pub fn explorer(&self, watch: &dyn Watch) -> Result<Made> {
        let model = self.model;
        let projector = Projector::new(model, self.shown, self.inputs)?;
        let (mut levels, own) = levels(model, self.heldout, self.own, &projector, watch)?;
        turn(&mut levels);
        let front = model.front()?;
        let computed = match self.points.is_empty() {
            true => front_rows(&front, self.heldout, POINTS)?,
            false => Vec::new(),
        };
        let points = if computed.is_empty() { &self.points } else { &computed };
        let plot = Plot::new(&front, &levels, points, (&self.kept, &self.hidden))?;
        let mut fronts = vec![
            Front { name: "Shares".to_owned(), chart: plot.shares() },
            Front { name: "Mean squared errors".to_owned(), chart: plot.losses() },
        ];
        let mut charts = vec![plot.over_lambda()?];
        if let Some(curve) = self.curve {
            let leakages: Vec<f64> = levels.iter().map(|l| l.point.leakage).collect();
            fronts.extend(
                curve.front(&leakages).map(|chart| Front { name: "Accuracies".to_owned(), chart }),
            );
            charts.extend(curve.over_leakage(&leakages));
        }
        let bounds = front.bounds();
        let position = |(at, level): (usize, &Level)| {
            let heldout = level.heldout.map(|h| held_out(bounds, &h));
            let (verdict, says) = self.said(level, heldout.as_ref(), own == Some(at));
            Position {
                verdict,
                says,
                lambda: level.point.lambda,
                dim: level.point.dim,
                jy: level.point.losses.jy,
                js: level.point.losses.js,
                utility: level.point.utility,
                leakage: level.point.leakage,
                heldout,
                dual_bound: level.certificate.dual_bound,
                gap: level.certificate.gap,
                bound_on: match goals::keeps(&level.goal) {
                    true => Bound::Adversary,
                    false => Bound::Target,
                },
                method: match level.method {
                    Method::Spectral => "Theorem 3 at this λ",
                    Method::Rotated => "rotation inside a jump of the front",
                    Method::Diluted => "dilution inside a jump of the front",
                }
                .to_owned(),
                command: (self.command)(&level.goal, &level.option),
            }
        };
        let ridge = match model.reduced().ridge() {
            0.0 => String::new(),
            ridge => format!(", ridge {ridge:.1e}"),
        };
        let start = own.unwrap_or_else(|| knee(&levels));
        let explorer = Explorer {
            summary: self.summary(),
            makes: self.makes.to_owned(),
            name: self.name.clone(),
            words: format!(
                "{}{ridge}; {} rows, {} features",
                model.map_name(),
                count(model.reduced().rows()),
                count(model.reduced().features() as u64)
            ),
            positions: levels.iter().enumerate().map(position).collect(),
            start,
            start_is: if own.is_some() { "your goal" } else { "start" }.to_owned(),
            fronts,
            charts,
            embedding: self.shown.map(|shown| embedding(&levels, shown)),
            weights: self.inputs.and_then(|inputs| weights(&levels, inputs, model.is_linear())),
        };
        let all = levels.iter().map(|level| {
            let mut value = point_json(&level.point, level.heldout.as_ref());
            value["dual_bound"] = json!(level.certificate.dual_bound);
            value["gap"] = json!(level.certificate.gap);
            value["method"] = json!(level.method);
            value["goal"] = goals::json(&level.goal);
            value["attributes"] = json!(level.attributes);
            value
        });
        let each = each_label(&levels);
        let levels = all.collect();
        Ok(Made { explorer, levels, each })
    }
}

/// An audit this near to a position, in leakage, is one of it.
const NEAR: f64 = 0.0025;

impl Subject<'_> {
    /// The verdict on a position, and what is said of it beside its figures.
    fn said(
        &self,
        level: &Level,
        heldout: Option<&Shares>,
        own: bool,
    ) -> (Verdict, Vec<(&'static str, String)>) {
        let leakage = level.point.leakage;
        let nearest = self.curve.and_then(|curve| curve.audited(leakage));
        let audit = match (self.audited.filter(|_| own), &nearest) {
            (Some(audited), _) => Some((audited, true)),
            (None, Some(audited)) => Some((audited, (audited.leakage - leakage).abs() <= NEAR)),
            (None, None) => None,
        };
        let linear = heldout.map_or(leakage, |h| h.leakage.max(leakage));
        let elsewhere = self.audited.is_some();
        let known = Known { leakage: linear, hidden: &self.hidden, audit, elsewhere };
        let (strongest, fairness) = match audit {
            Some((audit, here)) => (
                verdict::strongest(audit).map(|words| match here {
                    true => words,
                    false => format!("Of {}, the nearest that was audited: {words}", audit.what),
                }),
                fairness::in_short(audit.z, audit.attributes),
            ),
            None => (None, None),
        };
        let mut says = vec![
            (words::AUDIT, strongest.unwrap_or_else(|| words::unaudited(self.advice))),
            (words::FAIRNESS, fairness.unwrap_or_default()),
        ];
        says.extend(words::gaps(level.point.utility, leakage, heldout));
        (known.verdict(), says)
    }
}

/// Held-out losses with the spread of their shares.
fn held_out(bounds: &Bounds, h: &HeldOutLosses) -> Shares {
    Shares {
        jy: h.jy,
        js: h.js,
        jy_sd: h.jy_sd,
        js_sd: h.js_sd,
        utility: h.utility,
        leakage: h.leakage,
        utility_sd: utility_spread(bounds, h),
        leakage_sd: h.leaked_sd,
    }
}

/// Rows of the table of each label.
const SHOWN: usize = 21;

/// What is kept and leaked of each label along the front, where a side has several.
fn each_label(levels: &[Level]) -> Option<Section> {
    let first = &levels.first()?.attributes;
    if first.target.len() < 2 && first.sensitive.len() < 2 {
        return None;
    }
    let names = |labels: &[sarl::Attribute], what: &str| -> Vec<String> {
        labels.iter().map(|a| format!("{what} of {}", a.name)).collect()
    };
    let asked = vec!["asked for".to_owned(), "dimensions".to_owned()];
    let header =
        [asked, names(&first.target, "utility"), names(&first.sensitive, "leakage")].concat();
    let row = |level: &Level| {
        let found = &level.attributes;
        let shares = found.target.iter().chain(&found.sensitive).map(|a| percent(a.share));
        let asked = [level.option.clone(), level.point.dim.to_string()];
        asked.into_iter().chain(shares).collect()
    };
    let every = levels.len().div_ceil(SHOWN).max(1);
    let rows = levels.iter().step_by(every).map(row).collect();
    let text = "On the training rows. A limit on leakage holds for each attribute by itself, as a \
                share of its own variance.";
    let title = "Each label".to_owned();
    let table = Table { title: "Shares along the front".to_owned(), header, rows, names: 1 };
    Some(Section { title, text: vec![text.to_owned()], tables: vec![table], ..Default::default() })
}

/// The spread of the utility over the folds.
pub fn utility_spread(bounds: &Bounds, heldout: &HeldOutLosses) -> f64 {
    // All of the target is this much utility.
    heldout.kept_sd * bounds.utility(0.0)
}

/// Where utility is furthest above the straight line between the ends.
fn knee(levels: &[Level]) -> usize {
    let (Some(first), Some(last)) = (levels.first(), levels.last()) else { return 0 };
    let share = |value: f64, low: f64, high: f64| match high > low {
        true => (value - low) / (high - low),
        false => 0.0,
    };
    let above = |level: &Level| {
        share(level.point.utility, first.point.utility, last.point.utility)
            - share(level.point.leakage, first.point.leakage, last.point.leakage)
    };
    let best = levels.iter().enumerate().max_by(|a, b| above(a.1).total_cmp(&above(b.1)));
    best.map_or(0, |(i, _)| i)
}
