//! Rows on their way through a map into moments.

use std::sync::Arc;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::{Columns, FeatureMap};
use crate::engine::FeaturePlan;
use crate::error::Place;
use crate::moments::{
    Block, Coming, Element, Landmarks, Layout, Moments, MomentsOptions, check_finite,
};
use crate::{Error, Result};

/// Rows mapped at a time, so that memory does not grow with the block.
const ROWS: usize = 4096;
/// The same for rows that a device maps.
const DEVICE_ROWS: usize = 65_536;
/// Rows that one worker compares with the landmarks.
const NOTED: usize = 256;

impl FeatureMap {
    /// Empty moments of this map's features for data of the given layout.
    pub fn moments(&self, layout: &Layout, options: MomentsOptions) -> Result<Moments> {
        if layout.features() != self.inputs() {
            return Err(Error::shape("features", layout.features(), self.inputs()));
        }
        if let Some(span) = &self.span {
            return Moments::new(layout.spanned(span.size()), options);
        }
        if self.is_linear() {
            return Moments::new(layout.clone(), options);
        }
        let mut moments = Moments::new(layout.mapped(self.outputs()), options)?;
        moments.noise.clone_from(&self.noise);
        let landmarks = |factor: &Arc<Mat<f64>>| Landmarks::new(Arc::clone(factor), options.folds);
        moments.landmarks = self.factor.as_ref().map(landmarks);
        Ok(moments)
    }

    /// Adds a block of inputs to moments made by [`FeatureMap::moments`].
    pub fn push<T: Element>(&self, moments: &mut Moments, block: &Block<'_, T>) -> Result<()> {
        self.check_maps_rows()?;
        if self.is_linear() {
            return moments.push(block);
        }
        self.raw.check(block)?;
        // All of the block before any of it: what is refused leaves the moments as they were.
        let beside = Block { codes: Vec::new(), ..block.clone() };
        beside.check_beside(moments.layout(), moments.rows())?;
        check_finite(block.dense, moments.rows(), Place::Feature)?;
        let hashes = block.hashed(moments.options().fold_by)?;
        let block = Block { hashes: hashes.as_deref(), ..block.clone() };
        if moments.has_engine()
            && moments.device_takes(self.plan(), Coming::Here(block.rows()), false)?
        {
            return self.push_on_device(moments, &block);
        }
        let mut features = Vec::new();
        let mut start = 0;
        while start < block.rows() {
            let rows = ROWS.min(block.rows() - start);
            let part = block.slice(start, rows);
            let keeps = moments.layout().inputs.kept() > 0;
            let x = self.raw.rows(part.dense, &part.codes);
            let x = MatRef::from_row_major_slice(&x, rows, self.inputs());
            self.fill(x, &mut features);
            let mapped = Block {
                dense: MatRef::from_row_major_slice(&features, rows, self.outputs()),
                codes: Vec::new(),
                inputs: keeps.then_some(x),
                labels: part.labels,
                weights: part.weights,
                keys: None,
                hashes: part.hashes,
            };
            self.note_rows(moments, x, &mapped)?;
            moments.push(&mapped).map_err(unstable)?;
            start += rows;
        }
        Ok(())
    }

    /// How a device computes the features of scaled rows with their one-hot columns.
    fn plan(&self) -> FeaturePlan<'_> {
        let factor = self.factor.as_ref().map(|factor| factor.as_ref().as_ref());
        FeaturePlan { map: self.columns.view(), factor, inputs: self.inputs() }
    }

    /// The rows of a block, which was checked, through the map on a device.
    fn push_on_device<T: Element>(
        &self,
        moments: &mut Moments,
        block: &Block<'_, T>,
    ) -> Result<()> {
        let most = moments.device_capacity().min(DEVICE_ROWS);
        let keeps = moments.layout().inputs.kept() > 0;
        let mut start = 0;
        while start < block.rows() {
            let rows = most.min(block.rows() - start);
            let part = block.slice(start, rows);
            let x = self.raw.rows(part.dense, &part.codes);
            let x = MatRef::from_row_major_slice(&x, rows, self.inputs());
            let codes = Vec::new();
            let inputs = keeps.then_some(x);
            let Block { labels, weights, hashes, .. } = part;
            let scaled = Block { dense: x, codes, inputs, labels, weights, keys: None, hashes };
            self.note_rows(moments, x, &scaled)?;
            if moments.push_part(&scaled)?.is_some() {
                return Err(Error::TooLarge { what: "scaled inputs" });
            }
            start += rows;
        }
        Ok(())
    }

    /// Tells the moments how large the kernel is at the next rows, and which of them are landmarks.
    fn note_rows(
        &self,
        moments: &mut Moments,
        x: MatRef<'_, f64>,
        rows: &Block<'_, f64>,
    ) -> Result<()> {
        let Columns::Kernel { kernel, landmarks } = &self.columns else { return Ok(()) };
        let weight = |i: usize| rows.weights.map_or(1.0, |w| w[i]);
        let folds = moments.next_folds(rows)?;
        let diagonal = kernel.diagonal(x);
        let met = |i: usize| {
            let same = self.places.get(&hash(x.row(i))).map_or(&[][..], Vec::as_slice);
            let same = same.iter().filter(move |&&j| landmarks.row(j) == x.row(i));
            same.map(move |&j| (i, j)).collect::<Vec<_>>()
        };
        let all = (0..x.nrows()).into_par_iter().with_min_len(NOTED).filter(|&i| weight(i) > 0.0);
        let met: Vec<(usize, usize)> = all.flat_map_iter(met).collect();
        let Some(known) = &mut moments.landmarks else { return Ok(()) };
        for i in (0..x.nrows()).filter(|&i| weight(i) > 0.0) {
            known.size += weight(i) * diagonal[i];
        }
        for (i, j) in met {
            known.note(j, folds.of(rows, i));
        }
        Ok(())
    }
}

/// Rows were finite: features that are not are those of landmarks too near to each other.
fn unstable(error: Error) -> Error {
    match error {
        Error::NotFinite { place: Place::Feature(_), .. } => Error::Unstable,
        error => error,
    }
}

/// A hash of the values of a row (FNV-1a over their bits; −0 is 0).
pub(super) fn hash(row: faer::RowRef<'_, f64>) -> u64 {
    row.iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ (value + 0.0).to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
