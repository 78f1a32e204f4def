//! INLP: linear classifiers of s, one after the other, and x without the directions they look at.
//!
//! ```text
//! W₁ = classifier of s on x        P₁ = I − B₁B₁ᵀ,         B₁ = orthonormal basis of W₁
//! W₂ = classifier of s on P₁x      P₂ = I − B₁B₁ᵀ − B₂B₂ᵀ  …           z = Pₖ x
//! ```
//!
//! Ravfogel, Elazar, Gonen, Twiton, Goldberg 2020, Null it out: Guarding protected attributes by
//! iterative nullspace projection. The classifier is logistic regression with a small penalty; a
//! class of c values loses up to c − 1 directions in a round, a number the direction of least
//! squares. Several sensitive attributes have a classifier each in every round. A tenth of the rows
//! is kept apart: a classifier that does no better there than the majority guess (of a number: the
//! mean) takes nothing away, and the rounds end when all are like that, or nothing is left.
//!
//! λ is the share of these rounds that is made use of: 0 leaves x as it is, 1 takes them all. The
//! target is not looked at.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_eval::probes::{LogisticEffort, LogisticModel};

use crate::error::{Error, Result};
use crate::leace::Emptied;
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_width, kept_apart};

/// Iterative nullspace projection.
pub struct Inlp;

/// Rounds at most.
const ROUNDS: usize = 60;
/// A classifier of many has no need of the last digits: the next round finds what is left.
const EFFORT: LogisticEffort = LogisticEffort { steps: 50, gradient: 1e-4 };
/// Directions of a classifier that are this much smaller than its largest are rounding.
const SMALL: f64 = 1e-6;

impl Rival for Inlp {
    fn about(&self) -> About {
        About {
            name: "inlp",
            title: "INLP",
            description: "null space of linear classifiers, one after the other (Ravfogel et al. 2020)",
            hiding: Some(1.0),
            is_random: true,
        }
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let rounds = if how.hiding > 0.0 { rounds(data, how)? } else { Vec::new() };
        let taken = (how.hiding * rounds.len() as f64).round() as usize;
        let basis = side_by_side(data.x.ncols(), &rounds[..taken]);
        Ok(Box::new(Projection::new(basis, data.x)?))
    }
}

/// The directions of each round: orthonormal, also to those of the rounds before.
fn rounds(data: &Data<'_>, how: &Fitting<'_>) -> Result<Vec<Mat<f64>>> {
    let (rows, width) = data.x.shape();
    let [order, apart] = kept_apart(rows, &mut ChaCha8Rng::seed_from_u64(how.seed));
    let part = |rows: &[usize]| {
        let labels = data.sensitives.iter().map(|s| s.select(rows)).collect();
        let x = Mat::from_fn(rows.len(), width, |i, j| data.x[(rows[i], j)]);
        (x, labels)
    };
    let (mut seen, mut judged): (Part, Part) = (part(&order), part(&apart));
    let (mut rounds, mut gone) = (Vec::new(), Mat::zeros(width, 0));
    while rounds.len() < ROUNDS && gone.ncols() < width {
        let mut found = Vec::new();
        for (labels, truth) in seen.1.iter().zip(&judged.1) {
            if (how.stop)() {
                return Err(Error::Interrupted);
            }
            found.extend(informed(&seen.0, labels, &judged.0, truth, how)?);
        }
        let basis = directions(&side_by_side(width, &found), &gone)?;
        if basis.ncols() == 0 {
            break;
        }
        for x in [&mut seen.0, &mut judged.0] {
            project(x, basis.as_ref());
        }
        gone = side_by_side(width, &[gone, basis.clone()]);
        rounds.push(basis);
    }
    Ok(rounds)
}

/// Rows and their sensitive attributes.
type Part = (Mat<f64>, Vec<Labels>);

/// The weights of a classifier, if it is better than the guess on rows apart.
pub(crate) fn informed(
    x: &Mat<f64>,
    labels: &Labels,
    apart: &Mat<f64>,
    truth: &Labels,
    how: &Fitting<'_>,
) -> Result<Option<Mat<f64>>> {
    match (labels, truth) {
        (Labels::Classes { .. }, Labels::Classes { codes, count }) => {
            let model = match LogisticModel::fit(x.as_ref(), labels, &EFFORT, how.stop) {
                Err(sarl_eval::Error::Interrupted) => return Err(Error::Interrupted),
                model => model?,
            };
            let scores = model.scores(apart.as_ref());
            let told = |i: usize| {
                (0..*count).fold(0, |b, j| if scores[(i, j)] > scores[(i, b)] { j } else { b })
            };
            let right = codes.iter().enumerate().filter(|&(i, &c)| told(i) == c as usize).count();
            let mut sizes = vec![0; *count];
            codes.iter().for_each(|&c| sizes[c as usize] += 1);
            let better = Some(right) > sizes.iter().max().copied();
            Ok(better.then(|| match count {
                2 => model.weights,
                // Only differences between classes tell anything.
                _ => centred(&model.weights),
            }))
        }
        (Labels::Numbers(values), Labels::Numbers(truth)) => {
            let (weights, mean) = least_squares(x, values)?;
            let told = apart * &weights;
            let left: f64 = truth
                .iter()
                .zip(told.col(0).iter())
                .map(|(t, v)| (t - mean.0 - (v - mean.1)).powi(2))
                .sum();
            let all: f64 = truth.iter().map(|t| (t - mean.0).powi(2)).sum();
            Ok((left < all).then_some(weights))
        }
        _ => Ok(None),
    }
}

