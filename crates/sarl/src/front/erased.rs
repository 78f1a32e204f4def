//! Held-out losses of a full erasure, from fold moments alone and without a reduced problem.
//!
//! Erasure found on some folds is `x̂ = x − takenᵀ foundᵀ (x − x̄)` on any rows. On a fold that it has
//! not seen it changes x by `E‖takenᵀ foundᵀ (x − x̄)‖²`, and two adversaries try it: one taught on
//! the rows of the erasure, where there is nothing to learn, so that it says the mean; and one with
//! rows of its own, which are neither those of the erasure nor those that it is tested on,
//!
//! ```text
//! (A + τI) v = b,      A = D⁻¹ Cov(x̂) D⁻¹      b = D⁻¹ Cov(x̂, s)
//! ```
//!
//! in units of standard deviations `D`, for some shrinkages τ. The one that finds most counts.

use std::borrow::Cow;

use faer::{Col, Mat, MatRef};
use rayon::prelude::*;

use super::attributes::HeldOutLabels;
use super::average::{Loss, SHRINKAGE, Side, held_out, strongest};
use super::heldout::HeldOutLosses;
use super::whole::Whole;
use crate::encoder::{Erasure, split};
use crate::moments::{Covariances, LabelCovariances, Moments};
use crate::spectral::linalg::{cholesky, congruence, solve_lower, solve_lower_transposed};
use crate::{Error, Result, tolerance};

/// The held-out losses of full erasure, with the features as the target. `ridge` is that of
/// [`Erasing::new`](crate::Erasing::new).
pub fn erased_heldout(moments: &Moments, ridge: f64) -> Result<(HeldOutLosses, HeldOutLabels)> {
    heldout_of(moments, &|train| Erasure::full(train, ridge))
}

/// The held-out losses of an erasure that preserves the targets beside the features.
pub fn preserved_heldout(moments: &Moments) -> Result<(HeldOutLosses, HeldOutLabels)> {
    heldout_of(moments, &|train| Erasure::preserving(train, moments.layout()))
}

/// The held-out losses of what `erase` makes of the rows that it is given.
fn heldout_of(
    moments: &Moments,
    erase: &dyn Fn(&Covariances) -> Result<Erasure>,
) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let only_features = |c: Covariances| match c.target.labels.len() {
        1 => c,
        _ => Covariances { target: split(&c.target, moments.layout()).0, ..c },
    };
    let folds = moments.options().folds;
    if folds < 2 {
        return Err(Error::OneFold);
    }
    let (mut kept, mut own, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
    for fold in 0..folds {
        let others: Vec<usize> = (1..folds).map(|step| (fold + step) % folds).collect();
        let test = only_features(moments.of_folds(&[fold])?);
        let train = moments.to_learn_from(&others)?;
        let erasure = erase(&train)?;
        kept.push(changed(&erasure, &train, &test));
        own.push(untaught(&train.sensitive, &test));
        drop(train);
        let (first, second) = others.split_at(folds / 2);
        let parts = (moments.to_learn_from(first), moments.to_learn_from(second));
        let (Ok(first), Ok(second)) = parts else { continue };
        let Ok(erasure) = erase(&first) else { continue };
        drop(first);
        fresh.push(taught(&erasure, &second, &test)?);
    }
    let whole = Whole::of_features(&only_features(moments.covariances()?));
    let target = Side::new(&whole.target, kept.iter());
    Ok(held_out(target, strongest(&whole.sensitive, &own, &fresh)))
}

/// Ridges that [`best_erasing_ridge`] tries: shares of the mean variance of a feature.
const RIDGES: [f64; 6] = [0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The ridge of a full erasure from which an adversary with rows of its own learns least. The
/// first is none, which changes the features least, so another must do better.
pub fn best_erasing_ridge(moments: &Moments) -> Result<f64> {
    let mut best = (f64::INFINITY, 0.0);
    for ridge in RIDGES {
        let leakage = erased_heldout(moments, ridge)?.0.leakage;
        if leakage < best.0 {
            best = (leakage, ridge);
        }
    }
    Ok(best.1)
}

fn apart(a: &[f64], b: &[f64]) -> Col<f64> {
    Col::from_fn(a.len(), |i| a[i] - b[i])
}

/// How much erasure changes the features of rows that it has not seen.
fn changed(erasure: &Erasure, train: &Covariances, test: &Covariances) -> Loss<'static> {
    let step = apart(&test.mean, &train.mean);
    let spread = test.target.variance.iter().sum::<f64>() + step.squared_norm_l2();
    let along = erasure.found().transpose() * &step;
    let second = congruence(erasure.found(), test.features.as_ref()) + &along * along.transpose();
    let taken = erasure.taken() * erasure.taken().transpose();
    let loss = (&second * &taken).diagonal().column_vector().iter().sum();
    Loss { weight: test.weight, losses: vec![loss], spread: Cow::Owned(vec![spread]) }
}

