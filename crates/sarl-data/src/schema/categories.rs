//! Categories: collected while learning, looked up while encoding.

use hashbrown::HashMap;

use crate::cells::{Key, Keys};
use crate::column::ColumnKind;

/// The most categories that a column may have.
pub(crate) const MOST_CATEGORIES: usize = 10_000;
/// The most different values that are counted where rare ones are pooled.
const MOST_COUNTED: usize = 1 << 16;
/// The most bytes of different values of one column.
const MOST_BYTES: usize = 16 << 20;
/// The name of the category of rare values.
const OTHER: &str = "other";

/// The code of a category that was not there when the categories were learned, with
/// [`Unseen::Ignore`](crate::Unseen::Ignore): its one-hot columns are all zero.
pub const UNSEEN: u32 = u32::MAX;

/// The different values of a column with their counts, in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    ints: HashMap<i64, u64>,
    texts: HashMap<String, u64>,
    bytes: usize,
    /// Whether the rarest values are forgotten where there are too many; else all are.
    pooled: bool,
    /// Whether there were too many.
    overflowed: bool,
}

/// The values of a column in their final order.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) values: Vec<String>,
    pub(crate) counts: Vec<u64>,
}

impl Interner {
    /// For a column whose rare values will be pooled.
    pub(crate) fn pooled() -> Self {
        Self { pooled: true, ..Self::default() }
    }

    /// Counts a key.
    pub(crate) fn see(&mut self, key: Key<'_>) {
        if self.overflowed && !self.pooled {
            return;
        }
        match key {
            Key::Int(value) => *self.ints.entry(value).or_insert(0) += 1,
            Key::Text(text) => match self.texts.get_mut(text.as_ref()) {
                Some(count) => *count += 1,
                None => {
                    self.bytes += text.len();
                    self.texts.insert(text.into_owned(), 1);
                }
            },
        }
        let most = if self.pooled { MOST_COUNTED } else { MOST_CATEGORIES };
        if self.len() > most || self.bytes > MOST_BYTES {
            self.overflowed = true;
            self.forget(most / 2);
        }
    }

    /// Forgets the rarest values until at most so many are left; all without pooling.
    fn forget(&mut self, left: usize) {
        let mut rare = if self.pooled { 1 } else { u64::MAX };
        while self.len() > left || self.bytes > MOST_BYTES / 2 {
            self.ints.retain(|_, count| *count > rare);
            self.texts.retain(|_, count| *count > rare);
            self.bytes = self.texts.keys().map(String::len).sum();
            rare = rare.saturating_mul(2);
        }
    }

    /// How many different values there are, as far as they are remembered.
    pub(crate) fn len(&self) -> usize {
        self.ints.len() + self.texts.len()
    }

    /// How often the most frequent value comes.
    pub(crate) fn largest(&self) -> u64 {
        self.ints.values().chain(self.texts.values()).max().copied().unwrap_or(0)
    }

    /// Whether there were more than are counted.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// The categories in their final order with their counts: by value when all are
    /// numbers, otherwise as text.
    pub(crate) fn finish(self) -> Counted {
        let ints = self.ints.into_iter().map(|(value, count)| (value.to_string(), count));
        sorted(ints.chain(self.texts).collect())
    }
}

/// Values in their final order.
pub(super) fn in_order(values: impl Iterator<Item = String>) -> Vec<String> {
    sorted(values.map(|value| (value, 0)).collect()).values
}

fn sorted(mut all: Vec<(String, u64)>) -> Counted {
    let number = |text: &str| text.parse::<f64>().ok();
    if all.iter().all(|(value, _)| number(value).is_some()) {
        all.sort_by(|(a, _), (b, _)| {
            let (x, y) = (number(a).unwrap_or(0.0), number(b).unwrap_or(0.0));
            x.total_cmp(&y).then_with(|| a.cmp(b))
        });
    } else {
        all.sort();
    }
    let (values, counts) = all.into_iter().unzip();
    Counted { values, counts }
}

impl Counted {
    /// Keeps the `most - 1` most frequent values (of equally frequent ones, the first) and
    /// makes one category of all others, the last. Returns whether there were others.
    pub(crate) fn pool(&mut self, most: usize, rows: u64, forgotten: bool) -> bool {
        if self.values.len() <= most && !forgotten {
            return false;
        }
        let all: Vec<(String, u64)> =
            std::mem::take(&mut self.values).into_iter().zip(self.counts.drain(..)).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(all[*i].1));
        let kept: Vec<(String, u64)> =
            order.iter().take(most.saturating_sub(1)).map(|i| all[*i].clone()).collect();
        *self = sorted(kept);
        let frequent: u64 = self.counts.iter().sum();
        let mut name = OTHER.to_owned();
        while self.values.contains(&name) {
            name.push_str(" values");
        }
        self.values.push(name);
        self.counts.push(rows.saturating_sub(frequent));
        true
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
    table: Vec<Found>,
    smallest: i64,
    ints: HashMap<i64, Found>,
    texts: HashMap<String, Found>,
    /// What becomes of a value that is not known.
    other: Found,
}

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Code(u32),
    Missing,
    Unseen,
}

impl Lookup {
    /// Largest span of whole numbers for which a table is used.
    const SPAN: i64 = 1 << 16;

