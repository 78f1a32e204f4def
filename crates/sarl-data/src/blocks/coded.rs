//! Categories and labels on their way into a block.

use arrow_array::{Array, RecordBatch};

use super::{LabelColumn, Unseen};
use crate::cells::{At, Keys, LARGEST, Values};
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::request::Missing;
use crate::schema::{Found, Label, LabelValues, Lookup, UNSEEN};

/// A column of categories or classes on its way into a block.
pub(super) struct CodedColumn {
    pub(super) name: String,
    pub(super) place: usize,
    pub(super) categories: usize,
    pub(super) fill: u32,
    pub(super) lookup: Lookup,
}

/// A label on its way into a block.
pub(super) enum LabelPlan {
    Class(CodedColumn),
    Number { name: String, place: usize },
}

impl LabelPlan {
    pub(super) fn new(
        label: &Label,
        add: &mut impl FnMut(&str, ReadAs) -> Result<usize>,
    ) -> Result<Self> {
        let name = label.name.clone();
        Ok(match &label.values {
            LabelValues::Number { written, .. } => {
                Self::Number { place: add(&name, ReadAs::number(*written))?, name }
            }
            LabelValues::Class { kind, values, .. } => {
                let place = add(&name, ReadAs::category(*kind))?;
                let lookup = Lookup::new(values, &[], *kind);
                Self::Class(CodedColumn {
                    name,
                    place,
                    categories: values.len(),
                    fill: UNSEEN,
                    lookup,
                })
            }
        })
    }

    pub(super) fn place(&self) -> usize {
        match self {
            Self::Class(column) => column.place,
            Self::Number { place, .. } => *place,
        }
    }

    pub(super) fn empty(&self) -> LabelColumn {
        match self {
            Self::Class(column) => {
                LabelColumn::Class { classes: column.categories, codes: Vec::new() }
            }
            Self::Number { .. } => LabelColumn::Number(Vec::new()),
        }
    }

    pub(super) fn append(
        &self,
        to: &mut LabelColumn,
        batch: &RecordBatch,
        at: At<'_>,
    ) -> Result<()> {
        match (self, to) {
            (Self::Class(column), LabelColumn::Class { codes, .. }) => {
                column.append(codes, batch, None, at)
            }
            (Self::Number { name, place }, LabelColumn::Number(numbers)) => {
                let array = batch.column(*place);
                let values = Values::of(array)
                    .ok_or_else(|| at.wrong_type(name, array.data_type(), "numbers"))?;
                let start = numbers.len();
                values.extend(numbers);
                match numbers[start..].iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
                    None => Ok(()),
                    Some(row) if numbers[start + row].is_nan() => Err(at.missing(name, row)),
                    Some(row) => Err(at.too_large(name, row, numbers[start + row])),
                }
            }
            // `empty` made them alike.
            _ => Err(DataError::ReaderStopped),
        }
    }
}

impl CodedColumn {
    /// Appends codes. A feature comes with policies; a label is there and known.
    pub(super) fn append(
        &self,
        codes: &mut Vec<u32>,
        batch: &RecordBatch,
        policy: Option<(Missing, Unseen)>,
        at: At<'_>,
    ) -> Result<()> {
        let array = batch.column(self.place);
        let keys = Keys::of(array)
            .ok_or_else(|| at.wrong_type(&self.name, array.data_type(), "categories"))?;
        for row in 0..keys.len() {
            codes.push(match (self.lookup.find(&keys, row), policy) {
                (Found::Code(code), _) => code,
                (Found::Missing, Some((Missing::Mean, _))) => self.fill,
                (Found::Missing, _) => return Err(at.missing(&self.name, row)),
                (Found::Unseen, Some((_, Unseen::Ignore))) => UNSEEN,
                (Found::Unseen, _) => {
                    return Err(DataError::UnseenCategory {
                        path: at.path.to_owned(),
                        column: self.name.clone(),
                        row: at.row(row),
                        found: self.lookup.shown(&keys, row),
                        known: self.categories,
                    });
                }
            });
        }
        Ok(())
    }
}
