//! Regularised least squares with a Gaussian kernel, the peer of the support vector machine.
//!
//! ```text
//! minimise  |Y − Φ W|² + n ρ |W|²,   Φ Φᵀ ≈ exp(−γ |x − x'|²)   or   Φ = x
//! ```
//!
//! The eigenvectors of ΦᵀΦ serve every ρ, and give what each row would have been told had it been
//! left out: a residual of the fit over one minus the row's weight in its own fit. The kernel, γ, ρ
//! and the units of the columns (all of one spread, or their own) are those with the least squares of
//! these residuals, each class counted by its own variance. So nothing is held out, and few rows
//! are enough.

mod fit;

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sarl::{Family, FeatureMap, Kernel, LandmarkOptions, median_gamma};

use self::fit::{Fit, Outputs};
use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};

/// Rows and landmarks for choosing, at most.
const CHOOSING: (usize, usize) = (2500, 300);
/// Rows and landmarks for the answer, at most: few rows are all landmarks.
const ANSWERING: (usize, usize) = (20_000, 600);
/// Rows among which landmarks are chosen.
const CANDIDATES: usize = 4000;
/// Columns up to which they are tried without a kernel.
const LINEAR: usize = 500;
/// Values of γ, as multiples of the median heuristic's, and where the search begins.
const WIDTHS: [f64; 7] = [0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];
const START: usize = 3;
/// The same rows give the same answer.
const SEED: u64 = 0;

/// Regularised least squares with a Gaussian kernel.
#[derive(Clone, Copy, Debug)]
pub struct RbfKernel;

impl Probe for RbfKernel {
    fn name(&self) -> &str {
        "rbf"
    }

    fn description(&self) -> &str {
        "least squares with a Gaussian kernel, tuned by leaving rows out"
    }

    fn is_random(&self) -> bool {
        false
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let mut order: Vec<usize> = (0..task.train.nrows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(SEED));
        let choice = Search::new(task, &order)?.best()?;
        order.truncate(ANSWERING.0);
        let factors = choice.units.factors(task);
        let x = rows(task.train, &order, &factors);
        let test: Vec<usize> = (0..task.test.nrows()).collect();
        let test = rows(task.test, &test, &factors);
        let map = choice.map.features(x.as_ref(), ANSWERING.1)?;
        let y = Outputs::new(task.labels, &order);
        let fit = Fit::new(map.apply(x.as_ref())?, &y)?;
        let (ridge, _) = fit.best_ridge(&y);
        let told = fit.predict(map.apply(test.as_ref())?.as_ref(), ridge);
        Ok(match task.labels {
            Labels::Classes { .. } => Prediction::Shares(told),
            Labels::Numbers(_) => Prediction::Numbers(told.col(0).iter().copied().collect()),
        })
    }
}

/// The units of the columns.
#[derive(Clone, Copy, PartialEq)]
enum Units {
    /// All have the same spread.
    Same,
    /// Each has its own.
    Own,
}

impl Units {
    /// What the columns of a task are multiplied by.
    fn factors(self, task: &Task<'_>) -> Vec<f64> {
        let columns = task.train.ncols();
        if self == Units::Same || task.spreads.len() != columns {
            return vec![1.0; columns];
        }
        let mean = task.spreads.iter().map(|s| s * s).sum::<f64>() / columns as f64;
        task.spreads.iter().map(|s| s / mean.sqrt()).collect()
    }
}

/// Features of rows.
#[derive(Clone, Copy)]
enum Map {
    Linear,
    Rbf { gamma: f64 },
}

impl Map {
    fn features(self, x: MatRef<'_, f64>, cap: usize) -> Result<FeatureMap> {
        let Map::Rbf { gamma } = self else { return Ok(FeatureMap::linear(x.ncols())) };
        let candidates = x.subrows(0, x.nrows().min(CANDIDATES));
        let options = LandmarkOptions { cap, tolerance: 1e-8, seed: SEED, ..Default::default() };
        Ok(FeatureMap::landmarks(Kernel::Rbf { gamma }, candidates, &options)?)
    }
}

/// A way to tell the rows, and its loss on rows left out.
#[derive(Clone, Copy)]
struct Choice {
    units: Units,
    map: Map,
    loss: f64,
}

/// The rows that decide.
struct Search<'a> {
    task: &'a Task<'a>,
    y: Outputs,
    /// In each of the units, with the median heuristic's γ.
    tables: Vec<(Units, Mat<f64>, f64)>,
}

impl<'a> Search<'a> {
    fn new(task: &'a Task<'a>, order: &[usize]) -> Result<Self> {
        let used = &order[..order.len().min(CHOOSING.0)];
        let own = Units::Own.factors(task);
        let units = match own.iter().all(|f| (f - 1.0).abs() < 1e-9) {
            true => &[Units::Same][..],
            false => &[Units::Same, Units::Own],
        };
        let table = |&units: &Units| {
            let x = rows(task.train, used, &units.factors(task));
            // Rows that are all alike have no median distance; any width will do.
            let gamma = median_gamma(Family::Rbf, x.as_ref()).unwrap_or(1.0);
            (units, x, gamma)
        };
        let tables = units.iter().map(table).collect();
        Ok(Search { task, y: Outputs::new(task.labels, used), tables })
    }

    fn try_map(&self, table: usize, map: Map) -> Result<Choice> {
        if (self.task.stop)() {
            return Err(Error::Interrupted);
        }
        let (units, x, _) = &self.tables[table];
        let phi = map.features(x.as_ref(), CHOOSING.1)?.apply(x.as_ref())?;
        let (_, loss) = Fit::new(phi, &self.y)?.best_ridge(&self.y);
        Ok(Choice { units: *units, map, loss })
    }

    /// The best without a kernel, or along the values of γ from the middle to where it gets worse.
    fn best(&self) -> Result<Choice> {
        let mut all = Vec::new();
        let gamma = |table: usize, at: usize| {
            self.try_map(table, Map::Rbf { gamma: WIDTHS[at] * self.tables[table].2 })
        };
        for table in 0..self.tables.len() {
            if self.task.train.ncols() <= LINEAR {
                all.push((table, START, self.try_map(table, Map::Linear)?));
            }
            all.push((table, START, gamma(table, START)?));
        }
        let kernels = all.iter().filter(|c| matches!(c.2.map, Map::Rbf { .. }));
        let better = |a: &&(usize, usize, Choice), b: &&(usize, usize, Choice)| {
            a.2.loss.total_cmp(&b.2.loss)
        };
        let Some(&(table, _, middle)) = kernels.min_by(better) else {
            return Err(Error::Empty { what: "rows to learn from" });
        };
        // Upwards, and downwards if there is nothing to gain above.
        let climb = |steps: &mut dyn Iterator<Item = usize>| -> Result<Choice> {
            let mut best = middle;
            for at in steps {
                let next = gamma(table, at)?;
                if next.loss >= best.loss {
                    break;
                }
                best = next;
            }
            Ok(best)
        };
        let mut best = climb(&mut (START + 1..WIDTHS.len()))?;
        if best.loss >= middle.loss {
            best = climb(&mut (0..START).rev())?;
        }
        let linear = all.iter().map(|c| c.2).min_by(|a, b| a.loss.total_cmp(&b.loss));
        Ok(linear.filter(|l| l.loss < best.loss).unwrap_or(best))
    }
}

/// Some rows, with columns multiplied.
fn rows(x: MatRef<'_, f64>, which: &[usize], factors: &[f64]) -> Mat<f64> {
    Mat::from_fn(which.len(), x.ncols(), |i, j| factors[j] * x[(which[i], j)])
}
