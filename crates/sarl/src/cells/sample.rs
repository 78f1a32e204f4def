//! Rows to choose cells on: their z by each encoder, and their labels. More than a fixed number are
//! drawn at random, so that memory does not grow with them.

use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::measure::Measure;
use crate::moments::{Block, Element, LabelBlock};

/// Rows that are kept at most.
pub(super) const ROWS: usize = 1 << 18;

/// The labels of rows.
#[derive(Clone, Debug)]
enum Values {
    Classes(Vec<u32>),
    /// Row by row.
    Numbers {
        values: Vec<f64>,
        means: Vec<f64>,
    },
}

/// A uniform sample of rows.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// For each encoder, row by row.
    z: Vec<Vec<f64>>,
    labels: Vec<Values>,
    rows: usize,
    seen: u64,
    rng: ChaCha8Rng,
}

impl Sample {
    pub(super) fn new(encoders: usize, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Sample { z: vec![Vec::new(); encoders], labels: Vec::new(), rows: 0, seen: 0, rng }
    }

    /// Rows that passed by.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Rows that were kept.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes rows in, with their z by each encoder.
    pub(super) fn push<T: Element>(&mut self, block: &Block<'_, T>, z: &[Mat<f64>]) {
        if self.labels.is_empty() {
            let empty = |label: &LabelBlock<'_>| match label {
                LabelBlock::Class(_) => Values::Classes(Vec::new()),
                LabelBlock::Number(_) => Values::Numbers { values: Vec::new(), means: Vec::new() },
            };
            self.labels = block.labels.iter().map(empty).collect();
        }
        for i in 0..block.rows() {
            self.seen += 1;
            let slot = match self.rows < ROWS {
                true => self.rows,
                false => match self.rng.random_range(0..self.seen) as usize {
                    slot if slot < ROWS => slot,
                    _ => continue,
                },
            };
            self.rows = self.rows.max(slot + 1);
            for (to, z) in self.z.iter_mut().zip(z) {
                put(to, slot, z.ncols(), (0..z.ncols()).map(|j| z[(i, j)]));
            }
            for (to, from) in self.labels.iter_mut().zip(&block.labels) {
                match (to, from) {
                    (Values::Classes(to), LabelBlock::Class(from)) => put(to, slot, 1, [from[i]]),
                    (Values::Numbers { values: to, .. }, LabelBlock::Number(from)) => {
                        put(to, slot, from.ncols(), from.row(i).iter().copied());
                    }
                    _ => {}
                }
            }
        }
    }

    /// z of the rows by an encoder, row by row.
    pub(super) fn z(&self, encoder: usize) -> &[f64] {
        &self.z[encoder]
    }

    /// Takes the means off numbers, the first time, and measures all rows.
    pub(super) fn measure(&mut self, measure: Measure) -> Measure {
        let mut squares = Vec::new();
        for (values, at) in self.labels.iter_mut().zip(&measure.labels) {
            let Values::Numbers { values, means } = values else {
                squares.push(self.rows as f64);
                continue;
            };
            let width = at.len();
            let centred = !means.is_empty();
            for j in (0..width).filter(|_| !centred) {
                let column = values.iter().skip(j).step_by(width);
                let mean = column.sum::<f64>() / self.rows.max(1) as f64;
                means.push(mean);
                values.iter_mut().skip(j).step_by(width).for_each(|v| *v -= mean);
            }
            squares.push(values.iter().map(|v| v * v).sum());
        }
        let mut totals = vec![0.0; measure.width];
        (0..self.rows).for_each(|i| self.add(i, &measure, &mut totals));
        measure.of(totals, squares)
    }

    /// The means of a numeric label in a cell of these sums.
    pub(super) fn means(&self, label: usize, sums: &[f64], rows: f64) -> Vec<f64> {
        match &self.labels[label] {
            Values::Numbers { means, .. } => {
                sums.iter().zip(means).map(|(sum, mean)| mean + sum / rows.max(1.0)).collect()
            }
            Values::Classes(_) => Vec::new(),
        }
    }

    /// Adds a row to the sums of a cell.
    pub(super) fn add(&self, row: usize, measure: &Measure, sums: &mut [f64]) {
        sums[0] += 1.0;
        for (values, at) in self.labels.iter().zip(&measure.labels) {
            match values {
                Values::Classes(codes) => {
                    if let Some(count) = sums[at.clone()].get_mut(codes[row] as usize) {
                        *count += 1.0;
                    }
                }
                Values::Numbers { values, .. } => {
                    let width = at.len();
                    let row = &values[row * width..][..width];
                    sums[at.clone()].iter_mut().zip(row).for_each(|(sum, v)| *sum += v);
                }
            }
        }
    }
}

/// Writes a row at its slot: at the end, or in the place of another row.
fn put<V: Copy>(rows: &mut Vec<V>, slot: usize, width: usize, row: impl IntoIterator<Item = V>) {
    match rows.get_mut(slot * width..(slot + 1) * width).filter(|_| width > 0) {
        Some(place) => place.iter_mut().zip(row).for_each(|(to, v)| *to = v),
        None => rows.extend(row),
    }
}
