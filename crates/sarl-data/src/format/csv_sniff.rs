//! What a CSV column holds, judged by its first rows.
//!
//! A column is numeric when more than half of its cells that are not missing are
//! numbers: a stray word in it is then an error with its row, not a silent change
//! of the whole column into categories.

use crate::column::ColumnKind;
use crate::text::{Gap, Guess, gap};

/// What one cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Missing,
    /// Missing among numbers, a word among words.
    Either,
    Integer,
    Float,
    Bool,
    /// A number or a date as people write it.
    Written,
    Text,
}

fn classify(cell: &[u8]) -> Cell {
    match gap(cell) {
        Some(Gap::Always) => return Cell::Missing,
        Some(Gap::AmongNumbers) => return Cell::Either,
        None => {}
    }
    let Ok(text) = std::str::from_utf8(cell) else { return Cell::Text };
    if text.parse::<i64>().is_ok() {
        Cell::Integer
    } else if text.parse::<f64>().is_ok() {
        Cell::Float
    } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        Cell::Bool
    } else {
        let mut guess = Guess::default();
        guess.see(text, 0);
        if guess.is_settled() { Cell::Text } else { Cell::Written }
    }
}

/// Counts of the kinds of cell seen in one column.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    integers: usize,
    floats: usize,
    bools: usize,
    written: usize,
    texts: usize,
    either: usize,
}

impl Tally {
    /// Counts a trimmed cell.
    pub(super) fn see(&mut self, cell: &[u8]) {
        match classify(cell) {
            Cell::Missing => {}
            Cell::Either => self.either += 1,
            Cell::Integer => self.integers += 1,
            Cell::Float => self.floats += 1,
            Cell::Bool => self.bools += 1,
            Cell::Written => self.written += 1,
            Cell::Text => self.texts += 1,
        }
    }

    /// The verdict.
    pub(super) fn kind(&self) -> ColumnKind {
        let plain = self.integers + self.floats;
        let total = plain + self.written + self.bools + self.texts;
        if total == 0 {
            if self.either == 0 { ColumnKind::Empty } else { ColumnKind::Text }
        } else if self.written > 0 && plain + self.written == total {
            ColumnKind::Written
        } else if 2 * plain > total {
            if self.floats == 0 { ColumnKind::Integer } else { ColumnKind::Float }
        } else if self.bools == total && self.either == 0 {
            ColumnKind::Bool
        } else {
            ColumnKind::Text
        }
    }
}

/// The delimiter of a header line: a comma, unless there are more of another one.
pub(super) fn delimiter(start: &[u8]) -> u8 {
    let header = start.split(|b| *b == b'\n').next().unwrap_or_default();
    let count = |d: u8| header.iter().filter(|b| **b == d).count();
    let mut best = b',';
    for candidate in [b';', b'\t', b'|'] {
        if count(candidate) > count(best) {
            best = candidate;
        }
    }
    best
}

/// Why the beginning of a file cannot be a table of text, if it cannot.
pub(super) fn not_text(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"PAR1") {
        Some("it is a Parquet file")
    } else if start.starts_with(&[0x1f, 0x8b]) {
        Some("it is compressed with gzip; name it .csv.gz")
    } else if start.starts_with(b"PK\x03\x04") {
        Some("it is a zip archive")
    } else if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        Some("it is UTF-16; save it as UTF-8")
    } else if start.contains(&0) {
        Some("it holds binary data")
    } else {
        let header = start.split(|b| *b == b'\n').next().unwrap_or_default();
        std::str::from_utf8(header).is_err().then_some("its header is not UTF-8 text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(cells: &[&str]) -> ColumnKind {
        let mut tally = Tally::default();
        cells.iter().for_each(|c| tally.see(c.as_bytes()));
        tally.kind()
    }

    #[test]
    fn kinds() {
        assert_eq!(kind(&["1", "2", "?"]), ColumnKind::Integer);
        assert_eq!(kind(&["1", "2.5", ""]), ColumnKind::Float);
        assert_eq!(kind(&["1", "x", "3"]), ColumnKind::Integer);
        assert_eq!(kind(&["a", "x", "3"]), ColumnKind::Text);
        assert_eq!(kind(&["True", "false", "NA"]), ColumnKind::Bool);
        assert_eq!(kind(&["", "null", "NaN"]), ColumnKind::Empty);
        assert_eq!(kind(&["1", "2", "-", "None"]), ColumnKind::Integer);
        assert_eq!(kind(&["a", "-", "None"]), ColumnKind::Text);
        assert_eq!(kind(&["1,234", "5", "6"]), ColumnKind::Written);
        assert_eq!(kind(&["2013-08-13", "N/A"]), ColumnKind::Written);
    }

    #[test]
    fn delimiters() {
        assert_eq!(delimiter(b"a,b\n1;2;3"), b',');
        assert_eq!(delimiter(b"a;b\n1,2"), b';');
        assert_eq!(delimiter(b"a\tb"), b'\t');
        assert_eq!(delimiter(b"a|b|c,d"), b'|');
        assert_eq!(delimiter(b"a"), b',');
    }
}
