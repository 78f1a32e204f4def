//! From Arrow arrays to numbers and to the keys of categories.

mod convert;
mod shown;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array,
};
use arrow_schema::DataType;

use crate::column::ColumnKind;
use crate::error::DataError;
pub(crate) use convert::Texts;
use convert::{days, floats, integers};
pub(crate) use shown::{Show, show};

/// Numbers beyond this are refused: their squares would swamp every sum.
pub(crate) const LARGEST: f64 = 1e100;

/// The numbers of a column; NaN stands for a missing one.
pub(crate) enum Values {
    F64(Float64Array),
    F32(Float32Array),
    I64(Int64Array),
    I32(Int32Array),
}

impl Values {
    /// The numbers of an array, or none if it does not hold any.
    pub(crate) fn of(array: &ArrayRef) -> Option<Self> {
        if array.null_count() == 0 {
            match array.data_type() {
                DataType::Float64 => {
                    return Some(Self::F64(array.as_primitive::<Float64Type>().clone()));
                }
                DataType::Float32 => {
                    return Some(Self::F32(array.as_primitive::<Float32Type>().clone()));
                }
                DataType::Int64 => {
                    return Some(Self::I64(array.as_primitive::<Int64Type>().clone()));
                }
                DataType::Int32 => {
                    return Some(Self::I32(array.as_primitive::<Int32Type>().clone()));
                }
                _ => {}
            }
        }
        match ColumnKind::of(array.data_type()) {
            ColumnKind::Text | ColumnKind::Written | ColumnKind::Other => None,
            ColumnKind::Date => Some(Self::F64(days(array)?)),
            _ => Some(Self::F64(floats(array)?)),
        }
    }

    /// The number of a row.
    pub(crate) fn get(&self, row: usize) -> f64 {
        match self {
            Self::F64(a) => a.value(row),
            Self::F32(a) => f64::from(a.value(row)),
            Self::I64(a) => a.value(row) as f64,
            Self::I32(a) => f64::from(a.value(row)),
        }
    }

    /// Some of the numbers, if they are of this type.
    pub(crate) fn as_f64(&self, rows: Range<usize>) -> Option<&[f64]> {
        if let Self::F64(a) = self { a.values().get(rows) } else { None }
    }

    /// Some of the numbers, if they are of this type.
    pub(crate) fn as_f32(&self, rows: Range<usize>) -> Option<&[f32]> {
        if let Self::F32(a) = self { a.values().get(rows) } else { None }
    }

    /// Appends all numbers to a vector.
    pub(crate) fn extend(&self, into: &mut Vec<f64>) {
        match self {
            Self::F64(a) => into.extend_from_slice(a.values()),
            Self::F32(a) => into.extend(a.values().iter().map(|v| f64::from(*v))),
            Self::I64(a) => into.extend(a.values().iter().map(|v| *v as f64)),
            Self::I32(a) => into.extend(a.values().iter().map(|v| f64::from(*v))),
        }
    }
}

/// Which cells of a column are missing, if any is.
pub(crate) fn missing(array: &ArrayRef) -> Option<Vec<bool>> {
    let nulls = array.logical_nulls().filter(|n| n.null_count() > 0);
    if let Some(nulls) = nulls {
        let values =
            Values::of(array).filter(|_| ColumnKind::of(array.data_type()) == ColumnKind::Float);
        return Some(match values {
            Some(values) => (0..array.len()).map(|row| values.get(row).is_nan()).collect(),
            None => (0..array.len()).map(|row| nulls.is_null(row)).collect(),
        });
    }
    match array.data_type() {
        DataType::Float64 => nans(array.as_primitive::<Float64Type>().values()),
        DataType::Float32 => nans(array.as_primitive::<Float32Type>().values()),
        _ => None,
    }
}

#[allow(clippy::eq_op)] // only NaN differs from itself
fn nans<T: Copy + PartialEq>(values: &[T]) -> Option<Vec<bool>> {
    let any = values.iter().fold(false, |any, v| any | (v != v));
    any.then(|| values.iter().map(|v| v != v).collect())
}

/// The value of a cell that names its category.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    Int(i64),
    Text(Cow<'a, str>),
}

