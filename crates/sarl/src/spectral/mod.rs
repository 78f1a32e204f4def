//! The reduced problem and its spectrum.

pub(crate) mod linalg;
pub(crate) mod problem;
pub(crate) mod reduced;
mod whiten;

pub use reduced::{Losses, Reduced};
