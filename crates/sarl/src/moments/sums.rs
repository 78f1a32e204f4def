//! The running sums of one fold.
//!
//! With a shift `c` that is the same for all folds of an accumulator, and `u = x − c` over the
//! numeric columns (dense features, kept inputs, numeric labels):
//!
//! ```text
//! sum = Σ w u        scatter = Σ w u uᵀ        table_g[·, k] = Σ_{row in class k} w u
//! count_g[k] = Σ_{class k} w                   pair_gh[k, l] = Σ_{class k of g, l of h} w
//! ```
//!
//! Sums about one shift add. The shift is the mean of the first rows, so the final
//! `scatter/W − δδᵀ` cancels nothing that matters: `δ²` exceeds the variance by at most the
//! ratio of all rows to those first ones.

use faer::{Mat, MatRef};
use rayon::prelude::*;

use super::layout::Layout;
use crate::spare::padded;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    pub(crate) rows: u64,
    pub(crate) weight: f64,
    /// Only kept where no class label gives it away.
    sum: Option<Vec<f64>>,
    columns: usize,
    coded: usize,
    /// Lower triangle, in a padded matrix.
    scatter: Mat<f64>,
    pub(crate) tables: Vec<Mat<f64>>,
    pub(crate) counts: Vec<Vec<f64>>,
    pub(crate) pairs: Vec<Mat<f64>>,
}

impl Sums {
    pub(crate) fn new(layout: &Layout) -> Self {
        let columns = layout.columns();
        let scatter = Mat::zeros(padded(columns, 8), columns);
        Sums { scatter, ..Self::without_products(layout) }
    }

    /// The same without the scatter: what is added to it leaves that out.
    pub(crate) fn without_products(layout: &Layout) -> Self {
        let columns = layout.columns();
        let groups = layout.groups();
        let coded = layout.codes.len();
        Sums {
            rows: 0,
            weight: 0.0,
            sum: (groups.len() == coded).then(|| vec![0.0; columns]),
            columns,
            coded,
            scatter: Mat::new(),
            tables: groups.iter().map(|&g| Mat::zeros(columns, g)).collect(),
            counts: groups.iter().map(|&g| vec![0.0; g]).collect(),
            pairs: layout.pairs().iter().map(|&(a, b)| Mat::zeros(groups[a], groups[b])).collect(),
        }
    }

    /// The same without room for products, for rows that are multiplied elsewhere.
    pub(crate) fn counts(layout: &Layout) -> Self {
        let groups = layout.groups();
        let coded = layout.codes.len();
        Sums {
            rows: 0,
            weight: 0.0,
            sum: (groups.len() == coded).then(Vec::new),
            columns: layout.columns(),
            coded,
            scatter: Mat::new(),
            tables: Vec::new(),
            counts: groups.iter().map(|&g| vec![0.0; g]).collect(),
            pairs: layout.pairs().iter().map(|&(a, b)| Mat::zeros(groups[a], groups[b])).collect(),
        }
    }

    /// Products that were formed elsewhere, in a matrix of [padded](crate::engine::scatter_rows) rows.
    pub(crate) fn take(&mut self, scatter: Mat<f64>, sum: Vec<f64>, tables: Vec<Mat<f64>>) {
        (self.scatter, self.tables) = (scatter, tables);
        self.sum = self.sum.is_some().then_some(sum);
    }

