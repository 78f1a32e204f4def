//! Which folds know the landmarks of a kernel.
//!
//! Landmarks are rows of the data. An encoder that is tested on a fold must not have landmarks that
//! only this fold knows: fitted anew on the other rows it would not have them, and a feature that
//! hardly varies in the training rows gets a weight that nothing there holds back. With `K = L Lᵀ`
//! over the landmarks the features are `φ = L⁻¹k`; those of the other landmarks alone span the
//! complement of `N = L⁻¹ e_j` over the landmarks `j` that are left out, so
//!
//! ```text
//! φ' = P φ,   P = I − N (NᵀN)⁻¹ Nᵀ        Cov(φ') = P C P        Cov(φ', y) = P Cy
//! ```

use std::sync::Arc;

use faer::{Mat, MatRef, Par};

use super::covariances::{Covariances, InputCovariances, LabelCovariances};
use super::products::mirror;
use crate::spectral::linalg::{beside, congruence, orthonormal, solve_lower};
use crate::tiles;

/// The factor of the landmarks, and for each landmark the folds in which its row was met.
#[derive(Clone, Debug)]
pub(crate) struct Landmarks {
    pub(super) factor: Arc<Mat<f64>>,
    /// Landmarks × folds.
    pub(super) met: Vec<Vec<bool>>,
    /// `Σ w k(x, x)` over the rows.
    pub(crate) size: f64,
}

impl Landmarks {
    pub(crate) fn new(factor: Arc<Mat<f64>>, folds: usize) -> Self {
        let met = vec![vec![false; folds]; factor.nrows()];
        Landmarks { factor, met, size: 0.0 }
    }

    /// The row of a landmark was met in a fold.
    pub(crate) fn note(&mut self, landmark: usize, fold: usize) {
        if let Some(met) = self.met.get_mut(landmark).and_then(|met| met.get_mut(fold)) {
            *met = true;
        }
    }

    pub(super) fn merge(&mut self, other: &Landmarks) {
        self.size += other.size;
        for (met, others) in self.met.iter_mut().zip(&other.met) {
            met.iter_mut().zip(others).for_each(|(met, other)| *met |= other);
        }
    }

    /// Landmarks that only these folds know.
    fn only_in(&self, folds: &[usize]) -> Vec<usize> {
        let only_there = |met: &[bool]| {
            let mut where_met = met.iter().enumerate().filter(|m| *m.1).map(|m| m.0).peekable();
            where_met.peek().is_some() && where_met.all(|fold| folds.contains(&fold))
        };
        (0..self.met.len()).filter(|&j| only_there(&self.met[j])).collect()
    }

    /// The landmarks that are known outside of `folds`, if not all of them are.
    pub(super) fn known_without(&self, folds: &[usize]) -> Option<Vec<usize>> {
        let left_out = self.only_in(folds);
        let known = || (0..self.met.len()).filter(|j| left_out.binary_search(j).is_err());
        (!left_out.is_empty()).then(|| known().collect())
    }

    /// An orthonormal basis of what no landmark known outside `folds` spans; none if there is
    /// nothing to leave out.
    pub(super) fn known_to(&self, folds: &[usize]) -> Option<Mat<f64>> {
        let left_out = self.only_in(folds);
        if left_out.is_empty() {
            return None;
        }
        let mut n = Mat::zeros(self.factor.nrows(), left_out.len());
        for (column, &j) in left_out.iter().enumerate() {
            n[(j, column)] = 1.0;
        }
        solve_lower(self.factor.as_ref().as_ref(), n.as_mut());
        for j in 0..n.ncols() {
            let norm = n.col(j).norm_l2();
            n.col_mut(j).iter_mut().for_each(|v| *v /= norm);
        }
        Some(orthonormal(n))
    }

