//! Categories: collected while learning, looked up while encoding.

use hashbrown::HashMap;

use crate::cells::{Key, Keys};
use crate::column::ColumnKind;

/// The most categories that a column may have.
pub(crate) const MOST_CATEGORIES: usize = 10_000;

/// The code of a category that was not there when the categories were learned, with
/// [`Unseen::Ignore`](crate::Unseen::Ignore): its one-hot columns are all zero.
pub const UNSEEN: u32 = u32::MAX;

/// The codes of the rows of a batch; only while learning, before sorting.
const MISSING: u32 = u32::MAX - 1;

/// Categories in the order in which they first appear, with their counts.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    ints: HashMap<i64, u32>,
    texts: HashMap<String, u32>,
    values: Vec<String>,
    counts: Vec<u64>,
}

/// There are more categories than are allowed.
pub(crate) struct TooMany;

impl Interner {
    /// Counts a key.
    pub(crate) fn see(&mut self, key: Key<'_>) -> Result<(), TooMany> {
        let next = self.values.len() as u32;
        let code = match &key {
            Key::Int(value) => *self.ints.entry(*value).or_insert(next),
            Key::Text(text) => match self.texts.get(text.as_ref()) {
                Some(code) => *code,
                None => *self.texts.entry(text.to_string()).or_insert(next),
            },
        };
        if code == next {
            if self.values.len() == MOST_CATEGORIES {
                return Err(TooMany);
            }
            self.values.push(key.into_text());
            self.counts.push(0);
        }
        self.counts[code as usize] += 1;
        Ok(())
    }

    /// The categories in their final order with their counts: by value when all are
    /// numbers, otherwise as text.
    pub(crate) fn finish(self) -> (Vec<String>, Vec<u64>) {
        let mut all: Vec<(String, u64)> = self.values.into_iter().zip(self.counts).collect();
        let number = |text: &str| text.parse::<f64>().ok();
        if all.iter().all(|(value, _)| number(value).is_some()) {
            all.sort_by(|(a, _), (b, _)| {
                let (x, y) = (number(a).unwrap_or(0.0), number(b).unwrap_or(0.0));
                x.total_cmp(&y).then_with(|| a.cmp(b))
            });
        } else {
            all.sort();
        }
        all.into_iter().unzip()
    }
}

/// The most frequent category; the first of them when several are.
pub(crate) fn most_frequent(counts: &[u64]) -> u32 {
    let most = counts.iter().max().copied().unwrap_or(0);
    counts.iter().position(|c| *c == most).unwrap_or(0) as u32
}

/// From keys to codes.
#[derive(Debug)]
pub(crate) struct Lookup {
    kind: ColumnKind,
    /// Codes of small whole numbers, by value minus the smallest.
    table: Vec<u32>,
    smallest: i64,
    ints: HashMap<i64, u32>,
    texts: HashMap<String, u32>,
}

/// What became of a cell.
pub(crate) enum Found {
    Code(u32),
    Missing,
    Unseen,
}

impl Lookup {
    /// Largest span of whole numbers for which a table is used.
    const SPAN: i64 = 1 << 16;

    pub(crate) fn new(values: &[String], kind: ColumnKind) -> Self {
        let codes = || values.iter().zip(0u32..);
        let whole = |text: &str| text.parse::<i64>().ok().filter(|i| i.to_string() == text);
        let ints: HashMap<i64, u32> =
            codes().filter_map(|(v, code)| Some((whole(v)?, code))).collect();
        let texts = codes().map(|(v, code)| (v.clone(), code)).collect();
        let smallest = ints.keys().min().copied().unwrap_or(0);
        let largest = ints.keys().max().copied().unwrap_or(0);
        let span =
            largest.checked_sub(smallest).filter(|span| *span < Self::SPAN && !ints.is_empty());
        let mut table = vec![UNSEEN; span.map_or(0, |span| span as usize + 1)];
        if !table.is_empty() {
            ints.iter().for_each(|(value, code)| table[(value - smallest) as usize] = *code);
        }
        Self { kind, table, smallest, ints, texts }
    }

    /// The code of a row.
    pub(crate) fn find(&self, keys: &Keys, row: usize) -> Found {
        let code = match keys.get(row, self.kind) {
            None => MISSING,
            Some(Key::Int(value)) => self.int(value),
            Some(Key::Text(text)) => self.texts.get(text.as_ref()).copied().unwrap_or(UNSEEN),
        };
        match code {
            MISSING => Found::Missing,
            UNSEEN => Found::Unseen,
            code => Found::Code(code),
        }
    }

    fn int(&self, value: i64) -> u32 {
        if self.table.is_empty() {
            return self.ints.get(&value).copied().unwrap_or(UNSEEN);
        }
        let place = value.checked_sub(self.smallest).and_then(|i| usize::try_from(i).ok());
        place.and_then(|i| self.table.get(i).copied()).unwrap_or(UNSEEN)
    }

    /// What a cell says, for messages.
    pub(crate) fn shown(&self, keys: &Keys, row: usize) -> String {
        keys.get(row, self.kind).map(Key::into_text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn sorted(keys: Vec<Key<'_>>) -> Vec<String> {
        let mut interner = Interner::default();
        keys.into_iter().for_each(|k| assert!(interner.see(k).is_ok()));
        interner.finish().0
    }

    #[test]
    fn numbers_sort_as_numbers_and_text_as_text() {
        assert_eq!(
            sorted(vec![Key::Int(10), Key::Int(9), Key::Int(-1), Key::Int(10)]),
            ["-1", "9", "10"]
        );
        let text = |s| Key::Text(Cow::Borrowed(s));
        assert_eq!(sorted(vec![text("b"), text("10"), text("9")]), ["10", "9", "b"]);
    }

    #[test]
    fn extreme_codes_are_found_without_a_table() {
        let values = [i64::MIN, 0, i64::MAX].map(|v| v.to_string());
        let lookup = Lookup::new(&values, ColumnKind::Integer);
        assert_eq!([i64::MIN, 0, i64::MAX, 1].map(|v| lookup.int(v)), [0, 1, 2, UNSEEN]);
        let small = Lookup::new(&["-2".to_owned(), "3".to_owned()], ColumnKind::Integer);
        assert_eq!(
            [-2, 3, 0, i64::MIN, i64::MAX].map(|v| small.int(v)),
            [0, 1, UNSEEN, UNSEEN, UNSEEN]
        );
    }
}
