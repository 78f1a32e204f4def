//! What is left to do for files that have types of their own: text that stands for numbers
//! or for missing values, and numbers that stand for missing values.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, LargeStringArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema as ArrowSchema};
use arrow_select::nullif::nullif;

use super::{Pick, ReadAs, Reading, batch_of};
use crate::cells::{At, Texts, Values};
use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::text::{Written, gap};

/// A batch of a typed file with its cells read as was asked.
pub(crate) fn interpret(batch: RecordBatch, reading: &Reading, at: At<'_>) -> Result<RecordBatch> {
    let plain = |pick: &Pick| !matches!(pick.read, ReadAs::Written(_) | ReadAs::Code);
    if reading.tokens.is_empty() && reading.picks.iter().all(plain) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().zip(&reading.picks);
    let columns = columns
        .map(|(array, pick)| column(array, pick, &reading.tokens, at))
        .collect::<Result<_>>();
    let columns: Vec<ArrayRef> = columns?;
    let field = |(column, pick): (&ArrayRef, &Pick)| {
        Field::new(&pick.name, column.data_type().clone(), true)
    };
    let fields: Vec<Field> = columns.iter().zip(&reading.picks).map(field).collect();
    let rows = batch.num_rows();
    batch_of(Arc::new(ArrowSchema::new(fields)), columns, rows)
        .map_err(|e| DataError::damaged(at.path, "data", e))
}

/// A column with its cells read as was asked.
pub(super) fn column(
    array: &ArrayRef,
    pick: &Pick,
    tokens: &[String],
    at: At<'_>,
) -> Result<ArrayRef> {
    let kind = ColumnKind::of(array.data_type());
    match (kind, pick.read) {
        (_, ReadAs::Verbatim) | (ColumnKind::Other, _) => Ok(array.clone()),
        (ColumnKind::Text, read) => {
            let Some(texts) = Texts::of(array) else {
                return Err(DataError::damaged(at.path, "data", "a dictionary of text"));
            };
            match read {
                ReadAs::Written(written) => numbers(&texts, written, &pick.name, tokens, at),
                read => Ok(without_gaps(&texts, read, tokens)),
            }
        }
        _ => Ok(without_numbers(array, tokens)),
    }
}

fn numbers(
    texts: &Texts,
    written: Written,
    name: &str,
    tokens: &[String],
    at: At<'_>,
) -> Result<ArrayRef> {
    let number = |(row, text): (usize, Option<&str>)| match text.map(str::trim) {
        None => Ok(f64::NAN),
        Some(text) if gap(text.as_bytes()).is_some() || is_token(text, tokens) => Ok(f64::NAN),
        Some(text) => written.read(text).ok_or_else(|| DataError::BadCell {
            path: at.path.to_owned(),
            column: name.to_owned(),
            row: at.row(row),
            found: text.chars().take(60).collect(),
            expected: written.expected(),
        }),
    };
    let values = texts.iter().enumerate().map(number).collect::<Result<Vec<f64>>>()?;
    Ok(Arc::new(Float64Array::from(values)))
}

fn without_gaps(texts: &Texts, read: ReadAs, tokens: &[String]) -> ArrayRef {
    let missing = |text: &str| {
        is_token(text, tokens) || (read == ReadAs::Code && gap(text.trim().as_bytes()).is_some())
    };
    // Texts that fill more than two gigabytes are told by the longer offsets.
    let kept = texts.iter().map(|text| text.filter(|t| !missing(t)));
    match texts {
        Texts::Short(_) => Arc::new(kept.collect::<StringArray>()),
        _ => Arc::new(kept.collect::<LargeStringArray>()),
    }
}

fn is_token(text: &str, tokens: &[String]) -> bool {
    tokens.iter().any(|t| t == text)
}

/// Numbers without those that a token names: `-999`, say.
fn without_numbers(array: &ArrayRef, tokens: &[String]) -> ArrayRef {
    let named: Vec<f64> = tokens.iter().filter_map(|t| t.parse().ok()).collect();
    let Some(values) = Values::of(array).filter(|_| !named.is_empty()) else {
        return array.clone();
    };
    let gone = (0..array.len()).map(|row| Some(named.contains(&values.get(row)))).collect();
    nullif(array, &gone).unwrap_or_else(|_| array.clone())
}
