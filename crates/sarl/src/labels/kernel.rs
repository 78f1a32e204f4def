//! Features of a Gaussian kernel over the numbers of a label.
//!
//! A linear adversary that predicts ψ(s) predicts every smooth function of s: where z leaves nothing of
//! ψ(s) to it, z tells neither s nor s² nor whether s is extreme. Numbers are brought to variance 1, the width is
//! that of the median heuristic, and landmarks are added until little of the kernel is left
//! ([`tolerance::LABEL_KERNEL`]): about ten for one column.

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use crate::features::{
    Columns, Family, FeatureMap, Kernel, LandmarkOptions, Sample, median_gamma_weighted,
};
use crate::moments::{Block, Element, FoldBy, LabelBlock, LabelKind, Layout};
use crate::spectral::linalg::solve_lower;
use crate::{Error, Mismatch, Result, tolerance};

/// Rows that are kept to choose the features from.
const SAMPLE: usize = 10_000;
/// The most features of a label.
const MOST: usize = 200;

/// Features of a label, as JSON can hold them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LabelKernel {
    shift: Vec<f64>,
    factor: Vec<f64>,
    gamma: f64,
    /// Landmarks in scaled numbers, one after the other.
    landmarks: Vec<f64>,
    /// The lower triangle of `L`, row by row: features are `L⁻¹ k(landmarks, s)`.
    lower: Vec<f64>,
}

impl LabelKernel {
    /// How many numbers of a row it takes.
    pub(super) fn columns(&self) -> usize {
        self.shift.len()
    }

    /// How many features it gives.
    pub(super) fn width(&self) -> usize {
        self.landmarks.len().checked_div(self.columns()).unwrap_or(0)
    }

    /// Whether it is one that [`LabelSample`] could have chosen.
    pub(super) fn is_sound(&self) -> bool {
        let (d, m) = (self.columns(), self.width());
        let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
        d > 0
            && (1..=MOST).contains(&m)
            && self.factor.len() == d
            && self.landmarks.len() == m * d
            && self.lower.len() == m * (m + 1) / 2
            && self.gamma.is_finite()
            && self.gamma > 0.0
            && [&self.shift, &self.factor, &self.landmarks, &self.lower].map(|v| finite(v))
                == [true; 4]
            && self.factor.iter().all(|f| *f > 0.0)
            && (0..m).all(|i| self.lower[i * (i + 1) / 2 + i] > 0.0)
    }

    fn new(name: &str, numbers: MatRef<'_, f64>, weights: &[f64], seed: u64) -> Result<Self> {
        let total: f64 = weights.iter().sum();
        let mut shift = Vec::new();
        let mut factor = Vec::new();
        for column in numbers.col_iter() {
            let mean = column.iter().zip(weights).map(|(v, w)| v * w / total).sum::<f64>();
            let square = |(v, w): (&f64, &f64)| (v - mean) * (v - mean) * w / total;
            let variance = column.iter().zip(weights).map(square).sum::<f64>();
            if crate::moments::constant(variance, mean) {
                return Err(Error::ConstantLabel { name: name.to_owned() });
            }
            shift.push(mean);
            factor.push(1.0 / variance.sqrt());
        }
        let scaled = Mat::from_fn(numbers.nrows(), numbers.ncols(), |i, j| {
            (numbers[(i, j)] - shift[j]) * factor[j]
        });
        let gamma = median_gamma_weighted(Family::Rbf, scaled.as_ref(), Some(weights))?;
        let options = LandmarkOptions {
            cap: MOST,
            tolerance: tolerance::LABEL_KERNEL,
            seed,
            ..Default::default()
        };
        let map = FeatureMap::landmarks(Kernel::Rbf { gamma }, scaled.as_ref(), &options)?;
        let (Columns::Kernel { landmarks, .. }, Some(lower)) = (&map.columns, map.factor()) else {
            return Err(Error::Unavailable("a label's kernel has landmarks"));
        };
        let landmarks = landmarks.row_iter().flat_map(|r| r.iter().copied().collect::<Vec<_>>());
        let rows = 0..lower.nrows();
        let lower = rows.flat_map(|i| (0..=i).map(move |j| lower[(i, j)]));
        Ok(LabelKernel {
            gamma,
            landmarks: landmarks.collect(),
            lower: lower.collect(),
            shift,
            factor,
        })
    }

