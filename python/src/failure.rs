//! The library's errors as Python's.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};
use sarl::{Error, Place};

create_exception!(
    sarl._core,
    NotFinite,
    PyValueError,
    "A value of X that is not finite: its row, its column and the value itself."
);

/// What the library refused, in its own words.
pub fn refused(error: Error) -> PyErr {
    match error {
        Error::NotFinite { row, place: Place::Feature(column), value } => {
            NotFinite::new_err((row, column, value))
        }
        Error::NoConvergence { .. } => PyRuntimeError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// The same for the probes.
pub fn probe_failed(error: sarl_eval::Error) -> PyErr {
    match error {
        sarl_eval::Error::Core(error) => refused(error),
        error @ sarl_eval::Error::Probe { .. } => PyRuntimeError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// A wrong value of an argument.
pub fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
