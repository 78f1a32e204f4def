//! What `fit`, `retune` and `info` say of an encoder: the result, its certificate, the bounds.

use std::path::Path;

use sarl::{Goal, HeldOutLabels, HeldOutLosses, Method, Model, Role};
use sarl_lab::{criterion, goals};
use serde_json::{Value, json};

use crate::args::Global;
use crate::attributes;
use crate::failure::Outcome;
use crate::output::{bounds_json, bounds_table, digits, joined, percent, point_json};
use crate::output::{dimensions, path_json, print, print_json};
use crate::sheet::{Sheet, Step};
use crate::terminal::{self, Tone, emphasis, wrap};
use crate::verdict::{self, Verdict};

/// What `fit` and `retune` print.
pub struct Report<'a> {
    pub model: &'a Model,
    pub heldout: Option<HeldOutLosses>,
    /// The same for each label.
    pub labels: Option<HeldOutLabels>,
    /// What attackers found, if any were tried.
    pub audit: Option<Verdict>,
    pub seconds: Value,
    pub path: &'a Path,
    /// The levels of the HTML report, and where it is.
    pub html: Option<(Value, &'a Path)>,
    /// What has added up the rows, if rows were read.
    pub device: Option<String>,
}

impl Report<'_> {
    pub fn print(&self, global: &Global) -> Outcome {
        if global.json { print_json(&self.json()?) } else { print(&self.text()?) }
    }

    fn json(&self) -> Outcome<Value> {
        let model = self.model;
        let certificate = model.certificate();
        let goal = json!({ "goal": goals::json(model.goal()) });
        let html = match &self.html {
            Some((levels, path)) => json!({ "levels": levels, "html": path_json(path) }),
            None => json!({}),
        };
        let all = joined(
            joined(goal, point_json(model.point(), self.heldout.as_ref())),
            json!({
                "attributes": attributes::json(model, self.labels.as_ref())?,
                "dual_bound": certificate.dual_bound,
                "gap": certificate.gap,
                "method": model.method(),
                "bounds": bounds_json(model.reduced(), &model.front()?)?,
                "seconds": self.seconds,
                "model": path_json(self.path),
            }),
        );
        let device = self.device.as_ref().map_or(json!({}), |device| json!({ "device": device }));
        Ok(joined(joined(joined(all, criterion::json(model)), device), html))
    }

    fn text(&self) -> Outcome<String> {
        let model = self.model;
        let (heldout, labels) = (self.heldout.as_ref(), self.labels.as_ref());
        let written = match &self.html {
            Some((_, html)) => format!(", report to {}", terminal::path(html)),
            None => String::new(),
        };
        Ok(format!(
            "{}\n\n{}\n\n{}\n\nwritten to {}{written}",
            result(model, heldout, self.audit.as_ref()),
            text(model, heldout, labels)?,
            bounds_table(model.reduced(), &model.front()?)?,
            terminal::path(self.path)
        ))
    }
}

/// What comes first: what is kept, what is hidden, and who was asked.
pub fn result(model: &Model, heldout: Option<&HeldOutLosses>, audit: Option<&Verdict>) -> String {
    let said = verdict::of_model(model, heldout);
    match audit {
        // The worst attacker stands before the linear one.
        Some(audit) => format!("{}\n\n{}", audit.shown(), emphasis(&wrap(&said), Tone::Strong)),
        None => {
            let scope = "Only linear attackers were looked at; `sarl audit` tries others.";
            format!("{}\n{scope}", emphasis(&wrap(&said), Tone::Strong))
        }
    }
}

/// The chosen point, figures of new rows before those of training, and the certificate.
pub fn text(
    model: &Model,
    heldout: Option<&HeldOutLosses>,
    labels: Option<&HeldOutLabels>,
) -> Outcome<String> {
    let mut text = format!("{}\n{}\n", wrap(&asked(model)), figures(model, heldout)?);
    if let Some(each) = attributes::text(model, labels)? {
        text += &format!("\n{each}\n");
    }
    Ok(text + &wrap(&certificate(model)))
}

