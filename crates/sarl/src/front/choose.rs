//! Choosing ridge, bandwidth and landmarks by held-out losses.

use serde::{Deserialize, Serialize};

use super::heldout::Parts;
use super::{HeldOut, lambdas};
use crate::features::FeatureMap;
use crate::moments::Moments;
use crate::{Error, Result};

/// What a candidate is judged by: the held-out `(1−λ) Jy − λ Js`, smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// At one λ.
    Lambda(f64),
    /// Averaged over λ from 0 to 1.
    Front,
}

/// λ over which [`Criterion::Front`] averages.
const FRONT: usize = 21;

impl Criterion {
    fn score(self, heldout: &HeldOut) -> Result<f64> {
        let one = |lambda: f64| -> Result<f64> {
            let losses = heldout.at(lambda)?;
            Ok((1.0 - lambda) * losses.jy - lambda * losses.js)
        };
        match self {
            Criterion::Lambda(lambda) => one(lambda),
            Criterion::Front => {
                let scores = lambdas(FRONT).into_iter().map(one);
                Ok(scores.sum::<Result<f64>>()? / FRONT as f64)
            }
        }
    }
}

/// A ridge and how it did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// ρ.
    pub ridge: f64,
    /// The held-out criterion, smaller is better.
    pub score: f64,
}

/// The feature map and ridge that did best.
#[derive(Clone, Debug)]
pub struct MapChoice {
    /// The best map's place among those offered.
    pub best: usize,
    /// Its ridge.
    pub ridge: f64,
    /// The moments that were accumulated for it.
    pub moments: Moments,
    /// For each map, how each ridge did.
    pub scores: Vec<Vec<Candidate>>,
}

/// Scores each ridge on the folds of `moments`; the best comes first.
pub fn choose_ridge(
    moments: &Moments,
    ridges: &[f64],
    cap: Option<usize>,
    criterion: Criterion,
) -> Result<Vec<Candidate>> {
    let mut scored = score_ridges(moments, ridges, cap, criterion)?;
    scored.sort_by(|a, b| a.score.total_cmp(&b.score));
    Ok(scored)
}

/// A ridge chosen by [`best_ridge`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RidgeChoice {
    /// ρ.
    pub ridge: f64,
    /// Whether it is the largest that was tried: a still larger one may do better.
    pub largest: bool,
}

/// Exponents of ten of the ridges that [`best_ridge`] tries first, beside none: shares of the mean
/// variance of a feature. The exponents next to the best are tried afterwards.
const EXPONENTS: [i32; 7] = [-8, -6, -4, -2, 0, 2, 4];

/// The ridge with the best held-out losses over the front, on a scale that fits the features.
pub fn best_ridge(moments: &Moments, cap: Option<usize>) -> Result<RidgeChoice> {
    let mean = mean_variance(moments)?;
    let parts = Parts::new(moments)?;
    let ridge = |exponent: i32| mean * 10.0_f64.powi(exponent);
    let score = |ridge: f64| Criterion::Front.score(&HeldOut::of_parts(&parts, ridge, cap)?);
    let mut best = (score(0.0)?, None);
    let mut consider = |exponents: &[i32]| -> Result<Option<i32>> {
        for &exponent in exponents {
            let score = score(ridge(exponent))?;
            if score < best.0 {
                best = (score, Some(exponent));
            }
        }
        Ok(best.1)
    };
    if let Some(found) = consider(&EXPONENTS)? {
        consider(&[found - 1, found + 1])?;
    }
    let largest = best.1.is_some_and(|exponent| EXPONENTS.iter().all(|&e| exponent > e));
    Ok(RidgeChoice { ridge: best.1.map_or(0.0, ridge), largest })
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

fn score_ridges(
    moments: &Moments,
    ridges: &[f64],
    cap: Option<usize>,
    criterion: Criterion,
) -> Result<Vec<Candidate>> {
    if ridges.is_empty() {
        let expected = "expected at least one";
        return Err(Error::Argument { name: "the number of ridges", value: 0.0, expected });
    }
    let parts = Parts::new(moments)?;
    let score = |&ridge: &f64| {
        let score = criterion.score(&HeldOut::of_parts(&parts, ridge, cap)?)?;
        Ok(Candidate { ridge, score })
    };
    ridges.iter().map(score).collect()
}

/// Scores each map (a bandwidth, a set of landmarks) with each ridge. `accumulate` makes the
/// moments of the data under a map: one pass each.
pub fn choose_map(
    maps: &[FeatureMap],
    ridges: &[f64],
    cap: Option<usize>,
    criterion: Criterion,
    mut accumulate: impl FnMut(&FeatureMap) -> Result<Moments>,
) -> Result<MapChoice> {
    let mut best: Option<(usize, Candidate, Moments)> = None;
    let mut scores = Vec::with_capacity(maps.len());
    for (i, map) in maps.iter().enumerate() {
        let moments = accumulate(map)?;
        let scored = score_ridges(&moments, ridges, cap, criterion)?;
        for &candidate in &scored {
            if best.as_ref().is_none_or(|(_, b, _)| candidate.score < b.score) {
                best = Some((i, candidate, moments.clone()));
            }
        }
        scores.push(scored);
    }
    let expected = "expected at least one";
    let none = Error::Argument { name: "the number of maps", value: 0.0, expected };
    let (best, candidate, moments) = best.ok_or(none)?;
    Ok(MapChoice { best, ridge: candidate.ridge, moments, scores })
}