/// The losses of an adversary that says the mean.
fn untaught(train: &LabelCovariances, test: &Covariances) -> Loss<'static> {
    let spread = spreads(train, &test.sensitive);
    Loss { weight: test.weight, losses: spread.clone(), spread: Cow::Owned(spread) }
}

/// The spread of each label on the test rows about its mean in the rows that taught.
fn spreads(taught: &LabelCovariances, test: &LabelCovariances) -> Vec<f64> {
    let moved = apart(&test.mean, &taught.mean);
    of_labels(test, |j| test.variance[j] + moved[j] * moved[j])
}

/// A figure of each column, summed over the columns of each label.
fn of_labels(part: &LabelCovariances, column: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut at = 0;
    let labels = part.labels.iter().map(|label| {
        at += label.width;
        (at - label.width..at).map(&column).sum()
    });
    labels.collect()
}

/// The losses of adversaries taught on erased rows of their own.
fn taught(
    erasure: &Erasure,
    own: &Covariances,
    test: &Covariances,
) -> Result<[Loss<'static>; SHRINKAGE.len()]> {
    let inverse: Vec<f64> = (0..own.mean.len())
        .map(|j| own.features[(j, j)].max(0.0).sqrt())
        .map(|sd| if sd > 0.0 { 1.0 / sd } else { 0.0 })
        .collect();
    let left = erased(erasure, own.features.as_ref());
    let mut a = erased(erasure, left.transpose());
    drop(left);
    let size = a.nrows();
    for j in 0..size {
        for (v, scale) in a.col_as_slice_mut(j).iter_mut().zip(&inverse) {
            *v *= scale * inverse[j];
        }
    }
    let mut b = erased(erasure, own.sensitive.cross.as_ref());
    scale_rows(&mut b, &inverse);
    let mean = (0..size).map(|j| a[(j, j)]).sum::<f64>() / size as f64;
    let step = apart(&test.mean, &own.mean);
    let moved = apart(&test.sensitive.mean, &own.sensitive.mean);
    let spread = spreads(&own.sensitive, &test.sensitive);
    // Nothing is left of the features: there is only the mean to say.
    if mean <= tolerance::RANK {
        let own = |_| Loss {
            weight: test.weight,
            losses: spread.clone(),
            spread: Cow::Owned(spread.clone()),
        };
        return Ok(SHRINKAGE.map(own));
    }
    let loss = |shrinkage: f64| -> Result<Loss<'static>> {
        let mut shrunk = a.clone();
        (0..size).for_each(|j| shrunk[(j, j)] += shrinkage * mean);
        let factor = cholesky(shrunk.as_ref())?;
        let mut v = b.clone();
        solve_lower(factor.as_ref(), v.as_mut());
        solve_lower_transposed(factor.as_ref(), v.as_mut());
        scale_rows(&mut v, &inverse);
        // Weights of x̂ as weights of x.
        let inner = erasure.taken() * &v;
        v -= erasure.found() * inner;
        let along = v.transpose() * &step;
        let quadratic = congruence(v.as_ref(), test.features.as_ref());
        let cross = v.transpose() * &test.sensitive.cross;
        let change = of_labels(&test.sensitive, |j| {
            quadratic[(j, j)] + along[j] * along[j] - 2.0 * (cross[(j, j)] + along[j] * moved[j])
        });
        let losses = spread.iter().zip(change).map(|(spread, change)| spread + change).collect();
        Ok(Loss { weight: test.weight, losses, spread: Cow::Owned(spread.clone()) })
    };
    let found: Vec<Loss<'static>> = SHRINKAGE.iter().map(|&s| loss(s)).collect::<Result<_>>()?;
    found.try_into().map_err(|_| Error::Unstable)
}

/// `(I − takenᵀ foundᵀ) a`.
fn erased(erasure: &Erasure, a: MatRef<'_, f64>) -> Mat<f64> {
    let found = erasure.found().transpose() * a;
    let mut rest = a.to_owned();
    rest -= erasure.taken().transpose() * found;
    rest
}

fn scale_rows(a: &mut Mat<f64>, by: &[f64]) {
    a.par_col_iter_mut().for_each(|column| {
        column.iter_mut().zip(by).for_each(|(v, scale)| *v *= scale);
    });
}
