//! Variational autoencoders, whose z is the mean of q(z|x).
//!
//! VAE knows the features only and hides nothing:
//!
//! ```text
//! min  −E log p(x|z) + KL(q(z|x) ‖ N(0, 1))
//! ```
//!
//! VFAE tells the decoder what is to be hidden, so that z need not, ties z to the target by a second
//! latent variable u and by a predictor, and pulls the groups together that remain apart:
//!
//! ```text
//! min  B/d − log q(y|z) + β MMD²
//! B =  −E log p(x|z,s) + KL(q(u|z,y) ‖ N(0, 1)) + E KL(q(z|x) ‖ p(z|u,y))
//! MMD² = Σ w ‖mean of ψ(z) in a group − mean of ψ(z) in all others‖²
//! ψ(z) = √(2/D) cos(√(2/γ) zW + b),  W normal, b uniform on 0 to 2π, D = 500
//! ```
//!
//! with d the columns of x that vary and β = 10 λ/(1−λ), where λ, the weight of hiding, stops at
//! 0.999. The sum is over groups and attributes, with w the share of the group, so that β means
//! the same for few groups and for many; of two groups one term, with w = 1, says it all. W and b
//! are drawn anew for every step.
//!
//! What the paper (VFAE) states is kept: the bound, the predictor, random features of that form, one
//! hidden layer of 100 units and 50 dimensions of z, or 60 and 30 for small tables (here: under 5000
//! rows). Chosen here, because it hides or keeps more or because the paper is silent:
//!
//! - q(z|x) does not see s, since an encoder is given features alone; they often tell s anyway.
//! - At least three dimensions of z, and as many hidden units, for each column of the target, up to
//!   100; never more than x has columns, because nothing empties those that are not needed.
//! - The discrepancy is that of the means of q(z|x), which are what is handed on, rather than of
//!   samples. Each dimension is divided by its spread in the batch, not differentiated, so that
//!   nothing hides in a small scale; γ is the number of dimensions, half the mean squared distance.
//! - The bound is taken per column of x, which gives the predictor the weight d.
//! - Columns of two values on the training rows, standardised or not, are Bernoulli; the others are
//!   normal with a variance learnt for each column; those of one value are left out.
//! - 256 rows a step, Adam, gradients clipped, and that the encoder of the best epoch on a tenth of
//!   the rows is taken; under 500 rows none are apart, the last is taken, and a step sees half of the rows.

mod columns;
mod groups;
mod normal;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_nets::{AdamW, Layers, Matrix, Tape, Var, Weights};

use crate::error::{Error, Result};
use crate::heads::Heads;
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_labels};
use crate::train::{Frozen, Learner, Plan, mean_over, train};
use columns::Columns;
use groups::Groups;
use normal::Normal;

/// What is modelled.
#[derive(Clone, Copy, PartialEq)]
enum Model {
    /// The features alone.
    Plain,
    /// The features given what is hidden, with what is kept above z.
    Fair,
}

/// A variational autoencoder.
pub struct Variational {
    about: About,
    model: Model,
}

/// Kingma, Welling 2013: Auto-encoding variational Bayes.
pub const VAE: Variational = Variational {
    about: About {
        name: "vae",
        title: "VAE",
        description: "variational autoencoder of the features, nothing hidden (Kingma, Welling 2013)",
        hiding: None,
        is_random: true,
    },
    model: Model::Plain,
};
/// Louizos, Swersky, Li, Welling, Zemel 2015: The variational fair autoencoder.
pub const VFAE: Variational = Variational {
    about: About {
        name: "vfae",
        title: "VFAE",
        description: "variational autoencoder given the sensitive, groups matched by MMD (Louizos et al. 2015)",
        hiding: Some(0.5),
        is_random: true,
    },
    model: Model::Fair,
};

/// Rows from which on a table is large, and under which it has none to spare.
const LARGE: usize = 5000;
const SCARCE: usize = 500;
/// Hidden units and dimensions of z for small and for large tables.
const SIZES: [(usize, usize); 2] = [(60, 30), (100, 50)];
/// Dimensions of z for each column of the target, at most so many in all.
const DIM: (usize, usize) = (3, 100);
/// The weight of the discrepancy at a weight of hiding of one half, and the most hiding.
const DISCREPANCY: f64 = 10.0;
const MOST: f64 = 0.999;

fn plan(rows: usize) -> Plan {
    Plan {
        batch: 256,
        parts: if rows < SCARCE { 2 } else { 8 },
        steps: (1000, 4000),
        epochs: 10,
        rate: 3e-3,
        apart: if rows < SCARCE { 0.0 } else { 0.1 },
        patience: 10,
        settle: 0.0,
    }
}

