//! Categories and labels on their way into a block.

use arrow_array::{Array, RecordBatch};
use hashbrown::HashMap;

use super::{LabelColumn, Unseen};
use crate::cells::{At, Keys, LARGEST, Values};
use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::request::Missing;
use crate::schema::{ClassesOf, Found, Label, LabelValues, Lookup, UNSEEN};
use crate::text::Written;

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
    Number(NumberPlan),
    Numbers(Vec<NumberPlan>),
    Bins {
        column: NumberPlan,
        edges: Vec<f64>,
    },
    Combination {
        name: String,
        columns: Vec<CodedColumn>,
        classes: HashMap<Vec<u32>, u32>,
        other: Option<u32>,
    },
}

/// A column of numbers on its way into a label.
pub(super) struct NumberPlan {
    name: String,
    place: usize,
}

impl LabelPlan {
    pub(super) fn new(
        label: &Label,
        add: &mut impl FnMut(&str, ReadAs) -> Result<usize>,
    ) -> Result<Self> {
        let mut number = |name: &str, written: Written| -> Result<NumberPlan> {
            Ok(NumberPlan { place: add(name, ReadAs::number(written))?, name: name.to_owned() })
        };
        Ok(match &label.values {
            LabelValues::Number { columns, .. } if !columns.is_empty() => {
                let columns = columns.iter().map(|c| number(&c.name, c.written));
                Self::Numbers(columns.collect::<Result<_>>()?)
            }
            LabelValues::Number { written, .. } => Self::Number(number(&label.name, *written)?),
            LabelValues::Class { of: Some(ClassesOf::Bins { edges, written }), .. } => {
                Self::Bins { column: number(&label.name, *written)?, edges: edges.clone() }
            }
            LabelValues::Class {
                of: Some(ClassesOf::Combination { columns, codes, pooled }),
                ..
            } => {
                let columns = columns.iter().map(|c| coded(&c.name, c.kind, &c.values, add));
                let columns = columns.collect::<Result<_>>()?;
                let other = pooled.then_some(codes.len() as u32);
                let (name, classes) =
                    (label.name.clone(), codes.iter().cloned().zip(0..).collect());
                Self::Combination { name, columns, classes, other }
            }
            LabelValues::Class { kind, values, .. } => {
                Self::Class(coded(&label.name, *kind, values, add)?)
            }
        })
    }

    /// The columns that it is read from.
    pub(super) fn places(&self) -> Vec<usize> {
        match self {
            Self::Class(column) => vec![column.place],
            Self::Number(column) | Self::Bins { column, .. } => vec![column.place],
            Self::Numbers(columns) => columns.iter().map(|c| c.place).collect(),
            Self::Combination { columns, .. } => columns.iter().map(|c| c.place).collect(),
        }
    }

    pub(super) fn empty(&self) -> LabelColumn {
        let class = |classes| LabelColumn::Class { classes, codes: Vec::new() };
        match self {
            Self::Class(column) => class(column.categories),
            Self::Bins { edges, .. } => class(edges.len() + 1),
            Self::Combination { classes, other, .. } => {
                class(classes.len() + usize::from(other.is_some()))
            }
            Self::Number(_) => LabelColumn::Number(Vec::new()),
            Self::Numbers(columns) => {
                LabelColumn::Numbers { width: columns.len(), values: Vec::new() }
            }
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
            (Self::Number(column), LabelColumn::Number(numbers)) => {
                column.append(numbers, batch, at)
            }
            (Self::Numbers(columns), LabelColumn::Numbers { values, .. }) => {
                let mut each = Vec::new();
                for column in columns {
                    let mut numbers = Vec::new();
                    column.append(&mut numbers, batch, at)?;
                    each.push(numbers);
                }
                let rows = 0..batch.num_rows();
                values.extend(rows.flat_map(|row| each.iter().map(move |numbers| numbers[row])));
                Ok(())
            }
            (Self::Bins { column, edges }, LabelColumn::Class { codes, .. }) => {
                let mut numbers = Vec::new();
                column.append(&mut numbers, batch, at)?;
                let bin = |v: &f64| edges.partition_point(|edge| edge <= v) as u32;
                codes.extend(numbers.iter().map(bin));
                Ok(())
            }
            (
                Self::Combination { name, columns, classes, other },
                LabelColumn::Class { codes, .. },
            ) => {
                let mut each = Vec::new();
                for column in columns {
                    let mut codes = Vec::new();
                    column.append(&mut codes, batch, None, at)?;
                    each.push(codes);
                }
                let mut cells = vec![0; columns.len()];
                for row in 0..batch.num_rows() {
                    cells.iter_mut().zip(&each).for_each(|(cell, codes)| *cell = codes[row]);
                    match classes.get(&cells).copied().or(*other) {
                        Some(class) => codes.push(class),
                        None => return Err(unseen(name, columns, classes.len(), batch, at, row)),
                    }
                }
                Ok(())
            }
            // `empty` made them alike.
            _ => Err(DataError::ReaderStopped),
        }
    }
}

/// A combination that the schema does not know.
fn unseen(
    name: &str,
    columns: &[CodedColumn],
    known: usize,
    batch: &RecordBatch,
    at: At<'_>,
    row: usize,
) -> DataError {
    let cell = |c: &CodedColumn| {
        Keys::of(batch.column(c.place)).map_or_else(String::new, |keys| c.lookup.shown(&keys, row))
    };
    DataError::UnseenCategory {
        path: at.path.to_owned(),
        column: name.to_owned(),
        row: at.row(row),
        found: columns.iter().map(cell).collect::<Vec<_>>().join("*"),
        known,
    }
}

fn coded(
    name: &str,
    kind: ColumnKind,
    values: &[String],
    add: &mut impl FnMut(&str, ReadAs) -> Result<usize>,
) -> Result<CodedColumn> {
    Ok(CodedColumn {
        name: name.to_owned(),
        place: add(name, ReadAs::category(kind))?,
        categories: values.len(),
        fill: UNSEEN,
        lookup: Lookup::new(values, &[], kind),
    })
}

impl NumberPlan {
    /// Appends numbers, which are there and not too large.
    fn append(&self, numbers: &mut Vec<f64>, batch: &RecordBatch, at: At<'_>) -> Result<()> {
        let NumberPlan { name, place } = self;
        let array = batch.column(*place);
        let values =
            Values::of(array).ok_or_else(|| at.wrong_type(name, array.data_type(), "numbers"))?;
        let start = numbers.len();
        values.extend(numbers);
        match numbers[start..].iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
            None => Ok(()),
            Some(row) if numbers[start + row].is_nan() => Err(at.missing(name, row)),
            Some(row) => Err(at.too_large(name, row, numbers[start + row])),
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
