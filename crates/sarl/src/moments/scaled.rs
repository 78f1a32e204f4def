//! Standardised features, from the sums of features as they came.
//!
//! A sum of products of standardised columns is that of the columns times a factor of each. So factors
//! are kept beside the sums, which are large, and are used where sums become covariances.

use std::sync::Arc;

use super::{Covariances, Moments, constant};
use crate::error::Place;
use crate::{Error, Result};

/// The mean and the standard deviation; that of a constant is zero.
fn spread(mean: f64, variance: f64) -> (f64, f64) {
    let variance = variance.max(0.0);
    (mean, if constant(variance, mean) { 0.0 } else { variance.sqrt() })
}

impl Moments {
    /// The mean and the standard deviation of each dense feature; that of a constant is zero.
    pub fn spreads(&self) -> Result<Vec<(f64, f64)>> {
        self.check_settled()?;
        let folds: Vec<usize> = (0..self.options.folds).collect();
        let products = self.products(&folds);
        let (rows, weight, sum) = (products.rest.rows, products.rest.weight, products.rest.sum());
        if rows < 2 {
            return Err(Error::TooFewRows { rows });
        }
        let one = |j: usize| {
            let delta = sum[j] / weight;
            let (mean, variance) =
                (self.shift[j] + delta, products.at(j, j) / weight - delta * delta);
            match mean.is_finite() && variance.is_finite() {
                true => Ok(spread(mean, variance)),
                false => Err(Error::Overflow { place: Place::Feature(j) }),
            }
        };
        (0..self.layout.dense).map(one).collect()
    }

    /// The same, where the covariances are known.
    pub(crate) fn spreads_of(&self, covariances: &Covariances) -> Vec<(f64, f64)> {
        let one = |j: usize| spread(covariances.mean[j], covariances.features[(j, j)]);
        (0..self.layout.dense).map(one).collect()
    }

    /// Makes the moments those of standardised dense features, as if each had been shifted by its
    /// mean and divided by its standard deviation (a constant only shifted) before it was pushed:
    /// both are returned. Saves a pass over the data.
    ///
    /// More rows must not be pushed afterwards, unless they are standardised in the same way.
    pub fn standardise(&mut self) -> Result<Vec<(f64, f64)>> {
        self.settle()?;
        self.write_factors();
        let spreads = self.spreads()?;
        let mut factors = vec![1.0; self.layout.columns()];
        for (j, &(mean, deviation)) in spreads.iter().enumerate() {
            // A constant becomes zero exactly, not the rounding of its mean.
            factors[j] = if deviation > 0.0 { 1.0 / deviation } else { 0.0 };
            self.shift[j] = (self.shift[j] - mean) * factors[j];
        }
        self.factors = Some(factors.into());
        Ok(spreads)
    }

    /// Writes the factors into the sums, before others that have them already are added.
    pub(super) fn write_factors(&mut self) {
        if let Some(factors) = self.factors.take() {
            let lanes = Arc::make_mut(&mut self.lanes);
            let all = lanes.iter_mut().flat_map(|lane| &mut lane.folds);
            all.for_each(|sums| sums.rescale(&factors));
        }
    }
}
