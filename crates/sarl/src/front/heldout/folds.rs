//! The folds, each tested on rows that its encoder has not seen.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use faer::{Col, Mat};
use rayon::prelude::*;

use super::super::average::{Loss, SHRINKAGE};
use crate::moments::{Known, LabelCovariances, Moments, PartThere, There};
use crate::spectral::Reduced;
use crate::spectral::linalg::{congruence, eigh};
use crate::spectral::spread::Spread;
use crate::{Error, Result};

/// An encoder of all folds but one, tested on that one.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    /// The folds that it was fitted on.
    pub(super) learnt: Vec<usize>,
    pub(super) reduced: Reduced,
    pub(super) weight: f64,
    /// `E[u uᵀ]` on the fold, about the training mean.
    pub(super) second: Mat<f64>,
    pub(super) target: Tested,
    pub(super) sensitive: Tested,
}

/// An encoder of some folds, an adversary of others, tested on a further one.
#[derive(Clone, Debug)]
pub(super) struct Fresh {
    pub(super) learnt: Vec<usize>,
    pub(super) reduced: Reduced,
    pub(super) weight: f64,
    /// `Cov(u)` and `Cov(u, s)` of the adversary's rows.
    pub(super) own: Mat<f64>,
    pub(super) own_cross: Mat<f64>,
    /// `E[u uᵀ]` on the tested fold, about the adversary's means.
    pub(super) second: Mat<f64>,
    pub(super) sensitive: Tested,
}

#[derive(Clone, Debug)]
pub(super) struct Tested {
    /// `E[u (y − ȳ)ᵀ]`.
    pub(super) cross: Mat<f64>,
    /// `E‖y − ȳ‖²` of each label.
    pub(super) spread: Vec<f64>,
    /// The columns of each label.
    pub(super) columns: Vec<Range<usize>>,
}

impl Tested {
    /// The loss of each label, in its own units, of predicting by `v` from `z = Gᵀu`, where
    /// `second` is `E[z zᵀ]`.
    fn losses(&self, g: &Mat<f64>, second: &Mat<f64>, v: &Mat<f64>) -> Vec<f64> {
        let cross = g.transpose() * self.cross.as_ref().subrows(0, g.nrows());
        let quadratic = second * v;
        let term = |i: usize, j: usize| v[(i, j)] * (quadratic[(i, j)] - 2.0 * cross[(i, j)]);
        let labels = self.columns.iter().zip(&self.spread);
        let label = |(columns, spread): (&Range<usize>, &f64)| {
            columns
                .clone()
                .fold(*spread, |loss, j| (0..v.nrows()).fold(loss, |loss, i| loss + term(i, j)))
        };
        labels.map(label).collect()
    }
}

/// What folds know, for ridges that come one after another.
pub(in crate::front) struct Learning<'a> {
    pub(super) moments: &'a Moments,
    /// Where a device has the sums of the folds.
    pub(super) there: Option<There<'a>>,
    /// By the folds that know it, where it is kept.
    kept: Option<Mutex<HashMap<Vec<usize>, Arc<Known>>>>,
}

/// What an encoder is fitted on.
enum Taught<'a> {
    Here(Arc<Known>),
    There(Box<PartThere<'a>>),
}

impl Taught<'_> {
    fn spread(&self) -> &dyn Spread {
        match self {
            Taught::Here(known) => &known.covariances,
            Taught::There(part) => part.as_ref(),
        }
    }

    /// The mean of the features.
    fn mean(&self) -> &[f64] {
        match self {
            Taught::Here(known) => &known.mean,
            Taught::There(part) => &part.known().mean,
        }
    }

    /// The problem, with a basis over all features.
    fn penalised(&self, ridge: f64) -> Result<Reduced> {
        let mut reduced = Reduced::penalised(self.spread(), ridge)?;
        if let Taught::Here(known) = self
            && let Some(within) = &known.within
        {
            reduced.basis = within * reduced.basis;
        }
        Ok(reduced)
    }
}

impl<'a> Learning<'a> {
    /// For one pass over the folds.
    pub(in crate::front) fn once(moments: &'a Moments) -> Result<Self> {
        Ok(Learning { moments, there: moments.there()?, kept: None })
    }

    /// For several. Covariances without the landmarks of other folds take as long to find as many
    /// factors: they are kept where there is memory for them. Others are found quickly.
    pub(in crate::front) fn again(moments: &'a Moments) -> Result<Self> {
        let (features, folds) = (moments.layout().features() as u64, moments.options().folds);
        let kept = square(features).saturating_mul(SQUARES_KEPT * folds as u64);
        let fits = moments.landmarks.is_some() && sarl_memory::check(kept).is_ok();
        Ok(Learning { moments, there: moments.there()?, kept: fits.then(Mutex::default) })
    }

