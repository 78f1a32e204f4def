//! Full erasure in closed form: one factor of the covariances and as many solves as there are
//! label columns to hide.
//!
//! With the features as the target and nothing to leak, every direction that no label knows is
//! kept, and what goes is the range of `Ws = WᵀCs`, of an orthonormal basis `Q`:
//!
//! ```text
//! x̂ = x − Cov(x, e) e        e = Qᵀ Wᵀ (x − x̄)        Jy = tr Cov(x, e) Cov(e, x)
//! ```
//!
//! It is what [`Model::erasure`](super::Model::erasure) gives at that goal, without the reduced
//! problem, whose size is that of the features. A file of it holds the few directions that go.
//!
//! Other goals are solved in a space of a few directions, which is kept: see `partial`.

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::erasure::Erasure;
use super::partial::SpaceOf;
use crate::container::{Reader, Writer};
use crate::features::{FeatureMap, Scaling};
use crate::front::{Attribute, Attributes, Bounds, Certificate, Goal, Point};
use crate::moments::{Covariances, Label, LabelKind, Layout, Role};
use crate::spare::{Spare, square};
use crate::spectral::attribute::Side;
use crate::spectral::directions::weights_of;
use crate::spectral::linalg::{
    beside, cholesky, cholesky_of, congruence, solve_lower, solve_lower_transposed, span,
};
use crate::spectral::problem::correlations;
use crate::spectral::whiten::Whitening;
use crate::spectral::{Losses, Reduced};
use crate::{Criterion, Error, Result, tolerance};

const KIND: &str = "erasure";
const VERSION: u32 = 1;
/// What is written where label columns are made of labels.
const WITH_MADE_LABELS: u32 = 2;
/// What is written where labels have figures of their own, those of a partial erasure, or where
/// targets are preserved.
const WITH_FIGURES: u32 = 3;

/// Erasure of x, full or partial; see the module.
#[derive(Clone, Debug)]
pub struct Erasing {
    /// Of scaled rows.
    pub(super) erasure: Erasure,
    pub(super) scaling: Option<Scaling>,
    pub(super) about: Description,
    /// The directions that other goals can be met with, where they are known.
    pub(super) space: Option<Reduced>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) labels: Vec<Label>,
    pub(super) rows: u64,
    pub(super) basis: usize,
    pub(super) goal: Goal,
    pub(super) point: Point,
    pub(super) certificate: Certificate,
    pub(super) bounds: Bounds,
    /// The variance of each label that is hidden, in its own units.
    pub(super) variances: Vec<f64>,
    /// The loss and the utility of each target whose covariance is preserved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) preserved: Vec<(f64, f64)>,
    pub(super) ridge: f64,
    /// The figures of each label, where they are not those of a full erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attributes: Option<Attributes>,
    /// What a space of directions is made of beside its matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) space: Option<SpaceOf>,
    #[serde(default)]
    pub(super) criterion: Criterion,
    #[serde(default)]
    pub(super) extra: BTreeMap<String, String>,
}

impl Erasing {
    /// Whether a goal asks for full erasure of all that is to be hidden.
    pub fn suits(layout: &Layout, goal: &Goal) -> bool {
        let of = |role: Role| layout.labels().iter().filter(move |l| l.role == role);
        let keeps = of(Role::Target).all(|l| l.kind == LabelKind::Features);
        let full = match goal {
            Goal::Lambda(lambda) => *lambda >= 1.0 - tolerance::LIMIT,
            Goal::Leakage(leakage) => *leakage == 0.0,
            _ => false,
        };
        keeps && full && of(Role::Sensitive).next().is_some()
    }

