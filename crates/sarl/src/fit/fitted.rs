//! A fit that has all its rows: the front, the held-out losses and every goal.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::params::{FitParams, Ridge};
use crate::encoder::{Erasing, Model};
use crate::features::FeatureMap;
use crate::front::{
    Front, Goal, HeldOut, HeldOutLabels, HeldOutLosses, best_erasing_ridge, best_ridge,
    default_ridge, erased_heldout, erased_heldout_at, erased_heldout_points, mean_variance,
    preserved_heldout,
};
use crate::moments::{Covariances, Layout, Moments, Over};
use crate::spectral::Reduced;
use crate::{Error, Result};

/// Everything that a fit knows. What is costly is computed once, when it is first asked for.
#[derive(Clone, Debug)]
pub struct Fitted {
    params: FitParams,
    layout: Layout,
    map: Arc<FeatureMap>,
    moments: Arc<Moments>,
    spreads: Vec<(f64, f64)>,
    /// Those of all rows, until the first solution takes them.
    covariances: Arc<Mutex<Option<Covariances>>>,
    ridge: OnceLock<UsedRidge>,
    reduced: OnceLock<Reduced>,
}

/// The ridge of a fit, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsedRidge {
    /// What is added to the variance of each feature.
    pub ridge: f64,
    /// Whether it was chosen by held-out losses.
    pub chosen: bool,
    /// Whether it is the largest that was tried: a still larger one may do better.
    pub largest: bool,
}

impl Fitted {
    pub(super) fn new(
        params: FitParams,
        layout: Layout,
        map: Arc<FeatureMap>,
        moments: Arc<Moments>,
        spreads: Vec<(f64, f64)>,
    ) -> Self {
        let (ridge, reduced) = (OnceLock::new(), OnceLock::new());
        let covariances = Arc::default();
        Fitted { params, layout, map, moments, spreads, covariances, ridge, reduced }
    }

    /// The same with covariances that are known already.
    pub(super) fn knowing(self, covariances: Covariances) -> Self {
        Fitted { covariances: Arc::new(Mutex::new(Some(covariances))), ..self }
    }

    /// The covariances of all rows. They are large, and kept only until they are first needed.
    fn covariances(&self) -> Result<Covariances> {
        let kept = self.covariances.lock().unwrap_or_else(PoisonError::into_inner).take();
        let over = || Over { once: self.erases_any(), ..Over::default() };
        kept.map_or_else(|| self.moments.covariances_over(over()), Ok)
    }

    /// How it was fitted.
    pub fn params(&self) -> &FitParams {
        &self.params
    }

    /// What the columns of the rows were.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What was computed from each row.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// The second moments of that.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The mean and the standard deviation of each dense input; that of a constant is zero.
    pub fn spreads(&self) -> &[(f64, f64)] {
        &self.spreads
    }

    /// The standard deviation of each column that the weights of a model belong to.
    pub fn feature_spreads(&self) -> Result<Vec<f64>> {
        let mut spreads = self.map.spreads(&self.moments)?;
        if self.map.is_linear() {
            // Of inputs as they come, not as they are scaled.
            spreads.iter_mut().zip(&self.spreads).for_each(|(to, own)| *to = own.1);
        }
        Ok(spreads)
    }

    /// The mean variance of a feature, the unit of a ridge.
    pub fn mean_variance(&self) -> Result<f64> {
        mean_variance(&self.moments)
    }

    /// The ridge that was asked for, or the one that does best on held-out rows.
    pub fn ridge(&self) -> Result<UsedRidge> {
        once(&self.ridge, || {
            let best = match self.params.ridge {
                Ridge::Fixed(ridge) => {
                    return Ok(UsedRidge { ridge, chosen: false, largest: false });
                }
                Ridge::Auto => Some(best_ridge(&self.moments, self.params.dimensions)?),
                Ridge::Default => default_ridge(&self.moments, self.params.dimensions)?,
            };
            Ok(UsedRidge {
                ridge: best.map_or(0.0, |best| best.ridge),
                chosen: best.is_some(),
                largest: best.is_some_and(|best| best.largest),
            })
        })
        .copied()
    }

    /// The same fit with another ridge.
    pub fn with_ridge(&self, ridge: f64) -> Result<Self> {
        let params = FitParams { ridge: Ridge::Fixed(ridge), ..self.params.clone() };
        params.check()?;
        let (ridge, reduced) = (OnceLock::new(), OnceLock::new());
        Ok(Fitted { params, ridge, reduced, ..self.clone() })
    }

    /// The problem in few dimensions.
    pub fn reduced(&self) -> Result<&Reduced> {
        let ridge = self.ridge()?.ridge;
        once(&self.reduced, || match self.reduced_there(ridge)? {
            Some(reduced) => Ok(reduced),
            None => Reduced::new(&self.covariances()?.whole(), ridge),
        })
    }

