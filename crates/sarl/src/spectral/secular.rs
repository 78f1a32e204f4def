//! The directions that go at any λ, from one decomposition for all of them.
//!
//! With the features as the target, few eigenvalues of `B(λ) = s Ks Ksᵀ − y Ay` are positive: no more than `Ks`
//! has rank. Let `Ay = Q D Qᵀ` and `w = QᵀKs`. A positive eigenvalue β and its vector are
//!
//! ```text
//! e = Q (yD + β)⁻¹ w a        Φ(β) a = a        Φ(β) = s wᵀ (yD + β)⁻¹ w
//! ```
//!
//! The eigenvalues of Φ fall with β, so that each of them passes 1 at most once. Φ is of the size of the labels.

use faer::Mat;

use super::linalg::{eigh, orthonormal};
use super::problem::Problem;
use crate::{Error, Result, tolerance};

/// The most times that an eigenvalue is made more exact.
const STEPS: usize = 100;
/// When it is exact.
const EXACT: f64 = 4.0 * f64::EPSILON;

/// See the module.
pub(crate) struct Secular<'a> {
    problem: &'a Problem,
    /// D, and Q beside it.
    values: Vec<f64>,
    vectors: Mat<f64>,
    /// w, with as many columns as there are directions that the labels know.
    known: Mat<f64>,
}

impl<'a> Secular<'a> {
    pub(crate) fn new(problem: &'a Problem) -> Result<Self> {
        let (values, vectors) = eigh(problem.target.a.as_ref())?;
        let failed = |_| Error::NoConvergence { what: "singular value decomposition" };
        let rank = problem.sensitive.rank;
        let known = match rank {
            0 => Mat::zeros(values.len(), 0),
            _ => {
                let svd = problem.sensitive.cross.thin_svd().map_err(failed)?;
                let (u, s) = (svd.U(), svd.S());
                let known = Mat::from_fn(values.len(), rank, |i, j| u[(i, j)] * s[j]);
                vectors.transpose() * known
            }
        };
        Ok(Secular { problem, values, vectors, known })
    }

    /// An orthonormal basis of what goes at a weight of the adversary, the ends as limits.
    pub(crate) fn removed(&self, weight: f64) -> Result<Mat<f64>> {
        if weight <= tolerance::LIMIT {
            return Ok(Mat::zeros(self.values.len(), 0));
        }
        if weight >= 1.0 - tolerance::LIMIT {
            return Ok(self.problem.sensitive.range().to_owned());
        }
        let (_, vectors) = self.positive(weight)?;
        Ok(orthonormal(&self.vectors * vectors))
    }

    /// The positive eigenvalues of `B`, the largest first, and their vectors in the basis `Q`, of any length.
    pub(crate) fn positive(&self, weight: f64) -> Result<(Vec<f64>, Mat<f64>)> {
        let y = (1.0 - weight) / self.problem.target.total();
        let s = weight / self.problem.sensitive.total();
        let (mut found, mut columns) = (Vec::new(), Vec::new());
        for place in 0..self.known.ncols() {
            let Some((beta, a)) = self.eigenvalue(place, y, s)? else { break };
            found.push(beta);
            columns.push(self.vector(beta, y, &a));
        }
        let size = self.values.len();
        Ok((found, Mat::from_fn(size, columns.len(), |i, j| columns[j][i])))
    }

    /// `(yD + β)⁻¹ w a`, of length 1.
    fn vector(&self, beta: f64, y: f64, a: &[f64]) -> Vec<f64> {
        let value = |i: usize| -> f64 {
            let inner: f64 = a.iter().enumerate().map(|(k, a)| self.known[(i, k)] * a).sum();
            inner / (y * self.values[i].max(0.0) + beta)
        };
        let vector: Vec<f64> = (0..self.values.len()).map(value).collect();
        let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        vector.into_iter().map(|v| v / length).collect()
    }

    /// β at which the eigenvalue of Φ in this place, from the largest, is 1, and its vector.
    fn eigenvalue(&self, place: usize, y: f64, s: f64) -> Result<Option<(f64, Vec<f64>)>> {
        let mut high = s * self.known.squared_norm_l2();
        // What is less is rounding.
        let mut low = f64::EPSILON * high;
        let mut beta = low;
        for step in 0..STEPS {
            let (value, slope, a) = self.phi(beta, place, y, s)?;
            if step == 0 && value <= 1.0 {
                return Ok(None);
            }
            if value > 1.0 {
                low = beta
            } else {
                high = beta
            }
            // Newton's step for 1/φ − 1, which is concave where the labels know one direction.
            let next = beta + value * (1.0 - value) / slope;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            let exact = (next - beta).abs() <= EXACT * next || high - low <= EXACT * high;
            if exact {
                return Ok(Some((beta, a)));
            }
            beta = next;
        }
        let (_, _, a) = self.phi(beta, place, y, s)?;
        Ok(Some((beta, a)))
    }

