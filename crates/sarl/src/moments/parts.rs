//! The moments of some folds together.

use faer::Mat;

use super::made::Combination;
use super::products::Products;
use super::rounding::Rounding;
use super::sums::Sums;
use super::{Covariances, LabelKind, Made, Moments, Over, Precision};
use crate::{Error, Result, tolerance};

/// Covariances of folds to learn from, without landmarks that only the others know.
pub(crate) struct Known {
    pub(crate) covariances: Covariances,
    /// The mean of the features.
    pub(crate) mean: Vec<f64>,
    /// Orthonormal, features × those of the covariances, where they are not the same.
    pub(crate) within: Option<Mat<f64>>,
}

impl Moments {
    /// What these folds say where the others are not known. Of directions that lie in it, what other
    /// folds say is not changed by what is left out.
    pub(crate) fn known_to(&self, folds: &[usize]) -> Result<Known> {
        let mut covariances = self.to_learn_from(folds)?;
        let mean = covariances.mean.clone();
        let unseen: Vec<usize> =
            (0..self.options.folds).filter(|fold| !folds.contains(fold)).collect();
        let within = self.landmarks.as_ref().and_then(|l| l.others_than(&unseen));
        match &within {
            Some(within) => covariances.within(within.as_ref()),
            None => self.leave_out(&unseen, [&mut covariances]),
        }
        Ok(Known { covariances, mean, within })
    }

    /// The covariances of some folds together, one after another: all parts of all folds at once
    /// are many matrices of the size of the features.
    pub(crate) fn of_folds(&self, folds: &[usize]) -> Result<Covariances> {
        self.of_folds_over(folds, Over::default())
    }

    /// The same, written where it is said.
    pub(crate) fn of_folds_over(&self, folds: &[usize], over: Over) -> Result<Covariances> {
        let mut ordered = folds.to_vec();
        ordered.sort_unstable();
        let products = self.products(&ordered);
        if products.rest.rows < 2 {
            return Err(Error::FewInFold { folds: folds.to_vec(), rows: products.rest.rows });
        }
        self.assemble(&products, over)
    }

    /// Those of some folds, where every label varies.
    pub(crate) fn to_learn_from(&self, folds: &[usize]) -> Result<Covariances> {
        self.to_learn_from_over(folds, Over::default())
    }

    /// The same, written where it is said.
    pub(crate) fn to_learn_from_over(&self, folds: &[usize], over: Over) -> Result<Covariances> {
        let part = self.of_folds_over(folds, over)?;
        part.check_informative(&self.layout)?;
        Ok(part)
    }

    /// Takes landmarks that only these folds know from covariances.
    pub(super) fn leave_out<const N: usize>(&self, folds: &[usize], parts: [&mut Covariances; N]) {
        let unknown = self.landmarks.as_ref().and_then(|landmarks| landmarks.known_to(folds));
        if let Some(unknown) = unknown {
            parts.into_iter().for_each(|part| part.without(unknown.as_ref()));
        }
    }

    /// The covariances of all rows, written where it is said.
    pub(crate) fn covariances_over(&self, over: Over) -> Result<Covariances> {
        let folds: Vec<usize> = (0..self.options.folds).collect();
        let products = self.products(&folds);
        if products.rest.rows < 2 {
            return Err(Error::TooFewRows { rows: products.rest.rows });
        }
        let all = self.assemble(&products, over)?;
        all.check_informative(&self.layout)?;
        Ok(all)
    }

    fn assemble(&self, products: &Products<'_>, over: Over) -> Result<Covariances> {
        self.check_settled()?;
        let (made, rounding) = (self.combinations()?, self.rounding());
        Covariances::assemble(&self.layout, products, &self.shift, &rounding, (&made, over))
    }

    /// The sums of some folds, to be read.
    pub(super) fn products(&self, folds: &[usize]) -> Products<'_> {
        Products::new(&self.layout, &self.lanes, folds, self.factors.as_deref())
    }

    pub(super) fn rounding(&self) -> Rounding {
        let (rank, floor) = match self.options.precision {
            Precision::Double => (tolerance::RANK, tolerance::FLOOR),
            Precision::Single => (tolerance::RANK_SINGLE, tolerance::FLOOR_SINGLE),
        };
        let weight = self.weight();
        let size = self.landmarks.as_ref().map_or(1.0, |l| (l.size / weight).sqrt());
        let noise = self.noise.iter().map(|noise| noise * size).collect();
        Rounding { rank, floor, noise }
    }

    /// One fold over all lanes.
    pub(super) fn fold(&self, fold: usize) -> Sums {
        // Lanes first: a file holds these very sums, so that what it gives back is the same.
        let mut sums = Sums::new(&self.layout);
        for lane in self.lanes.iter() {
            sums.add(&lane.folds[fold]);
        }
        if let Some(factors) = &self.factors {
            sums.rescale(factors);
        }
        sums
    }

    /// What the columns of each label become, by means over all rows.
    pub(super) fn combinations(&self) -> Result<Vec<Option<Combination>>> {
        let combined = |(label, made): (usize, Option<Made>)| {
            made.map(|made| self.combination(label, made)).transpose()
        };
        let labels = self.layout.labels.iter().map(|l| l.made).enumerate();
        labels.map(combined).collect()
    }

    fn combination(&self, label: usize, made: Made) -> Result<Combination> {
        let sums = || self.lanes.iter().flat_map(|lane| &lane.folds);
        let weight = self.weight();
        if let Some((group, classes)) = self.layout.class_group(label) {
            let share = |k: usize| sums().map(|s| s.counts[group][k]).sum::<f64>() / weight;
            let shares: Vec<f64> = (0..classes).map(share).collect();
            return made.combination(&shares, &|_, _| 0.0);
        }
        let before = self.layout.numbers().take_while(|(i, _)| *i < label).map(|(_, w)| w);
        let first = self.layout.dense + self.layout.inputs.kept() + before.sum::<usize>();
        let width = match self.layout.labels[label].kind {
            LabelKind::Number { width } => width,
            _ => 0,
        };
        let mut delta = vec![0.0; width];
        let mut products = Mat::<f64>::zeros(width, width);
        for sums in sums() {
            let scatter = sums.scatter();
            for j in 0..width {
                delta[j] += sums.sum_of(first + j);
                for i in j..width {
                    products[(i, j)] += scatter[(first + i, first + j)];
                }
            }
        }
        delta.iter_mut().for_each(|d| *d /= weight);
        let mean: Vec<f64> = delta.iter().zip(&self.shift[first..]).map(|(d, s)| d + s).collect();
        made.combination(&mean, &|i, j| {
            products[(i.max(j), i.min(j))] / weight - delta[i] * delta[j]
        })
    }
}
