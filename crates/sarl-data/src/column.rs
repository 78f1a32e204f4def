//! Columns: what a file offers and how a request refers to it.

use std::fmt;
use std::str::FromStr;

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use crate::error::{DataError, Result};
use crate::format::trimmed;

/// What a column holds, as far as this crate distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Text, also behind a dictionary: categories.
    Text,
    /// True and false: categories.
    Bool,
    /// Whole numbers: classes as a label, numbers as a feature.
    Integer,
    /// Real numbers.
    Float,
    /// Dates and times, which count days.
    Date,
    /// Numbers or dates that are written as text, as far as was looked.
    Written,
    /// Nothing but missing values, as far as was looked.
    Empty,
    /// Anything else (lists, bytes): can be kept, not learned from.
    Other,
}

impl ColumnKind {
    /// The kind of an Arrow type.
    pub(crate) fn of(data_type: &DataType) -> Self {
        use DataType::*;
        match data_type {
            Utf8 | LargeUtf8 | Utf8View => Self::Text,
            Boolean => Self::Bool,
            Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Self::Integer,
            Float16 | Float32 | Float64 => Self::Float,
            Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => Self::Float,
            Dictionary(_, values) => match Self::of(values) {
                Self::Integer => Self::Integer,
                Self::Text => Self::Text,
                _ => Self::Other,
            },
            Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_) | Duration(_) => Self::Date,
            Null => Self::Empty,
            _ => Self::Other,
        }
    }

    /// The kind of a column that is `self` in one file and `other` in the next.
    pub(crate) fn join(self, other: Self) -> Option<Self> {
        use ColumnKind::*;
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Empty, a) | (a, Empty) => Some(a),
            (Integer, Float) | (Float, Integer) => Some(Float),
            (Bool | Written, Text) | (Text, Bool | Written) => Some(Text),
            (Written, Integer | Float | Date) | (Integer | Float | Date, Written) => Some(Written),
            _ => None,
        }
    }

    /// How a person would call it.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bool => "booleans",
            Self::Integer => "integers",
            Self::Float => "numbers",
            Self::Date => "dates",
            Self::Written => "numbers or dates as text",
            Self::Empty => "nothing",
            Self::Other => "another type",
        }
    }
}

/// The array of a matrix file that a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixArray {
    /// The features.
    X,
    /// The target.
    Y,
    /// The sensitive attribute.
    S,
}

impl MatrixArray {
    /// The name of the array in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::Y => "y",
            Self::S => "s",
        }
    }
}

/// One column of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name; the columns of `X` are called `x0`, `x1`, ….
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// The type as the file calls it.
    pub type_name: String,
    /// The array it belongs to, in a matrix file.
    pub array: Option<MatrixArray>,
}

/// How a column is to be treated, where its contents alone should not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treat {
    /// As classes or categories.
    Class,
    /// As a number.
    Number,
    /// A label: as a number, or several, that stand for the features of a kernel.
    Kernel,
    /// A label: as classes, by quantiles of its numbers.
    Bins(usize),
}

impl Treat {
    /// Bins where nobody says how many.
    const BINS: usize = 8;
    /// The most bins.
    const MOST_BINS: usize = 100;

    /// What follows the colon; nothing where that is part of a name.
    fn parse(text: &str) -> Result<Option<Self>> {
        let bins = |count: &str| match count.parse() {
            Ok(count) if (2..=Self::MOST_BINS).contains(&count) => Ok(Some(Self::Bins(count))),
            _ => Err(DataError::BadBins { found: count.to_owned(), most: Self::MOST_BINS }),
        };
        match (text, text.strip_prefix("bins=")) {
            ("class", _) => Ok(Some(Self::Class)),
            ("number", _) => Ok(Some(Self::Number)),
            ("kernel", _) => Ok(Some(Self::Kernel)),
            ("bins", _) => Ok(Some(Self::Bins(Self::BINS))),
            (_, Some(count)) => bins(count),
            _ => Ok(None),
        }
    }
}

impl fmt::Display for Treat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class => f.write_str("class"),
            Self::Number => f.write_str("number"),
            Self::Kernel => f.write_str("kernel"),
            Self::Bins(count) => write!(f, "bins={count}"),
        }
    }
}

/// A reference to a column: `COL`, `COL:class` or `COL:number`; to a label also `COL:kernel`,
/// `COL:bins`, `COL:bins=5`, `A+B:kernel` (one kernel over both) and `A*B` (the combination).
///
/// ```
/// use sarl_data::{ColumnRef, Treat};
/// let column: ColumnRef = "OCCP:class".parse()?;
/// assert_eq!((column.name.as_str(), column.treat), ("OCCP", Some(Treat::Class)));
/// # Ok::<(), sarl_data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRef {
    /// The name of the column.
    pub name: String,
    /// The treatment asked for, or none to let the contents decide.
    pub treat: Option<Treat>,
}

impl ColumnRef {
    /// A reference whose treatment the column's contents decide.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), treat: None }
    }
}

impl FromStr for ColumnRef {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self> {
        // Space at the end does not make the treatment a part of the name.
        let text = trimmed(text);
        let (name, treat) = match text.rsplit_once(':') {
            None => (text, None),
            Some((name, suffix)) => match Treat::parse(suffix)? {
                Some(treat) => (name, Some(treat)),
                None => (text, None),
            },
        };
        let name = trimmed(name);
        match name.is_empty() {
            true => Err(DataError::BadColumnRef { text: text.to_owned() }),
            false => Ok(Self { name: name.to_owned(), treat }),
        }
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.treat {
            None => f.write_str(&self.name),
            Some(treat) => write!(f, "{}:{treat}", self.name),
        }
    }
}
