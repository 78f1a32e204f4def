//! R-LACE: the projection on which the best linear classifier of s does worst.
//!
//! ```text
//! max over Q   min over Θ   E loss(s, Θᵀ (I − Q) x)        0 ≼ Q ≼ I,  tr Q = r
//! ```
//!
//! Ravfogel, Twiton, Goldberg, Cotterell 2022, Linear adversarial concept erasure. Projections of rank
//! r are relaxed to their convex hull, the Fantope. Steps on Θ and on Q alternate, and Q is brought
//! back to the Fantope by its eigenvalues: `λ ↦ clip(λ − θ, 0, 1)` with the θ at which they add up
//! to r. z is x without the r leading eigenvectors of Q.
//!
//! r is one less than the classes of an attribute, 1 for a number, summed over the attributes: what a
//! linear adversary can use. The loss is logistic, or the squares of a number of variance 1. The
//! paper takes batches and fixed rates; here all rows make each step, five on Θ (with momentum) for
//! one of shrinking length on Q, and Q is averaged over fifty steps before a trial. It starts from a
//! random projection. After every hundred steps a classifier is trained on z: from the third trial on
//! the search ends where, on a tenth of the rows that are kept apart, it does no better than the
//! majority guess (of a number: the mean); it ends after a thousand steps. The target is not looked at, and there is no weight of
//! hiding.

use faer::{Mat, MatRef, Side};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl_eval::Labels;

use crate::error::{Error, Result};
use crate::heads::standard;
use crate::inlp::{Projection, informed, project};
use crate::rival::{About, Data, Encode, Fitting, Rival, check, kept_apart};

/// Relaxed linear adversarial concept erasure.
pub struct Rlace;

/// Steps on Q at most, and between two trials.
const STEPS: usize = 1000;
const TRIAL: usize = 100;
/// Trials before the search may end: a first one can look well by chance.
const EARLY: usize = 2;
/// Steps on the classifiers for each step on Q.
const INNER: usize = 5;
/// The length of the first step on Q, and the momentum of the classifiers.
const STEP: f64 = 3.0;
const MOMENTUM: f64 = 0.9;

impl Rival for Rlace {
    fn about(&self) -> About {
        About {
            name: "rlace",
            title: "R-LACE",
            description: "the projection on which the best linear classifier does worst (Ravfogel et al. 2022)",
            hiding: None,
            is_random: true,
        }
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let basis = directions(data, how)?;
        Ok(Box::new(Projection::new(basis, data.x)?))
    }
}

/// The directions that go.
fn directions(data: &Data<'_>, how: &Fitting<'_>) -> Result<Mat<f64>> {
    let (rows, width) = data.x.shape();
    let mut rng = ChaCha8Rng::seed_from_u64(how.seed);
    let [order, apart] = kept_apart(rows, &mut rng);
    let part = |rows: &[usize]| {
        let labels: Vec<Labels> = data.sensitives.iter().map(|s| s.select(rows)).collect();
        (Mat::from_fn(rows.len(), width, |i, j| data.x[(rows[i], j)]), labels)
    };
    let (seen, judged) = (part(&order), part(&apart));
    let heads: Vec<Head> = seen.1.iter().map(Head::new).collect();
    let rank = heads.iter().map(|h| h.directions).sum::<usize>().min(width);
    if rank == width {
        return Ok(Mat::identity(width, width));
    }
    let noise = Mat::from_fn(width, width, |_, _| StandardNormal.sample(&mut rng));
    let mut game = Game::new(&seen.0, &heads, noise.as_ref(), rank)?;
    let mut basis = Mat::zeros(width, 0);
    for trial in 0..STEPS / TRIAL {
        let mut sum = Mat::zeros(width, width);
        for step in trial * TRIAL..(trial + 1) * TRIAL {
            if (how.stop)() {
                return Err(Error::Interrupted);
            }
            game.step(step)?;
            if step % TRIAL >= TRIAL / 2 {
                sum += &game.q;
            }
        }
        basis = leading(&sum, rank)?;
        if trial < EARLY {
            continue;
        }
        let without = |x: &Mat<f64>| {
            let mut z = x.clone();
            project(&mut z, basis.as_ref());
            z
        };
        let (z, z_apart) = (without(&seen.0), without(&judged.0));
        let mut found = false;
        for (labels, truth) in seen.1.iter().zip(&judged.1) {
            found |= informed(&z, labels, &z_apart, truth, how)?.is_some();
        }
        if !found {
            break;
        }
    }
    Ok(basis)
}

