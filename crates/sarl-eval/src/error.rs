//! What can go wrong.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for an end.
    #[error("interrupted")]
    Interrupted,
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
    /// There is nothing to learn from, or nothing to be tested on.
    #[error("{what}: there are no rows")]
    Empty {
        /// Which rows are missing.
        what: &'static str,
    },
    /// A class that does not exist.
    #[error("class {code}: there are only {classes} classes, counted from 0")]
    Code {
        /// The class.
        code: u32,
        /// The number of classes.
        classes: usize,
    },
    /// Classes where numbers are expected, or numbers where classes are.
    #[error("{what}: classes and numbers do not compare")]
    Mixed {
        /// What is of the wrong kind.
        what: &'static str,
    },
    /// A value that is infinite or not a number.
    #[error("row {row}: the value is not a finite number")]
    NotFinite {
        /// The row, counted from 0.
        row: usize,
    },
    /// A probe could not be fitted.
    #[error("probe `{probe}`: {reason}")]
    Probe {
        /// The probe.
        probe: String,
        /// What it said.
        reason: String,
    },
    /// The spectral core could not do its part.
    #[error(transparent)]
    Core(#[from] sarl::Error),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;
