//! What a kernel must know of the rows before they are mapped: their spread, and some of them.

use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::params::{FitParams, KernelParams, Scale};
use crate::container::{Reader, Writer};
use crate::engine::Engine;
use crate::error::{Mismatch, Place};
use crate::features::{FeatureMap, RawInputs, Reservoir, Sample, Scaling, median_gamma_weighted};
use crate::moments::{Block, Element, Layout, check_finite, constant, row_slice};
use crate::{Error, Result};

/// The mean and the standard deviation of each dense input of rows that pass by.
#[derive(Clone, Debug, Default)]
struct Spreads {
    weight: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Spreads {
    /// Blocks are merged by their means and their sums of squares about them: no large sums cancel.
    fn push<T: Element>(&mut self, x: MatRef<'_, T>, weights: Option<&[f64]>) {
        self.mean.resize(x.ncols(), 0.0);
        self.squares.resize(x.ncols(), 0.0);
        let weight: f64 = weights.map_or(x.nrows() as f64, |w| w.iter().sum());
        if weight <= 0.0 {
            return;
        }
        // The first mean is off by the rounding of large numbers.
        let about = average(x, weights, weight, |_, v| v);
        let off = average(x, weights, weight, |j, v| v - about[j]);
        let own: Vec<f64> = about.iter().zip(&off).map(|(about, off)| about + off).collect();
        let variance = average(x, weights, weight, |j, v| (v - own[j]) * (v - own[j]));
        let squares = variance.iter().map(|v| v * weight).collect();
        self.merge(&Spreads { weight, mean: own, squares });
    }

    fn merge(&mut self, other: &Spreads) {
        if other.weight <= 0.0 {
            return;
        }
        self.mean.resize(other.mean.len(), 0.0);
        self.squares.resize(other.mean.len(), 0.0);
        let (before, total) = (self.weight, self.weight + other.weight);
        for (j, (mean, squares)) in self.mean.iter_mut().zip(&mut self.squares).enumerate() {
            let step = other.mean[j] - *mean;
            *squares += other.squares[j] + step * step * before * other.weight / total;
            *mean += step * other.weight / total;
        }
        self.weight = total;
    }

    /// That of a constant is zero.
    fn finish(&self) -> Vec<(f64, f64)> {
        let spread = |(&mean, &squares): (&f64, &f64)| {
            let variance = if self.weight > 0.0 { squares / self.weight } else { 0.0 };
            (mean, if constant(variance, mean) { 0.0 } else { variance.sqrt() })
        };
        self.mean.iter().zip(&self.squares).map(spread).collect()
    }
}

/// Rows that one thread adds up: the sums are the same for any number of threads.
const CHUNK: usize = 8192;

/// The weighted mean over the rows of what `of` makes of each number and its column.
fn average<T: Element>(
    x: MatRef<'_, T>,
    weights: Option<&[f64]>,
    total: f64,
    of: impl Fn(usize, f64) -> f64 + Sync,
) -> Vec<f64> {
    let part = |chunk: usize| {
        let mut sums = vec![0.0; x.ncols()];
        for i in chunk * CHUNK..x.nrows().min((chunk + 1) * CHUNK) {
            let weight = weights.map_or(1.0, |w| w[i]);
            match row_slice(x, i) {
                Some(row) => {
                    let row = sums.iter_mut().zip(row).enumerate();
                    row.for_each(|(j, (sum, &v))| *sum += weight * of(j, v.into()));
                }
                None => {
                    let row = sums.iter_mut().enumerate();
                    row.for_each(|(j, sum)| *sum += weight * of(j, x[(i, j)].into()));
                }
            }
        }
        sums
    };
    let parts: Vec<Vec<f64>> = (0..x.nrows().div_ceil(CHUNK)).into_par_iter().map(part).collect();
    let mut sums = vec![0.0; x.ncols()];
    for part in &parts {
        sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    sums.iter_mut().for_each(|sum| *sum /= total);
    sums
}

const SAMPLE: &str = "sample";
const MEAN: &str = "sample.mean";
const SQUARES: &str = "sample.squares";

/// Rows that have passed by, beside their matrices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredSampling {
    rows: u64,
    weighted: bool,
    weight: f64,
}

/// Rows that pass by before a kernel is fitted.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    raw: RawInputs,
    spreads: Spreads,
    rows: u64,
    /// One-hot columns and the weight are behind the dense inputs.
    own: Sample,
    weighted: bool,
    /// Rows that landmarks are taken from instead.
    given: Option<Reservoir>,
}

impl Sampling {
    pub(super) fn new(kernel: &KernelParams, layout: &Layout, params: &FitParams) -> Self {
        let raw = RawInputs::new(layout.dense_features(), layout.categories());
        let (size, width) = (kernel.sample_size(), raw.width() + 1);
        let own = Sample::new(params.fold_by, size, width, params.seed);
        let spreads = Spreads::default();
        Sampling { raw, spreads, rows: 0, own, weighted: false, given: None }
    }

