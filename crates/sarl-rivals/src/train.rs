//! Training by gradient steps, with rows apart that say when to stop.

use std::f64::consts::PI;

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sarl_nets::{Matrix, SCORED, Tape, Var};

use crate::error::{Error, Result};
use crate::rival::{Encode, Fitting, check_width};

/// Something that learns by steps.
pub(crate) trait Learner {
    /// A step on these rows at this learning rate; returns the loss.
    fn step(&mut self, rows: &[usize], rate: f64) -> f64;

    /// How well the present state does on rows apart; smaller is better.
    fn judge(&self, rows: &[usize]) -> f64;

    /// Remembers the present state as the best.
    fn keep(&mut self);
}

/// How long to train.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Rows in a step, unless that makes fewer steps in an epoch than `parts`.
    pub batch: usize,
    pub parts: usize,
    /// Steps of a run, at least and at most, and epochs in between.
    pub steps: (usize, usize),
    pub epochs: usize,
    /// Learning rate at the start; it falls along a cosine.
    pub rate: f64,
    /// The share of rows that judge the epochs.
    pub apart: f64,
    /// Epochs without a better one after which a run ends.
    pub patience: usize,
    /// The share of the epochs before which none is judged: a game has to settle first.
    pub settle: f64,
}

/// Trains until the plan is done or the rows apart see no progress.
pub(crate) fn train(
    rival: &'static str,
    learner: &mut dyn Learner,
    rows: usize,
    plan: &Plan,
    how: &Fitting<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<()> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(rng);
    let apart = (rows as f64 * plan.apart) as usize;
    let apart = order.split_off(rows - apart);
    let batch = plan.batch.min(order.len().div_ceil(plan.parts.max(1))).max(2);
    let each = order.len().div_ceil(batch);
    let epochs = (plan.epochs * each).clamp(plan.steps.0, plan.steps.1).div_ceil(each);
    let settle = (plan.settle * epochs as f64) as usize;
    let (mut best, mut step) = ((f64::INFINITY, 0), 0);
    for epoch in 1..=epochs {
        order.shuffle(rng);
        for rows in order.chunks(batch).filter(|rows| rows.len() > 1) {
            if (how.stop)() {
                return Err(Error::Interrupted);
            }
            let done = step as f64 / (epochs * each) as f64;
            let rate = plan.rate * (0.5 * (1.0 + (PI * done).cos())).max(0.01);
            step += 1;
            if !learner.step(rows, rate).is_finite() {
                return Err(Error::Diverged { rival, step });
            }
        }
        if apart.len() < 2 {
            learner.keep();
            continue;
        }
        let score = learner.judge(&apart);
        if !score.is_finite() {
            return Err(Error::Diverged { rival, step });
        }
        if epoch <= settle {
            continue;
        }
        if score < best.0 {
            best = (score, epoch);
            learner.keep();
        } else if epoch - best.1.max(settle) >= plan.patience {
            break;
        }
    }
    Ok(())
}

/// The mean over rows of something that is a mean over some of them at a time.
pub(crate) fn mean_over(
    rows: &[usize],
    mut of: impl for<'t> FnMut(&[usize], &'t Tape) -> Var<'t>,
) -> f64 {
    let sum = rows.chunks(SCORED).map(|rows| {
        let tape = Tape::default();
        let mean = f64::from(of(rows, &tape).number());
        mean * rows.len() as f64
    });
    sum.sum::<f64>() / rows.len() as f64
}

/// A network that learns no more.
pub(crate) struct Frozen<F> {
    pub width: usize,
    pub dim: usize,
    pub encode: F,
}

impl<F> Encode for Frozen<F>
where
    F: for<'t> Fn(Var<'t>, &'t Tape) -> Var<'t> + Send + Sync,
{
    fn dim(&self) -> usize {
        self.dim
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.width)?;
        let mut z = Mat::zeros(x.nrows(), self.dim);
        for from in (0..x.nrows()).step_by(SCORED) {
            let rows = x.subrows(from, SCORED.min(x.nrows() - from));
            let tape = Tape::default();
            let told = (self.encode)(tape.constant(Matrix::rounded(rows)), &tape);
            z.subrows_mut(from, rows.nrows()).copy_from(told.value().widened());
        }
        Ok(z)
    }
}
