//! Other encoders that keep one thing and hide another, behind one trait.

pub mod adversarial;
mod error;
mod heads;
mod rival;
mod train;

pub use adversarial::{MAXENT_ARL, ML_ARL, SSGD};
pub use error::{Error, Result};
pub use rival::{Data, Encode, Fitting, Rival};

/// Every rival.
pub fn all() -> Vec<&'static dyn Rival> {
    vec![&SSGD, &ML_ARL, &MAXENT_ARL]
}

/// The rival of this name.
pub fn find(name: &str) -> Option<&'static dyn Rival> {
    all().into_iter().find(|r| r.name() == name)
}
