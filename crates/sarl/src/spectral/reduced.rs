//! From covariances to a problem of size t ≤ p + q that no longer knows n or m.
//!
//! ```text
//! Q = orthonormal basis of the columns of [WᵀCs WᵀCy]      k×t
//! z = Gᵀ u,   u = Qᵀ Wᵀ (φ(x) − mean φ)                    G orthonormal, t×r
//! ```
//!
//! Without a ridge `Cov(u) = I`, so `Cov(z) = I` and the losses are the paper's. With a ridge the
//! encoder is chosen by the penalised problem, but losses, bounds and certificates are always
//! those of unregularised predictors and adversaries: `Cov(u) = H = L Lᵀ` turns `G` into an
//! orthonormal basis of `Lᵀ G` against `L⁻¹ Ky`, `L⁻¹ Ks`.

use faer::prelude::SolveLstsq;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::linalg::{beside, cholesky, congruence, solve_lower, span};
use super::problem::{Problem, correlations};
use super::whiten::Whitening;
use crate::moments::{Covariances, InputCovariances, LabelCovariances};
use crate::{Error, Result, tolerance};

/// Losses of the best linear predictor of the target and of the best linear adversary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// Mean squared error on the target, summed over its columns.
    pub jy: f64,
    /// Mean squared error on the sensitive attribute, summed over its columns.
    pub js: f64,
}

/// The problem with a ridge, in its own coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Ridged {
    /// The unpenalised problem over the whole feature space: bounds and certificates.
    pub(crate) exact: Problem,
    /// `L` with `L Lᵀ = Cov(u)`.
    pub(crate) factor: Mat<f64>,
    /// `L⁻¹ Ky` and `L⁻¹ Ks`.
    pub(crate) target: Mat<f64>,
    pub(crate) sensitive: Mat<f64>,
}

/// The reduced problem: everything that any goal needs, without the data.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub(crate) rows: u64,
    pub(crate) weight: f64,
    pub(crate) features: usize,
    pub(crate) basis_size: usize,
    pub(crate) ridge: f64,
    /// The problem whose optimum is the encoder.
    pub(crate) problem: Problem,
    pub(crate) ridged: Option<Ridged>,
    /// `W Q`, features × t, with one more column, uncorrelated with both labels, if there is one.
    pub(crate) basis: Mat<f64>,
    /// `(W Q)ᵀ mean φ`.
    pub(crate) centre: Vec<f64>,
    pub(crate) target_mean: Vec<f64>,
    pub(crate) sensitive_mean: Vec<f64>,
    /// `Cov(u, x)` and the mean of x, where x is known.
    pub(crate) inputs: Option<(Mat<f64>, Vec<f64>)>,
}

impl Reduced {
    /// Reduces the problem; `ridge` is ρ in `C + ρI`.
    pub fn new(covariances: &Covariances, ridge: f64) -> Result<Self> {
        let c = covariances;
        if !(ridge.is_finite() && ridge >= 0.0) {
            let expected = "expected a finite number, 0 or more";
            return Err(Error::Argument { name: "the ridge", value: ridge, expected });
        }
        let whitening = Whitening::new(c, ridge)?;
        let (problem, q) = project(c, &whitening)?;
        let spare = if ridge == 0.0 { spare_direction(q.as_ref()) } else { None };
        let q = match spare {
            Some(w) => beside(q.as_ref(), w.as_ref()),
            None => q,
        };
        let basis = whitening.unwhiten(q.as_ref());
        let basis = match c.inputs {
            InputCovariances::Features => basis,
            _ => whitening.least(c.features.as_ref(), basis),
        };
        let (problem, basis, ridged) = match ridge > 0.0 {
            true => {
                let ridged = Ridged::new(c, &basis, &problem)?;
                (problem, basis, Some(ridged))
            }
            false => {
                let (problem, basis) = settled(c, basis, problem.size())?;
                (problem, basis, None)
            }
        };
        let mean = faer::ColRef::from_slice(&c.mean);
        Ok(Reduced {
            rows: c.rows,
            weight: c.weight,
            features: c.features.nrows(),
            basis_size: whitening.basis(),
            ridge,
            problem,
            ridged,
            centre: (basis.transpose() * mean).iter().copied().collect(),
            target_mean: c.target.mean.clone(),
            sensitive_mean: c.sensitive.mean.clone(),
            inputs: c.inputs().map(|(cross, mean)| (basis.transpose() * cross, mean.to_vec())),
            basis,
        })
    }

    /// Rows of positive weight.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// m, the number of features.
    pub fn features(&self) -> usize {
        self.features
    }

    /// k, the dimension of the whitened space.
    pub fn basis(&self) -> usize {
        self.basis_size
    }

    /// t, the size of the reduced problem.
    pub fn size(&self) -> usize {
        self.problem.size()
    }

    /// ρ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// p and q, the numbers of label columns.
    pub fn label_columns(&self) -> (usize, usize) {
        (self.target_mean.len(), self.sensitive_mean.len())
    }

