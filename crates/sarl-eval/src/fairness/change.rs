//! How gaps change from some predictions to others of the same rows.
//!
//! The rows are resampled, and both gaps are taken of each resample: what both predictions have in common
//! does not count as noise. A resample draws a Poisson number of times each row. Rows of the same group,
//! truth and predictions are alike, so that only the table of their counts is drawn, however many rows
//! there are.
//!
//! The largest of several differences is too large on average, and larger still in resamples. So the
//! interval reaches on either side to the farthest of these: the quantiles of the resamples; those
//! quantiles reflected about the estimate, which undoes such a bias; and, where the interval of one of
//! the two gaps contains 0, what the change would be if there were no such gap. So nothing becomes better
//! that was not clearly unfair, and nothing worse that is not clearly unfair now.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use serde::Serialize;

use super::counts::Counts;
use super::groups::fifths;
use super::means::{Scale, spread};
use super::{Fairness, Measures};
use crate::audit::LEVEL;

/// How a gap changes, and whether that is clear.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// By how much; more than 0 is less fair.
    pub value: f64,
    /// Its 95 % interval.
    pub ci: [f64; 2],
    /// What that means.
    #[serde(rename = "verdict")]
    pub outcome: Outcome,
}

/// Whether a gap became smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Outcome {
    /// It became larger.
    #[serde(rename = "worse")]
    Worse,
    /// It became smaller.
    #[serde(rename = "better")]
    Better,
    /// The interval of its change contains 0.
    #[serde(rename = "no clear difference")]
    Unclear,
}

impl Outcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Worse => "worse",
            Outcome::Better => "better",
            Outcome::Unclear => "no clear difference",
        }
    }
}

impl Change {
    /// With the verdict that its interval has.
    pub fn new(value: f64, ci: [f64; 2]) -> Self {
        let outcome = match ci {
            [low, _] if low > 0.0 => Outcome::Worse,
            [_, high] if high < 0.0 => Outcome::Better,
            _ => Outcome::Unclear,
        };
        Change { value, ci, outcome }
    }

    fn resampled([from, to]: [Gap; 2], mut drawn: Vec<f64>, level: f64) -> Self {
        let value = to.value - from.value;
        drawn.sort_by(f64::total_cmp);
        let last = drawn.len().saturating_sub(1);
        let at = |share: f64| drawn.get((share * last as f64).round() as usize).copied();
        let ends = [at(level / 2.0), at(1.0 - level / 2.0)].map(|end| end.unwrap_or(value));
        let mut low = value.min(ends[0]).min(2.0 * value - ends[1]);
        let mut high = value.max(ends[1]).max(2.0 * value - ends[0]);
        // Predictions that are all the same in all resamples have no change to be unsure of.
        let unsure = drawn.first() != drawn.last();
        if unsure && to.least == 0.0 {
            low = low.min(-from.value);
        }
        if unsure && from.least == 0.0 {
            high = high.max(to.value);
        }
        Change::new(value, [low, high])
    }
}

/// A gap and the lower end of its interval.
#[derive(Clone, Copy)]
struct Gap {
    value: f64,
    least: f64,
}

/// The seed of the resamples.
const SEED: u64 = 0;
/// Resamples where they are cheap, and at least.
const MOST: usize = 1000;
const LEAST: usize = 200;
/// Draws of all resamples together, about.
const DRAWS: usize = 4_000_000;
/// Numbers are drawn in about so many batches at most.
const BATCHES: usize = 4000;

/// Each resample as the weights of units that stand for so many rows.
struct Resamples {
    rng: ChaCha8Rng,
    units: Vec<Poisson<f64>>,
}

impl Resamples {
    fn new(sizes: impl Iterator<Item = f64>) -> Self {
        // A size is a positive count, which is a mean that Poisson takes.
        let units = sizes.filter_map(|size| Poisson::new(size).ok()).collect();
        Resamples { rng: ChaCha8Rng::seed_from_u64(SEED), units }
    }

    fn count(&self) -> usize {
        (DRAWS / self.units.len().max(1)).clamp(LEAST, MOST)
    }

    fn draw(&mut self) -> impl Iterator<Item = f64> {
        self.units.iter().map(|unit| unit.sample(&mut self.rng))
    }
}

/// The gaps of both predictions in each resample.
pub type Drawn = Vec<[Measures<f64>; 2]>;

