//! Rows in memory: for probes, which need them there, and for fits on some of them.

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::{FitParams, Fitted, Scale};
use sarl_eval::{Labelled, Labels};
use sarl_report::page::Values;

use crate::error::{Error, Result};
use crate::page::values;

/// Some rows of a data set.
#[derive(Clone)]
pub struct Rows {
    /// The place of each among the rows of the data set.
    pub places: Vec<u64>,
    /// The features, one-hot columns and all.
    pub x: Mat<f64>,
    /// The numbers of values of the categories whose one-hot columns are the last.
    pub categories: Vec<usize>,
    /// The features encoded by a model, if there is one.
    pub z: Mat<f64>,
    /// What is to be kept.
    pub targets: Vec<Labels>,
    /// Whether the features themselves are kept, and attributes hidden beside the targets.
    pub keeps_features: bool,
    /// What is to be hidden.
    pub sensitives: Vec<Labels>,
    /// The names of targets and sensitives.
    pub names: Vec<String>,
    /// The names of the classes of each; none of a number.
    pub classes: Vec<Vec<String>>,
    /// The kernel that stands for each in a fit, by its name; none where there are none.
    pub kernels: Vec<Option<String>>,
    /// The weight of each row, if they differ.
    pub weights: Option<Vec<f64>>,
    /// How many rows there were.
    pub of: u64,
}

impl Rows {
    /// All rows of a data set, without labels.
    pub fn new(x: Mat<f64>) -> Self {
        let of = x.nrows() as u64;
        Rows {
            places: (0..of).collect(),
            z: Mat::zeros(x.nrows(), 0),
            x,
            categories: Vec::new(),
            targets: Vec::new(),
            keeps_features: false,
            sensitives: Vec::new(),
            names: Vec::new(),
            classes: Vec::new(),
            kernels: Vec::new(),
            weights: None,
            of,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Some of these rows.
    pub fn select(&self, which: &[usize]) -> Self {
        let pick = |m: &Mat<f64>| Mat::from_fn(which.len(), m.ncols(), |i, j| m[(which[i], j)]);
        Rows {
            places: which.iter().map(|&i| self.places[i]).collect(),
            x: pick(&self.x),
            categories: self.categories.clone(),
            z: pick(&self.z),
            keeps_features: self.keeps_features,
            targets: self.targets.iter().map(|l| l.select(which)).collect(),
            sensitives: self.sensitives.iter().map(|l| l.select(which)).collect(),
            names: self.names.clone(),
            classes: self.classes.clone(),
            kernels: self.kernels.clone(),
            weights: self.weights.as_ref().map(|w| which.iter().map(|&i| w[i]).collect()),
            of: self.of,
        }
    }

    /// So many of them, evenly over all.
    pub fn spread(&self, count: usize) -> Self {
        self.select(&(0..count).map(|i| i * self.len() / count).collect::<Vec<_>>())
    }

    /// Parts them at random, no row in two parts: one part for each share, the first of what is left.
    pub(crate) fn part<const N: usize>(&self, shares: [f64; N], seed: u64) -> Result<[Self; N]> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut counts = shares.map(|share| (share * self.len() as f64).round() as usize);
        counts[0] = self.len().saturating_sub(counts[1..].iter().sum());
        if counts.contains(&0) {
            return Err(Error::TooFewRows { rows: self.len(), parts: N });
        }
        let mut rest = &order[..];
        Ok(counts.map(|count| {
            let (part, others) = rest.split_at(count);
            rest = others;
            let mut part = part.to_vec();
            part.sort_unstable();
            self.select(&part)
        }))
    }

    /// Fits encoders on these rows, which are scaled already.
    pub fn fit(&self, params: &FitParams, stop: &dyn Fn() -> bool) -> Result<Fitted> {
        let labels = Labelled {
            targets: &self.targets,
            sensitives: &self.sensitives,
            names: &self.names,
            keeps_features: self.keeps_features,
            kernels: &self.kernels,
            weights: self.weights.as_deref(),
        };
        fit(self.x.as_ref(), &labels, params, stop)
    }

    /// The labels for a chart, what is hidden first.
    pub fn values(&self) -> Vec<Values> {
        let labels = self.targets.iter().chain(&self.sensitives).zip(&self.names);
        let all = labels.zip(&self.classes).enumerate().map(|(i, ((labels, name), classes))| {
            values(name, i >= self.targets.len(), classes, labels)
        });
        let (hidden, kept): (Vec<Values>, Vec<Values>) = all.partition(|v| v.hidden);
        hidden.into_iter().chain(kept).collect()
    }
}

/// Fits encoders on rows in memory, which are scaled already.
pub fn fit(
    x: MatRef<'_, f64>,
    labels: &Labelled<'_>,
    params: &FitParams,
    stop: &dyn Fn() -> bool,
) -> Result<Fitted> {
    let params = FitParams { scale: Scale::None, ..params.clone() };
    Ok(sarl_eval::fit(x, labels, &params, stop)?)
}

/// Mean 0 and variance 1 over these rows for the first `columns`; the same shift for the others.
pub fn standardise(rows: &mut Mat<f64>, others: &mut [&mut Mat<f64>], columns: usize) {
    let n = rows.nrows() as f64;
    for j in 0..columns.min(rows.ncols()) {
        let mean = rows.col(j).iter().sum::<f64>() / n;
        let variance = rows.col(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        for m in others.iter_mut().map(|m| &mut **m).chain([&mut *rows]) {
            m.col_mut(j).iter_mut().for_each(|v| *v = (*v - mean) / spread);
        }
    }
}

/// A uniform sample of rows, as they come by.
pub struct Reservoir {
    cap: usize,
    seen: u64,
    rng: ChaCha8Rng,
}

impl Reservoir {
    /// For at most `cap` rows.
    pub fn new(cap: usize, seed: u64) -> Self {
        Reservoir { cap, seen: 0, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The places of at most `cap` of `rows` rows.
    pub fn draw(rows: usize, cap: usize, seed: u64) -> Vec<usize> {
        let (mut draw, mut places) = (Self::new(cap, seed), vec![0; cap.min(rows)]);
        for row in 0..rows {
            draw.slot().into_iter().for_each(|slot| places[slot] = row);
        }
        places
    }

    /// How many rows came by.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Where the next row goes: at the end, in the place of another, or nowhere.
    pub fn slot(&mut self) -> Option<usize> {
        let place = self.seen as usize;
        self.seen += 1;
        match place < self.cap {
            true => Some(place),
            false => {
                Some(self.rng.random_range(0..self.seen) as usize).filter(|slot| *slot < self.cap)
            }
        }
    }
}
