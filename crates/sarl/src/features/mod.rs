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

mod columns;
mod distinct;
mod exp;
mod file;
mod fused;
mod kernel;
mod landmarks;
mod push;
mod raw;
mod sample;
mod span;
#[cfg(test)]
mod tests;
mod wide;
mod wide_file;

pub(crate) use columns::Columns;
pub use columns::Map;
use columns::{inverse_rows, noise};
pub(crate) use distinct::Sample;
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

use crate::engine::Engine;
use crate::error::Place;
use crate::moments::{Moments, check_finite};
use crate::spectral::linalg::{solve_lower, solve_lower_transposed};
use crate::{Error, Result};

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

/// Landmarks that folded coefficients are tried on.
const CHECKED: usize = 1024;
/// How far they may be off, in standard deviations of z.
const AGREES: f64 = 1e-6;

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

    /// `L`, where the features are `L⁻¹` times the columns.
    pub(crate) fn factor(&self) -> Option<&Mat<f64>> {
        self.factor.as_deref()
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
        Self::landmarks_on(kernel, candidates, options, stop, None)
    }

    /// The same, where an engine may look at the candidates.
    pub(crate) fn landmarks_on(
        kernel: Kernel,
        candidates: MatRef<'_, f64>,
        options: &LandmarkOptions,
        stop: &dyn Fn() -> bool,
        engine: Option<&dyn Engine>,
    ) -> Result<Self> {
        kernel.check()?;
        check_finite(candidates, 0, Place::Feature)?;
        let chosen = landmarks::choose(kernel, candidates, options, stop, engine)?;
        let points = Mat::from_fn(chosen.picked.len(), candidates.ncols(), |i, j| {
            candidates[(chosen.picked[i], j)]
        });
        let columns = Columns::Kernel { kernel, landmarks: points };
        let factor = Some((chosen.factor, chosen.inverse_rows));
        Ok(Self::assemble(columns, factor, chosen.residual))
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
                // A width is positive: that was checked.
                let cauchy = Cauchy::new(0.0, gamma).map_err(|_| Error::NoRandomFeatures)?;
                Box::new(move || cauchy.sample(&mut rng))
            }
            Kernel::Polynomial { .. } => return Err(Error::NoRandomFeatures),
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

    /// With `L`, if there is one, and the length of each row of `L⁻¹`, if that is known.
    fn assemble(
        columns: Columns,
        factor: Option<(Mat<f64>, Option<Vec<f64>>)>,
        residual: f64,
    ) -> Self {
        let rows = factor.as_ref().map(|(factor, rows)| match rows {
            Some(rows) => rows.clone(),
            None => inverse_rows(factor),
        });
        let noise = noise(&columns, rows);
        let factor = factor.map(|(factor, _)| factor);
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        if let Columns::Kernel { landmarks, .. } = &columns {
            for j in 0..landmarks.nrows() {
                places.entry(push::hash(landmarks.row(j))).or_default().push(j);
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
    pub(crate) fn check_maps_rows(&self) -> Result<()> {
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
}