    /// Whether the processor does what a device could not: where the device need not be used, and where
    /// rounding left it no factor.
    pub(super) fn may_stay_here(&self, error: &Error) -> bool {
        let optional = self.there.as_ref().is_some_and(There::is_optional);
        match error {
            Error::Device { .. } => optional,
            Error::Unstable => self.there.is_some(),
            _ => false,
        }
    }

    /// From now on the processor does everything.
    pub(super) fn stay_here(&mut self) {
        self.there = None;
    }

    /// The device, where it can do this: without a ridge, what other folds leave out has no factor.
    pub(super) fn there_for(&self, ridges: &[f64]) -> Option<&There<'a>> {
        self.there.as_ref().filter(|_| ridges.iter().all(|&ridge| ridge > 0.0))
    }

    fn known_here(&self, folds: &[usize]) -> Result<Arc<Known>> {
        let Some(kept) = &self.kept else { return Ok(Arc::new(self.moments.known_to(folds)?)) };
        let kept = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(folds) {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(self.moments.known_to(folds)?);
        kept().insert(folds.to_vec(), Arc::clone(&known));
        Ok(known)
    }
}

/// Where a fold gets its parts from.
struct Source<'a> {
    learning: &'a Learning<'a>,
    there: Option<&'a There<'a>>,
}

impl<'a> Source<'a> {
    fn known_to(&self, folds: &[usize]) -> Result<Taught<'a>> {
        match self.there {
            Some(there) => Ok(Taught::There(Box::new(there.known_to(folds)?))),
            None => Ok(Taught::Here(self.learning.known_here(folds)?)),
        }
    }

    fn of_folds(&self, folds: &[usize]) -> Result<Box<dyn Spread + 'a>> {
        match self.there {
            Some(there) => Ok(Box::new(there.of_folds(folds)?)),
            None => Ok(Box::new(self.learning.moments.of_folds(folds)?)),
        }
    }

    fn to_learn_from(&self, folds: &[usize]) -> Result<Box<dyn Spread + 'a>> {
        match self.there {
            Some(there) => Ok(Box::new(there.to_learn_from(folds)?)),
            None => Ok(Box::new(self.learning.moments.to_learn_from(folds)?)),
        }
    }
}

/// Square matrices that are kept of each fold: two of the folds that fit, and less than two of those that fit
/// where there is a fresh adversary.
const SQUARES_KEPT: u64 = 4;

/// The bytes of a square matrix.
pub(super) fn square(features: u64) -> u64 {
    8 * features.saturating_mul(features)
}

/// A fold tested, and a fresh adversary on it, for each ridge.
pub(super) type Parts = (Vec<Fold>, Vec<Option<Fresh>>);

/// The parts of a fold. A fresh one needs three parts in which
/// all labels vary.
pub(super) fn parts(learning: &Learning<'_>, fold: usize, ridges: &[f64]) -> Result<Parts> {
    let source = Source { learning, there: learning.there_for(ridges) };
    let count = learning.moments.options().folds;
    let others: Vec<usize> = (1..count).map(|step| (fold + step) % count).collect();
    let train = source.known_to(&others)?;
    let test = source.of_folds(&[fold])?;
    let one = |ridge: &f64| Fold::new(&train, test.as_ref(), others.clone(), *ridge);
    let folds = ridges.par_iter().map(one).collect::<Result<Vec<Fold>>>()?;
    drop(train);
    let (first, second) = others.split_at(count / 2);
    if second.is_empty() || count < 3 {
        return Ok((folds, vec![None; ridges.len()]));
    }
    let learn = || Ok((source.known_to(first)?, source.to_learn_from(second)?));
    let Some((known, own)) = unless_few(learn())? else {
        return Ok((folds, vec![None; ridges.len()]));
    };
    let (own, test) = (own.as_ref(), test.as_ref());
    let one = |ridge: &f64| unless_few(Fresh::new(&known, own, test, first.to_vec(), *ridge));
    Ok((folds, ridges.par_iter().map(one).collect::<Result<_>>()?))
}

/// Nothing where too few rows are the reason.
fn unless_few<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_about_few_rows() => Ok(None),
        found => found.map(Some),
    }
}

