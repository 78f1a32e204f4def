//! The frozen encoder and the model file that carries it.
//!
//! ```text
//! z = Θ (φ(x) − mean φ)      ŷ = ȳ + Vyᵀz      ŝ = s̄ + Vsᵀz      x̂ = x̄ + Cov(x,z) Cov(z)⁻¹ z
//! ```
//!
//! `ŷ` and `ŝ` are the best linear predictions, `x̂` the best linear reconstruction of the inputs:
//! with the features as the target and λ → 1 it is LEACE (Belrose et al. 2023), and every goal
//! before that a partial erasure.
//!
//! The model file is safetensors. It holds the reduced problem, so that [`Model::retune`] reaches
//! any other goal without the data.
//!
//! ```
//! use sarl::{Block, FeatureMap, Goal, Layout, Model, MomentsOptions, Reduced, Role};
//! // Erase s from x without a target.
//! let x = faer::Mat::from_fn(60, 3, |i, j| ((i * (j + 5) + j) % 13) as f64);
//! let s: Vec<u32> = (0..60).map(|i| u32::from(x[(i, 1)] + x[(i, 2)] > 12.0)).collect();
//! let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
//! let map = FeatureMap::linear(3);
//! let mut moments = map.moments(&layout, MomentsOptions::default())?;
//! map.push(&mut moments, &Block::new(x.as_ref()).class(&s))?;
//! let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
//! let model = Model::new(&map, &layout, &reduced, None, Goal::Lambda(1.0))?;
//! let encoder = model.encoder();
//! let erased = encoder.reconstruct(encoder.encode(x.as_ref())?.as_ref())?;
//! assert_eq!(erased.shape(), x.shape());
//! let partial = Model::from_bytes(&model.to_bytes()?)?.retune(Goal::Leakage(0.1))?;
//! assert!(partial.point().leakage <= 0.1 + 1e-12);
//! # Ok::<(), sarl::Error>(())
//! ```

mod agreeing;
mod erasing;
mod erasure;
mod file;
mod frozen;
pub mod labelled;
mod layers;
mod model;
mod partial;
mod preserving;
mod spanned;
#[cfg(test)]
mod tests;

pub use erasing::Erasing;
pub use erasure::Erasure;
pub(crate) use erasure::complement;
pub use frozen::Encoder;
pub use labelled::{Oracle, OracleSums, Quadratic, QuadraticSums};
pub use layers::{Concept, Layer, LayerAbout, Layers};
pub use model::Model;
pub(crate) use preserving::split;
