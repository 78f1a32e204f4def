//! The schema of a data set from those of its parts.
//!
//! Each part has met some of the categories and classes. Together they have all of them, in the
//! order that one pass over all rows would give them.

use std::collections::HashSet;

use super::categories::in_order;
use super::rules::{MOST_WHOLE_CLASSES, is_identifier, is_identifier_label};
use super::{Feature, FeatureValues, Label, LabelValues, Schema};
use crate::column::ColumnKind;
use crate::error::{DataError, Result, Unusable, WhyUnusable};

/// Why two parts are not of one data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsDiffer {
    /// The column.
    pub column: String,
    /// What it is in the first part, and in the second.
    pub kinds: (String, String),
}

/// The new numbers of the values of a column in two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renumbered {
    /// For each value of the first part.
    pub ours: Vec<u32>,
    /// For each value of the second one.
    pub theirs: Vec<u32>,
    /// How many values there are together.
    pub size: usize,
}

/// What becomes of the codes of two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renumbering {
    /// Of each categorical feature.
    pub features: Vec<Renumbered>,
    /// Of each label, targets first; nothing of numbers.
    pub labels: Vec<Option<Renumbered>>,
}

type Merged<T> = std::result::Result<T, PartsDiffer>;

impl Schema {
    /// Makes it the schema of these rows and those of another part. Counts and the figures of labels
    /// stay those of this part.
    pub fn merge(&mut self, other: &Schema) -> Merged<Renumbering> {
        let mut all = self.clone();
        all.check_alike(other)?;
        let mut changes = Renumbering::default();
        for (ours, theirs) in all.features.iter_mut().zip(&other.features) {
            changes.features.extend(merge_feature(ours, theirs)?);
        }
        let labels = all.targets.iter_mut().chain(&mut all.sensitives);
        for (ours, theirs) in labels.zip(other.targets.iter().chain(&other.sensitives)) {
            changes.labels.push(merge_label(ours, theirs)?);
        }
        all.rows += other.rows;
        all.dropped += other.dropped;
        *self = all;
        Ok(changes)
    }

    /// Everything but the values of columns.
    fn check_alike(&self, other: &Schema) -> Merged<()> {
        let names = |schema: &Schema| -> Vec<String> {
            let features = schema.features.iter().map(|f| format!("feature `{}`", f.name));
            let targets = schema.targets.iter().map(|l| format!("target `{}`", l.name));
            let hidden = schema.sensitives.iter().map(|l| format!("sensitive `{}`", l.name));
            let weight = schema.weight.iter().map(|w| format!("weight `{w}`"));
            let kept = schema.target_is_features.then(|| "target `:features`".to_owned());
            features.chain(kept).chain(targets).chain(hidden).chain(weight).collect()
        };
        let (ours, theirs) = (names(self), names(other));
        let none = || "nothing".to_owned();
        for i in 0..ours.len().max(theirs.len()) {
            let pair = (ours.get(i), theirs.get(i));
            if pair.0 != pair.1 {
                let kinds =
                    (pair.0.cloned().unwrap_or_else(none), pair.1.cloned().unwrap_or_else(none));
                return Err(PartsDiffer { column: String::new(), kinds });
            }
        }
        let missing = |schema: &Schema| format!("{:?} {:?}", schema.missing, schema.missing_values);
        match missing(self) == missing(other) {
            true => Ok(()),
            false => {
                let kinds = (missing(self), missing(other));
                Err(PartsDiffer { column: "--missing".to_owned(), kinds })
            }
        }
    }

    /// The same columns of other rows, of which so many were read and none is said to be missing.
    pub fn of_rows(mut self, rows: u64) -> Self {
        (self.rows, self.dropped) = (rows, 0);
        self.features.iter_mut().for_each(|feature| feature.missing = 0);
        let labels = self.targets.iter_mut().chain(&mut self.sensitives);
        labels.for_each(|label| label.missing = 0);
        self
    }

