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

use burn::grad_clipping::GradientClippingConfig;
use burn::module::{Module, Param};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_eval::layers::{Layers, floats};

use crate::error::{Error, Result};
use crate::heads::Heads;
use crate::rival::{About, Data, Encode, Fitting, Rival, check};
use crate::train::{Frozen, Learner, Plan, mean_over, pick, train};
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
        let rival = self.title();
        if self.model == Model::Plain {
            return Ok(());
        }
        if targets.is_empty() {
            return Err(Error::Unfit { rival, reason: "needs a target to keep" });
        }
        if sensitives.iter().any(|s| s.classes().is_none()) {
            let reason = "hides classes only: a number has no groups to match";
            return Err(Error::Unfit { rival, reason });
        }
        Ok(())
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let mut rng = stream(how.seed, 0);
        let device = Device::flex().autodiff();
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
        let mut layers =
            |from, inner: &[usize], to| Layers::new(from, inner, to, &mut rng, &device);
        let net = Net {
            encoder: layers(width, &hidden, 2 * dim),
            decoder: layers(dim + s.width(), &hidden, told.width()),
            spread: Param::from_tensor(Tensor::zeros([told.numbers], &device)),
            above: fair.then(|| Above {
                encoder: layers(dim + y.width(), &hidden, 2 * dim),
                decoder: layers(dim + y.width(), &hidden, 2 * dim),
                predictor: layers(dim, &[], y.width()),
            }),
        };
        let hiding = how.hiding.min(MOST);
        let mut learning = Learning {
            x: floats(data.x),
            width,
            dim,
            told,
            y,
            s,
            groups,
            weight: DISCREPANCY * hiding / (1.0 - hiding),
            best: net.valid(),
            net,
            optimiser: AdamWConfig::new()
                .with_weight_decay(1e-4)
                .with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)))
                .init(),
            noise: stream(how.seed, 1),
            seed: how.seed,
            device,
        };
        train(self.title(), &mut learning, rows, &plan(rows), how, &mut rng)?;
        let encoder = learning.best.encoder;
        let encode = move |x| Normal::new(encoder.forward(x), dim).mean;
        Ok(Box::new(Frozen { rival: self.title(), width, dim, encode }))
    }
}

/// One of the generators of a seed.
fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// All networks.
#[derive(Module, Debug)]
struct Net {
    encoder: Layers,
    decoder: Layers,
    /// The logarithm of the variance of each number around what the decoder tells.
    spread: Param<Tensor<1>>,
    above: Option<Above>,
}

/// What ties z to the target.
#[derive(Module, Debug)]
struct Above {
    encoder: Layers,
    decoder: Layers,
    predictor: Layers,
}

struct Learning {
    x: Vec<f32>,
    width: usize,
    dim: usize,
    told: Columns,
    y: Heads,
    s: Heads,
    groups: Groups,
    /// The weight of the discrepancy.
    weight: f64,
    net: Net,
    best: Net,
    optimiser: ModuleOptimizer,
    noise: ChaCha8Rng,
    seed: u64,
    device: Device,
}

impl Learning {
    /// The objective on these rows.
    fn objective(
        &self,
        net: &Net,
        rows: &[usize],
        rng: &mut ChaCha8Rng,
        device: &Device,
    ) -> Tensor<1> {
        let x = pick(&self.x, self.width, rows, device);
        let first = Normal::new(net.encoder.forward(x), self.dim);
        let z = first.sample(rng);
        let given = match self.groups.is_empty() {
            true => z.clone(),
            false => Tensor::cat(vec![z.clone(), self.s.columns(rows, device)], 1),
        };
        let x = pick(&self.told.values, self.told.width(), rows, device);
        let surprise = self.told.surprise(net.decoder.forward(given), x, net.spread.val());
        let columns = self.told.width() as f32;
        let Some(above) = &net.above else {
            return (surprise + first.divergence(None)) / columns;
        };
        let y = self.y.columns(rows, device);
        let given = Tensor::cat(vec![z.clone(), y.clone()], 1);
        let second = Normal::new(above.encoder.forward(given), self.dim);
        let given = Tensor::cat(vec![second.sample(rng), y], 1);
        let prior = Normal::new(above.decoder.forward(given), self.dim);
        let bound = surprise + second.divergence(None) + first.divergence(Some(&prior));
        let kept = self.y.likelihood(&above.predictor.forward(z), rows, device);
        let loss = bound / columns + kept;
        if self.weight > 0.0 {
            loss + self.groups.discrepancy(first.mean, rows, rng) * self.weight
        } else {
            loss
        }
    }
}

impl Learner for Learning {
    fn step(&mut self, rows: &[usize], rate: f64) -> f64 {
        let device = self.device.clone();
        let mut noise = self.noise.clone();
        let objective = self.objective(&self.net, rows, &mut noise, &device);
        self.noise = noise;
        let value = f64::from(objective.clone().into_scalar::<f32>());
        let gradients = GradientsParams::from_grads(objective.backward(), &self.net);
        self.net = self.optimiser.step(rate, self.net.clone(), gradients);
        value
    }

    fn judge(&self, rows: &[usize]) -> f64 {
        let (device, net) = (Device::flex(), self.net.valid());
        // The same noise in every epoch.
        let mut noise = stream(self.seed, 2);
        mean_over(rows, |rows| self.objective(&net, rows, &mut noise, &device))
    }

    fn keep(&mut self) {
        self.best = self.net.valid();
    }
}
