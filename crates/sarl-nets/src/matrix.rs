//! Matrices of numbers in single precision.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Matrix {
    /// A matrix of these values, row by row.
    ///
    /// # Panics
    ///
    /// Another count of values than `rows · columns`.
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Self {
        assert_eq!(values.len(), rows * columns, "values of a matrix");
        Matrix { rows, columns, values }
    }

    /// The same value everywhere.
    pub fn filled(rows: usize, columns: usize, value: f32) -> Self {
        Matrix { rows, columns, values: vec![value; rows * columns] }
    }

    /// One row.
    pub fn row(values: Vec<f32>) -> Self {
        Matrix { rows: 1, columns: values.len(), values }
    }

    /// Rounded to single precision.
    pub fn rounded(x: MatRef<'_, f64>) -> Self {
        let row = |i| (0..x.ncols()).map(move |j| x[(i, j)] as f32);
        Matrix::new(x.nrows(), x.ncols(), (0..x.nrows()).flat_map(row).collect())
    }

    /// In double precision.
    pub fn widened(&self) -> Mat<f64> {
        Mat::from_fn(self.rows, self.columns, |i, j| f64::from(self.values[i * self.columns + j]))
    }

    /// These rows, in this order.
    pub fn pick(&self, rows: &[usize]) -> Self {
        let row = |&i: &usize| &self.values[i * self.columns..][..self.columns];
        Matrix::new(rows.len(), self.columns, rows.iter().flat_map(row).copied().collect())
    }

    /// The rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// The values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The mean of each column, and the mean of the squared distances from it.
    pub fn moments(&self) -> (Vec<f32>, Vec<f32>) {
        let over = 1.0 / self.rows as f64;
        let mean: Vec<f64> = self.column_sums(|_, v| v.into()).iter().map(|s| s * over).collect();
        let squares = self.column_sums(|j, v| (f64::from(v) - mean[j]).powi(2));
        let variance = squares.iter().map(|s| (s * over) as f32).collect();
        (mean.iter().map(|&m| m as f32).collect(), variance)
    }

    /// The sum of a function of the values in each column, in the order of the rows.
    pub(crate) fn column_sums(&self, of: impl Fn(usize, f32) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        for row in self.each_row() {
            for (j, (sum, &v)) in sums.iter_mut().zip(row).enumerate() {
                *sum += of(j, v);
            }
        }
        sums
    }

    /// The rows one after the other; none where there are no columns.
    pub(crate) fn each_row(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.columns.max(1))
    }

    pub(crate) fn each_row_mut(&mut self) -> std::slice::ChunksExactMut<'_, f32> {
        self.values.chunks_exact_mut(self.columns.max(1))
    }

    /// A function of each value.
    pub(crate) fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Matrix { values: self.values.iter().map(|&v| of(v)).collect(), ..*self }
    }

    /// A function of each value and the one of another matrix, or of its only row, in the same place.
    pub(crate) fn zip(&self, other: &Matrix, of: impl Fn(f32, f32) -> f32) -> Self {
        assert_eq!(self.columns, other.columns, "columns of two matrices");
        let pair = |(&a, &b): (&f32, &f32)| of(a, b);
        let values = if other.rows == self.rows {
            self.values.iter().zip(&other.values).map(pair).collect()
        } else {
            assert_eq!(other.rows, 1, "rows of the second of two matrices");
            let mut values = Vec::with_capacity(self.values.len());
            for row in self.each_row() {
                values.extend(row.iter().zip(&other.values).map(pair));
            }
            values
        };
        Matrix { values, ..*self }
    }

    /// Adds another matrix of the same shape.
    pub(crate) fn add(&mut self, other: &Matrix) {
        self.values.iter_mut().zip(&other.values).for_each(|(a, b)| *a += b);
    }

    fn view(&self) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.columns)
    }

    /// The product `a b`.
    pub(crate) fn product(a: &Matrix, b: &Matrix) -> Self {
        multiply(a.view(), b.view())
    }

    /// The product `aᵀ b`.
    pub(crate) fn product_of_transposed(a: &Matrix, b: &Matrix) -> Self {
        multiply(a.view().transpose(), b.view())
    }

    /// The product `a bᵀ`.
    pub(crate) fn product_with_transposed(a: &Matrix, b: &Matrix) -> Self {
        multiply(a.view(), b.view().transpose())
    }
}

fn multiply(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Matrix {
    let mut out = Matrix::filled(a.nrows(), b.ncols(), 0.0);
    let (rows, columns) = (out.rows, out.columns);
    let into = faer::MatMut::from_row_major_slice_mut(&mut out.values, rows, columns);
    matmul(into, Accum::Replace, a, b, 1.0, Par::Seq);
    out
}
