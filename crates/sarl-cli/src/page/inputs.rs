//! The columns of a table, and which inputs of the encoder each became.

use std::ops::Range;

use faer::{Mat, MatRef};
use sarl_data::{FeatureValues, Schema};

/// The inputs of an encoder.
pub struct Inputs {
    pub columns: Vec<Input>,
    /// The standard deviation of each input, so that weights can be compared.
    pub spreads: Vec<f64>,
}

/// A column of the table.
pub struct Input {
    pub name: String,
    /// Whether it is also one of those to be hidden.
    pub sensitive: bool,
    /// How many categories it has; none for a number.
    pub categories: usize,
    /// Its place among the inputs.
    pub at: Range<usize>,
}

impl Inputs {
    /// Those of a schema: numbers first, then the one-hot columns.
    pub fn of_schema(schema: &Schema, spreads: Vec<f64>) -> Self {
        let hidden = |name: &str| schema.sensitives().iter().any(|s| s.name == name);
        let mut columns = Vec::new();
        let mut start = 0;
        for numbers in [true, false] {
            for feature in schema.features() {
                let (width, categories) = match &feature.values {
                    FeatureValues::Number { .. } if numbers => (1, 0),
                    FeatureValues::Category { values, .. } if !numbers => {
                        (values.len(), values.len())
                    }
                    _ => continue,
                };
                let (name, sensitive) = (feature.name.clone(), hidden(&feature.name));
                columns.push(Input { name, sensitive, categories, at: start..start + width });
                start += width;
            }
        }
        Inputs { columns, spreads }
    }

    /// The same, where the standard deviations of one-hot columns are those of these rows.
    pub fn of_rows(schema: &Schema, x: MatRef<'_, f64>) -> Self {
        let mut spreads = spreads(x);
        let numbers = schema.features().iter().filter_map(|f| match f.values {
            FeatureValues::Number { std, .. } => Some(std),
            FeatureValues::Category { .. } => None,
        });
        for (spread, std) in spreads.iter_mut().zip(numbers) {
            *spread = std;
        }
        Self::of_schema(schema, spreads)
    }

    /// For each column the sum of its inputs' weights, and of the positive and negative ones alone.
    pub fn summed(&self, weights: impl Fn(usize) -> f64) -> Vec<[f64; 3]> {
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
pub fn standardised(x: MatRef<'_, f64>) -> Mat<f64> {
    let spreads = spreads(x);
    let means: Vec<f64> =
        (0..x.ncols()).map(|j| x.col(j).iter().sum::<f64>() / x.nrows().max(1) as f64).collect();
    Mat::from_fn(x.nrows(), x.ncols(), |i, j| match spreads[j] > 0.0 {
        true => (x[(i, j)] - means[j]) / spreads[j],
        false => 0.0,
    })
}
