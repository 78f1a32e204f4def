//! Kernels and blocks of their values.

use faer::{Mat, MatRef};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::exp::exp_all;
use crate::{Error, Result};

/// A positive definite function of two points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kernel")]
pub enum Kernel {
    /// `exp(−γ ‖x − x'‖²)`.
    Rbf {
        /// γ.
        gamma: f64,
    },
    /// `exp(−γ ‖x − x'‖₁)`.
    Laplacian {
        /// γ.
        gamma: f64,
    },
    /// `(γ xᵀx' + c)^d`.
    Polynomial {
        /// γ.
        gamma: f64,
        /// c.
        coef0: f64,
        /// d.
        degree: u32,
    },
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kernel::Rbf { gamma } => write!(f, "rbf kernel, gamma {gamma:.6}"),
            Kernel::Laplacian { gamma } => write!(f, "laplacian kernel, gamma {gamma:.6}"),
            Kernel::Polynomial { gamma, coef0, degree } => {
                write!(f, "polynomial kernel of degree {degree}, gamma {gamma:.6}, coef0 {coef0}")
            }
        }
    }
}

impl Kernel {
    /// Its width.
    pub fn gamma(&self) -> f64 {
        match *self {
            Kernel::Rbf { gamma }
            | Kernel::Laplacian { gamma }
            | Kernel::Polynomial { gamma, .. } => gamma,
        }
    }

    /// Whether the parameters make a positive definite kernel.
    pub fn check(self) -> Result<()> {
        let positive = |name: &'static str, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(Error::Argument { name, value, expected: "expected a finite number above 0" })
        };
        match self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => positive("gamma", gamma),
            Kernel::Polynomial { gamma, coef0, degree } => {
                positive("gamma", gamma)?;
                let value = f64::from(degree);
                if degree == 0 || degree > 100 {
                    return Err(Error::Argument {
                        name: "degree",
                        value,
                        expected: "expected 1 to 100",
                    });
                }
                if !(coef0.is_finite() && coef0 >= 0.0) {
                    let expected = "expected a finite number, 0 or more";
                    return Err(Error::Argument { name: "coef0", value: coef0, expected });
                }
                Ok(())
            }
        }
    }

    /// `k(x, x)` for each row.
    pub(crate) fn diagonal(self, x: MatRef<'_, f64>) -> Vec<f64> {
        match self {
            Kernel::Rbf { .. } | Kernel::Laplacian { .. } => vec![1.0; x.nrows()],
            Kernel::Polynomial { .. } => {
                (0..x.nrows()).map(|i| self.of_product(x.row(i).squared_norm_l2())).collect()
            }
        }
    }

    fn of_product(self, product: f64) -> f64 {
        match self {
            Kernel::Polynomial { gamma, coef0, degree } => {
                (gamma * product + coef0).powi(degree as i32)
            }
            Kernel::Rbf { .. } | Kernel::Laplacian { .. } => product,
        }
    }

    /// `k(x_i, u_j)`: rows of `x` by rows of `u`, in parallel over rows.
    pub(crate) fn block(self, x: MatRef<'_, f64>, u: MatRef<'_, f64>) -> Mat<f64> {
        Points::new(self, u).values(x)
    }
}

/// Points that many others are compared with. Both sides are moved by their mean, where distances count:
/// these stay, and `‖x‖² + ‖u‖² − 2xᵀu` cancels less.
pub(super) struct Points {
    kernel: Kernel,
    /// Their mean; nothing, where distances do not count.
    pub(super) centre: Vec<f64>,
    /// The points about it, and their squared lengths.
    pub(super) at: Mat<f64>,
    pub(super) squares: Squares,
}

impl Points {
    pub(super) fn new(kernel: Kernel, u: MatRef<'_, f64>) -> Self {
        let count = u.nrows().max(1) as f64;
        let mean = |j: usize| u.col(j).iter().sum::<f64>() / count;
        let centre: Vec<f64> = match kernel {
            Kernel::Rbf { .. } => (0..u.ncols()).map(mean).collect(),
            Kernel::Laplacian { .. } | Kernel::Polynomial { .. } => Vec::new(),
        };
        let at = moved(u, &centre);
        Points { kernel, squares: Squares::of(&at), at, centre }
    }

