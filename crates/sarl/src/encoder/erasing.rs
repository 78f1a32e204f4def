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

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::erasure::Erasure;
use crate::container::{Reader, Writer};
use crate::features::FeatureMap;
use crate::front::{Attribute, Attributes, Bounds, Certificate, Goal, Point};
use crate::moments::{Covariances, Label, LabelKind, Layout, Role};
use crate::spectral::Losses;
use crate::spectral::linalg::{cholesky, congruence, solve_lower, span};
use crate::spectral::problem::correlations;
use crate::spectral::reduced::weights_of;
use crate::spectral::whiten::Whitening;
use crate::{Error, Result, tolerance};

const KIND: &str = "erasure";
const VERSION: u32 = 1;

/// Full erasure; see the module.
#[derive(Clone, Debug)]
pub struct Erasing {
    erasure: Erasure,
    about: Description,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Description {
    labels: Vec<Label>,
    rows: u64,
    basis: usize,
    goal: Goal,
    point: Point,
    certificate: Certificate,
    bounds: Bounds,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Erasing {
    /// Whether a goal asks for full erasure of one label.
    pub fn suits(layout: &Layout, goal: &Goal) -> bool {
        let of = |role: Role| layout.labels().iter().filter(move |l| l.role == role);
        let keeps = of(Role::Target).all(|l| l.kind == LabelKind::Features);
        let full = match goal {
            Goal::Lambda(lambda) => *lambda >= 1.0 - tolerance::LIMIT,
            Goal::Leakage(leakage) => *leakage == 0.0,
            _ => false,
        };
        keeps && full && of(Role::Sensitive).count() == 1
    }

    /// Solves for a goal that [`suits`](Self::suits). `layout` is that of the inputs.
    pub fn new(
        map: &FeatureMap,
        layout: &Layout,
        covariances: &Covariances,
        goal: Goal,
    ) -> Result<Self> {
        goal.check()?;
        if !map.is_linear() || !Self::suits(layout, &goal) {
            let message = "full erasure needs a linear encoder that has the features themselves \
                           as its target, and a goal without leakage";
            return Err(Error::Unavailable(message));
        }
        let c = covariances;
        let (whitening, hidden, Erasure { mean, found, taken }) = solve(c)?;
        let dim = whitening.basis() - found.ncols();
        let about = Description {
            labels: layout.labels().to_vec(),
            rows: c.rows,
            basis: whitening.basis(),
            ..reached(c, hidden.as_ref(), taken.as_ref(), dim, goal)
        };
        let erasure = match &map.span {
            None => Erasure { mean, found, taken },
            Some(span) => Erasure {
                mean: span.mean(),
                found: span.unfold(found.as_ref()),
                taken: span.unfold(taken.transpose()).transpose().to_owned(),
            },
        };
        Ok(Erasing { erasure, about })
    }

    /// What is found of each erased direction, and what is taken off for it.
    pub fn erasure(&self) -> &Erasure {
        &self.erasure
    }

    /// The labels that were hidden, beside the features.
    pub fn labels(&self) -> &[Label] {
        &self.about.labels
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

    /// The same for the features and for the label that is hidden.
    pub fn attributes(&self) -> Attributes {
        let Point { losses, utility, leakage, .. } = self.about.point;
        let figures = |role: Role, loss: f64, share: f64| {
            let labels = self.about.labels.iter().filter(move |l| l.role == role);
            let limit = |name: &str| self.about.goal.limit_of(role, name);
            let one =
                |l: &Label| Attribute { name: l.name.clone(), loss, share, limit: limit(&l.name) };
            labels.map(one).collect()
        };
        Attributes {
            target: figures(Role::Target, losses.jy, utility),
            sensitive: figures(Role::Sensitive, losses.js, leakage),
        }
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
        writer.finish(KIND, VERSION, &self.about)
    }

    /// The inverse of [`Erasing::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, about): (_, Description) = Reader::open(bytes, KIND, VERSION)?;
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
        ]);
        reader.require(figures.into_iter().all(f64::is_finite), "its figures are not finite")?;
        let counted = about.rows >= 2 && about.basis >= directions && about.basis <= inputs;
        reader.require(counted, "its sizes do not fit each other")?;
        let lost = taken.squared_norm_l2();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-7 * (1.0 + b.abs());
        reader
            .require(near(about.point.losses.jy, lost), "its loss is not that of its matrices")?;
        Ok(Erasing { erasure: Erasure { mean, found, taken }, about })
    }

    /// Whether these are the bytes of one.
    pub fn is_file(bytes: &[u8]) -> bool {
        let about = Reader::open::<serde_json::Value>(bytes, KIND, VERSION);
        about.is_ok()
    }
}

impl Erasure {
    /// Full erasure from the covariances of some rows.
    pub(crate) fn full(covariances: &Covariances) -> Result<Self> {
        Ok(solve(covariances)?.2)
    }
}

/// The whitening, what it makes of the covariances with what is hidden, and the erasure.
fn solve(c: &Covariances) -> Result<(Whitening, Mat<f64>, Erasure)> {
    let whitening = Whitening::new(c, 0.0)?;
    let hidden = whitening.whiten(c.sensitive.cross.as_ref());
    let scaled = correlations(hidden.as_ref(), &c.sensitive.variance);
    let (q, rank) = span(scaled.as_ref(), tolerance::SPAN, false);
    let found = settled(c, weights_of(c, &whitening, q.subcols(0, rank)))?;
    let taken = found.transpose() * &c.features;
    Ok((whitening, hidden, Erasure { mean: c.mean.clone(), found, taken }))
}

/// Directions with `Cov(e) = I`: what rounding left of that is measured, not assumed.
fn settled(c: &Covariances, mut found: Mat<f64>) -> Result<Mat<f64>> {
    for _ in 0..2 {
        let h = congruence(found.as_ref(), c.features.as_ref());
        if h.nrows() > 0 {
            let factor = cholesky(h.as_ref())?;
            solve_lower(factor.as_ref(), found.as_mut().transpose_mut());
        }
    }
    Ok(found)
}

/// Losses, bounds and certificate. The directions that stay explain everything but what is taken,
/// and nothing of what is hidden.
fn reached(
    c: &Covariances,
    hidden: MatRef<'_, f64>,
    taken: MatRef<'_, f64>,
    dim: usize,
    goal: Goal,
) -> Description {
    let total = |variance: &[f64]| variance.iter().sum::<f64>();
    let (ty, ts) = (total(&c.target.variance), total(&c.sensitive.variance));
    let lost = taken.squared_norm_l2();
    let known = (ts - hidden.squared_norm_l2()).max(0.0);
    let bounds = Bounds {
        gamma_min: 0.0,
        gamma_max: lost,
        alpha_min: known,
        alpha_max: ts,
        alpha_bar_min: known,
        alpha_star_min: known,
        target_variance: ty,
        attainable: ty,
    };
    let losses = Losses { jy: lost, js: ts };
    let (utility, leakage) = (bounds.utility(lost), bounds.leakage(ts));
    Description {
        labels: Vec::new(),
        rows: 0,
        basis: 0,
        goal,
        point: Point { lambda: 1.0, dim, losses, utility, leakage },
        certificate: Certificate { dual_bound: lost, gap: 0.0, multipliers: Vec::new() },
        bounds,
        extra: BTreeMap::new(),
    }
}