    /// Solves for a goal that [`suits`](Self::suits). `layout` is that of the inputs.
    ///
    /// A linear adversary sees through x̂ all that is orthogonal to `Cov(x, s)` of the training
    /// rows, whatever metric the change of x is measured in. Few rows know that covariance badly,
    /// and shrinking the metric does not help. With a `ridge` ρ the smoothed directions
    ///
    /// ```text
    /// C (C + ρvI)⁻¹ Cov(x, s)        C = Cov(x), of mean variance v
    /// ```
    ///
    /// go too, which hides more from an adversary with rows of its own where the attribute lies
    /// along directions of much variance; [`best_erasing_ridge`](crate::best_erasing_ridge)
    /// chooses ρ.
    pub fn new(
        map: &FeatureMap,
        layout: &Layout,
        covariances: &Covariances,
        goal: Goal,
        ridge: f64,
    ) -> Result<Self> {
        goal.check()?;
        if !(ridge >= 0.0 && ridge.is_finite()) {
            let expected = "expected 0 or more";
            return Err(Error::Argument { name: "ridge", value: ridge, expected });
        }
        if !map.is_linear() || !Self::suits(layout, &goal) {
            let message = "full erasure needs a linear encoder that has the features themselves \
                           as its target, and a goal without leakage";
            return Err(Error::Unavailable(message));
        }
        let c = covariances;
        let solved = solve(c, ridge, &mut Spare::default())?;
        let variance = c.target.variance.iter().sum();
        let about = solved.reached(c, variance, layout, goal, ridge);
        Ok(Self::of(map, solved.erasure, about))
    }

    /// An erasure of the features of a map, of which it has the inputs.
    pub(super) fn of(map: &FeatureMap, erasure: Erasure, about: Description) -> Self {
        let (erasure, scaling) = (erasure.over_inputs(map), map.raw.scaling.clone());
        Erasing { erasure, scaling, about, space: None }
    }

    /// What is found of each erased direction, and what is taken off for it.
    pub fn erasure(&self) -> Erasure {
        self.erasure.clone().unscaled(self.scaling.as_ref())
    }

