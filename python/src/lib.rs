//! The Rust half of the Python package `sarl`: arrays in, arrays out.
//!
//! What a person sees (estimators, tables, labels by name) is written in Python, in `../sarl`.
//! Here are the fit, the models and the audit over plain arrays, with the
//! interpreter released while they work.

mod arrays;
mod audit;
mod cells;
mod codes;
mod compare;
mod failure;
mod figures;
mod files;
mod fit;
mod foreign;
mod goal;
mod labelled;
mod laid;
mod layers;
mod model;
mod onnx;
mod placed;
mod push;
mod report;
mod rows;
mod solved;
mod watch;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::audit::{audit, probes};
    #[pymodule_export]
    use super::cells::{Counter, Cutter, add_counted, key_parts, parts};
    #[pymodule_export]
    use super::codes::{integer_codes, text_keys};
    #[pymodule_export]
    use super::compare::{Compared, compare, rivals};
    #[pymodule_export]
    use super::failure::NotFinite;
    #[pymodule_export]
    use super::fit::Fit;
    #[pymodule_export]
    use super::labelled::{LabelledErasure, LabelledSums};
    #[pymodule_export]
    use super::laid::side_by_side;
    #[pymodule_export]
    use super::layers::{read_layers, write_layers};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::placed::device_of;
    #[pymodule_export]
    use super::report::{draw_rows, report};

    use super::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