/// An attribute as the columns that a classifier gives scores to.
struct Head {
    /// Rows × classes, or one column of variance 1.
    truth: Mat<f64>,
    is_class: bool,
    /// How many directions tell it.
    directions: usize,
}

impl Head {
    fn new(labels: &Labels) -> Self {
        match labels {
            Labels::Classes { codes, count } => {
                let is = |i: usize, j: usize| if codes[i] as usize == j { 1.0 } else { 0.0 };
                let truth = Mat::from_fn(codes.len(), *count, is);
                Head { truth, is_class: true, directions: count.saturating_sub(1).max(1) }
            }
            Labels::Numbers(values) => {
                let values = standard(values);
                let truth = Mat::from_fn(values.len(), 1, |i, _| values[i]);
                Head { truth, is_class: false, directions: 1 }
            }
        }
    }
}

/// The classifiers and the relaxed projection.
struct Game<'a> {
    x: &'a Mat<f64>,
    heads: &'a [Head],
    rank: usize,
    rate: f64,
    /// Features × columns of all heads, what the last step added, and intercepts.
    theta: Mat<f64>,
    speed: Mat<f64>,
    intercepts: Vec<f64>,
    q: Mat<f64>,
}

impl<'a> Game<'a> {
    fn new(
        x: &'a Mat<f64>,
        heads: &'a [Head],
        noise: MatRef<'_, f64>,
        rank: usize,
    ) -> Result<Self> {
        let columns = heads.iter().map(|h| h.truth.ncols()).sum();
        let second = x.transpose() * x * faer::Scale(1.0 / x.nrows() as f64);
        let (values, _) = eigen(&second)?;
        // An intercept counts as a feature that is 1.
        let rate = 1.0 / (1.0 + values.last().copied().unwrap_or(0.0));
        if !rate.is_finite() || rate <= 0.0 {
            return Err(Error::Diverged { rival: Rlace.title(), step: 0 });
        }
        let zeros = || Mat::zeros(x.ncols(), columns);
        let q = fantope(&(noise + noise.transpose()), rank)?;
        let intercepts = vec![0.0; columns];
        Ok(Game { x, heads, rank, rate, theta: zeros(), speed: zeros(), intercepts, q })
    }

    /// `(I − Q) a`.
    fn left(&self, a: &Mat<f64>) -> Mat<f64> {
        a - &self.q * a
    }

    /// What the scores of all rows are off by, divided by the number of rows.
    fn errors(&self) -> Mat<f64> {
        let mut scores = self.x * self.left(&self.theta);
        let (rows, mut at) = (scores.nrows(), 0);
        for head in self.heads {
            let width = head.truth.ncols();
            for i in 0..rows {
                let mut row: Vec<f64> =
                    (at..at + width).map(|j| scores[(i, j)] + self.intercepts[j]).collect();
                if head.is_class {
                    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.iter_mut().for_each(|v| *v = (*v - largest).exp());
                    let total: f64 = row.iter().sum();
                    row.iter_mut().for_each(|v| *v /= total);
                }
                for (j, v) in row.into_iter().enumerate() {
                    scores[(i, at + j)] = (v - head.truth[(i, j)]) / rows as f64;
                }
            }
            at += width;
        }
        scores
    }

