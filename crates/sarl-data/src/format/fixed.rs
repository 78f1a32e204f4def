//! Columns whose value is the same in all rows of a file: those of its partition folders.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema as ArrowSchema};

use super::{Batches, Pick, Reading, batch_of, typed};
use crate::cells::At;
use crate::column::{Column, ColumnKind};
use crate::error::{DataError, Result};
use crate::input::Input;

/// A value of a partition folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Integer(i64),
    Text(String),
    /// Missing, in a column of integers or of text.
    Missing(ColumnKind),
}

impl Value {
    /// What a column of such values holds.
    pub(crate) fn kind(&self) -> ColumnKind {
        match self {
            Self::Integer(_) => ColumnKind::Integer,
            Self::Text(_) => ColumnKind::Text,
            Self::Missing(kind) => *kind,
        }
    }

    /// The column of a name.
    pub(super) fn column(&self, name: &str) -> Column {
        Column {
            name: name.to_owned(),
            kind: self.kind(),
            type_name: "partition".to_owned(),
            array: None,
        }
    }

    fn repeated(&self, rows: usize) -> ArrayRef {
        match self {
            Self::Integer(value) => Arc::new(Int64Array::from_value(*value, rows)),
            Self::Text(text) => {
                Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
            }
            Self::Missing(ColumnKind::Integer) => Arc::new(Int64Array::new_null(rows)),
            Self::Missing(_) => Arc::new(StringArray::new_null(rows)),
        }
    }
}

/// The batches of a file with these columns between its own.
pub(super) struct WithFixed {
    pub(super) path: Input,
    /// The batches of the other columns.
    pub(super) own: Batches,
    /// All columns, and the value of each that is not in the file.
    pub(super) reading: Reading,
    pub(super) values: Vec<Option<Value>>,
    /// Whether cells of the file are text; then nobody else reads these columns as was asked.
    pub(super) is_text: bool,
}

impl WithFixed {
    fn joined(&self, own: &RecordBatch) -> Result<RecordBatch> {
        let rows = own.num_rows();
        let at = At { path: &self.path, first_row: 0, kept: None };
        let mut others = own.columns().iter();
        let mut column = |(pick, value): (&Pick, &Option<Value>)| match value {
            Some(value) if self.is_text => {
                typed::column(&value.repeated(rows), pick, &self.reading.tokens, at)
            }
            Some(value) => Ok(value.repeated(rows)),
            None => others.next().cloned().ok_or(DataError::ReaderStopped),
        };
        let pairs = self.reading.picks.iter().zip(&self.values);
        let columns = pairs.map(&mut column).collect::<Result<Vec<ArrayRef>>>()?;
        let fields = self.reading.picks.iter().zip(&columns);
        let fields = fields.map(|(pick, c)| Field::new(&pick.name, c.data_type().clone(), true));
        let schema = Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()));
        batch_of(schema, columns, rows).map_err(|e| DataError::damaged(&self.path, "data", e))
    }
}

impl Iterator for WithFixed {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let own = self.own.next()?;
        Some(own.and_then(|own| self.joined(&own)))
    }
}
