//! Whole numbers as classes, and texts as the keys that decide on folds.

use std::collections::HashMap;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::arrays::slice;

/// A span of values for which a table is used.
const SPAN: i128 = 1 << 16;

type Coded<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>);

/// The different values, ascending, and the place of each value among them.
#[pyfunction]
pub fn integer_codes<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, i64>,
) -> PyResult<Coded<'py>> {
    let values = slice(&values)?;
    let (different, codes) = py.detach(|| coded(values));
    Ok((PyArray1::from_vec(py, different), PyArray1::from_vec(py, codes)))
}

/// What each text adds to the key of a row as a category of a coded column, or as an id.
#[pyfunction]
#[pyo3(signature = (texts, place=None))]
pub fn text_keys<'py>(
    py: Python<'py>,
    texts: Vec<String>,
    place: Option<usize>,
) -> Bound<'py, PyArray1<u64>> {
    let key = |text: &String| match place {
        Some(place) => sarl::category_key(place, text),
        None => sarl::text_key(text),
    };
    PyArray1::from_vec(py, texts.iter().map(key).collect())
}

fn coded(values: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let ends = values.iter().fold(None, |ends: Option<(i64, i64)>, &v| {
        Some(ends.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
    });
    let Some((low, high)) = ends else { return (Vec::new(), Vec::new()) };
    if i128::from(high) - i128::from(low) < SPAN {
        return tabled(values, low, (high - low) as usize + 1);
    }
    let mut codes: HashMap<i64, u32> = values.iter().map(|&v| (v, 0)).collect();
    let mut different: Vec<i64> = codes.keys().copied().collect();
    different.sort_unstable();
    for (v, code) in different.iter().zip(0..) {
        codes.insert(*v, code);
    }
    let of = values.iter().map(|v| codes.get(v).copied().unwrap_or_default());
    (different, of.collect())
}

fn tabled(values: &[i64], low: i64, span: usize) -> (Vec<i64>, Vec<u32>) {
    let place = |v: i64| (v - low) as usize;
    let mut codes = vec![u32::MAX; span];
    values.iter().for_each(|&v| codes[place(v)] = 0);
    let mut different = Vec::new();
    for (i, code) in codes.iter_mut().enumerate().filter(|(_, code)| **code == 0) {
        *code = different.len() as u32;
        different.push(low + i as i64);
    }
    let of = values.iter().map(|&v| codes[place(v)]).collect();
    (different, of)
}
