//! Rows as the encoder sees them, and what it looks at.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatRef, Side};
use sarl::{Encoder, Model};
use sarl_eval::Labels;
use sarl_report::page::{Column, Embedding, Values, Weights};

use super::inputs::{Inputs, standardised};
use super::level::Level;
use crate::error::Result;
use crate::rows::Rows;
use crate::words::count;

/// Directions that are shown.
pub const DIRECTIONS: usize = 2;
/// Weights that are stored at most, which limits the columns that are listed: 500 for a hundred
/// levels of one direction.
const MOST_WEIGHTS: usize = 150_000;
/// What is added to the variances of the inputs where a kernel encoder is drawn near by a linear
/// one: one-hot columns are not independent.
const RIDGE: f64 = 1e-3;

/// Rows that are shown.
pub struct Shown {
    /// One row for each, as the encoder takes them.
    pub x: Mat<f64>,
    /// What is hidden first.
    pub labels: Vec<Values>,
    /// Where they come from.
    pub words: String,
}

impl Shown {
    /// Test rows, so many at most; evenly over all of them.
    pub fn of_tested(rows: &Rows, most: usize) -> Option<Self> {
        let (shown, all) = (rows.len().min(most), rows.len());
        let words = match shown == all {
            true => "All that were tested on.".to_owned(),
            false => format!("Of the {} that were tested on.", count(all as u64)),
        };
        (shown > 0).then(|| Self::new(rows.spread(shown), words))
    }

    /// Rows that were drawn with a seed from so many.
    pub fn drawn(rows: Rows, seed: u64) -> Self {
        let words = match rows.of > rows.len() as u64 {
            true => format!("Drawn at random from {} (seed {seed}).", count(rows.of)),
            false => "All that there are.".to_owned(),
        };
        Self::new(rows, words)
    }

    /// These rows.
    pub fn new(rows: Rows, words: String) -> Self {
        Shown { labels: rows.values(), x: rows.x, words }
    }
}

/// An attribute of rows.
pub fn values(name: &str, hidden: bool, classes: &[String], labels: &Labels) -> Values {
    let (name, classes) = (name.to_owned(), classes.to_vec());
    let values = match labels {
        Labels::Classes { codes, .. } => codes.iter().map(|&c| f64::from(c)).collect(),
        Labels::Numbers(values) => values.clone(),
    };
    Values { name, hidden, classes, values }
}

/// What is shown of an encoder: z of the shown rows, and the weights, in the first directions.
pub struct Projected {
    z: Mat<f64>,
    weights: Mat<f64>,
}

/// What makes [`Projected`] out of encoders of one fit.
pub struct Projector<'a> {
    features: Option<Mat<f64>>,
    inputs: Option<&'a Inputs>,
    /// Of a kernel: standardised rows, and the way from z to the nearest linear encoder.
    near: Option<(Mat<f64>, Llt<f64>)>,
}

impl<'a> Projector<'a> {
    pub fn new(model: &Model, shown: Option<&Shown>, inputs: Option<&'a Inputs>) -> Result<Self> {
        let features = shown.map(|s| model.encoder().features(s.x.as_ref())).transpose()?;
        let near = match shown.filter(|s| !model.is_linear() && s.x.nrows() > 1) {
            Some(shown) => nearest(shown.x.as_ref()),
            None => None,
        };
        Ok(Projector { features, inputs, near })
    }

    pub fn project(&self, encoder: &Encoder) -> Result<Projected> {
        let z = match &self.features {
            Some(features) => encoder.encode_features(features.as_ref())?,
            None => Mat::zeros(0, encoder.dim()),
        };
        let keep = encoder.dim().min(DIRECTIONS);
        let z = z.subcols(0, keep).to_owned();
        let weights = match (self.inputs, &self.near) {
            (Some(_), Some((rows, solver))) => solver.solve(rows.transpose() * &z),
            (Some(inputs), None) if inputs.spreads.len() == encoder.weights().nrows() => {
                let weights = encoder.weights();
                Mat::from_fn(weights.nrows(), keep, |i, j| weights[(i, j)] * inputs.spreads[i])
            }
            _ => Mat::zeros(0, keep),
        };
        Ok(Projected { z, weights })
    }
}

/// The normal equations of least squares on standardised rows.
fn nearest(x: MatRef<'_, f64>) -> Option<(Mat<f64>, Llt<f64>)> {
    let rows = standardised(x);
    let mut gram = rows.transpose() * &rows;
    let more = RIDGE * rows.nrows() as f64;
    (0..gram.ncols()).for_each(|i| gram[(i, i)] += more);
    let solver = gram.llt(Side::Lower).ok()?;
    Some((rows, solver))
}

