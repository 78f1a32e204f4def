//! The search for cells: on rows that did not fit the encoder and will not certify.

use rayon::prelude::*;

use super::bounds::{Rule, mean_margin};
use super::cells::{Cells, PartRows};
use super::counts::Counts;
use super::fine::{Fine, bins, boxes};
use super::goal::{Adversary, CellGoal, CellUtility};
use super::intervals::Runs;
use super::measure::{Kind, Measure, add, most};
use super::merging::groupings;
use super::partition::Partition;
use super::proposals::Proposals;
use super::sample::Sample;
use crate::encoder::{Encoder, Model};
use crate::front::Goal;
use crate::moments::{Block, Element, Label, Layout, Role};
use crate::{Criterion, Error, Result};

/// The leakages of the encoders that are cut, as shares of that of full utility.
const LEAKAGES: [f64; 25] = [
    0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.24, 0.28, 0.33, 0.38, 0.44, 0.5,
    0.56, 0.62, 0.68, 0.74, 0.8, 0.86, 0.92, 0.96, 1.0,
];
/// Prices of leakage, from `LEAST` by factors of `FACTOR`.
const PRICES: i32 = 28;
const LEAST: f64 = 0.02;
const FACTOR: f64 = 1.35;
/// Intervals that are merged.
const INTERVALS: usize = 24;
/// How many standard deviations below the limit each proposal is expected to be. The first keeps
/// most, the last is almost sure to be certified.
const SLACK: [f64; LOOKS] = [0.25, 1.0, 1.75, 2.75];
/// Proposals that may be certified on the same rows; each has its part of 1 − confidence.
const LOOKS: usize = 4;

/// Chooses the cells of an encoder. Rows pass by once.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    labels: Vec<Label>,
    layout: Layout,
    models: Vec<Model>,
    encoders: Vec<Encoder>,
    sample: Sample,
    /// Rows of the fit.
    fitted: u64,
}

/// Cells that were found, and what they keep and give away on the rows that they were chosen on.
struct Candidate {
    encoder: usize,
    partition: Partition,
    sums: Vec<Vec<f64>>,
    utility: f64,
}

/// What a certificate will be about.
struct Plan<'a> {
    goal: &'a CellGoal,
    measure: &'a Measure,
    names: Vec<&'a str>,
    /// Rows to certify, for each row to choose on.
    times: f64,
    delta: f64,
}

impl Chooser {
    /// For encoders of a fit, from none to all of what its model of full utility leaks.
    pub(super) fn new(fitted: &crate::Fitted, seed: u64) -> Result<Self> {
        let criterion = fitted.params().criterion;
        if criterion != Criterion::Parity {
            let problem = "is not certified: a guarantee against every adversary is about all of an \
                           attribute";
            return Err(Error::Criterion { criterion: criterion.name(), problem });
        }
        let full = fitted.solve(Goal::Lambda(0.0))?;
        let most = full.point().leakage;
        let mut models = Vec::new();
        for share in LEAKAGES {
            let model = match share < 1.0 {
                true => full.retune(Goal::Leakage(share * most)),
                false => Ok(full.clone()),
            };
            match model {
                Ok(model) if model.point().dim > 0 => models.push(model),
                // Nothing can be kept at this leakage.
                Ok(_) | Err(Error::Unreachable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let labels = full.labels().to_vec();
        Measure::new(&labels, Adversary::Advantage, CellUtility::Accuracy)?;
        let encoders: Vec<Encoder> = models.iter().map(Model::encoder).collect();
        let sample = Sample::new(encoders.len(), seed);
        let layout = full.encoder().layout(&labels);
        let fitted = fitted.moments().rows();
        Ok(Chooser { labels, layout, models, encoders, sample, fitted })
    }

    /// Adds rows. They must be others than those of the fit, and will not be certified on.
    pub(super) fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        if block.weights.is_some() {
            return Err(Error::Weighted);
        }
        block.check_beside(&self.layout, self.rows())?;
        let z = Encoder::encode_each(&self.encoders, block)?;
        self.sample.push(block, &z);
        Ok(())
    }

    /// Rows that passed by.
    pub(super) fn rows(&self) -> u64 {
        self.sample.seen()
    }

    /// Models with cells that should meet the goal when they are certified on `rows` other rows:
    /// the most useful first, the surest last.
    pub(super) fn choose(&mut self, goal: &CellGoal, rows: u64) -> Result<Proposals> {
        let (measure, candidates) = self.search(goal)?;
        let plan = self.plan(goal, &measure, rows, LOOKS);
        let mut chosen: Vec<&Candidate> = Vec::new();
        for slack in SLACK {
            let fits = |c: &&Candidate| plan.excess(c, slack) <= 0.0;
            if let Some(best) = best(candidates.iter().filter(fits)) {
                chosen.push(best);
            }
        }
        if candidates.is_empty() {
            return Err(Error::NoCells { rows: self.sample.rows() as u64 });
        }
        if chosen.is_empty() {
            let least = candidates.iter().map(|c| plan.expected(c, 0.0)).fold(1.0, f64::min);
            let asked = plan.names.iter().map(|name| goal.limit(name)).fold(1.0, f64::min);
            return Err(Error::Uncertifiable { goal: goal.name(), asked, least });
        }
        let models = chosen.into_iter().map(|c| self.model(c, &plan)).collect();
        Proposals::new(models, goal, LOOKS, self.part_rows())
    }

    fn part_rows(&self) -> PartRows {
        PartRows { fit: self.fitted, choose: self.rows(), certify: 0 }
    }

    /// Models with cells along the front, for a certificate each: `count` of them at most, those that
    /// give away least first.
    pub(super) fn front(&mut self, goal: &CellGoal, rows: u64, count: usize) -> Result<Proposals> {
        let (measure, candidates) = self.search(goal)?;
        let plan = self.plan(goal, &measure, rows, count);
        let expected: Vec<f64> = candidates.iter().map(|c| plan.expected(c, 0.0)).collect();
        let least = expected.iter().copied().fold(1.0, f64::min);
        let Some(top) = best(candidates.iter()) else {
            return Proposals::new(Vec::new(), goal, 1, self.part_rows());
        };
        let most = plan.expected(top, 0.0);
        let mut chosen: Vec<&Candidate> = Vec::new();
        for i in 0..count {
            let share = i as f64 / (count.max(2) - 1) as f64;
            let level = least + (most - least) * share * share;
            let within = candidates.iter().zip(&expected).filter(|(_, e)| **e <= level);
            if let Some(found) = best(within.map(|(c, _)| c))
                && chosen.last().is_none_or(|last| found.utility > last.utility)
            {
                chosen.push(found);
            }
        }
        let models: Vec<Model> = chosen.into_iter().map(|c| self.model(c, &plan)).collect();
        let looks = models.len();
        Proposals::new(models, goal, looks, self.part_rows())
    }

    fn plan<'a>(
        &'a self,
        goal: &'a CellGoal,
        measure: &'a Measure,
        rows: u64,
        looks: usize,
    ) -> Plan<'a> {
        let hidden = self.labels.iter().filter(|l| l.role == Role::Sensitive);
        let names: Vec<&str> = hidden.map(|l| l.name.as_str()).collect();
        let times = rows as f64 / self.sample.rows().max(1) as f64;
        let delta = (1.0 - goal.confidence) / (looks * names.len()) as f64;
        Plan { goal, measure, names, times, delta }
    }

