//! Erasure at any strength in a space of a few directions.
//!
//! With the features as the target, an erasure takes directions `E` off them and keeps all others.
//! In coordinates with `Cov(u) = I`, with `H = Cov(u, x) Cov(x, u)` and `Ws = Cov(u, s)`, it costs
//! `tr EᵀHE` of the variance of x and hides `‖EᵀWs‖²` of the labels. Any space `V` that contains
//! `Ws` (orthonormal columns) bounds the best erasure from both sides:
//!
//! ```text
//! above: E inside of V                  H is VᵀHV = takenᵀ taken        taken = Cov(x, V)
//! below: H ≥ V (VᵀH⁻¹V)⁻¹ Vᵀ            VᵀH⁻¹V = foundᵀ found           found: weights of V, the least
//! ```
//!
//! So two problems of the size of V, both made of the weights and of what they take, are the
//! solution and its certificate. V grows until they agree. Removed directions are of the form
//! `(H + θI)⁻¹ Ws a`, in weights `(C + θI)⁻¹ C⁻¹ Cs a`: V gets what `C`, its inverse and the inverses
//! of `C + θI` make of the weights that it begins with.

use faer::{Mat, MatRef};

use super::attribute::{Attribute, Side};
use super::directions::of_many_sizes;
use super::linalg::{
    beside, cholesky_of, eigh, solve_lower, solve_lower_transposed, span, squares,
};
use super::problem::{Half, Problem, correlations};
use super::reduced::Reduced;
use super::whiten::Whitening;
use crate::moments::Covariances;
use crate::spare::{Spare, square};
use crate::{Error, Result, tolerance};

/// A direction is new when more than this share of its variance is outside of the space.
const NEW: f64 = 1e-10;
/// A factor of `C + θI` serves for θ up to so many times as large or small.
const NEAR: f64 = 3.0;
/// Solves with a factor that was just made, and with one that is there.
const FIRST: usize = 3;
const MORE: usize = 4;

/// The space of directions; see the module.
pub(crate) struct Removal<'a> {
    c: &'a Covariances,
    spare: &'a mut Spare,
    whitening: Whitening,
    /// A basis of the range of `C`, where some of what varies depends on the rest.
    range: Option<Mat<f64>>,
    /// The weights of the directions, features × t, and `C` times them.
    found: Mat<f64>,
    taken: Mat<f64>,
    /// How many of them the labels know.
    known: usize,
    /// What the next powers of `C` and of its inverse are made of.
    forward: Mat<f64>,
    backward: Mat<f64>,
    pole: Option<Pole>,
}

/// A factor of `C + θI`, and the last weights that were solved for.
struct Pole {
    theta: f64,
    factor: Mat<f64>,
    last: Mat<f64>,
}

impl<'a> Removal<'a> {
    /// What the labels know.
    pub(crate) fn new(c: &'a Covariances, spare: &'a mut Spare) -> Result<Self> {
        let whitening = Whitening::over(c, spare.take())?;
        let range = match of_many_sizes(c.deviations()) {
            true => None,
            false => whitening.range(c.features.as_ref()),
        };
        let whitened = whitening.whiten(c.sensitive.cross.as_ref());
        let known = correlations(whitened.as_ref(), &c.sensitive.variance);
        let (q, rank) = span(known.as_ref(), tolerance::SPAN, false);
        let start = whitening.unwhiten(q.subcols(0, rank));
        let none = || Mat::zeros(c.features.nrows(), 0);
        let (found, taken, forward, backward) = (none(), none(), none(), none());
        let (known, pole) = (0, None);
        let mut space =
            Removal { c, spare, whitening, range, found, taken, known, forward, backward, pole };
        let image = &c.features * &start;
        space.add(start, image)?;
        space.settle(0)?;
        space.known = space.found.ncols();
        (space.forward, space.backward) = (space.taken.clone(), space.found.clone());
        Ok(space)
    }

    /// Leaves the large matrices to others.
    pub(crate) fn leave(self) {
        self.spare.give(self.whitening.into_spare());
        self.pole.into_iter().for_each(|pole| self.spare.give(pole.factor));
    }

