//! Logistic regression by L-BFGS.
//!
//! ```text
//! minimise  −(1/n) Σᵢ log softmax(Wᵀxᵢ + b)[cᵢ]  +  |W|² / (2 n)
//! ```
//!
//! as scikit-learn's `LogisticRegression` with its default `C = 1`: the intercept is free, and two
//! classes need one column of weights.

use std::sync::Mutex;

use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};

/// Steps of L-BFGS at most; scikit-learn's default is as many.
const STEPS: u64 = 100;
/// Vectors that L-BFGS remembers.
const MEMORY: usize = 10;
/// The gradient at which the optimum is reached, as in scikit-learn.
const GRADIENT: f64 = 1e-5;

/// Multinomial logistic regression.
#[derive(Clone, Copy, Debug)]
pub struct Logistic;

impl Probe for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn description(&self) -> &'static str {
        "logistic regression, the paper's target classifier"
    }

    fn is_random(&self) -> bool {
        false
    }

    fn learns(&self, labels: &Labels) -> bool {
        matches!(labels, Labels::Classes { .. })
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let Labels::Classes { codes, count } = task.labels else {
            return Err(failed("numbers have no classes"));
        };
        let fit = Fit::new(task, codes, *count);
        let start = vec![0.0; (fit.x.ncols() + 1) * fit.columns];
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(GRADIENT)
            .and_then(|s| s.with_tolerance_cost(1e-12))
            .map_err(|e| failed(&e.to_string()))?;
        let run = Executor::new(fit, solver).configure(|s| s.param(start).max_iters(STEPS)).run();
        if (task.stop)() {
            return Err(Error::Interrupted);
        }
        let mut run = run.map_err(|e| failed(&e.to_string()))?;
        let weights = run.state.take_best_param().ok_or_else(|| failed("no step was taken"))?;
        let fit = run.problem.problem.as_ref().ok_or_else(|| failed("the problem is gone"))?;
        Ok(Prediction::Scores(fit.scores(task.test, &weights)))
    }
}

fn failed(reason: &str) -> Error {
    Error::Probe { probe: "logistic", reason: reason.to_owned() }
}

/// The last point that was asked for, with its loss and gradient.
type Seen = (Vec<f64>, f64, Vec<f64>);

struct Fit<'a> {
    x: MatRef<'a, f64>,
    codes: &'a [u32],
    classes: usize,
    /// Columns of weights: one for two classes, else one for each.
    columns: usize,
    stop: &'a (dyn Fn() -> bool + Sync),
    /// The loss and the gradient are asked for one after the other, at the same point.
    seen: Mutex<Option<Seen>>,
}

impl<'a> Fit<'a> {
    fn new(task: &Task<'a>, codes: &'a [u32], classes: usize) -> Self {
        let columns = if classes == 2 { 1 } else { classes };
        let (x, stop) = (task.train, task.stop);
        Fit { x, codes, classes, columns, stop, seen: Mutex::new(None) }
    }

    /// `X W + b`; the weights are the columns of W, each followed by its intercept.
    fn logits(&self, x: MatRef<'_, f64>, weights: &[f64]) -> Mat<f64> {
        let width = x.ncols();
        let w = MatRef::from_column_major_slice(weights, width + 1, self.columns);
        let mut out = Mat::from_fn(x.nrows(), self.columns, |_, j| w[(width, j)]);
        matmul(out.as_mut(), Accum::Add, x, w.subrows(0, width), 1.0, Par::Seq);
        out
    }

    /// A column for each class.
    fn scores(&self, x: MatRef<'_, f64>, weights: &[f64]) -> Mat<f64> {
        let logits = self.logits(x, weights);
        match self.columns {
            1 => Mat::from_fn(x.nrows(), self.classes, |i, j| j as f64 * logits[(i, 0)]),
            _ => logits,
        }
    }

    fn look(&self, weights: &[f64]) -> Seen {
        let (rows, width) = self.x.shape();
        let mut residual = self.logits(self.x, weights);
        let mut loss = 0.0;
        if self.columns == 1 {
            for (r, &c) in residual.col_mut(0).iter_mut().zip(self.codes) {
                let logit = *r;
                // log(1 + e^t) without overflow.
                loss += logit.max(0.0) + (-logit.abs()).exp().ln_1p() - f64::from(c) * logit;
                *r = 1.0 / (1.0 + (-logit).exp()) - f64::from(c);
            }
        } else {
            loss += softmax(&mut residual, self.codes);
        }
        let n = rows as f64;
        let mut gradient = vec![0.0; weights.len()];
        let mut products = Mat::<f64>::zeros(width, self.columns);
        let transposed = self.x.transpose();
        matmul(products.as_mut(), Accum::Replace, transposed, residual.as_ref(), 1.0 / n, Par::Seq);
        let mut penalty = 0.0;
        for j in 0..self.columns {
            let at = j * (width + 1);
            for i in 0..width {
                gradient[at + i] = products[(i, j)] + weights[at + i] / n;
                penalty += weights[at + i].powi(2);
            }
            gradient[at + width] = residual.col(j).iter().sum::<f64>() / n;
        }
        (weights.to_vec(), loss / n + penalty / (2.0 * n), gradient)
    }

    fn ask<T>(
        &self,
        weights: &[f64],
        of: impl Fn(&Seen) -> T,
    ) -> std::result::Result<T, argmin::core::Error> {
        if (self.stop)() {
            return Err(Error::Interrupted.into());
        }
        let mut seen = self.seen.lock().map_err(|_| failed("a thread failed"))?;
        match &*seen {
            Some(last) if last.0 == weights => Ok(of(last)),
            _ => Ok(of(seen.insert(self.look(weights)))),
        }
    }
}

/// Replaces logits by `softmax − one-hot` and returns the sum of the losses.
fn softmax(logits: &mut Mat<f64>, codes: &[u32]) -> f64 {
    let (rows, classes) = logits.shape();
    let mut largest = vec![f64::NEG_INFINITY; rows];
    for j in 0..classes {
        for (m, &v) in largest.iter_mut().zip(logits.col(j).iter()) {
            *m = m.max(v);
        }
    }
    let mut sums = vec![0.0; rows];
    let mut loss = 0.0;
    for (i, &c) in codes.iter().enumerate() {
        loss -= logits[(i, c as usize)] - largest[i];
    }
    for j in 0..classes {
        for ((v, &m), sum) in logits.col_mut(j).iter_mut().zip(&largest).zip(&mut sums) {
            *v = (*v - m).exp();
            *sum += *v;
        }
    }
    for j in 0..classes {
        for (v, sum) in logits.col_mut(j).iter_mut().zip(&sums) {
            *v /= sum;
        }
    }
    for (i, &c) in codes.iter().enumerate() {
        logits[(i, c as usize)] -= 1.0;
    }
    loss + sums.iter().map(|s| s.ln()).sum::<f64>()
}

impl CostFunction for Fit<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, weights: &Vec<f64>) -> std::result::Result<f64, argmin::core::Error> {
        self.ask(weights, |seen| seen.1)
    }
}

impl Gradient for Fit<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, weights: &Vec<f64>) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        self.ask(weights, |seen| seen.2.clone())
    }
}
