//! What is known of the columns of a table.

use serde::Deserialize;

use crate::error::Result;

/// The columns of a table, as model files describe them: what the page says of them.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    pub(crate) rows: u64,
    #[serde(default)]
    pub(crate) dropped: u64,
    pub(crate) features: Vec<Feature>,
    pub(crate) targets: Vec<Label>,
    #[serde(default)]
    pub(crate) target_is_features: bool,
    pub(crate) sensitives: Vec<Label>,
    #[serde(default)]
    pub(crate) weight: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Feature {
    pub(crate) name: String,
    pub(crate) values: FeatureValues,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FeatureValues {
    Number { std: f64 },
    Category { values: Vec<String> },
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) values: LabelValues,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LabelValues {
    Number { mean: f64, std: f64 },
    Class { values: Vec<String>, counts: Vec<u64> },
}

impl Table {
    /// From the JSON of a schema.
    pub fn from_json(text: &str) -> Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// The standard deviation of each numeric column.
    pub(crate) fn deviations(&self) -> impl Iterator<Item = f64> {
        self.features.iter().filter_map(|f| match f.values {
            FeatureValues::Number { std } => Some(std),
            FeatureValues::Category { .. } => None,
        })
    }

    /// How many columns are numbers.
    pub fn numbers(&self) -> usize {
        self.deviations().count()
    }

    /// The number of values of each category.
    pub fn categories(&self) -> Vec<usize> {
        let count = |f: &Feature| match &f.values {
            FeatureValues::Number { .. } => None,
            FeatureValues::Category { values } => Some(values.len()),
        };
        self.features.iter().filter_map(count).collect()
    }

    /// How many inputs an encoder has.
    pub(crate) fn width(&self) -> usize {
        self.numbers() + self.categories().iter().sum::<usize>()
    }
}
