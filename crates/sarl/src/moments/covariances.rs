//! From running sums to means and covariances, all divided by the total weight.

use faer::{Mat, MatRef};

use super::assemble::Parts;
use super::layout::{LabelKind, Layout, Role};
use super::made::Combination;
use super::rounding::{Rounding, constant};
use super::sums::Sums;
use crate::error::Place;
use crate::{Error, Result};

/// Means and covariances with the features of all label columns of one role.
#[derive(Clone, Debug)]
pub struct LabelCovariances {
    /// `Cov(φ, y)`, features × label columns.
    pub cross: Mat<f64>,
    /// The mean of each label column.
    pub mean: Vec<f64>,
    /// The variance of each label column; their sum is the loss without any encoder.
    pub variance: Vec<f64>,
    /// The labels that the columns belong to, in order.
    pub labels: Vec<LabelColumns>,
}

/// A label among the columns of its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelColumns {
    /// The label's name.
    pub name: String,
    /// How many columns it has.
    pub width: usize,
}

/// Where the covariances with the inputs x are.
#[derive(Clone, Debug)]
pub enum InputCovariances {
    /// The features are the inputs.
    Features,
    /// The features are a map of the inputs, which were kept beside them.
    Kept(LabelCovariances),
    /// The features are a map of the inputs, which were not kept.
    Gone,
    /// The features are coordinates of the inputs in the span of the rows.
    Span,
}

/// The second moments of a data set:
///
/// ```text
/// C = Cov(φ, φ)    Cy = Cov(φ, y)    Cs = Cov(φ, s)    ty = tr Cov(y, y)    ts = tr Cov(s, s)
/// ```
#[derive(Clone, Debug)]
pub struct Covariances {
    /// Rows of positive weight.
    pub rows: u64,
    /// The total weight, by which everything is divided.
    pub weight: f64,
    /// The mean of each feature.
    pub mean: Vec<f64>,
    /// `Cov(φ, φ)`, symmetric.
    pub features: Mat<f64>,
    /// The target's part.
    pub target: LabelCovariances,
    /// The sensitive attribute's part.
    pub sensitive: LabelCovariances,
    /// The inputs x themselves.
    pub inputs: InputCovariances,
    /// See [`crate::tolerance::RANK`].
    pub rank_tolerance: f64,
    /// For each feature the variance that rounding alone can have left there: that of the
    /// subtraction of means, and that of computing the feature.
    pub floor: Vec<f64>,
    /// The matrix with `floor` on its diagonal, where the features are those of some landmarks only: turned
    /// as the covariances are, it takes the place of `floor` beside a ridge.
    pub(crate) turned_floor: Option<Mat<f64>>,
}

impl Covariances {
    /// What rounding can have left of the variance of feature `j`.
    pub(crate) fn floor_of(&self, j: usize) -> f64 {
        self.floor.get(j).copied().unwrap_or(0.0)
    }

    /// The standard deviation of each feature.
    pub(crate) fn deviations(&self) -> impl Iterator<Item = f64> + Clone + '_ {
        (0..self.features.nrows()).map(|j| self.features[(j, j)].max(0.0).sqrt())
    }

    /// `Cov(φ, x)`, features × inputs, and the mean of x, where the inputs are known.
    pub fn inputs(&self) -> Option<(MatRef<'_, f64>, &[f64])> {
        match &self.inputs {
            InputCovariances::Features | InputCovariances::Span => {
                Some((self.features.as_ref(), &self.mean))
            }
            InputCovariances::Kept(x) => Some((x.cross.as_ref(), &x.mean)),
            InputCovariances::Gone => None,
        }
    }

    pub(super) fn assemble(
        layout: &Layout,
        sums: &Sums,
        shift: &[f64],
        rounding: &Rounding,
        made: &[Option<Combination>],
    ) -> Result<Self> {
        let scatter = |i: usize, j: usize| sums.scatter()[(i, j)];
        let parts = Parts::new(layout, (sums, &scatter), shift, (rounding.floor, made));
        let this = parts.covariances(parts.features(), rounding);
        this.check_overflow(layout)?;
        Ok(this)
    }

    /// The same without those of the features with each other: `sums` have no scatter, which `scatter`
    /// gives number by number.
    pub(super) fn assemble_thin(
        layout: &Layout,
        (sums, scatter): (&Sums, &(dyn Fn(usize, usize) -> f64 + Sync)),
        shift: &[f64],
        rounding: &Rounding,
        made: &[Option<Combination>],
    ) -> Self {
        let parts = Parts::new(layout, (sums, scatter), shift, (rounding.floor, made));
        parts.covariances(Mat::new(), rounding)
    }

    /// Refuses what doubles do not hold.
    pub(super) fn check_overflow(&self, layout: &Layout) -> Result<()> {
        let m = self.features.ncols();
        let bad = (0..m).find(|&j| !self.features.col(j).iter().all(|v| v.is_finite()));
        if let Some(j) = bad {
            let worst = (0..m).find(|&i| !self.features[(i, i)].is_finite()).unwrap_or(j);
            return Err(Error::Overflow { place: Place::Feature(worst) });
        }
        for (role, part) in [(Role::Target, &self.target), (Role::Sensitive, &self.sensitive)] {
            let ok = |j: usize| {
                part.variance[j].is_finite() && part.cross.col(j).iter().all(|v| v.is_finite())
            };
            if let Some(j) = (0..part.variance.len()).find(|&j| !ok(j)) {
                let (name, column) = locate(layout, role, j);
                return Err(Error::Overflow { place: Place::Label { name, column } });
            }
        }
        Ok(())
    }

    /// Two rows at least, and every label with something to predict.
    pub(super) fn check_informative(&self, layout: &Layout) -> Result<()> {
        if self.rows < 2 {
            return Err(Error::TooFewRows { rows: self.rows });
        }
        for (role, part) in [(Role::Target, &self.target), (Role::Sensitive, &self.sensitive)] {
            let mut at = 0;
            for label in layout.labels.iter().filter(|l| l.role == role) {
                let width = layout.label_width(label);
                let flat = (at..at + width).all(|j| constant(part.variance[j], part.mean[j]));
                if flat && label.kind == LabelKind::Features {
                    return Err(Error::NoVariation);
                }
                let name = || label.name.clone();
                if flat && label.made.is_some() {
                    return Err(Error::ConstantWithin { name: name() });
                }
                if flat {
                    return Err(Error::ConstantLabel { name: name() });
                }
                at += width;
            }
        }
        Ok(())
    }
}

/// The label and the column within it of a role's column `j`.
fn locate(layout: &Layout, role: Role, j: usize) -> (String, usize) {
    let mut left = j;
    for label in layout.labels.iter().filter(|l| l.role == role) {
        let width = layout.label_width(label);
        if left < width {
            return (label.name.clone(), left);
        }
        left -= width;
    }
    (String::new(), j)
}
