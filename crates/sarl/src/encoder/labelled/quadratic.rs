//! Quadratic erasure: the means and the covariances of the classes are made equal.
//!
//! ```text
//! minimise  E‖x − x̂‖²   with   E[x̂ | k], Cov(x̂ | k) the same for every class k
//! x̂ = x̄ + Aₖ (x − x̄ₖ)      Aₖ = S^½ (S^½ Σₖ S^½)^−½ S^½      S = Σ πₖ (S^½ Σₖ S^½)^½
//! ```
//!
//! with the means `x̄ₖ`, covariances `Σₖ` and shares `πₖ` of the classes: each class is moved by the
//! optimal map of Gaussians to their barycentre `N(x̄, S)`. Gelbrich's bound says that no x̂, whatever
//! it is made of, has equal means and covariances at less change, whether or not classes are normal.
//! No quadratic function of x̂ then tells a class on average. Reference: Belrose et al. 2023 and the
//! quadratic eraser of concept-erasure.
//!
//! Only directions in which rows vary within classes are mapped. Every class must vary in all of
//! them: one that does not cannot be given the covariance of the others by any map of its rows,
//! which is an error ([`Error::FlatClass`]). So a class needs more rows than there are directions.

use std::collections::BTreeMap;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::barycentre::{Barycentre, symmetric};
use super::oracle::About;
use super::scatter::{Scatter, rows_of};
use super::{ROWS, checked, labels_of, layout_for};
use crate::moments::{Block, Element, Label, LabelBlock, LabelKind, Layout, constant};
use crate::spectral::linalg::{
    cholesky, congruence, eigh, pick_columns, pivoted_cholesky, solve_lower,
};
use crate::{Error, Mismatch, Result, tolerance};

/// Rows whose sums are formed at a time.
const CHUNK: usize = 4096;
/// A class varies in a direction when it has more than this share of the variance that all classes
/// have there.
const FLAT: f64 = 1e-9;

/// The sums of a quadratic erasure, which rows are added to.
#[derive(Clone, Debug)]
pub struct QuadraticSums {
    layout: Layout,
    label: Label,
    seen: u64,
    /// Of each class.
    sums: Vec<Scatter>,
}

impl QuadraticSums {
    /// No rows yet. The layout has dense features, which are kept, and one attribute of classes.
    pub fn new(layout: Layout) -> Result<Self> {
        let labels = labels_of(&layout)?;
        let ([label], [LabelKind::Class { classes }]) =
            (&labels[..], &labels.iter().map(|l| l.kind.clone()).collect::<Vec<_>>()[..])
        else {
            let message = "quadratic erasure needs one attribute of classes; combine several";
            return Err(Error::Unavailable(message));
        };
        let inputs = layout.dense_features();
        let sums = (0..*classes).map(|_| Scatter::new(inputs, inputs)).collect();
        Ok(QuadraticSums { label: label.clone(), layout, seen: 0, sums })
    }

    /// Rows so far, those of weight zero included.
    pub fn rows(&self) -> u64 {
        self.seen
    }

