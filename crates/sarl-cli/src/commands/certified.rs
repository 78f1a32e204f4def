//! `sarl fit --max-advantage` and `sarl front --certified`: cells with a guarantee against every
//! adversary.

use std::path::{Path, PathBuf};
use std::time::Instant;

use sarl::cells::{Adversary, CellGoal, Chooser, Limits, Part, Proposals};
use sarl::{HeldOutLabels, HeldOutLosses, Model};
use sarl_lab::{Certified, CertifiedFront};
use serde_json::{Value, json};

use crate::args::{CriterionName, DataOptions, EncoderOptions, FilesOrMoments, Fit, Front, Global};
use crate::data::{self, FittedTable, Rows, with_block};
use crate::failure::{Failure, Outcome};
use crate::output::{self, bounds_json, joined, percent, point_json};
use crate::progress::{self, Spinner};
use crate::sheet::{Sheet, Step};
use crate::{attributes, certificate, given_away, page, plot, terminal};

/// Points of a certified front.
const POINTS: usize = 12;
/// Points of the front beside a fitted model.
const BESIDE: usize = 8;

pub fn fit(options: &Fit, goal: &CellGoal, global: &Global) -> Outcome {
    let start = Instant::now();
    no_audit(options.audit)?;
    let outputs: Vec<&Path> =
        [&options.output].into_iter().chain(&options.page.html).map(PathBuf::as_path).collect();
    let (table, chooser, rows) = prepared(
        options.files.data.as_slice(),
        &options.data,
        &options.encoder,
        &outputs,
        goal,
        global,
    )?;
    // The front has a 1 − confidence of its own: the guarantee of the fit does not depend on it.
    let (mut proposals, mut beside) = {
        let _spinner = Spinner::new("choosing cells", global.quiet);
        let beside = match options.page.html {
            Some(_) => Some(chooser.clone().front(&unlimited(goal), rows, BESIDE)?),
            None => None,
        };
        (chooser.choose(goal, rows)?, beside)
    };
    let all = [&mut proposals].into_iter().chain(&mut beside).collect();
    certify(&table, all, options.encoder.seed, global)?;
    let mut model = proposals.first_met()?;
    let beside = beside.map(Proposals::certified).unwrap_or_default();
    let folds = table.fit.heldout_if_any()?;
    let goal_before = model.goal().clone();
    let solved = match folds {
        Some(folds) => Some(folds.solve_each(goal_before, &model.front()?)?),
        None => None,
    };
    let (heldout, labels): (Option<HeldOutLosses>, Option<HeldOutLabels>) = solved.unzip();
    let about = table.provenance(&options.encoder, heldout, labels.clone())?;
    about.store(&mut model)?;
    progress::check()?;
    sarl_data::write_file(&options.output, &model.to_bytes()?)?;
    given_away::notes(&model, &about).iter().for_each(|note| output::note(global, note));
    let shown = match &options.page.html {
        Some(path) => {
            let models: Vec<&Model> = beside.iter().collect();
            Some((
                path,
                report("fit", &models, Some(&model), goal, &table, path, options.encoder.seed)?,
            ))
        }
        None => None,
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

pub fn front(options: &Front, global: &Global) -> Outcome {
    no_audit(options.audit)?;
    let goal = options.cells.goal(Adversary::Advantage, Limits::Each(1.0))?;
    let outputs: Vec<&Path> =
        options.csv.iter().chain(&options.page.html).map(PathBuf::as_path).collect();
    let (table, chooser, rows) =
        prepared(&options.files.data, &options.data, &options.encoder, &outputs, &goal, global)?;
    let chosen_on = chooser.rows();
    let mut proposals = {
        let _spinner = Spinner::new("choosing cells", global.quiet);
        chooser.front(&goal, rows, POINTS)?
    };
    if proposals.is_empty() {
        return Err(sarl::Error::NoCells { rows: chosen_on }.into());
    }
    let seed = options.encoder.seed;
    certify(&table, vec![&mut proposals], seed, global)?;
    let models = proposals.certified();
    let points: Vec<Value> =
        models.iter().filter_map(Certified::new).map(|point| point.json()).collect();
    if let Some(path) = &options.csv {
        sarl_data::write_file(path, csv(&points).as_bytes())?;
    }
    let mut value = json!({ "confidence": goal.confidence, "certified": points });
    if let Some(path) = &options.page.html {
        let models: Vec<&Model> = models.iter().collect();
        value["certified"] = report("front", &models, None, &goal, &table, path, seed)?.into();
        value["html"] = output::path_json(path);
    }
    if global.json {
        return output::print_json(&value);
    }
    output::print(&front_table(&points))?;
    output::print(&format!("\n{}\n", drawing(&points)))?;
    output::print(&crate::terminal::wrap(&format!(
        "No adversary that sees only the cell exceeds these limits; they hold together with {} \
         confidence. {}",
        percent(goal.confidence),
        certificate::LIMITS
    )))?;
    match &options.page.html {
        Some(path) => output::print(&format!("\nreport written to {}", terminal::path(path))),
        None => Ok(()),
    }
}

/// Writes the page; the points on it, as JSON.
fn report(
    command: &str,
    together: &[&Model],
    fitted: Option<&Model>,
    goal: &CellGoal,
    data: &FittedTable,
    path: &Path,
    seed: u64,
) -> Outcome<Vec<Value>> {
    let table = page::table(&data.schema)?;
    let together_of = together.iter().filter_map(|model| Certified::new(model));
    let front =
        CertifiedFront::new(together_of, fitted.and_then(Certified::new), goal, Some(&table));
    let models: Vec<&Model> = fitted.into_iter().chain(together.iter().copied()).take(1).collect();
    let names = data.given.names();
    let about = page::about(&names, Some(&table), &models, seed);
    page::write(&front.page(page::subtitle(command, &names), about), path)?;
    Ok(front.json())
}

/// Sums tell nothing about cells.
pub fn needs_rows(files: &FilesOrMoments) -> Outcome {
    match files.moments.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(
            "a guarantee against every adversary needs rows: --moments has sums only",
        )
        .hint("give DATA in place of --moments")),
    }
}

