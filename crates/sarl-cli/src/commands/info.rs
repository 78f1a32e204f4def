//! `sarl info`.

use sarl::{Label, LabelKind, Role};
use sarl_data::{Feature, FeatureValues, Schema, Written};
use serde_json::json;

use super::erasures::{self, Erasure};
use super::layers;
use super::retune::{bytes_of, read};
use crate::args::{Global, Info};
use crate::failure::Outcome;
use crate::parts::{self, Moments};
use crate::provenance::Provenance;
use crate::terminal::{self, wrap};
use crate::{attributes, certificate, given_away, output, solution};

pub fn run(options: &Info, global: &Global) -> Outcome {
    if parts::is_file(&options.model) {
        return moments(&options.model, global);
    }
    let bytes = bytes_of(&options.model)?;
    if erasures::is_file(&bytes) {
        let erasure = Erasure::read(&options.model, &bytes)?;
        return erasure.print(&options.model, global, labels);
    }
    if let Some(found) = layers::read(&options.model, &bytes)? {
        return layers::print(&options.model, &found, global);
    }
    let model = read(&options.model, &bytes)?;
    let front = model.front()?;
    let about_fit = Provenance::of(&model.extra)?;
    let Provenance { schema, heldout, heldout_labels, .. } = &about_fit;
    let cells = model.cells().and_then(|cells| Some((cells, cells.certificate()?)));
    if global.json {
        let certificate = model.certificate();
        let mut about = json!({
            "goal": sarl_lab::goals::json(model.goal()),
            "point": output::point_json(model.point(), heldout.as_ref()),
            "attributes": attributes::json(&model, heldout_labels.as_ref())?,
            "dual_bound": certificate.dual_bound,
            "gap": certificate.gap,
            "method": model.method(),
            "map": model.map_name(),
            "inputs": model.inputs(),
            "ridge": model.reduced().ridge(),
            "cap": model.cap(),
            "labels": model.labels(),
            "bounds": output::bounds_json(model.reduced(), &front)?,
            "breakpoints": front.breakpoints()?,
            "holds": given_away::json(&model, &about_fit),
            "schema": schema,
        });
        about = output::joined(about, sarl_lab::criterion::json(&model));
        if let Some((cells, found)) = cells {
            about["certificate"] = certificate::json(found, cells.count());
            about["goal"] = certificate::goal_json(cells.goal());
        }
        return output::print_json(&about);
    }
    match cells {
        Some((cells, found)) => {
            output::print(&certificate::text(found, cells, schema.as_ref()))?;
            output::print(&wrap("\nBefore it is cut into cells, z is that of this encoder:"))?;
        }
        None => output::print(&solution::result(&model, heldout.as_ref(), None))?,
    }
    output::print(&wrap(&format!(
        "\n{}: {} over {} inputs, ridge {}",
        terminal::path(&options.model),
        model.map_name(),
        model.inputs(),
        output::digits(model.reduced().ridge())
    )))?;
    output::print(&wrap(&format!("{}\n", given_away::line(&model, &about_fit))))?;
    output::print(&format!("{}\n", labels(model.labels())))?;
    if let Some(schema) = schema {
        output::print(&columns(schema))?;
        let mut notes = schema.notes().into_iter();
        notes
            .try_for_each(|note| output::print(&wrap(&format!("{}\n", sarl_lab::plain(&note)))))?;
    }
    output::print(&solution::text(&model, heldout.as_ref(), heldout_labels.as_ref())?)?;
    output::print(&format!("\n{}", output::bounds_table(model.reduced(), &front)?))
}

/// What is kept and what is hidden.
pub fn labels(labels: &[Label]) -> String {
    let holds = labels.iter().map(|label| {
        let role = match label.role {
            Role::Target => "keeps",
            Role::Sensitive => "hides",
        };
        let kind = match label.kind {
            LabelKind::Class { classes } => format!("{classes} classes"),
            LabelKind::Number { .. } => "a number".into(),
            LabelKind::Kernel { columns: 1 } => "a number, by features of a kernel".into(),
            LabelKind::Kernel { columns } => {
                format!("{columns} numbers, by features of one kernel")
            }
            LabelKind::Features => "the features themselves".into(),
        };
        vec![role.to_owned(), label.name.clone(), kind]
    });
    output::table(&["", "label", "holds"], holds.collect(), |_| false)
}

/// What is in a file of moments.
fn moments(path: &std::path::Path, global: &Global) -> Outcome {
    let Moments { fit, schema, about } = Moments::load(path)?;
    let params = fit.params();
    if global.json {
        return output::print_json(&json!({
            "n": fit.rows(),
            "params": params,
            "labels": schema.as_ref().map(|_| fit.layout().labels()),
            "files": about.origin.names(),
            "schema": schema,
        }));
    }
    output::print(&wrap(&format!(
        "{}: moments of {} rows in {} folds, of {}\n",
        terminal::path(path),
        fit.rows(),
        params.folds,
        sarl_lab::plain(&about.origin.names().join(", "))
    )))?;
    let Some(schema) = schema else { return Ok(()) };
    output::print(&format!("{}\n", labels(fit.layout().labels())))?;
    output::print(&columns(&schema))
}

/// Columns that are shown.
const SHOWN: usize = 40;

/// What the model takes the columns for.
fn columns(schema: &Schema) -> String {
    let row = |feature: &Feature| {
        let (kind, values) = match &feature.values {
            FeatureValues::Number { written, .. } if written.is_date() => ("date", String::new()),
            FeatureValues::Number { written: Written::Plain, .. } => ("number", String::new()),
            FeatureValues::Number { .. } => ("text-number", String::new()),
            FeatureValues::Category { values, .. } => ("category", values.len().to_string()),
        };
        vec![feature.name.clone(), kind.to_owned(), values, feature.missing.to_string()]
    };
    let features = schema.features();
    let rows = features.iter().take(SHOWN).map(row).collect();
    let header = ["column", "kind", "values", "missing"];
    let mut text = output::table(&header, rows, |column| column > 1);
    if features.len() > SHOWN {
        text.push_str(&format!("\n… {} columns in all", features.len()));
    }
    text.push('\n');
    text
}
