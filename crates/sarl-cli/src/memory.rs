//! Rows in memory: for probes, which need them there, and for fits on some of them.

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::{Encoder, FitParams, Fitted, Model, Scale};
use sarl_data::{BlockOptions, DataBlock, LabelColumn, Schema, Source};
use sarl_eval::{Labelled, Labels};

use crate::args::Global;
use crate::data::with_block;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress::{self, Pass};

/// Some rows of a data set.
pub struct Rows {
    /// The place of each among the rows of the data set, as `sarl encode` writes them.
    pub places: Vec<u64>,
    /// The features, one-hot columns and all.
    pub x: Mat<f64>,
    /// The features encoded by the model, if there is one.
    pub z: Mat<f64>,
    pub targets: Vec<Labels>,
    pub sensitives: Vec<Labels>,
    /// The names of targets and sensitives.
    pub names: Vec<String>,
    pub weights: Option<Vec<f64>>,
    /// How many rows there were.
    pub of: u64,
}

impl Rows {
    /// Reads at most `cap` rows, drawn uniformly.
    pub fn read(
        source: &Source,
        schema: &Schema,
        model: Option<&Model>,
        options: &BlockOptions,
        cap: usize,
        seed: u64,
        global: &Global,
    ) -> Outcome<Self> {
        let encoder = model.map(Model::encoder);
        let mut kept = Kept { rng: ChaCha8Rng::seed_from_u64(seed), cap, ..Kept::default() };
        let mut pass = Pass::new("reading rows", source.rows_hint().map(|h| h.rows), global.quiet);
        let mut blocks = source.blocks(schema, options)?;
        while let Some(block) = blocks.next() {
            let block = block?;
            kept.push(&block, encoder.as_ref())?;
            blocks.recycle(block);
            pass.check(kept.seen)?;
        }
        let labels = schema.targets().iter().chain(schema.sensitives());
        let names = labels.map(|label| label.name.clone()).collect();
        Ok(kept.rows(names, schema.width(), encoder.map_or(0, |e| e.dim())))
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Some of these rows.
    pub fn select(&self, which: &[usize]) -> Self {
        let pick = |m: &Mat<f64>| Mat::from_fn(which.len(), m.ncols(), |i, j| m[(which[i], j)]);
        Rows {
            places: which.iter().map(|&i| self.places[i]).collect(),
            x: pick(&self.x),
            z: pick(&self.z),
            targets: self.targets.iter().map(|l| l.select(which)).collect(),
            sensitives: self.sensitives.iter().map(|l| l.select(which)).collect(),
            names: self.names.clone(),
            weights: self.weights.as_ref().map(|w| which.iter().map(|&i| w[i]).collect()),
            of: self.of,
        }
    }

    /// Parts them at random, no row in two parts: one part for each share, the first of what is left.
    pub fn part<const N: usize>(&self, shares: [f64; N], seed: u64) -> Outcome<[Self; N]> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let count = |share: f64| (share * self.len() as f64).round() as usize;
        let others: usize = shares[1..].iter().map(|&s| count(s)).sum();
        let first = self.len().saturating_sub(others);
        let counts = shares.map(count);
        if first == 0 || counts[1..].contains(&0) {
            let message = format!("{} rows are too few to be parted {N} ways", self.len());
            return Err(Failure::new(Exit::Data, message)
                .hint("give more rows, another --test-share, or --test FILE"));
        }
        let mut from = 0;
        let mut parts = counts.into_iter().enumerate().map(|(i, count)| {
            let count = if i == 0 { first } else { count };
            let mut part = order[from..from + count].to_vec();
            from += count;
            part.sort_unstable();
            self.select(&part)
        });
        // There are as many parts as shares.
        Ok(std::array::from_fn(|_| parts.next().unwrap_or_else(|| self.select(&[]))))
    }

    /// Fits encoders on these rows.
    pub fn fit(&self, params: &FitParams) -> Outcome<Fitted> {
        let labels = Labelled {
            targets: &self.targets,
            sensitives: &self.sensitives,
            names: &self.names,
            weights: self.weights.as_deref(),
        };
        fit(self.x.as_ref(), &labels, params)
    }
}

/// Fits encoders on rows in memory, which are scaled already.
pub fn fit(x: MatRef<'_, f64>, labels: &Labelled<'_>, params: &FitParams) -> Outcome<Fitted> {
    let params = FitParams { scale: Scale::None, ..params.clone() };
    Ok(sarl_eval::fit(x, labels, &params, &progress::interrupted)?)
}

