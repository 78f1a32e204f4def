//! Coordinates in the span of the rows, where there are fewer rows than features.
//!
//! With centred rows `X` (n × d) and a pivoted Cholesky factor of the products of the rows that
//! span them, `U Uᵀ = L Lᵀ`,
//!
//! ```text
//! B = Uᵀ L⁻ᵀ   d × k,   Bᵀ B = I        φ(x) = Bᵀ (x − x̄)        w = B w_φ
//! ```
//!
//! is an orthonormal basis of everything that any row differs in. Variances, ridges and the
//! reconstruction of x are the same in φ as in x, and weights found in φ are the least ones that
//! x can have. Nothing has the size d × d, and `B` is only ever formed a stretch of columns at a
//! time. Class-coded features are counted: their one-hot columns are never formed.
//!
//! Features are the products of the rows with `B` itself, not what the factor says they are: the
//! first keep the digits that the products of rows lose.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as matmul_of};
use faer::{Accum, Mat, MatRef, Par};

use super::wide::Held;
use crate::moments::NO_CLASS;
use crate::spectral::linalg::{pivoted_cholesky, solve_lower, solve_lower_transposed};
use crate::{Error, Result, tolerance};

/// Columns of `B` that are formed at a time.
const STRETCH: usize = 2048;

/// See the module.
#[derive(Debug)]
pub(crate) struct Span {
    rows: Held,
    /// The rows that span, and one over the length of each.
    picked: Vec<usize>,
    inverse: Vec<f64>,
    /// `L`.
    factor: Mat<f64>,
    /// `L⁻ᵀ` with its rows scaled: what a category takes from each spanning row that is in it.
    codes: Option<Mat<f64>>,
}

impl Span {
    /// Finds the rows that span, of rows that are centred.
    pub(crate) fn new(rows: Held) -> Result<Self> {
        let n = rows.count();
        let products = products(&rows);
        let used = |&i: &usize| rows.weight(i) > 0.0 && products[(i, i)] > 0.0;
        let used: Vec<usize> = (0..n).filter(used).collect();
        if used.is_empty() {
            return Err(Error::NoVariation);
        }
        if !used.iter().all(|&i| products[(i, i)].is_finite()) {
            return Err(Error::TooLarge { what: "products of rows" });
        }
        let inverse: Vec<f64> = used.iter().map(|&i| 1.0 / products[(i, i)].sqrt()).collect();
        let cosines = Mat::from_fn(used.len(), used.len(), |a, b| {
            let (i, j) = (used[a].max(used[b]), used[a].min(used[b]));
            if a == b { 1.0 } else { products[(i, j)] * inverse[a] * inverse[b] }
        });
        drop(products);
        let (order, factor) = pivoted_cholesky(cosines, tolerance::RANK)?;
        let inverse: Vec<f64> = order.iter().map(|&a| inverse[a]).collect();
        let codes = (!rows.codes.is_empty()).then(|| scaled_inverse(&factor, &inverse));
        let picked = order.iter().map(|&a| used[a]).collect();
        Ok(Span { rows, picked, inverse, factor, codes })
    }

    pub(crate) fn weights(&self) -> Option<&[f64]> {
        self.rows.weights()
    }

    /// k.
    pub(crate) fn size(&self) -> usize {
        self.picked.len()
    }

    /// d.
    pub(crate) fn inputs(&self) -> usize {
        self.rows.width + self.rows.categories.iter().sum::<usize>()
    }

    /// The mean of each input, in the units of the rows as they are encoded.
    pub(crate) fn mean(&self) -> Vec<f64> {
        let shares = self.rows.shares.iter().flatten();
        self.rows.mean.iter().chain(shares).copied().collect()
    }

    /// The variance of each input.
    pub(crate) fn variance(&self) -> Vec<f64> {
        let shares = self.rows.shares.iter().flatten().map(|p| p * (1.0 - p));
        self.rows.variances().into_iter().chain(shares).collect()
    }

    /// φ of every row.
    pub(crate) fn features(&self) -> Mat<f64> {
        let (n, k) = (self.rows.count(), self.size());
        let mut features = Mat::zeros(n, k);
        for (start, columns) in self.stretches() {
            let x = self.rows.dense().subcols(start, columns);
            let b = self.stretch(start, columns);
            let to = features.as_mut();
            matmul(to, Accum::Add, x, b.transpose(), 1.0, Par::rayon(0));
        }
        for g in 0..self.rows.codes.len() {
            let b = self.categories(g, None);
            let middle = average(b.as_ref(), &self.rows.shares[g]);
            for (i, &code) in self.rows.codes[g].iter().enumerate() {
                for j in 0..k {
                    let own = if code == NO_CLASS { 0.0 } else { b[(code as usize, j)] };
                    features[(i, j)] += own - middle[j];
                }
            }
        }
        features
    }