impl Key<'_> {
    /// As a person would write it.
    pub(crate) fn into_text(self) -> String {
        match self {
            Key::Int(value) => value.to_string(),
            Key::Text(text) => text.into_owned(),
        }
    }

    /// The same, for a message.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Key::Int(value) => value.to_string(),
            Key::Text(text) => text.to_string(),
        }
    }
}

/// The keys of a column of categories.
pub(crate) enum Keys {
    Text(Texts),
    Int(Int64Array),
    Bool(BooleanArray),
    Float(Float64Array),
}

impl Keys {
    /// The keys of an array, or none if it cannot hold categories.
    pub(crate) fn of(array: &ArrayRef) -> Option<Self> {
        Some(match ColumnKind::of(array.data_type()) {
            ColumnKind::Text | ColumnKind::Written | ColumnKind::Empty | ColumnKind::Date => {
                Self::Text(Texts::of(array)?)
            }
            ColumnKind::Integer => Self::Int(integers(array)?),
            ColumnKind::Float => Self::Float(floats(array)?),
            ColumnKind::Bool => Self::Bool(array.as_boolean().clone()),
            ColumnKind::Other => return None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(a) => a.len(),
            Self::Int(a) => a.len(),
            Self::Bool(a) => a.len(),
            Self::Float(a) => a.len(),
        }
    }

    /// The key of a row, or none where it is missing. Text is read as what a column
    /// of this kind holds, so that CSV and typed formats agree.
    pub(crate) fn get(&self, row: usize, kind: ColumnKind) -> Option<Key<'_>> {
        match self {
            Self::Text(a) => a.get(row).map(|text| text_key(text, kind)),
            Self::Int(a) => a.is_valid(row).then(|| Key::Int(a.value(row))),
            Self::Bool(a) => a.is_valid(row).then(|| bool_key(a.value(row))),
            Self::Float(a) => (!a.value(row).is_nan()).then(|| float_key(a.value(row))),
        }
    }
}

fn text_key(text: &str, kind: ColumnKind) -> Key<'_> {
    match kind {
        ColumnKind::Integer | ColumnKind::Float => match (text.parse::<i64>(), text.parse::<f64>())
        {
            (Ok(value), _) => Key::Int(value),
            (_, Ok(value)) => float_key(value),
            _ => Key::Text(Cow::Borrowed(text)),
        },
        ColumnKind::Bool if text.eq_ignore_ascii_case("true") => bool_key(true),
        ColumnKind::Bool if text.eq_ignore_ascii_case("false") => bool_key(false),
        _ => Key::Text(Cow::Borrowed(text)),
    }
}

fn bool_key(value: bool) -> Key<'static> {
    Key::Text(Cow::Borrowed(if value { "true" } else { "false" }))
}

fn float_key(value: f64) -> Key<'static> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        Key::Int(value as i64)
    } else {
        Key::Text(Cow::Owned(value.to_string()))
    }
}

/// Where some rows come from, for messages.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a Path,
    /// The row of the file that the first of them is, counted from 0.
    pub(crate) first_row: u64,
    /// Their distances from it, where rows between them were left out.
    pub(crate) kept: Option<&'a [usize]>,
}

impl At<'_> {
    /// The row of the file, counted from 1.
    pub(crate) fn row(&self, row: usize) -> u64 {
        let offset = self.kept.and_then(|k| k.get(row).copied()).unwrap_or(row);
        self.first_row + offset as u64 + 1
    }

    pub(crate) fn too_large(&self, column: &str, row: usize, found: f64) -> DataError {
        DataError::TooLarge {
            path: self.path.to_owned(),
            column: column.to_owned(),
            row: self.row(row),
            found,
        }
    }

    pub(crate) fn missing(&self, column: &str, row: usize) -> DataError {
        DataError::MissingCell {
            path: self.path.to_owned(),
            column: column.to_owned(),
            row: self.row(row),
        }
    }

    pub(crate) fn wrong_type(&self, column: &str, found: &DataType, expected: &str) -> DataError {
        let kind = ColumnKind::of(found);
        let found =
            if kind == ColumnKind::Other { found.to_string() } else { kind.describe().to_owned() };
        DataError::WrongType {
            path: self.path.to_owned(),
            column: column.to_owned(),
            found,
            expected: expected.to_owned(),
        }
    }
}
