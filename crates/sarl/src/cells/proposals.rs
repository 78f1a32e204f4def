//! Models with cells that wait for rows to be certified on.

use super::{CellGoal, Certifier, PartRows};
use crate::encoder::Model;
use crate::moments::{Block, Element};
use crate::{Error, Result};

/// Models with cells, proposed on some rows and certified on others. They share 1 − confidence, so
/// that all of their certificates hold together.
#[derive(Clone, Debug)]
pub(super) struct Proposals {
    all: Vec<(Model, Certifier)>,
    goal: CellGoal,
    looks: usize,
    rows: PartRows,
}

impl Proposals {
    /// `looks` is in how many parts 1 − confidence is cut.
    pub(super) fn new(
        models: Vec<Model>,
        goal: &CellGoal,
        looks: usize,
        rows: PartRows,
    ) -> Result<Self> {
        let with = |model: Model| Certifier::new(&model).map(|certifier| (model, certifier));
        let all = models.into_iter().map(with).collect::<Result<_>>()?;
        Ok(Proposals { all, goal: goal.clone(), looks, rows })
    }

    /// Whether nothing is proposed.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Rows certified on so far.
    pub(super) fn rows(&self) -> u64 {
        self.all.first().map_or(0, |(_, certifier)| certifier.rows())
    }

    /// Adds rows that neither fitted the encoder nor chose the cells.
    pub(super) fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        self.all.iter_mut().try_for_each(|(_, certifier)| certifier.push(block))
    }

    /// The models, without certificates.
    pub(super) fn models(&self) -> impl Iterator<Item = &Model> {
        self.all.iter().map(|(model, _)| model)
    }

    /// What counts rows for each model.
    pub(super) fn certifiers(&mut self) -> impl Iterator<Item = &mut Certifier> {
        self.all.iter_mut().map(|(_, certifier)| certifier)
    }

    /// Every model with its certificate.
    pub(super) fn certified(self) -> Vec<Model> {
        let Proposals { all, goal, looks, rows } = self;
        let certified = |(model, certifier): (Model, Certifier)| {
            model.certified(certifier.certificate(goal.confidence, looks, rows))
        };
        all.into_iter().map(certified).collect()
    }

    /// The first model whose certificate meets the goal: the most useful one.
    pub(super) fn first_met(self) -> Result<Model> {
        let goal = self.goal.clone();
        let mut reached = 1.0_f64;
        for model in self.certified() {
            let Some(found) = model.cells().and_then(|cells| cells.certificate()) else { continue };
            if found.meets(&goal) {
                return Ok(model);
            }
            let worst = found.bounds().iter().map(|b| goal.figure(b)).fold(0.0, f64::max);
            reached = reached.min(worst);
        }
        Err(Error::NotCertified { goal: goal.name(), reached })
    }
}