    /// How inputs are scaled before they are erased: the erasure does it.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.erasure.mean.len()
    }

    /// The labels that were hidden, beside the features.
    pub fn labels(&self) -> &[Label] {
        &self.about.labels
    }

    /// What of them was hidden.
    pub fn criterion(&self) -> Criterion {
        self.about.criterion
    }

    /// The same with the criterion that its label columns are those of.
    pub(crate) fn by(mut self, criterion: Criterion) -> Self {
        self.about.criterion = criterion;
        self
    }

    /// Rows of positive weight that it was fitted on.
    pub fn rows(&self) -> u64 {
        self.about.rows
    }

    /// The number of directions in which the features vary.
    pub fn basis(&self) -> usize {
        self.about.basis
    }

    /// What was asked.
    pub fn goal(&self) -> &Goal {
        &self.about.goal
    }

    /// What was reached on the training data.
    pub fn point(&self) -> &Point {
        &self.about.point
    }

    /// Whether the covariance of the features with other targets is preserved.
    pub fn is_preserving(&self) -> bool {
        !self.about.preserved.is_empty()
    }

    /// The same for the features, for targets that are preserved and for the labels that are hidden.
    pub fn attributes(&self) -> Attributes {
        if let Some(attributes) = &self.about.attributes {
            return attributes.clone();
        }
        let Point { losses, utility, leakage, .. } = self.about.point;
        let figures = |role: Role, figures: &[(f64, f64)]| {
            let labels = self.about.labels.iter().filter(move |l| l.role == role);
            let one = |(l, &(loss, share)): (&Label, &(f64, f64))| {
                let limit = self.about.goal.limit_of(role, &l.name);
                Attribute { name: l.name.clone(), loss, share, limit }
            };
            labels.zip(figures).map(one).collect()
        };
        let hidden: Vec<(f64, f64)> = self.about.variances.iter().map(|&v| (v, leakage)).collect();
        let mut preserved = self.about.preserved.iter().copied();
        let targets = self.about.labels.iter().filter(|l| l.role == Role::Target);
        let kept: Vec<(f64, f64)> = targets
            .filter_map(|l| match l.kind {
                LabelKind::Features => Some((losses.jy, utility)),
                _ => preserved.next(),
            })
            .collect();
        Attributes {
            target: figures(Role::Target, &kept),
            sensitive: figures(Role::Sensitive, &hidden),
        }
    }

    /// The ridge of its smoothed directions; 0 where there are none.
    pub fn ridge(&self) -> f64 {
        self.about.ridge
    }

    /// How near to the best it is.
    pub fn certificate(&self) -> &Certificate {
        &self.about.certificate
    }

    /// What any encoder could achieve.
    pub fn bounds(&self) -> &Bounds {
        &self.about.bounds
    }

    /// Texts of the caller's, carried along.
    pub fn extra(&self) -> &BTreeMap<String, String> {
        &self.about.extra
    }

    /// The same with other texts.
    pub fn with_extra(mut self, extra: BTreeMap<String, String>) -> Self {
        self.about.extra = extra;
        self
    }

    /// A file of the directions that go. The same erasure is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        writer.vector("mean", &self.erasure.mean);
        writer.matrix("found", self.erasure.found.as_ref());
        writer.matrix("taken", self.erasure.taken.as_ref());
        if let Some(Scaling { shift, factor }) = &self.scaling {
            writer.vector("shift", shift);
            writer.vector("factor", factor);
        }
        if let Some(space) = &self.space {
            super::partial::write(&mut writer, space);
        }
        let made = self.about.labels.iter().any(|l| l.made.is_some());
        let figures = self.about.attributes.is_some() || self.is_preserving();
        let version = match (figures, made) {
            (true, _) => WITH_FIGURES,
            (false, true) => WITH_MADE_LABELS,
            (false, false) => VERSION,
        };
        writer.finish(KIND, version, &self.about)
    }

    /// The inverse of [`Erasing::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, about): (_, Description) = Reader::open(bytes, KIND, VERSION..=WITH_FIGURES)?;
        let found = reader.any_matrix("found")?;
        let (inputs, directions) = found.shape();
        reader.require(inputs > 0, "it has no inputs")?;
        let mean = reader.vector("mean", inputs)?;
        let taken = reader.matrix("taken", directions, inputs)?;
        let figures = about.bounds.figures().into_iter().chain([
            about.point.losses.jy,
            about.point.losses.js,
            about.point.utility,
            about.point.leakage,
            about.certificate.dual_bound,
            about.certificate.gap,
            about.ridge,
        ]);
        let preserved = about.preserved.iter().flat_map(|&(loss, share)| [loss, share]);
        let mut figures = figures.chain(about.variances.iter().copied()).chain(preserved);
        reader.require(figures.all(f64::is_finite), "its figures are not finite")?;
        let counted = about.rows >= 2 && about.basis >= directions && about.basis <= inputs;
        let hidden = about.labels.iter().filter(|l| l.role == Role::Sensitive).count();
        let kept = about.labels.len() - hidden;
        let kept_fits = about.preserved.is_empty() || about.preserved.len() + 1 == kept;
        let counted = counted && about.variances.len() == hidden && kept_fits;
        reader.require(counted, "its sizes do not fit each other")?;
        let lost = taken.squared_norm_l2();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * (1.0 + b.abs());
        reader
            .require(near(about.point.losses.jy, lost), "its loss is not that of its matrices")?;
        let scaling = match reader.has("shift") {
            false => None,
            true => Some(Scaling {
                shift: reader.vector("shift", inputs)?,
                factor: reader.vector("factor", inputs)?,
            }),
        };
        let sound = scaling.as_ref().is_none_or(Scaling::is_sound);
        reader.require(sound, "its scaling cannot be undone")?;
        let space = super::partial::read(&reader, &about, inputs)?;
        Erasing { erasure: Erasure { mean, found, taken }, scaling, about, space }.checked(&reader)
    }

    /// Whether these are the bytes of one.
    pub fn is_file(bytes: &[u8]) -> bool {
        let about = Reader::open::<serde_json::Value>(bytes, KIND, VERSION..=WITH_FIGURES);
        about.is_ok()
    }
}

impl Erasure {
    /// Full erasure from the covariances of some rows.
    pub(crate) fn full(covariances: &Covariances, ridge: f64, spare: &mut Spare) -> Result<Self> {
        Ok(solve(covariances, ridge, spare)?.erasure)
    }
}

/// A full erasure, and what its figures are made of.
pub(super) struct Solved {
    /// The number of directions in which the features vary.
    pub(super) basis: usize,
    /// What is hidden, on one scale and whitened.
    pub(super) hidden: Side,
    /// What must be taken: that of no ridge.
    pub(super) least: f64,
    pub(super) erasure: Erasure,
}