/// Mean 0 and variance 1 over these rows for the first `columns`; the same shift for the others.
pub fn standardise(rows: &mut Mat<f64>, others: &mut [&mut Mat<f64>], columns: usize) {
    let n = rows.nrows() as f64;
    for j in 0..columns.min(rows.ncols()) {
        let mean = rows.col(j).iter().sum::<f64>() / n;
        let variance = rows.col(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        for m in others.iter_mut().map(|m| &mut **m).chain([&mut *rows]) {
            m.col_mut(j).iter_mut().for_each(|v| *v = (*v - mean) / spread);
        }
    }
}

/// A uniform sample of rows, as they come by.
struct Kept {
    cap: usize,
    seen: u64,
    rng: ChaCha8Rng,
    places: Vec<u64>,
    x: Vec<f64>,
    z: Vec<f64>,
    targets: Vec<Labels>,
    sensitives: Vec<Labels>,
    weights: Option<Vec<f64>>,
}

impl Default for Kept {
    fn default() -> Self {
        Kept {
            cap: 0,
            seen: 0,
            rng: ChaCha8Rng::seed_from_u64(0),
            places: Vec::new(),
            x: Vec::new(),
            z: Vec::new(),
            targets: Vec::new(),
            sensitives: Vec::new(),
            weights: None,
        }
    }
}

impl Kept {
    /// Takes a block in, encoded if there is an encoder.
    fn push(&mut self, block: &DataBlock, encoder: Option<&Encoder>) -> Outcome {
        let x = block.densify();
        let z = match encoder {
            Some(encoder) => with_block(block, |b| Ok(encoder.encode_block(b)?))?,
            None => Mat::zeros(block.rows, 0),
        };
        let dim = z.ncols();
        let z: Vec<f64> = (0..block.rows).flat_map(|i| z.row(i).iter().copied()).collect();
        let width = x.len().checked_div(block.rows).unwrap_or(0);
        if self.seen == 0 {
            let empty = |columns: &[LabelColumn]| columns.iter().map(empty).collect();
            (self.targets, self.sensitives) = (empty(&block.targets), empty(&block.sensitives));
            self.weights = block.weights.as_ref().map(|_| Vec::new());
        }
        for i in 0..block.rows {
            let place = self.seen;
            self.seen += 1;
            let slot = match self.places.len() < self.cap {
                true => self.places.len(),
                false => match self.rng.random_range(0..self.seen) as usize {
                    slot if slot < self.cap => slot,
                    _ => continue,
                },
            };
            put(&mut self.places, slot, &[place]);
            put(&mut self.x, slot, &x[i * width..][..width]);
            put(&mut self.z, slot, &z[i * dim..][..dim]);
            let labels = self.targets.iter_mut().zip(&block.targets);
            for (to, from) in labels.chain(self.sensitives.iter_mut().zip(&block.sensitives)) {
                match (to, from) {
                    (Labels::Classes { codes, .. }, LabelColumn::Class { codes: from, .. }) => {
                        put(codes, slot, &[from[i]]);
                    }
                    (Labels::Numbers(values), LabelColumn::Number(from)) => {
                        put(values, slot, &[from[i]]);
                    }
                    _ => {}
                }
            }
            if let (Some(to), Some(from)) = (&mut self.weights, &block.weights) {
                put(to, slot, &[from[i]]);
            }
        }
        Ok(())
    }

    fn rows(self, names: Vec<String>, width: usize, dim: usize) -> Rows {
        let n = self.places.len();
        let mat =
            |values: &[f64], columns| MatRef::from_row_major_slice(values, n, columns).to_owned();
        let (x, z) = (mat(&self.x, width), mat(&self.z, dim));
        let Kept { places, targets, sensitives, weights, seen: of, .. } = self;
        Rows { places, x, z, targets, sensitives, names, weights, of }
    }
}

fn empty(column: &LabelColumn) -> Labels {
    match column {
        LabelColumn::Class { classes, .. } => {
            Labels::Classes { codes: Vec::new(), count: *classes }
        }
        LabelColumn::Number(_) => Labels::Numbers(Vec::new()),
    }
}

/// Writes a row at its slot: at the end, or in the place of another row.
fn put<T: Copy>(rows: &mut Vec<T>, slot: usize, row: &[T]) {
    match rows.get_mut(slot * row.len()..(slot + 1) * row.len()) {
        Some(place) => place.copy_from_slice(row),
        None => rows.extend_from_slice(row),
    }
}
