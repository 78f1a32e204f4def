//! Feature maps: what turns x into φ(x) before any moment is taken.
//!
//! A kernel is a feature map, so one solver serves all encoders: the linear one is `φ(x) = x`;
//! landmarks `u_1..u_m` give `φ(x) = L⁻¹ k(u, x)` with `L Lᵀ = K_mm` (all training points as
//! landmarks are the exact kernel method, fewer are Nyström); random Fourier features are
//! `φ(x) = √(1/h) [cos ωᵀx, sin ωᵀx]` over h random frequencies.
//!
//! ```
//! use sarl::{FeatureMap, Kernel, LandmarkOptions};
//! let x = faer::Mat::from_fn(50, 2, |i, j| ((i * (j + 3)) % 17) as f64);
//! let options = LandmarkOptions { cap: 10, ..Default::default() };
//! let map = FeatureMap::landmarks(Kernel::Rbf { gamma: 0.1 }, x.as_ref(), &options)?;
//! assert_eq!(map.apply(x.as_ref())?.ncols(), 10);
//! # Ok::<(), sarl::Error>(())
//! ```

mod exp;
mod file;
mod fused;
mod kernel;
mod landmarks;
mod raw;
mod sample;
mod span;
#[cfg(test)]
mod tests;
mod wide;
mod wide_file;

pub(crate) use file::{Stored, StoredInputs};
pub(crate) use kernel::median_gamma_weighted;
pub use kernel::{Family, Kernel, median_gamma};
pub use landmarks::{Choice, LandmarkOptions};
pub(crate) use raw::RawInputs;
pub use raw::Scaling;
pub(crate) use sample::Reservoir;
pub(crate) use span::Span;
pub use wide::{Spanned, Wide};

use std::collections::HashMap;
use std::sync::Arc;

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Cauchy, Distribution, StandardNormal};
use rayon::prelude::*;

use crate::error::Place;
use crate::moments::{Block, Element, Landmarks, Layout, Moments, MomentsOptions, check_finite};
use crate::spectral::linalg::{solve_lower, solve_lower_transposed};
use crate::{Error, Result};

/// The columns that a frozen encoder computes before its one matrix product.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// x itself, so many inputs.
    Linear { width: usize },
    /// `k(u_j, x)`, landmarks × inputs.
    Kernel { kernel: Kernel, landmarks: Mat<f64> },
    /// `cos` and `sin` of `ωᵀx`, inputs × frequencies.
    Fourier { frequencies: Mat<f64> },
}

/// What an encoder computes from a row before its one matrix product, to look at.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    /// x itself.
    Linear,
    /// `k(u_j, x)` over landmarks `u_j`.
    Kernel {
        /// k.
        kernel: Kernel,
        /// Landmarks × inputs.
        landmarks: MatRef<'a, f64>,
    },
    /// `√(1/h) cos ωᵀx`, then `√(1/h) sin ωᵀx`, over h frequencies.
    Fourier {
        /// Inputs × h.
        frequencies: MatRef<'a, f64>,
    },
}

impl Columns {
    pub(crate) fn view(&self) -> Map<'_> {
        match self {
            Columns::Linear { .. } => Map::Linear,
            Columns::Kernel { kernel, landmarks } => {
                Map::Kernel { kernel: *kernel, landmarks: landmarks.as_ref() }
            }
            Columns::Fourier { frequencies } => Map::Fourier { frequencies: frequencies.as_ref() },
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        match self {
            Columns::Linear { width } => *width,
            Columns::Kernel { landmarks, .. } => landmarks.ncols(),
            Columns::Fourier { frequencies } => frequencies.nrows(),
        }
    }

    pub(crate) fn outputs(&self) -> usize {
        match self {
            Columns::Linear { .. } => self.inputs(),
            Columns::Kernel { landmarks, .. } => landmarks.nrows(),
            Columns::Fourier { frequencies } => 2 * frequencies.ncols(),
        }
    }

    pub(crate) fn apply(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self {
            Columns::Linear { .. } => x.to_owned(),
            Columns::Kernel { kernel, landmarks } => kernel.block(x, landmarks.as_ref()),
            Columns::Fourier { frequencies } => fourier(x, frequencies),
        }
    }
}

