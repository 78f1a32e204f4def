//! Feature maps.

use std::borrow::Cow;
use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sarl::{Choice, Family, Kernel, LandmarkOptions, median_gamma_weighted};

use crate::arrays::{Matrix, owned, slice};
use crate::failure::{refused, wrong};
use crate::work::interruptible;

/// A kernel as a map of features.
#[pyclass(module = "sarl._core", frozen)]
pub struct FeatureMap {
    pub map: Arc<sarl::FeatureMap>,
    gamma: f64,
}

#[pymethods]
impl FeatureMap {
    /// The map of a kernel, from scaled rows that stand for all.
    #[staticmethod]
    #[pyo3(signature = (
        sample, weights, *, kernel, gamma, degree, coef0, approx, sampling, landmarks, tolerance,
        seed, threads=None
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python's")]
    fn fit(
        py: Python<'_>,
        sample: Matrix<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        kernel: &str,
        gamma: Option<f64>,
        degree: u32,
        coef0: f64,
        approx: &str,
        sampling: &str,
        landmarks: usize,
        tolerance: f64,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let family = match kernel {
            "rbf" => Family::Rbf,
            "laplacian" => Family::Laplacian,
            "polynomial" => Family::Polynomial,
            other => return Err(wrong(format!("there is no kernel {other:?}"))),
        };
        let choice = match (approx, sampling) {
            ("exact", _) => Some(Choice::Exact),
            ("landmarks", "uniform") => Some(Choice::Uniform),
            ("landmarks", _) => Some(Choice::Adaptive),
            _ => None,
        };
        let sample = owned(&sample)?;
        let weights = weights.as_ref().map(slice).transpose()?.map(<[f64]>::to_vec);
        let fitted = interruptible(
            py,
            threads,
            move |stop| {
                let gamma = match gamma {
                    Some(gamma) => gamma,
                    None => median_gamma_weighted(family, sample.as_ref(), weights.as_deref())?,
                };
                let kernel = match family {
                    Family::Rbf => Kernel::Rbf { gamma },
                    Family::Laplacian => Kernel::Laplacian { gamma },
                    Family::Polynomial => Kernel::Polynomial { gamma, coef0, degree },
                };
                let map = match choice {
                    Some(choice) => {
                        let options = LandmarkOptions { choice, cap: landmarks, tolerance, seed };
                        sarl::FeatureMap::landmarks_until(kernel, sample.as_ref(), &options, stop)?
                    }
                    None => {
                        let count = landmarks.next_multiple_of(2);
                        sarl::FeatureMap::random_features(kernel, sample.ncols(), count, seed)?
                    }
                };
                Ok((map, gamma))
            },
            || Ok(()),
        )?;
        let (map, gamma) = fitted.map_err(refused)?;
        Ok(FeatureMap { map: Arc::new(map), gamma })
    }

    /// γ, as given or as found.
    #[getter]
    fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The share of the kernel that landmarks leave unexplained.
    #[getter]
    fn residual(&self) -> f64 {
        self.map.residual()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(py, &self.map.to_bytes().map_err(refused)?);
        let from = py.get_type::<FeatureMap>().getattr("_from_bytes")?;
        Ok((from, (bytes, self.gamma)).into_pyobject(py)?.into_any())
    }

    #[staticmethod]
    fn _from_bytes(bytes: Cow<'_, [u8]>, gamma: f64) -> PyResult<Self> {
        let map = sarl::FeatureMap::from_bytes(&bytes).map_err(refused)?;
        Ok(FeatureMap { map: Arc::new(map), gamma })
    }
}
