//! What goes wrong on a device.

use cudarc::cublas::result::CublasError;
use cudarc::cusolver::result::CusolverError;
use cudarc::driver::DriverError;

/// What a device or its libraries refuse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No library of the driver.
    #[error("there is no NVIDIA driver (libcuda) on this machine")]
    NoDriver,
    /// The driver has no device.
    #[error("the NVIDIA driver has no device: {reason}")]
    NoDevice {
        /// What the driver says.
        reason: String,
    },
    /// Another number than those that there are.
    #[error("there is no device {number}: the driver has {count}")]
    NoSuchDevice {
        /// The number asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A library is missing.
    #[error(
        "{library} of the CUDA toolkit is missing: install it, or put its folder on the path of libraries"
    )]
    NoLibrary {
        /// Its name.
        library: &'static str,
    },
    /// The driver is older than the oldest that is supported.
    #[error("the driver is of CUDA {}.{}; {}.{} or later is needed", found / 1000, found % 1000 / 10, needed / 1000, needed % 1000 / 10)]
    OldDriver {
        /// Its version, as the driver gives it.
        found: i32,
        /// The least one.
        needed: i32,
    },
    /// The device is too old.
    #[error("the device has compute capability {major}.{minor}; 6.0 or later is needed")]
    OldDevice {
        /// The first number.
        major: i32,
        /// The second.
        minor: i32,
    },
    /// No memory is left.
    #[error("out of memory: {needed} MiB are needed, {free} of {total} MiB are free")]
    Memory {
        /// What was asked for.
        needed: usize,
        /// What is free.
        free: usize,
        /// What there is.
        total: usize,
    },
    /// The kernels cannot be compiled.
    #[error("its kernels cannot be compiled: {reason}")]
    Compile {
        /// What the compiler says.
        reason: String,
    },
    /// Anything else that the driver or a library refuses.
    #[error("{reason}")]
    Call {
        /// What it says.
        reason: String,
    },
}

impl From<DriverError> for Fault {
    fn from(error: DriverError) -> Self {
        Fault::Call { reason: format!("the driver refuses: {error:?}") }
    }
}

impl From<CusolverError> for Fault {
    fn from(error: CusolverError) -> Self {
        Fault::Call { reason: format!("cuSOLVER refuses: {error:?}") }
    }
}

impl From<CublasError> for Fault {
    fn from(error: CublasError) -> Self {
        Fault::Call { reason: format!("cuBLAS refuses: {error:?}") }
    }
}
