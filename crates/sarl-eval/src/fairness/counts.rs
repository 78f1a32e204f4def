//! Predicted classes, counted by group and truth.

use super::{Group, Measures, Rates};
use crate::audit::LEVEL;
use crate::intervals;

/// How many rows of each group are of each class, were told to be, and were told so rightly. Weights
/// make it a table of a resample.
#[derive(Clone)]
pub struct Counts {
    classes: usize,
    rows: Vec<f64>,
    truth: Vec<f64>,
    told: Vec<f64>,
    right: Vec<f64>,
}

/// A share of rows that are told to be positive.
#[derive(Clone, Copy)]
enum Rate {
    /// Of all rows.
    Selected,
    /// Of the positive rows.
    TruePositive,
    /// Of the others.
    FalsePositive,
}

const ODDS: [Rate; 2] = [Rate::TruePositive, Rate::FalsePositive];

impl Counts {
    pub fn new(groups: usize, classes: usize) -> Self {
        // A positive class is asked for even where there is only one class.
        let classes = classes.max(2);
        let each = vec![0.0; groups * classes];
        Counts {
            classes,
            rows: vec![0.0; groups],
            truth: each.clone(),
            told: each.clone(),
            right: each,
        }
    }

    pub fn clear(&mut self) {
        for all in [&mut self.rows, &mut self.truth, &mut self.told, &mut self.right] {
            all.fill(0.0);
        }
    }

    pub fn add(&mut self, group: usize, truth: u32, told: u32, weight: f64) {
        let at = |class: u32| group * self.classes + class as usize;
        self.rows[group] += weight;
        self.truth[at(truth)] += weight;
        self.told[at(told)] += weight;
        if truth == told {
            self.right[at(told)] += weight;
        }
    }

    /// How many rows were told to be positive, of how many.
    fn share(&self, rate: Rate, group: usize, positive: u32) -> (f64, f64) {
        let at = group * self.classes + positive as usize;
        match rate {
            Rate::Selected => (self.told[at], self.rows[group]),
            Rate::TruePositive => (self.right[at], self.truth[at]),
            Rate::FalsePositive => {
                (self.told[at] - self.right[at], self.rows[group] - self.truth[at])
            }
        }
    }

    /// The largest difference between groups. A rate that has no rows in `base` is 0; in a resample
    /// of it, one that has lost its rows is left out.
    fn gap(&self, base: &Counts, rate: Rate, positive: u32) -> f64 {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for group in 0..self.rows.len() {
            let (told, of) = self.share(rate, group, positive);
            let value = match of > 0.0 {
                true => told / of,
                false if base.share(rate, group, positive).1 > 0.0 => continue,
                false => 0.0,
            };
            (least, most) = (least.min(value), most.max(value));
        }
        (most - least).max(0.0)
    }

    /// The largest differences between groups, over the positive classes.
    pub fn gaps(&self, base: &Counts, positives: &[u32]) -> Measures<f64> {
        let most = |rate| positives.iter().map(|&p| self.gap(base, rate, p)).fold(0.0, f64::max);
        let opportunity = most(Rate::TruePositive);
        Measures {
            demographic_parity: most(Rate::Selected),
            equalized_odds: opportunity.max(most(Rate::FalsePositive)),
            equal_opportunity: Some(opportunity),
        }
    }

    /// The intervals of these.
    pub fn intervals(&self, positives: &[u32]) -> Measures<[f64; 2]> {
        Measures {
            demographic_parity: self.interval(&[Rate::Selected], positives),
            equalized_odds: self.interval(&ODDS, positives),
            equal_opportunity: Some(self.interval(&[Rate::TruePositive], positives)),
        }
    }

    fn interval(&self, rates: &[Rate], positives: &[u32]) -> [f64; 2] {
        let all = || rates.iter().flat_map(|&r| positives.iter().map(move |&p| (r, p)));
        let known = |(rate, positive)| {
            let shares = (0..self.rows.len()).map(move |g| self.share(rate, g, positive));
            shares.filter(|(_, of)| *of > 0.0)
        };
        let pairs: usize = all().map(known).map(|k| pairs(k.count())).sum();
        let level = LEVEL / pairs.max(1) as f64;
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for one in all() {
            let ends: Vec<(f64, [f64; 2])> = known(one)
                .map(|(told, of)| (told / of, intervals::share(told / of, of as usize, level)))
                .collect();
            for (i, a) in ends.iter().enumerate() {
                for b in &ends[..i] {
                    let [least, most] = apart(*a, *b);
                    (low, high) = (low.max(least), high.max(most));
                }
            }
            high = high.max(self.gap(self, one.0, one.1));
        }
        [low, high]
    }

    pub fn group(&self, at: usize, group: u32, positives: &[u32]) -> Group {
        let rates = |rate| {
            let one = |&p: &u32| {
                let (told, of) = self.share(rate, at, p);
                told / of.max(1.0)
            };
            positives.iter().map(one).collect::<Vec<f64>>()
        };
        let right: f64 = self.right[at * self.classes..][..self.classes].iter().sum();
        let positive = |&p: &u32| self.truth[at * self.classes + p as usize] as usize;
        Group {
            group,
            rows: self.rows[at] as usize,
            rates: Rates::Class {
                accuracy: right / self.rows[at],
                selected: rates(Rate::Selected),
                true_positive: rates(Rate::TruePositive),
                false_positive: rates(Rate::FalsePositive),
                positive_rows: positives.iter().map(positive).collect(),
            },
        }
    }
}

/// The number of pairs of so many groups.
pub fn pairs(groups: usize) -> usize {
    groups * groups.saturating_sub(1) / 2
}

/// Newcombe's interval of how far two shares are apart, each with its own interval.
fn apart(a: (f64, [f64; 2]), b: (f64, [f64; 2])) -> [f64; 2] {
    let (more, less) = if a.0 >= b.0 { (a, b) } else { (b, a) };
    let difference = more.0 - less.0;
    let below = (more.0 - more.1[0]).hypot(less.1[1] - less.0);
    let above = (more.1[1] - more.0).hypot(less.0 - less.1[0]);
    sizes(difference, below, above)
}

/// The interval of the size of a difference that may be so much less or more.
pub fn sizes(difference: f64, below: f64, above: f64) -> [f64; 2] {
    let (low, high) = (difference - below, difference + above);
    [low.max(0.0), high.max(-low)]
}
