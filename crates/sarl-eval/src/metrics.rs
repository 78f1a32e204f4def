//! How good a prediction is, with the conventions of scikit-learn.

use faer::MatRef;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The 97.5 % point of the normal distribution: intervals hold 95 %.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Resamples behind an interval of R².
const RESAMPLES: usize = 1000;

/// The class with the largest score in each row; of equal ones, the first.
pub fn decide(scores: MatRef<'_, f64>) -> Vec<u32> {
    let best = |i: usize| {
        let row = scores.row(i);
        (1..scores.ncols()).fold(0, |best, j| if row[j] > row[best] { j } else { best }) as u32
    };
    (0..scores.nrows()).map(best).collect()
}

/// The share of rows that were told rightly.
pub fn accuracy(truth: &[u32], told: &[u32]) -> f64 {
    let right = truth.iter().zip(told).filter(|(a, b)| a == b).count();
    right as f64 / truth.len() as f64
}

/// The mean over the classes that occur of the share told rightly.
pub fn balanced_accuracy(truth: &[u32], told: &[u32], classes: usize) -> f64 {
    let (mut right, mut all) = (vec![0u64; classes], vec![0u64; classes]);
    for (&t, &p) in truth.iter().zip(told) {
        all[t as usize] += 1;
        right[t as usize] += u64::from(t == p);
    }
    let recalls = right.iter().zip(&all).filter(|&(_, &n)| n > 0);
    let recalls: Vec<f64> = recalls.map(|(&r, &n)| r as f64 / n as f64).collect();
    recalls.iter().sum::<f64>() / recalls.len() as f64
}

/// The area under the ROC curve; with more than two classes, the mean of each against the rest.
///
/// Classes that do not occur, or that alone occur, are left out; none if no class is left.
pub fn auc(truth: &[u32], scores: MatRef<'_, f64>) -> Option<f64> {
    let classes = scores.ncols();
    let one = |class: usize| {
        let score = |i: usize| match classes {
            2 => scores[(i, 1)] - scores[(i, 0)],
            _ => scores[(i, class)],
        };
        area(&truth.iter().map(|&t| t as usize == class).collect::<Vec<_>>(), score)
    };
    let areas: Vec<f64> = match classes {
        0 | 1 => Vec::new(),
        2 => one(1).into_iter().collect(),
        _ => (0..classes).filter_map(one).collect(),
    };
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

/// The chance that a positive row scores above a negative one, ties counting half.
fn area(positive: &[bool], score: impl Fn(usize) -> f64) -> Option<f64> {
    let mut order: Vec<(f64, bool)> =
        positive.iter().enumerate().map(|(i, &p)| (score(i), p)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins) = (0.0, 0.0);
    for ties in order.chunk_by(|a, b| a.0 == b.0) {
        let up = ties.iter().filter(|t| t.1).count() as f64;
        let down = ties.len() as f64 - up;
        wins += up * (below + down / 2.0);
        below += down;
    }
    let up = order.len() as f64 - below;
    (up > 0.0 && below > 0.0).then(|| wins / (up * below))
}

/// The share of the variance that a prediction explains; negative if it is worse than the mean.
pub fn r2(truth: &[f64], told: &[f64]) -> f64 {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let total: f64 = truth.iter().map(|t| (t - mean).powi(2)).sum();
    let rest: f64 = truth.iter().zip(told).map(|(t, p)| (t - p).powi(2)).sum();
    match total > 0.0 {
        true => 1.0 - rest / total,
        false => 0.0,
    }
}

/// Wilson's 95 % interval of a share that was seen in `rows` rows.
pub fn wilson(share: f64, rows: usize) -> [f64; 2] {
    let n = rows as f64;
    let z2 = NORMAL * NORMAL;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half =
        NORMAL / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).max(0.0).sqrt();
    [(centre - half).max(0.0), (centre + half).min(1.0)]
}

/// The 95 % interval of R² over resampled rows.
pub fn r2_interval(truth: &[f64], told: &[f64], seed: u64) -> [f64; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rows = truth.len();
    let mut values: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let (mut sum, mut square, mut rest) = (0.0, 0.0, 0.0);
            for _ in 0..rows {
                let i = rng.random_range(0..rows);
                sum += truth[i];
                square += truth[i] * truth[i];
                rest += (truth[i] - told[i]).powi(2);
            }
            let total = square - sum * sum / rows as f64;
            if total > 0.0 { 1.0 - rest / total } else { 0.0 }
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((RESAMPLES - 1) as f64 * share).round() as usize];
    [at(0.025), at(0.975)]
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;

    #[test]
    fn a_prediction_is_scored_as_by_hand() {
        let (truth, told) = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 0, 2]);
        assert_eq!(accuracy(&truth, &told), 4.0 / 6.0);
        let expected = (2.0 / 3.0 + 0.5 + 1.0) / 3.0;
        assert!((balanced_accuracy(&truth, &told, 4) - expected).abs() < 1e-15);
    }

    #[test]
    fn the_area_counts_ties_half() {
        let scores = Mat::from_fn(4, 2, |i, j| if j == 1 { [0.1, 0.4, 0.4, 0.8][i] } else { 0.0 });
        assert_eq!(auc(&[0, 0, 1, 1], scores.as_ref()), Some(0.875));
        assert_eq!(auc(&[1, 1, 1, 1], scores.as_ref()), None);
    }

    #[test]
    fn wilson_holds_the_share_and_stays_within_bounds() {
        // R: binom.confint(81, 263, methods = "wilson").
        let [low, high] = wilson(81.0 / 263.0, 263);
        assert!((low - 0.255_3).abs() < 1e-4 && (high - 0.366_2).abs() < 1e-4, "{low} {high}");
        assert!((wilson(1.0, 10)[1] - 1.0).abs() < 1e-12);
        assert_eq!(wilson(0.0, 10)[0], 0.0);
    }

    #[test]
    fn r2_is_that_of_the_textbook() {
        let truth = [3.0, -0.5, 2.0, 7.0];
        assert!((r2(&truth, &[2.5, 0.0, 2.0, 8.0]) - 0.948_608_137_044_967_9).abs() < 1e-15);
        let [low, high] = r2_interval(&truth, &[2.5, 0.0, 2.0, 8.0], 1);
        assert!(low <= 0.95 && (0.94..=1.0).contains(&high));
    }

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(decide(Mat::<f64>::zeros(2, 3).as_ref()), [0, 0]);
    }
}
