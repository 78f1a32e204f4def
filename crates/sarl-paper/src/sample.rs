//! Rows in memory.

use faer::Mat;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl::{Block, FitParams, Fitted};
use sarl_eval::{Labelled, Labels};
use sarl_lab::{Rows, Watch};

use crate::Result;

/// Rows with a target and a sensitive class.
#[derive(Clone)]
pub struct Sample {
    /// Their features.
    pub x: Mat<f64>,
    /// The numbers of values of the categories whose one-hot columns are the last.
    pub categories: Vec<usize>,
    /// What is kept.
    pub y: Labels,
    /// What is hidden.
    pub s: Labels,
}

impl Sample {
    /// How many there are.
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    /// Some of them.
    pub fn select(&self, rows: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        let categories = self.categories.clone();
        Sample { x, categories, y: self.y.select(rows), s: self.s.select(rows) }
    }

    /// The same with names of target and sensitive attribute, and of their classes.
    pub fn rows_named(&self, names: [&str; 2], classes: [&[&str]; 2]) -> Rows {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Rows {
            targets: vec![self.y.clone()],
            sensitives: vec![self.s.clone()],
            names: owned(&names),
            classes: classes.map(owned).to_vec(),
            ..Rows::new(self.x.clone())
        }
    }

    /// What is kept and what is hidden.
    pub fn labels(&self) -> Labelled<'_> {
        Labelled {
            targets: std::slice::from_ref(&self.y),
            sensitives: std::slice::from_ref(&self.s),
            names: &[],
            keeps_features: false,
            kernels: &[],
            weights: None,
        }
    }

    /// Encoders fitted on these rows.
    pub(crate) fn fit(&self, params: &FitParams, watch: &dyn Watch) -> Result<Fitted> {
        Ok(sarl_lab::fit(self.x.as_ref(), &self.labels(), params, &|| watch.stop())?)
    }

    /// All rows at once.
    pub(crate) fn block(&self) -> Block<'_, f64> {
        Block::new(self.x.as_ref()).class(codes(&self.y)).class(codes(&self.s))
    }

    /// Target and sensitive attribute exchanged.
    pub(crate) fn flipped(&self) -> Self {
        Sample { y: self.s.clone(), s: self.y.clone(), ..self.clone() }
    }

    /// The first `train` rows of a random order, and the others.
    pub(crate) fn shuffled(&self, train: usize, seed: u64) -> (Self, Self) {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        (self.select(&order[..train]), self.select(&order[train..]))
    }
}

/// The codes of a class.
pub fn codes(labels: &Labels) -> &[u32] {
    match labels {
        Labels::Classes { codes, .. } => codes,
        Labels::Numbers(_) => &[],
    }
}

const MEANS: [[f64; 3]; 4] = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.5, 0.0], [2.5, 3.0, 0.0]];
const SPREAD: f64 = 0.3;

/// The paper's mixture of four Gaussians: each row has a shape (to keep) and a colour (to hide); the
/// four combinations have means (1,1,0), (2,2,0), (2,2.5,0), (2.5,3,0) and standard deviation 0.3
/// in each coordinate.
pub fn mixture(rows: usize, rng: &mut ChaCha8Rng) -> Sample {
    let corner: Vec<u32> = (0..rows).map(|_| rng.random_range(0..4)).collect();
    let x = Mat::from_fn(rows, 3, |i, j| {
        let noise: f64 = StandardNormal.sample(rng);
        MEANS[corner[i] as usize][j] + SPREAD * noise
    });
    let classes =
        |of: fn(&u32) -> u32| Labels::Classes { codes: corner.iter().map(of).collect(), count: 2 };
    Sample { x, categories: Vec::new(), y: classes(|c| c / 2), s: classes(|c| c % 2) }
}
