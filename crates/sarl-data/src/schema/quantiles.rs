//! Quantiles of the numbers of a label, in bounded memory.
//!
//! Numbers with few different values are counted, and their quantiles are exact. Of others a uniform
//! sample is kept.

use std::collections::BTreeMap;

use super::{ClassesOf, LabelValues};
use crate::column::ColumnKind;
use crate::text::Written;

/// The most different numbers that are counted, and the size of the sample.
const MOST: usize = 100_000;

#[derive(Debug, Default)]
pub(super) struct Quantiles {
    /// Weights and rows by number, in an order that is that of the numbers; nothing once there are too many.
    counted: Option<BTreeMap<i64, (f64, u64)>>,
    sample: Vec<(f64, f64)>,
    seen: u64,
    forgotten: bool,
}

impl Quantiles {
    pub(super) fn extend(&mut self, values: &[f64], weights: Option<&[f64]>) {
        for (i, &value) in values.iter().enumerate() {
            let weight = weights.map_or(1.0, |w| w[i]);
            if value.is_nan() || weight <= 0.0 {
                continue;
            }
            self.seen += 1;
            if !self.forgotten {
                let counted = self.counted.get_or_insert_default();
                let entry = counted.entry(order(value)).or_insert((0.0, 0));
                *entry = (entry.0 + weight, entry.1 + 1);
                if counted.len() > MOST {
                    (self.forgotten, self.counted) = (true, None);
                }
            }
            match self.sample.len() < MOST {
                true => self.sample.push((value, weight)),
                // Algorithm R, with a hash of the row's number for its random number.
                false => {
                    let slot = (splitmix(self.seen) % self.seen) as usize;
                    if let Some(place) = self.sample.get_mut(slot) {
                        *place = (value, weight);
                    }
                }
            }
        }
    }

    /// At most so many classes of about the same weight; nothing where one would have all rows.
    pub(super) fn bins(self, bins: usize, written: Written) -> Option<LabelValues> {
        let scale = self.seen as f64 / self.sample.len().max(1) as f64;
        let mut values: Vec<(f64, f64, f64)> = match self.counted {
            Some(counted) => {
                let value = |(key, (weight, rows))| (number(key), weight, rows as f64);
                counted.into_iter().map(value).collect()
            }
            None => self.sample.iter().map(|&(value, weight)| (value, weight, scale)).collect(),
        };
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let edges = edges(&values, bins);
        if edges.is_empty() {
            return None;
        }
        let mut counts = vec![0.0; edges.len() + 1];
        for (value, _, rows) in &values {
            counts[edges.partition_point(|edge| edge <= value)] += rows;
        }
        let counts = counts.into_iter().map(|rows| rows.round() as u64).collect();
        let values = names(&edges);
        let of = Some(ClassesOf::Bins { edges, written });
        Some(LabelValues::Class { kind: ColumnKind::Float, values, counts, of })
    }
}

/// The numbers that have at least k parts in `bins` of the weight below them, for each k; each once.
fn edges(values: &[(f64, f64, f64)], bins: usize) -> Vec<f64> {
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut edges: Vec<f64> = Vec::new();
    let (mut below, mut k) = (0.0, 1);
    for &(value, weight, _) in values {
        while k < bins && below >= total * k as f64 / bins as f64 {
            if edges.last() != Some(&value) {
                edges.push(value);
            }
            k += 1;
        }
        below += weight;
    }
    edges
}

/// `< 25`, `[25, 40)`, `≥ 40`.
pub(super) fn names(edges: &[f64]) -> Vec<String> {
    let between = edges.windows(2).map(|pair| format!("[{}, {})", pair[0], pair[1]));
    let first = edges.first().map(|edge| format!("< {edge}"));
    let last = edges.last().map(|edge| format!("≥ {edge}"));
    first.into_iter().chain(between).chain(last).collect()
}

/// A whole number that orders as the number does; both zeros are one.
fn order(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

/// The inverse of [`order`].
fn number(order: i64) -> f64 {
    f64::from_bits((order ^ (((order >> 63) as u64) >> 1) as i64) as u64)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn splitmix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], weights: Option<&[f64]>, bins: usize) -> (Vec<String>, Vec<u64>) {
        let mut quantiles = Quantiles::default();
        quantiles.extend(values, weights);
        match quantiles.bins(bins, Written::Plain) {
            Some(LabelValues::Class { values, counts, .. }) => (values, counts),
            _ => (Vec::new(), Vec::new()),
        }
    }

    #[test]
    fn parts_of_about_the_same_weight() {
        let values: Vec<f64> = (0..100).map(|i| f64::from((i * 37) % 100)).collect();
        let (names, counts) = of(&values, None, 4);
        assert_eq!(names, ["< 25", "[25, 50)", "[50, 75)", "≥ 75"]);
        assert_eq!(counts, [25, 25, 25, 25]);
        // Many rows of one number are not cut.
        let (names, counts) = of(&[3.0, 3.0, 3.0, 3.0, -1.5, 7.0], None, 3);
        assert_eq!((names, counts), (vec!["< 7".to_owned(), "≥ 7".to_owned()], vec![5, 1]));
        assert!(of(&[1.0, 3.0, 3.0, 3.0], None, 2).0.is_empty());
        let (names, _) = of(&[1.0, 2.0, 3.0], Some(&[8.0, 1.0, 1.0]), 2);
        assert_eq!(names, ["< 2", "≥ 2"]);
    }

    #[test]
    fn many_different_numbers_are_sampled() {
        let values: Vec<f64> = (0..300_000).map(|i| (splitmix(i) >> 11) as f64).collect();
        let (_, counts) = of(&values, None, 5);
        assert!(counts.iter().all(|c| (59_000..=61_000).contains(c)), "{counts:?}");
        assert_eq!(
            [-1.5, 0.0, 3.25, f64::MAX].map(|v| number(order(v))),
            [-1.5, 0.0, 3.25, f64::MAX]
        );
    }
}
