//! Folds in a model file, so that another goal has its held-out losses without the data.
//!
//! Of each fold only what has the size of the labels is kept: the problem, and the moments of the
//! tested rows in its coordinates. No row of the data is among it.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::folds::{Fold, Fresh, Tested};
use super::{HeldOut, Whole};
use crate::Result;
use crate::container::{Reader, Writer};
use crate::spectral::Reduced;
use crate::spectral::attribute::{Attribute, Side};
use crate::spectral::problem::{Half, Problem};
use crate::spectral::ridged::Ridged;

/// Folds of problems with more directions are not stored.
const MOST: usize = 64;

/// What the description says of the folds; their matrices are tensors beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredHeldOut {
    folds: Vec<StoredFold>,
    fresh: Vec<StoredFold>,
    whole: Whole,
}

#[derive(Serialize, Deserialize)]
struct StoredFold {
    weight: f64,
    ridge: f64,
    directions: usize,
    problem: [StoredSide; 2],
    exact: Option<[StoredSide; 2]>,
    /// `E‖y − ȳ‖²` of each target (of an encoder's fold only) and of each sensitive label.
    spreads: [Vec<f64>; 2],
}

#[derive(Serialize, Deserialize)]
struct StoredSide {
    variance: Vec<f64>,
    attributes: Vec<Attribute>,
}

impl StoredSide {
    fn width(&self) -> usize {
        self.variance.len()
    }

    /// Whether the labels are blocks of columns, one after the other.
    fn is_sound(&self) -> bool {
        let mut at = 0;
        let follows = self.attributes.iter().all(|a| {
            let fits = a.columns.start == at && a.columns.end >= at && a.scale > 0.0;
            at = a.columns.end;
            fits
        });
        follows && at == self.width() && self.variance.iter().all(|v| v.is_finite() && *v >= 0.0)
    }
}

impl HeldOut {
    /// Writes the matrices, and gives what is to be said beside them; nothing where they are large.
    pub(crate) fn store(&self, writer: &mut Writer) -> Result<Option<StoredHeldOut>> {
        let fresh = self.fresh.iter().map(|fresh| &fresh.reduced);
        let mut all = self.folds.iter().map(|fold| &fold.reduced).chain(fresh);
        let columns = |r: &Reduced| r.label_columns().0 + r.label_columns().1;
        if all.any(|reduced| reduced.size().max(columns(reduced)) > MOST) {
            return Ok(None);
        }
        self.complete()?;
        let folds = self.folds.iter().enumerate().map(|(i, fold)| {
            let name = format!("heldout.{i}");
            writer.matrix(&format!("{name}.second"), fold.second.as_ref());
            writer.matrix(&format!("{name}.tested.target"), fold.target.cross.as_ref());
            writer.matrix(&format!("{name}.tested.sensitive"), fold.sensitive.cross.as_ref());
            let spreads = [fold.target.spread.clone(), fold.sensitive.spread.clone()];
            store(writer, &name, &fold.reduced, fold.weight, spreads)
        });
        let folds = folds.collect();
        let fresh = self.fresh.iter().enumerate().map(|(i, fresh)| {
            let name = format!("fresh.{i}");
            writer.matrix(&format!("{name}.second"), fresh.second.as_ref());
            writer.matrix(&format!("{name}.own"), fresh.own.as_ref());
            writer.matrix(&format!("{name}.own_cross"), fresh.own_cross.as_ref());
            writer.matrix(&format!("{name}.tested.sensitive"), fresh.sensitive.cross.as_ref());
            let spreads = [Vec::new(), fresh.sensitive.spread.clone()];
            store(writer, &name, &fresh.reduced, fresh.weight, spreads)
        });
        let fresh = fresh.collect();
        Ok(Some(StoredHeldOut { folds, fresh, whole: self.whole.clone() }))
    }

    /// The inverse of [`HeldOut::store`].
    pub(crate) fn restore(
        reader: &Reader<'_>,
        stored: StoredHeldOut,
        cap: Option<usize>,
    ) -> Result<Self> {
        let labels = (stored.whole.target.len(), stored.whole.sensitive.len());
        let folds = stored.folds.into_iter().enumerate().map(|(i, stored)| {
            let part = Part::new(reader, format!("heldout.{i}"), stored, labels)?;
            Ok(Fold {
                target: part.tested("target", 0)?,
                sensitive: part.tested("sensitive", 1)?,
                second: part.square("second")?,
                weight: part.stored.weight,
                reduced: part.reduced,
                learnt: Vec::new(),
            })
        });
        let folds = folds.collect::<Result<Vec<Fold>>>()?;
        reader.require(folds.len() > 1, "it has held-out losses without folds")?;
        let fresh = stored.fresh.into_iter().enumerate().map(|(i, stored)| {
            let part = Part::new(reader, format!("fresh.{i}"), stored, labels)?;
            let width = part.stored.problem[1].width();
            let own = reader.matrix(&part.tensor("own_cross"), part.stored.directions, width)?;
            Ok(Fresh {
                sensitive: part.tested("sensitive", 1)?,
                second: part.square("second")?,
                own: part.square("own")?,
                own_cross: own,
                weight: part.stored.weight,
                reduced: part.reduced,
                learnt: Vec::new(),
            })
        });
        let (fresh, source) = (fresh.collect::<Result<_>>()?, None);
        Ok(HeldOut { folds, fresh, whole: stored.whole, cap, source })
    }
}

