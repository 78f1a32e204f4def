//! From running sums to means and covariances, all divided by the total weight.

use faer::{Mat, MatRef};

use super::assemble::Parts;
use super::layout::Layout;
use super::made::Combination;
use super::products::Products;
use super::rounding::Rounding;
use crate::Result;

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

    /// The same with all columns of the target: see [`Over::once`].
    pub(crate) fn whole(mut self) -> Self {
        if self.target.cross.ncols() < self.target.variance.len() {
            self.target.cross = self.features.clone();
        }
        self
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
        products: &Products<'_>,
        shift: &[f64],
        rounding: &Rounding,
        (made, over): (&[Option<Combination>], Over),
    ) -> Result<Self> {
        let parts = Parts::new(layout, products, shift, (rounding.floor, made));
        let this = parts.covariances(parts.features(over.spare), rounding, over.once);
        this.check_overflow(layout)?;
        Ok(this)
    }

    /// The same without those of the features with each other.
    pub(super) fn assemble_thin(
        layout: &Layout,
        products: &Products<'_>,
        shift: &[f64],
        rounding: &Rounding,
        made: &[Option<Combination>],
    ) -> Result<Self> {
        let parts = Parts::new(layout, products, shift, (rounding.floor, made));
        let this = parts.covariances(Mat::new(), rounding, false);
        this.check_overflow(layout)?;
        Ok(this)
    }
}

/// Where covariances are written.
pub(crate) struct Over {
    /// A matrix that is not needed any more.
    pub(crate) spare: Mat<f64>,
    /// Whether features that are the only target have no columns in [`LabelCovariances::cross`], which would be a
    /// copy of [`Covariances::features`]: erasures need none.
    pub(crate) once: bool,
}

impl Default for Over {
    fn default() -> Self {
        Over { spare: Mat::new(), once: false }
    }
}
