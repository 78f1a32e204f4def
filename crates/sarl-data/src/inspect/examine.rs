//! What is seen of a column while its rows go by.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrow_array::{Array, ArrayRef};

use crate::cells::{At, Key, Keys, Values};
use crate::column::ColumnKind;
use crate::schema::Interner;
use crate::text::{Gap, Guess, gap};

/// Cells that are looked at one by one, to say what most of them look like.
const LOOKED: u64 = 10_000;

/// What was seen of a column.
pub(super) struct Examined {
    kind: ColumnKind,
    /// Whether the file is text, where the usual spellings are missing in every column.
    text_file: bool,
    tokens: Vec<String>,
    /// Cells with a value.
    pub(super) cells: u64,
    pub(super) missing: u64,
    /// How missing cells are written, with their counts.
    pub(super) gaps: BTreeMap<String, u64>,
    /// Cells that are missing among numbers and values among words.
    pub(super) either: BTreeMap<String, u64>,
    pub(super) values: Interner,
    /// Whether all values were different, as far as they were counted.
    pub(super) all_different: bool,
    pub(super) guess: Guess,
    looked: u64,
    like_numbers: u64,
    short_years: u64,
    /// The first cell that is not a number as programs write it.
    pub(super) bad: Option<(u64, String)>,
    pub(super) whole: bool,
    pub(super) rising: bool,
    last: f64,
    pub(super) leading_zeros: bool,
}

impl Examined {
    pub(super) fn new(kind: ColumnKind, text_file: bool, tokens: &[String]) -> Self {
        Self {
            kind,
            text_file,
            tokens: tokens.to_vec(),
            cells: 0,
            missing: 0,
            gaps: BTreeMap::new(),
            either: BTreeMap::new(),
            values: Interner::default(),
            all_different: true,
            guess: Guess::default(),
            looked: 0,
            like_numbers: 0,
            short_years: 0,
            bad: None,
            whole: true,
            rising: true,
            last: f64::NEG_INFINITY,
            leading_zeros: false,
        }
    }

    /// Whether most cells look like numbers or dates.
    pub(super) fn mostly_numbers(&self) -> bool {
        2 * self.like_numbers > self.looked
    }

    /// Whether most cells look like dates with years of two digits.
    pub(super) fn short_years(&self) -> bool {
        2 * self.short_years > self.looked
    }

    /// Looks at the cells of a batch.
    pub(super) fn see(&mut self, array: &ArrayRef, at: At<'_>) {
        match ColumnKind::of(array.data_type()) {
            ColumnKind::Text | ColumnKind::Bool | ColumnKind::Empty => {
                let Some(keys) = Keys::of(array) else { return };
                for row in 0..keys.len() {
                    match keys.get(row, ColumnKind::Text) {
                        Some(Key::Text(text)) => self.text(&text, at.row(row)),
                        _ => self.gap(""),
                    }
                }
            }
            ColumnKind::Other => {
                self.missing += array.logical_null_count() as u64;
                self.cells += (array.len() - array.logical_null_count()) as u64;
            }
            _ => {
                let Some(values) = Values::of(array) else { return };
                (0..array.len()).for_each(|row| self.typed_number(values.get(row)));
            }
        }
    }

    fn gap(&mut self, written: &str) {
        self.missing += 1;
        *self.gaps.entry(written.to_owned()).or_insert(0) += 1;
    }

    fn typed_number(&mut self, value: f64) {
        let token = self.tokens.iter().find(|t| t.parse() == Ok(value)).cloned();
        match token {
            Some(token) => self.gap(&token),
            None if value.is_nan() => self.gap(""),
            None => {
                self.cells += 1;
                self.number(value);
                self.count(Key::Int(value.to_bits() as i64));
            }
        }
    }

    fn text(&mut self, text: &str, row: u64) {
        if self.tokens.iter().any(|t| t == text) {
            return self.gap(text);
        }
        match gap(text.trim().as_bytes()) {
            Some(Gap::Always) if self.text_file => self.gap(text),
            Some(_) => *self.either.entry(text.to_owned()).or_insert(0) += 1,
            None => self.cell(text, row),
        }
    }

    fn cell(&mut self, text: &str, row: u64) {
        self.cells += 1;
        self.look(text.trim(), row);
        match text.trim().parse::<f64>() {
            Ok(value) => {
                self.number(value);
                self.leading_zeros |= has_leading_zero(text);
                match self.kind {
                    ColumnKind::Integer | ColumnKind::Float => {
                        self.count(Key::Int(value.to_bits() as i64));
                    }
                    _ => self.count(Key::Text(Cow::Borrowed(text))),
                }
            }
            Err(_) => {
                if self.bad.is_none() {
                    self.bad = Some((row, text.chars().take(40).collect()));
                }
                self.count(Key::Text(Cow::Borrowed(text)));
            }
        }
    }

    /// Judges how a cell is written.
    fn look(&mut self, text: &str, row: u64) {
        self.guess.see(text, row);
        if self.looked < LOOKED {
            self.looked += 1;
            let mut alone = Guess::default();
            alone.see(text, row);
            self.like_numbers += u64::from(!alone.is_settled());
            self.short_years += u64::from(has_short_year(text));
        }
    }

    fn number(&mut self, value: f64) {
        self.whole &= value.fract() == 0.0;
        self.rising &= value > self.last;
        self.last = value;
    }

    fn count(&mut self, key: Key<'_>) {
        if self.values.overflowed() {
            return;
        }
        let before = self.values.len();
        self.values.see(key);
        self.all_different &= self.values.overflowed() || self.values.len() > before;
    }

    /// Takes the cells that are missing among numbers as missing.
    pub(super) fn either_are_gaps(&mut self) {
        for (text, count) in std::mem::take(&mut self.either) {
            self.missing += count;
            *self.gaps.entry(text).or_insert(0) += count;
        }
    }

    /// Takes these cells as values.
    pub(super) fn either_are_values(&mut self) {
        for (text, count) in &self.either {
            self.cells += count;
            (0..*count).for_each(|_| self.values.see(Key::Text(Cow::Borrowed(text))));
        }
    }
}

/// `007`, but not `0` or `0.5`.
fn has_leading_zero(text: &str) -> bool {
    let digits = text.as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}

/// `8/13/13`, with a time or without.
fn has_short_year(text: &str) -> bool {
    let date = text.split(' ').next().unwrap_or_default();
    let parts: Vec<&str> = date.split(['/', '-', '.']).collect();
    let small = |p: &&str| (1..=2).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(small)
}
