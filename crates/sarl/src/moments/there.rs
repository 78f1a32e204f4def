//! The sums of the folds on a device, after the last row.
//!
//! What is as large as the square of the features is combined, factored and multiplied there: the
//! covariances of some folds, and their factor in the space that the landmarks of other folds leave. Means,
//! labels and variances of features stay here.

use std::borrow::Cow;
use std::cell::RefCell;

use faer::{Mat, MatRef};

use super::layout::{Inputs, LabelKind};
use super::sums::Sums;
use super::{Covariances, Moments};
use crate::engine::{Engine, Factor, Factored, Folds, FoldsPlan, Together};
use crate::spectral::spread::{Here, Spread, White};
use crate::spectral::whiten::{is_clearly_full, shrunk, varying};
use crate::{Error, Result};

/// The sums of all folds there.
#[derive(Debug)]
pub(crate) struct There<'a> {
    moments: &'a Moments,
    folds: Box<dyn Folds>,
}

/// Some folds of them.
pub(crate) struct PartThere<'a> {
    there: &'a There<'a>,
    folds: Vec<usize>,
    /// Without those of the features with each other.
    covariances: Covariances,
    /// The variance of each feature.
    variances: Vec<f64>,
    together: Together,
    /// The landmarks that are known, if not all of them are.
    landmarks: Option<Vec<usize>>,
}

impl Moments {
    /// A device for the sums of the folds, where an engine has one that is worth it.
    pub(crate) fn there(&self) -> Result<Option<There<'_>>> {
        let Some(engine) = self.engine() else { return Ok(None) };
        let features = |kind: &LabelKind| matches!(kind, LabelKind::Features);
        let thin = self.layout.codes.is_empty()
            && !matches!(self.layout.inputs, Inputs::Span(_))
            && !self.layout.labels.iter().any(|label| features(&label.kind));
        if !thin || self.check_settled().is_err() || self.lanes.is_empty() {
            return Ok(None);
        }
        let sum = |fold: usize| match (self.lanes.as_slice(), &self.factors) {
            ([lane], None) => Cow::Borrowed(&lane.folds[fold]),
            _ => Cow::Owned(self.fold(fold)),
        };
        let sums: Vec<Cow<'_, Sums>> = (0..self.options.folds).map(sum).collect();
        let m = self.layout.dense;
        let finite = |sums: &Cow<'_, Sums>| (0..m).all(|j| sums.scatter()[(j, j)].is_finite());
        if !sums.iter().all(finite) {
            return Ok(None);
        }
        let scatters = sums.iter().map(|sums| sums.scatter().submatrix(0, 0, m, m)).collect();
        let factor = self.landmarks.as_ref().map(|l| l.factor.as_ref().as_ref());
        let folds = match engine.folds(&FoldsPlan { scatters, factor }) {
            Err(_) if engine.is_optional() => None,
            folds => folds?,
        };
        Ok(folds.map(|folds| There { moments: self, folds }))
    }
}

impl There<'_> {
    /// Whether the processor may take over.
    pub(crate) fn is_optional(&self) -> bool {
        self.moments.engine().is_none_or(Engine::is_optional)
    }

    /// As [`Moments::of_folds`].
    pub(crate) fn of_folds(&self, folds: &[usize]) -> Result<PartThere<'_>> {
        let moments = self.moments;
        let products = moments.products(folds);
        let sums = &products.rest;
        if sums.rows < 2 {
            return Err(Error::FewInFold { folds: folds.to_vec(), rows: sums.rows });
        }
        let (layout, made) = (&moments.layout, moments.combinations()?);
        let (shift, rounding) = (&moments.shift, moments.rounding());
        let covariances = Covariances::assemble_thin(layout, &products, shift, &rounding, &made)?;
        let m = layout.dense;
        let delta: Vec<f64> = sums.sum()[..m].iter().map(|sum| sum / sums.weight).collect();
        let variance = |j: usize| products.at(j, j) / sums.weight - delta[j] * delta[j];
        let share = |fold: usize| if folds.contains(&fold) { 1.0 / sums.weight } else { 0.0 };
        Ok(PartThere {
            there: self,
            folds: folds.to_vec(),
            variances: (0..m).map(variance).collect(),
            covariances,
            together: Together { shares: (0..moments.options.folds).map(share).collect(), delta },
            landmarks: None,
        })
    }

    /// As [`Moments::to_learn_from`].
    pub(crate) fn to_learn_from(&self, folds: &[usize]) -> Result<PartThere<'_>> {
        let part = self.of_folds(folds)?;
        part.covariances.check_informative(&self.moments.layout)?;
        Ok(part)
    }

    /// As [`Moments::known_to`], for a ridge: without landmarks that only other folds know.
    pub(crate) fn known_to(&self, folds: &[usize]) -> Result<PartThere<'_>> {
        let part = self.to_learn_from(folds)?;
        let others = (0..self.moments.options.folds).filter(|fold| !folds.contains(fold));
        let others: Vec<usize> = others.collect();
        let landmarks = self.moments.landmarks.as_ref().and_then(|l| l.known_without(&others));
        Ok(PartThere { landmarks, ..part })
    }
}