fn fourier(x: MatRef<'_, f64>, frequencies: &Mat<f64>) -> Mat<f64> {
    let phase = x * frequencies;
    let h = frequencies.ncols();
    let scale = (1.0 / h as f64).sqrt();
    let mut features = Mat::zeros(x.nrows(), 2 * h);
    features.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        for (v, p) in column.iter_mut().zip(phase.col(j % h).iter()) {
            *v = scale * if j < h { p.cos() } else { p.sin() };
        }
    });
    features
}

/// A map from inputs to features; see the [module](self).
#[derive(Clone, Debug)]
pub struct FeatureMap {
    pub(crate) columns: Columns,
    /// Rows as they come.
    pub(crate) raw: RawInputs,
    /// `L`, where the features are `L⁻¹` times the columns.
    factor: Option<Arc<Mat<f64>>>,
    /// The landmarks by a hash of their values.
    places: HashMap<u64, Vec<usize>>,
    /// The rounding error of each feature, as [`Moments`] want it.
    noise: Vec<f64>,
    /// Where the features are coordinates in the span of rows.
    pub(crate) span: Option<Arc<Span>>,
    residual: f64,
    gamma: Option<f64>,
}

/// Roundings that one column of a map may be off by: its products and its function.
const ROUNDINGS: f64 = 16.0;

/// How far each feature of a map may be off by rounding: the error of a column, `‖row of L⁻¹‖` times
/// as large in what `L⁻¹` makes of the columns.
fn noise(columns: &Columns, factor: Option<&Mat<f64>>) -> Vec<f64> {
    let one = ROUNDINGS * f64::EPSILON;
    match (columns, factor) {
        (Columns::Linear { .. }, _) => Vec::new(),
        (Columns::Kernel { kernel, landmarks }, factor) => {
            // |k(u, x)|² ≤ k(u, u) k(x, x); the moments know how large k(x, x) is in the rows.
            let largest = kernel.diagonal(landmarks.as_ref()).into_iter().fold(0.0, f64::max);
            let size = largest.sqrt();
            let rows = factor.map(|factor| {
                let mut inverse = Mat::identity(factor.nrows(), factor.nrows());
                solve_lower(factor.as_ref(), inverse.as_mut());
                (0..inverse.nrows()).map(|i| inverse.row(i).norm_l2()).collect::<Vec<_>>()
            });
            let rows = rows.unwrap_or_else(|| vec![1.0; landmarks.nrows()]);
            rows.into_iter().map(|norm| one * size * norm).collect()
        }
        (Columns::Fourier { frequencies }, _) => {
            let h = frequencies.ncols();
            let phase = |j: usize| 1.0 + frequencies.col(j).norm_l2();
            (0..2 * h).map(|j| one * phase(j % h) / (h as f64).sqrt()).collect()
        }
    }
}

/// Landmarks that folded coefficients are tried on.
const CHECKED: usize = 1024;
/// How far they may be off, in standard deviations of z.
const AGREES: f64 = 1e-6;

/// Rows mapped at a time, so that memory does not grow with the block.
const ROWS: usize = 4096;

impl FeatureMap {
    /// `φ(x) = x` over `width` inputs.
    pub fn linear(width: usize) -> Self {
        Self::coded(width, &[])
    }

    /// `φ(x) = x` over `dense` inputs and the one-hot columns of class-coded ones, which are never
    /// formed.
    pub fn coded(dense: usize, categories: &[usize]) -> Self {
        let raw = RawInputs::new(dense, categories);
        let columns = Columns::Linear { width: raw.width() };
        FeatureMap { raw, ..Self::assemble(columns, None, 0.0) }
    }

    /// The same map of rows with class-coded inputs, whose one-hot columns come last, and with dense
    /// inputs that are scaled first. Moments of a linear map must be those of scaled rows already.
    pub fn over(
        self,
        dense: usize,
        categories: &[usize],
        scaling: Option<Scaling>,
    ) -> Result<Self> {
        let raw = RawInputs { scaling, ..RawInputs::new(dense, categories) };
        if raw.width() != self.columns.inputs() {
            return Err(Error::shape("inputs", raw.width(), self.columns.inputs()));
        }
        if let Some(scaling) = &raw.scaling {
            for (what, found) in [("shifts", &scaling.shift), ("factors", &scaling.factor)] {
                if found.len() != dense {
                    return Err(Error::shape(what, found.len(), dense));
                }
            }
            if !scaling.is_sound() {
                let message = "a shift or a factor is not finite, or a factor is zero";
                return Err(Error::Unavailable(message));
            }
        }
        Ok(FeatureMap { raw, ..self })
    }