    /// t.
    pub(crate) fn size(&self) -> usize {
        self.found.ncols()
    }

    /// How many directions the labels know: the first ones.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// Whether there is nothing outside of it.
    pub(crate) fn is_whole(&self) -> bool {
        self.size() == self.whitening.basis()
    }

    /// Adds so many more powers of `C` and of its inverse.
    pub(crate) fn steps(&mut self, count: usize) -> Result<()> {
        let before = self.size();
        (0..count).try_for_each(|_| self.step())?;
        self.settle(before)
    }

    fn step(&mut self) -> Result<()> {
        let before = self.size();
        let forward = std::mem::replace(&mut self.forward, Mat::new());
        let image = &self.c.features * &forward;
        self.add(forward, image)?;
        let between = self.size();
        self.forward = self.taken.subcols(before, between - before).to_owned();
        let backward = std::mem::replace(&mut self.backward, Mat::new());
        let weights = self.whitening.solve(backward.as_ref());
        self.add(weights, backward)?;
        self.backward = self.found.subcols(between, self.size() - between).to_owned();
        Ok(())
    }

    /// Adds what the inverse of `C + θI` makes of the labels' directions.
    pub(crate) fn shift(&mut self, theta: f64) -> Result<()> {
        let (Pole { theta, factor, mut last }, times) = match self.pole.take() {
            Some(pole) if (1.0 / NEAR..=NEAR).contains(&(theta / pole.theta)) => (pole, MORE),
            other => {
                let spare = other.map_or_else(|| self.spare.take(), |pole| pole.factor);
                let mut a = square(spare, self.c.features.nrows());
                a.copy_from(&self.c.features);
                (0..a.nrows()).for_each(|j| a[(j, j)] += theta);
                let factor = cholesky_of(a)?;
                let last = self.found.subcols(0, self.known).to_owned();
                (Pole { theta, factor, last }, FIRST)
            }
        };
        let before = self.size();
        for _ in 0..times {
            // C (C + θI)⁻¹ w = w − θ (C + θI)⁻¹ w
            let mut image = last.clone();
            solve_lower(factor.as_ref(), last.as_mut());
            solve_lower_transposed(factor.as_ref(), last.as_mut());
            image -= &last * faer::Scale(theta);
            self.add(last.clone(), image)?;
        }
        self.pole = Some(Pole { theta, factor, last });
        self.settle(before)
    }

    /// Adds what of these weights is new. Of their image under `C` a few digits may be lost until
    /// [`Removal::settle`].
    fn add(&mut self, mut weights: Mat<f64>, mut image: Mat<f64>) -> Result<()> {
        let room = self.whitening.basis() - self.size();
        if room == 0 || weights.ncols() == 0 {
            return Ok(());
        }
        if let Some(range) = &self.range {
            weights = range * (range.transpose() * weights);
        }
        for j in 0..weights.ncols() {
            let variance = weights.col(j).transpose() * image.col(j);
            let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
            let scale = if scale.is_finite() { scale } else { 0.0 };
            weights.col_mut(j).iter_mut().for_each(|v| *v *= scale);
            image.col_mut(j).iter_mut().for_each(|v| *v *= scale);
        }
        for _ in 0..2 {
            let inside = self.taken.transpose() * &weights;
            weights -= &self.found * &inside;
            image -= &self.taken * inside;
        }
        let turn = unit(weights.transpose() * &image, room)?;
        self.found = beside(self.found.as_ref(), (weights * &turn).as_ref());
        self.taken = beside(self.taken.as_ref(), (image * turn).as_ref());
        Ok(())
    }

    /// Makes the images of the directions from `first` on those that `C` gives, and the directions
    /// orthonormal to all others: one product for all that were added.
    fn settle(&mut self, first: usize) -> Result<()> {
        let count = self.size() - first;
        if count == 0 {
            return Ok(());
        }
        let before = self.taken.as_ref().subcols(0, first);
        let mut weights = self.found.as_ref().subcols(first, count).to_owned();
        weights -= self.found.as_ref().subcols(0, first) * (before.transpose() * &weights);
        let image = &self.c.features * &weights;
        let turn = unit(weights.transpose() * &image, count)?;
        self.found = beside(self.found.as_ref().subcols(0, first), (weights * &turn).as_ref());
        self.taken = beside(before, (image * turn).as_ref());
        Ok(())
    }

