//! Partial erasure: any goal, in a space of a few directions that is found for it.
//!
//! The space stays with the erasure and in its file. Other goals are met from it without the data;
//! their certificate says how much a larger space could gain.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::erasing::{Description, Erasing};
use super::erasure::{Erasure, complement};
use crate::container::{Reader, Writer};
use crate::features::FeatureMap;
use crate::front::{Front, Goal, STORED, Solution, removing, removing_along};
use crate::moments::{Covariances, LabelKind, Layout, Role};
use crate::spare::Spare;
use crate::spectral::Reduced;
use crate::spectral::attribute::{Attribute, Side};
use crate::spectral::reduced::possible;
use crate::spectral::removal::Space;
use crate::{Criterion, Error, Result};

/// What a space is made of beside its matrices.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SpaceOf {
    weight: f64,
    features: Attribute,
    attributes: Vec<Attribute>,
    variance: Vec<f64>,
    mean: Vec<f64>,
}

const WITHOUT: &str = "this erasure holds only what it takes off, not the directions that other \
                       goals could be met with: they need the moments of its rows";

impl Erasing {
    /// Whether there is something to hide and nothing but the features to keep.
    pub fn keeps_features(layout: &Layout) -> bool {
        let of = |role: Role| layout.labels().iter().filter(move |l| l.role == role);
        let keeps = of(Role::Target).all(|l| l.kind == LabelKind::Features);
        keeps && of(Role::Target).count() == 1 && of(Role::Sensitive).next().is_some()
    }

    /// Solves for any goal, without a ridge. `layout` is that of the inputs. With `front`, the
    /// directions suit all other trade-offs too.
    pub fn partial(
        map: &FeatureMap,
        layout: &Layout,
        covariances: &Covariances,
        goal: Goal,
        front: bool,
    ) -> Result<Self> {
        goal.check()?;
        if !map.is_linear() || !Self::keeps_features(layout) {
            let message = "erasure needs a linear encoder that has nothing but the features \
                           themselves as its target";
            return Err(Error::Unavailable(message));
        }
        let (reduced, solution) = match front {
            false => removing(covariances, &goal, STORED, &mut Spare::default())?,
            true => {
                let reduced = removing_along(covariances, STORED, &mut Spare::default())?;
                let solution = Front::new(&reduced, None)?.solve(goal)?;
                (reduced, solution)
            }
        };
        let reduced = over_inputs(reduced, map);
        let labels = layout.labels().to_vec();
        let about = described(&reduced, &solution, labels)?;
        let erasure = taken_off(&reduced, &solution)?;
        Ok(Erasing { erasure, scaling: map.raw.scaling.clone(), about, space: Some(reduced) })
    }

    /// Another goal, met with the directions of this erasure.
    pub fn retune(&self, goal: Goal) -> Result<Self> {
        let reduced = self.reduced()?;
        let solution = Front::new(reduced, None)?.solve(goal)?;
        let about = Description {
            criterion: self.about.criterion,
            extra: self.about.extra.clone(),
            ..described(reduced, &solution, self.about.labels.clone())?
        };
        Ok(Erasing { erasure: taken_off(reduced, &solution)?, about, ..self.clone() })
    }

    /// All trade-offs that can be reached with the directions of this erasure.
    pub fn front(&self) -> Result<Front<'_>> {
        Front::new(self.reduced()?, None)
    }

    /// Whether other goals can be met.
    pub fn has_space(&self) -> bool {
        self.space.is_some()
    }

    /// The same with nothing but what is taken off.
    pub fn without_space(mut self) -> Self {
        (self.space, self.about.space) = (None, None);
        self
    }

    fn reduced(&self) -> Result<&Reduced> {
        self.space.as_ref().ok_or(Error::Unavailable(WITHOUT))
    }
}

/// The same directions as weights of the inputs, where they are those of coordinates.
fn over_inputs(reduced: Reduced, map: &FeatureMap) -> Reduced {
    let Some(span) = &map.span else { return reduced };
    let mean = span.mean();
    let basis = span.unfold(reduced.basis.as_ref());
    let centre = basis.transpose() * faer::ColRef::from_slice(&mean);
    let unfold = |taken: faer::Mat<f64>| span.unfold(taken.transpose()).transpose().to_owned();
    Reduced {
        features: span.inputs(),
        centre: centre.iter().copied().collect(),
        target_mean: mean.clone(),
        inputs: reduced.inputs.map(|(taken, _)| (unfold(taken), mean)),
        basis,
        ..reduced
    }
}