/// The changes from some predictions to others, with the gaps of resamples. Equalized odds is the larger
/// of two differences, each of which has half of the level.
pub fn changes([from, to]: [&Fairness; 2], drawn: &Drawn) -> Measures<Change> {
    type Of<T> = fn(&Measures<T>) -> T;
    let change = |of: Of<f64>, ci: Of<[f64; 2]>, level: f64| {
        let gap = |fair: &Fairness| Gap { value: of(&fair.gaps), least: ci(&fair.ci)[0] };
        let differences = drawn.iter().map(|[from, to]| of(to) - of(from));
        Change::resampled([gap(from), gap(to)], differences.collect(), level)
    };
    Measures {
        demographic_parity: change(|m| m.demographic_parity, |m| m.demographic_parity, LEVEL),
        equalized_odds: change(|m| m.equalized_odds, |m| m.equalized_odds, LEVEL / 2.0),
        equal_opportunity: from.gaps.equal_opportunity.map(|_| {
            change(
                |m| m.equal_opportunity.unwrap_or_default(),
                |m| m.equal_opportunity.unwrap_or_default(),
                LEVEL,
            )
        }),
    }
}

/// Resamples of rows that are given as group, truth, and both predictions.
pub fn of_classes(
    rows: impl Iterator<Item = (usize, u32, u32, u32)>,
    (groups, classes): (usize, usize),
    positives: &[u32],
) -> Drawn {
    let mut cells: BTreeMap<(usize, u32, u32, u32), f64> = BTreeMap::new();
    rows.for_each(|row| *cells.entry(row).or_default() += 1.0);
    let empty = Counts::new(groups, classes);
    let fill = |sides: &mut [Counts; 2], weights: &mut dyn Iterator<Item = f64>| {
        sides.iter_mut().for_each(Counts::clear);
        for (&(group, truth, from, to), weight) in cells.keys().zip(weights) {
            sides[0].add(group, truth, from, weight);
            sides[1].add(group, truth, to, weight);
        }
    };
    let mut whole = [empty.clone(), empty.clone()];
    fill(&mut whole, &mut cells.values().copied());
    let gaps = |sides: &[Counts; 2]| {
        [sides[0].gaps(&whole[0], positives), sides[1].gaps(&whole[1], positives)]
    };
    let mut resamples = Resamples::new(cells.values().copied());
    let count = resamples.count();
    let mut sides = [empty.clone(), empty];
    let draw = |_| {
        fill(&mut sides, &mut resamples.draw());
        gaps(&sides)
    };
    (0..count).map(draw).collect()
}

/// Some rows of one group and one fifth of the target.
#[derive(Clone, Copy, Default)]
struct Batch {
    group: usize,
    part: usize,
    rows: f64,
    /// Of both predictions.
    sums: [f64; 2],
}

/// Resamples of predicted numbers. Rows are drawn in batches of one group and one fifth of the
/// target, which say as much of means as the rows do.
pub fn of_numbers(truth: &[f64], told: [&[f64]; 2], places: &[usize], groups: usize) -> Drawn {
    let (scale, parts) = (Scale::new(truth), fifths(truth));
    let count = parts.iter().max().map_or(0, |&p| p as usize + 1);
    let each = (BATCHES / (groups * count).max(1)).max(50);
    let mut seen = vec![0_usize; groups * count];
    let mut batches: BTreeMap<(usize, usize), Batch> = BTreeMap::new();
    for (row, &group) in places.iter().enumerate() {
        let part = parts[row] as usize;
        let cell = group * count + part;
        let batch = batches.entry((cell, seen[cell] % each)).or_insert(Batch {
            group,
            part,
            ..Batch::default()
        });
        seen[cell] += 1;
        batch.rows += 1.0;
        batch.sums[0] += scale.of(told[0][row]);
        batch.sums[1] += scale.of(told[1][row]);
    }
    let gaps = |weights: &mut dyn Iterator<Item = f64>| {
        let mut cells = vec![[0.0; 3]; groups * count];
        for (batch, weight) in batches.values().zip(weights) {
            let cell = &mut cells[batch.group * count + batch.part];
            cell[0] += weight * batch.rows;
            cell[1] += weight * batch.sums[0];
            cell[2] += weight * batch.sums[1];
        }
        [1, 2].map(|side| {
            let whole = |group: usize| {
                let sum = |at: usize| -> f64 {
                    cells[group * count..][..count].iter().map(|cell| cell[at]).sum()
                };
                (sum(0) > 0.0).then(|| sum(side) / sum(0))
            };
            let alike = |part: usize| {
                let mean = |g: usize| Some(cells[g * count + part]).filter(|cell| cell[0] > 0.0);
                spread((0..groups).filter_map(mean).map(|cell| cell[side] / cell[0]))
            };
            Measures {
                demographic_parity: spread((0..groups).filter_map(whole)),
                equalized_odds: (0..count).map(alike).fold(0.0, f64::max),
                equal_opportunity: None,
            }
        })
    };
    let mut resamples = Resamples::new(batches.values().map(|_| 1.0));
    (0..resamples.count()).map(|_| gaps(&mut resamples.draw())).collect()
}