    /// The unpenalised problem.
    pub(crate) fn exact(&self) -> &Problem {
        self.ridged.as_ref().map_or(&self.problem, |r| &r.exact)
    }

    /// Whether there is a direction uncorrelated with both labels.
    pub(crate) fn has_spare(&self) -> bool {
        self.basis.ncols() > self.size()
    }

    /// The losses of the best unregularised linear predictors from `z = Gᵀ u`.
    pub(crate) fn losses(&self, g: MatRef<'_, f64>) -> Losses {
        let (y, s) = (&self.problem.target, &self.problem.sensitive);
        let g = g.subrows(0, self.size());
        let (ey, es) = match &self.ridged {
            None => (y.explained(g), s.explained(g)),
            Some(ridged) => ridged.explained(g),
        };
        // Rounding must not make a loss negative.
        Losses { jy: (y.total() - ey).max(0.0), js: (s.total() - es).max(0.0) }
    }

    /// The best unregularised linear predictors of both labels from `z = Gᵀ u`, dim × columns.
    pub(crate) fn predictors(&self, g: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let (y, s) = (&self.problem.target, &self.problem.sensitive);
        let g = g.subrows(0, self.size());
        (self.regress(g, y.cross.as_ref()), self.regress(g, s.cross.as_ref()))
    }

    /// `Cov(z)⁻¹ Gᵀ K`: least squares on z of what has the covariance `K` with u. `L⁻¹K ≈ LᵀG V`.
    pub(crate) fn regress(&self, g: MatRef<'_, f64>, cross: MatRef<'_, f64>) -> Mat<f64> {
        let Some(ridged) = &self.ridged else { return g.transpose() * cross };
        if g.ncols() == 0 {
            return Mat::zeros(0, cross.ncols());
        }
        let mut k = cross.to_owned();
        solve_lower(ridged.factor.as_ref(), k.as_mut());
        (ridged.factor.transpose() * g).qr().solve_lstsq(k)
    }
}

/// The problem in the span of what correlates with a label, and that span's basis.
fn project(c: &Covariances, whitening: &Whitening) -> Result<(Problem, Mat<f64>)> {
    let white = |part: &LabelCovariances| whitening.whiten(part.cross.as_ref());
    let (wy, ws) = (white(&c.target), white(&c.sensitive));
    let scaled = beside(
        correlations(ws.as_ref(), &c.sensitive.variance).as_ref(),
        correlations(wy.as_ref(), &c.target.variance).as_ref(),
    );
    let (q, rank) = span(scaled.as_ref(), tolerance::SPAN, false);
    let q = q.subcols(0, rank).to_owned();
    let side = |w: &Mat<f64>, part: &LabelCovariances| (q.transpose() * w, part.variance.clone());
    let problem = Problem::new(side(&wy, &c.target), side(&ws, &c.sensitive))?;
    Ok((problem, q))
}

/// The problem that the directions of a basis really have, and the basis with `Cov(u) = I`: what
/// rounding left of both is measured, not assumed. `size` directions are known to the labels; a
/// further one is kept where it is as unknown to them as it was meant to be.
fn settled(c: &Covariances, mut basis: Mat<f64>, size: usize) -> Result<(Problem, Mat<f64>)> {
    for _ in 0..2 {
        let h = congruence(basis.as_ref(), c.features.as_ref());
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
        (cross.as_ref().subrows(0, size).to_owned(), part.variance.clone())
    };
    let problem = Problem::new(half(&target, &c.target), half(&sensitive, &c.sensitive))?;
    Ok((problem, basis.subcols(0, kept).to_owned()))
}

/// How far `Cov(u)` may be from the identity.
const UNIT: f64 = 1e-12;

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

impl Ridged {
    fn new(c: &Covariances, basis: &Mat<f64>, problem: &Problem) -> Result<Self> {
        let (exact, _) = project(c, &Whitening::new(c, 0.0)?)?;
        let h = congruence(basis.as_ref(), c.features.as_ref());
        let factor = cholesky(h.as_ref()).map_err(|_| Error::Unstable)?;
        Ok(Self::from_parts(exact, factor, problem))
    }

    pub(crate) fn from_parts(exact: Problem, factor: Mat<f64>, problem: &Problem) -> Self {
        let solved = |cross: &Mat<f64>| {
            let mut k = cross.clone();
            solve_lower(factor.as_ref(), k.as_mut());
            k
        };
        let target = solved(&problem.target.cross);
        let sensitive = solved(&problem.sensitive.cross);
        Ridged { exact, factor, target, sensitive }
    }

    fn explained(&self, g: MatRef<'_, f64>) -> (f64, f64) {
        if g.ncols() == 0 {
            return (0.0, 0.0);
        }
        let q = (self.factor.transpose() * g).qr().compute_thin_Q();
        let share = |k: &Mat<f64>| (q.transpose() * k).squared_norm_l2();
        (share(&self.target), share(&self.sensitive))
    }
}