fn taken_off(reduced: &Reduced, solution: &Solution) -> Result<Erasure> {
    let (taken, mean) = reduced.inputs.as_ref().ok_or(Error::Unavailable(WITHOUT))?;
    let erased = complement(solution.subspace.as_ref());
    Ok(Erasure {
        mean: mean.clone(),
        found: &reduced.basis * &erased,
        taken: erased.transpose() * taken,
    })
}

fn described(
    reduced: &Reduced,
    solution: &Solution,
    labels: Vec<crate::moments::Label>,
) -> Result<Description> {
    let front = Front::new(reduced, None)?;
    let (target, sensitive) = (&reduced.problem.target, &reduced.problem.sensitive);
    let hidden = &sensitive.attributes;
    let features = target.attributes.first().ok_or(Error::Unavailable(WITHOUT))?;
    Ok(Description {
        labels,
        rows: reduced.rows,
        basis: reduced.basis_size,
        goal: solution.goal.clone(),
        point: solution.point,
        certificate: solution.certificate.clone(),
        bounds: *front.bounds(),
        variances: hidden.iter().map(|a| a.scale * a.variance).collect(),
        preserved: Vec::new(),
        ridge: 0.0,
        attributes: Some(front.attributes(&solution.goal, &solution.subspace)),
        space: Some(SpaceOf {
            weight: reduced.weight,
            features: features.clone(),
            attributes: hidden.clone(),
            variance: sensitive.variance.clone(),
            mean: reduced.sensitive_mean.clone(),
        }),
        criterion: Criterion::default(),
        extra: BTreeMap::new(),
    })
}

/// The matrices of a space.
pub(super) fn write(writer: &mut Writer, reduced: &Reduced) {
    writer.matrix("space.found", reduced.basis.as_ref());
    if let Some((taken, _)) = &reduced.inputs {
        writer.matrix("space.taken", taken.as_ref());
    }
    writer.matrix("space.known", reduced.problem.sensitive.cross.as_ref());
}

/// The inverse of [`write`], with every size checked before it is believed.
pub(super) fn read(
    reader: &Reader<'_>,
    about: &Description,
    inputs: usize,
) -> Result<Option<Reduced>> {
    let Some(of) = &about.space else { return Ok(None) };
    let found = reader.any_matrix("space.found")?;
    let (rows, size) = found.shape();
    let columns = of.variance.len();
    let ends = of.attributes.last().map_or(0, |a| a.columns.end);
    let ordered = of.attributes.windows(2).all(|w| w[0].columns.end == w[1].columns.start);
    let from = of.attributes.first().map_or(0, |a| a.columns.start);
    let fits = rows == inputs && size <= about.basis && of.mean.len() == columns;
    let fits = fits && ordered && from == 0 && ends == columns;
    let sized = of.attributes.iter().all(|a| a.columns.start <= a.columns.end);
    reader.require(fits && sized, "the sizes of its directions do not fit each other")?;
    let taken = reader.matrix("space.taken", size, inputs)?;
    let cross = reader.matrix("space.known", size, columns)?;
    let figures = of.variance.iter().chain(&of.mean).copied();
    let scales = of.attributes.iter().chain([&of.features]).flat_map(|a| [a.scale, a.variance]);
    let mut figures = figures.chain(scales).chain([of.weight]);
    reader.require(figures.all(f64::is_finite), "the figures of its directions are not finite")?;
    let scaled = of.attributes.iter().all(|a| a.scale > 0.0 && a.variance >= 0.0);
    let scaled = scaled && of.variance.iter().all(|v| *v >= 0.0) && of.features.variance > 0.0;
    reader.require(scaled, "the variances of its labels are not positive")?;
    let sensitive =
        Side { cross, variance: of.variance.clone(), attributes: of.attributes.clone() };
    let mean = reader.vector("mean", inputs)?;
    let space = Space { found, taken, sensitive, features: of.features.clone() };
    let reduced = space.reduced((about.rows, of.weight), about.basis, mean, of.mean.clone())?;
    let known = possible(&reduced.problem.sensitive);
    reader.require(known, "its labels are explained by more than their variance")?;
    Ok(Some(reduced))
}
