//! Oracle erasure: a row less what its own label says of it, linearly.
//!
//! ```text
//! x̂ = x − Cov(x, s) Cov(s)⁺ (s − s̄)        E‖x − x̂‖² = tr Cov(x, s) Cov(s)⁺ Cov(s, x)
//! ```
//!
//! s has a column for each class of each attribute and for each number. Every column of x̂ is what
//! is left of that of x after its projection on the columns of s, so that no random variable without
//! covariance with s is nearer to x: the change is never more than that of LEACE, which must do
//! with x. With one attribute of classes it is `x − x̄_k + x̄`. Reference: Belrose et al. 2023, LEACE:
//! Perfect linear concept erasure in closed form, section on oracle erasure.
//!
//! `Cov(x)` is not needed: memory and time are those of the covariances with the labels.

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::scatter::{Scatter, rows_of};
use super::{ROWS, checked, labels_of, layout_for};
use crate::moments::{Block, Element, Label, LabelBlock, LabelKind, Layout};
use crate::spectral::linalg::eigh;
use crate::{Error, Mismatch, Result, tolerance};

/// Rows whose sums are formed at a time.
const CHUNK: usize = 4096;

/// The sums of an oracle erasure, which rows are added to.
#[derive(Clone, Debug)]
pub struct OracleSums {
    layout: Layout,
    labels: Vec<Label>,
    seen: u64,
    sums: Scatter,
}

impl OracleSums {
    /// No rows yet. The layout has dense features, which are kept, and what is to be erased.
    pub fn new(layout: Layout) -> Result<Self> {
        let labels = labels_of(&layout)?;
        let columns = width(&labels);
        let sums = Scatter::new(layout.dense_features() + columns, columns);
        Ok(OracleSums { layout, labels, seen: 0, sums })
    }

    /// Rows so far, those of weight zero included.
    pub fn rows(&self) -> u64 {
        self.seen
    }

    /// Adds rows. A block that is refused changes nothing.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        checked(block, &self.layout, self.seen)?;
        let inputs = self.layout.dense_features();
        let counts = |i: &usize| block.weights.is_none_or(|w| w[*i] > 0.0);
        let rows: Vec<usize> = (0..block.rows()).filter(counts).collect();
        for rows in rows.chunks(CHUNK) {
            let mut a = rows_of(block.dense, rows, inputs + width(&self.labels));
            for (to, &i) in rows.iter().enumerate() {
                each_column(&block.labels, &self.labels, i, |j, v| a[(to, inputs + j)] = v);
            }
            let weights: Option<Vec<f64>> =
                block.weights.map(|w| rows.iter().map(|&i| w[i]).collect());
            self.sums.push(a, weights.as_deref());
        }
        self.seen += block.rows() as u64;
        Ok(())
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.layout != other.layout {
            return Err(Error::Merge(Mismatch::Columns));
        }
        self.sums.merge(&other.sums);
        self.seen += other.seen;
        Ok(())
    }

    /// Gives the classes of an attribute other numbers, `to` for each old one, among `classes`.
    pub fn reclass(&mut self, label: usize, to: &[u32], classes: usize) -> Result<()> {
        let old = self.labels.get(label).map(|l| l.kind.clone());
        let Some(LabelKind::Class { classes: before }) = old else {
            return Err(Error::Unavailable("only classes have other numbers"));
        };
        let wrong = to.len() != before || to.iter().any(|&k| k as usize >= classes);
        if wrong {
            return Err(Error::shape("places of classes", to.len(), before));
        }
        let inputs = self.layout.dense_features();
        let at = inputs + width(&self.labels[..label]);
        let end = at + before;
        let total = self.sums.mean.len() + classes - before;
        let place = |j: usize| match j {
            j if j < at => j,
            j if j < end => at + to[j - at] as usize,
            j => j + classes - before,
        };
        let places: Vec<usize> = (0..self.sums.mean.len()).map(place).collect();
        self.labels[label].kind = LabelKind::Class { classes };
        self.sums = self.sums.moved(&places, total, total - inputs);
        self.layout = layout_for(inputs, &self.labels);
        Ok(())
    }

    /// The erasure of all rows so far.
    pub fn solve(&self) -> Result<Oracle> {
        let (sums, inputs) = (&self.sums, self.layout.dense_features());
        if sums.rows < 2 {
            return Err(Error::TooFewRows { rows: sums.rows });
        }
        let columns = sums.mean.len() - inputs;
        let spread: Vec<f64> = (0..columns).map(|j| spread_of(sums, inputs + j).sqrt()).collect();
        let mut at = 0;
        for label in &self.labels {
            let end = at + width(std::slice::from_ref(label));
            if spread[at..end].iter().all(|&sd| sd == 0.0) {
                return Err(Error::ConstantLabel { name: label.name.clone() });
            }
            at = end;
        }
        let unit = |j: usize| if spread[j] > 0.0 { 1.0 / spread[j] } else { 0.0 };
        let correlation = Mat::from_fn(columns, columns, |i, j| {
            sums.products[(inputs + i, j)] * unit(i) * unit(j)
        });
        let (values, vectors) = eigh(correlation.as_ref())?;
        let least = tolerance::RANK * columns as f64;
        let inverse = |i: usize| if values[i] > least { 1.0 / values[i] } else { 0.0 };
        let cross = Mat::from_fn(columns, inputs, |i, j| sums.products[(j, i)] * unit(i));
        let mut along = vectors.transpose() * &cross;
        for i in 0..columns {
            along.row_mut(i).iter_mut().for_each(|v| *v *= inverse(i));
        }
        let mut coefficients = vectors * along;
        for i in 0..columns {
            coefficients.row_mut(i).iter_mut().for_each(|v| *v *= unit(i));
        }
        let scaled =
            Mat::from_fn(columns, inputs, |i, j| sums.products[(j, i)] * coefficients[(i, j)]);
        let explained = scaled.col_iter().flat_map(|c| c.iter()).sum::<f64>();
        let about = About {
            labels: self.labels.clone(),
            rows: sums.rows,
            change: (explained / sums.weight).max(0.0),
            variance: sums.squares[..inputs].iter().sum::<f64>() / sums.weight,
            extra: BTreeMap::new(),
        };
        Ok(Oracle { mean: sums.mean[inputs..].to_vec(), coefficients, about })
    }
}

