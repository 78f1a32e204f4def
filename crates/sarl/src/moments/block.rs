//! Blocks of rows, and the checks that they pass before a single number is added.

use faer::MatRef;
use rayon::prelude::*;

use super::layout::{LabelKind, Layout};
use crate::engine::Values;
use crate::error::Place;
use crate::{Error, Result};

/// The code of a class-coded feature that is none of the categories: an all-zero one-hot row.
pub const NO_CLASS: u32 = u32::MAX;

/// The element types that blocks may hold.
pub trait Element: Copy + Send + Sync + Into<f64> + 'static {
    /// Whether it is neither NaN nor infinite.
    fn finite(self) -> bool;

    /// The matrix itself, where its elements are doubles already.
    fn as_doubles(x: MatRef<'_, Self>) -> Option<MatRef<'_, f64>>;

    /// A double in this precision.
    fn of(value: f64) -> Self;

    /// Whether it is single precision.
    const SINGLE: bool;

    /// Rows, as a device takes them.
    fn values<'a>(rows: &'a [&'a [Self]]) -> Values<'a>;
}

impl Element for f64 {
    const SINGLE: bool = false;

    fn values<'a>(rows: &'a [&'a [f64]]) -> Values<'a> {
        Values::Double(rows)
    }

    fn of(value: f64) -> Self {
        value
    }

    fn as_doubles(x: MatRef<'_, Self>) -> Option<MatRef<'_, f64>> {
        Some(x)
    }

    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Element for f32 {
    const SINGLE: bool = true;

    fn values<'a>(rows: &'a [&'a [f32]]) -> Values<'a> {
        Values::Single(rows)
    }

    fn of(value: f64) -> Self {
        value as f32
    }

    fn as_doubles(_: MatRef<'_, Self>) -> Option<MatRef<'_, f64>> {
        None
    }

    fn finite(self) -> bool {
        self.is_finite()
    }
}

/// The values of one label for the rows of a block.
#[derive(Clone, Copy, Debug)]
pub enum LabelBlock<'a> {
    /// Class indices.
    Class(&'a [u32]),
    /// Numbers, rows × width.
    Number(MatRef<'a, f64>),
}

/// Some rows: features, labels in the order of the layout, and weights if there are any.
///
/// A row-major view (`MatRef::from_row_major_slice`) is the fast one.
#[derive(Clone, Debug)]
pub struct Block<'a, T> {
    pub(crate) dense: MatRef<'a, T>,
    pub(crate) codes: Vec<&'a [u32]>,
    pub(crate) inputs: Option<MatRef<'a, f64>>,
    pub(crate) labels: Vec<LabelBlock<'a>>,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) keys: Option<&'a [u64]>,
    /// What folds depend on, once that is known: features may be mapped after it.
    pub(crate) hashes: Option<&'a [u64]>,
}

impl<'a, T: Element> Block<'a, T> {
    /// A block of dense features, rows × width.
    pub fn new(dense: MatRef<'a, T>) -> Self {
        let (codes, labels) = (Vec::new(), Vec::new());
        let (inputs, weights, keys, hashes) = (None, None, None, None);
        Block { dense, codes, inputs, labels, weights, keys, hashes }
    }

    /// Adds a class-coded feature ([`NO_CLASS`] for none of the categories).
    pub fn coded(mut self, codes: &'a [u32]) -> Self {
        self.codes.push(codes);
        self
    }

    /// Adds the classes of the next label.
    pub fn class(mut self, classes: &'a [u32]) -> Self {
        self.labels.push(LabelBlock::Class(classes));
        self
    }

    /// Adds the numbers of the next label.
    pub fn number(mut self, numbers: MatRef<'a, f64>) -> Self {
        self.labels.push(LabelBlock::Number(numbers));
        self
    }

    /// Adds the next label.
    pub fn label(mut self, label: LabelBlock<'a>) -> Self {
        self.labels.push(label);
        self
    }

    /// Gives each row a weight.
    pub fn weighted(mut self, weights: &'a [f64]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Gives each row a number that decides on its fold, with its numeric features or alone
    /// ([`FoldBy`](super::FoldBy)).
    pub fn keys(mut self, keys: &'a [u64]) -> Self {
        self.keys = Some(keys);
        self
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.dense.nrows()
    }

    /// The total weight of the rows.
    pub(crate) fn weight(&self) -> f64 {
        self.weights.map_or(self.rows() as f64, |w| w.iter().sum())
    }

    /// Rows `start..start + rows` of this block.
    pub fn slice(&self, start: usize, rows: usize) -> Self {
        let cut = |s: &'a [u32]| &s[start..start + rows];
        Block {
            dense: self.dense.subrows(start, rows),
            codes: self.codes.iter().map(|c| cut(c)).collect(),
            inputs: self.inputs.map(|x| x.subrows(start, rows)),
            labels: self
                .labels
                .iter()
                .map(|l| match l {
                    LabelBlock::Class(c) => LabelBlock::Class(cut(c)),
                    LabelBlock::Number(v) => LabelBlock::Number(v.subrows(start, rows)),
                })
                .collect(),
            weights: self.weights.map(|w| &w[start..start + rows]),
            keys: self.keys.map(|k| &k[start..start + rows]),
            hashes: self.hashes.map(|h| &h[start..start + rows]),
        }
    }

    /// The class-coded columns in the order of [`Layout::groups`].
    pub(crate) fn groups(&self) -> Vec<&'a [u32]> {
        let labels = self.labels.iter().filter_map(|l| match l {
            LabelBlock::Class(c) => Some(*c),
            LabelBlock::Number(_) => None,
        });
        self.codes.iter().copied().chain(labels).collect()
    }

    /// The numeric label columns in the order of the layout.
    pub(crate) fn numbers(&self) -> Vec<MatRef<'a, f64>> {
        let labels = self.labels.iter().filter_map(|l| match l {
            LabelBlock::Number(v) => Some(*v),
            LabelBlock::Class(_) => None,
        });
        self.inputs.iter().copied().chain(labels).collect()
    }

    /// Shapes, kinds, classes, weights and finiteness against the layout; `first` is the number
    /// of this block's first row.
    pub(crate) fn check(&self, layout: &Layout, first: u64) -> Result<()> {
        self.check_numbers(layout, first)?;
        check_finite(self.dense, first, Place::Feature)
    }

    /// The same without a look at the dense features.
    pub(crate) fn check_numbers(&self, layout: &Layout, first: u64) -> Result<()> {
        expect("dense feature columns", self.dense.ncols(), layout.dense)?;
        let kept = self.inputs.map_or(0, |x| x.ncols());
        expect("columns of inputs beside their features", kept, layout.inputs.kept())?;
        self.check_beside(layout, first)
    }

    /// Everything but the dense features.
    pub(crate) fn check_beside(&self, layout: &Layout, first: u64) -> Result<()> {
        self.check_shapes(layout)?;
        self.check_weights(first)?;
        self.check_classes(layout, first)?;
        let named = layout.numbers().map(|(i, _)| layout.labels[i].name.clone());
        let numbers = self.labels.iter().filter_map(|l| match l {
            LabelBlock::Number(v) => Some(*v),
            LabelBlock::Class(_) => None,
        });
        for (name, values) in named.zip(numbers) {
            check_finite(values, first, |column| Place::Label { name: name.clone(), column })?;
        }
        Ok(())
    }

    fn check_shapes(&self, layout: &Layout) -> Result<()> {
        let rows = self.rows();
        expect("class-coded feature columns", self.codes.len(), layout.codes.len())?;
        for codes in &self.codes {
            expect("rows of a class-coded feature", codes.len(), rows)?;
        }
        if let Some(weights) = self.weights {
            expect("weights", weights.len(), rows)?;
        }
        if let Some(keys) = self.keys {
            expect("keys", keys.len(), rows)?;
        }
        let wanted = layout.labels.iter().filter(|l| l.kind != LabelKind::Features);
        expect("labels", self.labels.len(), wanted.clone().count())?;
        for (label, found) in wanted.zip(&self.labels) {
            let name = &label.name;
            let wrong =
                |found, expected| Err(Error::LabelKind { name: name.clone(), found, expected });
            match (&label.kind, found) {
                (LabelKind::Class { .. }, LabelBlock::Class(classes)) => {
                    expect(&format!("rows of label `{name}`"), classes.len(), rows)?;
                }
                (
                    LabelKind::Number { width } | LabelKind::Kernel { columns: width },
                    LabelBlock::Number(values),
                ) => {
                    expect(&format!("rows of label `{name}`"), values.nrows(), rows)?;
                    expect(&format!("columns of label `{name}`"), values.ncols(), *width)?;
                }
                (LabelKind::Class { .. }, _) => return wrong("numbers", "classes"),
                (_, _) => return wrong("classes", "numbers"),
            }
        }
        Ok(())
    }

    fn check_weights(&self, first: u64) -> Result<()> {
        for (i, &weight) in self.weights.unwrap_or(&[]).iter().enumerate() {
            let row = first + i as u64;
            if !weight.is_finite() {
                return Err(Error::NotFinite { row, place: Place::Weight, value: weight });
            }
            if weight < 0.0 {
                return Err(Error::NegativeWeight { row, weight });
            }
        }
        Ok(())
    }

    fn check_classes(&self, layout: &Layout, first: u64) -> Result<()> {
        let features = layout.codes.len();
        let name = |g: usize| match g.checked_sub(features) {
            None => format!("class-coded feature {g}"),
            Some(l) => {
                let mut classes =
                    layout.labels.iter().filter(|l| matches!(l.kind, LabelKind::Class { .. }));
                classes.nth(l).map_or_else(String::new, |l| format!("label `{}`", l.name))
            }
        };
        for (g, (codes, classes)) in self.groups().iter().zip(layout.groups()).enumerate() {
            let allowed = |c: u32| (c as usize) < classes || (g < features && c == NO_CLASS);
            if let Some(i) = codes.iter().position(|&c| !allowed(c)) {
                let (what, row, class) = (name(g), first + i as u64, codes[i]);
                return Err(Error::Class { what, row, class, classes });
            }
        }
        Ok(())
    }
}

fn expect(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::shape(what, found, expected)) }
}

/// Names the first value that is not finite.
pub(crate) fn check_finite<T: Element>(
    x: MatRef<'_, T>,
    first: u64,
    place: impl Fn(usize) -> Place,
) -> Result<()> {
    const ROWS: usize = 1024;
    let chunks = x.nrows().div_ceil(ROWS);
    let bad = (0..chunks).into_par_iter().find_map_first(|chunk| {
        let start = chunk * ROWS;
        (start..(start + ROWS).min(x.nrows())).find(|&i| !row_finite(x, i))
    });
    let Some(i) = bad else { return Ok(()) };
    let column = (0..x.ncols()).find(|&j| !x[(i, j)].finite()).unwrap_or(0);
    let value = x[(i, column)].into();
    Err(Error::NotFinite { row: first + i as u64, place: place(column), value })
}

fn row_finite<T: Element>(x: MatRef<'_, T>, i: usize) -> bool {
    // No early exit: the loop vectorises, and almost every row is fine.
    match row_slice(x, i) {
        Some(row) => !row.iter().fold(false, |bad, v| bad | !v.finite()),
        None => (0..x.ncols()).all(|j| x[(i, j)].finite()),
    }
}

/// A row as a slice, where the matrix is row-major.
pub(crate) fn row_slice<T>(x: MatRef<'_, T>, i: usize) -> Option<&[T]> {
    x.row(i).try_as_row_major().map(|row| row.as_slice())
}
