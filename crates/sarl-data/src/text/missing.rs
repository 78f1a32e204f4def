//! Cells that stand for a missing value.

/// What a cell of text stands for when it is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Missing in every column.
    Always,
    /// Missing where the other cells of the column are numbers or dates; among words it
    /// may be one of them.
    AmongNumbers,
}

/// The usual spellings in any column, in lower case.
const ALWAYS: [&str; 10] =
    ["?", "na", "n/a", "nan", "null", "<na>", "#n/a", "nat", "<null>", "#na"];
/// Spellings that are words or signs of their own in a column of text.
const AMONG_NUMBERS: [&str; 12] = [
    "-", "--", ".", "none", "nil", "missing", "unknown", "n.a.", "\u{2014}", "\u{2013}", "#div/0!",
    "#value!",
];
const LONGEST: usize = 8;

/// Whether a trimmed cell stands for a missing value.
pub(crate) fn gap(cell: &[u8]) -> Option<Gap> {
    if cell.is_empty() {
        return Some(Gap::Always);
    }
    if cell.len() > LONGEST {
        return None;
    }
    let is_one_of = |words: &[&str]| words.iter().any(|w| cell.eq_ignore_ascii_case(w.as_bytes()));
    if is_one_of(&ALWAYS) {
        Some(Gap::Always)
    } else if is_one_of(&AMONG_NUMBERS) {
        Some(Gap::AmongNumbers)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for cell in ["", "?", "NA", "NaN", "N/A", "null", "<NA>", "NaT"] {
            assert_eq!(gap(cell.as_bytes()), Some(Gap::Always), "{cell}");
        }
        for cell in ["-", ".", "None", "—", "#DIV/0!", "unknown"] {
            assert_eq!(gap(cell.as_bytes()), Some(Gap::AmongNumbers), "{cell}");
        }
        for cell in ["0", "no", "nano", "--5", "..", "none of these", "-1"] {
            assert_eq!(gap(cell.as_bytes()), None, "{cell}");
        }
        let all = ALWAYS.iter().chain(&AMONG_NUMBERS);
        assert!(all.clone().all(|w| w.len() <= LONGEST && *w == w.to_lowercase()));
    }
}