    /// `B w` for k × anything.
    pub(crate) fn unfold(&self, w: MatRef<'_, f64>) -> Mat<f64> {
        let mut out = Mat::zeros(self.inputs(), w.ncols());
        for (start, columns) in self.stretches() {
            let b = self.stretch(start, columns);
            let to = out.as_mut().subrows_mut(start, columns);
            matmul(to, Accum::Replace, b.transpose(), w, 1.0, Par::rayon(0));
        }
        let mut start = self.rows.width;
        for (g, &count) in self.rows.categories.iter().enumerate() {
            let part = self.categories(g, Some(w));
            out.as_mut().subrows_mut(start, count).copy_from(&part);
            start += count;
        }
        out
    }

    fn stretches(&self) -> impl Iterator<Item = (usize, usize)> {
        let width = self.rows.width;
        (0..width).step_by(STRETCH).map(move |start| (start, STRETCH.min(width - start)))
    }

    /// `Bᵀ` of some dense columns, k × columns: always the same numbers, wherever it is used.
    fn stretch(&self, start: usize, columns: usize) -> Mat<f64> {
        let x = self.rows.dense();
        let mut b = Mat::from_fn(self.size(), columns, |i, j| {
            x[(self.picked[i], start + j)] * self.inverse[i]
        });
        solve_lower(self.factor.as_ref(), b.as_mut());
        b
    }

    /// `B` of the categories of a class-coded feature, or `B w` if there is a w: sums
    /// over the spanning rows in each, less its share of all of them.
    fn categories(&self, g: usize, w: Option<MatRef<'_, f64>>) -> Mat<f64> {
        let Some(inverse) = &self.codes else { return Mat::zeros(0, 0) };
        let own = w.map_or_else(|| inverse.clone(), |w| inverse * w);
        let codes = &self.rows.codes[g];
        let mut sums: Mat<f64> = Mat::zeros(self.rows.categories[g], own.ncols());
        let shares = &self.rows.shares[g];
        for j in 0..own.ncols() {
            let all: f64 = own.col(j).iter().sum();
            let column = sums.col_as_slice_mut(j);
            column.iter_mut().zip(shares).for_each(|(v, share)| *v = -share * all);
            for (a, &i) in self.picked.iter().enumerate() {
                if let Some(sum) = column.get_mut(codes[i] as usize) {
                    *sum += own[(a, j)];
                }
            }
        }
        sums
    }
}

/// `diag(inverse) L⁻ᵀ`.
fn scaled_inverse(factor: &Mat<f64>, inverse: &[f64]) -> Mat<f64> {
    let k = inverse.len();
    let mut solved = Mat::identity(k, k);
    solve_lower_transposed(factor.as_ref(), solved.as_mut());
    Mat::from_fn(k, k, |i, j| solved[(i, j)] * inverse[i])
}

/// The mean row of a table of categories.
fn average(table: MatRef<'_, f64>, shares: &[f64]) -> Vec<f64> {
    let mean = |j: usize| table.col(j).iter().zip(shares).map(|(v, p)| v * p).sum();
    (0..table.ncols()).map(mean).collect()
}

/// The products of centred rows with each other, one-hot columns included; lower triangle.
fn products(rows: &Held) -> Mat<f64> {
    let n = rows.count();
    let mut products = Mat::zeros(n, n);
    let (x, full) = (rows.dense(), BlockStructure::Rectangular);
    let (to, lower) = (products.as_mut(), BlockStructure::TriangularLower);
    matmul_of(to, lower, Accum::Replace, x, full, x.transpose(), full, 1.0, Par::rayon(0));
    if !rows.codes.is_empty() {
        let equal = equal_codes(rows);
        let total: f64 = (0..n).map(|i| rows.weight(i)).sum();
        let share = |i: usize| rows.weight(i) / total;
        let means: Vec<f64> =
            (0..n).map(|i| (0..n).map(|j| share(j) * equal[(i, j)]).sum()).collect();
        let all: f64 = means.iter().enumerate().map(|(i, m)| share(i) * m).sum();
        for j in 0..n {
            for i in j..n {
                products[(i, j)] += equal[(i, j)] - means[i] - means[j] + all;
            }
        }
    }
    products
}

/// In how many class-coded features two rows are alike.
fn equal_codes(rows: &Held) -> Mat<f64> {
    let n = rows.count();
    let mut equal = Mat::zeros(n, n);
    for (codes, &count) in rows.codes.iter().zip(&rows.categories) {
        let mut members = vec![Vec::new(); count];
        for (i, &code) in codes.iter().enumerate() {
            if let Some(list) = members.get_mut(code as usize) {
                list.push(i);
            }
        }
        for list in members {
            for &j in &list {
                list.iter().for_each(|&i| equal[(i, j)] += 1.0);
            }
        }
    }
    equal
}
