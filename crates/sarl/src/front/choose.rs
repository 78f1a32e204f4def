//! Choosing a ridge by held-out losses.

use serde::{Deserialize, Serialize};

use super::heldout::Learning;
use super::whole::Whole;
use super::{HeldOut, check_cap, lambdas};
use crate::Result;
use crate::moments::Moments;

/// λ over which a ridge is judged.
const FRONT: usize = 21;

/// What a ridge is judged by: the held-out `(1−λ) Jy − λ Js`, averaged over λ from 0 to 1; smaller
/// is better.
fn score(heldout: &HeldOut) -> Result<f64> {
    let one = |lambda: f64| -> Result<f64> {
        let losses = heldout.at(lambda)?;
        Ok((1.0 - lambda) * losses.jy - lambda * losses.js)
    };
    let scores = lambdas(FRONT).into_iter().map(one);
    Ok(scores.sum::<Result<f64>>()? / FRONT as f64)
}

/// A ridge chosen by [`best_ridge`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RidgeChoice {
    /// ρ.
    pub ridge: f64,
    /// Whether it is the largest that was tried: a still larger one may do better.
    pub largest: bool,
}

/// Exponents of ten of the ridges that [`best_ridge`] tries first: shares of the mean variance of a
/// feature. The exponents next to the best are tried afterwards.
const EXPONENTS: [i32; 7] = [-8, -6, -4, -2, 0, 2, 4];
/// Up to this exponent a ridge is close to none. The features of a kernel without the landmarks of a fold
/// do not have full rank, so that none takes as long as many ridges: it is tried where one of these is best.
const CLOSE_TO_NONE: i32 = -6;

/// The ridge with the best held-out losses over the front, on a scale that fits the features.
pub fn best_ridge(moments: &Moments, cap: Option<usize>) -> Result<RidgeChoice> {
    let mean = mean_variance(moments)?;
    check_cap(cap)?;
    // Losses are judged, not shares of what could be kept.
    let whole = Whole::of_labels(&moments.covariances()?);
    let mut learning = Learning::again(moments)?;
    let ridge = |exponent: Option<i32>| exponent.map_or(0.0, |e| mean * 10.0_f64.powi(e));
    // The best of what is known and of these.
    let mut better = |known: (f64, Option<i32>), exponents: &[Option<i32>]| -> Result<_> {
        let ridges: Vec<f64> = exponents.iter().copied().map(ridge).collect();
        let folds = HeldOut::of_ridges(&mut learning, &ridges, cap, &whole)?;
        let scores = folds.iter().map(score).collect::<Result<Vec<f64>>>()?;
        let found = scores.into_iter().zip(exponents.iter().copied());
        Ok(found.fold(known, |best, found| if found.0 < best.0 { found } else { best }))
    };
    let mapped = moments.layout().is_mapped();
    let none = if mapped { None } else { Some(None) };
    let first: Vec<_> = none.into_iter().chain(EXPONENTS.map(Some)).collect();
    let mut best = better((f64::INFINITY, None), &first)?;
    if mapped && best.1.is_none_or(|exponent| exponent <= CLOSE_TO_NONE) {
        best = better(best, &[None])?;
    }
    if let Some(found) = best.1 {
        best = better(best, &[Some(found - 1), Some(found + 1)])?;
    }
    let largest = best.1.is_some_and(|exponent| EXPONENTS.iter().all(|&e| exponent > e));
    Ok(RidgeChoice { ridge: ridge(best.1), largest })
}

/// The ridge of an encoder for which none was asked: that of a kernel, and one of more than a tenth
/// as many features as rows, fits the noise of its rows without one. None where neither is so, and
/// where too few rows are there to choose by.
pub fn default_ridge(moments: &Moments, cap: Option<usize>) -> Result<Option<RidgeChoice>> {
    let features = moments.layout().features() as u64;
    let wanted = moments.layout().is_mapped() || features.saturating_mul(10) > moments.rows();
    if !wanted || moments.options().folds < 2 {
        return Ok(None);
    }
    match best_ridge(moments, cap) {
        Err(error) if error.is_about_few_rows() => Ok(None),
        found => found.map(Some),
    }
}

/// The mean variance of a feature: the unit of a ridge.
pub fn mean_variance(moments: &Moments) -> Result<f64> {
    let c = moments.covariances()?.features;
    let total: f64 = (0..c.nrows()).map(|i| c[(i, i)]).sum();
    Ok(total / moments.layout().carried() as f64)
}
