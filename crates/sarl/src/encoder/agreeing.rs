//! Whether the figures in the file of a partial erasure are those of its matrices.
//!
//! In the space of its directions `u`, with `Cov(u) = I`, what goes is `e = Eᵀu`, and
//!
//! ```text
//! E = Cov(u, x) found        leakage = ‖(I − EEᵀ) Cov(u, s)‖² / Var(s)
//! ```
//!
//! All of these are in the file. That of a full erasure has no space: its leakage stands there as the
//! fit has found it.

use faer::Mat;

use super::erasing::Erasing;
use super::erasure::complement;
use crate::Result;
use crate::container::Reader;
use crate::front::Front;
use crate::spectral::Reduced;

/// Stored figures may differ from recomputed ones by this much.
const AGREE: f64 = 1e-6;

/// Roundings that a product may have, beyond that.
const ROUNDINGS: f64 = 64.0;

impl Erasing {
    /// Whether its leakage can be recomputed from its file, so that reading has checked it.
    pub fn is_checked(&self) -> bool {
        self.space.is_some()
    }

    /// Refuses an erasure whose figures are not those of its matrices.
    pub(super) fn checked(self, reader: &Reader<'_>) -> Result<Self> {
        let Some(space) = &self.space else { return Ok(self) };
        let erased = self.directions_in(space);
        let erased = erased.ok_or_else(|| reader.problem("its directions are not in its space"))?;
        let front = Front::new(space, None)?;
        let kept = complement(erased.as_ref());
        let (stored, found) = (&self.about.point, front.point_of(self.about.point.lambda, &kept));
        let near = |a: f64, b: f64| (a - b).abs() <= AGREE * (1.0 + b.abs());
        let attributes = front.attributes(&self.about.goal, &kept);
        let each = self.about.attributes.as_ref().is_none_or(|stored| {
            let both = stored.sensitive.iter().zip(&attributes.sensitive);
            let same = stored.sensitive.len() == attributes.sensitive.len();
            same && both.into_iter().all(|(a, b)| a.name == b.name && near(a.share, b.share))
        });
        let same = near(stored.leakage, found.leakage) && near(stored.utility, found.utility);
        reader.require(same && each, "its leakage is not that of its matrices")?;
        Ok(self)
    }

    /// What goes, in coordinates of a space that it was chosen from: orthonormal columns.
    fn directions_in(&self, space: &Reduced) -> Option<Mat<f64>> {
        let (taken, _) = space.inputs.as_ref()?;
        let found = &self.erasure.found;
        let erased = taken * found;
        let count = erased.ncols();
        let rounding = ROUNDINGS * f64::EPSILON * taken.norm_l2() * found.norm_l2();
        let off = erased.transpose() * &erased - Mat::<f64>::identity(count, count);
        (count <= erased.nrows() && off.norm_max() <= AGREE + rounding).then_some(erased)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;
    use crate::{Block, FeatureMap, Goal, Layout, MomentsOptions, Role};

    fn partial(leakage: f64) -> Erasing {
        let x = Mat::from_fn(90, 6, |i, j| ((i * (j + 5) + j * j) % 13) as f64 / (j + 1) as f64);
        let s: Vec<u32> = (0..90).map(|i| u32::from(x[(i, 1)] + x[(i, 2)] > 5.0)).collect();
        let layout = Layout::dense(6).keep_features().class("s", Role::Sensitive, 2);
        let map = FeatureMap::linear(6);
        let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
        map.push(&mut moments, &Block::new(x.as_ref()).class(&s)).unwrap();
        let covariances = moments.covariances().unwrap();
        Erasing::partial(&map, &layout, &covariances, Goal::Leakage(leakage), false).unwrap()
    }

    #[test]
    fn figures_that_are_not_those_of_the_matrices_are_refused() {
        let erasing = partial(0.1);
        let refused = |other: &Erasing, why: &str| {
            let error = Erasing::from_bytes(&other.to_bytes().unwrap()).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        };
        assert!(Erasing::from_bytes(&erasing.to_bytes().unwrap()).unwrap().is_checked());
        let mut other = erasing.clone();
        other.about.point.leakage = 0.01;
        refused(&other, "its leakage is not that of its matrices");
        let mut other = erasing.clone();
        other.about.attributes.as_mut().unwrap().sensitive[0].share = 0.01;
        refused(&other, "its leakage is not that of its matrices");
        // Another direction takes off as much, and hides something else.
        let mut other = erasing.clone();
        let first = other.erasure.found[(0, 0)];
        other.erasure.found[(0, 0)] = first + 1.0;
        refused(&other, "its directions are not in its space");
        let mut other = erasing;
        other.erasure.found *= faer::Scale(-1.0);
        other.erasure.taken *= faer::Scale(-1.0);
        assert!(Erasing::from_bytes(&other.to_bytes().unwrap()).is_ok(), "a sign is nothing");
    }
}