/// What was asked for, and which encoder it is.
fn asked(model: &Model) -> String {
    let point = model.point();
    let limited = if goals::keeps(model.goal()) { Role::Target } else { Role::Sensitive };
    // Several limits have multipliers, and no front that they lie on.
    let each = !model.certificate().multipliers.is_empty();
    let lambda = match model.goal() {
        Goal::Lambda(_) => String::new(),
        _ => format!(", lambda {}", digits(point.lambda)),
    };
    format!(
        "Asked for {}: {}{lambda}{}",
        goals::words(model.goal(), several(model, limited)),
        dimensions(point.dim),
        match model.method() {
            Method::Spectral => "",
            Method::Rotated if each => ", of whole directions near the optimum",
            Method::Diluted if each => ", some of a direction mixed with one that no label knows",
            Method::Rotated => ", reached by rotation inside a jump of the front",
            Method::Diluted => ", reached by dilution inside a jump of the front",
        }
    )
}

fn several(model: &Model, role: Role) -> bool {
    model.labels().iter().filter(|l| l.role == role).count() > 1
}

/// Utility, leakage and losses: new rows, then training rows.
fn figures(model: &Model, heldout: Option<&HeldOutLosses>) -> Outcome<String> {
    let (point, front) = (model.point(), model.front()?);
    let bounds = front.bounds();
    let worst = |name: &str, role: Role, which: &str| match several(model, role) {
        true => format!("{name}, the {which}"),
        false => match model.labels().iter().find(|l| l.role == role) {
            Some(label) => format!("{name} ({})", label.name),
            None => name.to_owned(),
        },
    };
    let held = |of: &dyn Fn(&HeldOutLosses) -> String| heldout.map_or("-".to_owned(), of);
    // All of the target is more than what can be attained of it.
    let whole = bounds.utility(0.0);
    let loss = |loss: f64, sd: f64| format!("{} ± {}", digits(loss), digits(sd));
    let rows = vec![
        vec![
            worst("utility", Role::Target, "least"),
            held(&|h| spread(h.utility, h.kept_sd * whole)),
            percent(point.utility),
        ],
        vec![
            worst("leakage", Role::Sensitive, "largest"),
            held(&|h| match verdict::measurable(h.leakage) {
                true => spread(h.leakage, h.leaked_sd),
                false => verdict::NONE.to_owned(),
            }),
            percent(point.leakage),
        ],
        vec!["target loss".to_owned(), held(&|h| loss(h.jy, h.jy_sd)), digits(point.losses.jy)],
        vec!["attacker loss".to_owned(), held(&|h| loss(h.js, h.js_sd)), digits(point.losses.js)],
    ];
    let sheet = Sheet::new(&["", "new rows", "training rows"], rows, |i| i > 0);
    Ok(sheet.text(&[Step::NoSpread]))
}

/// A share with its spread.
fn spread(share: f64, sd: f64) -> String {
    format!("{:.2} ± {:.2} %", 100.0 * share, 100.0 * sd)
}

/// A gap; rounding can leave one of -1e-17.
fn gap_words(gap: f64) -> String {
    if gap <= 0.0 { "gap 0".to_owned() } else { format!("gap {gap:.1e}") }
}

fn certificate(model: &Model) -> String {
    let (dual_bound, gap) = (model.certificate().dual_bound, model.certificate().gap);
    let gap = match model.reduced().ridge() > 0.0 {
        false => gap_words(gap),
        true => format!("{}, the price of the ridge on the training rows", gap_words(gap)),
    };
    let dual_bound = digits(dual_bound);
    let encoder = match model.is_linear() {
        true => "linear encoder of these columns",
        false => "encoder with these kernel features",
    };
    match goals::keeps(model.goal()) {
        true => format!(
            "Certificate: no {encoder} hides more than an attacker loss of {dual_bound} at this \
             utility; {gap}."
        ),
        false => format!(
            "Certificate: no {encoder} has a target loss below {dual_bound} at this leakage; {gap}."
        ),
    }
}
