//! Where the slider can stand.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sarl::{Attributes, Certificate, Goal, HeldOut, HeldOutLosses, Method, Model, Point, Role};

use super::embedding::{Projected, Projector};
use crate::error::Result;
use crate::goals::option;
use crate::watch::Watch;

/// One trade-off of a fit. The encoder itself may be large: this is what is shown of it.
pub struct Level {
    /// The option that asks for it, such as `--max-leakage 0.05`.
    pub option: String,
    pub goal: Goal,
    pub point: Point,
    pub certificate: Certificate,
    pub method: Method,
    pub heldout: Option<HeldOutLosses>,
    pub attributes: Attributes,
    pub shown: Projected,
}

/// Leakages nearer to each other than this are one.
const SAME: f64 = 1e-9;
/// A front that leaks no more than this at its end has nothing to step through.
const NOTHING: f64 = 1e-4;

/// About so many levels; a problem with many label columns or several limits takes longer for
/// each.
fn about(size: usize, attributes: usize) -> f64 {
    match size {
        ..=32 if attributes > 1 => 40.0,
        ..=32 => 100.0,
        33..=128 => 40.0,
        _ => 15.0,
    }
}

/// Leakages in even steps of a round width, from none to all that full utility needs; with that
/// of the model itself, if it is wanted. The second is the place of the last one.
pub fn levels(
    model: &Model,
    heldout: Option<&HeldOut>,
    with_own: bool,
    projector: &Projector<'_>,
    watch: &dyn Watch,
) -> Result<(Vec<Level>, Option<usize>)> {
    let front = model.front()?;
    let most = front.point(0.0)?.leakage;
    let attributes = model.labels().iter().filter(|l| l.role == Role::Sensitive).count();
    let mut goals: Vec<(Goal, String)> =
        round_steps(most, about(model.reduced().size(), attributes))
            .into_iter()
            .filter_map(|text| {
                Some((Goal::Leakage(text.parse().ok()?), format!("--max-leakage {text}")))
            })
            .collect();
    if most > SAME {
        goals.push((Goal::Lambda(0.0), "--lambda 0".to_owned()));
    }
    let own = with_own.then(|| {
        let near =
            |g: &Goal| matches!(g, Goal::Leakage(l) if (l - model.point().leakage).abs() < SAME);
        goals.retain(|(goal, _)| !near(goal));
        (model.goal().clone(), option(model.goal()))
    });
    let all: Vec<(Goal, String)> = own.iter().cloned().chain(goals).collect();
    let what = "solving along the front";
    watch.step(what, 0, all.len());
    let done = AtomicUsize::new(0);
    let solve = |(i, (goal, option)): (usize, &(Goal, String))| -> Result<(usize, Level)> {
        watch.check()?;
        let model = match own.is_some() && i == 0 {
            true => model.clone(),
            false => model.retune(goal.clone())?,
        };
        let heldout = heldout.map(|h| h.solve(goal.clone(), &front)).transpose()?;
        watch.step(what, done.fetch_add(1, Ordering::Relaxed) + 1, all.len());
        let level = Level {
            option: option.clone(),
            goal: goal.clone(),
            point: *model.point(),
            certificate: model.certificate().clone(),
            method: model.method(),
            heldout,
            attributes: model.attributes()?,
            shown: projector.project(&model.encoder())?,
        };
        Ok((i, level))
    };
    let mut levels: Vec<(usize, Level)> =
        all.par_iter().enumerate().map(solve).collect::<Result<_>>()?;
    levels.sort_by(|a, b| a.1.point.leakage.total_cmp(&b.1.point.leakage));
    let place = own.and_then(|_| levels.iter().position(|(i, _)| *i == 0));
    Ok((levels.into_iter().map(|(_, level)| level).collect(), place))
}

/// Multiples of a round width from 0 to below `most`, as they are typed.
fn round_steps(most: f64, about: f64) -> Vec<String> {
    if most <= NOTHING {
        return vec!["0".to_owned()];
    }
    let finest = most / about;
    let power = finest.log10().floor();
    let rounds = [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0), (10.0, 0)];
    let width = rounds.into_iter().find(|(round, _)| round * 10f64.powf(power) >= finest * 0.999);
    let (round, more) = width.unwrap_or((10.0, 0));
    let (width, digits) = (round * 10f64.powf(power), (more as f64 - power).max(0.0) as usize);
    (0..)
        .map(|i| f64::from(i) * width)
        .take_while(|leakage| *leakage < most - SAME)
        .map(|leakage| short(&format!("{leakage:.digits$}")))
        .collect()
}

/// Without zeros at the end.
fn short(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::round_steps;

    #[test]
    fn steps_are_round() {
        let steps = round_steps(0.2355, 100.0);
        assert_eq!(steps[..3], ["0", "0.0025", "0.005"]);
        assert_eq!(steps.last().map(String::as_str), Some("0.235"));
        let steps = round_steps(1.0, 100.0);
        assert_eq!((steps.len(), steps[1].as_str(), steps[10].as_str()), (100, "0.01", "0.1"));
        let steps = round_steps(3.1e-4, 40.0);
        assert_eq!(steps[1], "0.00001");
        assert!(steps.len() > 20 && steps.len() <= 41);
        assert_eq!(round_steps(0.0, 100.0), ["0"]);
    }
}