impl PartThere<'_> {
    fn factor(&self, scale: &[f64], diagonal: &[f64]) -> Result<Option<Box<dyn Factor>>> {
        let how = Factored { scale, diagonal, known: self.landmarks.as_deref() };
        self.there.folds.factor(&self.together, &how)
    }

    /// The whitening of `C + ρI`, with what rounding can have left.
    fn ridged(&self, ridge: f64) -> Result<Box<dyn White + '_>> {
        let beside = |j: usize| ridge + self.covariances.floor_of(j);
        let diagonal: Vec<f64> = (0..self.features()).map(beside).collect();
        let factor = self.factor(&[], &diagonal)?.ok_or(Error::Unstable)?;
        Ok(Box::new(WhiteThere { scale: Vec::new(), factor: RefCell::new(factor) }))
    }

    /// The whitening of all features, where their correlations clearly have full rank.
    fn plain(&self) -> Result<Option<WhiteThere>> {
        let (c, m) = (&self.covariances, self.features());
        if self.landmarks.is_some() || varying(c, &self.variances)?.len() < m {
            return Ok(None);
        }
        let variances = self.variances.iter().enumerate();
        let scale: Vec<f64> = variances.map(|(j, v)| shrunk(c, j, *v) / v.sqrt()).collect();
        let factor = self.factor(&scale, &vec![0.0; m])?;
        let factor = factor.filter(|factor| is_clearly_full(factor.least(), c.rank_tolerance));
        let factor = factor.map(RefCell::new);
        Ok(factor.map(|factor| WhiteThere { scale, factor }))
    }
}

impl Spread for PartThere<'_> {
    fn known(&self) -> &Covariances {
        &self.covariances
    }

    fn features(&self) -> usize {
        self.variances.len()
    }

    fn whitening(&self, ridge: f64) -> Result<Box<dyn White + '_>> {
        varying(&self.covariances, &self.variances)?;
        if ridge > 0.0 {
            return self.ridged(ridge);
        }
        match self.plain()? {
            Some(white) => Ok(Box::new(white)),
            // A factor with pivots is found here.
            None => {
                let here = self.there.moments.of_folds(&self.folds)?;
                Ok(Box::new(Here::new(Cow::Owned(here), ridge)?))
            }
        }
    }

    fn product(&self, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.there.folds.product(&self.together, b)
    }
}

/// `S W`, with `W` on a device.
struct WhiteThere {
    /// The diagonal of `S`; ones, if it is empty.
    scale: Vec<f64>,
    factor: RefCell<Box<dyn Factor>>,
}

impl WhiteThere {
    fn scaled(&self, mut a: Mat<f64>) -> Mat<f64> {
        if !self.scale.is_empty() {
            for j in 0..a.ncols() {
                a.col_mut(j).iter_mut().zip(&self.scale).for_each(|(a, scale)| *a *= scale);
            }
        }
        a
    }
}

impl White for WhiteThere {
    fn basis(&self) -> usize {
        self.factor.borrow().basis()
    }

    fn whiten(&self, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.factor.borrow_mut().whiten(self.scaled(a.to_owned()).as_ref())
    }

    fn unwhiten(&self, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.scaled(self.factor.borrow_mut().unwhiten(q)?))
    }
}