fn solve(c: &Covariances, ridge: f64, spare: &mut Spare) -> Result<Solved> {
    let whitening = Whitening::over(c, spare.take())?;
    let whitened = whitening.whiten(c.sensitive.cross.as_ref());
    let known = correlations(whitened.as_ref(), &c.sensitive.variance);
    let taking = |known: MatRef<'_, f64>| -> Result<(Mat<f64>, Mat<f64>)> {
        let (q, rank) = span(known, tolerance::SPAN, false);
        let found = settled(c, weights_of(c, &whitening, q.subcols(0, rank)))?;
        let taken = found.transpose() * &c.features;
        Ok((found, taken))
    };
    let (mut found, mut taken) = taking(known.as_ref())?;
    let least = taken.squared_norm_l2();
    if ridge > 0.0 {
        let smooth = whitening.whiten(smoothed(c, ridge, spare)?.as_ref());
        let smooth = correlations(smooth.as_ref(), &c.sensitive.variance);
        (found, taken) = taking(beside(known.as_ref(), smooth.as_ref()).as_ref())?;
    }
    let erasure = Erasure { mean: c.mean.clone(), found, taken };
    let hidden = Side::new(whitened, &c.sensitive);
    let basis = whitening.basis();
    spare.give(whitening.into_spare());
    Ok(Solved { basis, hidden, least, erasure })
}

/// `C (C + ρvI)⁻¹ Cov(x, s)` with `C = Cov(x)`, of mean variance v.
fn smoothed(c: &Covariances, ridge: f64, spare: &mut Spare) -> Result<Mat<f64>> {
    let size = c.features.nrows();
    let mut a = square(spare.take(), size);
    a.copy_from(&c.features);
    let mean = (0..size).map(|j| a[(j, j)]).sum::<f64>() / size as f64;
    (0..size).for_each(|j| a[(j, j)] += ridge * mean);
    let factor = cholesky_of(a)?;
    let mut v = c.sensitive.cross.clone();
    solve_lower(factor.as_ref(), v.as_mut());
    solve_lower_transposed(factor.as_ref(), v.as_mut());
    spare.give(factor);
    Ok(&c.features * v)
}

/// Directions with `Cov(e) = I`: what rounding left of that is measured, not assumed.
pub(super) fn settled(c: &Covariances, mut found: Mat<f64>) -> Result<Mat<f64>> {
    for _ in 0..2 {
        let h = congruence(found.as_ref(), c.features.as_ref());
        if h.nrows() > 0 {
            let factor = cholesky(h.as_ref())?;
            solve_lower(factor.as_ref(), found.as_mut().transpose_mut());
        }
    }
    Ok(found)
}

impl Solved {
    /// Losses, bounds and certificate, where the features have this variance `ty`. The directions
    /// that stay explain everything but what is taken, and nothing of what is hidden.
    pub(super) fn reached(
        &self,
        c: &Covariances,
        ty: f64,
        layout: &Layout,
        goal: Goal,
        ridge: f64,
    ) -> Description {
        let ts = self.hidden.variance.iter().sum::<f64>();
        let lost = self.erasure.taken.squared_norm_l2();
        let known = (ts - self.hidden.cross.squared_norm_l2()).max(0.0);
        let bounds = Bounds {
            gamma_min: 0.0,
            gamma_max: self.least,
            alpha_min: known,
            alpha_max: ts,
            alpha_bar_min: known,
            alpha_star_min: known,
            target_variance: ty,
            attainable: ty,
        };
        let losses = Losses { jy: lost, js: ts };
        let (utility, leakage) = (bounds.utility(lost), bounds.leakage(ts));
        let dim = self.basis - self.erasure.found.ncols();
        let gap = (lost - self.least).max(0.0);
        Description {
            labels: layout.labels().to_vec(),
            rows: c.rows,
            basis: self.basis,
            goal,
            point: Point { lambda: 1.0, dim, losses, utility, leakage },
            certificate: Certificate { dual_bound: self.least, gap, multipliers: Vec::new() },
            bounds,
            variances: self.hidden.attributes.iter().map(|a| a.scale * a.variance).collect(),
            preserved: Vec::new(),
            ridge,
            attributes: None,
            space: None,
            criterion: Criterion::default(),
            extra: BTreeMap::new(),
        }
    }
}
