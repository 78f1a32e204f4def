//! Boosted trees, the strongest learner of tables.
//!
//! Gradient boosting as XGBoost does it (forust): each tree takes a Newton step on the log-loss of a
//! class, or on the squares of a number,
//!
//! ```text
//! F ← F + η f,   f = argmin over trees of  Σᵢ (gᵢ f(xᵢ) + ½ hᵢ f(xᵢ)²) + ½ |leaves of f|²
//! ```
//!
//! with splits looked for along histograms of the columns. Boosting ends where rows held out of the
//! *training* rows no longer gain. More than two classes are one against the rest each, and their
//! probabilities are made to sum to one.
//!
//! - Of few columns, a second booster with deeper trees and far finer bins is fitted too, and the one
//!   that does better on the held-out rows speaks: a code of one or two dimensions made from discrete
//!   data has values that almost name the row, and 256 bins cannot see that.
//! - Of few rows, five boosters, each with another fifth held out, speak with one mean voice.
//! - Of many cells (rows × columns × classes), trees are fewer and smaller, and beyond a bound rows are
//!   drawn: those of the class first, with weights that keep its share as it was.
//!
//! The seed shuffles the rows before some are held out; threads change nothing. `stop` is asked before
//! each booster, which takes seconds at most.

mod boost;
mod plan;

use faer::Mat;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use self::boost::{Kind, Sample};
use self::plan::Plan;
use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};

/// Rows below which there is nothing to learn.
const FEW: usize = 10;

/// Boosted trees.
#[derive(Clone, Copy, Debug)]
pub struct Trees;

impl Probe for Trees {
    fn name(&self) -> &str {
        "trees"
    }

    fn description(&self) -> &str {
        "gradient boosted trees, stopped by rows held out"
    }

    fn is_random(&self) -> bool {
        true
    }

    /// Where several boosters speak with one voice, another seed changes a detail.
    fn runs(&self, rows: usize, seeds: usize) -> usize {
        if rows <= plan::SMALL { seeds.min(1) } else { seeds }
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        check(task)?;
        match task.labels {
            Labels::Classes { codes, count } => {
                classes(task, codes, *count).map(Prediction::Shares)
            }
            Labels::Numbers(values) => numbers(task, values).map(Prediction::Numbers),
        }
    }
}

fn check(task: &Task<'_>) -> Result<()> {
    task.labels.check()?;
    let (expected, found) = (task.train.nrows(), task.labels.rows());
    if expected != found {
        return Err(Error::Shape { what: "values of an attribute", expected, found });
    }
    let (expected, found) = (task.train.ncols(), task.test.ncols());
    if expected != found {
        return Err(Error::Shape { what: "columns of the test rows", expected, found });
    }
    if (task.stop)() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Whether the rows can say nothing at all.
fn is_mute(task: &Task<'_>) -> bool {
    task.train.nrows() < FEW || task.train.ncols() == 0 || task.test.nrows() == 0
}

/// The probability of each class for each test row.
fn classes(task: &Task<'_>, codes: &[u32], count: usize) -> Result<Mat<f64>> {
    let mut rows = vec![0_usize; count];
    codes.iter().for_each(|&c| rows[c as usize] += 1);
    let share = |c: usize| rows[c] as f64 / codes.len() as f64;
    let seen: Vec<usize> = (0..count).filter(|&c| rows[c] > 0).collect();
    let tests = task.test.nrows();
    if seen.is_empty() {
        return Ok(Mat::from_fn(tests, count, |_, _| 1.0 / count as f64));
    }
    if is_mute(task) || seen.len() == 1 {
        return Ok(Mat::from_fn(tests, count, |_, c| share(c)));
    }
    // Of two classes, one says all.
    let asked = if seen.len() == 2 { &seen[1..] } else { &seen[..] };
    let plan = Plan::new(codes.len(), task.train.ncols(), asked.len());
    let voices = asked.par_iter().map(|&class| {
        let sample = draw(codes, class, plan.most, &mut generator(task.seed, class));
        boost::speak(task, &sample, Kind::Class, &plan)
    });
    let voices = voices.collect::<Result<Vec<_>>>()?;
    let mut scores = Mat::zeros(tests, count);
    for (&class, voice) in asked.iter().zip(&voices) {
        scores.col_mut(class).iter_mut().zip(voice).for_each(|(s, &p)| *s = p);
    }
    if let [other, class] = seen[..] {
        (0..tests).for_each(|i| scores[(i, other)] = 1.0 - scores[(i, class)]);
    }
    for i in 0..tests {
        let sum: f64 = scores.row(i).iter().sum();
        for c in 0..count {
            scores[(i, c)] = if sum > 0.0 { scores[(i, c)] / sum } else { share(c) };
        }
    }
    Ok(scores)
}

/// The number for each test row.
fn numbers(task: &Task<'_>, values: &[f64]) -> Result<Vec<f64>> {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>().clamp(f64::MIN, f64::MAX);
    let spread = values.iter().map(|v| (v - mean).powi(2) / n).sum::<f64>().sqrt();
    // What is left of equal numbers is the rounding of their mean.
    let is_constant = spread <= 8.0 * f64::EPSILON * mean.abs() || !spread.is_finite();
    if is_mute(task) || is_constant {
        return Ok(vec![mean; task.test.nrows()]);
    }
    let plan = Plan::new(values.len(), task.train.ncols(), 1);
    let mut rows: Vec<usize> = (0..values.len()).collect();
    rows.shuffle(&mut generator(task.seed, 0));
    rows.truncate(plan.most);
    // Trees think in single precision, so numbers are brought to its scale.
    let y: Vec<f64> = rows.iter().map(|&i| (values[i] - mean) / spread).collect();
    let sample = Sample { weights: vec![1.0; rows.len()], rows, y };
    let told = boost::speak(task, &sample, Kind::Number, &plan)?;
    Ok(told.into_iter().map(|v| mean + spread * v).collect())
}

/// Each class has a stream of its own, so that it does not matter which comes first.
fn generator(seed: u64, stream: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream as u64);
    rng
}

/// At most so many rows, half of them in the class unless one side has fewer.
fn draw(codes: &[u32], class: usize, most: usize, rng: &mut impl Rng) -> Sample {
    let (mut inside, mut outside): (Vec<usize>, Vec<usize>) =
        (0..codes.len()).partition(|&i| codes[i] as usize == class);
    let all = [outside.len(), inside.len()];
    inside.shuffle(rng);
    outside.shuffle(rng);
    inside.truncate((most / 2).max(most.saturating_sub(outside.len())));
    outside.truncate(most - inside.len());
    let each = |a: f64, b: f64| [vec![a; outside.len()], vec![b; inside.len()]].concat();
    let y = each(0.0, 1.0);
    let stands_for = |all: usize, rows: &[usize]| all as f64 / rows.len().max(1) as f64;
    let weights = each(stands_for(all[0], &outside), stands_for(all[1], &inside));
    Sample { rows: [outside, inside].concat(), y, weights }
}

#[cfg(test)]
mod tests;
