//! The frozen encoder and the model file that carries it.

mod file;
mod model;
#[cfg(test)]
mod tests;

pub use model::{Encoder, Model};