    /// Adds rows. A block that is refused changes nothing.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        checked(block, &self.layout, self.seen)?;
        let inputs = self.layout.dense_features();
        for (rows, sums) in of_classes(block, self.sums.len()).iter().zip(&mut self.sums) {
            let counts = |i: &&usize| block.weights.is_none_or(|w| w[**i] > 0.0);
            let rows: Vec<usize> = rows.iter().filter(counts).copied().collect();
            for rows in rows.chunks(CHUNK) {
                let weights: Option<Vec<f64>> =
                    block.weights.map(|w| rows.iter().map(|&i| w[i]).collect());
                sums.push(rows_of(block.dense, rows, inputs), weights.as_deref());
            }
        }
        self.seen += block.rows() as u64;
        Ok(())
    }

    /// Adds the rows of another.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.layout != other.layout {
            return Err(Error::Merge(Mismatch::Columns));
        }
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| own.merge(other));
        self.seen += other.seen;
        Ok(())
    }

    /// Gives the classes other numbers, `to` for each old one, among `classes`.
    pub fn reclass(&mut self, label: usize, to: &[u32], classes: usize) -> Result<()> {
        let wrong = to.len() != self.sums.len() || to.iter().any(|&k| k as usize >= classes);
        if label != 0 || wrong {
            return Err(Error::shape("places of classes", to.len(), self.sums.len()));
        }
        let inputs = self.layout.dense_features();
        let mut sums: Vec<Scatter> = (0..classes).map(|_| Scatter::new(inputs, inputs)).collect();
        for (old, &place) in self.sums.iter().zip(to) {
            sums[place as usize].merge(old);
        }
        self.label.kind = LabelKind::Class { classes };
        self.layout = layout_for(inputs, std::slice::from_ref(&self.label));
        self.sums = sums;
        Ok(())
    }

    /// The erasure of all rows so far.
    pub fn solve(&self) -> Result<Quadratic> {
        let rows = self.sums.iter().map(|s| s.rows).sum();
        let weight: f64 = self.sums.iter().map(|s| s.weight).sum();
        let there: Vec<usize> = (0..self.sums.len()).filter(|&k| self.sums[k].rows > 0).collect();
        if rows < 2 {
            return Err(Error::TooFewRows { rows });
        }
        if there.len() < 2 {
            return Err(Error::ConstantLabel { name: self.label.name.clone() });
        }
        let inputs = self.layout.dense_features();
        let shares: Vec<f64> = there.iter().map(|&k| self.sums[k].weight / weight).collect();
        let covariances: Vec<Mat<f64>> = there.iter().map(|&k| self.sums[k].covariance()).collect();
        let mut mean = vec![0.0; inputs];
        for (&k, share) in there.iter().zip(&shares) {
            mean.iter_mut().zip(&self.sums[k].mean).for_each(|(to, m)| *to += share * m);
        }
        let mut within = Mat::zeros(inputs, inputs);
        for (share, covariance) in shares.iter().zip(&covariances) {
            within += covariance * faer::Scale(*share);
        }
        let basis = range(&within, &mean)?;
        let inside: Vec<Mat<f64>> = covariances
            .iter()
            .map(|c| symmetric(congruence(basis.as_ref(), c.as_ref()).as_ref()))
            .collect();
        self.check_flat(&there, &shares, &inside)?;
        let Barycentre { covariance, maps } = Barycentre::new(&shares, &inside)?;
        let trace = |a: &Mat<f64>| a.diagonal().column_vector().iter().sum::<f64>();
        let (mut change, mut variance) = (0.0, trace(&within));
        for (at, &k) in there.iter().enumerate() {
            let apart = self.sums[k].mean.iter().zip(&mean).map(|(a, b)| (a - b) * (a - b));
            let apart: f64 = apart.sum();
            let between = trace(&(&maps[at] * &inside[at]));
            let moved = trace(&inside[at]) + trace(&covariance) - 2.0 * between;
            change += shares[at] * (apart + moved.max(0.0));
            variance += shares[at] * apart;
        }
        let outside = Mat::<f64>::identity(inputs, inputs) - &basis * basis.transpose();
        let whole = |map: &Mat<f64>| match basis.ncols() == inputs {
            true => map.clone(),
            false => &basis * map * basis.transpose() + &outside,
        };
        let mut all = maps.iter().map(whole);
        let (mut means, mut whole) = (Vec::new(), Vec::new());
        for sums in &self.sums {
            let known = sums.rows > 0;
            means.push(known.then(|| sums.mean.clone()));
            whole.push(if known { all.next() } else { None });
        }
        let about = About {
            labels: vec![self.label.clone()],
            rows,
            change,
            variance,
            extra: BTreeMap::new(),
        };
        let classes = means.into_iter().zip(whole).map(|(mean, map)| Some((mean?, map?)));
        Ok(Quadratic { mean, classes: classes.collect(), about })
    }

    /// Refuses a class that does not vary in all directions in which classes vary.
    fn check_flat(&self, there: &[usize], shares: &[f64], inside: &[Mat<f64>]) -> Result<()> {
        let size = inside.first().map_or(0, Mat::nrows);
        let mut within = Mat::zeros(size, size);
        for (share, covariance) in shares.iter().zip(inside) {
            within += covariance * faer::Scale(*share);
        }
        let factor = cholesky(within.as_ref()).map_err(|_| Error::Unstable)?;
        for (&class, covariance) in there.iter().zip(inside) {
            let mut white = covariance.clone();
            solve_lower(factor.as_ref(), white.as_mut());
            solve_lower(factor.as_ref(), white.as_mut().transpose_mut());
            let (values, _) = eigh(symmetric(white.as_ref()).as_ref())?;
            let found = values.iter().filter(|v| **v > FLAT).count();
            if found < size {
                return Err(Error::FlatClass {
                    name: self.label.name.clone(),
                    class: class as u32,
                    rows: self.sums[class].rows,
                    found,
                    expected: size,
                });
            }
        }
        Ok(())
    }
}

