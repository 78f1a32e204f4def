//! The labels of one side of the problem, on one scale.
//!
//! Where a side has several labels, the columns of each are divided by the root of that label's
//! own variance, so that each label has variance 1: an age in years must not drown a sex. Losses
//! of the side are then sums of shares, one for each label. A single label keeps its own units.

use std::ops::Range;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::linalg::squares;
use crate::moments::{LabelColumns, LabelCovariances};

/// A label as a block of columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    /// Its columns among those of its side.
    pub(crate) columns: Range<usize>,
    /// The variance that its columns were divided by; 1 where it is the only label of its side.
    pub(crate) scale: f64,
    /// Its variance on the scale of the problem.
    pub(crate) variance: f64,
}

impl Attribute {
    /// The part of a matrix over the columns of the side that belongs to this label.
    pub(crate) fn of<'m>(&self, side: MatRef<'m, f64>) -> MatRef<'m, f64> {
        side.subcols(self.columns.start, self.columns.len())
    }

    /// What `gᵀ cross` explains of this label.
    pub(crate) fn explained(&self, side: MatRef<'_, f64>) -> f64 {
        squares(self.of(side))
    }
}

/// One side's columns on one scale, with the labels that they belong to.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// Directions × label columns.
    pub(crate) cross: Mat<f64>,
    /// The variance of each label column.
    pub(crate) variance: Vec<f64>,
    pub(crate) attributes: Vec<Attribute>,
}

impl Side {
    /// Puts `cross`, some product with the label columns of `part`, on one scale.
    pub(crate) fn new(mut cross: Mat<f64>, part: &LabelCovariances) -> Self {
        let scales = scales(&part.labels, &part.variance);
        let mut variance = part.variance.clone();
        let mut at = 0;
        for (label, &scale) in part.labels.iter().zip(&scales) {
            // Division by 1 changes nothing, not even the last bit.
            for (j, variance) in variance.iter_mut().enumerate().skip(at).take(label.width) {
                *variance /= scale;
                cross.col_mut(j).iter_mut().for_each(|v| *v /= scale.sqrt());
            }
            at += label.width;
        }
        let attributes = attributes(&part.labels, &variance, &scales);
        Side { cross, variance, attributes }
    }
}

/// The variance of each label, or 1 for a single one.
fn scales(labels: &[LabelColumns], variance: &[f64]) -> Vec<f64> {
    let one = attributes(labels, variance, &vec![1.0; labels.len()]);
    let scale = |a: &Attribute| match labels.len() > 1 && a.variance > 0.0 {
        true => a.variance,
        false => 1.0,
    };
    one.iter().map(scale).collect()
}

/// The labels over columns that are on one scale already.
pub(crate) fn attributes(
    labels: &[LabelColumns],
    variance: &[f64],
    scales: &[f64],
) -> Vec<Attribute> {
    let mut at = 0;
    let labels = labels.iter().zip(scales).map(|(label, &scale)| {
        let columns = at..at + label.width;
        at += label.width;
        let total = variance[columns.clone()].iter().sum();
        Attribute { name: label.name.clone(), columns, scale, variance: total }
    });
    labels.collect()
}