/// The sum of squares of a column; zero where it is the rounding of a constant.
fn spread_of(sums: &Scatter, j: usize) -> f64 {
    let variance = sums.squares[j] / sums.weight;
    if crate::moments::constant(variance, sums.mean[j]) { 0.0 } else { sums.squares[j] }
}

/// The columns that stand for labels.
fn width(labels: &[Label]) -> usize {
    labels.iter().map(|label| label.width(0)).sum()
}

/// Hands the columns of a row's labels that are not zero on, each with its number.
fn each_column(
    values: &[LabelBlock<'_>],
    labels: &[Label],
    row: usize,
    mut with: impl FnMut(usize, f64),
) {
    let mut at = 0;
    for (value, label) in values.iter().zip(labels) {
        match value {
            LabelBlock::Class(codes) => with(at + codes[row] as usize, 1.0),
            LabelBlock::Number(numbers) => {
                (0..numbers.ncols()).for_each(|j| with(at + j, numbers[(row, j)]));
            }
        }
        at += label.width(0);
    }
}

/// What is known of an erasure by labels.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct About {
    pub(super) labels: Vec<Label>,
    pub(super) rows: u64,
    /// `E‖x − x̂‖²`.
    pub(super) change: f64,
    /// `E‖x − x̄‖²`.
    pub(super) variance: f64,
    #[serde(default)]
    pub(super) extra: BTreeMap<String, String>,
}

/// Oracle erasure; see `encoder/labelled/oracle.rs`.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// The mean of each label column.
    pub(super) mean: Vec<f64>,
    /// Label columns × inputs.
    pub(super) coefficients: Mat<f64>,
    pub(super) about: About,
}

impl Oracle {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.coefficients.ncols()
    }

    /// What is erased.
    pub fn labels(&self) -> &[Label] {
        &self.about.labels
    }

    /// Rows of positive weight that it was fitted on.
    pub fn rows(&self) -> u64 {
        self.about.rows
    }

    /// `E‖x − x̂‖²` on the rows of the fit.
    pub fn change(&self) -> f64 {
        self.about.change
    }

    /// `E‖x − x̄‖²` of them.
    pub fn variance(&self) -> f64 {
        self.about.variance
    }

    /// The mean of each label column: a class for each of an attribute's, then the next attribute.
    pub fn label_mean(&self) -> &[f64] {
        &self.mean
    }

    /// Label columns × inputs: `x̂ = x − coefficientsᵀ (s − label_mean)`.
    pub fn coefficients(&self) -> MatRef<'_, f64> {
        self.coefficients.as_ref()
    }

    /// Texts of the caller's, carried along.
    pub fn extra(&self) -> &BTreeMap<String, String> {
        &self.about.extra
    }

    /// The same with other texts.
    pub fn with_extra(mut self, extra: BTreeMap<String, String>) -> Self {
        self.about.extra = extra;
        self
    }

    /// Every row erased by its labels, one after the other.
    pub fn apply<T: Element>(&self, block: &Block<'_, T>) -> Result<Vec<T>> {
        let inputs = self.inputs();
        checked(block, &layout_for(inputs, &self.about.labels), 0)?;
        let mut offset = vec![0.0; inputs];
        for (j, offset) in offset.iter_mut().enumerate() {
            let column = self.coefficients.col(j).iter().zip(&self.mean);
            *offset = column.map(|(c, mean)| c * mean).sum();
        }
        // Rows of coefficients one after the other.
        let rows: Vec<Vec<f64>> = (0..self.coefficients.nrows())
            .map(|i| self.coefficients.row(i).iter().copied().collect())
            .collect();
        let mut to = vec![T::of(0.0); block.rows() * inputs];
        to.par_chunks_mut(ROWS * inputs).enumerate().for_each(|(part, to)| {
            let mut off = vec![0.0; inputs];
            for (k, to) in to.chunks_exact_mut(inputs).enumerate() {
                let i = part * ROWS + k;
                off.iter_mut().zip(&offset).for_each(|(off, offset)| *off = -offset);
                each_column(&block.labels, &self.about.labels, i, |j, v| {
                    off.iter_mut().zip(&rows[j]).for_each(|(off, c)| *off += v * c);
                });
                for ((to, &v), off) in to.iter_mut().zip(block.dense.row(i).iter()).zip(&off) {
                    *to = T::of(v.into() - off);
                }
            }
        });
        Ok(to)
    }
}
