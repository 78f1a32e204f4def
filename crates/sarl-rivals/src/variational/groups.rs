//! The groups of what is to be hidden, and how far apart they are.

use std::f32::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_nets::{Matrix, Tape, Var};

use super::normal::normal;

/// Random features of the kernel.
const FEATURES: usize = 500;

/// The groups of every attribute, each a class.
pub(super) struct Groups {
    attributes: Vec<(Vec<u32>, usize)>,
}

impl Groups {
    pub(super) fn new(sensitives: &[Labels]) -> Self {
        let classes = |s: &Labels| match s {
            Labels::Classes { codes, count } => Some((codes.clone(), *count)),
            Labels::Numbers(_) => None,
        };
        Groups { attributes: sensitives.iter().filter_map(classes).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    /// The squared distance of the mean random features of each group from those of all others,
    /// the mean over groups by their share of the rows, summed over attributes.
    pub(super) fn discrepancy<'t>(
        &self,
        z: Var<'t>,
        rows: &[usize],
        rng: &mut ChaCha8Rng,
        tape: &'t Tape,
    ) -> Var<'t> {
        let dim = z.shape().1;
        let contrasts = self.contrasts(rows);
        if contrasts.is_empty() {
            return tape.constant(Matrix::row(vec![0.0]));
        }
        let contrasts =
            tape.constant(Matrix::new(contrasts.len() / rows.len(), rows.len(), contrasts));
        let (_, variance) = z.value().moments();
        let over = variance.iter().map(|v| 1.0 / (v + 1e-8).sqrt()).collect();
        let over = tape.constant(Matrix::row(over));
        let weights = tape.constant(normal(dim, FEATURES, rng)) * (2.0 / dim as f32).sqrt();
        let phases = (0..FEATURES).map(|_| rng.random_range(0.0..TAU)).collect();
        let phases = tape.constant(Matrix::row(phases));
        let features = ((z * over).product(weights) + phases).cos();
        contrasts.product(features).square().total() * (2.0 / FEATURES as f32)
    }

    /// For each group present among these rows a row of weights: the mean of the group less the
    /// mean of the others, times the root of the share of the group. Of two groups one row says it
    /// all.
    fn contrasts(&self, rows: &[usize]) -> Vec<f32> {
        let mut all = Vec::new();
        for (codes, count) in &self.attributes {
            let two = *count == 2;
            for group in 0..if two { 1 } else { *count as u32 } {
                let inside = rows.iter().filter(|&&i| codes[i] == group).count();
                let outside = rows.len() - inside;
                if inside == 0 || outside == 0 {
                    continue;
                }
                let share = if two { 1.0 } else { inside as f32 / rows.len() as f32 };
                let (inside, outside) =
                    (share.sqrt() / inside as f32, -share.sqrt() / outside as f32);
                all.extend(rows.iter().map(|&i| if codes[i] == group { inside } else { outside }));
            }
        }
        all
    }
}
