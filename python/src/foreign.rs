//! Estimators of Python's as probes.

use faer::Mat;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use sarl_eval::{Error, Labels, Prediction, Probe, Result, Task};

use crate::arrays::{returned, view};

/// A function `(X, labels, X_test, seed, classes)` that learns and tells: it gives what its scores
/// are (`shares`, `logits` or `numbers`) and the scores, a column for each class.
pub struct Foreign {
    pub name: String,
    pub learn: Py<PyAny>,
    /// Whether it learns classes, and whether it learns numbers.
    pub learns: (bool, bool),
}

impl Probe for Foreign {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "an estimator of Python's"
    }

    fn is_random(&self) -> bool {
        true
    }

    fn learns(&self, labels: &Labels) -> bool {
        match labels {
            Labels::Classes { .. } => self.learns.0,
            Labels::Numbers(_) => self.learns.1,
        }
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        if (task.stop)() {
            return Err(Error::Interrupted);
        }
        let told = Python::attach(|py| self.ask(py, task));
        told.map_err(|e| Error::Probe { probe: self.name.clone(), reason: e.to_string() })
    }
}

impl Foreign {
    fn ask(&self, py: Python<'_>, task: &Task<'_>) -> PyResult<Prediction> {
        let (labels, classes) = match task.labels {
            Labels::Classes { codes, count } => {
                (PyArray1::from_slice(py, codes).into_any(), *count)
            }
            Labels::Numbers(values) => (PyArray1::from_slice(py, values).into_any(), 0),
        };
        let rows =
            (returned(py, task.train)?, labels, returned(py, task.test)?, task.seed, classes);
        let (kind, told): (String, PyReadonlyArray2<'_, f64>) =
            self.learn.bind(py).call1(rows)?.extract()?;
        let told: Mat<f64> = view(&told)?.to_owned();
        let expected = (task.test.nrows(), classes.max(1));
        if told.shape() != expected {
            let message =
                format!("it gave scores of shape {:?}, expected {expected:?}", told.shape());
            return Err(crate::failure::wrong(message));
        }
        Ok(match kind.as_str() {
            "shares" => Prediction::Shares(told),
            "logits" => Prediction::Logits(told),
            _ => Prediction::Numbers(told.col(0).iter().copied().collect()),
        })
    }
}
