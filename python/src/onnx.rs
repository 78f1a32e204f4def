//! Encoders as ONNX models.

use pyo3::prelude::*;
use sarl::Encoder;
use sarl_onnx::{Column, Inputs};

use crate::arrays::Scaling;
use crate::failure::wrong;

/// Columns of a table: a name with its categories, or with none for a number.
pub type Columns = Vec<(String, Option<Vec<String>>)>;

/// The model of an encoder of a table with these columns, or of a matrix.
pub fn encoder(
    encoder: &Encoder,
    scaling: &Scaling,
    columns: Option<&Columns>,
    double: bool,
) -> PyResult<Vec<u8>> {
    let Some(columns) = columns else {
        let inputs = Inputs::Matrix { shift: &scaling.shift, factor: &scaling.factor };
        return sarl_onnx::encoder(encoder, &inputs, double).map_err(|e| wrong(e.to_string()));
    };
    let mut numbers = 0;
    let table: Vec<Column<'_>> = columns
        .iter()
        .map(|(name, categories)| match categories {
            Some(values) => Column::Category { name, values },
            None => {
                let place = |of: &[f64], none: f64| of.get(numbers).copied().unwrap_or(none);
                let (shift, factor) = (place(&scaling.shift, 0.0), place(&scaling.factor, 1.0));
                numbers += 1;
                Column::Number { name, shift, factor }
            }
        })
        .collect();
    sarl_onnx::encoder(encoder, &Inputs::Table(&table), double).map_err(|e| wrong(e.to_string()))
}
