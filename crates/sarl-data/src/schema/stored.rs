//! The schema as JSON, which may come from anywhere: read back only if it makes sense.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::categories::MOST_CATEGORIES;
use super::{ClassesOf, Feature, FeatureValues, Label, LabelValues, SCHEMA_VERSION, Schema};
use crate::cells::LARGEST;
use crate::error::{DataError, Result};
use crate::request::Missing;

/// More expanded columns than this are taken for damage.
const MOST_COLUMNS: usize = 10_000_000;

/// The stored form, not yet believed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    version: u32,
    rows: u64,
    dropped: u64,
    features: Vec<Feature>,
    targets: Vec<Label>,
    target_is_features: bool,
    sensitives: Vec<Label>,
    weight: Option<String>,
    missing: Missing,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing_values: Vec<String>,
}

impl From<Schema> for Stored {
    fn from(schema: Schema) -> Self {
        let Schema {
            rows,
            dropped,
            features,
            targets,
            target_is_features,
            sensitives,
            weight,
            missing,
            missing_values,
        } = schema;
        let version = SCHEMA_VERSION;
        Self {
            version,
            rows,
            dropped,
            features,
            targets,
            target_is_features,
            sensitives,
            weight,
            missing,
            missing_values,
        }
    }
}

impl TryFrom<Stored> for Schema {
    type Error = DataError;

    fn try_from(stored: Stored) -> Result<Self> {
        stored.check(2).map_err(|reason| DataError::BadSchema { reason })?;
        Ok(stored.into_schema())
    }
}

impl Stored {
    /// The schema, which has been checked.
    fn into_schema(self) -> Schema {
        let Stored {
            rows,
            dropped,
            features,
            targets,
            target_is_features,
            sensitives,
            weight,
            missing,
            missing_values,
            ..
        } = self;
        Schema {
            rows,
            dropped,
            features,
            targets,
            target_is_features,
            sensitives,
            weight,
            missing,
            missing_values,
        }
    }
}

type Checked = std::result::Result<(), String>;

impl Stored {
    /// Refuses what makes no sense; labels have so many classes at least.
    fn check(&self, classes: usize) -> Checked {
        if self.version != SCHEMA_VERSION {
            return Err(format!("found version {}, expected {SCHEMA_VERSION}", self.version));
        }
        if self.features.is_empty() {
            return Err("no features".to_owned());
        }
        unique("feature", self.features.iter().map(|f| f.name.as_str()))?;
        unique("label", self.targets.iter().chain(&self.sensitives).map(|l| l.name.as_str()))?;
        self.features.iter().try_for_each(check_feature)?;
        let mut labels = self.targets.iter().chain(&self.sensitives);
        labels.try_for_each(|label| check_label(label, classes))?;
        let width: usize = self.features.iter().map(width).sum();
        match width <= MOST_COLUMNS {
            true => Ok(()),
            false => Err(format!("found {width} columns, expected at most {MOST_COLUMNS}")),
        }
    }
}

fn width(feature: &Feature) -> usize {
    match &feature.values {
        FeatureValues::Number { .. } => 1,
        FeatureValues::Category { values, .. } => values.len(),
    }
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = HashSet::new();
    for name in names {
        if name.is_empty() || !seen.insert(name) {
            return Err(format!("the {what} `{name}` has no name or comes twice"));
        }
    }
    Ok(())
}

fn check_feature(feature: &Feature) -> Checked {
    match &feature.values {
        FeatureValues::Number { mean, std, .. } => check_spread(&feature.name, *mean, *std),
        FeatureValues::Category { values, fill, spare, .. } => {
            check_values(&feature.name, values, 1)?;
            check_values(&feature.name, spare, 0)?;
            match (*fill as usize) < values.len() {
                true => Ok(()),
                false => Err(format!(
                    "column `{}`: found the fill {fill}, expected less than {}",
                    feature.name,
                    values.len()
                )),
            }
        }
    }
}

fn check_label(label: &Label, classes: usize) -> Checked {
    match &label.values {
        LabelValues::Number { mean, std, columns, .. } => {
            check_spread(&label.name, *mean, *std)?;
            columns.iter().try_for_each(|c| check_spread(&c.name, c.mean, c.std))
        }
        LabelValues::Class { values, counts, of, .. } => {
            check_values(&label.name, values, classes)?;
            if of.as_ref().is_some_and(|of| !is_sound(of, values.len())) {
                return Err(format!(
                    "label `{}`: its classes are not what they are made of",
                    label.name
                ));
            }
            match counts.len() == values.len() {
                true => Ok(()),
                false => Err(format!(
                    "label `{}`: found {} counts, expected {}",
                    label.name,
                    counts.len(),
                    values.len()
                )),
            }
        }
    }
}

/// Whether so many classes can be made like this.
fn is_sound(of: &ClassesOf, classes: usize) -> bool {
    match of {
        ClassesOf::Bins { edges, .. } => {
            edges.len() + 1 == classes
                && edges.iter().all(|e| e.abs() <= LARGEST)
                && edges.windows(2).all(|pair| pair[0] < pair[1])
        }
        ClassesOf::Combination { columns, codes, pooled } => {
            let known = |codes: &Vec<u32>| {
                codes.len() == columns.len()
                    && codes.iter().zip(columns).all(|(k, c)| (*k as usize) < c.values.len())
            };
            codes.len() + usize::from(*pooled) == classes
                && columns.len() > 1
                && columns.iter().all(|c| check_values(&c.name, &c.values, 1).is_ok())
                && codes.iter().all(known)
        }
    }
}

fn check_spread(name: &str, mean: f64, std: f64) -> Checked {
    let sound = mean.abs() <= LARGEST
        && (0.0..=2.0 * LARGEST).contains(&std)
        && !(std > 0.0 && std < f64::MIN_POSITIVE);
    match sound {
        true => Ok(()),
        false => Err(format!(
            "column `{name}`: found mean {mean} and standard deviation {std}, expected finite numbers"
        )),
    }
}

fn check_values(name: &str, values: &[String], least: usize) -> Checked {
    if !(least..=MOST_CATEGORIES).contains(&values.len()) {
        return Err(format!(
            "column `{name}`: found {} categories, expected {least} to {MOST_CATEGORIES}",
            values.len()
        ));
    }
    let different: HashSet<&String> = values.iter().collect();
    match different.len() == values.len() {
        true => Ok(()),
        false => Err(format!("column `{name}`: a category comes twice")),
    }
}

impl Schema {
    /// The schema as JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| DataError::BadSchema { reason: e.to_string() })
    }

    /// The schema of a part of a data set from JSON: a label may have one class.
    pub fn part_from_json(json: &str) -> Result<Self> {
        let bad = |reason: String| DataError::BadSchema { reason };
        let stored: Stored = serde_json::from_str(json).map_err(|e| bad(e.to_string()))?;
        stored.check(1).map_err(bad)?;
        Ok(stored.into_schema())
    }

    /// A schema from JSON, if it makes sense.
    pub fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|e| {
            let text = e.to_string();
            DataError::BadSchema {
                reason: text.strip_prefix("unusable schema: ").unwrap_or(&text).to_owned(),
            }
        })
    }
}
