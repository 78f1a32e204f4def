//! Labels that are made of several columns, while they are learned.

use std::collections::HashMap;

use arrow_array::RecordBatch;

use super::categories::MOST_CATEGORIES;
use super::learner::{Learner, label};
use super::{ClassColumn, ClassesOf, Label, LabelValues, NumberColumn};
use crate::cells::{Keys, missing};
use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::picks::PickList;
use crate::request::{Form, LabelOf, Request, Selected};

/// A combination of fewer rows than this is rare,
const FEW_ROWS: u64 = 30;
/// and so is one of less than this share of the rows.
const FEW_PARTS: u64 = 1000;
/// The name of the class of rare combinations.
const OTHER: &str = "other";

/// What is being learned about a label.
pub(super) struct LabelLearner {
    name: String,
    form: Form,
    pub(super) columns: Vec<Learner>,
    /// Rows of each combination, by the texts of its cells.
    combinations: HashMap<Vec<String>, u64>,
}

impl LabelLearner {
    pub(super) fn new(
        selected: &LabelOf<Selected>,
        request: &Request,
        picks: &mut PickList,
    ) -> Self {
        let columns = selected.columns.iter().map(|c| Learner::new(c, true, request, picks));
        LabelLearner {
            name: selected.name.clone(),
            form: selected.form,
            columns: columns.collect(),
            combinations: HashMap::new(),
        }
    }

    /// Counts the combinations of some rows; the columns themselves are seen apart.
    pub(super) fn see(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.form != Form::Combination {
            return Ok(());
        }
        let arrays: Vec<_> = self.columns.iter().map(|c| batch.column(c.place)).collect();
        let gaps: Vec<Option<Vec<bool>>> = arrays.iter().map(|a| missing(a)).collect();
        let keys: Option<Vec<Keys>> = arrays.iter().map(|a| Keys::of(a)).collect();
        // A type that holds no classes was refused when its column was seen.
        let Some(keys) = keys else { return Ok(()) };
        let mut cells = Vec::new();
        for row in 0..batch.num_rows() {
            if gaps.iter().flatten().any(|gap| gap[row]) {
                continue;
            }
            cells.clear();
            for (column, keys) in self.columns.iter().zip(&keys) {
                let key = keys.get(row, column.selected.kind);
                cells.push(key.map(crate::cells::Key::into_text).unwrap_or_default());
            }
            match self.combinations.get_mut(&cells) {
                Some(count) => *count += 1,
                None => drop(self.combinations.insert(cells.clone(), 1)),
            }
            if self.combinations.len() > MOST_CATEGORIES {
                let (column, values) = (self.name.clone(), MOST_CATEGORIES as u64);
                return Err(DataError::TooManyClasses { column, values, more_than: true });
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Label> {
        let LabelLearner { name, form, columns, combinations } = self;
        let mut labels = columns.into_iter().map(label).collect::<Result<Vec<Label>>>()?;
        let missing = labels.iter().map(|l| l.missing).sum();
        let values = match form {
            Form::One => {
                let Some(label) = labels.pop() else { return Err(DataError::ReaderStopped) };
                return Ok(label);
            }
            Form::Together => together(labels),
            Form::Combination => combined(&name, labels, combinations),
        };
        Ok(Label { name, missing, values: values? })
    }
}

fn together(labels: Vec<Label>) -> Result<LabelValues> {
    let number = |label: Label| match label.values {
        LabelValues::Number { mean, std, written, .. } => {
            Ok(NumberColumn { name: label.name, mean, std, written })
        }
        LabelValues::Class { .. } => Err(DataError::ReaderStopped),
    };
    let columns = labels.into_iter().map(number).collect::<Result<Vec<_>>>()?;
    let Some(first) = columns.first() else { return Err(DataError::ReaderStopped) };
    let (mean, std, written) = (first.mean, first.std, first.written);
    Ok(LabelValues::Number { mean, std, written, whole: None, kernel: true, columns })
}

fn combined(
    name: &str,
    labels: Vec<Label>,
    combinations: HashMap<Vec<String>, u64>,
) -> Result<LabelValues> {
    let class = |label: Label| match label.values {
        LabelValues::Class { kind, values, .. } => {
            Ok(ClassColumn { name: label.name, kind, values })
        }
        LabelValues::Number { .. } => Err(DataError::ReaderStopped),
    };
    let columns = labels.into_iter().map(class).collect::<Result<Vec<_>>>()?;
    let rows: u64 = combinations.values().sum();
    let code = |(cell, column): (&String, &ClassColumn)| {
        column.values.iter().position(|v| v == cell).map_or(u32::MAX, |code| code as u32)
    };
    let coded = |(cells, count): (Vec<String>, u64)| {
        (cells.iter().zip(&columns).map(code).collect::<Vec<u32>>(), count)
    };
    let mut all: Vec<(Vec<u32>, u64)> = combinations.into_iter().map(coded).collect();
    all.sort();
    let frequent = |count: u64| count >= FEW_ROWS && count * FEW_PARTS >= rows;
    let (kept, rare): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, count)| frequent(*count));
    let (codes, mut counts): (Vec<Vec<u32>>, Vec<u64>) = kept.into_iter().unzip();
    let text = |codes: &Vec<u32>| {
        let cells = codes.iter().zip(&columns).map(|(code, c)| c.values[*code as usize].as_str());
        cells.collect::<Vec<_>>().join("*")
    };
    let mut values: Vec<String> = codes.iter().map(text).collect();
    let pooled = !rare.is_empty();
    if pooled {
        let mut other = OTHER.to_owned();
        while values.contains(&other) {
            other.push_str(" values");
        }
        values.push(other);
        counts.push(rare.iter().map(|(_, count)| count).sum());
    }
    match values.as_slice() {
        [value] => Err(DataError::OneClass { column: name.to_owned(), value: value.clone() }),
        _ => {
            let of = Some(ClassesOf::Combination { columns, codes, pooled });
            Ok(LabelValues::Class { kind: ColumnKind::Text, values, counts, of })
        }
    }
}
