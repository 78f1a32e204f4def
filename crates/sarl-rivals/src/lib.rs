//! Other encoders that keep one thing and hide another, behind one trait.
//!
//! A [`Rival`] is fitted on rows with their targets and sensitive attributes and gives something
//! that [`Encode`]s other rows. Each follows the objective and the architecture of its paper where
//! that states them; its module says what had to be chosen. What they share: a seed decides
//! everything that is random, rows apart decide when to stop, gradients are clipped where training is
//! known to be unstable, and a run that leaves the finite numbers is an error
//! ([`Error::Diverged`]), never a result.
//!
//! [`all`] has them, from the paper's baseline [`SSGD`] to FARE's trees; [`About`] says what each is.
//!
//! ```
//! use faer::Mat;
//! use sarl_eval::Labels;
//! use sarl_rivals::{Data, Fitting, find};
//!
//! let x = Mat::from_fn(200, 3, |i, j| ((i * (5 + 2 * j)) % 17) as f64 / 5.0 - 1.6);
//! let classes = |j: usize| Labels::Classes {
//!     codes: (0..200).map(|i| u32::from(x[(i, j)] > 0.0)).collect(),
//!     count: 2,
//! };
//! let (targets, sensitives) = ([classes(0)], [classes(1)]);
//! let data = Data { x: x.as_ref(), categories: &[], targets: &targets, sensitives: &sensitives };
//! let rival = find("inlp").ok_or("no such rival")?;
//! let encoder = rival.fit(&data, &Fitting { hiding: 1.0, seed: 0, stop: &|| false })?;
//! assert_eq!(encoder.encode(x.as_ref())?.nrows(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adversarial;
mod error;
pub mod fare;
mod heads;
pub mod inlp;
pub mod leace;
pub mod lfr;
mod rival;
pub mod rlace;
mod train;
pub mod variational;

pub use adversarial::{MAXENT_ARL, ML_ARL, SSGD};
pub use error::{Error, Result};
pub use fare::Fare;
pub use inlp::Inlp;
pub use leace::{LEACE, SPLINCE};
pub use lfr::Lfr;
pub use rival::{About, Data, Encode, Fitting, Rival};
pub use rlace::Rlace;
pub use variational::{VAE, VFAE};

/// Every rival, in the order of the paper's table.
pub fn all() -> Vec<&'static dyn Rival> {
    vec![&SSGD, &Lfr, &VAE, &VFAE, &ML_ARL, &MAXENT_ARL, &LEACE, &SPLINCE, &Inlp, &Rlace, &Fare]
}

/// The rival of this name.
pub fn find(name: &str) -> Option<&'static dyn Rival> {
    all().into_iter().find(|r| r.name() == name)
}
