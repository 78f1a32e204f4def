//! Rows that are left out because a value is missing, and the weights of the others.

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

use crate::cells::{At, LARGEST, Values, missing};
use crate::error::{DataError, Result};

/// The rows in which one of the `needed` columns is missing, if there are such rows.
pub(crate) fn gaps(batch: &RecordBatch, needed: &[usize]) -> Option<Vec<bool>> {
    let mut gaps: Option<Vec<bool>> = None;
    for column in needed {
        let Some(flags) = missing(batch.column(*column)) else { continue };
        match &mut gaps {
            None => gaps = Some(flags),
            Some(gaps) => gaps.iter_mut().zip(flags).for_each(|(gap, flag)| *gap |= flag),
        }
    }
    gaps
}

/// Leaves out the rows in which one of the `needed` columns is missing. Returns the
/// rest and, where any was left out, the places of the rest.
pub(crate) fn leave_out(
    batch: RecordBatch,
    needed: &[usize],
) -> Result<(RecordBatch, Option<Vec<usize>>), ArrowError> {
    let Some(gaps) = gaps(&batch, needed) else { return Ok((batch, None)) };
    let kept = gaps.iter().enumerate().filter(|(_, gap)| !**gap).map(|(row, _)| row).collect();
    let keep: BooleanArray = gaps.iter().map(|gap| Some(!gap)).collect();
    Ok((filter_record_batch(&batch, &keep)?, Some(kept)))
}

/// The weights of rows: finite and not negative.
pub(crate) fn weights_of(column: &ArrayRef, name: &str, at: At<'_>) -> Result<Vec<f64>> {
    let values = Values::of(column)
        .ok_or_else(|| at.wrong_type(name, arrow_array::Array::data_type(column), "weights"))?;
    let mut weights = Vec::new();
    values.extend(&mut weights);
    for (row, weight) in weights.iter().enumerate() {
        if weight.is_nan() {
            return Err(at.missing(name, row));
        } else if *weight < 0.0 {
            let (path, column, row) = (at.path.to_owned(), name.to_owned(), at.row(row));
            return Err(DataError::BadWeight { path, column, row, found: *weight });
        } else if *weight > LARGEST {
            return Err(at.too_large(name, row, *weight));
        }
    }
    Ok(weights)
}
