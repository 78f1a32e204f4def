//! What adversaries and predictors really learn from a representation.

pub mod audit;
mod error;
pub mod fairness;
pub mod metrics;
pub mod probes;
mod task;

pub use audit::{Attribute, Baseline, Finding, Options, Score, Told, Trial, View, audit};
pub use error::{Error, Result};
pub use fairness::Fairness;
pub use task::{Labels, Prediction, Probe, Task};
