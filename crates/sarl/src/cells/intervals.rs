//! The best cells that are intervals, by dynamic programming: exact in O(B² K) for B bins.

use super::measure::Measure;

/// What each run of neighbouring bins keeps and gives away.
pub(super) struct Runs {
    bins: usize,
    /// Of the bins from `i` to before `j`, at `j (j − 1) / 2 + i`.
    utility: Vec<f64>,
    leakage: Vec<f64>,
}

impl Runs {
    /// Of bins with these sums.
    pub(super) fn new(measure: &Measure, bins: &[Vec<f64>]) -> Self {
        let count = bins.len();
        let mut before = vec![vec![0.0; measure.width]];
        for bin in bins {
            let next = before[before.len() - 1].iter().zip(bin).map(|(a, b)| a + b).collect();
            before.push(next);
        }
        let size = count * (count + 1) / 2;
        let (mut utility, mut leakage) = (Vec::with_capacity(size), Vec::with_capacity(size));
        let mut sums = vec![0.0; measure.width];
        for j in 1..=count {
            for i in 0..j {
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = before[j][k] - before[i][k];
                }
                utility.push(measure.utility(&sums));
                leakage.push(measure.leakage(&sums));
            }
        }
        Runs { bins: count, utility, leakage }
    }

    /// For each number of intervals from 1 to `most`, where the best of them end: those that keep
    /// most when what they give away has a price.
    pub(super) fn best(&self, price: f64, most: usize) -> Vec<Vec<usize>> {
        let bins = self.bins;
        let value: Vec<f64> =
            self.utility.iter().zip(&self.leakage).map(|(u, l)| u - price * l).collect();
        let runs_to = |j: usize| &value[j * (j - 1) / 2..][..j];
        let most = most.min(bins);
        let mut best: Vec<f64> = vec![f64::NEG_INFINITY; bins + 1];
        best[0] = 0.0;
        // Where the last interval starts, for each number of them and each end.
        let mut starts: Vec<Vec<usize>> = Vec::with_capacity(most);
        for _ in 0..most {
            let mut next = vec![f64::NEG_INFINITY; bins + 1];
            let mut from = vec![0; bins + 1];
            for j in 1..=bins {
                for (i, (before, run)) in best.iter().zip(runs_to(j)).enumerate() {
                    let value = before + run;
                    if value > next[j] {
                        next[j] = value;
                        from[j] = i;
                    }
                }
            }
            starts.push(from);
            best = next;
        }
        let ends = |count: usize| {
            let mut ends = vec![bins];
            for level in (1..count).rev() {
                let end = ends[ends.len() - 1];
                ends.push(starts[level][end]);
            }
            ends.reverse();
            ends
        };
        (1..=most).map(ends).collect()
    }
}
