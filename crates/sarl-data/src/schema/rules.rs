//! When values are classes, and when they are not.

/// A label with more whole numbers than this is a number.
pub(crate) const MOST_WHOLE_CLASSES: usize = 20;
/// A text with more values than this is no category, unless someone says so.
const MANY_VALUES: usize = 1000;
/// A text with more values than this is no category where they are most of its cells.
const FEW_VALUES: usize = 50;

/// Whether a column of words with so many different values is more likely an identifier
/// or free text than a category.
pub(crate) fn is_identifier(values: usize, cells: u64) -> bool {
    values > MANY_VALUES || is_identifier_label(values, cells)
}

/// The same for a label, where many classes are usual.
pub(crate) fn is_identifier_label(values: usize, cells: u64) -> bool {
    values > FEW_VALUES && 2 * values as u64 > cells
}
