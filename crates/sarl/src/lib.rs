//! Spectral adversarial representation learning (Sadeghi, Yu, Boddeti, ICCV 2019): encoders that
//! keep one thing and hide another, globally optimal in closed form.
//!
//! Given features φ(x), a target y to keep and a sensitive attribute s to hide, find z = Θφ(x) that
//!
//! ```text
//! minimises  (1−λ) Jy(Θ) − λ Js(Θ),      Jy = min_V E‖y − Vz‖²,   Js = min_V E‖s − Vz‖²
//! ```
//!
//! against the *best* linear predictor and the *best* linear adversary. The problem is neither
//! convex nor differentiable, and still has its global optimum in the eigenvectors of one small
//! matrix. Data flows one way:
//!
//! ```text
//! blocks of rows ──► FeatureMap ──► Moments ──► Reduced ──► Front ──► Model ──► Encoder ──► z
//!                    (features)    (moments)  (spectral)   (front)  (encoder)
//! ```
//!
//! - [`Moments`] accumulates second moments in one pass, mergeable, K folds apart.
//! - [`FeatureMap`] makes a kernel a matter of features: landmarks or random Fourier features.
//! - [`Reduced`] shrinks the problem to the size of the labels.
//! - [`Front`] knows every trade-off: bounds, breakpoints, and [`Goal`]s solved exactly, each with
//!   a certificate of global optimality. [`HeldOut`] gives the losses on data not trained on.
//! - [`Model`] is what a file holds; [`Encoder`] encodes, predicts and reconstructs.
//!
//! Rows are samples. Every covariance is divided by n, or by the total weight. Losses are sums
//! over label columns. The paper's symbols are used inside, with the equation beside them.
//!
//! ```
//! use faer::Mat;
//! use sarl::{Block, FeatureMap, Front, Goal, Layout, Model, MomentsOptions, Reduced, Role};
//!
//! // y is the sign of the first feature; s is the sign of a mixture of both.
//! let x = Mat::from_fn(200, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 - 15.0);
//! let y: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
//! let s: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
//!
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let map = FeatureMap::linear(2);
//! let mut moments = map.moments(&layout, MomentsOptions::default())?;
//! map.push(&mut moments, &Block::new(x.as_ref()).class(&y).class(&s))?;
//!
//! let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
//! println!("{:?}", Front::new(&reduced, None)?.bounds());
//!
//! let model = Model::new(&map, &layout, &reduced, None, Goal::Leakage(0.01))?;
//! let z = model.encoder().encode(x.as_ref())?;
//! assert_eq!(z.ncols(), 1);
//! assert!(model.point().leakage <= 0.01 + 1e-12 && model.certificate().gap.abs() < 1e-9);
//! # Ok::<(), sarl::Error>(())
//! ```

pub mod cells;
mod container;
mod dots;
pub mod encoder;
pub mod engine;
mod error;
pub mod features;
pub mod fit;
pub mod front;
mod labels;
pub mod moments;
mod spare;
pub mod spectral;
mod tiles;
pub mod tolerance;

pub use encoder::{
    Concept, Encoder, Erasing, Erasure, Layer, LayerAbout, Layers, Model, Oracle, OracleSums,
    Quadratic, QuadraticSums,
};
pub use error::{Error, Mismatch, Place, Result};
pub use features::{
    Choice, Family, FeatureMap, Kernel, LandmarkOptions, Map, Scaling, Spanned, Wide, median_gamma,
};
pub use fit::{
    Approximation, Chosen, EXACT_ROWS, Features, Fit, FitParams, Fitted, KernelParams, Ridge,
    Scale, UsedRidge,
};
pub use front::{
    Attribute, Attributes, Bounds, Certificate, Front, Goal, HeldOut, HeldOutLabel, HeldOutLabels,
    HeldOutLosses, LabelBounds, Method, NamedLimits, Point, RidgeChoice, SensitiveBounds, Solution,
    TargetBounds, best_erasing_ridge, best_ridge, default_ridge, erased_heldout, erased_heldout_at,
    erased_heldout_points, mean_variance, preserved_heldout,
};
pub use labels::Criterion;
pub use moments::{
    Block, Covariances, Element, FoldBy, InputCovariances, Label, LabelBlock, LabelColumns,
    LabelCovariances, LabelKind, Layout, Moments, MomentsOptions, NO_CLASS, Precision, Role,
    category_key, text_key,
};
pub use spectral::{Losses, Reduced};

/// The Rust blocks of the pages are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
}