    /// `k(x_i, u_j)`, in parallel.
    pub(super) fn values(&self, x: MatRef<'_, f64>) -> Mat<f64> {
        match self.kernel {
            Kernel::Rbf { gamma } => self.rbf(&moved(x, &self.centre), gamma),
            Kernel::Laplacian { gamma } => laplacian(x, self.at.as_ref(), gamma),
            Kernel::Polynomial { .. } => {
                let mut k = x * self.at.transpose();
                each_column(&mut k, |_, column| {
                    column.iter_mut().for_each(|v| *v = self.kernel.of_product(*v));
                });
                k
            }
        }
    }

    fn rbf(&self, x: &Mat<f64>, gamma: f64) -> Mat<f64> {
        let (xx, u) = (Squares::of(x), &self.at);
        let mut k = x * u.transpose();
        each_column(&mut k, |j, column| {
            column.iter_mut().for_each(|v| *v *= 2.0 * gamma);
            let apart = |i: usize| {
                let pairs = x.row(i).iter().zip(u.row(j).iter());
                pairs.map(|(a, b)| (a - b) * (a - b)).sum()
            };
            xx.exponents(column, gamma, self.squares.each[j], apart);
            exp_all(column);
        });
        k
    }
}

/// Points about a centre, where there is one.
fn moved(a: MatRef<'_, f64>, centre: &[f64]) -> Mat<f64> {
    let mut a = a.to_owned();
    for (column, centre) in a.col_iter_mut().zip(centre) {
        column.iter_mut().for_each(|v| *v -= centre);
    }
    a
}

/// `‖x‖² + ‖u‖² − 2xᵀu` has the rounding of its largest term. Where that is more than this many times
/// the rounding of `1 + γ ‖x − u‖²`, the distance is computed anew.
const LOST: f64 = 16.0;
/// Squares below this do not overflow in sums and products.
const SAFE: f64 = 1e150;

/// The squared lengths of points.
pub(super) struct Squares {
    each: Vec<f64>,
    largest: f64,
}

impl Squares {
    /// Those of the rows of a matrix.
    fn of(points: &Mat<f64>) -> Self {
        let mut each = vec![0.0; points.nrows()];
        for column in points.col_iter() {
            each.iter_mut().zip(column.iter()).for_each(|(sum, v)| *sum += v * v);
        }
        let largest = each.iter().fold(0.0, |most: f64, v| most.max(*v));
        Squares { each, largest }
    }

    /// `−γ ‖x − u‖²` of a point with the squared length `own` and each of these, in place of their
    /// `2γ xᵀu`. Where points are so near that digits cancel, the distance is computed by `apart`.
    pub(super) fn exponents(
        &self,
        values: &mut [f64],
        gamma: f64,
        own: f64,
        apart: impl Fn(usize) -> f64,
    ) {
        let pairs = values.iter_mut().zip(&self.each);
        if gamma * (own + self.largest) <= LOST && own + self.largest < SAFE {
            pairs.for_each(|(v, square)| *v = (*v - gamma * (own + square)).min(0.0));
            return;
        }
        for (j, (v, square)) in pairs.enumerate() {
            let sum = own + square;
            let far = *v - gamma * sum;
            let kept = gamma * sum <= LOST * (1.0 - far) && sum < SAFE;
            *v = if kept { far.min(0.0) } else { -gamma * apart(j) };
        }
    }
}

fn laplacian(x: MatRef<'_, f64>, u: MatRef<'_, f64>, gamma: f64) -> Mat<f64> {
    let mut k = Mat::zeros(x.nrows(), u.nrows());
    each_column(&mut k, |j, column| {
        for d in 0..x.ncols() {
            let at = u[(j, d)];
            for (v, x) in column.iter_mut().zip(x.col(d).iter()) {
                *v += (x - at).abs();
            }
        }
        column.iter_mut().for_each(|v| *v *= -gamma);
        exp_all(column);
    });
    k
}