/// Attackers that are tried add nothing to what holds for every adversary.
fn no_audit(audit: bool) -> Outcome {
    match audit {
        true => {
            Err(Failure::usage("--audit has no place beside a guarantee against every adversary")
                .hint("leave it out; `sarl audit` tries attackers on any model"))
        }
        false => Ok(()),
    }
}

/// The same without limits, for a front.
fn unlimited(goal: &CellGoal) -> CellGoal {
    CellGoal { adversary: Adversary::Advantage, limits: Limits::Each(1.0), ..goal.clone() }
}

/// The rows in three parts: an encoder fitted on the first, the second for the choice, and how many
/// rows the third has.
fn prepared(
    files: &[PathBuf],
    data: &DataOptions,
    encoder: &EncoderOptions,
    outputs: &[&Path],
    goal: &CellGoal,
    global: &Global,
) -> Outcome<(FittedTable, Chooser, u64)> {
    if let Some(column) = &data.weight {
        let message = format!(
            "--weight {column}: a guarantee against every adversary holds for rows that count once"
        );
        return Err(Failure::usage(message).hint(format!("use --drop {column}")));
    }
    if encoder.criterion != CriterionName::Parity {
        let message =
            "--criterion: a guarantee against every adversary is about all of an attribute";
        return Err(Failure::usage(message).hint("leave --criterion out, or use --max-leakage"));
    }
    let table = data::fit_part(files, data, encoder, outputs, Some(Part::Fit), global)?;
    goal.check_names(table.fit.layout().labels())?;
    let mut chooser = Chooser::new(&table.fit, encoder.seed)?;
    let seed = encoder.seed;
    let rows = each(&table, (Part::Choose, seed), "looking for cells", global, |block| {
        Ok(chooser.push(block)?)
    })?;
    let certify = (0..rows).filter(|&row| Part::of(row, seed) == Part::Certify).count() as u64;
    Ok((table, chooser, certify))
}

/// Hands the rows of a part to `work`.
fn each(
    table: &FittedTable,
    part: (Part, u64),
    what: &'static str,
    global: &Global,
    mut work: impl FnMut(&sarl::Block<'_, f64>) -> Outcome,
) -> Outcome<u64> {
    let source = table.given.rows("a guarantee against every adversary")?;
    let rows = Rows { source, schema: &table.schema, part: Some(part), keep: &[], global };
    rows.each(what, |data| with_block(data, &mut work))
}

/// Certifies proposals on the third part, in one pass.
fn certify(
    table: &FittedTable,
    mut proposals: Vec<&mut Proposals>,
    seed: u64,
    global: &Global,
) -> Outcome {
    each(table, (Part::Certify, seed), "certifying", global, |block| {
        Ok(proposals.iter_mut().try_for_each(|some| some.push(block))?)
    })
    .map(drop)
}

fn number(point: &Value, name: &str) -> f64 {
    point[name].as_f64().unwrap_or(f64::NAN)
}

fn front_table(points: &[Value]) -> String {
    let row = |point: &Value| {
        let certificate = &point["certificate"];
        vec![
            percent(number(point, "advantage")),
            percent(number(point, "utility")),
            certificate["cells"].to_string(),
        ]
    };
    let header = ["advantage, at most", "target score, rows apart", "cells"];
    Sheet::new(&header, points.iter().map(row).collect(), |_| true).text(&[Step::Stack])
}

/// The target's score over the certified advantage.
fn drawing(points: &[Value]) -> String {
    let at = |p: &Value| (number(p, "advantage"), number(p, "utility"));
    let curve = points.iter().map(at).collect();
    let axes = ("certified advantage", "target score");
    plot::draw(axes, plot::Top::Largest, &[('•', "no adversary has more", curve)])
}

fn csv(points: &[Value]) -> String {
    let rows = points.iter().map(|p| {
        let cells = &p["certificate"]["cells"];
        format!("{},{},{cells}\n", number(p, "advantage"), number(p, "utility"))
    });
    std::iter::once("advantage,utility,cells\n".to_owned()).chain(rows).collect()
}