    /// Adds a class to a label, targets first, that no row of this part has.
    pub fn add_class(&mut self, label: usize, class: &str) {
        let mut labels = self.targets.iter_mut().chain(&mut self.sensitives);
        let Some(LabelValues::Class { values, counts, of: None, .. }) =
            labels.nth(label).map(|l| &mut l.values)
        else {
            return;
        };
        if values.iter().any(|v| v == class) {
            return;
        }
        let old: Vec<(String, u64)> = values.iter().cloned().zip(counts.iter().copied()).collect();
        *values = in_order(values.iter().cloned().chain([class.to_owned()]));
        let count = |v: &String| old.iter().find(|(o, _)| o == v).map_or(0, |(_, n)| *n);
        *counts = values.iter().map(count).collect();
    }

    /// Sets the rows of each category of each categorical feature, and of each class of each label
    /// (targets first); labels of numbers have a mean and a standard deviation in each column.
    pub fn set_counts(&mut self, features: &[Vec<u64>], labels: &[LabelFigures]) {
        let coded = self.features.iter_mut().filter_map(|f| match &mut f.values {
            FeatureValues::Category { fill, .. } => Some(fill),
            FeatureValues::Number { .. } => None,
        });
        for (fill, counts) in coded.zip(features) {
            *fill = super::categories::most_frequent(counts);
        }
        let all = self.targets.iter_mut().chain(&mut self.sensitives);
        for (label, figures) in all.zip(labels) {
            match (&mut label.values, figures) {
                (LabelValues::Class { counts, .. }, LabelFigures::Counts(found)) => {
                    counts.clone_from(found);
                }
                (LabelValues::Number { mean, std, columns, .. }, LabelFigures::Spreads(found)) => {
                    if let Some(first) = found.first() {
                        (*mean, *std) = *first;
                    }
                    for (column, spread) in columns.iter_mut().zip(found) {
                        (column.mean, column.std) = *spread;
                    }
                }
                _ => {}
            }
        }
    }

    /// Refuses a data set, all of whose parts are here, that one pass would have refused; columns
    /// that somebody has said to be classes are not judged.
    pub fn check_whole(&self, said: &[String]) -> Result<()> {
        let explicit = |name: &str| said.iter().any(|s| s == name);
        let rows = self.rows;
        let unusable = |f: &Feature| match &f.values {
            FeatureValues::Category { values, .. }
                if !explicit(&f.name) && is_identifier(values.len(), rows) =>
            {
                let why = WhyUnusable::Values { more_than: false, values: values.len() as u64 };
                Some(Unusable { column: f.name.clone(), why })
            }
            _ => None,
        };
        let columns: Vec<Unusable> = self.features.iter().filter_map(unusable).collect();
        if !columns.is_empty() {
            return Err(DataError::UnusableColumns { columns, rows, gaps: false });
        }
        let mut labels = self.targets.iter().chain(&self.sensitives);
        labels.try_for_each(|label| check_label(label, explicit(&label.name), rows))
    }
}

/// What is known of a label once all parts are together.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelFigures {
    /// The rows of each class.
    Counts(Vec<u64>),
    /// The mean and the standard deviation of each column.
    Spreads(Vec<(f64, f64)>),
}

fn check_label(label: &Label, explicit: bool, rows: u64) -> Result<()> {
    let column = label.name.clone();
    match &label.values {
        LabelValues::Class { values, .. } if values.len() < 2 => {
            let value = values.first().cloned().unwrap_or_default();
            Err(DataError::OneClass { column, value })
        }
        LabelValues::Class { values, of: None, kind, .. } if !explicit => {
            let many = *kind == ColumnKind::Integer && values.len() > MOST_WHOLE_CLASSES;
            match many || is_identifier_label(values.len(), rows) {
                true => {
                    let values = values.len() as u64;
                    Err(DataError::TooManyClasses { column, values, more_than: false })
                }
                false => Ok(()),
            }
        }
        LabelValues::Number { mean, std, .. } if *std == 0.0 => {
            Err(DataError::ConstantLabel { column, value: *mean })
        }
        _ => Ok(()),
    }
}