    /// The same by a device, where there is one for it.
    fn reduced_there(&self, ridge: f64) -> Result<Option<Reduced>> {
        let Some(there) = self.moments.there()? else { return Ok(None) };
        let folds: Vec<usize> = (0..self.moments.options().folds).collect();
        let found = there.to_learn_from(&folds).and_then(|all| Reduced::of(&all, ridge));
        match found {
            Err(Error::Device { .. }) if there.is_optional() => Ok(None),
            Err(Error::Unstable | Error::FewInFold { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// All trade-offs.
    pub fn front(&self) -> Result<Front<'_>> {
        Front::new(self.reduced()?, self.params.dimensions)
    }

    /// The folds, each tested on rows that its encoder has not seen.
    pub fn heldout(&self) -> Result<HeldOut> {
        HeldOut::beside(&self.moments, self.reduced()?, self.params.dimensions)
    }

    /// The folds, if there are any and each has rows enough.
    pub fn heldout_if_any(&self) -> Result<Option<HeldOut>> {
        if self.moments.options().folds < 2 {
            return Ok(None);
        }
        match self.heldout() {
            Ok(heldout) => Ok(Some(heldout)),
            Err(error) if error.is_about_few_rows() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The best encoder for a goal.
    pub fn solve(&self, goal: Goal) -> Result<Model> {
        let cap = self.params.dimensions;
        let mut model = Model::new(&self.map, &self.layout, self.reduced()?, cap, goal)?;
        model.params = Some(self.params.clone());
        Ok(model)
    }

    /// Whether a goal is a full erasure, which [`Fitted::erase`] solves without a reduced problem.
    pub fn erases(&self, goal: &Goal) -> bool {
        let plain = self.map.is_linear() && self.params.dimensions.is_none();
        plain && Erasing::suits(&self.layout, goal)
    }

    /// Whether nothing but the features is kept, of any number of dimensions, so that
    /// [`Fitted::erase`] solves every goal.
    pub fn erases_any(&self) -> bool {
        let plain = self.map.is_linear() && self.params.dimensions.is_none();
        plain && Erasing::keeps_features(&self.layout)
    }

    /// An erasure. The ridge is that of [`Erasing::new`]; only a full erasure can have one.
    pub fn erase(&self, goal: Goal) -> Result<Erasing> {
        let covariances = self.covariances()?;
        let erasing = match self.erases(&goal) {
            true => {
                let ridge = self.erasing_ridge()?;
                Erasing::new(&self.map, &self.layout, &covariances, goal, ridge)?
            }
            false => {
                self.check_no_ridge()?;
                Erasing::partial(&self.map, &self.layout, &covariances, goal, false)?
            }
        };
        Ok(erasing.by(self.params.criterion))
    }

    /// An erasure with directions that suit all other goals too.
    pub fn erase_along(&self, goal: Goal) -> Result<Erasing> {
        self.check_no_ridge()?;
        let covariances = self.covariances()?;
        let erasing = Erasing::partial(&self.map, &self.layout, &covariances, goal, true)?;
        Ok(erasing.by(self.params.criterion))
    }

    fn check_no_ridge(&self) -> Result<()> {
        match self.params.ridge {
            Ridge::Default | Ridge::Fixed(0.0) => Ok(()),
            _ => Err(Error::Unavailable("only a full erasure can have a ridge")),
        }
    }

    /// The held-out losses of an erasure.
    pub fn erased_heldout(&self, goal: &Goal) -> Result<(HeldOutLosses, HeldOutLabels)> {
        match self.erases(goal) {
            true => erased_heldout(&self.moments, self.erasing_ridge()?),
            false => erased_heldout_at(&self.moments, goal),
        }
    }

    /// The held-out losses of erasures at evenly spaced λ.
    pub fn erased_heldout_points(&self, count: usize) -> Result<Vec<HeldOutLosses>> {
        erased_heldout_points(&self.moments, count)
    }

    /// A full erasure that keeps the covariance of the features with every target beside them:
    /// [`Erasing::preserving`].
    pub fn preserve(&self) -> Result<Erasing> {
        Erasing::preserving(&self.map, &self.layout, &self.moments.covariances()?)
    }

    /// The held-out losses of that.
    pub fn preserved_heldout(&self) -> Result<(HeldOutLosses, HeldOutLabels)> {
        preserved_heldout(&self.moments)
    }

    fn erasing_ridge(&self) -> Result<f64> {
        let found = once(&self.ridge, || {
            let (ridge, chosen) = match self.params.ridge {
                Ridge::Default => (0.0, false),
                Ridge::Fixed(ridge) => (ridge, false),
                Ridge::Auto => (best_erasing_ridge(&self.moments)?, true),
            };
            Ok(UsedRidge { ridge, chosen, largest: false })
        });
        Ok(found?.ridge)
    }
}

/// What a cell holds, computed first where it holds nothing.
fn once<T>(cell: &OnceLock<T>, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(found) = cell.get() {
        return Ok(found);
    }
    let found = compute()?;
    Ok(cell.get_or_init(|| found))
}