    /// All cells worth a thought.
    fn search(&mut self, goal: &CellGoal) -> Result<(Measure, Vec<Candidate>)> {
        if self.sample.rows() < 2 {
            return Err(Error::TooFewRows { rows: self.sample.rows() as u64 });
        }
        let measure =
            self.sample.measure(Measure::new(&self.labels, goal.adversary, goal.utility)?);
        let of = |encoder: usize| self.candidates(encoder, &measure, goal.cells);
        let all: Vec<Vec<Candidate>> = (0..self.encoders.len()).into_par_iter().map(of).collect();
        let nothing = measure.nothing();
        let useful = all.into_iter().flatten().filter(|c| c.utility > nothing + 1e-9).collect();
        Ok((measure, useful))
    }

    /// The cells of one encoder, for every price and number.
    fn candidates(&self, encoder: usize, measure: &Measure, most: usize) -> Vec<Candidate> {
        let dim = self.encoders[encoder].dim();
        let fine = match dim {
            1 => bins(&self.sample, encoder, measure),
            _ => boxes(&self.sample, encoder, dim, measure),
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

    /// The model of a candidate, with its cells.
    fn model(&self, candidate: &Candidate, plan: &Plan<'_>) -> Model {
        let Candidate { encoder, partition, sums, .. } = candidate;
        let (z, dim) = (self.sample.z(*encoder), self.encoders[*encoder].dim());
        let mut centres = vec![vec![0.0; dim]; partition.cells()];
        for row in z.chunks(dim.max(1)) {
            let cell = partition.cell(|axis| row[axis]) as usize;
            centres[cell].iter_mut().zip(row).for_each(|(to, v)| *to += v);
        }
        for (centre, sums) in centres.iter_mut().zip(sums) {
            centre.iter_mut().for_each(|v| *v /= sums[0].max(1.0));
        }
        let rules = (0..plan.names.len())
            .map(|a| Rule::for_rows_like(&plan.counts(a, candidate), plan.times, plan.delta));
        let measure = plan.measure;
        let expected = measure.targets.iter().map(|target| {
            let of = |sums: &Vec<f64>| {
                let values = &sums[measure.labels[target.label].clone()];
                match target.kind {
                    Kind::Classes | Kind::Variance => vec![most(values) as f64],
                    Kind::Numbers => self.sample.means(target.label, values, sums[0]),
                }
            };
            sums.iter().map(of).collect()
        });
        let cells = Cells {
            partition: partition.clone(),
            centres,
            rules: rules.collect(),
            expected: expected.collect(),
            goal: plan.goal.clone(),
            certificate: None,
        };
        self.models[*encoder].clone().with_cells(cells)
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

/// The candidate that keeps most, of those the one with fewest cells.
fn best<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    candidates.max_by(|a, b| a.utility.total_cmp(&b.utility).then(b.sums.len().cmp(&a.sums.len())))
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

/// About how many standard deviations an exact limit at this level is away; a little more than less.
fn tail(level: f64) -> f64 {
    let twice = (-2.0 * level.ln()).max(3.0);
    1.05 * (twice - (std::f64::consts::TAU * twice).ln().min(twice - 1.0)).sqrt()
}

impl Plan<'_> {
    /// The counts of an attribute on the rows to choose on.
    fn counts(&self, attribute: usize, candidate: &Candidate) -> Counts {
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
    fn excess(&self, candidate: &Candidate, slack: f64) -> f64 {
        let excess =
            |(a, name): (usize, &&str)| self.bound(a, candidate, slack) - self.goal.limit(name);
        self.names.iter().enumerate().map(excess).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest bound that is to be expected.
    fn expected(&self, candidate: &Candidate, slack: f64) -> f64 {
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
