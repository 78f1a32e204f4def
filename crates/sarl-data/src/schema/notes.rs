//! What was assumed about the columns, for people.

use super::{ClassesOf, FeatureValues, Label, LabelValues, MOST_CATEGORIES, Schema};
use crate::request::Missing;
use crate::text::Written;

/// Columns that a note names.
const NAMED: usize = 6;

impl Schema {
    /// What was assumed about the columns, and what was filled in: a sentence for each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.readings();
        notes.extend(self.pools());
        notes.extend(self.targets.iter().chain(&self.sensitives).filter_map(whole_number));
        notes.extend(self.targets.iter().chain(&self.sensitives).filter_map(made));
        notes.extend(self.sensitives.iter().filter_map(linear_only));
        notes.extend(self.filled());
        notes
    }

    /// Columns of text that were read as numbers, together where they are written alike.
    fn readings(&self) -> Vec<String> {
        let features = self.features.iter().filter_map(|f| match f.values {
            FeatureValues::Number { written, .. } => Some((f.name.as_str(), written)),
            FeatureValues::Category { .. } => None,
        });
        let labels = self.targets.iter().chain(&self.sensitives).filter_map(|l| match l.values {
            LabelValues::Number { written, .. } => Some((l.name.as_str(), written)),
            LabelValues::Class { .. } => None,
        });
        let mut alike: Vec<(Written, Vec<&str>)> = Vec::new();
        for (name, written) in features.chain(labels).filter(|(_, w)| !w.is_plain()) {
            match alike.iter_mut().find(|(w, _)| w.describe() == written.describe()) {
                Some((_, names)) => names.push(name),
                None => alike.push((written, vec![name])),
            }
        }
        let note = |(written, names): &(Written, Vec<&str>)| {
            format!("{}: {}", listed(names), written.describe())
        };
        alike.iter().map(note).collect()
    }

    fn pools(&self) -> Option<String> {
        let pooled = self.features.iter().filter_map(|f| match &f.values {
            FeatureValues::Category { pooled: true, values, .. } => {
                Some((f.name.as_str(), values.len()))
            }
            _ => None,
        });
        let (names, sizes): (Vec<&str>, Vec<usize>) = pooled.unzip();
        let most = sizes.iter().max()?;
        let kept = most.saturating_sub(1);
        Some(format!("{}: the {kept} most frequent values, all others as one", listed(&names)))
    }

    /// What was filled in.
    fn filled(&self) -> Option<String> {
        if self.missing != Missing::Mean {
            return None;
        }
        let gaps: Vec<_> = self.features.iter().filter(|f| f.missing > 0).collect();
        let cells: u64 = gaps.iter().map(|f| f.missing).sum();
        let each = gaps.iter().take(NAMED).map(|f| {
            let with = match f.values {
                FeatureValues::Number { .. } => "the mean",
                FeatureValues::Category { .. } => "the most frequent value",
            };
            format!("{} of `{}` with {with}", f.missing, f.name)
        });
        let each = each.collect::<Vec<_>>().join(", ");
        let more = if gaps.len() > NAMED { ", …" } else { "" };
        let what = if cells == 1 { "cell was" } else { "cells were" };
        (cells > 0).then(|| format!("{cells} missing {what} filled in: {each}{more}"))
    }
}

/// A label whose whole numbers were not taken for classes.
fn whole_number(label: &Label) -> Option<String> {
    let LabelValues::Number { whole: Some(values), .. } = label.values else { return None };
    let name = &label.name;
    let more = if values >= MOST_CATEGORIES as u64 { "more than " } else { "" };
    Some(format!(
        "`{name}`: {more}{values} different whole numbers, taken as a number; \
         `{name}:class` makes them classes"
    ))
}

/// A number of which only what is linear in it is hidden.
fn linear_only(label: &Label) -> Option<String> {
    let LabelValues::Number { kernel: false, .. } = label.values else { return None };
    let name = &label.name;
    Some(format!(
        "`{name}`: what is linear in this number is hidden; `{name}:kernel` hides every smooth \
         function of it, `{name}:bins` its quantile bins"
    ))
}

/// A label whose classes were made here.
fn made(label: &Label) -> Option<String> {
    let LabelValues::Class { values, counts, of: Some(of), .. } = &label.values else {
        return None;
    };
    let name = &label.name;
    match of {
        ClassesOf::Bins { .. } => {
            Some(format!("`{name}`: {} bins: {}", values.len(), values.join(", ")))
        }
        ClassesOf::Combination { pooled: true, .. } => {
            let (rare, rows) = (values.last()?, counts.last()?);
            let what = if *rows == 1 { "row" } else { "rows" };
            Some(format!(
                "`{name}`: rare combinations, {rows} {what} in all, are one class, `{rare}`"
            ))
        }
        ClassesOf::Combination { pooled: false, .. } => None,
    }
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match names.len() > NAMED {
        true => format!("{shown}, … ({} columns)", names.len()),
        false => shown,
    }
}