/// `E[u uᵀ]` on the test rows about the mean of those that taught, and how far the means are apart.
fn second_about(
    basis: &Mat<f64>,
    taught: &[f64],
    test: &dyn Spread,
) -> Result<(Mat<f64>, Col<f64>)> {
    let step = Col::from_fn(taught.len(), |i| test.known().mean[i] - taught[i]);
    let step = basis.transpose() * step;
    let second = test.congruence(basis.as_ref())? + &step * step.transpose();
    Ok((second, step))
}

/// A label on the test rows, about its mean in the rows that a predictor was taught on.
fn tested(
    basis: &Mat<f64>,
    step: &Col<f64>,
    taught: &LabelCovariances,
    test: &LabelCovariances,
) -> Tested {
    let moved: Vec<f64> = test.mean.iter().zip(&taught.mean).map(|(a, b)| a - b).collect();
    let mut cross = basis.transpose() * &test.cross;
    for j in 0..cross.ncols() {
        for i in 0..cross.nrows() {
            cross[(i, j)] += step[i] * moved[j];
        }
    }
    let spread = |j: usize| test.variance[j] + moved[j] * moved[j];
    let mut at = 0;
    let columns = test.labels.iter().map(|label| {
        at += label.width;
        at - label.width..at
    });
    let columns: Vec<Range<usize>> = columns.collect();
    let spread = columns.iter().map(|label| label.clone().map(spread).sum()).collect();
    Tested { cross, spread, columns }
}

impl Fold {
    fn new(train: &Taught<'_>, test: &dyn Spread, learnt: Vec<usize>, ridge: f64) -> Result<Self> {
        let reduced = train.penalised(ridge)?;
        let basis = &reduced.basis;
        let (second, step) = second_about(basis, train.mean(), test)?;
        let (train, test) = (train.spread().known(), test.known());
        Ok(Fold {
            weight: test.weight,
            target: tested(basis, &step, &train.target, &test.target),
            sensitive: tested(basis, &step, &train.sensitive, &test.sensitive),
            second,
            reduced,
            learnt,
        })
    }

    pub(super) fn losses(&self, g: &Mat<f64>) -> Result<[Loss<'_>; 2]> {
        let (vy, vs) = self.reduced.predictors(g.as_ref());
        let rows = g.nrows();
        let second = congruence(g.as_ref(), self.second.as_ref().submatrix(0, 0, rows, rows));
        Ok([(&self.target, vy), (&self.sensitive, vs)].map(|(tested, v)| {
            let losses = tested.losses(g, &second, &v);
            Loss { weight: self.weight, losses, spread: Cow::Borrowed(&tested.spread) }
        }))
    }
}

impl Fresh {
    fn new(
        first: &Taught<'_>,
        own: &dyn Spread,
        test: &dyn Spread,
        learnt: Vec<usize>,
        ridge: f64,
    ) -> Result<Self> {
        let reduced = first.penalised(ridge)?;
        let basis = &reduced.basis;
        let (second, step) = second_about(basis, &own.known().mean, test)?;
        let own_second = own.congruence(basis.as_ref())?;
        let (own, test) = (own.known(), test.known());
        Ok(Fresh {
            weight: test.weight,
            own: own_second,
            own_cross: basis.transpose() * &own.sensitive.cross,
            sensitive: tested(basis, &step, &own.sensitive, &test.sensitive),
            second,
            reduced,
            learnt,
        })
    }

    /// For each shrinkage what the adversary leaves.
    pub(super) fn losses(&self, g: &Mat<f64>) -> Result<[Loss<'_>; SHRINKAGE.len()]> {
        let rows = g.nrows();
        let part = |a: &Mat<f64>| congruence(g.as_ref(), a.as_ref().submatrix(0, 0, rows, rows));
        let (own, second) = (part(&self.own), part(&self.second));
        let (values, vectors) = eigh(own.as_ref())?;
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let cross =
            vectors.transpose() * (g.transpose() * self.own_cross.as_ref().subrows(0, rows));
        Ok(SHRINKAGE.map(|shrinkage| {
            let mut v = cross.clone();
            for (i, value) in values.iter().enumerate() {
                let held = value.max(0.0) + shrinkage * mean;
                v.row_mut(i).iter_mut().for_each(|v| *v = if held > 0.0 { *v / held } else { 0.0 });
            }
            let losses = self.sensitive.losses(g, &second, &(&vectors * v));
            Loss { weight: self.weight, losses, spread: Cow::Borrowed(&self.sensitive.spread) }
        }))
    }
}
