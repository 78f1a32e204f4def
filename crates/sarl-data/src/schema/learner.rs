//! What the first pass learns about one column.

use std::collections::HashSet;
use std::path::PathBuf;

use arrow_array::{Array, ArrayRef};

use super::categories::{Counted, Interner, MOST_CATEGORIES, most_frequent};
use super::quantiles::Quantiles;
use super::rules::{MOST_WHOLE_CLASSES, is_identifier, is_identifier_label};
use super::spread::Spread;
use super::{Feature, FeatureValues, Label, LabelValues};
use crate::cells::{At, Key, Keys, LARGEST, Values, missing};
use crate::column::{ColumnKind, Treat};
use crate::error::{DataError, Result, Unusable, WhyUnusable};
use crate::format::ReadAs;
use crate::picks::PickList;
use crate::request::{How, Missing, Request, Selected};
use crate::text::Written;

/// Rows with a missing value that a message names.
const FIRST_ROWS: usize = 5;
/// What is being learned about one column.
pub(super) struct Learner {
    pub(super) selected: Selected,
    pub(super) place: usize,
    label: bool,
    missing: u64,
    first_missing: Vec<u64>,
    /// The file that these rows are in.
    missing_in: PathBuf,
    /// Cells that were learned from.
    cells: u64,
    most: Option<usize>,
    /// Whether only a part of the rows is seen.
    part: bool,
    /// Values of rows that were left out.
    spare: HashSet<String>,
    state: State,
    /// For bins.
    quantiles: Option<Quantiles>,
}

enum State {
    Number(Spread),
    Class(Interner),
    /// Classes if they are few whole numbers, otherwise numbers.
    Either {
        values: Interner,
        spread: Spread,
        whole: bool,
    },
}

