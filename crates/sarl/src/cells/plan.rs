//! What the certificate of cells is expected to be, before the rows that certify have come.

use super::bounds::{Rule, mean_margin};
use super::candidates::Candidate;
use super::counts::Counts;
use super::goal::{Adversary, CellGoal};
use super::measure::Measure;

/// What a certificate will be about.
pub(super) struct Plan<'a> {
    pub goal: &'a CellGoal,
    pub measure: &'a Measure,
    pub names: Vec<&'a str>,
    /// Rows to certify, for each row to choose on.
    pub times: f64,
    pub delta: f64,
}

/// About how many standard deviations an exact limit at this level is away; a little more than less.
fn tail(level: f64) -> f64 {
    let twice = (-2.0 * level.ln()).max(3.0);
    1.05 * (twice - (std::f64::consts::TAU * twice).ln().min(twice - 1.0)).sqrt()
}

impl Plan<'_> {
    /// The counts of an attribute on the rows to choose on.
    pub fn counts(&self, attribute: usize, candidate: &Candidate) -> Counts {
        let at = self.measure.groups[attribute].clone();
        let mut counts = Counts::new(candidate.sums.len(), at.len());
        for (cell, sums) in candidate.sums.iter().enumerate() {
            for (group, n) in sums[at.clone()].iter().enumerate() {
                counts.set(cell, group, *n as u64);
            }
        }
        counts
    }

    /// The largest excess over a limit that is to be expected, so many standard deviations up.
    pub fn excess(&self, candidate: &Candidate, slack: f64) -> f64 {
        let excess =
            |(a, name): (usize, &&str)| self.bound(a, candidate, slack) - self.goal.limit(name);
        self.names.iter().enumerate().map(excess).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest bound that is to be expected.
    pub fn expected(&self, candidate: &Candidate, slack: f64) -> f64 {
        (0..self.names.len()).map(|a| self.bound(a, candidate, slack)).fold(0.0, f64::max)
    }

    /// The bound of an attribute that is to be expected, so many standard deviations up.
    fn bound(&self, attribute: usize, candidate: &Candidate, slack: f64) -> f64 {
        let (measure, sums) = (self.measure, &candidate.sums);
        let at = measure.groups[attribute].clone();
        let q = at.len() as f64;
        let sizes = &measure.totals[at.clone()];
        let seen: f64 = sums.iter().map(|s| measure.leaked(attribute, s)).sum();
        // Both the rows chosen on and those certified on vary.
        let both = |n: f64| 1.0 / n.max(1.0) + 1.0 / (n * self.times).max(1.0);
        if self.goal.adversary == Adversary::Accuracy {
            let n = measure.totals[0];
            let deviation = (seen * (1.0 - seen)).max(0.0).sqrt();
            let margin = tail(self.delta) / (n * self.times).max(1.0).sqrt() * deviation;
            return (seen + margin + slack * deviation * both(n).sqrt()).min(1.0);
        }
        let guess = 1.0 / (q - 1.0);
        // The share of each group that the best table recognises.
        let mut recognised = vec![0.0; at.len()];
        for sums in sums {
            let shares = sums[at.clone()].iter().zip(sizes).map(|(n, all)| n / all.max(1.0));
            let best = shares.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((s, share)) = best {
                recognised[s] += share;
            }
        }
        let variance = |s: usize| recognised[s] * (1.0 - recognised[s]).max(0.0);
        let spread: f64 = (0..at.len()).map(|s| variance(s) * both(sizes[s])).sum();
        let scaled: Vec<u64> =
            sizes.iter().map(|n| (n * self.times).round().max(1.0) as u64).collect();
        let mean = mean_margin(&scaled, self.delta) * q * guess;
        let margin = match Rule::Subsets.suits(sums.len(), at.len()) {
            true => {
                let level = 0.5 * self.delta;
                // The second term is what a share of nothing can still be.
                let each = |s: usize| {
                    let n = scaled[s] as f64;
                    tail(level) * (variance(s) / n).sqrt() - level.ln() / n
                };
                mean.min((0..at.len()).map(each).sum::<f64>())
            }
            false => mean,
        };
        (seen - guess + margin + slack * spread.sqrt() * guess).min(1.0)
    }
}