/// Directions have no sign of their own: each is turned so that it follows the one before.
pub fn turn(levels: &mut [Level]) {
    for i in 1..levels.len() {
        let (before, from) = levels.split_at_mut(i);
        let (Some(before), Some(now)) = (before.last(), from.first_mut()) else { continue };
        let directions = before.shown.z.ncols().min(now.shown.z.ncols());
        for j in 0..directions {
            let dot = |of: fn(&Projected) -> &Mat<f64>| {
                let (a, b) = (of(&before.shown).col(j), of(&now.shown).col(j));
                a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()
            };
            let along = match now.shown.z.nrows() {
                0 => dot(|s| &s.weights),
                _ => dot(|s| &s.z),
            };
            if along < 0.0 {
                now.shown.z.col_mut(j).iter_mut().for_each(|v| *v = -*v);
                now.shown.weights.col_mut(j).iter_mut().for_each(|v| *v = -*v);
            }
        }
    }
}

/// z of every row at every level.
pub fn embedding(levels: &[Level], shown: &Shown) -> Embedding {
    let rows = shown.x.nrows();
    let cell = |level: &Level, j: usize, i: usize| match j < level.shown.z.ncols() {
        true => level.shown.z[(i, j)],
        false => 0.0,
    };
    let mut all = Vec::with_capacity(levels.len() * DIRECTIONS * rows);
    for level in levels {
        for j in 0..DIRECTIONS {
            all.extend((0..rows).map(|i| cell(level, j, i)));
        }
    }
    Embedding { rows, words: shown.words.clone(), labels: shown.labels.clone(), z: all }
}

/// The weight of every column at every level.
pub fn weights(levels: &[Level], inputs: &Inputs, linear: bool) -> Option<Weights> {
    if levels.iter().all(|l| l.shown.weights.nrows() == 0) {
        return None;
    }
    let directions = levels.iter().map(|l| l.point.dim).max().unwrap_or(0);
    let none = vec![[0.0; 3]; inputs.columns.len()];
    let summed: Vec<Vec<Vec<[f64; 3]>>> = levels
        .iter()
        .map(|level| {
            let direction = |j: usize| match j < level.shown.weights.ncols() {
                true => inputs.summed(|i| level.shown.weights[(i, j)]),
                false => none.clone(),
            };
            (0..directions.clamp(1, DIRECTIONS)).map(direction).collect()
        })
        .collect();
    // Those that are large somewhere; what is to be hidden is always among them.
    let most = |c: usize| match inputs.columns[c].sensitive {
        true => f64::INFINITY,
        false => summed.iter().flatten().map(|w| w[c][1] - w[c][2]).fold(0.0, f64::max),
    };
    let mut order: Vec<usize> = (0..inputs.columns.len()).collect();
    order.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
    let each = 3 * levels.len() * directions.clamp(1, DIRECTIONS);
    order.truncate((MOST_WEIGHTS / each.max(1)).max(20));
    order.sort_unstable();
    let sums = summed.iter().flatten().flat_map(|w| order.iter().map(move |&c| w[c]));
    let column = |&c: &usize| {
        let input = &inputs.columns[c];
        let (name, sensitive) = (input.name.clone(), input.sensitive);
        Column { name, sensitive, categories: input.categories }
    };
    Some(Weights {
        axis: "z per standard deviation of the column".to_owned(),
        words: words(inputs, linear),
        columns: order.iter().map(column).collect(),
        sums: sums.collect(),
        omitted: inputs.columns.len() - order.len(),
    })
}

/// How to read the weights.
fn words(inputs: &Inputs, linear: bool) -> String {
    let mut text = match linear {
        true => "How far one standard deviation of a column moves z, all else equal.".to_owned(),
        false => "A kernel encoder has no weight for each column: these are the weights of the \
                  linear encoder nearest to it on the rows shown."
            .to_owned(),
    };
    if inputs.columns.iter().any(|c| c.categories > 0) {
        text += " A column of categories is the sum of its one-hot columns: the bar reaches from \
                 the sum of those that pull down to the sum of those that push up, the dot is both \
                 together.";
    }
    if !inputs.columns.iter().any(|c| c.sensitive) {
        text += " What is to be hidden is not itself among the inputs.";
    }
    text
}