impl Rival for Variational {
    fn about(&self) -> About {
        self.about
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        if self.model == Model::Plain {
            return Ok(());
        }
        let reason = "hides classes only: a number has no groups to match";
        check_labels(self, targets, sensitives, Some(reason))
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let mut rng = stream(how.seed, 0);
        let (rows, width) = (data.x.nrows(), data.x.ncols());
        let told = Columns::new(data.x);
        if told.width() == 0 {
            return Err(Error::Unfit { rival: self.title(), reason: "needs features that vary" });
        }
        let (hidden, dim) = SIZES[usize::from(rows >= LARGE)];
        let dim = dim.max((DIM.0 * Heads::new(data.targets).width()).min(DIM.1)).min(told.width());
        let hidden = [hidden.max(dim)];
        let fair = self.model == Model::Fair;
        let (y, s) = if fair { (data.targets, data.sensitives) } else { (&[][..], &[][..]) };
        let groups = Groups::new(s);
        let (y, s) = (Heads::new(y), Heads::new(s));
        let mut weights = Weights::default();
        let spread = weights.add(Matrix::filled(1, told.numbers, 0.0));
        let mut layers =
            |from, inner: &[usize], to| Layers::new(&mut weights, from, inner, to, &mut rng);
        let net = Net {
            encoder: layers(width, &hidden, 2 * dim),
            decoder: layers(dim + s.width(), &hidden, told.width()),
            spread,
            above: fair.then(|| Above {
                encoder: layers(dim + y.width(), &hidden, 2 * dim),
                decoder: layers(dim + y.width(), &hidden, 2 * dim),
                predictor: layers(dim, &[], y.width()),
            }),
        };
        let hiding = how.hiding.min(MOST);
        let mut learning = Learning {
            x: Matrix::rounded(data.x),
            dim,
            told,
            y,
            s,
            groups,
            weight: (DISCREPANCY * hiding / (1.0 - hiding)) as f32,
            net,
            best: weights.clone(),
            weights,
            optimiser: AdamW::new(1e-4, Some(1.0)),
            noise: stream(how.seed, 1),
            seed: how.seed,
        };
        train(self.title(), &mut learning, rows, &plan(rows), how, &mut rng)?;
        let encode = frozen(net.encoder, learning.best, dim);
        Ok(Box::new(Frozen { width, dim, encode }))
    }
}

fn frozen(
    encoder: Layers,
    weights: Weights,
    dim: usize,
) -> impl for<'t> Fn(Var<'t>, &'t Tape) -> Var<'t> + Send + Sync {
    move |x, tape| Normal::new(encoder.forward(&weights.hold(tape), x), dim).mean
}

/// One of the generators of a seed.
fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// All networks.
#[derive(Clone, Copy)]
struct Net {
    encoder: Layers,
    decoder: Layers,
    /// Where the logarithms of the variances of the numbers around what the decoder tells stand.
    spread: usize,
    above: Option<Above>,
}

/// What ties z to the target.
#[derive(Clone, Copy)]
struct Above {
    encoder: Layers,
    decoder: Layers,
    predictor: Layers,
}

struct Learning {
    x: Matrix,
    dim: usize,
    told: Columns,
    y: Heads,
    s: Heads,
    groups: Groups,
    /// The weight of the discrepancy.
    weight: f32,
    net: Net,
    weights: Weights,
    best: Weights,
    optimiser: AdamW,
    noise: ChaCha8Rng,
    seed: u64,
}

impl Learning {
    /// The objective on these rows.
    fn objective<'t>(
        &self,
        w: &[Var<'t>],
        rows: &[usize],
        rng: &mut ChaCha8Rng,
        tape: &'t Tape,
    ) -> Var<'t> {
        let x = tape.constant(self.x.pick(rows));
        let first = Normal::new(self.net.encoder.forward(w, x), self.dim);
        let z = first.sample(rng, tape);
        let given = match self.groups.is_empty() {
            true => z,
            false => z.beside(tape.constant(self.s.columns(rows))),
        };
        let x = tape.constant(self.told.values.pick(rows));
        let surprise =
            self.told.surprise(self.net.decoder.forward(w, given), x, w[self.net.spread], tape);
        let column = 1.0 / self.told.width() as f32;
        let Some(above) = &self.net.above else {
            return (surprise + first.divergence(None)) * column;
        };
        let y = tape.constant(self.y.columns(rows));
        let second = Normal::new(above.encoder.forward(w, z.beside(y)), self.dim);
        let given = second.sample(rng, tape).beside(y);
        let prior = Normal::new(above.decoder.forward(w, given), self.dim);
        let bound = surprise + second.divergence(None) + first.divergence(Some(&prior));
        let kept = self.y.likelihood(above.predictor.forward(w, z), rows, tape);
        let loss = bound * column + kept;
        if self.weight > 0.0 {
            loss + self.groups.discrepancy(first.mean, rows, rng, tape) * self.weight
        } else {
            loss
        }
    }
}

impl Learner for Learning {
    fn step(&mut self, rows: &[usize], rate: f64) -> f64 {
        let tape = Tape::default();
        let learnt = self.weights.learn(&tape);
        let mut noise = self.noise.clone();
        let objective = self.objective(&learnt, rows, &mut noise, &tape);
        self.noise = noise;
        self.optimiser.step(&mut self.weights, &objective.gradients(&learnt), rate);
        f64::from(objective.number())
    }

    fn judge(&self, rows: &[usize]) -> f64 {
        // The same noise in every epoch.
        let mut noise = stream(self.seed, 2);
        mean_over(rows, |rows, tape| {
            self.objective(&self.weights.hold(tape), rows, &mut noise, tape)
        })
    }

    fn keep(&mut self) {
        self.best = self.weights.clone();
    }
}
