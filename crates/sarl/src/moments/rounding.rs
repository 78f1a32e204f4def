//! What rounding leaves where there is nothing.

use faer::Mat;

use crate::tolerance;

/// What is known of the rounding of moments.
pub(super) struct Rounding {
    pub(super) rank: f64,
    pub(super) floor: f64,
    /// The error of each feature as it is computed from a row; empty for none.
    pub(super) noise: Vec<f64>,
}

/// Whether a variance is no more than the rounding of a constant.
pub(crate) fn constant(variance: f64, mean: f64) -> bool {
    variance.sqrt() <= tolerance::CONSTANT * mean.abs()
}

/// Indicators of classes add up to one, so that their covariances add up to zero. What products in single
/// precision leave there would be a direction of its own, which an encoder without leakage has to avoid.
pub(super) fn without_remainder(mut cross: Mat<f64>, shares: &[f64]) -> Mat<f64> {
    if (shares.iter().sum::<f64>() - 1.0).abs() > tolerance::FLOOR {
        // Some rows have no class.
        return cross;
    }
    for i in 0..cross.nrows() {
        let remainder: f64 = cross.row(i).iter().sum();
        cross.row_mut(i).iter_mut().zip(shares).for_each(|(c, share)| *c -= remainder * share);
    }
    cross
}

/// The variance of a constant is zero, not its rounding: correlations divide by it.
pub(super) fn without_rounding(variance: f64, mean: f64, floor: f64) -> f64 {
    // What overflows is not a constant: it is refused by name.
    let rounded = variance.is_finite() && variance <= floor;
    if rounded || constant(variance, mean) { 0.0 } else { variance }
}
