//! A classifier with a Gaussian kernel: regularised least squares on landmarks.
//!
//! ```text
//! minimise  |Y − Φ W|² + n ρ |W|²,   Φ Φᵀ ≈ exp(−γ |x − x'|²)
//! ```
//!
//! also known as the least-squares support vector machine. One eigendecomposition of ΦᵀΦ serves
//! every ρ; γ and ρ are those that do best on a share of the training rows set apart.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sarl::{Family, FeatureMap, Kernel, LandmarkOptions, median_gamma};

use crate::error::{Error, Result};
use crate::metrics;
use crate::task::{Labels, Prediction, Probe, Task};

/// Landmarks at most.
const LANDMARKS: usize = 300;
/// Rows among which landmarks are chosen.
const CANDIDATES: usize = 4000;
/// Rows used for choosing γ and ρ, at most.
const VALIDATED: usize = 12_000;
/// The share of those set apart.
const APART: f64 = 0.25;
/// Widths tried, as multiples of the median heuristic's.
const WIDTHS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
/// Ridges tried.
const RIDGES: [f64; 6] = [1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2];

/// Regularised least squares with a Gaussian kernel.
#[derive(Clone, Copy, Debug)]
pub struct RbfKernel;

impl Probe for RbfKernel {
    fn name(&self) -> &'static str {
        "rbf"
    }

    fn description(&self) -> &'static str {
        "least-squares classifier with a Gaussian kernel, its width chosen by validation"
    }

    fn is_random(&self) -> bool {
        true
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let mut order: Vec<usize> = (0..task.train.nrows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(task.seed));
        let (gamma, ridge) = choose(task, &order)?;
        let map = landmarks(task.train, &order, gamma, task.seed)?;
        let y = outputs(task.labels, None);
        let fit = Fit::new(&map, task.train, y.as_ref())?;
        let told = fit.predict(&map, task.test, ridge)?;
        Ok(match task.labels {
            Labels::Classes { .. } => Prediction::Scores(told),
            Labels::Numbers(_) => Prediction::Numbers(told.col(0).iter().copied().collect()),
        })
    }
}

/// The width and the ridge that do best on rows set apart.
fn choose(task: &Task<'_>, order: &[usize]) -> Result<(f64, f64)> {
    let sample = rows(task.train, &order[..order.len().min(CANDIDATES)]);
    // Rows that are all alike have no median distance; any width will do.
    let median = median_gamma(Family::Rbf, sample.as_ref()).unwrap_or(1.0);
    let used = &order[..order.len().min(VALIDATED)];
    let apart = ((used.len() as f64 * APART) as usize).max(1);
    let (apart, seen) = used.split_at(apart);
    if seen.is_empty() {
        return Ok((median, RIDGES[RIDGES.len() / 2]));
    }
    let (x, fresh) = (rows(task.train, seen), rows(task.train, apart));
    let (y, truth) = (outputs(task.labels, Some(seen)), outputs(task.labels, Some(apart)));
    let mut best = (f64::NEG_INFINITY, median, RIDGES[0]);
    for width in WIDTHS {
        if (task.stop)() {
            return Err(Error::Interrupted);
        }
        let gamma = width * median;
        let map = landmarks(task.train, seen, gamma, task.seed)?;
        let fit = Fit::new(&map, x.as_ref(), y.as_ref())?;
        let phi = map.apply(fresh.as_ref())?;
        for ridge in RIDGES {
            let score =
                score(task.labels, apart, fit.told(phi.as_ref(), ridge).as_ref(), truth.as_ref());
            if score > best.0 {
                best = (score, gamma, ridge);
            }
        }
    }
    Ok((best.1, best.2))
}

/// Accuracy, with the explained share of the squares to decide between equals.
fn score(labels: &Labels, apart: &[usize], told: MatRef<'_, f64>, truth: MatRef<'_, f64>) -> f64 {
    let rest = (told - truth).squared_norm_l2() / truth.nrows() as f64;
    match labels {
        Labels::Numbers(_) => -rest,
        Labels::Classes { codes, .. } => {
            let truth: Vec<u32> = apart.iter().map(|&i| codes[i]).collect();
            metrics::accuracy(&truth, &metrics::decide(told)) - 1e-3 * rest
        }
    }
}

