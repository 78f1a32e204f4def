//! What adversaries and predictors really learn from a representation.
//!
//! A certificate speaks of linear adversaries. This crate asks the others: [`probes`] learn an
//! attribute from some rows of a representation and tell it for other rows; [`audit()`] runs many of
//! them, over seeds and threads, and reports each beside what can be told without looking, the best
//! one being the worst case. [`Fairness`] compares what predictions do to groups, with the
//! conventions of fairlearn and intervals, and [`Change`] with other predictions of the same rows.
//!
//! ```
//! use faer::Mat;
//! use sarl_eval::{Attribute, Labels, Options, View, audit, probes};
//!
//! // The sign of a product: nothing for a line, easy for a kernel.
//! let x = |n: usize| Mat::from_fn(n, 2, |i, j| ((i * (7 + 6 * j) + j) % 29) as f64 - 14.0);
//! let label = |x: &Mat<f64>| Labels::Classes {
//!     codes: (0..x.nrows()).map(|i| u32::from(x[(i, 0)] * x[(i, 1)] > 0.0)).collect(),
//!     count: 2,
//! };
//! let (train, test) = (x(600), x(290));
//! let (seen, truth) = (label(&train), label(&test));
//! let views = [View { train: train.as_ref(), test: test.as_ref() }];
//! let attributes = [Attribute { name: "sign", train: &seen, test: &truth }];
//! let found = audit(&views, &attributes, &Options {
//!     probes: &[&probes::Linear, &probes::RbfKernel],
//!     seeds: &[0],
//!     threads: 2,
//!     stop: &|| false,
//!     progress: &|_done, _all| (),
//!     own: None,
//! })?;
//! let worst = &found[0][0].best;
//! assert!(worst.probe == "rbf" && worst.score.value() > 0.9);
//! # Ok::<(), sarl_eval::Error>(())
//! ```

pub mod audit;
mod error;
pub mod fairness;
pub mod intervals;
pub mod metrics;
mod objective;
pub mod probes;
mod rows;
mod side;
mod task;
mod threads;

pub use audit::{
    Advantage, Attribute, Baseline, Finding, Measure, Options, Own, Score, Told, Trial, View, audit,
};
pub use error::{Error, Result};
pub use fairness::{Change, Fairness, Groups, Judge, Measures, Outcome, Rates};
pub use objective::Objective;
pub use rows::{Labelled, explained, fit};
pub use side::{Asked, Attributes, Judged, Side, blind};
pub use task::{Labels, Prediction, Probe, Task};
pub use threads::on_threads;
