//! The directions that a problem is about: those that the labels see, and some to spare.

use faer::{Mat, MatRef};

use super::attribute::Side;
use super::linalg::{beside, cholesky, solve_lower, span};
use super::problem::{Problem, correlations};
use super::spread::{Spread, White};
use super::whiten::Whitening;
use crate::moments::{Covariances, InputCovariances, LabelCovariances};
use crate::{Error, Result, tolerance};

/// How far `Cov(u)` may be from the identity.
const UNIT: f64 = 1e-12;

/// The problem in the span of what correlates with a label, and that span's basis.
pub(super) fn project(c: &Covariances, whitening: &dyn White) -> Result<(Problem, Mat<f64>)> {
    let both = beside(c.target.cross.as_ref(), c.sensitive.cross.as_ref());
    let white = whitening.whiten(both.as_ref())?;
    let (wy, ws) = white.as_ref().split_at_col(c.target.cross.ncols());
    let scaled = beside(
        correlations(ws, &c.sensitive.variance).as_ref(),
        correlations(wy, &c.target.variance).as_ref(),
    );
    let (q, rank) = span(scaled.as_ref(), tolerance::SPAN, false);
    let q = q.subcols(0, rank).to_owned();
    let side = |w: MatRef<'_, f64>, part: &LabelCovariances| Side::new(q.transpose() * w, part);
    let problem = Problem::new(side(wy, &c.target), side(ws, &c.sensitive))?;
    Ok((problem, q))
}

/// The problem that the directions of a basis really have, and the basis with `Cov(u) = I`: what
/// rounding left of both is measured, not assumed. `size` directions are known to the labels; a
/// further one is kept where it is as unknown to them as it was meant to be.
pub(super) fn settled(
    spread: &dyn Spread,
    mut basis: Mat<f64>,
    size: usize,
) -> Result<(Problem, Mat<f64>)> {
    let c = spread.known();
    for _ in 0..2 {
        let h = spread.congruence(basis.as_ref())?;
        let off = (&h - Mat::<f64>::identity(h.nrows(), h.ncols())).norm_max();
        if off <= UNIT {
            break;
        }
        let factor = cholesky(h.as_ref()).map_err(|_| Error::Unstable)?;
        solve_lower(factor.as_ref(), basis.as_mut().transpose_mut());
    }
    let cross = |part: &LabelCovariances| basis.transpose() * &part.cross;
    let (target, sensitive) = (cross(&c.target), cross(&c.sensitive));
    let beyond = |cross: &Mat<f64>, part: &LabelCovariances| {
        let rest = cross.as_ref().subrows(size, cross.nrows() - size);
        correlations(rest, &part.variance).norm_max()
    };
    let known = beyond(&target, &c.target).max(beyond(&sensitive, &c.sensitive));
    let kept = if known <= tolerance::SPAN { basis.ncols() } else { size };
    let half = |cross: &Mat<f64>, part: &LabelCovariances| {
        Side::new(cross.as_ref().subrows(0, size).to_owned(), part)
    };
    let problem = Problem::new(half(&target, &c.target), half(&sensitive, &c.sensitive))?;
    Ok((problem, basis.subcols(0, kept).to_owned()))
}

/// Directions of the whitened space as weights of the features, the least of those that encode the
/// rows alike.
pub(crate) fn weights_of(
    c: &Covariances,
    whitening: &Whitening,
    directions: MatRef<'_, f64>,
) -> Mat<f64> {
    let weights = whitening.unwhiten(directions);
    match c.inputs {
        // With fewer rows than features many weights do. Where sizes are far apart the least ones
        // would be those of the largest features only.
        InputCovariances::Features
            if c.rows > c.features.nrows() as u64 || of_many_sizes(c.deviations()) =>
        {
            weights
        }
        _ => whitening.least(c.features.as_ref(), weights),
    }
}

/// Standard deviations further apart than this lose digits in products over all features.
const APART: f64 = 1e4;

/// Whether features are of very different sizes.
pub(crate) fn of_many_sizes(deviations: impl Iterator<Item = f64> + Clone) -> bool {
    let varying = deviations.filter(|sd| *sd > 0.0);
    let largest = varying.clone().fold(0.0, f64::max);
    varying.fold(f64::INFINITY, f64::min) * APART < largest
}

/// How many directions beyond those that the labels see can be of use: at a corner of the problem
/// with m limits and a cap, f fractional directions with f(f+1)/2 ≤ m + 1 each need one.
pub(crate) fn spare_directions(problem: &Problem) -> usize {
    let labels = problem.target.attributes.len().max(problem.sensitive.attributes.len());
    (1..=labels + 1).take_while(|f| f * (f + 1) / 2 <= labels + 1).count()
}

/// `q` with up to `count` further orthonormal columns, as far as there are any.
pub(super) fn with_spare(mut q: Mat<f64>, count: usize) -> Mat<f64> {
    for _ in 0..count {
        match spare_direction(q.as_ref()) {
            Some(w) => q = beside(q.as_ref(), w.as_ref()),
            None => break,
        }
    }
    q
}

/// A unit vector orthogonal to the columns of `q`, if they leave one: the axis that they cover
/// least, made orthogonal twice.
fn spare_direction(q: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let (k, t) = q.shape();
    if t >= k {
        return None;
    }
    let covered = |i: usize| q.row(i).squared_norm_l2();
    let axis = (0..k).min_by(|&a, &b| covered(a).total_cmp(&covered(b)))?;
    let mut w = Mat::from_fn(k, 1, |i, _| if i == axis { 1.0 } else { 0.0 });
    for _ in 0..2 {
        let inside = q * (q.transpose() * &w);
        w -= inside;
        let norm = w.norm_l2();
        w *= faer::Scale(1.0 / norm);
    }
    Some(w)
}
