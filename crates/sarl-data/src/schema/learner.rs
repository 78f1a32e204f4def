//! What the first pass learns about one column.

use std::path::PathBuf;

use arrow_array::{Array, ArrayRef};

use super::categories::{Interner, MOST_CATEGORIES, TooMany, most_frequent};
use super::spread::Spread;
use super::{Feature, FeatureValues, Label, LabelValues};
use crate::cells::{At, Key, Keys, LARGEST, Values, missing};
use crate::column::{ColumnKind, Treat};
use crate::error::{DataError, Result};
use crate::format::ReadAs;
use crate::request::{Missing, PickList, Selected};

/// Rows with a missing value that a message names.
const FIRST_ROWS: usize = 5;

/// What is being learned about one column.
pub(super) struct Learner {
    selected: Selected,
    pub(super) place: usize,
    label: bool,
    missing: u64,
    first_missing: Vec<u64>,
    /// The file that these rows are in.
    missing_in: PathBuf,
    state: State,
}

enum State {
    Number(Spread),
    Class(Interner),
}

impl Learner {
    pub(super) fn new(selected: &Selected, label: bool, picks: &mut PickList) -> Self {
        let (read, state) = match selected.treat {
            Treat::Number => (ReadAs::Number, State::Number(Spread::new())),
            Treat::Class => (ReadAs::Text, State::Class(Interner::default())),
        };
        let place = picks.add(&selected.name, read);
        Self {
            selected: selected.clone(),
            place,
            label,
            missing: 0,
            first_missing: Vec::new(),
            missing_in: PathBuf::new(),
            state,
        }
    }

    /// Counts missing values, before any row is left out.
    pub(super) fn count(&mut self, column: &ArrayRef, at: At<'_>) {
        let Some(flags) = missing(column) else { return };
        for (row, _) in flags.iter().enumerate().filter(|(_, m)| **m) {
            self.missing += 1;
            if self.missing == 1 {
                self.missing_in = at.path.to_owned();
            }
            if self.first_missing.len() < FIRST_ROWS && self.missing_in == at.path {
                self.first_missing.push(at.row(row));
            }
        }
    }

    pub(super) fn see(
        &mut self,
        column: &ArrayRef,
        at: At<'_>,
        weights: Option<&[f64]>,
        scratch: &mut Vec<f64>,
    ) -> Result<()> {
        let name = &self.selected.name;
        match &mut self.state {
            State::Number(spread) => {
                let values = Values::of(column)
                    .ok_or_else(|| at.wrong_type(name, column.data_type(), "numbers"))?;
                scratch.clear();
                values.extend(scratch);
                // Looked for only when there is one: the fold is vectorised, the search is not.
                let any = scratch.iter().fold(false, |any, v| any | (v.abs() > LARGEST));
                if any && let Some(row) = scratch.iter().position(|v| v.abs() > LARGEST) {
                    return Err(at.too_large(name, row, scratch[row]));
                }
                spread.extend(scratch, weights);
                Ok(())
            }
            State::Class(interner) => {
                let keys = Keys::of(column)
                    .ok_or_else(|| at.wrong_type(name, column.data_type(), "categories"))?;
                see_keys(interner, &keys, &self.selected, self.label, at)
            }
        }
    }

    pub(super) fn check(&self, rows: u64, policy: Missing) -> Result<()> {
        let column = self.selected.name.clone();
        if self.missing == rows {
            return Err(DataError::AllMissing { column, rows });
        }
        match policy {
            Missing::Error if self.missing > 0 => {
                let (path, rows) = (self.missing_in.clone(), self.first_missing.clone());
                Err(DataError::MissingValues { path, column, count: self.missing, rows })
            }
            _ => Ok(()),
        }
    }
}

fn see_keys(
    interner: &mut Interner,
    keys: &Keys,
    selected: &Selected,
    label: bool,
    at: At<'_>,
) -> Result<()> {
    let whole = selected.kind == ColumnKind::Integer && !selected.explicit;
    for row in 0..keys.len() {
        let Some(key) = keys.get(row, selected.kind) else { continue };
        match key {
            Key::Text(text) if whole => {
                return Err(DataError::BadCell {
                    path: at.path.to_owned(),
                    column: selected.name.clone(),
                    row: at.row(row),
                    found: text.chars().take(60).collect(),
                    expected: "a number, as in the other rows",
                });
            }
            key => interner.see(key).map_err(|TooMany| DataError::TooManyCategories {
                column: selected.name.clone(),
                limit: MOST_CATEGORIES,
                label,
            })?,
        }
    }
    Ok(())
}

pub(super) fn feature(learner: Learner) -> Feature {
    let values = match learner.state {
        State::Number(spread) => {
            let (mean, std) = spread.finish();
            FeatureValues::Number { mean, std }
        }
        State::Class(interner) => {
            let (values, counts) = interner.finish();
            FeatureValues::Category {
                kind: learner.selected.kind,
                values,
                fill: most_frequent(&counts),
            }
        }
    };
    Feature { name: learner.selected.name, missing: learner.missing, values }
}

pub(super) fn label(learner: Learner) -> Result<Label> {
    let column = learner.selected.name;
    let values = match learner.state {
        State::Number(spread) => match spread.finish() {
            (value, 0.0) => return Err(DataError::ConstantLabel { column, value }),
            (mean, std) => LabelValues::Number { mean, std },
        },
        State::Class(interner) => {
            let (values, counts) = interner.finish();
            if let [value] = values.as_slice() {
                return Err(DataError::OneClass { column, value: value.clone() });
            }
            LabelValues::Class { kind: learner.selected.kind, values, counts }
        }
    };
    Ok(Label { name: column, missing: learner.missing, values })
}
