//! Small networks on a processor: what the attackers of an audit and the encoders of other methods
//! are trained with, and no more.
//!
//! - [`Matrix`]: numbers in single precision, row by row.
//! - [`Tape`] and [`Var`]: operations are recorded as they are computed, and
//!   [`Var::gradients`] goes back over them.
//! - [`Weights`], [`Layers`], [`Norm`]: what is learnt, and the networks that use it.
//! - [`AdamW`]: the steps.
//!
//! Everything runs on the thread that calls it and sums in a fixed order, so that a seed gives the
//! same digits on any number of threads. Callers train several networks at a time instead.
//!
//! ```
//! use rand::SeedableRng;
//! use rand_chacha::ChaCha8Rng;
//! use sarl_nets::{AdamW, Layers, Matrix, Tape, Weights};
//!
//! // The exclusive or of two bits.
//! let x = Matrix::new(4, 2, vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
//! let y = [0, 1, 1, 0];
//! let mut weights = Weights::default();
//! let net = Layers::new(&mut weights, 2, &[16], 2, &mut ChaCha8Rng::seed_from_u64(0));
//! let mut optimiser = AdamW::new(1e-4, None);
//! let mut loss = f32::INFINITY;
//! for _ in 0..300 {
//!     let tape = Tape::default();
//!     let learnt = weights.learn(&tape);
//!     let told = net.forward(&learnt, tape.constant(x.clone()));
//!     let wrong = told.cross_entropy(&y);
//!     loss = wrong.number();
//!     optimiser.step(&mut weights, &wrong.gradients(&learnt), 0.02);
//! }
//! assert!(loss < 0.05);
//! ```

mod adamw;
mod backward;
mod function;
mod layers;
mod matrix;
mod tape;
#[cfg(test)]
mod tests;

pub use adamw::AdamW;
pub use layers::{Layers, Norm, Weights};
pub use matrix::Matrix;
pub use tape::{Tape, Var};

/// Rows that go through a network at a time when nothing is learnt.
pub const SCORED: usize = 8192;