    /// Some steps of the classifiers, and one of the projection against them.
    fn step(&mut self, step: usize) -> Result<()> {
        let diverged = Error::Diverged { rival: Rlace.title(), step };
        for _ in 0..INNER {
            let errors = self.errors();
            let gradient = self.left(&(self.x.transpose() * &errors));
            self.speed = &self.speed * faer::Scale(MOMENTUM) - gradient * faer::Scale(self.rate);
            self.theta += &self.speed;
            for (j, intercept) in self.intercepts.iter_mut().enumerate() {
                *intercept -= self.rate * errors.col(j).iter().sum::<f64>();
            }
        }
        let slope = self.x.transpose() * self.errors() * self.theta.transpose();
        let slope = &slope + slope.transpose();
        let size = slope.norm_l2();
        if !size.is_finite() {
            return Err(diverged);
        }
        if size > 0.0 {
            // The loss grows along `slope` of I − Q.
            let length = STEP / ((step + 1) as f64).sqrt() / size;
            self.q = fantope(&(&self.q - slope * faer::Scale(length)), self.rank)?;
        }
        Ok(())
    }
}

fn eigen(a: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let failed = |e| Error::Failed { rival: Rlace.title(), reason: format!("{e:?}") };
    let found = a.self_adjoint_eigen(Side::Lower).map_err(failed)?;
    Ok((found.S().column_vector().iter().copied().collect(), found.U().to_owned()))
}

/// The nearest matrix with eigenvalues between 0 and 1 that add up to `rank`.
fn fantope(a: &Mat<f64>, rank: usize) -> Result<Mat<f64>> {
    let (values, vectors) = eigen(a)?;
    let clipped = |theta: f64| values.iter().map(move |v| (v - theta).clamp(0.0, 1.0));
    let (mut low, mut high) = (values[0] - 1.0, values.last().copied().unwrap_or(0.0));
    // The sum falls from all to none between the two.
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match clipped(middle).sum::<f64>() > rank as f64 {
            true => low = middle,
            false => high = middle,
        }
    }
    let kept: Vec<f64> = clipped(0.5 * (low + high)).collect();
    let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| vectors[(i, j)] * kept[j]);
    Ok(scaled * vectors.transpose())
}

/// The eigenvectors of the largest eigenvalues.
fn leading(a: &Mat<f64>, rank: usize) -> Result<Mat<f64>> {
    let (_, vectors) = eigen(a)?;
    Ok(vectors.subcols(vectors.ncols() - rank, rank).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fantope_is_met_and_a_projection_stays() {
        let a = Mat::from_fn(5, 5, |i, j| ((i * j + i + j) % 7) as f64 - 3.0);
        let q = fantope(&(&a + a.transpose()), 2).unwrap();
        let (values, _) = eigen(&q).unwrap();
        assert!(values.iter().all(|v| (-1e-12..=1.0 + 1e-12).contains(v)));
        assert!((values.iter().sum::<f64>() - 2.0).abs() < 1e-9);
        let basis = leading(&q, 2).unwrap();
        let projection = &basis * basis.transpose();
        assert!((fantope(&projection, 2).unwrap() - &projection).norm_max() < 1e-9);
    }

    /// The class is told by one direction: that one goes.
    #[test]
    fn the_direction_of_the_class_goes() {
        let codes: Vec<u32> = (0..600).map(|i| u32::from(i * 7 % 11 < 5)).collect();
        let x = Mat::from_fn(600, 3, |i, j| {
            let noise = ((i * (13 + 8 * j)) % 37) as f64 / 12.0 - 1.5;
            noise + if j == 1 { 2.0 * f64::from(codes[i]) } else { 0.0 }
        });
        let s = [Labels::Classes { codes, count: 2 }];
        let data = Data { x: x.as_ref(), categories: &[], targets: &[], sensitives: &s };
        let how = Fitting { hiding: 1.0, seed: 0, stop: &|| false };
        let basis = directions(&data, &how).unwrap();
        assert!(basis.ncols() == 1 && basis[(1, 0)].abs() > 0.99, "{basis:?}");
    }
}
