//! Rows that lie on a GPU.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sarl::engine::Placed;

/// Where rows lie, as Python says it: the device, the address, rows and columns, the numbers from one
/// row to the next, whether they are of single precision, and the stream that they were written on.
#[derive(FromPyObject)]
pub struct Placement(usize, u64, usize, usize, usize, bool, Option<u64>);

impl Placement {
    pub fn rows(self) -> Placed {
        let Placement(device, address, rows, columns, stride, single, stream) = self;
        Placed { device, address, rows, columns, stride, single, stream }
    }
}

/// The number of the GPU whose memory an address is of.
#[pyfunction]
pub fn device_of(address: u64) -> PyResult<usize> {
    sarl_cuda::device_of(address).map_err(|fault| PyRuntimeError::new_err(fault.to_string()))
}
