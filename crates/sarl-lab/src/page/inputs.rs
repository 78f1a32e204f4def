//! The columns of a table, and which inputs of the encoder each became.

use std::ops::Range;

use faer::{Mat, MatRef};

use crate::table::{FeatureValues, Table};

/// The inputs of an encoder.
pub struct Inputs {
    /// The columns that they came from.
    pub columns: Vec<Input>,
    /// The standard deviation of each input, so that weights can be compared.
    pub spreads: Vec<f64>,
}

/// A column of the table.
pub struct Input {
    /// Its name.
    pub name: String,
    /// Whether it is also one of those to be hidden.
    pub sensitive: bool,
    /// How many categories it has; none for a number.
    pub categories: usize,
    /// Its place among the inputs.
    pub at: Range<usize>,
}

impl Inputs {
    /// Those of a table: numbers first, then the one-hot columns.
    pub fn of_table(table: &Table, spreads: Vec<f64>) -> Self {
        let hidden = |name: &str| table.sensitives.iter().any(|s| s.name == name);
        let of = |numbers: bool| {
            table.features.iter().filter_map(move |f| match &f.values {
                FeatureValues::Number { .. } if numbers => Some((f, 0)),
                FeatureValues::Category { values } if !numbers => Some((f, values.len())),
                _ => None,
            })
        };
        let columns = of(true).chain(of(false));
        Self::new(columns.map(|(f, many)| (f.name.clone(), hidden(&f.name), many)), spreads)
    }

    /// The same, where the standard deviations of one-hot columns are those of these rows.
    pub fn of_rows(table: &Table, x: MatRef<'_, f64>) -> Self {
        let mut spreads = spreads(x);
        spreads.iter_mut().zip(table.deviations()).for_each(|(spread, std)| *spread = std);
        Self::of_table(table, spreads)
    }

    /// From the name of each column, whether it is to be hidden, and its categories; none for a
    /// number.
    pub fn new(columns: impl Iterator<Item = (String, bool, usize)>, spreads: Vec<f64>) -> Self {
        let mut start = 0;
        let columns = columns.map(|(name, sensitive, categories)| {
            let at = start..start + categories.max(1);
            start = at.end;
            Input { name, sensitive, categories, at }
        });
        Inputs { columns: columns.collect(), spreads }
    }

    /// For each column the sum of its inputs' weights, and of the positive and negative ones alone.
    pub(super) fn summed(&self, weights: impl Fn(usize) -> f64) -> Vec<[f64; 3]> {
        let sum = |column: &Input| {
            let part = |keep: fn(f64) -> f64| column.at.clone().map(|i| keep(weights(i))).sum();
            [part(|w| w), part(|w| w.max(0.0)), part(|w| w.min(0.0))]
        };
        self.columns.iter().map(sum).collect()
    }
}

/// The standard deviation of each column.
pub fn spreads(x: MatRef<'_, f64>) -> Vec<f64> {
    let n = x.nrows().max(1) as f64;
    let spread = |j: usize| {
        let mean = x.col(j).iter().sum::<f64>() / n;
        (x.col(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
    };
    (0..x.ncols()).map(spread).collect()
}

/// Columns of mean 0 and standard deviation 1; constants become 0.
pub(super) fn standardised(x: MatRef<'_, f64>) -> Mat<f64> {
    let spreads = spreads(x);
    let means: Vec<f64> =
        (0..x.ncols()).map(|j| x.col(j).iter().sum::<f64>() / x.nrows().max(1) as f64).collect();
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| match spreads[j] > 0.0 {
        true => (x[(i, j)] - means[j]) / spreads[j],
        false => 0.0,
    })
}
