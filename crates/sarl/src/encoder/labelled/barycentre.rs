//! The Gaussian that is nearest to some Gaussians, and the maps that take them there.
//!
//! ```text
//! S minimises  Σ πₖ W₂²(N(0, Σₖ), N(0, S))        Aₖ = S^½ (S^½ Σₖ S^½)^−½ S^½        Aₖ Σₖ Aₖ = S
//! ```
//!
//! At the minimum `T = Σ πₖ Aₖ⁻¹`, the mean of the maps from S, is the identity, and `S ← T S T` leads there (Álvarez-Esteban, del
//! Barrio, Cuesta-Albertos, Matrán 2016). Of two Gaussians it is on the way from one to the other,
//! `S = M Σ₁ M` with `M = π₁ I + π₂ A` and the map A from the first to the second: no iteration.
//! Whatever S is, the maps make the covariances equal: iterations only decide how much is changed.

use faer::{Mat, MatRef};

use crate::spectral::linalg::eigh;
use crate::{Error, Result};

/// How far `Σ πₖ Aₖ⁻¹` may be from the identity. What is changed is then within its square.
const FIXED: f64 = 1e-9;
/// Iterations at most; a handful is usual.
const STEPS: usize = 200;
/// How far the covariance of a mapped class may be from S, in units of standard deviations.
const EQUAL: f64 = 1e-7;

/// The covariance of the barycentre, and the map of each covariance.
pub(super) struct Barycentre {
    pub(super) covariance: Mat<f64>,
    pub(super) maps: Vec<Mat<f64>>,
}

impl Barycentre {
    /// Of positive definite covariances with shares that add up to 1.
    pub(super) fn new(shares: &[f64], covariances: &[Mat<f64>]) -> Result<Self> {
        let mut s = start(shares, covariances)?;
        for _ in 0..STEPS {
            let [maps, back] = maps(&s, covariances)?;
            let mut t = Mat::<f64>::zeros(s.nrows(), s.ncols());
            for (share, back) in shares.iter().zip(&back) {
                t += back * faer::Scale(*share);
            }
            let off = (&t - Mat::<f64>::identity(s.nrows(), s.ncols())).norm_max();
            if off <= FIXED {
                check(&s, covariances, &maps)?;
                return Ok(Barycentre { covariance: s, maps });
            }
            s = symmetric((&t * &s * &t).as_ref());
        }
        Err(Error::NoConvergence { what: "search for the barycentre of the classes" })
    }
}

/// Where the search begins: for two covariances where it ends.
fn start(shares: &[f64], covariances: &[Mat<f64>]) -> Result<Mat<f64>> {
    if let ([first, second], [_, share]) = (covariances, shares) {
        let [maps, _] = maps(second, std::slice::from_ref(first))?;
        let map = &maps[0];
        let size = map.nrows();
        let between =
            Mat::<f64>::identity(size, size) * faer::Scale(1.0 - share) + map * faer::Scale(*share);
        return Ok(symmetric((&between * first * &between).as_ref()));
    }
    let size = covariances.first().map_or(0, Mat::nrows);
    let mut mean = Mat::zeros(size, size);
    for (share, covariance) in shares.iter().zip(covariances) {
        mean += covariance * faer::Scale(*share);
    }
    Ok(mean)
}

/// The optimal map of each covariance to `s`, and the inverse of each.
fn maps(s: &Mat<f64>, covariances: &[Mat<f64>]) -> Result<[Vec<Mat<f64>>; 2]> {
    let [root, unroot] = roots(s.as_ref())?;
    let (mut maps, mut back) = (Vec::new(), Vec::new());
    for covariance in covariances {
        let between = symmetric((&root * covariance * &root).as_ref());
        let [wide, narrow] = roots(between.as_ref())?;
        maps.push(symmetric((&root * narrow * &root).as_ref()));
        back.push(symmetric((&unroot * wide * &unroot).as_ref()));
    }
    Ok([maps, back])
}

/// The square root of a positive definite matrix, and its inverse.
fn roots(a: MatRef<'_, f64>) -> Result<[Mat<f64>; 2]> {
    let (values, vectors) = eigh(a)?;
    if values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return Err(Error::Unstable);
    }
    Ok([0.5, -0.5].map(|exponent| {
        let scaled =
            Mat::from_fn(a.nrows(), a.ncols(), |i, j| vectors[(i, j)] * values[j].powf(exponent));
        scaled * vectors.transpose()
    }))
}

/// A symmetric matrix without what rounding has made of it.
pub(super) fn symmetric(a: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

/// Measures what the maps are for: rounding must not have spoilt it.
fn check(s: &Mat<f64>, covariances: &[Mat<f64>], maps: &[Mat<f64>]) -> Result<()> {
    for (covariance, map) in covariances.iter().zip(maps) {
        let mapped = map * covariance * map;
        let off = |i: usize, j: usize| {
            (mapped[(i, j)] - s[(i, j)]).abs() / (s[(i, i)] * s[(j, j)]).sqrt()
        };
        let size = s.nrows();
        let equal = (0..size).all(|j| (0..size).all(|i| off(i, j) <= EQUAL));
        if !equal {
            return Err(Error::Unstable);
        }
    }
    Ok(())
}