/// Each column with its index, in parallel.
fn each_column(k: &mut Mat<f64>, work: impl Fn(usize, &mut [f64]) + Sync) {
    k.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        if let Some(column) = column.try_as_col_major_mut() {
            work(j, column.as_slice_mut());
        }
    });
}

/// Rows that the median heuristic looks at.
const MEDIAN_ROWS: usize = 1000;

/// The median heuristic: `γ = 1 / (2 median²)` of the distances between rows for the RBF kernel,
/// `1 / median` of their ℓ₁ distances for the Laplacian, `1 / width` for the polynomial. About a
/// thousand rows are used, evenly spaced, so that sorted data does no harm.
pub fn median_gamma(family: Family, sample: MatRef<'_, f64>) -> Result<f64> {
    median_gamma_weighted(family, sample, None)
}

/// The same for rows of these weights: a row of weight 2 counts as two rows, one of 0 as none.
pub fn median_gamma_weighted(
    family: Family,
    sample: MatRef<'_, f64>,
    weights: Option<&[f64]>,
) -> Result<f64> {
    if let Some(weights) = weights.filter(|w| w.len() != sample.nrows()) {
        return Err(Error::shape("weights", weights.len(), sample.nrows()));
    }
    let step = sample.nrows().div_ceil(MEDIAN_ROWS).max(1);
    let rows = sample.nrows().div_ceil(step);
    // Row after row.
    let x = Mat::from_fn(sample.ncols(), rows, |j, i| sample[(i * step, j)]);
    let distance = |i: usize, j: usize| -> f64 {
        let (a, b) = (x.col_as_slice(i), x.col_as_slice(j));
        match family {
            Family::Laplacian => sum_of_pairs(a, b, |a, b| (a - b).abs()),
            Family::Rbf | Family::Polynomial => sum_of_pairs(a, b, |a, b| (a - b) * (a - b)).sqrt(),
        }
    };
    let weight = |i: usize| weights.map_or(1.0, |w| w[i * step]);
    let mut all: Vec<(f64, f64)> = (0..rows)
        .into_par_iter()
        .flat_map_iter(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (distance(i, j), weight(i) * weight(j)))
        .filter(|&(d, w)| d > 0.0 && w > 0.0)
        .collect();
    let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
    let middle = all.len() / 2;
    let median = match weights {
        _ if all.is_empty() => {
            return Err(Error::EqualRows);
        }
        None => all.select_nth_unstable_by(middle, order).1.0,
        Some(_) => {
            all.sort_unstable_by(order);
            let half = 0.5 * all.iter().map(|p| p.1).sum::<f64>();
            let mut below = 0.0;
            let reached = all.iter().find(|p| {
                below += p.1;
                below > half
            });
            reached.map_or(all[middle].0, |p| p.0)
        }
    };
    Ok(match family {
        Family::Rbf => 0.5 / (median * median),
        Family::Laplacian => 1.0 / median,
        Family::Polynomial => 1.0 / sample.ncols().max(1) as f64,
    })
}

/// Sums that run side by side: the next addition need not wait for the one before.
const SUMS: usize = 8;

/// `Σ of(a, b)`.
fn sum_of_pairs(a: &[f64], b: &[f64], of: impl Fn(f64, f64) -> f64) -> f64 {
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    let mut sums = [0.0; SUMS];
    for (a, b) in a.iter().zip(b) {
        for k in 0..SUMS {
            sums[k] += of(a[k], b[k]);
        }
    }
    let last = last_a.iter().zip(last_b).map(|(&a, &b)| of(a, b));
    sums.iter().sum::<f64>() + last.sum::<f64>()
}

/// A family of kernels, before its parameters are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// See [`Kernel::Rbf`].
    Rbf,
    /// See [`Kernel::Laplacian`].
    Laplacian,
    /// See [`Kernel::Polynomial`].
    Polynomial,
}
