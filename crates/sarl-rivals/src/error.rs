//! What can go wrong.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for an end.
    #[error("interrupted")]
    Interrupted,
    /// The training left the finite numbers, or never found anything: there is no encoder.
    #[error("{rival} diverged at step {step}")]
    Diverged {
        /// Who.
        rival: &'static str,
        /// When.
        step: usize,
    },
    /// The method has no answer for data of this kind.
    #[error("{rival} {reason}")]
    Unfit {
        /// Who.
        rival: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Two things that must agree in size do not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What has the wrong size.
        what: &'static str,
        /// The size that it should have.
        expected: usize,
        /// The size that it has.
        found: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no rows to learn from")]
    Empty,
    /// The weight of hiding is not between 0 and 1.
    #[error("the weight of hiding is {value}: expected 0 to 1")]
    Hiding {
        /// The weight.
        value: f64,
    },
    /// A method could not be fitted.
    #[error("{rival}: {reason}")]
    Failed {
        /// Who.
        rival: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// Labels or features that cannot be learnt from.
    #[error(transparent)]
    Eval(#[from] sarl_eval::Error),
    /// The spectral core could not do its part.
    #[error(transparent)]
    Core(#[from] sarl::Error),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;