    /// How dense inputs are scaled before they are mapped.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.raw.scaling.as_ref()
    }

    /// Landmarks chosen among the rows of `candidates`: all training data where it fits, a
    /// sample of it where not.
    pub fn landmarks(
        kernel: Kernel,
        candidates: MatRef<'_, f64>,
        options: &LandmarkOptions,
    ) -> Result<Self> {
        Self::landmarks_until(kernel, candidates, options, &|| false)
    }

    /// The same; given up with [`Error::Interrupted`] when `stop`, asked now and then, says so.
    pub fn landmarks_until(
        kernel: Kernel,
        candidates: MatRef<'_, f64>,
        options: &LandmarkOptions,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self> {
        kernel.check()?;
        check_finite(candidates, 0, Place::Feature)?;
        let chosen = landmarks::choose(kernel, candidates, options, stop)?;
        let points = Mat::from_fn(chosen.picked.len(), candidates.ncols(), |i, j| {
            candidates[(chosen.picked[i], j)]
        });
        let columns = Columns::Kernel { kernel, landmarks: points };
        Ok(Self::assemble(columns, Some(chosen.factor), chosen.residual))
    }

    /// `count` random Fourier features (an even number) of an RBF or Laplacian kernel over
    /// `width` inputs.
    pub fn random_features(kernel: Kernel, width: usize, count: usize, seed: u64) -> Result<Self> {
        kernel.check()?;
        if count == 0 || count % 2 == 1 {
            let (name, value) = ("the number of random features", count as f64);
            return Err(Error::Argument {
                name,
                value,
                expected: "expected an even number, 2 or more",
            });
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut draw: Box<dyn FnMut() -> f64> = match kernel {
            Kernel::Rbf { gamma } => {
                let scale = (2.0 * gamma).sqrt();
                Box::new(move || {
                    let normal: f64 = StandardNormal.sample(&mut rng);
                    scale * normal
                })
            }
            Kernel::Laplacian { gamma } => {
                let cauchy = Cauchy::new(0.0, gamma)
                    .map_err(|e| Error::Kernel(format!("no random features: {e}")))?;
                Box::new(move || cauchy.sample(&mut rng))
            }
            Kernel::Polynomial { .. } => {
                let message = "random Fourier features exist for the RBF and Laplacian kernels, \
                               not for the polynomial one; use landmarks";
                return Err(Error::Kernel(message.into()));
            }
        };
        let mut frequencies = Mat::zeros(width, count / 2);
        for j in 0..count / 2 {
            for i in 0..width {
                frequencies[(i, j)] = draw();
            }
        }
        let map = Self::assemble(Columns::Fourier { frequencies }, None, 0.0);
        Ok(FeatureMap { gamma: Some(kernel.gamma()), ..map })
    }

    fn assemble(columns: Columns, factor: Option<Mat<f64>>, residual: f64) -> Self {
        let noise = noise(&columns, factor.as_ref());
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        if let Columns::Kernel { landmarks, .. } = &columns {
            for j in 0..landmarks.nrows() {
                places.entry(hash(landmarks.row(j))).or_default().push(j);
            }
        }
        let raw = RawInputs::new(columns.inputs(), &[]);
        let factor = factor.map(Arc::new);
        let gamma = match &columns {
            Columns::Kernel { kernel, .. } => Some(kernel.gamma()),
            _ => None,
        };
        FeatureMap { columns, raw, factor, places, noise, span: None, residual, gamma }
    }

    /// Whether another map gives the same features.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let columns = match (&self.columns, &other.columns) {
            (Columns::Linear { width }, Columns::Linear { width: theirs }) => width == theirs,
            (
                Columns::Kernel { kernel, landmarks },
                Columns::Kernel { kernel: theirs, landmarks: other },
            ) => kernel == theirs && landmarks == other,
            (Columns::Fourier { frequencies }, Columns::Fourier { frequencies: theirs }) => {
                frequencies == theirs
            }
            _ => false,
        };
        columns && self.raw == other.raw && self.span.is_none() && other.span.is_none()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.columns.inputs()
    }

    /// m, the number of features.
    pub fn outputs(&self) -> usize {
        self.span.as_ref().map_or_else(|| self.columns.outputs(), |span| span.size())
    }

    /// The width of its kernel.
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// For landmarks, the share of `Σ k(x,x)` over the candidates that they leave unexplained.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Whether `φ(x) = x`.
    pub fn is_linear(&self) -> bool {
        matches!(self.columns, Columns::Linear { .. })
    }

    /// φ of each row, which is scaled and has its one-hot columns.
    pub fn apply(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if x.ncols() != self.inputs() {
            return Err(Error::shape("input columns", x.ncols(), self.inputs()));
        }
        self.check_maps_rows()?;
        check_finite(x, 0, Place::Feature)?;
        Ok(self.features(x))
    }

    /// The coordinates of the rows that span were found with the span.
    fn check_maps_rows(&self) -> Result<()> {
        let message = "the map of a wide problem has coordinates for its own rows only";
        if self.span.is_some() { Err(Error::Unavailable(message)) } else { Ok(()) }
    }

    fn features(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut features = self.columns.apply(x);
        if let Some(factor) = &self.factor {
            solve_lower(factor.as_ref().as_ref(), features.as_mut().transpose_mut());
        }
        features
    }

    /// Coefficients of the features as coefficients of the columns.
    pub(crate) fn fold(&self, mut basis: Mat<f64>) -> Mat<f64> {
        if let Some(factor) = &self.factor {
            solve_lower_transposed(factor.as_ref().as_ref(), basis.as_mut());
        }
        basis
    }

    /// Whether folded coefficients still mean what they meant as coefficients of the features: both
    /// are applied to landmarks, which are rows of the data and the hardest ones.
    pub(crate) fn check_fold(&self, plain: &Mat<f64>, folded: &Mat<f64>) -> Result<()> {
        let (Columns::Kernel { kernel, landmarks }, Some(factor)) = (&self.columns, &self.factor)
        else {
            return Ok(());
        };
        let step = landmarks.nrows().div_ceil(CHECKED);
        let rows = landmarks.nrows().div_ceil(step);
        let points = Mat::from_fn(rows, landmarks.ncols(), |i, j| landmarks[(i * step, j)]);
        let features = Mat::from_fn(rows, factor.ncols(), |i, j| factor[(i * step, j)]);
        let meant = features * plain;
        let found = kernel.block(points.as_ref(), landmarks.as_ref()) * folded;
        let off =
            |i: usize, j: usize| (found[(i, j)] - meant[(i, j)]) / meant[(i, j)].abs().max(1.0);
        let mean_square =
            |j: usize| (0..rows).map(|i| off(i, j).powi(2)).sum::<f64>() / rows as f64;
        let worst = (0..meant.ncols())
            .map(|j| mean_square(j).sqrt())
            .fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) });
        if worst <= AGREES { Ok(()) } else { Err(Error::Unstable) }
    }

    /// The standard deviation of each column that the weights of a model belong to, of moments made
    /// by this map.
    pub fn spreads(&self, moments: &Moments) -> Result<Vec<f64>> {
        let variance = match &self.span {
            Some(span) => span.variance(),
            None => {
                let c = moments.covariances()?.features;
                (0..c.ncols()).map(|i| c[(i, i)]).collect()
            }
        };
        Ok(variance.into_iter().map(|v| v.max(0.0).sqrt()).collect())
    }

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
            };
            self.note_rows(moments, x, mapped.weights);
            moments.push(&mapped).map_err(unstable)?;
            start += rows;
        }
        Ok(())
    }

    /// Tells the moments how large the kernel is at the next rows, and which of them are landmarks.
    fn note_rows(&self, moments: &mut Moments, x: MatRef<'_, f64>, weights: Option<&[f64]>) {
        let Columns::Kernel { kernel, landmarks } = &self.columns else { return };
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let diagonal = kernel.diagonal(x);
        for i in (0..x.nrows()).filter(|&i| weight(i) > 0.0) {
            let fold = moments.fold_of_next(i);
            let Some(known) = &mut moments.landmarks else { return };
            known.size += weight(i) * diagonal[i];
            let Some(same) = self.places.get(&hash(x.row(i))) else { continue };
            for &j in same.iter().filter(|&&j| landmarks.row(j) == x.row(i)) {
                known.note(j, fold);
            }
        }
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
fn hash(row: faer::RowRef<'_, f64>) -> u64 {
    row.iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ (value + 0.0).to_bits()).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