fn rows(x: MatRef<'_, f64>, which: &[usize]) -> Mat<f64> {
    Mat::from_fn(which.len(), x.ncols(), |i, j| x[(which[i], j)])
}

/// The classes as columns of zeros and ones, or the number; of all rows or of some.
fn outputs(labels: &Labels, which: Option<&[usize]>) -> Mat<f64> {
    let at = |i: usize| which.map_or(i, |w| w[i]);
    match labels {
        Labels::Classes { codes, count } => {
            let rows = which.map_or(codes.len(), <[_]>::len);
            Mat::from_fn(rows, *count, |i, j| f64::from(codes[at(i)] as usize == j))
        }
        Labels::Numbers(values) => {
            let rows = which.map_or(values.len(), <[_]>::len);
            Mat::from_fn(rows, 1, |i, _| values[at(i)])
        }
    }
}

fn landmarks(x: MatRef<'_, f64>, order: &[usize], gamma: f64, seed: u64) -> Result<FeatureMap> {
    let candidates = rows(x, &order[..order.len().min(CANDIDATES)]);
    let options = LandmarkOptions { cap: LANDMARKS, tolerance: 1e-8, seed, ..Default::default() };
    Ok(FeatureMap::landmarks(Kernel::Rbf { gamma }, candidates.as_ref(), &options)?)
}

/// ΦᵀΦ/n = U S Uᵀ about the means, and UᵀΦᵀY/n.
struct Fit {
    mean: Vec<f64>,
    output_mean: Vec<f64>,
    vectors: Mat<f64>,
    values: Vec<f64>,
    products: Mat<f64>,
}

impl Fit {
    fn new(map: &FeatureMap, x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<Self> {
        let mut phi = map.apply(x)?;
        let n = x.nrows() as f64;
        let mean = means(phi.as_ref());
        for (j, m) in mean.iter().enumerate() {
            phi.col_mut(j).iter_mut().for_each(|v| *v -= m);
        }
        let mut gram = Mat::<f64>::zeros(phi.ncols(), phi.ncols());
        let mut cross = Mat::<f64>::zeros(phi.ncols(), y.ncols());
        let transposed = phi.as_ref().transpose();
        matmul(gram.as_mut(), Accum::Replace, transposed, phi.as_ref(), 1.0 / n, Par::Seq);
        matmul(cross.as_mut(), Accum::Replace, transposed, y, 1.0 / n, Par::Seq);
        let eigen = gram.self_adjoint_eigen(Side::Lower).map_err(|e| Error::Probe {
            probe: "rbf",
            reason: format!("the eigenvalues were not found: {e:?}"),
        })?;
        let vectors = eigen.U().to_owned();
        let values = eigen.S().column_vector().iter().copied().collect();
        let products = vectors.transpose() * cross;
        Ok(Fit { mean, output_mean: means(y), vectors, values, products })
    }

    fn predict(&self, map: &FeatureMap, x: MatRef<'_, f64>, ridge: f64) -> Result<Mat<f64>> {
        Ok(self.told(map.apply(x)?.as_ref(), ridge))
    }

    /// Ȳ + (Φ − Φ̄) U (S + ρ)⁻¹ UᵀΦᵀY/n.
    fn told(&self, phi: MatRef<'_, f64>, ridge: f64) -> Mat<f64> {
        let scaled = Mat::from_fn(self.products.nrows(), self.products.ncols(), |i, j| {
            self.products[(i, j)] / (self.values[i].max(0.0) + ridge)
        });
        let weights = &self.vectors * scaled;
        let offsets: Vec<f64> = (0..weights.ncols())
            .map(|j| {
                let shift: f64 = weights.col(j).iter().zip(&self.mean).map(|(w, m)| w * m).sum();
                self.output_mean[j] - shift
            })
            .collect();
        let mut out = Mat::from_fn(phi.nrows(), weights.ncols(), |_, j| offsets[j]);
        matmul(out.as_mut(), Accum::Add, phi, weights.as_ref(), 1.0, Par::Seq);
        out
    }
}

fn means(x: MatRef<'_, f64>) -> Vec<f64> {
    let n = x.nrows() as f64;
    (0..x.ncols()).map(|j| x.col(j).iter().sum::<f64>() / n).collect()
}
