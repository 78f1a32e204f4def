//! The GPU engine: second moments, features of kernels and encoding on CUDA devices.
//!
//! Nothing of CUDA is needed to build it. The driver, cuBLAS and NVRTC are looked for at run time, and
//! the kernels of this crate are compiled for the device that is found. The processor is the
//! reference: in double precision both give the same sums up to rounding.
//!
//! ```
//! use sarl_cuda::{Device, Products};
//! let device: Device = "auto".parse()?;
//! // Nothing on a machine without a GPU: the processor does the work.
//! let engine = device.engine(Products::Asked).map_err(|fault| fault.to_string())?;
//! if let Some(engine) = engine {
//!     println!("on {}", engine.name());
//! }
//! # Ok::<(), String>(())
//! ```

mod blas;
mod candidates;
mod choice;
mod encoding;
mod engine;
mod fault;
mod features;
mod folds;
mod gpu;
mod kernels;
pub mod limits;
mod made;
mod memory;
mod room;
mod slot;
mod solver;
mod staging;
mod sums;

pub use choice::Device;
pub use engine::Cuda;
pub use fault::Fault;
pub use gpu::{device_of, devices};
pub use sums::Products;