fn store(
    writer: &mut Writer,
    name: &str,
    reduced: &Reduced,
    weight: f64,
    spreads: [Vec<f64>; 2],
) -> StoredFold {
    let mut problem = |prefix: &str, problem: &Problem| {
        writer.matrix(&format!("{name}.{prefix}target"), problem.target.cross.as_ref());
        writer.matrix(&format!("{name}.{prefix}sensitive"), problem.sensitive.cross.as_ref());
        [side(&problem.target), side(&problem.sensitive)]
    };
    let stored = StoredFold {
        weight,
        ridge: reduced.ridge,
        directions: reduced.basis.ncols(),
        problem: problem("", &reduced.problem),
        exact: reduced.ridged.as_ref().map(|_| problem("exact.", reduced.exact())),
        spreads,
    };
    if let Some(ridged) = &reduced.ridged {
        writer.matrix(&format!("{name}.factor"), ridged.factor.as_ref());
    }
    stored
}

fn side(half: &Half) -> StoredSide {
    StoredSide { variance: half.variance.clone(), attributes: half.attributes.clone() }
}

/// A fold as it is read.
struct Part<'a> {
    reader: &'a Reader<'a>,
    name: String,
    stored: StoredFold,
    reduced: Reduced,
}

impl<'a> Part<'a> {
    fn new(
        reader: &'a Reader<'a>,
        name: String,
        stored: StoredFold,
        labels: (usize, usize),
    ) -> Result<Self> {
        let sides = stored.problem.iter().chain(stored.exact.iter().flatten());
        let sound = sides.clone().all(StoredSide::is_sound)
            && sides.clone().step_by(2).all(|side| side.attributes.len() == labels.0)
            && sides.skip(1).step_by(2).all(|side| side.attributes.len() == labels.1)
            && stored.weight > 0.0
            && stored.weight.is_finite()
            && (stored.ridge > 0.0) == stored.exact.is_some()
            && stored.spreads[1].len() == labels.1
            && stored.directions <= reader.any_matrix(&format!("{name}.second"))?.nrows();
        reader.require(sound, format!("its held-out fold `{name}` is not sound"))?;
        let read = |prefix: &str, sides: &[StoredSide; 2]| -> Result<Problem> {
            let t = reader.any_matrix(&format!("{name}.{prefix}target"))?.nrows();
            let side = |which: &str, side: &StoredSide| -> Result<Side> {
                let cross = reader.matrix(&format!("{name}.{prefix}{which}"), t, side.width())?;
                let (variance, attributes) = (side.variance.clone(), side.attributes.clone());
                Ok(Side { cross, variance, attributes })
            };
            Problem::new(side("target", &sides[0])?, side("sensitive", &sides[1])?)
        };
        let problem = read("", &stored.problem)?;
        let t = problem.size();
        reader.require(t <= stored.directions, format!("`{name}` has too few directions"))?;
        let ridged = match &stored.exact {
            None => None,
            Some(exact) => {
                let factor = reader.matrix(&format!("{name}.factor"), t, t)?;
                let regular = (0..t).all(|i| factor[(i, i)] > 0.0);
                reader.require(regular, format!("`{name}.factor` is singular"))?;
                Some(Ridged::from_parts(read("exact.", exact)?.into(), factor, &problem))
            }
        };
        let reduced = Reduced::of_problem(problem, ridged, stored.ridge, stored.directions);
        Ok(Part { reader, name, stored, reduced })
    }

    fn tensor(&self, what: &str) -> String {
        format!("{}.{what}", self.name)
    }

    fn square(&self, what: &str) -> Result<Mat<f64>> {
        let size = self.stored.directions;
        self.reader.matrix(&self.tensor(what), size, size)
    }

    fn tested(&self, which: &str, place: usize) -> Result<Tested> {
        let (side, spread) = (&self.stored.problem[place], &self.stored.spreads[place]);
        let sound = spread.len() == side.attributes.len() && spread.iter().all(|s| *s >= 0.0);
        self.reader.require(sound, format!("`{}` has no spread of its labels", self.name))?;
        let name = self.tensor(&format!("tested.{which}"));
        Ok(Tested {
            cross: self.reader.matrix(&name, self.stored.directions, side.width())?,
            spread: spread.clone(),
            columns: side.attributes.iter().map(|a| a.columns.clone()).collect(),
        })
    }
}
