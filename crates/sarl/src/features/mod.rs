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

mod file;
mod kernel;
mod landmarks;
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use file::Stored;
pub use kernel::{Family, Kernel, median_gamma, median_gamma_weighted};
pub use landmarks::{Choice, LandmarkOptions};
pub use sample::Reservoir;

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Cauchy, Distribution, StandardNormal};
use rayon::prelude::*;

use crate::error::Place;
use crate::moments::{Block, Element, Layout, Moments, MomentsOptions, check_finite};
use crate::spectral::linalg::{solve_lower, solve_lower_transposed};
use crate::{Error, Result};

/// The columns that a frozen encoder computes before its one matrix product.
#[derive(Clone, Debug)]
pub(crate) enum Columns {
    /// x itself: dense inputs, then the one-hot columns of class-coded ones.
    Linear { dense: usize, codes: Vec<usize> },
    /// `k(u_j, x)`, landmarks × inputs.
    Kernel { kernel: Kernel, landmarks: Mat<f64> },
    /// `cos` and `sin` of `ωᵀx`, inputs × frequencies.
    Fourier { frequencies: Mat<f64> },
}

/// What an encoder computes from a row before its one matrix product, to look at.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    /// x itself: `dense` inputs, then the one-hot columns of class-coded ones.
    Linear {
        /// The number of dense inputs.
        dense: usize,
        /// The number of categories of each class-coded input.
        categories: &'a [usize],
    },
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
            Columns::Linear { dense, codes } => Map::Linear { dense: *dense, categories: codes },
            Columns::Kernel { kernel, landmarks } => {
                Map::Kernel { kernel: *kernel, landmarks: landmarks.as_ref() }
            }
            Columns::Fourier { frequencies } => Map::Fourier { frequencies: frequencies.as_ref() },
        }
    }

    pub(crate) fn inputs(&self) -> usize {
        match self {
            Columns::Linear { dense, codes } => dense + codes.iter().sum::<usize>(),
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
    /// `L`, where the features are `L⁻¹` times the columns.
    factor: Option<Mat<f64>>,
    residual: f64,
}

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
        let columns = Columns::Linear { dense, codes: categories.to_vec() };
        FeatureMap { columns, factor: None, residual: 0.0 }
    }

    /// Landmarks chosen among the rows of `candidates`: all training data where it fits, a
    /// [`Reservoir`] of it where not.
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
        Ok(FeatureMap {
            columns: Columns::Kernel { kernel, landmarks: points },
            factor: Some(chosen.factor),
            residual: chosen.residual,
        })
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
        Ok(FeatureMap { columns: Columns::Fourier { frequencies }, factor: None, residual: 0.0 })
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.columns.inputs()
    }

    /// m, the number of features.
    pub fn outputs(&self) -> usize {
        self.columns.outputs()
    }

    /// For landmarks, the share of `Σ k(x,x)` over the candidates that they leave unexplained.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Whether `φ(x) = x`.
    pub fn is_linear(&self) -> bool {
        matches!(self.columns, Columns::Linear { .. })
    }

    /// φ of each row.
    pub fn apply(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if x.ncols() != self.inputs() {
            return Err(Error::shape("input columns", x.ncols(), self.inputs()));
        }
        check_finite(x, 0, Place::Feature)?;
        Ok(self.features(x))
    }

    fn features(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let mut features = self.columns.apply(x);
        if let Some(factor) = &self.factor {
            solve_lower(factor.as_ref(), features.as_mut().transpose_mut());
        }
        features
    }

    /// Coefficients of the features as coefficients of the columns.
    pub(crate) fn fold(&self, mut basis: Mat<f64>) -> Mat<f64> {
        if let Some(factor) = &self.factor {
            solve_lower_transposed(factor.as_ref(), basis.as_mut());
        }
        basis
    }

    /// Empty moments of this map's features for data of the given layout.
    pub fn moments(&self, layout: &Layout, options: MomentsOptions) -> Result<Moments> {
        if layout.features() != self.inputs() {
            return Err(Error::shape("features", layout.features(), self.inputs()));
        }
        if self.is_linear() {
            return Moments::new(layout.clone(), options);
        }
        Moments::new(layout.mapped(self.outputs()), options)
    }

    /// Adds a block of inputs to moments made by [`FeatureMap::moments`].
    pub fn push<T: Element>(&self, moments: &mut Moments, block: &Block<'_, T>) -> Result<()> {
        if self.is_linear() {
            return moments.push(block);
        }
        if block.dense.ncols() != self.inputs() {
            return Err(Error::shape("dense input columns", block.dense.ncols(), self.inputs()));
        }
        // All of the block before any of it: what is refused leaves the moments as they were.
        block.check_beside(moments.layout(), moments.rows())?;
        check_finite(block.dense, moments.rows(), Place::Feature)?;
        let mut start = 0;
        while start < block.rows() {
            let rows = ROWS.min(block.rows() - start);
            let part = block.slice(start, rows);
            let x = Mat::from_fn(rows, self.inputs(), |i, j| part.dense[(i, j)].into());
            // Row-major, as moments read them.
            let features = self.features(x.as_ref()).transpose().to_owned();
            let keeps = moments.layout().inputs.kept() > 0;
            let mapped = Block {
                dense: features.transpose(),
                codes: Vec::new(),
                inputs: keeps.then_some(x.as_ref()),
                labels: part.labels,
                weights: part.weights,
            };
            moments.push(&mapped)?;
            start += rows;
        }
        Ok(())
    }
}
