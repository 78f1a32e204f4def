//! Files that are whole or absent.

use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Writes a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> PyResult<()> {
    sarl_data::write_file(path, bytes).map_err(|e| PyOSError::new_err(e.to_string()))
}
