//! Cells from fine ones: merged in pairs, also such as do not touch, with local moves.
//!
//! Two cells in which different groups are in excess lose leakage when they are merged, wherever they
//! lie.

use super::measure::{Measure, add};

/// Sweeps of local moves at most.
const SWEEPS: usize = 8;
/// A gain below this is rounding.
const GAIN: f64 = 1e-12;

/// A grouping of fine cells.
#[derive(Clone, Debug)]
pub(super) struct Grouping {
    /// The cell of each fine cell.
    pub of: Vec<u32>,
    /// The sums of each cell.
    pub sums: Vec<Vec<f64>>,
}

impl Grouping {
    /// Every fine cell by itself.
    pub(super) fn single(fine: &[Vec<f64>]) -> Self {
        Grouping { of: (0..fine.len() as u32).collect(), sums: fine.to_vec() }
    }

    /// Merges two cells; the last one takes the place of the second.
    fn merge(&mut self, (a, b): (usize, usize)) {
        let (more, last) = (self.sums[b].clone(), self.sums.len() - 1);
        add(&mut self.sums[a], &more);
        self.sums.swap_remove(b);
        for cell in &mut self.of {
            *cell = match *cell as usize {
                c if c == b => a as u32,
                c if c == last => b as u32,
                c => c as u32,
            };
        }
    }

    /// Moves single fine cells while that is better. No cell is emptied.
    fn improve(&mut self, measure: &Measure, fine: &[Vec<f64>], price: f64) {
        let less = |from: &[f64], part: &[f64]| -> Vec<f64> {
            from.iter().zip(part).map(|(a, b)| a - b).collect()
        };
        let more = |to: &[f64], part: &[f64]| -> Vec<f64> {
            to.iter().zip(part).map(|(a, b)| a + b).collect()
        };
        let mut value: Vec<f64> = self.sums.iter().map(|s| measure.value(s, price)).collect();
        let mut members = vec![0usize; self.sums.len()];
        self.of.iter().for_each(|&c| members[c as usize] += 1);
        for _ in 0..SWEEPS {
            let mut moved = false;
            for (i, part) in fine.iter().enumerate() {
                let home = self.of[i] as usize;
                if members[home] < 2 {
                    continue;
                }
                let left = less(&self.sums[home], part);
                let left_value = measure.value(&left, price);
                let gain = |c: usize| {
                    let joined = measure.value(&more(&self.sums[c], part), price);
                    joined + left_value - value[c] - value[home]
                };
                let others = (0..self.sums.len()).filter(|&c| c != home).map(|c| (c, gain(c)));
                let Some((to, gain)) = others.max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
                if gain > GAIN {
                    self.sums[to] = more(&self.sums[to], part);
                    self.sums[home] = left;
                    value[to] = measure.value(&self.sums[to], price);
                    value[home] = left_value;
                    members[to] += 1;
                    members[home] -= 1;
                    self.of[i] = to as u32;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }
}

/// Groupings of fine cells into every number of cells from `most` down to 2: those that keep most
/// when what they give away has a price, found by merging the pair that costs least.
pub(super) fn groupings(
    measure: &Measure,
    fine: &[Vec<f64>],
    price: f64,
    most: usize,
) -> Vec<Grouping> {
    let mut grouping = Grouping::single(fine);
    let mut all = Vec::new();
    let value = |sums: &[f64]| measure.value(sums, price);
    let mut values: Vec<f64> = grouping.sums.iter().map(|s| value(s)).collect();
    let mut joined = vec![0.0; measure.width];
    loop {
        let cells = grouping.sums.len();
        if cells <= most && cells >= 2 {
            let mut better = grouping.clone();
            better.improve(measure, fine, price);
            all.push(better);
        }
        if cells <= 2 {
            return all;
        }
        let mut best = ((0, 1), f64::NEG_INFINITY);
        for a in 0..cells {
            for b in a + 1..cells {
                joined.copy_from_slice(&grouping.sums[a]);
                add(&mut joined, &grouping.sums[b]);
                let gain = value(&joined) - values[a] - values[b];
                if gain > best.1 {
                    best = ((a, b), gain);
                }
            }
        }
        let (a, b) = best.0;
        grouping.merge((a, b));
        values[a] = value(&grouping.sums[a]);
        values.swap_remove(b);
    }
}
