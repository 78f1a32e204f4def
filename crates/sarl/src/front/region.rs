//! Everything that encoders can reach, not only the best of them.
//!
//! What an orthonormal `G` explains of both sides is the pair `(tr GᵀAyG, tr GᵀAsG)`. Over at most
//! r directions the greatest `a·tr GᵀAyG + b·tr GᵀAsG` is the sum of the r largest positive
//! eigenvalues of `a Ay + b As`, so the eigenvectors at every angle of (a, b) trace the convex hull
//! of all pairs. The part with a > 0 > b is the front.

use std::f64::consts::TAU;

use faer::Mat;
use rayon::prelude::*;

use super::Front;
use crate::spectral::Losses;
use crate::spectral::linalg::eigh;
use crate::{Result, tolerance};

/// How near to the axes the angle comes: corners of the region lie there.
const ASIDE: f64 = 1e-6;

impl Front<'_> {
    /// The outline of all losses that linear encoders of these features have, in order: about
    /// `count` points of the convex hull. No encoder lies outside.
    pub fn region(&self, count: usize) -> Result<Vec<Losses>> {
        let quarter = count.div_ceil(4).max(1);
        let angles: Vec<f64> = (0..4)
            .flat_map(|side| {
                let (from, width) = (f64::from(side) * TAU / 4.0, TAU / 4.0 - 2.0 * ASIDE);
                (0..=quarter).map(move |i| from + ASIDE + width * i as f64 / quarter as f64)
            })
            .collect();
        angles.into_par_iter().map(|angle| self.extreme(angle)).collect()
    }

    /// The losses of the encoder that goes furthest in one direction.
    fn extreme(&self, angle: f64) -> Result<Losses> {
        let exact = self.reduced.exact();
        let (y, s) = (&exact.target, &exact.sensitive);
        let (sine, cosine) = angle.sin_cos();
        let (a, b) = (cosine / y.total(), sine / s.total());
        let size = exact.size();
        let both = Mat::from_fn(size, size, |i, j| a * y.a[(i, j)] + b * s.a[(i, j)]);
        let (values, vectors) = eigh(both.as_ref())?;
        let least = tolerance::TIE * values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let keep = values.iter().filter(|v| **v > least).count().min(self.cap);
        let g = vectors.as_ref().subcols(size - keep, keep);
        Ok(Losses { jy: y.total() - y.explained(g), js: s.total() - s.explained(g) })
    }
}
