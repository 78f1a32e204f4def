//! Rows that are held as they are, because there are fewer of them than features.
//!
//! Moments of d features take d² numbers and d³ steps; the rows themselves take n d. [`Wide`] takes
//! the same blocks as [`Moments`], and then gives moments in the span of the rows, with the map
//! that belongs to them. Held-out losses, the choice of a ridge and models are those of the
//! features, to rounding.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::MatRef;
use rayon::prelude::*;

use super::FeatureMap;
use super::span::Span;
use crate::moments::{
    Block, Element, FoldBy, LabelBlock, Layout, Made, Moments, MomentsOptions, constant,
};
use crate::spectral::reduced::of_many_sizes;
use crate::{Error, Mismatch, Result};

/// Fewer features than this are no trouble.
const FEW: usize = 512;

/// More features than this are never added up.
const MANY: usize = 4096;

/// Rows of a linear problem, solved in the span of the rows.
#[derive(Clone, Debug)]
pub struct Wide {
    pub(super) layout: Layout,
    pub(super) options: MomentsOptions,
    pub(super) rows: Held,
    pub(super) labels: Vec<HeldLabel>,
    /// What the fold of each row depends on; empty where that is its position.
    pub(super) hashes: Vec<u64>,
    /// Texts of the caller's, carried along.
    pub extra: BTreeMap<String, String>,
}

/// The features of rows, which are centred at the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    values: Vec<f64>,
    count: usize,
    /// Dense columns.
    pub(crate) width: usize,
    /// The mean of each dense column, once it has been taken off; zero where rows are encoded
    /// standardised.
    pub(crate) mean: Vec<f64>,
    pub(crate) codes: Vec<Vec<u32>>,
    pub(crate) categories: Vec<usize>,
    /// The share of each category.
    pub(crate) shares: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
pub(super) enum HeldLabel {
    /// Classes.
    Class(Vec<u32>),
    /// Row by row, with its width.
    Number(Vec<f64>, usize),
}

impl Wide {
    /// Whether so many rows of so many features are better held than added up.
    pub fn suits(rows: u64, features: usize) -> bool {
        features > FEW && rows < features as u64
    }

    /// No rows yet; about how many there will be, where that is known.
    pub fn new(layout: Layout, options: MomentsOptions, expected: usize) -> Result<Self> {
        // The same checks, and the same errors.
        drop(Moments::new(layout.clone(), options)?);
        let numbers = layout.labels().iter().map(|l| match l.kind {
            crate::LabelKind::Class { .. } => Some(HeldLabel::Class(Vec::new())),
            crate::LabelKind::Number { width } | crate::LabelKind::Kernel { columns: width } => {
                Some(HeldLabel::Number(Vec::new(), width))
            }
            crate::LabelKind::Features => None,
        });
        let labels = numbers.flatten().collect();
        let width = layout.dense_features();
        let mut values = Vec::new();
        // What cannot be had at once is asked for as rows come.
        let _ = values.try_reserve_exact(expected.saturating_mul(width));
        let codes = vec![Vec::new(); layout.categories().len()];
        let categories = layout.categories().to_vec();
        let rows = Held { values, width, codes, categories, ..Default::default() };
        let (hashes, extra) = (Vec::new(), BTreeMap::new());
        Ok(Wide { layout, options, rows, labels, hashes, extra })
    }

    /// What the columns are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How moments are kept.
    pub fn options(&self) -> MomentsOptions {
        self.options
    }

    /// Rows pushed so far.
    pub fn rows(&self) -> u64 {
        self.rows.count as u64
    }

