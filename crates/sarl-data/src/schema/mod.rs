//! The schema: what was learned about the columns in a first pass, and all that is
//! needed to turn other data into the same features.

mod categories;
mod learn;
mod learner;
mod making;
mod notes;
mod parts;
mod quantiles;
mod resolve;
mod rules;
mod spread;
mod stored;

use serde::{Deserialize, Serialize};

use crate::column::ColumnKind;
use crate::request::Missing;
use crate::text::Written;

pub use categories::UNSEEN;
pub(crate) use categories::{Found, Interner, Lookup, MOST_CATEGORIES};
pub use learn::Progress;
pub use parts::{LabelFigures, PartsDiffer, Renumbered, Renumbering};
pub(crate) use rules::{MOST_WHOLE_CLASSES, is_identifier, is_identifier_label};

/// The version of the stored form.
pub const SCHEMA_VERSION: u32 = 2;

/// What was learned about the columns of a data set.
///
/// It goes into the model file as JSON, and checks itself when it is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "stored::Stored", into = "stored::Stored")]
pub struct Schema {
    rows: u64,
    dropped: u64,
    features: Vec<Feature>,
    targets: Vec<Label>,
    target_is_features: bool,
    sensitives: Vec<Label>,
    weight: Option<String>,
    missing: Missing,
    missing_values: Vec<String>,
}

/// A column that is learned from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The name of the column.
    pub name: String,
    /// How many of its values were missing.
    pub missing: u64,
    /// What it holds.
    pub values: FeatureValues,
}

/// What a feature holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum FeatureValues {
    /// Numbers: one dense column.
    Number {
        /// The mean, weighted if there are weights.
        mean: f64,
        /// The standard deviation, dividing by n; zero for a constant.
        std: f64,
        /// How they are written.
        #[serde(default, skip_serializing_if = "Written::is_plain")]
        written: Written,
    },
    /// Categories: one column for each.
    Category {
        /// What the cells hold.
        kind: ColumnKind,
        /// The categories in the order of their codes.
        values: Vec<String>,
        /// The most frequent one.
        fill: u32,
        /// Whether the last category stands for all values that have none of their own.
        #[serde(default, skip_serializing_if = "is_false")]
        pooled: bool,
        /// Values of rows that were left out: known, but all zero.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        spare: Vec<String>,
    },
}

/// A column that is to be kept or hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The name of the column.
    pub name: String,
    /// How many of its values were missing.
    pub missing: u64,
    /// What it holds.
    pub values: LabelValues,
}

/// What a label holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum LabelValues {
    /// Classes.
    Class {
        /// What the cells hold.
        kind: ColumnKind,
        /// The classes in the order of their codes.
        values: Vec<String>,
        /// How many rows each has.
        counts: Vec<u64>,
        /// What they are made of, where they are not the values of the column.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<ClassesOf>,
    },
    /// Numbers, which are never scaled.
    Number {
        /// The mean, weighted if there are weights.
        mean: f64,
        /// The standard deviation, dividing by n.
        std: f64,
        /// How they are written.
        #[serde(default, skip_serializing_if = "Written::is_plain")]
        written: Written,
        /// How many different whole numbers there were, where nobody said whether they are
        /// classes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<u64>,
        /// Whether they stand for the features of a kernel.
        #[serde(default, skip_serializing_if = "is_false")]
        kernel: bool,
        /// The columns, where the label has several; the figures above are those of the first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        columns: Vec<NumberColumn>,
    },
}

/// What classes are made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ClassesOf {
    /// The numbers of the column: class k has those with k of these edges at or below them.
    Bins {
        /// In ascending order.
        edges: Vec<f64>,
        /// How the numbers are written.
        #[serde(default, skip_serializing_if = "Written::is_plain")]
        written: Written,
    },
    /// Combinations of the classes of several columns.
    Combination {
        /// The columns.
        columns: Vec<ClassColumn>,
        /// For each class the code in each column.
        codes: Vec<Vec<u32>>,
        /// Whether there is one more class, the last, for combinations that are rare.
        pooled: bool,
    },
}

/// A column of classes that a label is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassColumn {
    /// The name of the column.
    pub name: String,
    /// What the cells hold.
    pub kind: ColumnKind,
    /// Its classes in the order of their codes.
    pub values: Vec<String>,
}

/// A column of numbers that a label is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberColumn {
    /// The name of the column.
    pub name: String,
    /// The mean, weighted if there are weights.
    pub mean: f64,
    /// The standard deviation, dividing by n.
    pub std: f64,
    /// How they are written.
    #[serde(default, skip_serializing_if = "Written::is_plain")]
    pub written: Written,
}

impl Label {
    /// The columns that it is made of.
    pub fn columns(&self) -> Vec<&str> {
        match &self.values {
            LabelValues::Class { of: Some(ClassesOf::Combination { columns, .. }), .. } => {
                columns.iter().map(|c| c.name.as_str()).collect()
            }
            LabelValues::Number { columns, .. } if !columns.is_empty() => {
                columns.iter().map(|c| c.name.as_str()).collect()
            }
            _ => vec![&self.name],
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_false(value: &bool) -> bool {
    !value
}

impl Schema {
    /// The rows that were learned from.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The rows that were left out because of missing values.
    pub fn dropped_rows(&self) -> u64 {
        self.dropped
    }

    /// The features, in the order of the request.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The targets; when the features are kept, the columns beside which attributes are hidden.
    pub fn targets(&self) -> &[Label] {
        &self.targets
    }

    /// Whether the features themselves are the target.
    pub fn target_is_features(&self) -> bool {
        self.target_is_features
    }

    /// The sensitive columns.
    pub fn sensitives(&self) -> &[Label] {
        &self.sensitives
    }

    /// The column of weights.
    pub fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    /// What happens to missing values.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// More cells that stand for a missing value.
    pub fn missing_values(&self) -> &[String] {
        &self.missing_values
    }

    /// The number of dense columns of a block.
    pub fn dense_width(&self) -> usize {
        self.dense_features().count()
    }

    /// The features that these columns hold.
    pub(crate) fn dense_features(&self) -> impl Iterator<Item = &Feature> {
        self.features.iter().filter(|f| matches!(f.values, FeatureValues::Number { .. }))
    }

    /// The number of values of each categorical feature.
    pub fn categories(&self) -> Vec<usize> {
        let count = |f: &Feature| match &f.values {
            FeatureValues::Number { .. } => None,
            FeatureValues::Category { values, .. } => Some(values.len()),
        };
        self.features.iter().filter_map(count).collect()
    }

    /// The number of columns with every categorical feature as one-hot.
    pub fn width(&self) -> usize {
        self.dense_width() + self.categories().iter().sum::<usize>()
    }

    /// The names of these columns: the dense ones first, then `column=category` for
    /// each category of each categorical feature.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        for feature in &self.features {
            if let FeatureValues::Number { .. } = feature.values {
                names.push(feature.name.clone());
            }
        }
        for feature in &self.features {
            if let FeatureValues::Category { values, .. } = &feature.values {
                names.extend(values.iter().map(|value| format!("{}={value}", feature.name)));
            }
        }
        names
    }
}
