//! Files of the erasures of a network's layers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use sarl::{Layer, LayerAbout, Layers};

use crate::arrays::{returned, slice, view};
use crate::failure::{refused, wrong};
use crate::files;

/// The mean, what is found of each direction and what is taken off for it, a direction to a row.
type Given<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>);
type Returned<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Writes a file, whole or not at all. `about` and `extra` are JSON.
#[pyfunction]
pub fn write_layers(
    path: std::path::PathBuf,
    order: &str,
    about: &str,
    matrices: Vec<Given<'_>>,
    extra: &str,
) -> PyResult<()> {
    let about: Vec<LayerAbout> = serde_json::from_str(about).map_err(|e| wrong(e.to_string()))?;
    let extra: BTreeMap<String, String> =
        serde_json::from_str(extra).map_err(|e| wrong(e.to_string()))?;
    if about.len() != matrices.len() {
        return Err(wrong("expected what is known of each layer"));
    }
    let mut layers = Vec::new();
    for (about, (mean, found, taken)) in about.into_iter().zip(&matrices) {
        let (mean, name) = (slice(mean)?.to_vec(), about.name.clone());
        let (found, taken) = (view(found)?.transpose().to_owned(), view(taken)?.to_owned());
        layers.push(Layer::new(&name, mean, found, taken).map_err(refused)?.described(about));
    }
    let layers = Layers::new(order, layers).map_err(refused)?.with_extra(extra);
    files::write(&path, &layers.to_bytes().map_err(refused)?)
}

/// The inverse: the order, what is known of each layer, its matrices, and what is beside them.
#[pyfunction]
pub fn read_layers<'py>(
    py: Python<'py>,
    bytes: Cow<'_, [u8]>,
) -> PyResult<(String, String, Vec<Returned<'py>>, String)> {
    let layers = Layers::from_bytes(&bytes).map_err(refused)?;
    let json = |e: serde_json::Error| wrong(e.to_string());
    let about: Vec<&LayerAbout> = layers.layers().iter().map(Layer::about).collect();
    let matrices = layers.layers().iter().map(|layer| {
        let erasure = layer.erasure();
        let (found, taken) = (erasure.found().transpose(), erasure.taken());
        Ok((PyArray1::from_slice(py, erasure.mean()), returned(py, found)?, returned(py, taken)?))
    });
    let about = serde_json::to_string(&about).map_err(json)?;
    let extra = serde_json::to_string(layers.extra()).map_err(json)?;
    Ok((layers.order().to_owned(), about, matrices.collect::<PyResult<_>>()?, extra))
}
