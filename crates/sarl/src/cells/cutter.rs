//! The passes over the rows after the fit, in their order.

use super::choose::Chooser;
use super::goal::CellGoal;
use super::proposals::Proposals;
use super::{Counted, Part, PartRows};
use crate::encoder::Model;
use crate::moments::{Block, Element};
use crate::{Error, Fitted, Result};

/// What is asked of cells.
#[derive(Clone, Debug)]
pub enum Ask {
    /// The most useful model that meets a goal; an error where there is none.
    One(CellGoal),
    /// The same, or nothing.
    OneIfAny(CellGoal),
    /// Models along the front, so many at most: those that give away least first. They share
    /// 1 − confidence.
    Front(CellGoal, usize),
}

/// Cuts z into cells: rows to choose on come first, then rows to certify on; see the [module](super).
#[derive(Clone, Debug)]
pub struct Cutter {
    asks: Vec<Ask>,
    step: Step,
}

#[derive(Clone, Debug)]
enum Step {
    Choose(Box<Chooser>),
    /// Proposals for each ask.
    Certify(Vec<Proposals>),
}

impl Ask {
    fn goal(&self) -> &CellGoal {
        match self {
            Ask::One(goal) | Ask::OneIfAny(goal) | Ask::Front(goal, _) => goal,
        }
    }

    /// What should meet it when it is certified on `rows` other rows.
    fn proposals(&self, chooser: &mut Chooser, rows: u64) -> Result<Proposals> {
        match self {
            Ask::One(goal) => chooser.choose(goal, rows),
            Ask::OneIfAny(goal) => match chooser.choose(goal, rows) {
                Err(Error::Uncertifiable { .. } | Error::NoCells { .. }) => {
                    Proposals::new(Vec::new(), goal, 1, PartRows::default())
                }
                found => found,
            },
            Ask::Front(goal, points) => chooser.front(goal, rows, *points),
        }
    }

    /// The certified models that it is answered with.
    fn answer(&self, proposals: Proposals) -> Result<Vec<Model>> {
        match self {
            Ask::One(_) => Ok(vec![proposals.first_met()?]),
            Ask::OneIfAny(_) => match proposals.first_met() {
                Err(Error::NotCertified { .. }) => Ok(Vec::new()),
                model => Ok(vec![model?]),
            },
            Ask::Front(..) => Ok(proposals.certified()),
        }
    }
}

impl Cutter {
    /// For encoders of a fit, whose rows must not come again.
    pub fn new(fitted: &Fitted, asks: Vec<Ask>, seed: u64) -> Result<Self> {
        for goal in asks.iter().map(Ask::goal) {
            goal.check()?;
            goal.check_names(fitted.layout().labels())?;
        }
        let step = Step::Choose(Box::new(Chooser::new(fitted, seed)?));
        Ok(Cutter { asks, step })
    }

    /// The part of the rows that is pushed now.
    pub fn part(&self) -> Part {
        match self.step {
            Step::Choose(_) => Part::Choose,
            Step::Certify(_) => Part::Certify,
        }
    }

    /// Rows of this part so far.
    pub fn rows(&self) -> u64 {
        match &self.step {
            Step::Choose(chooser) => chooser.rows(),
            Step::Certify(all) => all.iter().map(Proposals::rows).max().unwrap_or(0),
        }
    }

    /// Adds rows of [`Cutter::part`].
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        match &mut self.step {
            Step::Choose(chooser) => chooser.push(block),
            Step::Certify(all) => all.iter_mut().try_for_each(|some| some.push(block)),
        }
    }

    /// Chooses cells that should meet what is asked when `rows` other rows certify them. From now on
    /// those rows are pushed.
    pub fn choose(&mut self, rows: u64) -> Result<()> {
        let Step::Choose(chooser) = &mut self.step else {
            return Err(Error::Unavailable("the cells were chosen before"));
        };
        let proposals = self.asks.iter().map(|ask| ask.proposals(chooser, rows));
        self.step = Step::Certify(proposals.collect::<Result<_>>()?);
        Ok(())
    }

    /// The models whose cells wait for rows to be certified on, where others count these: see
    /// [`Certifier`](super::Certifier) and [`Cutter::merge`].
    pub fn proposals(&self) -> Vec<&Model> {
        match &self.step {
            Step::Choose(_) => Vec::new(),
            Step::Certify(all) => all.iter().flat_map(Proposals::models).collect(),
        }
    }

    /// Adds what was counted elsewhere for each of [`Cutter::proposals`].
    pub fn merge(&mut self, counted: &[Counted]) -> Result<()> {
        let expected = self.proposals().len();
        if counted.len() != expected {
            return Err(Error::shape("counts of proposals", counted.len(), expected));
        }
        let Step::Certify(all) = &mut self.step else {
            return Err(Error::Unavailable("no cells were chosen"));
        };
        let mut certifiers = all.iter_mut().flat_map(Proposals::certifiers).zip(counted);
        certifiers.try_for_each(|(certifier, counted)| certifier.merge(counted))
    }

    /// Whether there are no cells to certify.
    pub fn is_empty(&self) -> bool {
        match &self.step {
            Step::Choose(_) => false,
            Step::Certify(all) => all.iter().all(Proposals::is_empty),
        }
    }

    /// The certified models that each ask is answered with.
    pub fn finish(self) -> Result<Vec<Vec<Model>>> {
        let Step::Certify(all) = self.step else {
            return Err(Error::Unavailable("no cells were chosen"));
        };
        self.asks.iter().zip(all).map(|(ask, proposals)| ask.answer(proposals)).collect()
    }
}