/// Each row without its mean.
fn centred(w: &Mat<f64>) -> Mat<f64> {
    let mean = |i: usize| w.row(i).iter().sum::<f64>() / w.ncols() as f64;
    let means: Vec<f64> = (0..w.nrows()).map(mean).collect();
    Mat::from_fn(w.nrows(), w.ncols(), |i, j| w[(i, j)] - means[i])
}

/// The weights of least squares with a small penalty, and the means of the values and of what is
/// told.
fn least_squares(x: &Mat<f64>, values: &[f64]) -> Result<(Mat<f64>, (f64, f64))> {
    let n = x.nrows() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let means: Vec<f64> = x.col_iter().map(|c| c.iter().sum::<f64>() / n).collect();
    let x = Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] - means[j]);
    let values = Mat::from_fn(values.len(), 1, |i, _| values[i] - mean);
    let mut gram = x.transpose() * &x;
    (0..gram.nrows()).for_each(|j| gram[(j, j)] += 1.0);
    let solver = gram.llt(Side::Lower).map_err(|e| failed(&format!("{e:?}")))?;
    let weights = solver.solve(x.transpose() * values);
    let told = means.iter().zip(weights.col(0).iter()).map(|(a, b)| a * b).sum();
    Ok((weights, (mean, told)))
}

/// An orthonormal basis of what these columns have beside those of `gone`.
fn directions(columns: &Mat<f64>, gone: &Mat<f64>) -> Result<Mat<f64>> {
    let mut left = columns.clone();
    // Twice: the first time leaves rounding as large as what it took away.
    for _ in 0..2 {
        left -= gone * (gone.transpose() * &left);
    }
    let svd = left.thin_svd().map_err(|e| failed(&format!("{e:?}")))?;
    let sizes = svd.S().column_vector();
    let largest = sizes.iter().fold(0.0f64, |m, v| m.max(*v));
    let free = columns.nrows() - gone.ncols();
    let rank = sizes.iter().filter(|v| **v > SMALL * largest).count().min(free);
    Ok(svd.U().subcols(0, rank).to_owned())
}

fn side_by_side(rows: usize, parts: &[Mat<f64>]) -> Mat<f64> {
    let mut all = Mat::zeros(rows, parts.iter().map(Mat::ncols).sum());
    let mut from = 0;
    for part in parts {
        all.subcols_mut(from, part.ncols()).copy_from(part);
        from += part.ncols();
    }
    all
}

/// `x − x B Bᵀ`.
pub(crate) fn project(x: &mut Mat<f64>, basis: MatRef<'_, f64>) {
    *x -= (&*x * basis) * basis.transpose();
}

fn failed(reason: &str) -> Error {
    Error::Failed { rival: Inlp.title(), reason: reason.to_owned() }
}

/// x without some orthonormal directions.
pub(crate) struct Projection {
    basis: Mat<f64>,
    emptied: Emptied,
}

impl Projection {
    /// `x` are the training rows.
    pub(crate) fn new(basis: Mat<f64>, x: MatRef<'_, f64>) -> Result<Self> {
        let mut projection = Projection { basis, emptied: Emptied::default() };
        if projection.basis.ncols() > 0 {
            projection.emptied = Emptied::new(x, projection.encode(x)?.as_ref());
        }
        Ok(projection)
    }
}

impl Encode for Projection {
    fn dim(&self) -> usize {
        self.basis.nrows()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.dim())?;
        let mut z = x.to_owned();
        if self.basis.ncols() > 0 {
            project(&mut z, self.basis.as_ref());
            self.emptied.settle(&mut z);
        }
        Ok(z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three classes and a number in six columns.
    fn rows() -> (Mat<f64>, [Labels; 2]) {
        let codes: Vec<u32> = (0..300).map(|i| (i * 7 % 11 % 3) as u32).collect();
        let x = Mat::from_fn(300, 6, |i, j| {
            let noise = ((i * (13 + 8 * j)) % 37) as f64 / 12.0;
            noise + if j == codes[i] as usize { 2.0 } else { 0.0 }
        });
        let number = (0..300).map(|i| x[(i, 4)] - x[(i, 5)] + (i % 5) as f64 / 5.0).collect();
        (x, [Labels::Classes { codes, count: 3 }, Labels::Numbers(number)])
    }

    #[test]
    fn removed_directions_are_orthonormal_and_gone() {
        let (x, s) = rows();
        let data = Data { x: x.as_ref(), categories: &[], targets: &[], sensitives: &s };
        let how = Fitting { hiding: 1.0, seed: 0, stop: &|| false };
        let rounds = rounds(&data, &how).unwrap();
        assert_eq!(rounds[0].ncols(), 3, "two of the classes and one of the number");
        let basis = side_by_side(6, &rounds);
        let off = basis.transpose() * &basis - Mat::<f64>::identity(basis.ncols(), basis.ncols());
        assert!(off.norm_max() < 1e-12);
        let z = Inlp.fit(&data, &how).unwrap().encode(x.as_ref()).unwrap();
        assert_eq!(z.shape(), x.shape());
        assert!((&z * &basis).norm_max() < 1e-12 * x.norm_max() * 6.0);
        let again = Inlp.fit(&data, &how).unwrap().encode(x.as_ref()).unwrap();
        assert_eq!(z, again, "the same seed gives the same z");
    }

    #[test]
    fn without_hiding_nothing_changes() {
        let (x, s) = rows();
        let data = Data { x: x.as_ref(), categories: &[], targets: &[], sensitives: &s };
        let how = Fitting { hiding: 0.0, seed: 0, stop: &|| false };
        assert_eq!(Inlp.fit(&data, &how).unwrap().encode(x.as_ref()).unwrap(), x);
    }
}
