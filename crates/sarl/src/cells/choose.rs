//! The choice of cells: on rows that did not fit the encoder and will not certify.

use rayon::prelude::*;

use super::bounds::Rule;
use super::candidates::Candidate;
use super::cells::{Cells, PartRows};
use super::goal::{Adversary, CellGoal, CellUtility};
use super::measure::{Kind, Measure, most};
use super::plan::Plan;
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
        let of = |encoder: usize| {
            let dim = self.encoders[encoder].dim();
            Candidate::all(&self.sample, (encoder, dim), &measure, goal.cells)
        };
        let all: Vec<Vec<Candidate>> = (0..self.encoders.len()).into_par_iter().map(of).collect();
        let nothing = measure.nothing();
        let useful = all.into_iter().flatten().filter(|c| c.utility > nothing + 1e-9).collect();
        Ok((measure, useful))
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

/// The candidate that keeps most, of those the one with fewest cells.
fn best<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    candidates.max_by(|a, b| a.utility.total_cmp(&b.utility).then(b.sums.len().cmp(&a.sums.len())))
}
