//! How good a prediction is, with the conventions of scikit-learn.

use faer::MatRef;

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
    let recalls = recalls(truth, told, classes);
    recalls.iter().map(|r| r.0).sum::<f64>() / recalls.len() as f64
}

/// For each class that occurs, the share told rightly and the number of its rows.
pub fn recalls(truth: &[u32], told: &[u32], classes: usize) -> Vec<(f64, usize)> {
    let (mut right, mut all) = (vec![0u64; classes], vec![0u64; classes]);
    for (&t, &p) in truth.iter().zip(told) {
        all[t as usize] += 1;
        right[t as usize] += u64::from(t == p);
    }
    let there = right.iter().zip(&all).filter(|&(_, &n)| n > 0);
    there.map(|(&r, &n)| (r as f64 / n as f64, n as usize)).collect()
}

/// The area under the ROC curve; with more than two classes, the mean of each against the rest.
///
/// Classes that do not occur, or that alone occur, are left out; none if no class is left.
pub fn auc(truth: &[u32], scores: MatRef<'_, f64>) -> Option<f64> {
    let classes = scores.ncols();
    let one = |class: usize| {
        let positive: Vec<bool> = truth.iter().map(|&t| t as usize == class).collect();
        Area::new(&positive, |i| scores[(i, class)]).map(|area| area.value)
    };
    let areas: Vec<f64> = match classes {
        0 | 1 => Vec::new(),
        2 => Area::of_two(truth, scores).map(|area| area.value).into_iter().collect(),
        _ => (0..classes).filter_map(one).collect(),
    };
    (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64)
}

/// The area under the ROC curve with what its interval needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The chance that a positive row scores above a negative one, ties counting half.
    pub value: f64,
    /// Its variance, as DeLong estimates it.
    pub variance: f64,
    /// The number of positive rows, and that of negative ones.
    pub rows: [usize; 2],
}

impl Area {
    /// None if one side has no rows.
    pub fn new(positive: &[bool], score: impl Fn(usize) -> f64) -> Option<Self> {
        let mut order: Vec<(f64, bool)> =
            positive.iter().enumerate().map(|(i, &p)| (score(i), p)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let up = order.iter().filter(|t| t.1).count() as f64;
        let down = order.len() as f64 - up;
        if up == 0.0 || down == 0.0 {
            return None;
        }
        // For each row the share of the other side that it is on the right side of.
        let (mut ups, mut downs) = (0.0, 0.0);
        let (mut wins, mut squares) = (0.0, [0.0; 2]);
        for ties in order.chunk_by(|a, b| a.0 == b.0) {
            let here = ties.iter().filter(|t| t.1).count() as f64;
            let others = ties.len() as f64 - here;
            let above = (downs + others / 2.0) / down;
            let below = (up - ups - here / 2.0) / up;
            wins += here * above;
            squares[0] += here * above * above;
            squares[1] += others * below * below;
            ups += here;
            downs += others;
        }
        let value = wins / up;
        let variance = |squares: f64, n: f64| {
            (squares / n - value * value).max(0.0) * n / (n - 1.0).max(1.0) / n
        };
        let variance = variance(squares[0], up) + variance(squares[1], down);
        Some(Area { value, variance, rows: [up as usize, down as usize] })
    }

    /// Of the second class of two.
    pub fn of_two(truth: &[u32], scores: MatRef<'_, f64>) -> Option<Self> {
        let positive: Vec<bool> = truth.iter().map(|&t| t == 1).collect();
        Self::new(&positive, |i| scores[(i, 1)] - scores[(i, 0)])
    }
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

/// The standard error of the mean R² of several predictions of the same rows, by linearisation.
///
/// R² is a ratio of two means over rows, so each row's part in its error is
/// `((1 − R²) (t − t̄)² − (t − p)²) / variance`.
pub fn r2_error(truth: &[f64], told: &[&[f64]]) -> f64 {
    let n = truth.len() as f64;
    let mean = truth.iter().sum::<f64>() / n;
    let variance = truth.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n;
    if variance <= 0.0 || told.is_empty() {
        return 0.0;
    }
    let mut parts = vec![0.0; truth.len()];
    for told in told {
        let left = 1.0 - r2(truth, told);
        for ((part, t), p) in parts.iter_mut().zip(truth).zip(told.iter()) {
            let off = left * (t - mean).powi(2) - (t - p).powi(2);
            *part += off / variance;
        }
    }
    let runs = told.len() as f64;
    (parts.iter().map(|p| (p / runs).powi(2)).sum::<f64>() / n / n).sqrt()
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
    fn r2_is_that_of_the_textbook() {
        let truth = [3.0, -0.5, 2.0, 7.0];
        assert!((r2(&truth, &[2.5, 0.0, 2.0, 8.0]) - 0.948_608_137_044_967_9).abs() < 1e-15);
        let error = r2_error(&truth, &[&[2.5, 0.0, 2.0, 8.0]]);
        assert!(error > 0.01 && error < 0.1, "{error}");
        assert_eq!(r2_error(&truth, &[&truth]), 0.0);
    }

    #[test]
    fn the_first_of_equal_scores_wins() {
        assert_eq!(decide(Mat::<f64>::zeros(2, 3).as_ref()), [0, 0]);
    }
}
