//! Features that nothing can be learned from.

/// A feature that nothing can be learned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The name of the column.
    pub column: String,
    /// Why.
    pub why: WhyUnusable,
}

/// Why nothing can be learned from a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnusable {
    /// All of its values are missing.
    Empty,
    /// It holds words with so many different values: an identifier, or free text.
    Values {
        /// How many.
        values: u64,
        /// Whether there are more than that.
        more_than: bool,
    },
}

pub(super) fn how_many(values: u64, more_than: bool) -> String {
    if more_than { format!("more than {values}") } else { values.to_string() }
}

pub(super) fn unusable_columns(columns: &[Unusable], rows: u64) -> String {
    let each = |c: &Unusable| match c.why {
        WhyUnusable::Empty => format!("`{}` (empty)", c.column),
        WhyUnusable::Values { values, more_than } => {
            format!("`{}` ({} different texts)", c.column, how_many(values, more_than))
        }
    };
    let named = columns.iter().map(each).collect::<Vec<_>>().join(", ");
    let columns = if columns.len() == 1 { "column" } else { "columns" };
    format!("nothing can be learned from {columns} {named} in {rows} rows")
}
