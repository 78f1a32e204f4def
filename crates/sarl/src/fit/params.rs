//! How an encoder is fitted.

use serde::{Deserialize, Serialize};

use crate::features::{Choice, Family, Kernel, LandmarkOptions};
use crate::labels::Criterion;
use crate::moments::{FoldBy, MomentsOptions, Precision};
use crate::{Error, Result};

/// Everything that decides on a fit but the rows. A model file stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitParams {
    /// What is computed from a row.
    pub features: Features,
    /// Whether dense inputs are brought to mean 0 and variance 1 first.
    pub scale: Scale,
    /// What is added to the variance of each feature.
    pub ridge: Ridge,
    /// The most dimensions of z; as many as help, if nothing is said.
    pub dimensions: Option<usize>,
    /// Folds for held-out losses, which cost no further pass; 1 for none.
    pub folds: usize,
    /// Seed of folds, landmarks and random features.
    pub seed: u64,
    /// How products of features are formed.
    pub precision: Precision,
    /// What of the sensitive attributes is to be hidden.
    #[serde(default)]
    pub criterion: Criterion,
    /// What decides, with the seed, which row goes to which fold.
    #[serde(default, skip_serializing_if = "FoldBy::is_position")]
    pub fold_by: FoldBy,
}

/// What is computed from a row before anything else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Features {
    /// The row itself.
    #[default]
    Linear,
    /// The features of a kernel.
    Kernel(KernelParams),
}

/// A kernel, and how it is represented.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelParams {
    /// Which kernel.
    pub family: Family,
    /// Its width; that of the median heuristic, if nothing is said.
    pub gamma: Option<f64>,
    /// Degree of a polynomial kernel.
    pub degree: u32,
    /// Constant of a polynomial kernel.
    pub coef0: f64,
    /// What stands for the kernel.
    pub approximation: Approximation,
    /// The most landmarks or random features.
    pub landmarks: usize,
    /// Landmarks are added until this share of the kernel's trace is left.
    pub tolerance: f64,
}

impl KernelParams {
    /// A kernel with the default parameters.
    pub fn new(family: Family) -> Self {
        let LandmarkOptions { cap, tolerance, .. } = LandmarkOptions::default();
        KernelParams {
            family,
            gamma: None,
            degree: 3,
            coef0: 1.0,
            approximation: Approximation::default(),
            landmarks: cap,
            tolerance,
        }
    }

    /// The kernel itself, once its width is known.
    pub(super) fn kernel(&self, gamma: f64) -> Kernel {
        match self.family {
            Family::Rbf => Kernel::Rbf { gamma },
            Family::Laplacian => Kernel::Laplacian { gamma },
            Family::Polynomial => {
                Kernel::Polynomial { gamma, coef0: self.coef0, degree: self.degree }
            }
        }
    }

    /// How landmarks are chosen; nothing for random features.
    pub(super) fn choice(&self) -> Option<Choice> {
        match self.approximation {
            Approximation::Landmarks => Some(Choice::Adaptive),
            Approximation::UniformLandmarks => Some(Choice::Uniform),
            Approximation::Exact => Some(Choice::Exact),
            Approximation::RandomFeatures => None,
        }
    }

    /// Rows that are kept to choose landmarks and the width from.
    pub(super) fn sample_size(&self) -> usize {
        match self.approximation {
            Approximation::Exact => EXACT_ROWS,
            _ => CANDIDATES.max(CANDIDATES_PER_LANDMARK * self.landmarks),
        }
    }
}

/// More rows than this are too many for the exact kernel method: its memory is their square.
pub const EXACT_ROWS: usize = 20_000;
/// Rows kept for choosing landmarks, at least and for each landmark.
const CANDIDATES: usize = 4000;
const CANDIDATES_PER_LANDMARK: usize = 10;

/// What stands for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approximation {
    /// Landmarks (Nyström), chosen by randomly pivoted Cholesky.
    #[default]
    Landmarks,
    /// Landmarks, chosen uniformly at random.
    UniformLandmarks,
    /// Every row is a landmark.
    Exact,
    /// Random Fourier features.
    RandomFeatures,
}

/// Whether dense inputs are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// To mean 0 and variance 1; a constant is only shifted.
    Standard,
    /// They are taken as they are.
    #[default]
    None,
}

/// What is added to the variance of each feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ridge {
    /// One chosen by held-out losses for a kernel and for more features than a tenth of the rows;
    /// none otherwise.
    #[default]
    Default,
    /// This one.
    Fixed(f64),
    /// One chosen by held-out losses.
    Auto,
}

impl Default for FitParams {
    fn default() -> Self {
        let MomentsOptions { folds, seed, precision, fold_by } = MomentsOptions::default();
        FitParams {
            features: Features::default(),
            scale: Scale::default(),
            ridge: Ridge::default(),
            dimensions: None,
            folds,
            seed,
            precision,
            criterion: Criterion::default(),
            fold_by,
        }
    }
}

impl FitParams {
    /// A fit with a kernel.
    pub fn kernel(params: KernelParams) -> Self {
        FitParams { features: Features::Kernel(params), ..Default::default() }
    }

    /// Refuses what no rows could make sense of.
    pub fn check(&self) -> Result<()> {
        if let Ridge::Fixed(ridge) = self.ridge
            && !(ridge.is_finite() && ridge >= 0.0)
        {
            let expected = "expected a finite number, 0 or more";
            return Err(Error::Argument { name: "ridge", value: ridge, expected });
        }
        if self.dimensions == Some(0) {
            let expected = "expected 1 or more";
            return Err(Error::Argument { name: "dimensions", value: 0.0, expected });
        }
        match &self.features {
            Features::Linear => Ok(()),
            Features::Kernel(kernel) => kernel.check(),
        }
    }

    /// Refuses more rows than the fit can take.
    pub fn check_rows(&self, rows: u64) -> Result<()> {
        match &self.features {
            Features::Kernel(kernel)
                if kernel.approximation == Approximation::Exact && rows > EXACT_ROWS as u64 =>
            {
                Err(Error::TooManyRows { rows, most: EXACT_ROWS })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn moments(&self) -> MomentsOptions {
        let FitParams { folds, seed, precision, fold_by, .. } = *self;
        MomentsOptions { folds, seed, precision, fold_by }
    }
}

impl KernelParams {
    fn check(&self) -> Result<()> {
        let argument = |name, value, expected| Err(Error::Argument { name, value, expected });
        self.kernel(self.gamma.unwrap_or(1.0)).check()?;
        if self.landmarks == 0 {
            return argument("landmarks", 0.0, "expected 1 or more");
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return argument("tolerance", self.tolerance, "expected 0 or more, below 1");
        }
        let random = self.approximation == Approximation::RandomFeatures;
        if random && self.family == Family::Polynomial {
            return Err(Error::NoRandomFeatures);
        }
        Ok(())
    }
}