    /// The codes of `values`. The values that are `spare` are known, but have no code.
    pub(crate) fn new(values: &[String], spare: &[String], kind: ColumnKind) -> Self {
        let codes = values.iter().zip((0u32..).map(Found::Code));
        let codes = codes.chain(spare.iter().map(|v| (v, Found::Code(UNSEEN))));
        let whole = |text: &str| text.parse::<i64>().ok().filter(|i| i.to_string() == text);
        let ints: HashMap<i64, Found> =
            codes.clone().filter_map(|(v, code)| Some((whole(v)?, code))).collect();
        let texts = codes.map(|(v, code)| (v.clone(), code)).collect();
        let smallest = ints.keys().min().copied().unwrap_or(0);
        let largest = ints.keys().max().copied().unwrap_or(0);
        let span =
            largest.checked_sub(smallest).filter(|span| *span < Self::SPAN && !ints.is_empty());
        let mut table = vec![Found::Unseen; span.map_or(0, |span| span as usize + 1)];
        if !table.is_empty() {
            ints.iter().for_each(|(value, code)| table[(value - smallest) as usize] = *code);
        }
        Self { kind, table, smallest, ints, texts, other: Found::Unseen }
    }

    /// The same, with a code for every value that is not known.
    pub(crate) fn with_other(values: &[String], kind: ColumnKind) -> Self {
        let (known, other) = values.split_at(values.len().saturating_sub(1));
        let code = known.len() as u32;
        let other = if other.is_empty() { Found::Unseen } else { Found::Code(code) };
        Self { other, ..Self::new(known, &[], kind) }
    }

    /// The code of a row.
    pub(crate) fn find(&self, keys: &Keys, row: usize) -> Found {
        let found = match keys.get(row, self.kind) {
            None => return Found::Missing,
            Some(Key::Int(value)) => self.int(value),
            Some(Key::Text(text)) => {
                self.texts.get(text.as_ref()).copied().unwrap_or(Found::Unseen)
            }
        };
        if found == Found::Unseen { self.other } else { found }
    }

    fn int(&self, value: i64) -> Found {
        if self.table.is_empty() {
            return self.ints.get(&value).copied().unwrap_or(Found::Unseen);
        }
        let place = value.checked_sub(self.smallest).and_then(|i| usize::try_from(i).ok());
        place.and_then(|i| self.table.get(i).copied()).unwrap_or(Found::Unseen)
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

    fn text(text: &str) -> Key<'_> {
        Key::Text(Cow::Borrowed(text))
    }

    fn counted(keys: Vec<Key<'_>>) -> Counted {
        let mut interner = Interner::default();
        keys.into_iter().for_each(|k| interner.see(k));
        interner.finish()
    }

    #[test]
    fn numbers_sort_as_numbers_and_text_as_text() {
        let ints = vec![Key::Int(10), Key::Int(9), Key::Int(-1), Key::Int(10)];
        let ints = counted(ints);
        assert_eq!(
            (ints.values, ints.counts),
            (vec!["-1".into(), "9".into(), "10".into()], vec![1, 1, 2])
        );
        assert_eq!(counted(vec![text("b"), text("10"), text("9")]).values, ["10", "9", "b"]);
    }

    #[test]
    fn extreme_codes_are_found_without_a_table() {
        let code = Found::Code;
        let values = [i64::MIN, 0, i64::MAX].map(|v| v.to_string());
        let lookup = Lookup::new(&values, &[], ColumnKind::Integer);
        let found = [i64::MIN, 0, i64::MAX, 1].map(|v| lookup.int(v));
        assert_eq!(found, [code(0), code(1), code(2), Found::Unseen]);
        let small = Lookup::new(&["-2".to_owned(), "3".to_owned()], &[], ColumnKind::Integer);
        let found = [-2, 3, 0, i64::MIN, i64::MAX].map(|v| small.int(v));
        assert_eq!(found, [code(0), code(1), Found::Unseen, Found::Unseen, Found::Unseen]);
    }

    #[test]
    fn rare_values_are_one_category() {
        let mut counted = counted("a b b c c c other d".split(' ').map(text).collect());
        assert!(counted.pool(3, 8, false));
        assert_eq!(counted.values, ["b", "c", "other"]);
        assert_eq!(counted.counts, [2, 3, 3]);
        assert!(!counted.pool(3, 8, false));
    }

    #[test]
    fn frequent_values_are_not_forgotten() {
        let mut interner = Interner::pooled();
        for i in 0..200_000 {
            interner.see(Key::Int(i));
            interner.see(Key::Int(-1 - i % 3));
        }
        assert!(interner.overflowed() && interner.len() <= MOST_COUNTED);
        let mut counted = interner.finish();
        assert!(counted.pool(4, 400_000, true));
        assert_eq!(counted.values, ["-3", "-2", "-1", "other"]);
        assert_eq!(counted.counts, [66_666, 66_667, 66_667, 200_000]);
    }

    #[test]
    fn without_pooling_too_many_are_all_forgotten() {
        let mut interner = Interner::default();
        (0..20_000).for_each(|i| interner.see(text(&i.to_string())));
        assert!(interner.overflowed() && interner.len() == 0);
        let mut long = Interner::default();
        (0..100).for_each(|i| long.see(text(&format!("{i}{}", "x".repeat(1 << 20)))));
        assert!(long.overflowed() && long.bytes <= MOST_BYTES);
    }
}
