//! Encoders as ONNX models.

use pyo3::prelude::*;
use sarl::Encoder;
use sarl_onnx::{Column, Inputs};

use crate::failure::wrong;

/// Columns of a table: a name with its categories, or with none for a number.
pub type Columns = Vec<(String, Option<Vec<String>>)>;

/// The model of an encoder of a table with these columns, or of a matrix.
pub fn encoder(encoder: &Encoder, columns: Option<&Columns>, double: bool) -> PyResult<Vec<u8>> {
    let table: Option<Vec<Column<'_>>> = columns.map(|columns| {
        let columns = columns.iter().map(|(name, categories)| match categories {
            Some(values) => Column::Category { name, values },
            None => Column::Number { name },
        });
        columns.collect()
    });
    let inputs = table.as_deref().map_or(Inputs::Matrix, Inputs::Table);
    sarl_onnx::encoder(encoder, &inputs, double).map_err(|e| wrong(e.to_string()))
}
