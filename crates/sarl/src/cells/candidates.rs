//! The search for cells: intervals or boxes of z, merged at every price of leakage.

use super::fine::{Fine, bins, boxes};
use super::intervals::Runs;
use super::measure::{Measure, add};
use super::merging::groupings;
use super::partition::Partition;
use super::sample::Sample;

/// Prices of leakage, from `LEAST` by factors of `FACTOR`.
const PRICES: i32 = 28;
const LEAST: f64 = 0.02;
const FACTOR: f64 = 1.35;
/// Intervals that are merged.
const INTERVALS: usize = 24;

/// Cells that were found, and what they keep and give away on the rows that they were chosen on.
pub(super) struct Candidate {
    pub encoder: usize,
    pub partition: Partition,
    pub sums: Vec<Vec<f64>>,
    pub utility: f64,
}

impl Candidate {
    /// Those of one encoder, whose z has so many columns, for every price and number.
    pub fn all(
        sample: &Sample,
        (encoder, dim): (usize, usize),
        measure: &Measure,
        most: usize,
    ) -> Vec<Self> {
        let fine = match dim {
            1 => bins(sample, encoder, measure),
            _ => boxes(sample, encoder, dim, measure),
        };
        let prices = std::iter::once(0.0).chain((0..PRICES).map(|i| LEAST * FACTOR.powi(i)));
        let candidate = |partition: Partition, sums: Vec<Vec<f64>>| {
            let (partition, sums) = decided(measure, partition, sums);
            let utility = sums.iter().map(|s| measure.utility(s)).sum();
            Candidate { encoder, partition, sums, utility }
        };
        let mut all = Vec::new();
        if dim != 1 {
            for price in prices {
                let found = groupings(measure, &fine.sums, price, most);
                let made =
                    found.into_iter().map(|g| candidate(fine.partition.relabelled(&g.of), g.sums));
                all.extend(made);
            }
            return all;
        }
        let runs = Runs::new(measure, &fine.sums);
        // Every single cut, also those that no price makes the best.
        for end in 1..fine.sums.len() {
            let (partition, sums) = intervals(&fine, measure, &[end, fine.sums.len()], &[0, 1]);
            all.push(candidate(partition, sums));
        }
        for price in prices {
            let found = runs.best(price, INTERVALS.max(most));
            for ends in found.iter().take(most).skip(1) {
                let own: Vec<u32> = (0..ends.len() as u32).collect();
                let (partition, sums) = intervals(&fine, measure, ends, &own);
                all.push(candidate(partition, sums));
            }
            let Some(ends) = found.last() else { continue };
            let own: Vec<u32> = (0..ends.len() as u32).collect();
            let (_, parts) = intervals(&fine, measure, ends, &own);
            for grouping in groupings(measure, &parts, price, most) {
                let (partition, sums) = intervals(&fine, measure, ends, &grouping.of);
                all.push(candidate(partition, sums));
            }
        }
        all
    }
}

/// Where accuracy is all that is kept, cells that predict the same are one: that keeps as much and
/// gives away less.
fn decided(
    measure: &Measure,
    partition: Partition,
    sums: Vec<Vec<f64>>,
) -> (Partition, Vec<Vec<f64>>) {
    let decisions: Option<Vec<Vec<usize>>> = sums.iter().map(|s| measure.decision(s)).collect();
    let Some(decisions) = decisions else { return (partition, sums) };
    let mut known: Vec<&Vec<usize>> = Vec::new();
    let mut merged: Vec<Vec<f64>> = Vec::new();
    let mut to = Vec::new();
    for (decision, sums) in decisions.iter().zip(&sums) {
        match known.iter().position(|k| *k == decision) {
            Some(at) => {
                add(&mut merged[at], sums);
                to.push(at as u32);
            }
            None => {
                to.push(known.len() as u32);
                known.push(decision);
                merged.push(sums.clone());
            }
        }
    }
    (partition.relabelled(&to), merged)
}

/// Bins up to each end as one run, in the given cells.
fn intervals(
    fine: &Fine,
    measure: &Measure,
    ends: &[usize],
    cells: &[u32],
) -> (Partition, Vec<Vec<f64>>) {
    let count = cells.iter().max().map_or(0, |c| *c as usize + 1);
    let mut sums = vec![vec![0.0; measure.width]; count];
    let mut start = 0;
    for (&end, &cell) in ends.iter().zip(cells) {
        for bin in &fine.sums[start..end] {
            add(&mut sums[cell as usize], bin);
        }
        start = end;
    }
    let cuts: Vec<f64> = ends[..ends.len() - 1].iter().map(|&end| fine.cuts[end - 1]).collect();
    (Partition::intervals(&cuts, cells), sums)
}