    /// Adds the rows of a block. A block that is refused leaves the rows as they were.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        block.check(&self.layout, self.rows())?;
        if let Some(hashes) = block.hashed(self.options.fold_by)? {
            self.hashes.extend_from_slice(&hashes);
        }
        let held = &mut self.rows;
        for i in 0..block.rows() {
            held.values.extend(block.dense.row(i).iter().map(|&v| v.into()));
        }
        for (to, from) in held.codes.iter_mut().zip(&block.codes) {
            to.extend_from_slice(from);
        }
        if block.weights.is_some() && held.weights.is_none() {
            held.weights = Some(vec![1.0; held.count]);
        }
        held.count += block.rows();
        if let Some(weights) = &mut held.weights {
            weights.extend_from_slice(block.weights.unwrap_or(&[]));
            weights.resize(held.count, 1.0);
        }
        for (to, from) in self.labels.iter_mut().zip(&block.labels) {
            match (to, from) {
                (HeldLabel::Class(to), LabelBlock::Class(from)) => to.extend_from_slice(from),
                (HeldLabel::Number(to, _), LabelBlock::Number(from)) => {
                    (0..from.nrows()).for_each(|i| to.extend(from.row(i).iter()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The moments of the features themselves, of size d × d.
    pub fn added_up(&self) -> Result<Moments> {
        let mut moments = Moments::new(self.layout.clone(), self.options)?;
        moments.push(&self.block())?;
        Ok(moments)
    }

    /// Whether rows keep their folds wherever they come.
    pub(crate) fn folds_follow_rows(&self) -> bool {
        self.options.fold_by != FoldBy::Position
    }

    /// Adds the rows of another one, whose folds follow them.
    pub(crate) fn merge(&mut self, other: &Wide) -> Result<()> {
        if self.layout != other.layout {
            return Err(Error::Merge(Mismatch::Columns));
        }
        self.options.check_same(other.options)?;
        self.push(&other.block())
    }

    /// All rows.
    fn block(&self) -> Block<'_, f64> {
        let codes = self.rows.codes.iter();
        let block = codes.fold(Block::new(self.rows.dense()), |block, codes| block.coded(codes));
        self.labelled(block)
    }

    /// The mean and the standard deviation of each dense feature; that of a constant is zero.
    pub fn spreads(&self) -> Result<Vec<(f64, f64)>> {
        self.rows.spreads()
    }

    /// Moments in the span of the rows and the map to it, with the mean and the standard deviation
    /// of each dense feature. With `standardise` each is shifted by its mean and divided by its
    /// standard deviation first (a constant only shifted).
    pub fn spanned(mut self, standardise: bool) -> Result<Spanned> {
        if self.rows.used() < 2 {
            return Err(Error::TooFewRows { rows: self.rows.used() as u64 });
        }
        let spreads = self.rows.spreads()?;
        if !standardise
            && self.layout.features() <= MANY
            && of_many_sizes(spreads.iter().map(|s| s.1))
        {
            let map = FeatureMap::coded(self.rows.width, &self.rows.categories);
            return Ok(Spanned { map, moments: self.added_up()?, spreads });
        }
        self.rows.centre(&spreads, standardise);
        let span = Arc::new(Span::new(std::mem::take(&mut self.rows))?);
        let map = FeatureMap::spanned(&self.layout, Arc::clone(&span));
        let mut moments = map.moments(&self.layout, self.options)?;
        // Row-major, as moments read them.
        let features = span.features().transpose().to_owned();
        let block = self.labelled(Block::new(features.transpose()));
        let block = match span.weights() {
            Some(weights) => block.weighted(weights),
            None => block,
        };
        moments.push(&block)?;
        Ok(Spanned { map, moments, spreads })
    }

    /// Labels, what folds depend on and, where rows are held here, their weights.
    fn labelled<'a, T: Element>(&'a self, block: Block<'a, T>) -> Block<'a, T> {
        let rows = block.rows();
        let hashes = self.folds_follow_rows().then_some(self.hashes.as_slice());
        let block = Block { hashes, ..block };
        let block = self.labels.iter().fold(block, |block, label| block.label(label.block(rows)));
        match &self.rows.weights {
            Some(weights) => block.weighted(weights),
            None => block,
        }
    }

    /// Renumbers the classes of a label; see [`Moments::reclass`].
    pub fn reclass(&mut self, label: usize, to: &[u32], classes: usize) -> Result<()> {
        self.renumber(label, to, |empty| empty.reclass(label, to, classes))
    }

    /// The same of a label of joint classes.
    pub(crate) fn reclass_joint(&mut self, label: usize, to: &[u32], joint: Made) -> Result<()> {
        self.renumber(label, to, |empty| empty.reclass_joint(label, to, joint))
    }

    /// Renumbers the categories of a class-coded feature; see [`Moments::recode`].
    pub fn recode(&mut self, category: usize, to: &[u32], size: usize) -> Result<()> {
        self.layout = self.layout.recoded(category, to, size)?;
        self.rows.categories[category] = size;
        for code in self.rows.codes[category].iter_mut() {
            *code = to.get(*code as usize).copied().unwrap_or(*code);
        }
        Ok(())
    }

    fn renumber(
        &mut self,
        label: usize,
        to: &[u32],
        change: impl FnOnce(&mut Moments) -> Result<()>,
    ) -> Result<()> {
        let mut empty = Moments::new(self.layout.clone(), self.options)?;
        change(&mut empty)?;
        self.layout = empty.layout().clone();
        let before = self.layout.labels().iter().take(label);
        let held = before.filter(|l| l.kind != crate::LabelKind::Features).count();
        if let Some(HeldLabel::Class(codes)) = self.labels.get_mut(held) {
            codes.iter_mut().for_each(|code| *code = to[*code as usize]);
        }
        Ok(())
    }
}

/// What [`Wide::spanned`] gives.
#[derive(Clone, Debug)]
pub struct Spanned {
    /// From x to coordinates in the span.
    pub map: FeatureMap,
    /// Moments of the coordinates.
    pub moments: Moments,
    /// The mean and the standard deviation of each dense feature.
    pub spreads: Vec<(f64, f64)>,
}

impl Held {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Rows × dense columns.
    pub(crate) fn dense(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.count, self.width)
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    pub(crate) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Rows of positive weight.
    fn used(&self) -> usize {
        (0..self.count).filter(|&i| self.weight(i) > 0.0).count()
    }

    fn total(&self) -> f64 {
        (0..self.count).map(|i| self.weight(i)).sum()
    }

    /// The weighted mean over the rows of what `of` makes of each number and its column.
    fn average(&self, of: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
        const COLUMNS: usize = 4096;
        let total = self.total();
        let mut means = vec![0.0; self.width];
        means.par_chunks_mut(COLUMNS).enumerate().for_each(|(part, means)| {
            let first = part * COLUMNS;
            for i in 0..self.count {
                let share = self.weight(i) / total;
                let row = &self.values[i * self.width + first..][..means.len()];
                for (j, (mean, &value)) in means.iter_mut().zip(row).enumerate() {
                    *mean += share * of(first + j, value);
                }
            }
        });
        means
    }

    fn spreads(&self) -> Result<Vec<(f64, f64)>> {
        let about = self.average(|_, v| v);
        // Twice: the first mean is off by the rounding of large numbers.
        let off = self.average(|j, v| v - about[j]);
        let means: Vec<f64> = about.iter().zip(&off).map(|(a, b)| a + b).collect();
        let variances = self.average(|j, v| (v - means[j]) * (v - means[j]));
        let overflows = |j: &usize| !variances[*j].is_finite() || !means[*j].is_finite();
        if let Some(j) = (0..self.width).find(overflows) {
            return Err(Error::Overflow { place: crate::Place::Feature(j) });
        }
        let spread = |(&mean, &variance): (&f64, &f64)| {
            (mean, if constant(variance, mean) { 0.0 } else { variance.sqrt() })
        };
        Ok(means.iter().zip(&variances).map(spread).collect())
    }

    /// Takes the means off, and divides by the standard deviations if that is wanted.
    fn centre(&mut self, spreads: &[(f64, f64)], standardise: bool) {
        let factor = |sd: f64| match (sd > 0.0, standardise) {
            (false, _) => 0.0,
            (true, true) => 1.0 / sd,
            (true, false) => 1.0,
        };
        let factors: Vec<f64> = spreads.iter().map(|s| factor(s.1)).collect();
        let width = self.width.max(1);
        self.values.par_chunks_mut(width).for_each(|row| {
            let how = spreads.iter().zip(&factors);
            // A constant becomes zero, whatever the rounding of its mean.
            row.iter_mut().zip(how).for_each(|(v, (s, f))| *v = (*v - s.0) * f);
        });
        self.mean = match standardise {
            true => vec![0.0; self.width],
            false => spreads.iter().map(|s| s.0).collect(),
        };
        let total = self.total();
        let shares = |(codes, &count): (&Vec<u32>, &usize)| {
            let mut shares = vec![0.0; count];
            for (i, &code) in codes.iter().enumerate() {
                if let Some(share) = shares.get_mut(code as usize) {
                    *share += self.weight(i) / total;
                }
            }
            shares
        };
        self.shares = self.codes.iter().zip(&self.categories).map(shares).collect();
    }

    /// The variance of each dense column of rows that are centred.
    pub(crate) fn variances(&self) -> Vec<f64> {
        self.average(|_, v| v * v)
    }
}

impl FeatureMap {
    /// Coordinates in the span of the rows of a linear problem.
    fn spanned(layout: &Layout, span: Arc<Span>) -> Self {
        let map = FeatureMap::coded(layout.dense_features(), layout.categories());
        FeatureMap { span: Some(span), ..map }
    }
}