impl Learner {
    pub(super) fn new(
        selected: &Selected,
        label: bool,
        request: &Request,
        picks: &mut PickList,
    ) -> Self {
        let most = request.max_categories.filter(|_| !label);
        let interner = if most.is_some() { Interner::pooled() } else { Interner::default() };
        let (read, state) = match selected.how {
            How::Number => (ReadAs::number(selected.written), State::Number(Spread::new())),
            How::Class => (ReadAs::category(selected.kind), State::Class(interner)),
            How::Open => {
                let spread = Spread::new();
                (ReadAs::Code, State::Either { values: interner, spread, whole: true })
            }
        };
        let place = picks.add(&selected.name, read);
        Self {
            selected: selected.clone(),
            place,
            label,
            missing: 0,
            first_missing: Vec::new(),
            missing_in: PathBuf::new(),
            cells: 0,
            most,
            part: request.part,
            spare: HashSet::new(),
            state,
            quantiles: matches!(selected.treat, Some(Treat::Bins(_))).then(Quantiles::default),
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

    /// Remembers the categories of rows that are left out: they are known, not learned from.
    pub(super) fn see_left_out(&mut self, column: &ArrayRef, kept: &[usize]) {
        let State::Class(interner) = &self.state else { return };
        if self.label || self.most.is_some() || interner.overflowed() {
            return;
        }
        let Some(keys) = Keys::of(column) else { return };
        let mut kept = kept.iter().peekable();
        for row in 0..keys.len() {
            if kept.next_if(|k| **k == row).is_some() || self.spare.len() >= MOST_CATEGORIES {
                continue;
            }
            if let Some(key) = keys.get(row, self.selected.kind) {
                self.spare.insert(key.into_text());
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
        scratch.clear();
        match &mut self.state {
            State::Number(spread) => {
                let values = Values::of(column)
                    .ok_or_else(|| at.wrong_type(name, column.data_type(), "numbers"))?;
                values.extend(scratch);
                check_size(scratch, name, at)?;
                spread.extend(scratch, weights);
                if let Some(quantiles) = &mut self.quantiles {
                    quantiles.extend(scratch, weights);
                }
            }
            State::Class(interner) => {
                let keys = Keys::of(column)
                    .ok_or_else(|| at.wrong_type(name, column.data_type(), "categories"))?;
                for row in 0..keys.len() {
                    if let Some(key) = keys.get(row, self.selected.kind) {
                        interner.see(key);
                        self.cells += 1;
                    }
                }
            }
            State::Either { values, spread, whole } => {
                let keys = Keys::of(column)
                    .ok_or_else(|| at.wrong_type(name, column.data_type(), "numbers"))?;
                *whole &= see_either(values, &keys, &self.selected, at, scratch)?;
                check_size(scratch, name, at)?;
                spread.extend(scratch, weights);
            }
        }
        Ok(())
    }

    /// Why nothing can be learned from a feature, if so.
    pub(super) fn unusable(&self, rows: u64) -> Option<Unusable> {
        let why = match &self.state {
            _ if self.missing == rows => WhyUnusable::Empty,
            State::Class(interner) if self.most.is_none() => {
                let (values, more) = (interner.len(), interner.overflowed());
                let judged = !self.selected.explicit && !self.part;
                let guessed = judged && is_identifier(values, self.cells);
                match more || guessed {
                    true if more => {
                        WhyUnusable::Values { more_than: true, values: MOST_CATEGORIES as u64 }
                    }
                    true => WhyUnusable::Values { more_than: false, values: values as u64 },
                    false => return None,
                }
            }
            _ => return None,
        };
        Some(Unusable { column: self.selected.name.clone(), why })
    }

    /// Whether values are missing.
    pub(super) fn has_gaps(&self) -> bool {
        self.missing > 0
    }

    pub(super) fn check(&self, rows: u64, request: &Request) -> Result<()> {
        let column = self.selected.name.clone();
        if self.missing == rows {
            return Err(DataError::AllMissing { column, rows });
        }
        match request.missing {
            Missing::Error if self.missing > 0 => {
                let (path, rows) = (self.missing_in.clone(), self.first_missing.clone());
                Err(DataError::MissingValues { path, column, count: self.missing, rows })
            }
            _ => Ok(()),
        }
    }
}

/// Refuses numbers that are too large.
fn check_size(values: &[f64], name: &str, at: At<'_>) -> Result<()> {
    // Looked for only when there is one: the fold is vectorised, the search is not.
    let any = values.iter().fold(false, |any, v| any | (v.abs() > LARGEST));
    match values.iter().position(|v| any && v.abs() > LARGEST) {
        Some(row) => Err(at.too_large(name, row, values[row])),
        None => Ok(()),
    }
}

/// Counts the cells and reads them as numbers; says whether all of them are whole.
fn see_either(
    interner: &mut Interner,
    keys: &Keys,
    selected: &Selected,
    at: At<'_>,
    numbers: &mut Vec<f64>,
) -> Result<bool> {
    let mut whole = true;
    for row in 0..keys.len() {
        let Some(key) = keys.get(row, selected.kind) else {
            numbers.push(f64::NAN);
            continue;
        };
        let value = match &key {
            Key::Int(value) => Some(*value as f64),
            Key::Text(text) => selected.written.read(text.trim()),
        };
        let value = value.ok_or_else(|| DataError::BadCell {
            path: at.path.to_owned(),
            column: selected.name.clone(),
            row: at.row(row),
            found: key.to_text().chars().take(60).collect(),
            expected: "a number, as in the other rows",
        })?;
        whole &= value.fract() == 0.0;
        numbers.push(value);
        interner.see(key);
    }
    Ok(whole)
}

pub(super) fn feature(learner: Learner) -> Feature {
    let Learner { selected, missing, most, cells, spare, state, .. } = learner;
    let values = match state {
        State::Number(spread) | State::Either { spread, .. } => {
            let (mean, std) = spread.finish();
            FeatureValues::Number { mean, std, written: selected.written }
        }
        State::Class(interner) => {
            let forgotten = interner.overflowed();
            let mut counted = interner.finish();
            let pooled = most.is_some_and(|most| counted.pool(most, cells, forgotten));
            let learned: HashSet<&String> = counted.values.iter().collect();
            let mut spare: Vec<String> =
                spare.into_iter().filter(|value| !learned.contains(value)).collect();
            spare.sort();
            let fill = most_frequent(&counted.counts);
            let (kind, values) = (selected.kind, counted.values);
            FeatureValues::Category { kind, values, fill, pooled, spare }
        }
    };
    Feature { name: selected.name, missing, values }
}

pub(super) fn label(learner: Learner) -> Result<Label> {
    let part = learner.part;
    let Selected { name: column, written, kind, explicit, treat, .. } = learner.selected;
    let number = |spread: Spread, whole: Option<u64>, kernel: bool| {
        number(&column, spread, written, whole, kernel, part)
    };
    let values = match learner.state {
        State::Number(spread) => match (treat, learner.quantiles) {
            (Some(Treat::Bins(bins)), Some(quantiles)) => {
                // A constant is the same error as of a number.
                number(spread, None, false)?;
                quantiles.bins(bins, written).ok_or(DataError::NoBins { column: column.clone() })?
            }
            (treat, _) => number(spread, None, treat == Some(Treat::Kernel))?,
        },
        State::Either { values, spread, whole } => {
            let (different, more) = (values.len(), values.overflowed());
            match whole && !more && different <= MOST_WHOLE_CLASSES {
                true => classes(&column, values, kind, part)?,
                false => {
                    let different = if more { MOST_CATEGORIES } else { different };
                    number(spread, whole.then_some(different as u64), false)?
                }
            }
        }
        State::Class(interner) => {
            let (values, more) = (interner.len(), interner.overflowed());
            if more || (!explicit && !part && is_identifier_label(values, learner.cells)) {
                let values = if more { MOST_CATEGORIES } else { values } as u64;
                return Err(DataError::TooManyClasses { column, values, more_than: more });
            }
            classes(&column, interner, kind, part)?
        }
    };
    Ok(Label { name: column, missing: learner.missing, values })
}

fn classes(column: &str, values: Interner, kind: ColumnKind, part: bool) -> Result<LabelValues> {
    let Counted { values, counts } = values.finish();
    match values.as_slice() {
        [value] if !part => {
            Err(DataError::OneClass { column: column.to_owned(), value: value.clone() })
        }
        _ => Ok(LabelValues::Class { kind, values, counts, of: None }),
    }
}

fn number(
    column: &str,
    spread: Spread,
    written: Written,
    whole: Option<u64>,
    kernel: bool,
    part: bool,
) -> Result<LabelValues> {
    let columns = Vec::new();
    match spread.finish() {
        (value, 0.0) if !part => Err(DataError::ConstantLabel { column: column.to_owned(), value }),
        (mean, std) => Ok(LabelValues::Number { mean, std, written, whole, kernel, columns }),
    }
}
