//! Logistic regression by L-BFGS.
//!
//! ```text
//! minimise  −(1/n) Σᵢ log softmax(Wᵀxᵢ + b)[cᵢ]  +  |W|² / (2 n)
//! ```
//!
//! as scikit-learn's `LogisticRegression` with its default `C = 1`: the intercept is free, and two
//! classes need one column of weights.

use argmin::core::Executor;
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::error::{Error, Result};
use crate::objective::Objective;
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
    fn name(&self) -> &str {
        "logistic"
    }

    fn description(&self) -> &str {
        "logistic regression, the paper's target classifier"
    }

    fn is_random(&self) -> bool {
        false
    }

    fn learns(&self, labels: &Labels) -> bool {
        matches!(labels, Labels::Classes { .. })
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let effort = LogisticEffort::default();
        let model = LogisticModel::fit(task.train, task.labels, &effort, task.stop)?;
        Ok(Prediction::Logits(model.scores(task.test)))
    }
}

/// How far the optimiser goes.
#[derive(Clone, Copy, Debug)]
pub struct LogisticEffort {
    /// Steps of L-BFGS at most.
    pub steps: u64,
    /// The gradient at which the optimum is reached.
    pub gradient: f64,
}

impl Default for LogisticEffort {
    fn default() -> Self {
        LogisticEffort { steps: STEPS, gradient: GRADIENT }
    }
}

/// Fitted logistic regression.
#[derive(Clone, Debug)]
pub struct LogisticModel {
    /// Features × classes; of two classes only the column of the second.
    pub weights: Mat<f64>,
    /// One for each column of the weights.
    pub intercepts: Vec<f64>,
    classes: usize,
}

impl LogisticModel {
    /// Learns classes from rows.
    ///
    /// # Errors
    ///
    /// Labels that are numbers or do not match the rows, [`Error::Interrupted`] when `stop` says so,
    /// an optimiser that fails.
    pub fn fit(
        x: MatRef<'_, f64>,
        labels: &Labels,
        effort: &LogisticEffort,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let Labels::Classes { codes, count } = labels else {
            return Err(failed("numbers have no classes"));
        };
        labels.check()?;
        if codes.len() != x.nrows() {
            let (expected, found) = (x.nrows(), codes.len());
            return Err(Error::Shape { what: "labels", expected, found });
        }
        let (width, classes) = (x.ncols(), *count);
        let columns = if classes == 2 { 1 } else { classes };
        let start = vec![0.0; (width + 1) * columns];
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
            .with_tolerance_grad(effort.gradient)
            .and_then(|s| s.with_tolerance_cost(1e-12))
            .map_err(|e| failed(&e.to_string()))?;
        let fit = Fit { x, codes, columns };
        let objective = Objective::new(|weights: &[f64]| Ok(fit.look(weights)), stop);
        let run = Executor::new(objective, solver)
            .configure(|s| s.param(start).max_iters(effort.steps))
            .run();
        if stop() {
            return Err(Error::Interrupted);
        }
        let mut run = run.map_err(|e| failed(&e.to_string()))?;
        let best = run.state.take_best_param().ok_or_else(|| failed("no step was taken"))?;
        let best = MatRef::from_column_major_slice(&best, width + 1, columns);
        let intercepts = best.row(width).iter().copied().collect();
        Ok(LogisticModel { weights: best.subrows(0, width).to_owned(), intercepts, classes })
    }

    /// A column for each class; the largest entry of a row is the most likely one.
    pub fn scores(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        let logits = logits(x, self.weights.as_ref(), |j| self.intercepts[j]);
        match self.classes {
            2 => Mat::from_fn(x.nrows(), 2, |i, j| j as f64 * logits[(i, 0)]),
            _ => logits,
        }
    }
}

/// `X W + b`.
fn logits(x: MatRef<'_, f64>, w: MatRef<'_, f64>, b: impl Fn(usize) -> f64) -> Mat<f64> {
    let mut out = Mat::from_fn(x.nrows(), w.ncols(), |_, j| b(j));
    matmul(out.as_mut(), Accum::Add, x, w, 1.0, Par::Seq);
    out
}

fn failed(reason: &str) -> Error {
    Error::Probe { probe: "logistic".to_owned(), reason: reason.to_owned() }
}

/// The weights are the columns of W, each followed by its intercept.
struct Fit<'a> {
    x: MatRef<'a, f64>,
    codes: &'a [u32],
    /// Columns of weights: one for two classes, else one for each.
    columns: usize,
}

impl Fit<'_> {
    /// The loss and its gradient.
    fn look(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let (rows, width) = self.x.shape();
        let w = MatRef::from_column_major_slice(weights, width + 1, self.columns);
        let mut residual = logits(self.x, w.subrows(0, width), |j| w[(width, j)]);
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
        (loss / n + penalty / (2.0 * n), gradient)
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
