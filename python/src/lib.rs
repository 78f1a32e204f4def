//! The Rust half of the Python package `sarl`: arrays in, arrays out.
//!
//! What a person sees (estimators, tables, labels by name) is written in Python, in `../sarl`.
//! Here are the moments, the feature maps, the models and the audit over plain arrays, with the
//! interpreter released while they work.

mod arrays;
mod audit;
mod codes;
mod erase;
mod failure;
mod files;
mod foreign;
mod goal;
mod map;
mod model;
mod moments;
mod onnx;
mod sample;
mod solved;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::audit::{audit, probes};
    #[pymodule_export]
    use super::codes::integer_codes;
    #[pymodule_export]
    use super::failure::NotFinite;
    #[pymodule_export]
    use super::map::FeatureMap;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::moments::Moments;
    #[pymodule_export]
    use super::sample::{Sample, Spreads};

    use super::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