fn merge_feature(ours: &mut Feature, theirs: &Feature) -> Merged<Option<Renumbered>> {
    let differ = PartsDiffer {
        column: ours.name.clone(),
        kinds: (feature_kind(&ours.values), feature_kind(&theirs.values)),
    };
    ours.missing += theirs.missing;
    match (&mut ours.values, &theirs.values) {
        (FeatureValues::Number { written, .. }, FeatureValues::Number { written: other, .. })
            if written == other =>
        {
            Ok(None)
        }
        (
            FeatureValues::Category { kind, values, pooled: false, spare, .. },
            FeatureValues::Category {
                kind: other, values: new, pooled: false, spare: more, ..
            },
        ) if kind == other => {
            let change = union(values, new);
            let known: HashSet<&String> = values.iter().collect();
            let all: HashSet<String> = spare.iter().chain(more).cloned().collect();
            *spare = all.into_iter().filter(|value| !known.contains(value)).collect();
            spare.sort();
            Ok(Some(change))
        }
        _ => Err(differ),
    }
}

fn merge_label(ours: &mut Label, theirs: &Label) -> Merged<Option<Renumbered>> {
    let differ = PartsDiffer {
        column: ours.name.clone(),
        kinds: (label_kind(&ours.values), label_kind(&theirs.values)),
    };
    ours.missing += theirs.missing;
    match (&mut ours.values, &theirs.values) {
        (
            LabelValues::Class { kind, values, counts, of },
            LabelValues::Class { kind: other, values: new, of: made, .. },
        ) if kind == other && of == made && (of.is_none() || values == new) => {
            let change = match of {
                None => union(values, new),
                // Bins and combinations have an order of their own.
                Some(_) => {
                    let same: Vec<u32> = (0..values.len() as u32).collect();
                    Renumbered { ours: same.clone(), theirs: same, size: values.len() }
                }
            };
            *counts = vec![0; values.len()];
            Ok(Some(change))
        }
        (
            LabelValues::Number { written, whole, kernel, columns, .. },
            LabelValues::Number { written: w, whole: more, kernel: k, columns: c, .. },
        ) if written == w && kernel == k && alike(columns, c) => {
            *whole = (*whole).max(*more);
            Ok(None)
        }
        _ => Err(differ),
    }
}

fn alike(ours: &[super::NumberColumn], theirs: &[super::NumberColumn]) -> bool {
    let same = |(a, b): (&super::NumberColumn, &super::NumberColumn)| {
        a.name == b.name && a.written == b.written
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
}

/// All values in their final order.
fn union(ours: &mut Vec<String>, theirs: &[String]) -> Renumbered {
    let known: HashSet<&String> = ours.iter().collect();
    let new: Vec<String> = theirs.iter().filter(|v| !known.contains(v)).cloned().collect();
    let all = in_order(ours.iter().cloned().chain(new));
    let places: std::collections::HashMap<&String, u32> = all.iter().zip(0..).collect();
    let place = |v: &String| places.get(v).copied().unwrap_or(u32::MAX);
    let (old, other) = (ours.iter().map(place).collect(), theirs.iter().map(place).collect());
    let change = Renumbered { ours: old, theirs: other, size: all.len() };
    *ours = all;
    change
}

fn feature_kind(values: &FeatureValues) -> String {
    match values {
        FeatureValues::Number { written, .. } if written.is_plain() => "numbers".to_owned(),
        FeatureValues::Number { written, .. } => format!("numbers ({})", written.describe()),
        FeatureValues::Category { kind, .. } => format!("categories ({})", kind.describe()),
    }
}

fn label_kind(values: &LabelValues) -> String {
    match values {
        LabelValues::Class { of: Some(_), values, .. } => {
            format!("classes that are made of columns: {}", values.join(", "))
        }
        LabelValues::Class { kind, .. } => format!("classes ({})", kind.describe()),
        LabelValues::Number { kernel: true, .. } => "numbers with a kernel".to_owned(),
        LabelValues::Number { written, .. } if written.is_plain() => "numbers".to_owned(),
        LabelValues::Number { written, .. } => format!("numbers ({})", written.describe()),
    }
}
