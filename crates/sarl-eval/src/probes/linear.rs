//! The adversary of the certificates: least squares in closed form.

use faer::{Mat, MatRef};
use sarl::Role;

use crate::error::Result;
use crate::rows::regression;
use crate::task::{Labels, Prediction, Probe, Task};

/// Least squares onto the classes or the number: the adversary that the certificates speak of.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl Probe for Linear {
    fn name(&self) -> &str {
        "linear"
    }

    fn description(&self) -> &str {
        "least squares in closed form, the adversary of the certificate"
    }

    fn is_random(&self) -> bool {
        false
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let told = regress(task.train, task.labels, task.test)?;
        Ok(match task.labels {
            Labels::Classes { .. } => Prediction::Shares(told),
            Labels::Numbers(_) => Prediction::Numbers(told.col(0).iter().copied().collect()),
        })
    }
}

/// An encoder that hides nothing (λ → 0) predicts its target by least squares.
fn regress(train: MatRef<'_, f64>, labels: &Labels, test: MatRef<'_, f64>) -> Result<Mat<f64>> {
    let probe = regression(train, labels)?.encoder();
    Ok(probe.predict(Role::Target, probe.encode(test)?.as_ref())?)
}