/// An orthonormal basis of the directions in which rows vary within classes.
fn range(within: &Mat<f64>, mean: &[f64]) -> Result<Mat<f64>> {
    let inputs = within.nrows();
    let varies = |&j: &usize| within[(j, j)] > 0.0 && !constant(within[(j, j)], mean[j]);
    let varying: Vec<usize> = (0..inputs).filter(varies).collect();
    let unit: Vec<f64> = varying.iter().map(|&j| 1.0 / within[(j, j)].sqrt()).collect();
    let correlation = Mat::from_fn(varying.len(), varying.len(), |i, j| {
        within[(varying[i], varying[j])] * unit[i] * unit[j]
    });
    let (picked, _) = pivoted_cholesky(correlation, tolerance::RANK)?;
    match picked.len() {
        0 => Err(Error::NoVariation),
        full if full == inputs => Ok(Mat::identity(inputs, inputs)),
        _ => {
            let columns: Vec<usize> = picked.iter().map(|&i| varying[i]).collect();
            let mut spanning = pick_columns(within.as_ref(), &columns);
            for (j, &i) in picked.iter().enumerate() {
                spanning.col_mut(j).iter_mut().for_each(|v| *v *= unit[i]);
            }
            Ok(spanning.qr().compute_thin_Q())
        }
    }
}

/// The rows of each class.
fn of_classes<T: Element>(block: &Block<'_, T>, classes: usize) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); classes];
    if let Some(LabelBlock::Class(codes)) = block.labels.first() {
        codes.iter().enumerate().for_each(|(i, &k)| rows[k as usize].push(i));
    }
    rows
}

/// Quadratic erasure; see `encoder/labelled/quadratic.rs`.
#[derive(Clone, Debug)]
pub struct Quadratic {
    pub(super) mean: Vec<f64>,
    /// The mean and the map of each class that had rows.
    pub(super) classes: Vec<Option<(Vec<f64>, Mat<f64>)>>,
    pub(super) about: About,
}

impl Quadratic {
    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.mean.len()
    }

    /// What is erased.
    pub fn label(&self) -> &Label {
        &self.about.labels[0]
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

    /// The mean of every class afterwards: that of all rows.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The mean of class k and its map, symmetric, inputs × inputs: `x̂ = mean + map (x − mean_k)`.
    /// Nothing for a class without rows.
    pub fn class(&self, k: usize) -> Option<(&[f64], MatRef<'_, f64>)> {
        let (mean, map) = self.classes.get(k)?.as_ref()?;
        Some((mean, map.as_ref()))
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

    /// Every row erased by its class, one after the other.
    pub fn apply<T: Element>(&self, block: &Block<'_, T>) -> Result<Vec<T>> {
        let inputs = self.inputs();
        checked(block, &layout_for(inputs, &self.about.labels), 0)?;
        let known = of_classes(block, self.classes.len());
        if let Some(class) =
            (0..known.len()).find(|&k| !known[k].is_empty() && self.classes[k].is_none())
        {
            let name = self.label().name.clone();
            return Err(Error::UnknownClass { name, class: class as u32 });
        }
        let mut to = vec![T::of(0.0); block.rows() * inputs];
        to.par_chunks_mut(ROWS * inputs).enumerate().for_each(|(part, to)| {
            let some = block.slice(part * ROWS, to.len() / inputs);
            for (rows, class) in of_classes(&some, self.classes.len()).iter().zip(&self.classes) {
                if let (Some((mean, map)), false) = (class, rows.is_empty()) {
                    self.move_rows(some.dense, rows, (mean, map), to);
                }
            }
        });
        Ok(to)
    }

    fn move_rows<T: Element>(
        &self,
        x: MatRef<'_, T>,
        rows: &[usize],
        (mean, map): (&[f64], &Mat<f64>),
        to: &mut [T],
    ) {
        let inputs = self.inputs();
        let centred = Mat::from_fn(rows.len(), inputs, |i, j| x[(rows[i], j)].into() - mean[j]);
        let mut moved = vec![0.0; rows.len() * inputs];
        let into = MatMut::from_row_major_slice_mut(&mut moved, rows.len(), inputs);
        matmul(into, Accum::Replace, &centred, map, 1.0, Par::Seq);
        for (moved, &i) in moved.chunks_exact(inputs).zip(rows) {
            let to = &mut to[i * inputs..(i + 1) * inputs];
            for ((to, moved), mean) in to.iter_mut().zip(moved).zip(&self.mean) {
                *to = T::of(mean + moved);
            }
        }
    }
}
