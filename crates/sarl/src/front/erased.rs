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

use faer::{Col, Mat, MatRef};
use rayon::prelude::*;

use super::attributes::{HeldOutLabel, HeldOutLabels};
use super::heldout::HeldOutLosses;
use crate::encoder::Erasure;
use crate::moments::{Covariances, LabelCovariances, Moments, Role};
use crate::spectral::linalg::{cholesky, congruence, solve_lower, solve_lower_transposed};
use crate::{Error, Result};

/// What the adversary may add to the variance of each feature, as shares of their mean.
const SHRINKAGE: [f64; 6] = [1e-9, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The held-out losses of full erasure, with the features as the target and one label to hide.
pub fn erased_heldout(moments: &Moments) -> Result<(HeldOutLosses, HeldOutLabels)> {
    let folds = moments.options().folds;
    if folds < 2 {
        return Err(Error::Folds("the moments were accumulated in one".into()));
    }
    let (mut kept, mut own, mut fresh) =
        (Vec::new(), Vec::new(), vec![Vec::new(); SHRINKAGE.len()]);
    for fold in 0..folds {
        let others: Vec<usize> = (1..folds).map(|step| (fold + step) % folds).collect();
        let test = moments.of_folds(&[fold])?;
        let train = moments.to_learn_from(&others)?;
        let erasure = Erasure::full(&train)?;
        kept.push(changed(&erasure, &train, &test));
        own.push(untaught(&train.sensitive, &test));
        drop(train);
        let (first, second) = others.split_at(folds / 2);
        let parts = (moments.to_learn_from(first), moments.to_learn_from(second));
        let (Ok(first), Ok(second)) = parts else { continue };
        let Ok(erasure) = Erasure::full(&first) else { continue };
        drop(first);
        for (all, loss) in fresh.iter_mut().zip(taught(&erasure, &second, &test)?) {
            all.push(loss);
        }
    }
    let mut adversary = Average::of(&own);
    for losses in fresh.iter().filter(|losses| !losses.is_empty()) {
        let found = Average::of(losses);
        if found.loss < adversary.loss {
            adversary = found;
        }
    }
    let target = Average::of(&kept);
    let all = moments.covariances()?;
    let total = |part: &LabelCovariances| part.variance.iter().sum::<f64>();
    let share = |loss: f64, of: f64| if of > 0.0 { 1.0 - loss / of } else { 0.0 };
    let utility = share(target.loss, total(&all.target));
    let leakage = share(adversary.loss, total(&all.sensitive));
    let label = |role: Role, loss: f64, share: f64| {
        let labels = moments.layout().labels().iter().filter(move |l| l.role == role);
        labels.map(|l| HeldOutLabel { name: l.name.clone(), loss, share }).collect()
    };
    let labels = HeldOutLabels {
        target: label(Role::Target, target.loss, utility),
        sensitive: label(Role::Sensitive, adversary.loss, leakage),
    };
    let losses = HeldOutLosses {
        jy: target.loss,
        js: adversary.loss,
        jy_sd: target.spread,
        js_sd: adversary.spread,
        kept_sd: target.share_spread,
        leaked_sd: adversary.share_spread,
        utility,
        leakage,
    };
    Ok((losses, labels))
}

/// A loss on a fold: its weight, itself, and what of the spread there it leaves explained.
#[derive(Clone, Copy)]
struct Loss {
    weight: f64,
    loss: f64,
    share: f64,
}

impl Loss {
    fn of(test: &Covariances, loss: f64, spread: f64) -> Self {
        let share = if spread > 0.0 { 1.0 - loss / spread } else { 0.0 };
        Loss { weight: test.weight, loss, share }
    }
}

struct Average {
    loss: f64,
    spread: f64,
    share_spread: f64,
}

impl Average {
    fn of(losses: &[Loss]) -> Self {
        let weight: f64 = losses.iter().map(|l| l.weight).sum();
        let mean =
            |of: fn(&Loss) -> f64| losses.iter().map(|l| l.weight * of(l)).sum::<f64>() / weight;
        let spread = |of: fn(&Loss) -> f64| {
            let mean = mean(of);
            let squares: f64 = losses.iter().map(|l| (of(l) - mean).powi(2)).sum();
            (squares / (losses.len().max(2) - 1) as f64).sqrt()
        };
        Average {
            loss: mean(|l| l.loss),
            spread: spread(|l| l.loss),
            share_spread: spread(|l| l.share),
        }
    }
}

fn apart(a: &[f64], b: &[f64]) -> Col<f64> {
    Col::from_fn(a.len(), |i| a[i] - b[i])
}

/// How much erasure changes the features of rows that it has not seen.
fn changed(erasure: &Erasure, train: &Covariances, test: &Covariances) -> Loss {
    let step = apart(&test.mean, &train.mean);
    let spread = test.target.variance.iter().sum::<f64>() + step.squared_norm_l2();
    let along = erasure.found().transpose() * &step;
    let second = congruence(erasure.found(), test.features.as_ref()) + &along * along.transpose();
    let taken = erasure.taken() * erasure.taken().transpose();
    let loss = (&second * &taken).diagonal().column_vector().iter().sum();
    Loss::of(test, loss, spread)
}

/// The loss of who says the mean.
fn untaught(train: &LabelCovariances, test: &Covariances) -> Loss {
    let moved = apart(&test.sensitive.mean, &train.mean).squared_norm_l2();
    let spread = test.sensitive.variance.iter().sum::<f64>() + moved;
    Loss::of(test, spread, spread)
}

/// The losses of adversaries taught on erased rows of their own.
fn taught(
    erasure: &Erasure,
    own: &Covariances,
    test: &Covariances,
) -> Result<[Loss; SHRINKAGE.len()]> {
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
    let spread = test.sensitive.variance.iter().sum::<f64>() + moved.squared_norm_l2();
    let loss = |shrinkage: f64| -> Result<Loss> {
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
        let mut loss = spread;
        for j in 0..v.ncols() {
            loss += quadratic[(j, j)] + along[j] * along[j];
            loss -= 2.0 * (cross[(j, j)] + along[j] * moved[j]);
        }
        Ok(Loss::of(test, loss, spread))
    };
    let found: Vec<Loss> = SHRINKAGE.iter().map(|&s| loss(s)).collect::<Result<_>>()?;
    let none = Loss { weight: test.weight, loss: spread, share: 0.0 };
    Ok(std::array::from_fn(|i| found.get(i).copied().unwrap_or(none)))
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