    /// Where these folds know half of the landmarks and more: an orthonormal basis `M` of what the others
    /// span. With `L'ᵀ = M R` for their rows `L'` of `L`, the features `Mᵀφ = R⁻ᵀk'` are those that they
    /// have by themselves.
    pub(super) fn others_than(&self, folds: &[usize]) -> Option<Mat<f64>> {
        let left_out = self.only_in(folds);
        let size = self.factor.nrows();
        if 2 * left_out.len() < size || left_out.len() == size {
            return None;
        }
        let known: Vec<usize> = (0..size).filter(|j| left_out.binary_search(j).is_err()).collect();
        let rows = Mat::from_fn(size, known.len(), |i, j| self.factor[(known[j], i)]);
        Some(orthonormal(rows))
    }
}

/// `c = P c P` with `P = I − N Nᵀ`, where `along` is `c N`.
fn project_both_ways(c: &mut Mat<f64>, along: Mat<f64>, n: MatRef<'_, f64>) {
    let inner = n.transpose() * &along;
    // PCP = C − N(CN)ᵀ − (CN)Nᵀ + N(NᵀCN)Nᵀ = C − N Aᵀ − A Nᵀ,   A = CN − ½ N(NᵀCN)
    let a = along - n * inner * faer::Scale(0.5);
    let (left, right) = (beside(n, a.as_ref()), beside(a.as_ref(), n));
    tiles::add_products(c.as_mut(), (left.as_ref(), right.as_ref()), -1.0, Par::rayon(0));
    mirror(c.as_mut());
}

impl Covariances {
    /// The same of the features `Mᵀφ`, for orthonormal columns of `m`.
    pub(super) fn within(&mut self, m: MatRef<'_, f64>) {
        self.features = congruence(m, self.features.as_ref());
        let turn = |part: &mut LabelCovariances| part.cross = m.transpose() * &part.cross;
        turn(&mut self.target);
        turn(&mut self.sensitive);
        if let InputCovariances::Kept(inputs) = &mut self.inputs {
            turn(inputs);
        }
        let mean = m.transpose() * faer::ColRef::from_slice(&self.mean);
        self.mean = mean.iter().copied().collect();
        let along = Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)] * self.floor_of(i));
        self.turned_floor = Some(m.transpose() * along);
        let floor =
            |j: usize| m.col(j).iter().zip(&self.floor).map(|(m, floor)| m * m * floor).sum();
        self.floor = (0..m.ncols()).map(floor).collect();
    }

    /// The same without what the columns of `n`, which are orthonormal, span.
    pub(super) fn without(&mut self, n: MatRef<'_, f64>) {
        let along = &self.features * n;
        project_both_ways(&mut self.features, along, n);
        let size = self.features.nrows();
        let mut floor = Mat::zeros(size, size);
        (0..size).for_each(|j| floor[(j, j)] = self.floor_of(j));
        let along = Mat::from_fn(size, n.ncols(), |i, j| n[(i, j)] * self.floor_of(i));
        project_both_ways(&mut floor, along, n);
        self.turned_floor = Some(floor);
        let project = |part: &mut LabelCovariances| {
            let along = n.transpose() * &part.cross;
            part.cross -= n * along;
        };
        project(&mut self.target);
        project(&mut self.sensitive);
        if let InputCovariances::Kept(inputs) = &mut self.inputs {
            project(inputs);
        }
        let mean = faer::Col::from_fn(self.mean.len(), |i| self.mean[i]);
        let moved = n * (n.transpose() * mean);
        self.mean.iter_mut().zip(moved.iter()).for_each(|(mean, moved)| *mean -= moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_is_the_product_with_the_projection() {
        let b = Mat::from_fn(37, 37, |i, j| ((i * 41 + j * j) % 17) as f64 / 8.0 - 1.0);
        let n = orthonormal(b.subcols(3, 5).to_owned());
        let p = Mat::<f64>::identity(37, 37) - &n * n.transpose();
        let c = &b * b.transpose();
        let mut found = c.clone();
        project_both_ways(&mut found, &c * &n, n.as_ref());
        assert!((&found - &p * &c * &p).norm_max() <= 1e-12);
        assert_eq!(found, found.transpose());
    }
}