    /// Rows seen, those of weight zero included.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Lets rows of the data pass by. A row of weight zero is no row.
    pub(super) fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        self.raw.check(block)?;
        check_finite(block.dense, self.rows, Place::Feature)?;
        self.rows += block.rows() as u64;
        self.weighted |= block.weights.is_some();
        self.spreads.push(block.dense, block.weights);
        let weight = |i: usize| block.weights.map_or(1.0, |w| w[i]);
        self.own.push_rows((0..block.rows()).filter(|&i| weight(i) > 0.0), |i, to| {
            if let Some((last, row)) = to.split_last_mut() {
                self.raw.row(block.dense, &block.codes, i, row);
                *last = weight(i);
            }
        });
        Ok(())
    }

    /// Adds rows that have passed by elsewhere.
    pub(super) fn merge(&mut self, other: &Sampling) -> Result<()> {
        if !(self.own.adds_up() && other.own.adds_up()) || other.given.is_some() {
            return Err(Error::Merge(Mismatch::NotChosen));
        }
        self.spreads.merge(&other.spreads);
        self.rows += other.rows;
        self.weighted |= other.weighted;
        self.own.add_sample(other.own.rows().as_ref());
        Ok(())
    }

    /// What a file holds of it.
    pub(super) fn store(&self, writer: &mut Writer) -> Result<StoredSampling> {
        if !self.own.adds_up() || self.given.is_some() {
            return Err(Error::Merge(Mismatch::NotChosen));
        }
        let Spreads { weight, mean, squares } = &self.spreads;
        writer.matrix(SAMPLE, self.own.rows().as_ref());
        writer.vector(MEAN, mean);
        writer.vector(SQUARES, squares);
        Ok(StoredSampling { rows: self.rows, weighted: self.weighted, weight: *weight })
    }

    /// The inverse, in a sample without rows.
    pub(super) fn restore(&mut self, reader: &Reader<'_>, stored: StoredSampling) -> Result<()> {
        let StoredSampling { rows, weighted, weight } = stored;
        let sound = weight.is_finite() && weight >= 0.0 && self.own.adds_up();
        reader.require(sound, "its sample makes no sense")?;
        let columns = if weight > 0.0 { self.raw.dense } else { 0 };
        let (mean, squares) = (reader.vector(MEAN, columns)?, reader.vector(SQUARES, columns)?);
        let kept = reader.any_matrix(SAMPLE)?;
        reader.require(kept.ncols() == self.raw.width() + 1, "its sample has other columns")?;
        self.spreads = Spreads { weight, mean, squares };
        (self.rows, self.weighted) = (rows, weighted);
        self.own.add_sample(kept.as_ref());
        Ok(())
    }

    /// Rows that landmarks are taken from, instead of those of the data.
    pub(super) fn candidates<T: Element>(
        &mut self,
        block: &Block<'_, T>,
        size: usize,
        seed: u64,
    ) -> Result<()> {
        self.raw.check(block)?;
        check_finite(block.dense, 0, Place::Feature)?;
        let (raw, width) = (&self.raw, self.raw.width());
        let given = self.given.get_or_insert_with(|| Reservoir::new(size, width, seed));
        given.push_rows(0..block.rows(), |i, to| raw.row(block.dense, &block.codes, i, to));
        Ok(())
    }

    /// The map, and the mean and the standard deviation of each dense input.
    pub(super) fn map(
        &self,
        params: &KernelParams,
        scale: Scale,
        seed: u64,
        (stop, engine): (&dyn Fn() -> bool, Option<&dyn Engine>),
    ) -> Result<(FeatureMap, Vec<(f64, f64)>)> {
        let spreads = self.spreads.finish();
        let scaling = match scale {
            Scale::Standard => Some(Scaling::standard(&spreads)),
            Scale::None => None,
        };
        let (sample, weights) = self.rows_and_weights(scaling.as_ref());
        let gamma = match params.gamma {
            Some(gamma) => gamma,
            None => median_gamma_weighted(params.family, sample.as_ref(), weights.as_deref())?,
        };
        let kernel = params.kernel(gamma);
        let map = match params.choice() {
            Some(choice) => {
                let (cap, tolerance) = (params.landmarks, params.tolerance);
                let options = crate::LandmarkOptions { choice, cap, tolerance, seed };
                FeatureMap::landmarks_on(kernel, sample.as_ref(), &options, stop, engine)?
            }
            None => {
                let count = params.landmarks.next_multiple_of(2);
                FeatureMap::random_features(kernel, sample.ncols(), count, seed)?
            }
        };
        Ok((map.over(self.raw.dense, &self.raw.categories, scaling)?, spreads))
    }

    /// The sample as it is mapped, and the weights of its rows if they differ.
    fn rows_and_weights(&self, scaling: Option<&Scaling>) -> (Mat<f64>, Option<Vec<f64>>) {
        let rows = self.given.as_ref().map_or_else(|| self.own.rows(), Reservoir::rows);
        let place = |j: usize| {
            let of = scaling.filter(|_| j < self.raw.dense);
            of.map_or((0.0, 1.0), |s| (s.shift[j], s.factor[j]))
        };
        let mut scaled = Mat::zeros(rows.nrows(), self.raw.width());
        scaled.as_mut().par_col_iter_mut().enumerate().for_each(|(j, to)| {
            let (shift, factor) = place(j);
            to.iter_mut().zip(rows.col(j).iter()).for_each(|(to, v)| *to = (v - shift) * factor);
        });
        // Each different row has the weight of its copies.
        let weighted = (self.weighted || self.own.adds_up()) && self.given.is_none();
        let weights = || rows.col(self.raw.width()).iter().copied().collect();
        (scaled, weighted.then(weights))
    }
}
