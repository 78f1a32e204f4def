//! Networks: the paper's own adversary, and a larger one.
//!
//! Adam on cross-entropy (or squares, for a number), a learning rate that falls along a cosine, and
//! the weights of the epoch that does best on a tenth of the training rows. Weights are drawn by
//! this crate's own generator, so that a seed means the same whatever runs beside it.

use std::f64::consts::PI;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sarl_nets::{AdamW, Layers, Matrix, SCORED, Tape, Var, Weights};

use crate::error::{Error, Result};
use crate::task::{Labels, Prediction, Probe, Task};

/// Rows in a step; fewer for small tables.
const BATCH: usize = 256;
/// Steps of a run, at least and at most, and epochs in between.
const STEPS: (usize, usize) = (1500, 6000);
const EPOCHS: usize = 20;
/// Learning rate at the start.
const RATE: f64 = 5e-3;
/// Decay of the weights.
const DECAY: f32 = 1e-4;
/// The share of training rows that judge the epochs.
const APART: f64 = 0.1;
/// Epochs and steps without a better epoch after which a run ends: epochs of few rows are short.
const PATIENCE: (usize, usize) = (8, 400);

/// A network of fully connected layers with ReLU between them.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    name: &'static str,
    description: &'static str,
    hidden: &'static [usize],
}

impl Network {
    /// Two layers with 64 units between them.
    pub const SMALL: Network = Network {
        name: "net-64",
        description: "network of two layers with 64 units, the paper's adversary",
        hidden: &[64],
    };
    /// Three layers with 128 units between them.
    pub const LARGE: Network = Network {
        name: "net-128x128",
        description: "network of three layers with 128 units each",
        hidden: &[128, 128],
    };
}

impl Probe for Network {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn is_random(&self) -> bool {
        true
    }

    /// The large one takes most of the time of an audit, and is hardly ever the worst case.
    fn runs(&self, _rows: usize, seeds: usize) -> usize {
        if self.hidden.len() > 1 { seeds.min(1) } else { seeds }
    }

    fn predict(&self, task: &Task<'_>) -> Result<Prediction> {
        let mut rng = ChaCha8Rng::seed_from_u64(task.seed);
        let data = Data::new(task);
        let mut weights = Weights::default();
        let inputs = task.train.ncols();
        let net = Layers::new(&mut weights, inputs, self.hidden, data.outputs(), &mut rng);
        let weights = train(net, weights, &data, task, &mut rng)?;
        let told = net.scores(&weights, &Matrix::rounded(task.test)).widened();
        Ok(match (task.labels, data.scale) {
            (Labels::Numbers(_), (mean, spread)) => {
                Prediction::Numbers(told.col(0).iter().map(|v| mean + spread * v).collect())
            }
            (Labels::Classes { .. }, _) => Prediction::Logits(told),
        })
    }
}

/// The training rows.
struct Data<'a> {
    x: Matrix,
    labels: &'a Labels,
    /// Mean and spread of a number.
    scale: (f64, f64),
}

impl<'a> Data<'a> {
    fn new(task: &Task<'a>) -> Self {
        let scale = match task.labels {
            Labels::Classes { .. } => (0.0, 1.0),
            Labels::Numbers(values) => {
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
                (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
            }
        };
        Data { x: Matrix::rounded(task.train), labels: task.labels, scale }
    }

    fn outputs(&self) -> usize {
        match self.labels {
            Labels::Classes { count, .. } => *count,
            Labels::Numbers(_) => 1,
        }
    }

    /// The mean loss over some rows.
    fn loss<'t>(
        &self,
        net: Layers,
        weights: &[Var<'t>],
        rows: &[usize],
        tape: &'t Tape,
    ) -> Var<'t> {
        let told = net.forward(weights, tape.constant(self.x.pick(rows)));
        match self.labels {
            Labels::Classes { codes, .. } => {
                let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
                told.cross_entropy(&codes)
            }
            Labels::Numbers(values) => {
                let (mean, spread) = self.scale;
                let y = rows.iter().map(|&i| ((values[i] - mean) / spread) as f32).collect();
                (told - tape.constant(Matrix::new(rows.len(), 1, y))).square().mean()
            }
        }
    }

    /// The mean loss over many rows, without learning.
    fn judge(&self, net: Layers, weights: &Weights, rows: &[usize]) -> f64 {
        let loss = rows.chunks(SCORED).map(|rows| {
            let tape = Tape::default();
            let mean = self.loss(net, &weights.hold(&tape), rows, &tape).number();
            f64::from(mean) * rows.len() as f64
        });
        loss.sum::<f64>() / rows.len() as f64
    }
}

/// How long to train.
struct Plan {
    batch: usize,
    /// Steps of an epoch.
    each: usize,
    epochs: usize,
    steps: usize,
}

impl Plan {
    fn new(rows: usize) -> Self {
        let batch = BATCH.min(rows.div_ceil(8)).max(1);
        let each = rows.div_ceil(batch);
        let epochs = (EPOCHS * each).clamp(STEPS.0, STEPS.1).div_ceil(each);
        Plan { batch, each, epochs, steps: epochs * each }
    }

    fn rate(&self, step: usize) -> f64 {
        RATE * 0.5 * (1.0 + (PI * step as f64 / self.steps as f64).cos()).max(0.02)
    }
}

fn train(
    net: Layers,
    mut weights: Weights,
    data: &Data<'_>,
    task: &Task<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<Weights> {
    let mut order: Vec<usize> = (0..task.train.nrows()).collect();
    order.shuffle(rng);
    let apart = (order.len() as f64 * APART) as usize;
    let apart = order.split_off(order.len() - apart);
    let plan = Plan::new(order.len());
    let mut optimiser = AdamW::new(DECAY, None);
    let mut best = (f64::INFINITY, weights.clone(), 0);
    let mut step = 0;
    for epoch in 1..=plan.epochs {
        order.shuffle(rng);
        for rows in order.chunks(plan.batch) {
            if (task.stop)() {
                return Err(Error::Interrupted);
            }
            let tape = Tape::default();
            let learnt = weights.learn(&tape);
            let gradients = data.loss(net, &learnt, rows, &tape).gradients(&learnt);
            optimiser.step(&mut weights, &gradients, plan.rate(step));
            step += 1;
        }
        if apart.is_empty() {
            best = (0.0, weights.clone(), epoch);
            continue;
        }
        let loss = data.judge(net, &weights, &apart);
        if loss < best.0 {
            best = (loss, weights.clone(), epoch);
        } else if epoch - best.2 >= PATIENCE.0 && (epoch - best.2) * plan.each >= PATIENCE.1 {
            break;
        }
    }
    Ok(best.1)
}
