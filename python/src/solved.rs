//! A solved problem: whole, or an erasure that holds no more than a few directions.

use std::collections::BTreeMap;

use pyo3::PyResult;
use sarl::cells::Cells;
use sarl::{
    Attributes, Bounds, Certificate, Criterion, Erasing, Erasure, Front, Goal, Label, Model, Point,
};

use crate::failure::{refused, wrong};

/// See the module.
#[derive(Clone)]
pub enum Solved {
    Whole(Box<Model>),
    Erasing(Box<Erasing>),
}

impl Solved {
    /// The whole problem, which other goals need.
    pub fn whole(&self) -> PyResult<&Model> {
        match self {
            Solved::Whole(model) => Ok(model),
            Solved::Erasing(_) => Err(wrong(
                "this erasure holds only a few directions, not the problem that it solved: z needs \
                 the moments of its rows, or a file that was saved with whole=True",
            )),
        }
    }

    /// Refuses an erasure that holds nothing but what it takes off.
    fn check_directions(&self) -> PyResult<()> {
        match self {
            Solved::Erasing(erasing) if !erasing.has_space() => Err(wrong(
                "this full erasure holds only what it takes off, not the problem that it solved: \
                 other goals and the front need the moments of its rows, or a file that was saved \
                 with whole=True",
            )),
            _ => Ok(()),
        }
    }

    /// All trade-offs.
    pub fn front(&self) -> PyResult<Front<'_>> {
        self.check_directions()?;
        match self {
            Solved::Whole(model) => model.front(),
            Solved::Erasing(erasing) => erasing.front(),
        }
        .map_err(refused)
    }

    /// Another goal from the same fit.
    pub fn retune(&self, goal: Goal) -> PyResult<Self> {
        self.check_directions()?;
        let solved = match self {
            Solved::Whole(model) => model.retune(goal).map(|m| Solved::Whole(Box::new(m))),
            Solved::Erasing(erasing) => erasing.retune(goal).map(|e| Solved::Erasing(Box::new(e))),
        };
        solved.map_err(refused)
    }

    /// Where z is cut, if it is.
    pub fn cells(&self) -> Option<&Cells> {
        match self {
            Solved::Whole(model) => model.cells(),
            Solved::Erasing(_) => None,
        }
    }

    /// Refuses what would go around the cells of a model.
    pub fn check_uncut(&self, what: &str) -> PyResult<()> {
        match self.cells() {
            Some(_) => Err(wrong(format!(
                "this model gives cells with a guarantee, never z itself: there is no {what} of it"
            ))),
            None => Ok(()),
        }
    }

    pub fn is_whole(&self) -> bool {
        matches!(self, Solved::Whole(_))
    }

    pub fn is_linear(&self) -> bool {
        match self {
            Solved::Whole(model) => model.is_linear(),
            Solved::Erasing(_) => true,
        }
    }

    pub fn cap(&self) -> Option<usize> {
        match self {
            Solved::Whole(model) => model.cap(),
            Solved::Erasing(_) => None,
        }
    }

    pub fn ridge(&self) -> f64 {
        match self {
            Solved::Whole(model) => model.reduced().ridge(),
            Solved::Erasing(erasing) => erasing.ridge(),
        }
    }

    pub fn rows(&self) -> u64 {
        match self {
            Solved::Whole(model) => model.reduced().rows(),
            Solved::Erasing(erasing) => erasing.rows(),
        }
    }

    pub fn basis(&self) -> usize {
        match self {
            Solved::Whole(model) => model.reduced().basis(),
            Solved::Erasing(erasing) => erasing.basis(),
        }
    }

    pub fn inputs(&self) -> usize {
        match self {
            Solved::Whole(model) => model.inputs(),
            Solved::Erasing(erasing) => erasing.inputs(),
        }
    }

    /// How dense inputs are scaled.
    pub fn scaling(&self) -> Option<&sarl::Scaling> {
        match self {
            Solved::Whole(model) => model.scaling(),
            Solved::Erasing(erasing) => erasing.scaling(),
        }
    }

    pub fn goal(&self) -> &Goal {
        match self {
            Solved::Whole(model) => model.goal(),
            Solved::Erasing(erasing) => erasing.goal(),
        }
    }

    pub fn point(&self) -> &Point {
        match self {
            Solved::Whole(model) => model.point(),
            Solved::Erasing(erasing) => erasing.point(),
        }
    }

    pub fn certificate(&self) -> &Certificate {
        match self {
            Solved::Whole(model) => model.certificate(),
            Solved::Erasing(erasing) => erasing.certificate(),
        }
    }

    pub fn bounds(&self) -> sarl::Result<Bounds> {
        Ok(match self {
            Solved::Whole(model) => *model.front()?.bounds(),
            Solved::Erasing(erasing) => *erasing.bounds(),
        })
    }

    pub fn attributes(&self) -> sarl::Result<Attributes> {
        match self {
            Solved::Whole(model) => model.attributes(),
            Solved::Erasing(erasing) => Ok(erasing.attributes()),
        }
    }

    pub fn labels(&self) -> &[Label] {
        match self {
            Solved::Whole(model) => model.labels(),
            Solved::Erasing(erasing) => erasing.labels(),
        }
    }

    /// What of the attributes is hidden.
    pub fn criterion(&self) -> Criterion {
        match self {
            Solved::Whole(model) => model.params().map(|p| p.criterion).unwrap_or_default(),
            Solved::Erasing(erasing) => erasing.criterion(),
        }
    }

    pub fn erasure(&self) -> sarl::Result<Erasure> {
        match self {
            Solved::Whole(model) => model.erasure(),
            Solved::Erasing(erasing) => Ok(erasing.erasure()),
        }
    }

    pub fn extra(&self) -> &BTreeMap<String, String> {
        match self {
            Solved::Whole(model) => &model.extra,
            Solved::Erasing(erasing) => erasing.extra(),
        }
    }

    pub fn with_extra(self, extra: BTreeMap<String, String>) -> Self {
        match self {
            Solved::Whole(mut model) => {
                model.extra = extra;
                Solved::Whole(model)
            }
            Solved::Erasing(erasing) => Solved::Erasing(Box::new(erasing.with_extra(extra))),
        }
    }

    pub fn to_bytes(&self) -> sarl::Result<Vec<u8>> {
        match self {
            Solved::Whole(model) => model.to_bytes(),
            Solved::Erasing(erasing) => erasing.to_bytes(),
        }
    }

    /// Reads either kind of file.
    pub fn from_bytes(bytes: &[u8]) -> sarl::Result<Self> {
        match Erasing::is_file(bytes) {
            true => Ok(Solved::Erasing(Box::new(Erasing::from_bytes(bytes)?))),
            false => Ok(Solved::Whole(Box::new(Model::from_bytes(bytes)?))),
        }
    }
}
