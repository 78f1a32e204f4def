//! Normal distributions, as encoders tell them.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl_nets::{Matrix, Tape, Var};

/// A normal distribution for each row, its dimensions independent.
pub(super) struct Normal<'t> {
    pub mean: Var<'t>,
    /// The logarithm of the variance.
    log: Var<'t>,
}

impl<'t> Normal<'t> {
    pub(super) fn new(told: Var<'t>, dim: usize) -> Self {
        Normal { mean: told.columns(0..dim), log: told.columns(dim..2 * dim).clamp(-8.0, 8.0) }
    }

    pub(super) fn sample(&self, rng: &mut ChaCha8Rng, tape: &'t Tape) -> Var<'t> {
        let (rows, dim) = self.mean.shape();
        let noise = tape.constant(normal(rows, dim, rng));
        self.mean + (self.log * 0.5).exp() * noise
    }

    /// The mean over rows of the divergence from another distribution; from the standard normal
    /// without one.
    pub(super) fn divergence(&self, other: Option<&Normal<'t>>) -> Var<'t> {
        let rows = self.mean.shape().0 as f32;
        let terms = match other {
            Some(other) => {
                let squares = self.log.exp() + (self.mean - other.mean).square();
                other.log - self.log + squares * (-other.log).exp()
            }
            None => self.log.exp() + self.mean.square() - self.log,
        };
        (terms + -1.0).total() * (0.5 / rows)
    }
}

/// Draws of the standard normal.
pub(super) fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Matrix {
    Matrix::new(rows, columns, StandardNormal.sample_iter(rng).take(rows * columns).collect())
}
