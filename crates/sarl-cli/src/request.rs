//! From the options about the data to a request, and what is said about its columns.

use sarl_data::{FeatureValues, MatrixArray, Request, Schema, Source, Targets};

use crate::args::DataOptions;
use crate::failure::{Failure, Outcome};

/// Columns that a warning names.
const SHOWN: usize = 6;

/// What the options ask of the data.
pub fn request(data: &DataOptions, source: &Source) -> Outcome<Request> {
    let named = |given: &[String], array: MatrixArray, option: &str| -> Outcome<Vec<String>> {
        let columns = labels(given, array, source);
        if columns.is_empty() {
            let names: Vec<&str> = source.columns().iter().map(|c| c.name.as_str()).collect();
            let shown = names.iter().take(12).copied().collect::<Vec<_>>().join(", ");
            let more = if names.len() > 12 { ", …" } else { "" };
            return Err(Failure::usage(format!("{option} is missing"))
                .hint(format!("name a column with {option} COL; there are: {shown}{more}")));
        }
        Ok(columns)
    };
    let targets = named(&data.target, MatrixArray::Y, "--target")?;
    let sensitives = named(&data.sensitive, MatrixArray::S, "--sensitive")?;
    request_with(data, &targets, &sensitives)
}

/// The same where labels need not be named.
pub fn request_without_labels(data: &DataOptions, source: &Source) -> Outcome<Request> {
    let targets = labels(&data.target, MatrixArray::Y, source);
    let sensitives = labels(&data.sensitive, MatrixArray::S, source);
    request_with(data, &targets, &sensitives)
}

/// The labels that are named, or those of a matrix file.
fn labels(given: &[String], array: MatrixArray, source: &Source) -> Vec<String> {
    if given.is_empty() { source.array_columns(array) } else { given.to_vec() }
}

fn request_with(data: &DataOptions, targets: &[String], sensitives: &[String]) -> Outcome<Request> {
    let parse = |names: &[String]| names.iter().map(|n| n.parse()).collect::<Result<Vec<_>, _>>();
    Ok(Request {
        targets: Targets::parse(targets)?,
        sensitives: parse(sensitives)?,
        features: match data.features.is_empty() {
            true => None,
            false => Some(parse(&data.features)?),
        },
        categorical: data.categorical.clone(),
        drop: data.drop.clone(),
        weight: data.weight.clone(),
        missing: data.missing.into(),
        missing_values: data.missing_values.clone(),
        max_categories: data.max_categories.map(|most| most as usize),
        part: false,
    })
}

/// What was assumed about the columns and done to the rows.
pub fn notes(source: &Source, schema: &Schema) -> Vec<String> {
    let mut notes = Vec::new();
    if !source.renamed().is_empty() {
        let names = source.renamed().iter().map(|n| format!("`{n}`")).collect::<Vec<_>>();
        notes.push(format!("columns with a name that was taken are called {}", names.join(", ")));
    }
    notes.extend(schema.notes());
    if schema.dropped_rows() > 0 {
        notes.push(format!("{} rows with missing values were left out", schema.dropped_rows()));
    }
    notes
}

/// Features that drop out because they do not vary, or too little: `spreads` are those of the fit.
pub fn flat_warning(schema: &Schema, spreads: &[(f64, f64)]) -> Option<String> {
    let numbers = schema
        .features()
        .iter()
        .filter(|feature| matches!(feature.values, FeatureValues::Number { .. }));
    let flat = numbers.zip(spreads).filter(|(_, (_, deviation))| *deviation == 0.0);
    let names: Vec<String> = flat.map(|(feature, _)| format!("`{}`", feature.name)).collect();
    let listed = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| {
        format!(
            "{listed}{more}: constant, or varies too little for double precision; nothing is learned from it"
        )
    })
}

/// Features that look like the number of the row.
pub fn index_warning(source: &Source, schema: &Schema) -> Outcome<Option<String>> {
    let names = source.rising_features(schema)?;
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    Ok((!names.is_empty()).then(|| {
        format!(
            "{listed}: whole numbers that rise from row to row; if that is the number of the \
             row, use --drop {}",
            names.join(",")
        )
    }))
}
