//! How a column of text is written, judged over all of its cells.

use super::{DateOrder, Decimal, Written, gap, number, same_unit};

/// Ways of writing that are still possible for a column.
#[derive(Clone, Debug)]
pub(crate) struct Guess {
    possible: Vec<Written>,
    /// Cells that could be read.
    read: u64,
    /// The row and the text of the cell that left no way possible.
    bad: Option<(u64, String)>,
}

/// What a column of text holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Numbers or dates, written in this way.
    Numbers(Written),
    /// Dates that could have the month or the day first.
    EitherDate,
    /// Words; the row and the text of the first cell that no way of writing fits.
    Words(Option<(u64, String)>),
}

impl Default for Guess {
    fn default() -> Self {
        let number = |decimal| Written::Number { decimal, unit: None };
        let date = |order| Written::Date { order };
        Self {
            possible: vec![
                number(Decimal::Point),
                number(Decimal::Comma),
                date(DateOrder::Ymd),
                date(DateOrder::Mdy),
                date(DateOrder::Dmy),
                date(DateOrder::Named),
                Written::Time,
            ],
            read: 0,
            bad: None,
        }
    }
}

impl Guess {
    /// Whether nothing but words is left, whatever comes.
    pub(crate) fn is_settled(&self) -> bool {
        self.possible.is_empty()
    }

    /// Looks at a trimmed cell that is not missing.
    pub(crate) fn see(&mut self, text: &str, row: u64) {
        if self.is_settled() || gap(text.as_bytes()).is_some() {
            return;
        }
        let first = self.read == 0;
        self.possible.retain_mut(|written| fits(written, text, first));
        self.read += 1;
        if self.is_settled() {
            self.bad = Some((row, text.chars().take(60).collect()));
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let both = [DateOrder::Mdy, DateOrder::Dmy].map(|order| Written::Date { order });
        match self.possible.first() {
            Some(_) if self.read == 0 => Verdict::Words(None),
            Some(_) if both.iter().all(|w| self.possible.contains(w)) => Verdict::EitherDate,
            Some(written) => Verdict::Numbers(*written),
            None => Verdict::Words(self.bad.clone()),
        }
    }
}

/// Whether a cell can be written so; a unit is learned from the first cell that has one.
fn fits(written: &mut Written, text: &str, first: bool) -> bool {
    let Written::Number { decimal, unit } = written else { return written.read(text).is_some() };
    let Some((_, found)) = number::parse(text, *decimal) else { return false };
    if unit.is_none() && found.is_some_and(|f| f != '%' || first) {
        *unit = found;
    }
    same_unit(*unit, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(cells: &[&str]) -> Verdict {
        let mut guess = Guess::default();
        cells.iter().zip(1..).for_each(|(cell, row)| guess.see(cell, row));
        guess.verdict()
    }

    fn number(decimal: Decimal, unit: Option<char>) -> Verdict {
        Verdict::Numbers(Written::Number { decimal, unit })
    }

    #[test]
    fn numbers() {
        assert_eq!(verdict(&["1,234.50", "7"]), number(Decimal::Point, None));
        assert_eq!(verdict(&["1.234", "12,5"]), number(Decimal::Comma, None));
        assert_eq!(verdict(&["1,234", "5"]), number(Decimal::Point, None));
        assert_eq!(verdict(&["5", "$7", "N/A", "-"]), number(Decimal::Point, Some('$')));
        assert_eq!(verdict(&["5 %", "7%"]), number(Decimal::Point, Some('%')));
    }

    #[test]
    fn dates() {
        let date = |order| Verdict::Numbers(Written::Date { order });
        assert_eq!(verdict(&["2013-08-01", "2013-08-13 06:03:42"]), date(DateOrder::Ymd));
        assert_eq!(verdict(&["01/02/2013", "08/13/2013"]), date(DateOrder::Mdy));
        assert_eq!(verdict(&["01/02/2013", "13/08/2013"]), date(DateOrder::Dmy));
        assert_eq!(verdict(&["01/02/2013", "02/03/2013"]), Verdict::EitherDate);
        assert_eq!(verdict(&["06:30", "18:45"]), Verdict::Numbers(Written::Time));
    }

    #[test]
    fn words() {
        let bad = |row, text: &str| Verdict::Words(Some((row, text.to_owned())));
        assert_eq!(verdict(&["5 %", "7"]), bad(2, "7"));
        assert_eq!(verdict(&["5", "7 %"]), bad(2, "7 %"));
        assert_eq!(verdict(&["$5", "€5"]), bad(2, "€5"));
        assert_eq!(verdict(&["1.5", "2,5"]), bad(2, "2,5"));
        assert_eq!(verdict(&["08/13/2013", "13/08/2013"]), bad(2, "13/08/2013"));
        assert_eq!(verdict(&["1", "x", "2"]), bad(2, "x"));
        assert_eq!(verdict(&["-", "None", ""]), Verdict::Words(None));
    }
}
