//! Where rows are added up, and how exactly.

use clap::{Args, ValueEnum};
use sarl_cuda::Device;

/// The device of a fit.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceOptions {
    /// Where rows are added up: auto, cpu, cuda, cuda:N or cuda:N,M; auto takes a GPU where there is one
    /// and the work is worth the way to it
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: Device,
    /// How products are formed; fast is single precision on the matrix units of a GPU
    #[arg(long, value_enum, default_value_t)]
    pub precision: PrecisionName,
}

/// Precisions by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PrecisionName {
    #[default]
    Double,
    Single,
    Fast,
}

impl From<PrecisionName> for sarl::Precision {
    fn from(name: PrecisionName) -> Self {
        match name {
            PrecisionName::Double => sarl::Precision::Double,
            PrecisionName::Single | PrecisionName::Fast => sarl::Precision::Single,
        }
    }
}
