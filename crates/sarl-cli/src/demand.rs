//! Fits that need more memory than there may be, refused with what to do about it.

use sarl::FitParams;
use sarl_data::{FeatureValues, Schema};
use sarl_memory::{Exceeded, shown};

use crate::failure::{Exit, Failure, Outcome};

/// Refuses a fit that needs more memory than there may be.
pub fn check(schema: &Schema, params: &FitParams) -> Outcome {
    let columns = schema.width() as u64;
    let (rows, dense) = (schema.rows(), schema.dense_width() as u64);
    let Err(Exceeded { needed, limit }) = sarl_memory::check(params.bytes(rows, dense, columns))
    else {
        return Ok(());
    };
    let message = format!(
        "a fit of {columns} columns needs about {} of memory, and the limit is {}",
        shown(needed),
        shown(limit)
    );
    let failure = Failure::new(Exit::Machine, message);
    let size = |values: &FeatureValues| match values {
        FeatureValues::Category { values, .. } => values.len(),
        FeatureValues::Number { .. } => 1,
    };
    let widest = schema.features().iter().max_by_key(|f| size(&f.values));
    let fewer = match params.features {
        sarl::Features::Linear => "use fewer columns with --features or --drop, or fewer --folds",
        sarl::Features::Kernel(_) => "use fewer --landmarks, or fewer --folds",
    };
    Err(match widest.filter(|f| size(&f.values) > 50) {
        Some(widest) => failure.hint(format!(
            "`{}` has {} categories: use --max-categories 50, or --drop it",
            widest.name,
            size(&widest.values)
        )),
        None => failure.hint(fewer),
    })
}
