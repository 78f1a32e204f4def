//! One class against the rest, or one number.

use faer::MatRef;
use forust_ml::metric::Metric;
use forust_ml::objective::ObjectiveType;
use forust_ml::{GradientBooster, Matrix};

use super::plan::{Plan, Shape};
use crate::error::{Error, Result};
use crate::task::Task;

/// Rounds without gain on the held-out rows after which boosting ends.
const PATIENCE: usize = 20;
/// The bins that are worth while for a row.
const BINS_PER_ROW: f64 = 0.25;
/// Rows in a leaf, at least, about.
const LEAF: f64 = 4.0;

/// What is learnt.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Whether a row is in a class.
    Class,
    /// A number of mean 0 and variance 1.
    Number,
}

/// Training rows and what is to be learnt from them.
pub(super) struct Sample {
    pub(super) rows: Vec<usize>,
    /// In the class or not (1 or 0), or the number.
    pub(super) y: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Sample {
    /// Sorts the rows by what is to be learnt, so that every k-th is a fair sample of it.
    fn sort(&self) -> Self {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|&a, &b| self.y[a].total_cmp(&self.y[b]));
        self.pick(&order)
    }

    fn pick(&self, which: &[usize]) -> Self {
        let of = |v: &[f64]| which.iter().map(|&i| v[i]).collect();
        let rows = which.iter().map(|&i| self.rows[i]).collect();
        Sample { rows, y: of(&self.y), weights: of(&self.weights) }
    }

    /// The rows that are kept, and every `parts`-th, held out.
    fn split(&self, parts: usize, part: usize) -> (Self, Self) {
        let (held, kept): (Vec<usize>, Vec<usize>) =
            (0..self.rows.len()).partition(|i| i % parts == part);
        (self.pick(&kept), self.pick(&held))
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self.y.iter().zip(&self.weights).map(|(y, w)| y * w).sum();
        sum / self.weights.iter().sum::<f64>()
    }

    fn is_constant(&self) -> bool {
        self.y.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// What the sample tells about each test row: a probability, or a number.
pub(super) fn speak(task: &Task<'_>, sample: &Sample, kind: Kind, plan: &Plan) -> Result<Vec<f64>> {
    let sample = sample.sort();
    let (tests, width) = task.test.shape();
    let test = columns(task.test, 0..tests);
    let test = Matrix::new(&test, tests, width);
    let mut told = vec![0.0; tests];
    for part in 0..plan.voices {
        let (kept, held) = sample.split(plan.parts, part);
        if kept.is_constant() {
            told.iter_mut().for_each(|t| *t += sample.mean());
            continue;
        }
        let booster = best(task, &kept, &held, kind, plan)?;
        for (t, v) in told.iter_mut().zip(booster.predict(&test, plan.alone)) {
            let v = match kind {
                Kind::Class => 1.0 / (1.0 + (-v).exp()),
                Kind::Number => v,
            };
            *t += if v.is_finite() { v } else { sample.mean() };
        }
    }
    Ok(told.into_iter().map(|t| t / plan.voices as f64).collect())
}

/// The booster of the shape that does best on the held-out rows.
fn best(
    task: &Task<'_>,
    kept: &Sample,
    held: &Sample,
    kind: Kind,
    plan: &Plan,
) -> Result<GradientBooster> {
    let width = task.train.ncols();
    let x = columns(task.train, kept.rows.iter().copied());
    let unseen = columns(task.train, held.rows.iter().copied());
    let mut best: Option<(f64, GradientBooster)> = None;
    for &shape in &plan.shapes {
        if (task.stop)() {
            return Err(Error::Interrupted);
        }
        let mut booster = booster(shape, kept, kind, plan);
        let x = Matrix::new(&x, kept.rows.len(), width);
        let unseen = Matrix::new(&unseen, held.rows.len(), width);
        let unseen = vec![(unseen, &held.y[..], &held.weights[..])];
        booster
            .fit(&x, &kept.y, &kept.weights, Some(unseen))
            .map_err(|e| failed(&e.to_string()))?;
        let losses = booster.evaluation_history.as_ref().map_or(&[][..], |history| &history.data);
        let loss = losses.iter().copied().fold(f64::INFINITY, f64::min);
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, booster));
        }
    }
    best.map(|(_, booster)| booster).ok_or_else(|| failed("there is no shape of trees to try"))
}

fn failed(reason: &str) -> Error {
    Error::Probe { probe: "trees".to_owned(), reason: reason.to_owned() }
}

fn booster(shape: Shape, sample: &Sample, kind: Kind, plan: &Plan) -> GradientBooster {
    let bins = (sample.rows.len() as f64 * BINS_PER_ROW).clamp(32.0, shape.bins as f64);
    // The weight of a leaf is the sum of h, which is p (1 − p) for a row at first.
    let share = sample.mean();
    let (objective, metric, leaf) = match kind {
        Kind::Class => (ObjectiveType::LogLoss, Metric::LogLoss, LEAF * share * (1.0 - share)),
        // The crate's own choice is the error of logarithms, which negative numbers do not have.
        Kind::Number => (ObjectiveType::SquaredLoss, Metric::RootMeanSquaredError, LEAF),
    };
    GradientBooster::default()
        .set_objective_type(objective)
        .set_evaluation_metric(Some(metric))
        .set_early_stopping_rounds(Some(PATIENCE))
        .set_iterations(plan.rounds)
        .set_learning_rate(plan.rate)
        .set_max_depth(shape.depth)
        .set_min_leaf_weight(leaf as f32)
        .set_nbins(bins as u16)
        .set_initialize_base_score(true)
        .set_allow_missing_splits(false)
        .set_tiled_histograms(true)
        .set_parallel(plan.alone)
}

/// Some rows, column by column. Infinities become large numbers, for which there are bins; what is
/// not a number counts as missing.
fn columns(x: MatRef<'_, f64>, rows: impl Iterator<Item = usize> + Clone) -> Vec<f64> {
    let cells = (0..x.ncols()).flat_map(|j| rows.clone().map(move |i| x[(i, j)]));
    cells.map(|v| v.clamp(-1e300, 1e300)).collect()
}
