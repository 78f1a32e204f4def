//! The ridge and the width of an encoder, by cross-validation over values of the hidden attribute.

use faer::Mat;
use sarl::{Approximation, Family, Features, FitParams, Goal, KernelParams, Model, median_gamma};

use crate::Result;
use crate::sample::codes;
use crate::split::{Split, linear};

/// Ridges tried, in units of the mean variance of a feature.
const RIDGES: [f64; 10] = [0.0, 1e-4, 3.16e-4, 1e-3, 3.16e-3, 1e-2, 3.16e-2, 0.1, 0.316, 1.0];
/// Widths tried, as multiples of the median heuristic's γ.
const WIDTHS: [f64; 5] = [2.0, 0.6, 0.2, 0.06, 0.02];
/// Folds, by the values of the hidden attribute.
const FOLDS: u32 = 5;

/// The encoder with the ridge and the width that do best in cross-validation.
pub fn best(split: &Split<'_>, kernel: bool) -> Result<Model> {
    let auto = median_gamma(Family::Rbf, split.train.x.as_ref())?;
    let params = |width: f64| {
        let exact = KernelParams {
            approximation: Approximation::Exact,
            gamma: Some(width * auto),
            ..KernelParams::new(Family::Rbf)
        };
        let features = if kernel { Features::Kernel(exact) } else { Features::Linear };
        FitParams { features, folds: 1, ..linear() }
    };
    let widths = if kernel { &WIDTHS[..] } else { &WIDTHS[..1] };
    let mut best = (f64::NEG_INFINITY, 1.0, 0.0);
    for &width in widths {
        let mut right = vec![0.0; RIDGES.len()];
        for fold in 0..FOLDS {
            let hidden = codes(&split.train.s);
            let (held, seen): (Vec<usize>, Vec<usize>) =
                (0..hidden.len()).partition(|&i| hidden[i] % FOLDS == fold);
            let (seen, held) = (split.train.select(&seen), split.train.select(&held));
            let fold = split.fold(seen, held)?;
            let fitted = fold.fit(&params(width))?;
            for (right, ridge) in right.iter_mut().zip(RIDGES) {
                let ridged = fitted.with_ridge(ridge * fitted.mean_variance()?)?;
                let model = ridged.solve(Goal::Lambda(1.0))?;
                *right += nearest(&fold, &model)?;
            }
        }
        for (right, ridge) in right.into_iter().zip(RIDGES) {
            if right > best.0 {
                best = (right, width, ridge);
            }
        }
    }
    let fitted = split.fit(&params(best.1))?;
    let ridged = fitted.with_ridge(best.2 * fitted.mean_variance()?)?;
    Ok(ridged.solve(Goal::Lambda(1.0))?)
}

/// How many test rows have the nearest class centre of their own class.
fn nearest(split: &Split<'_>, model: &Model) -> Result<f64> {
    let z = split.encode(model)?;
    let (seen, truth) = (codes(&split.train.y), codes(&split.test.y));
    let classes = split.train.y.classes().unwrap_or(0);
    let mut centres = Mat::<f64>::zeros(classes, z.fit.ncols());
    let mut counts = vec![0.0; classes];
    for (i, &c) in seen.iter().enumerate() {
        counts[c as usize] += 1.0;
        for j in 0..z.fit.ncols() {
            centres[(c as usize, j)] += z.fit[(i, j)];
        }
    }
    let distance = |i: usize, c: usize| {
        let square = |j: usize| (z.test[(i, j)] - centres[(c, j)] / counts[c]).powi(2);
        (0..z.test.ncols()).map(square).sum::<f64>()
    };
    let found = |i: usize| {
        let there = (0..classes).filter(|&c| counts[c] > 0.0);
        there.min_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)))
    };
    let right = (0..truth.len()).filter(|&i| found(i) == Some(truth[i] as usize)).count();
    Ok(right as f64)
}
