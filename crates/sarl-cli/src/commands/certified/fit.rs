//! `sarl fit --max-advantage`: the most useful cells that meet a limit.

use std::path::Path;
use std::time::Instant;

use sarl::cells::{Adversary, Ask, CellGoal, Limits};
use sarl::{HeldOutLabels, HeldOutLosses};
use serde_json::json;

use super::{cut, fitted, no_audit, report};
use crate::args::{Fit, Global};
use crate::failure::Outcome;
use crate::output::{self, bounds_json, joined, point_json};
use crate::{attributes, certificate, given_away, progress, terminal};

/// Points of the front beside a fitted model.
const BESIDE: usize = 8;

pub fn fit(options: &Fit, goal: &CellGoal, outputs: &[&Path], global: &Global) -> Outcome {
    let start = Instant::now();
    no_audit(options.audit)?;
    let table = fitted(&options.fitting, outputs, global)?;
    // The front has a 1 − confidence of its own: the guarantee of the fit does not depend on it.
    let mut asks = vec![Ask::One(goal.clone())];
    asks.extend(options.page.html.as_ref().map(|_| Ask::Front(unlimited(goal), BESIDE)));
    let mut found = cut(&table, asks, options.fitting.encoder.seed, global)?.into_iter();
    let one = found.next().and_then(|models| models.into_iter().next());
    let mut model = one.ok_or(sarl::Error::NoCells { rows: table.schema.rows() })?;
    let solved = match table.fit.heldout_if_any()? {
        Some(folds) => Some(folds.solve_each(model.goal().clone(), &model.front()?)?),
        None => None,
    };
    let (heldout, labels): (Option<HeldOutLosses>, Option<HeldOutLabels>) = solved.unzip();
    let about = table.provenance(&options.fitting.encoder, heldout, labels.clone())?;
    about.store(&mut model)?;
    progress::check()?;
    sarl_data::write_file(&options.output, &model.to_bytes()?)?;
    given_away::notes(&model, &about).iter().for_each(|note| output::note(global, note));
    let shown = match (&options.page.html, found.next()) {
        (Some(path), Some(beside)) => {
            let seed = options.fitting.encoder.seed;
            Some((path, report("fit", &beside, Some(&model), goal, &table, path, seed)?))
        }
        _ => None,
    };
    let seconds = json!({ "total": start.elapsed().as_secs_f64() });
    let (Some(cells), Some(found)) = (model.cells(), model.cells().and_then(|c| c.certificate()))
    else {
        return Ok(());
    };
    if !global.json {
        let text = certificate::text(found, cells, Some(&table.schema));
        output::print(&format!("{text}\n\nwritten to {}", terminal::path(&options.output)))?;
        return match shown {
            Some((path, _)) => {
                output::print(&format!("report written to {}", terminal::path(path)))
            }
            None => Ok(()),
        };
    }
    let solution = model.certificate();
    let goal_said = json!({ "goal": certificate::goal_json(goal) });
    let point = point_json(model.point(), heldout.as_ref());
    let mut rest = json!({
        "attributes": attributes::json(&model, labels.as_ref())?,
        "dual_bound": solution.dual_bound,
        "gap": solution.gap,
        "bounds": bounds_json(model.reduced(), &model.front()?)?,
        "certificate": certificate::json(found, cells.count()),
        "seconds": seconds,
        "model": output::path_json(&options.output),
    });
    if let Some((path, points)) = shown {
        rest["certified"] = points.into();
        rest["html"] = output::path_json(path);
    }
    output::print_json(&joined(joined(goal_said, point), rest))
}

/// The same without limits, for a front.
fn unlimited(goal: &CellGoal) -> CellGoal {
    CellGoal { adversary: Adversary::Advantage, limits: Limits::Each(1.0), ..goal.clone() }
}
