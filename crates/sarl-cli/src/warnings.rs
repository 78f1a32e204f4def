//! What the user should know before trusting a fit.

use sarl::{Bounds, Front, Goal, HeldOutLosses, Model};

use crate::args::Global;
use crate::data::{FittedTable, Remark};
use crate::failure::Outcome;
use crate::output::{note, percent, warn};

impl Remark {
    /// Says it.
    pub fn say(&self, global: &Global) {
        match self {
            Remark::Note(message) => note(global, message),
            Remark::Warning(message) => warn(global, message),
        }
    }
}

/// Says what the user should know about a fit before trusting it; the warnings among it.
pub fn about_fit(fitted: &FittedTable, front: &Front<'_>, global: &Global) -> Outcome<Vec<String>> {
    let mut warnings = Vec::new();
    for remark in &fitted.remarks {
        match remark {
            Remark::Note(message) => note(global, message),
            Remark::Warning(message) => warnings.push(message.clone()),
        }
    }
    warnings.extend(fitted.shared.iter().map(|name| shared(name)));
    let reduced = fitted.fit.reduced()?;
    let (rows, basis) = (reduced.rows(), reduced.basis() as u64);
    let few = rows < 5 * basis;
    if few && reduced.ridge() == 0.0 {
        warnings.push(format!(
            "{rows} rows for {basis} directions: training losses flatter; look at those of new \
             rows, and try --ridge auto"
        ));
    }
    let bounds = front.bounds();
    // With as many directions as rows that says nothing.
    if !few && fitted.shared.is_empty() && bounds.alpha_star_min < 1e-6 * bounds.alpha_max {
        warnings.push(
            "the features determine the sensitive attribute exactly; is it among them?".to_owned(),
        );
    }
    warnings.iter().for_each(|message| warn(global, message));
    Ok(warnings)
}

fn shared(name: &str) -> String {
    format!("`{name}` is a label and also a feature; leave it out of --features")
}

/// Labels that are features too are told by them.
pub fn about_shared(names: &[String], global: &Global) {
    names.iter().for_each(|name| warn(global, &shared(name)));
}

/// Says what the user should know about one encoder; the same as a list.
pub fn about_solution(
    model: &Model,
    heldout: Option<&HeldOutLosses>,
    global: &Global,
) -> Outcome<Vec<String>> {
    let mut warnings = Vec::new();
    let (point, front) = (model.point(), model.front()?);
    if point.dim == 0 {
        warnings.push(
            "the encoder has no dimensions: nothing of the target is left at this leakage".into(),
        );
    }
    if let Goal::Lambda(lambda) = model.goal() {
        let limit = *lambda <= 0.0 || *lambda >= 1.0;
        if !limit && front.at_jump(*lambda)? {
            warnings
                .push("lambda is at a jump of the front; ask for --max-leakage instead".to_owned());
        }
    }
    if let Some(held) = heldout {
        warnings.extend(fits_noise(model, held, front.bounds()));
        warnings.extend(hides_less(model, held, front.bounds().alpha_max));
    }
    warnings.iter().for_each(|message| warn(global, message));
    Ok(warnings)
}

/// Differences under this are not worth a warning.
const LITTLE: f64 = 0.01;

/// Whether the target is kept less well in rows that the encoder has not seen, beyond the spread
/// over the folds.
fn fits_noise(model: &Model, held: &HeldOutLosses, bounds: &Bounds) -> Option<String> {
    let trained = model.point().utility;
    let lost = trained - held.utility;
    // A spread of shares of the target's variance, as one of what the features give.
    let spread = held.kept_sd * bounds.target_variance / bounds.attainable;
    if lost <= LITTLE.max(2.0 * spread) {
        return None;
    }
    let (held, trained) = (percent(held.utility), percent(trained));
    Some(format!(
        "utility is {held} on new rows, {trained} on the training rows: the encoder fits noise of its \
         rows; {} will help",
        remedies(model)
    ))
}

/// Whether an adversary with rows of its own finds more than one on the training rows, beyond the
/// spread over the folds; with the number of rows that would do.
fn hides_less(model: &Model, held: &HeldOutLosses, alpha_max: f64) -> Option<String> {
    let point = model.point();
    let more = held.leakage - point.leakage;
    if more <= LITTLE.max(2.0 * held.js_sd / alpha_max) {
        return None;
    }
    // The excess is the error of estimating what to hide, which falls as one over the rows; held-out
    // encoders have at most half of them.
    let rows = 0.5 * model.reduced().rows() as f64 * more / LITTLE;
    let digits = 10.0_f64.powf(rows.log10().floor());
    let (leaked, trained) = (percent(held.leakage), percent(point.leakage));
    Some(format!(
        "leakage is {leaked} on new rows, {trained} on the training rows: an attacker with rows of its own \
         predicts more; about {} rows would bring the difference to {}; {} will help",
        (rows / digits).ceil() * digits,
        percent(LITTLE),
        remedies(model)
    ))
}

/// What is left to do against noise.
fn remedies(model: &Model) -> String {
    let mut remedies = vec!["more rows"];
    if model.reduced().ridge() == 0.0 {
        remedies.push("--ridge auto");
    }
    if !model.is_linear() {
        remedies.push("fewer --landmarks");
    }
    if model.cap().is_none() && model.point().dim > 1 {
        remedies.push("a cap with --dim");
    }
    match remedies.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
