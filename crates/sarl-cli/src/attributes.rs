//! Figures of each label: tables for people, JSON for machines.

use sarl::{Attribute, HeldOutLabels, LabelBounds, Model, Role};
use serde_json::{Map, Value, json};

use crate::failure::Outcome;
use crate::output::{digits, percent};
use crate::sheet::{Sheet, Step};
use crate::verdict;

/// The contract's `attributes` object.
pub fn json(model: &Model, heldout: Option<&HeldOutLabels>) -> Outcome<Value> {
    let found = model.attributes()?;
    let held = |role: Role, i: usize| heldout.and_then(|h| h.share(role, i));
    let target = found.target.iter().enumerate().map(|(i, a)| {
        let held = held(Role::Target, i).map(|(jy, utility)| json!({"jy": jy, "utility": utility}));
        let limit = a.limit;
        let value = json!({ "jy": a.loss, "utility": a.share, "limit": limit, "heldout": held });
        (a.name.clone(), value)
    });
    let sensitive = found.sensitive.iter().enumerate().map(|(i, a)| {
        let held =
            held(Role::Sensitive, i).map(|(js, leakage)| json!({"js": js, "leakage": leakage}));
        let limit = a.limit;
        let value = json!({ "js": a.loss, "leakage": a.share, "limit": limit, "heldout": held });
        (a.name.clone(), value)
    });
    let (target, sensitive): (Map<_, _>, Map<_, _>) = (target.collect(), sensitive.collect());
    Ok(json!({ "target": target, "sensitive": sensitive }))
}

/// Columns that a narrow table leaves out.
const LOSSES: &[&str] = &["loss, new rows", "loss, training rows"];

/// A line for each label, where a side has several; nothing where the figures of the sides are
/// those of the labels.
pub fn text(model: &Model, heldout: Option<&HeldOutLabels>) -> Outcome<Option<String>> {
    let found = model.attributes()?;
    if found.target.len() < 2 && found.sensitive.len() < 2 {
        return Ok(None);
    }
    let row = |role: Role, i: usize, a: &Attribute| {
        let (what, most) = match role {
            Role::Target => ("utility", "at least"),
            Role::Sensitive => ("leakage", "at most"),
        };
        let limit = a.limit.map_or("-".to_owned(), |limit| format!("{most} {}", percent(limit)));
        let (held_share, held_loss) = match heldout.and_then(|h| h.share(role, i)) {
            Some((loss, share)) if role == Role::Sensitive => {
                (verdict::leakage(share), digits(loss))
            }
            Some((loss, share)) => (percent(share), digits(loss)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let name = format!("{}: {what}", a.name);
        vec![name, limit, held_share, percent(a.share), held_loss, digits(a.loss)]
    };
    let all = |role: Role, labels: &[Attribute]| -> Vec<Vec<String>> {
        labels.iter().enumerate().map(|(i, a)| row(role, i, a)).collect()
    };
    let rows = [all(Role::Target, &found.target), all(Role::Sensitive, &found.sensitive)].concat();
    let header = ["", "asked", "new rows", "training rows", LOSSES[0], LOSSES[1]];
    let sheet = Sheet::new(&header, rows, |i| i > 0);
    Ok(Some(sheet.text(&[Step::Drop(LOSSES), Step::Stack])))
}

/// What encoders can do about each label, under its name.
pub fn bounds_json(bounds: &LabelBounds) -> Value {
    let target = bounds.target.iter().map(|b| {
        let (variance, low, high) = (b.variance, b.gamma_min, b.gamma_max);
        let value = json!({ "variance": variance, "gamma_min": low, "gamma_max": high });
        (b.name.clone(), value)
    });
    let sensitive = bounds.sensitive.iter().map(|b| {
        let (all, full, least) = (b.alpha_max, b.alpha_min, b.alpha_star_min);
        let value = json!({ "alpha_max": all, "alpha_min": full, "alpha_star_min": least });
        (b.name.clone(), value)
    });
    let (target, sensitive): (Map<_, _>, Map<_, _>) = (target.collect(), sensitive.collect());
    json!({ "target": target, "sensitive": sensitive })
}

/// The same for people, where a side has several labels.
pub fn bounds_text(bounds: &LabelBounds) -> Option<String> {
    if bounds.target.len() < 2 && bounds.sensitive.len() < 2 {
        return None;
    }
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 1.0 };
    let target = bounds.target.iter().map(|b| {
        let all = b.variance - b.gamma_min;
        let kept = percent(share(b.variance - b.gamma_max, all));
        let told = percent(share(all, b.variance));
        vec![
            format!("{} (target)", b.name),
            digits(b.variance),
            told,
            format!("utility {kept} without leakage"),
        ]
    });
    let sensitive = bounds.sensitive.iter().map(|b| {
        let told = |loss: f64| percent(1.0 - share(loss, b.alpha_max));
        vec![
            format!("{} (sensitive)", b.name),
            digits(b.alpha_max),
            told(b.alpha_star_min),
            format!("leakage {} at full utility", told(b.alpha_min)),
        ]
    });
    let rows = target.chain(sensitive).collect();
    let header = ["label", "variance", "explained by all features", "at the other end"];
    Some(Sheet::new(&header, rows, |i| i == 1 || i == 2).text(&[Step::Stack]))
}