    /// The features of some rows.
    pub(super) fn features(&self, numbers: MatRef<'_, f64>) -> Mat<f64> {
        let (d, m) = (self.columns(), self.width());
        let scaled = Mat::from_fn(numbers.nrows(), d, |i, j| {
            (numbers[(i, j)] - self.shift[j]) * self.factor[j]
        });
        let landmarks = MatRef::from_row_major_slice(&self.landmarks, m, d);
        let mut features = Kernel::Rbf { gamma: self.gamma }.block(landmarks, scaled.as_ref());
        let lower = Mat::from_fn(m, m, |i, j| match j <= i {
            true => self.lower[i * (i + 1) / 2 + j],
            false => 0.0,
        });
        solve_lower(lower.as_ref(), features.as_mut());
        features.transpose().to_owned()
    }
}

/// Numbers of labels that pass by before their features are chosen.
#[derive(Clone, Debug)]
pub(crate) struct LabelSample {
    layout: Layout,
    rows: u64,
    /// The numbers of all labels, and the weight behind them.
    kept: Sample,
}

impl LabelSample {
    pub(crate) fn new(layout: &Layout, by: FoldBy, seed: u64) -> Self {
        let width = layout.numbers().map(|(_, width)| width).sum::<usize>() + 1;
        let kept = Sample::new(by, SAMPLE, width, seed);
        LabelSample { layout: layout.labels_only(), rows: 0, kept }
    }

    /// Rows seen, those of weight zero included.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Lets rows pass by.
    pub(crate) fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        let beside = Block { codes: Vec::new(), ..block.clone() };
        beside.check_beside(&self.layout, self.rows)?;
        self.rows += block.rows() as u64;
        let numbers: Vec<MatRef<'_, f64>> = block.labels.iter().filter_map(numbers_of).collect();
        let weight = |i: usize| block.weights.map_or(1.0, |w| w[i]);
        self.kept.push_rows((0..block.rows()).filter(|&i| weight(i) > 0.0), |i, to| {
            let values = numbers.iter().flat_map(|v| v.row(i).iter().copied());
            to.iter_mut().zip(values.chain([weight(i)])).for_each(|(to, v)| *to = v);
        });
        Ok(())
    }

    /// Adds rows that have passed by elsewhere.
    pub(crate) fn merge(&mut self, other: &LabelSample) -> Result<()> {
        self.restore(other.rows, other.stored()?.as_ref())
    }

    /// What a file holds of it.
    pub(crate) fn stored(&self) -> Result<Mat<f64>> {
        match self.kept.adds_up() {
            true => Ok(self.kept.rows()),
            false => Err(Error::Merge(Mismatch::NotChosen)),
        }
    }

    /// Adds what a file holds.
    pub(crate) fn restore(&mut self, rows: u64, kept: MatRef<'_, f64>) -> Result<()> {
        let width = self.kept.rows().ncols();
        if kept.ncols() != width || !self.kept.adds_up() {
            return Err(Error::shape("columns of a sample", kept.ncols(), width));
        }
        self.rows += rows;
        self.kept.add_sample(kept);
        Ok(())
    }

    /// The features of the numbers of a label.
    pub(super) fn kernel(&self, label: usize, seed: u64) -> Result<LabelKernel> {
        let rows = self.kept.rows();
        if rows.nrows() == 0 {
            return Err(Error::TooFewRows { rows: 0 });
        }
        let before = self.layout.numbers().take_while(|(i, _)| *i < label).map(|(_, w)| w).sum();
        let width = self.layout.numbers().find(|(i, _)| *i == label).map_or(0, |(_, w)| w);
        let weights: Vec<f64> = rows.col(rows.ncols() - 1).iter().copied().collect();
        let name = self.layout.labels().get(label).map_or("", |l| &l.name);
        LabelKernel::new(name, rows.as_ref().subcols(before, width), &weights, seed)
    }
}

fn numbers_of<'a>(label: &LabelBlock<'a>) -> Option<MatRef<'a, f64>> {
    match label {
        LabelBlock::Number(values) => Some(*values),
        LabelBlock::Class(_) => None,
    }
}

/// Whether a label has numbers.
pub(super) fn is_numeric(kind: &LabelKind) -> bool {
    matches!(kind, LabelKind::Number { .. } | LabelKind::Kernel { .. })
}