    /// Both problems; see the module.
    pub(crate) fn reduced(&self) -> Result<Reduced> {
        let c = self.c;
        let label = c.target.labels.first();
        let attribute = Attribute {
            name: label.map_or_else(String::new, |label| label.name.clone()),
            columns: 0..self.size(),
            scale: 1.0,
            variance: c.target.variance.iter().sum(),
        };
        let known = self.found.transpose() * &c.sensitive.cross;
        let sensitive = Side::new(known, &c.sensitive);
        let space = Space {
            found: self.found.clone(),
            taken: self.taken.transpose().to_owned(),
            sensitive,
            features: attribute,
        };
        let basis = self.whitening.basis();
        let sensitive_mean = c.sensitive.mean.clone();
        space.reduced((c.rows, c.weight), basis, c.mean.clone(), sensitive_mean)
    }
}

/// What two problems are made of.
pub(crate) struct Space {
    /// Features × t.
    pub(crate) found: Mat<f64>,
    /// t × features.
    pub(crate) taken: Mat<f64>,
    /// t × label columns.
    pub(crate) sensitive: Side,
    /// The features as a label.
    pub(crate) features: Attribute,
}

impl Space {
    /// `basis` is the number of directions in which the features vary.
    pub(crate) fn reduced(
        self,
        (rows, weight): (u64, f64),
        basis: usize,
        mean: Vec<f64>,
        sensitive_mean: Vec<f64>,
    ) -> Result<Reduced> {
        let Space { found, taken, sensitive, features } = self;
        let above = triangle(taken.transpose()).transpose().to_owned();
        // All directions: there is nothing to bound.
        let below = match found.ncols() == basis {
            true => above.clone(),
            false => inverse(triangle(found.as_ref()))?,
        };
        let half = |cross: Mat<f64>| Half::of_features(cross, features.clone());
        let problem = Problem::of_features(half(above), sensitive.clone());
        let bounding = Problem::of_features(half(below), sensitive);
        let centre = found.transpose() * faer::ColRef::from_slice(&mean);
        Ok(Reduced {
            rows,
            weight,
            features: mean.len(),
            basis_size: basis,
            ridge: 0.0,
            problem,
            ridged: None,
            basis: found,
            centre: centre.iter().copied().collect(),
            target_mean: mean.clone(),
            sensitive_mean,
            inputs: Some((taken, mean)),
            bounding: Some(bounding),
        })
    }
}

/// `T` with `Tᵀ g T = I` on the directions of a positive semidefinite `g` that are large enough, at
/// most `room` of them.
fn unit(g: Mat<f64>, room: usize) -> Result<Mat<f64>> {
    let (values, vectors) = eigh(g.as_ref())?;
    let kept: Vec<usize> = (0..values.len()).rev().filter(|&i| values[i] > NEW).collect();
    let count = kept.len().min(room);
    Ok(Mat::from_fn(g.nrows(), count, |i, j| vectors[(i, kept[j])] / values[kept[j]].sqrt()))
}

/// `R` with `RᵀR = aᵀa`.
fn triangle(a: MatRef<'_, f64>) -> Mat<f64> {
    match a.ncols() {
        0 => Mat::new(),
        _ => a.qr().thin_R().to_owned(),
    }
}

/// The inverse of an upper triangle.
fn inverse(r: Mat<f64>) -> Result<Mat<f64>> {
    let mut inverse = Mat::identity(r.nrows(), r.ncols());
    if r.nrows() > 0 {
        solve_lower_transposed(r.transpose(), inverse.as_mut());
    }
    match squares(inverse.as_ref()).is_finite() {
        true => Ok(inverse),
        false => Err(Error::Unstable),
    }
}
