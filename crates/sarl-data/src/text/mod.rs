//! Numbers, dates and missing values that are written as text.
//!
//! A cell says little alone: `1,234` is a thousand or one and a quarter, `03/04/2013` is in
//! March or in April, and `-` is a gap among numbers and a category among words. So ways of
//! writing are judged over a whole column: one stays possible only as long as every cell
//! can be read in it ([`Guess`]).

mod date;
mod guess;
mod missing;
mod number;

use serde::{Deserialize, Serialize};

pub(crate) use date::days_of_timestamp;
pub(crate) use guess::{Guess, Verdict};
pub(crate) use missing::{Gap, gap};

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Written {
    /// As programs write them: `1234.5`, `-2e-3`.
    #[default]
    Plain,
    /// As people write them: `1,234.50`, `$5`, `12 %`, `(3.5)` for less than zero.
    Number {
        /// What stands before the decimals.
        decimal: Decimal,
        /// A sign of currency, which is ignored, or `%`, which every cell has: `12 %` is 12.
        #[serde(default)]
        unit: Option<char>,
    },
    /// Dates, with a time or without: days since the beginning of 1970.
    Date {
        /// The order of year, month and day.
        order: DateOrder,
    },
    /// Times of day: as a share of the day.
    Time,
}

/// What stands before the decimals; the other one of the two may separate thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimal {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// The order of year, month and day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// `2013-08-13`
    Ymd,
    /// `08/13/2013`
    Mdy,
    /// `13/08/2013`, `13.08.2013`
    Dmy,
    /// The month has a name: `13 Aug 2013`, `August 13, 2013`.
    Named,
}

impl Written {
    /// The number in a trimmed cell, or none if it is not written so.
    pub(crate) fn read(self, text: &str) -> Option<f64> {
        match self {
            Self::Plain => text.parse().ok(),
            Self::Number { decimal, unit } => {
                let (value, found) = number::parse(text, decimal)?;
                same_unit(unit, found).then_some(value)
            }
            Self::Date { order } => date::parse(text, order),
            Self::Time => date::parse_time(text),
        }
    }

    /// Whether a number stands for itself.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Self::Plain
    }

    /// Whether these are dates or times.
    pub fn is_date(self) -> bool {
        matches!(self, Self::Date { .. } | Self::Time)
    }

    /// What a cell is expected to be.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Plain => "a number",
            Self::Number { unit: Some('%'), .. } => "a number with % as in the other rows",
            Self::Number { decimal: Decimal::Point, .. } => "a number such as 1,234.5",
            Self::Number { decimal: Decimal::Comma, .. } => "a number such as 1.234,5",
            Self::Date { order: DateOrder::Ymd } => "a date such as 2013-08-31",
            Self::Date { order: DateOrder::Mdy } => "a date such as 08/31/2013",
            Self::Date { order: DateOrder::Dmy } => "a date such as 31/08/2013",
            Self::Date { order: DateOrder::Named } => "a date such as 31 Aug 2013",
            Self::Time => "a time such as 13:45",
        }
    }

    /// What was assumed, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Plain => "numbers",
            Self::Number { unit: Some('%'), .. } => "text, read as numbers: 12 % is 12",
            Self::Number { decimal: Decimal::Point, .. } => {
                "text, read as numbers: 1,234.5 is 1234.5"
            }
            Self::Number { decimal: Decimal::Comma, .. } => {
                "text, read as numbers: 1.234,5 is 1234.5"
            }
            Self::Date { order: DateOrder::Ymd | DateOrder::Named } => {
                "dates, read as days since 1970"
            }
            Self::Date { order: DateOrder::Mdy } => {
                "dates, month before day, read as days since 1970"
            }
            Self::Date { order: DateOrder::Dmy } => {
                "dates, day before month, read as days since 1970"
            }
            Self::Time => "times, read as shares of a day",
        }
    }
}

/// Whether a cell with the unit `found` belongs into a column with this unit. A currency
/// may be left out; a per cent sign changes the number, so all cells have it or none.
fn same_unit(unit: Option<char>, found: Option<char>) -> bool {
    unit == found || (found.is_none() && unit != Some('%'))
}
