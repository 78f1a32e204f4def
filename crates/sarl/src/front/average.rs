//! Losses of folds put together: means over the folds and the spread between them.

use std::borrow::Cow;

use super::attributes::{HeldOutLabel, HeldOutLabels};
use super::heldout::HeldOutLosses;
use super::whole::WholeLabel;

/// What an adversary with rows of its own may add to the variance of each feature that it has, as
/// shares of their mean.
pub(super) const SHRINKAGE: [f64; 6] = [1e-9, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// The adversary that finds most: one taught on the encoder's own rows, or a fresh one with any of
/// the [`SHRINKAGE`]s.
pub(super) fn strongest(
    hidden: &[WholeLabel],
    own: &[Loss<'_>],
    fresh: &[[Loss<'_>; SHRINKAGE.len()]],
) -> Side {
    let mut adversary = Side::new(hidden, own.iter());
    for shrinkage in (0..SHRINKAGE.len()).filter(|_| !fresh.is_empty()) {
        let one = fresh.iter().map(|losses| &losses[shrinkage]);
        adversary = adversary.worse(Side::new(hidden, one));
    }
    adversary
}

/// The losses of both sides, together and for each label.
pub(super) fn held_out(target: Side, adversary: Side) -> (HeldOutLosses, HeldOutLabels) {
    let shares = |side: &Side| side.labels.iter().map(|l| l.share).collect::<Vec<f64>>();
    let losses = HeldOutLosses {
        jy: target.loss,
        js: adversary.loss,
        jy_sd: target.spread,
        js_sd: adversary.spread,
        kept_sd: target.share_spread,
        leaked_sd: adversary.share_spread,
        utility: shares(&target).into_iter().fold(f64::INFINITY, f64::min),
        leakage: shares(&adversary).into_iter().fold(f64::NEG_INFINITY, f64::max),
    };
    (losses, HeldOutLabels { target: target.labels, sensitive: adversary.labels })
}

/// The losses of the labels on a fold, and their spreads there.
#[derive(Clone, Debug)]
pub(super) struct Loss<'a> {
    pub(super) weight: f64,
    /// Of each label, in its own units.
    pub(super) losses: Vec<f64>,
    pub(super) spread: Cow<'a, [f64]>,
}

/// A side of the problem over all folds.
pub(super) struct Side {
    pub(super) loss: f64,
    spread: f64,
    share_spread: f64,
    labels: Vec<HeldOutLabel>,
}

impl Side {
    pub(super) fn new<'f>(
        labels: &[WholeLabel],
        folds: impl Iterator<Item = &'f Loss<'f>> + Clone,
    ) -> Self {
        // Several labels are summed as shares of their variances, as in the problem.
        let sum = |values: &[f64]| match values {
            [one] => *one,
            _ => values.iter().zip(labels).map(|(v, label)| v / label.variance).sum(),
        };
        let share = |loss: f64, all: f64| if all > 0.0 { 1.0 - loss / all } else { 0.0 };
        let (loss, spread) = mean_and_spread(folds.clone().map(|l| (l.weight, sum(&l.losses))));
        let shares = folds.clone().map(|l| (l.weight, share(sum(&l.losses), sum(&l.spread))));
        let one = |(i, label): (usize, &WholeLabel)| {
            let (loss, _) = mean_and_spread(folds.clone().map(|l| (l.weight, l.losses[i])));
            HeldOutLabel { name: label.name.clone(), loss, share: label.share(loss) }
        };
        Side {
            loss,
            spread,
            share_spread: mean_and_spread(shares).1,
            labels: labels.iter().enumerate().map(one).collect(),
        }
    }

    /// Of two adversaries the one that finds more, of all labels and of each.
    pub(super) fn worse(self, other: Side) -> Side {
        let pick = |(a, b): (&HeldOutLabel, &HeldOutLabel)| {
            if b.loss < a.loss { b.clone() } else { a.clone() }
        };
        let labels = self.labels.iter().zip(&other.labels).map(pick).collect();
        let worse = if other.loss < self.loss { other } else { self };
        Side { labels, ..worse }
    }
}

/// The weighted mean, and the standard deviation between the values.
fn mean_and_spread(values: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let weight: f64 = values.clone().map(|v| v.0).sum();
    let mean = values.clone().map(|(w, v)| w * v).sum::<f64>() / weight;
    let count = values.clone().count() as f64;
    let squares: f64 = values.map(|(_, v)| (v - mean) * (v - mean)).sum();
    (mean, if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}
