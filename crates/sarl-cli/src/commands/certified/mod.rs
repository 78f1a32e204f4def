//! `sarl fit --max-advantage` and `sarl front --certified`: cells with a guarantee against every
//! adversary.

mod fit;
mod front;

use std::path::Path;

use sarl::Model;
use sarl::cells::{Ask, CellGoal, Cutter, Part};
use sarl_lab::{Certified, CertifiedFront};
use serde_json::Value;

pub use self::fit::fit;
pub use self::front::front;
use crate::args::{CriterionName, FitOptions, Global};
use crate::data::{self, FittedTable, Rows, with_block};
use crate::failure::{Failure, Outcome};
use crate::page;
use crate::progress::Spinner;

/// Writes the page; the points on it, as JSON.
fn report(
    command: &str,
    together: &[Model],
    fitted: Option<&Model>,
    goal: &CellGoal,
    data: &FittedTable,
    path: &Path,
    seed: u64,
) -> Outcome<Vec<Value>> {
    let table = page::table(&data.schema)?;
    let together_of = together.iter().filter_map(Certified::new);
    let front =
        CertifiedFront::new(together_of, fitted.and_then(Certified::new), goal, Some(&table));
    let models: Vec<&Model> = fitted.into_iter().chain(together).take(1).collect();
    let names = data.given.names();
    let about = page::about(&names, Some(&table), &models, seed);
    page::write(&front.page(page::subtitle(command, &names), about), path)?;
    Ok(front.json())
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

/// An encoder fitted on the first part of the rows.
fn fitted(fitting: &FitOptions, outputs: &[&Path], global: &Global) -> Outcome<FittedTable> {
    if !fitting.files.moments.is_empty() {
        let message = "a guarantee against every adversary needs rows: --moments has sums only";
        return Err(Failure::usage(message).hint("give DATA in place of --moments"));
    }
    if let Some(column) = &fitting.data.weight {
        let message = format!(
            "--weight {column}: a guarantee against every adversary holds for rows that count once"
        );
        return Err(Failure::usage(message).hint(format!("use --drop {column}")));
    }
    if fitting.encoder.criterion != CriterionName::Parity {
        let message =
            "--criterion: a guarantee against every adversary is about all of an attribute";
        return Err(Failure::usage(message).hint("leave --criterion out, or use --max-leakage"));
    }
    data::fit_part(fitting, outputs, Some(Part::Fit), global)
}

/// Cuts z into cells: the second part of the rows chooses them, the third certifies them.
fn cut(
    table: &FittedTable,
    asks: Vec<Ask>,
    seed: u64,
    global: &Global,
) -> Outcome<Vec<Vec<Model>>> {
    let mut cutter = Cutter::new(&table.fit, asks, seed)?;
    let pass = |cutter: &mut Cutter, what: &'static str| {
        let part = Some((cutter.part(), seed));
        let source = table.given.rows("a guarantee against every adversary")?;
        let rows = Rows { source, schema: &table.schema, part, keep: &[], global };
        rows.each(what, |data| with_block(data, |block| Ok(cutter.push(block)?)))
    };
    let rows = pass(&mut cutter, "looking for cells")?;
    let chosen_on = cutter.rows();
    {
        let _spinner = Spinner::new("choosing cells", global.quiet);
        cutter.choose(Part::Certify.count(rows, seed))?;
    }
    if cutter.is_empty() {
        return Err(sarl::Error::NoCells { rows: chosen_on }.into());
    }
    pass(&mut cutter, "certifying")?;
    Ok(cutter.finish()?)
}
