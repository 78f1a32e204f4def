//! The library's errors as Python's.

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
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
        Error::Memory(_) => PyMemoryError::new_err(error.to_string()),
        Error::NoConvergence { .. } | Error::Device { .. } => {
            PyRuntimeError::new_err(error.to_string())
        }
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

/// The same for comparisons and pages.
pub fn lab_failed(error: sarl_lab::Error) -> PyErr {
    use sarl_lab::Error;
    let message = error.to_string();
    match error {
        Error::Core(error) => refused(error),
        Error::Eval(error) => probe_failed(error),
        Error::Unknown { known, .. } => {
            wrong(format!("{message}; there are: {}", known.join(", ")))
        }
        Error::StandsAlone { .. } => wrong(format!("rivals: {message}")),
        Error::Unfit { name, .. } => wrong(format!("{message}; leave {name:?} out of rivals")),
        Error::Rival(_) | Error::Report(_) => PyRuntimeError::new_err(message),
        _ => wrong(message),
    }
}

/// A wrong value of an argument.
pub fn wrong(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