    pub(crate) fn scatter(&self) -> MatRef<'_, f64> {
        self.scatter.as_ref().subrows(0, self.columns)
    }

    /// A column of it, of which what is above the diagonal does not count.
    pub(crate) fn scatter_column(&self, j: usize) -> &[f64] {
        self.scatter.col_as_slice(j)
    }

    pub(crate) fn scatter_mut(&mut self) -> faer::MatMut<'_, f64> {
        self.scatter.as_mut().subrows_mut(0, self.columns)
    }

    /// The classes of all groups of few.
    pub(crate) fn classes_of_few(&self) -> usize {
        self.tables.iter().map(Mat::ncols).filter(|&classes| !codes_are_many(classes)).sum()
    }

    /// `Σ w u`: each row is in exactly one class of the first class label, so that table's
    /// columns add up to it.
    pub(crate) fn sum(&self) -> Vec<f64> {
        match &self.sum {
            Some(sum) => sum.clone(),
            None => {
                let table = &self.tables[self.coded];
                let mut sum = vec![0.0; self.columns];
                for k in 0..table.ncols() {
                    add(&mut sum, table.col_as_slice(k));
                }
                sum
            }
        }
    }

    /// One column of [`Sums::sum`].
    pub(crate) fn sum_of(&self, column: usize) -> f64 {
        match &self.sum {
            Some(sum) => sum[column],
            None => self.tables[self.coded].row(column).iter().sum(),
        }
    }

    /// Everything but the scatter and the tables of few classes for one row: `u` scaled by `root`,
    /// the root of the weight.
    #[inline(always)]
    pub(crate) fn count_row<C: Copy + Into<f64>>(
        &mut self,
        scaled: &[C],
        root: f64,
        groups: &[&[u32]],
        pairs: &[(usize, usize)],
        i: usize,
    ) {
        let weight = root * root;
        self.rows += 1;
        self.weight += weight;
        if let Some(sum) = &mut self.sum {
            add_scaled(sum, scaled, root);
        }
        for (g, codes) in groups.iter().enumerate() {
            let class = codes[i] as usize;
            if let Some(count) = self.counts[g].get_mut(class) {
                *count += weight;
                if codes_are_many(self.counts[g].len()) {
                    add_scaled(self.tables[g].col_as_slice_mut(class), scaled, root);
                }
            }
        }
        for (pair, &(a, b)) in self.pairs.iter_mut().zip(pairs) {
            let (k, l) = (groups[a][i] as usize, groups[b][i] as usize);
            if k < pair.nrows() && l < pair.ncols() {
                pair[(k, l)] += weight;
            }
        }
    }

    /// Adds a product of rows and indicators, columns × the classes of the groups of few.
    pub(crate) fn add_tables<C: Copy + Into<f64>>(&mut self, product: MatRef<'_, C>) {
        let few = self.tables.iter_mut().filter(|t| !codes_are_many(t.ncols()));
        let columns = few.flat_map(|t| t.as_mut().col_iter_mut().collect::<Vec<_>>());
        for (to, from) in columns.zip(product.col_iter()) {
            for (t, &f) in to.iter_mut().zip(from.iter()) {
                *t += f.into();
            }
        }
    }

    /// Adds sums about the same shift.
    pub(crate) fn add(&mut self, other: &Sums) {
        self.rows += other.rows;
        self.weight += other.weight;
        if let (Some(sum), Some(more)) = (&mut self.sum, &other.sum) {
            add(sum, more);
        }
        let columns = self.scatter.as_mut().par_col_iter_mut().enumerate();
        columns.for_each(|(j, column)| {
            let to = column.try_as_col_major_mut().map(|c| &mut c.as_slice_mut()[j..]);
            to.into_iter().for_each(|to| add(to, &other.scatter.col_as_slice(j)[j..]));
        });
        for (table, more) in self.tables.iter_mut().zip(&other.tables) {
            *table += more;
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            add(count, more);
        }
        for (pair, more) in self.pairs.iter_mut().zip(&other.pairs) {
            *pair += more;
        }
    }

    /// Moves the shift by `−e`: `u` becomes `u + e`.
    pub(crate) fn recentre(&mut self, e: &[f64]) {
        let (sum, weight, count) = (self.sum(), self.weight, self.columns);
        let columns = self.scatter.as_mut().par_col_iter_mut().enumerate();
        columns.for_each(|(j, column)| {
            let to = column.try_as_col_major_mut().map(|c| &mut c.as_slice_mut()[j..count]);
            for (i, value) in (j..).zip(to.into_iter().flatten()) {
                *value += sum[i] * e[j] + e[i] * sum[j] + weight * e[i] * e[j];
            }
        });
        for (table, counts) in self.tables.iter_mut().zip(&self.counts) {
            for (k, &count) in counts.iter().enumerate() {
                add_scaled(table.col_as_slice_mut(k), e, count);
            }
        }
        if let Some(sum) = &mut self.sum {
            add_scaled(sum, e, weight);
        }
    }

    /// Multiplies each numeric column by its factor.
    pub(crate) fn rescale(&mut self, factors: &[f64]) {
        let columns = self.scatter.as_mut().par_col_iter_mut().enumerate();
        columns.for_each(|(j, column)| {
            let to = column.try_as_col_major_mut().map(|c| &mut c.as_slice_mut()[j..]);
            let both = to.into_iter().flatten().zip(&factors[j..]);
            both.for_each(|(to, factor)| *to *= factor * factors[j]);
        });
        for table in &mut self.tables {
            for k in 0..table.ncols() {
                multiply(table.col_as_slice_mut(k), factors);
            }
        }
        if let Some(sum) = &mut self.sum {
            multiply(sum, factors);
        }
    }

    /// Takes the sums of a layout in which the classes of `group` were numbered otherwise.
    pub(crate) fn take_reclassed(
        &mut self,
        old: &Sums,
        group: usize,
        to: &[u32],
        pairs: &[(usize, usize)],
    ) {
        let move_columns = |from: &Mat<f64>, into: &mut Mat<f64>| {
            for (k, &class) in to.iter().enumerate() {
                into.col_mut(class as usize).copy_from(from.col(k));
            }
        };
        (self.rows, self.weight) = (old.rows, old.weight);
        self.restore(old.scatter(), old.sum.clone());
        for (g, (table, counts)) in self.tables.iter_mut().zip(&mut self.counts).enumerate() {
            if g == group {
                move_columns(&old.tables[g], table);
                to.iter().zip(&old.counts[g]).for_each(|(&k, &n)| counts[k as usize] = n);
            } else {
                (*table, *counts) = (old.tables[g].clone(), old.counts[g].clone());
            }
        }
        for ((pair, old), &(g, h)) in self.pairs.iter_mut().zip(&old.pairs).zip(pairs) {
            if h == group {
                move_columns(old, pair);
            } else if g == group {
                let rows = to.iter().enumerate();
                rows.for_each(|(k, &class)| pair.row_mut(class as usize).copy_from(old.row(k)));
            } else {
                pair.clone_from(old);
            }
        }
    }

    /// The parts that a file stores, and [`Sums::restore`] their inverse.
    pub(crate) fn explicit_sum(&self) -> Option<&[f64]> {
        self.sum.as_deref()
    }

    pub(crate) fn restore(&mut self, scatter: MatRef<'_, f64>, sum: Option<Vec<f64>>) {
        self.scatter_mut().copy_from(scatter);
        self.sum = sum;
    }
}

/// Tables of more classes than this are added to row by row, which costs the same for any number of
/// them; those of fewer are products with the rows' indicators.
pub(crate) fn codes_are_many(classes: usize) -> bool {
    classes > 12
}

fn add(to: &mut [f64], from: &[f64]) {
    for (t, f) in to.iter_mut().zip(from) {
        *t += f;
    }
}

fn multiply(values: &mut [f64], factors: &[f64]) {
    for (v, f) in values.iter_mut().zip(factors) {
        *v *= f;
    }
}

#[inline(always)]
fn add_scaled<C: Copy + Into<f64>>(to: &mut [f64], from: &[C], scale: f64) {
    for (t, &f) in to.iter_mut().zip(from) {
        *t += scale * f.into();
    }
}