    /// An eigenvalue of Φ(β), its slope, and its vector.
    fn phi(&self, beta: f64, place: usize, y: f64, s: f64) -> Result<(f64, f64, Vec<f64>)> {
        let (size, count) = self.known.shape();
        let held = |i: usize| y * self.values[i].max(0.0) + beta;
        let phi = |k: usize, l: usize| -> f64 {
            (0..size).map(|i| s * self.known[(i, k)] * self.known[(i, l)] / held(i)).sum()
        };
        let (value, a) = match count {
            1 => (phi(0, 0), vec![1.0]),
            _ => {
                let (values, vectors) = eigh(Mat::from_fn(count, count, phi).as_ref())?;
                let at = count - 1 - place;
                (values[at], vectors.col(at).iter().copied().collect())
            }
        };
        let along = |i: usize| -> f64 {
            a.iter().enumerate().map(|(k, a)| self.known[(i, k)] * a).sum::<f64>() / held(i)
        };
        let slope = -s * (0..size).map(|i| along(i) * along(i)).sum::<f64>();
        Ok((value, slope, a))
    }
}

#[cfg(test)]
mod tests {
    use super::super::attribute::{Attribute, Side};
    use super::super::problem::Half;
    use super::*;
    use crate::moments::{LabelColumns, LabelCovariances};

    fn problem(size: usize, columns: usize, rank: usize, seed: f64) -> Problem {
        let wave = |i: usize, j: usize| ((i * 7 + j * 13) as f64 * 0.37 + seed).sin();
        let cross = Mat::from_fn(size, size, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 0.3 + wave(i, i).abs(),
            std::cmp::Ordering::Greater => 0.2 * wave(i, j),
        });
        let variance = cross.squared_norm_l2() * 1.5;
        let features = Attribute { name: "x".into(), columns: 0..size, scale: 1.0, variance };
        let left = Mat::from_fn(size, rank, |i, j| wave(i + 3, j) / size as f64);
        let known = left * Mat::from_fn(rank, columns, |i, j| wave(i, j + 5));
        let labels = vec![LabelColumns { name: "s".into(), width: columns }];
        let (mean, variance) = (vec![0.0; columns], vec![0.25; columns]);
        let part = LabelCovariances { cross: known.clone(), mean, variance, labels };
        Problem::of_features(Half::of_features(cross, features), Side::new(known, &part))
    }

    #[test]
    fn what_goes_is_what_the_eigenvectors_of_all_of_it_leave() {
        for (size, columns, rank) in [(6, 2, 1), (9, 4, 3), (20, 5, 4), (3, 3, 3)] {
            let problem = problem(size, columns, rank, size as f64);
            let secular = Secular::new(&problem).unwrap();
            for step in 0..=40 {
                let weight = f64::from(step) / 40.0;
                let kept = problem.subspace(weight, usize::MAX).unwrap();
                let gone = secular.removed(weight).unwrap();
                assert_eq!(kept.ncols() + gone.ncols(), size, "{size} {weight}");
                let (a, b) = (&kept * kept.transpose(), &gone * gone.transpose());
                let off = (a + b - Mat::<f64>::identity(size, size)).norm_max();
                assert!(off < 1e-10, "{size} {weight}: {off}");
            }
        }
    }

    #[test]
    fn its_eigenvalues_are_the_positive_ones() {
        let problem = problem(12, 4, 3, 0.5);
        let secular = Secular::new(&problem).unwrap();
        for weight in [0.05, 0.3, 0.6, 0.9, 0.99, 0.9999] {
            let (values, _) = eigh(problem.b(weight).as_ref()).unwrap();
            let expected: Vec<f64> = values.into_iter().rev().take_while(|v| *v > 0.0).collect();
            let (found, _) = secular.positive(weight).unwrap();
            assert_eq!(found.len(), expected.len(), "{weight}");
            for (a, b) in found.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-13 * problem.spread(weight), "{weight}: {a} {b}");
            }
        }
    }
}
