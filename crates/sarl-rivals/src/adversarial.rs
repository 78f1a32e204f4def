//! Encoders trained against an adversary by simultaneous gradient steps.
//!
//! With `Jy` the loss of the predictor and `Js` that of the adversary, both on z,
//!
//! ```text
//! encoder and predictor:  min (1−λ) Jy + λ H        adversary:  min Js
//! ```
//!
//! | | H | losses | encoder | predictor | adversary |
//! |---|---|---|---|---|---|
//! | SSGD | −Js | squares | linear | linear | linear |
//! | ML-ARL | −Js | cross-entropy | network | linear | network |
//! | MaxEnt-ARL | −entropy of the adversary's answer | cross-entropy | network | linear | network |
//!
//! In every step the encoder moves against the present adversary and the adversary against the
//! encoding before that move. λ is the weight of hiding.
//!
//! What the papers state is kept: the losses, one step each, Adam, learning rates that fall along a
//! cosine, normalised batches before z (MaxEnt-ARL), logistic regression on z and an adversary of
//! two layers with 64 units. Chosen here, because the papers differ between data sets or are silent:
//! one hidden layer of 64 units in the encoder, four dimensions of z for each column of the target
//! (8 to 100), 256 rows a step, gradients clipped, and that the encoder of the best epoch on a tenth
//! of the rows is taken, from the second half of the training on, when the game has settled.

use burn::grad_clipping::GradientClippingConfig;
use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_eval::layers::{Layers, SCORED, floats};

use crate::error::{Error, Result};
use crate::heads::Heads;
use crate::rival::{Data, Encode, Fitting, Rival, check, check_width};
use crate::train::{Learner, Plan, train};

/// The players and their losses.
#[derive(Clone, Copy, PartialEq)]
enum Game {
    /// Squares, zero-sum.
    Squares,
    /// Likelihoods, zero-sum.
    Likelihood,
    /// The encoder wants the adversary to be undecided.
    Entropy,
}

/// An encoder trained against an adversary.
pub struct Adversarial {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    game: Game,
    hiding: f64,
}

/// Simultaneous stochastic gradient descent on the linear problem that we solve in closed form.
pub const SSGD: Adversarial = Adversarial {
    name: "ssgd",
    title: "SSGD",
    description: "linear encoder, predictor and adversary by simultaneous gradient descent on squares",
    game: Game::Squares,
    hiding: 0.5,
};
/// Xie, Dai, Du, Hovy, Neubig 2017: Controllable invariance through adversarial feature learning.
pub const ML_ARL: Adversarial = Adversarial {
    name: "ml-arl",
    title: "ML-ARL",
    description: "networks in a zero-sum game for the adversary's likelihood (Xie et al. 2017)",
    game: Game::Likelihood,
    hiding: 0.5,
};
/// Roy, Boddeti 2019: Mitigating information leakage in image representations.
pub const MAXENT_ARL: Adversarial = Adversarial {
    name: "maxent-arl",
    title: "MaxEnt-ARL",
    description: "networks, the encoder maximising the adversary's entropy (Roy, Boddeti 2019)",
    game: Game::Entropy,
    hiding: 0.5,
};

/// Hidden units of encoder and adversary.
const HIDDEN: usize = 64;
/// Dimensions of z for each column of the target, at least and at most.
const DIM: (usize, usize, usize) = (4, 8, 100);

fn plan(game: Game) -> Plan {
    Plan {
        batch: 256,
        steps: (1500, 6000),
        epochs: 40,
        rate: if game == Game::Squares { 3e-3 } else { 3e-3 },
        apart: 0.1,
        patience: 10,
        settle: 0.5,
    }
}

impl Rival for Adversarial {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn hiding(&self) -> Option<f64> {
        Some(self.hiding)
    }

    fn is_random(&self) -> bool {
        true
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let rival = self.title;
        if targets.is_empty() {
            return Err(Error::Unfit { rival, reason: "needs a target to keep" });
        }
        let numbers = sensitives.iter().any(|s| s.classes().is_none());
        if self.game == Game::Entropy && numbers {
            let reason = "hides classes only: a number has no entropy to maximise";
            return Err(Error::Unfit { rival, reason });
        }
        Ok(())
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let mut rng = ChaCha8Rng::seed_from_u64(how.seed);
        let device = Device::flex().autodiff();
        let (y, s) = (Heads::new(data.targets), Heads::new(data.sensitives));
        let width = data.x.ncols();
        let dim = (DIM.0 * y.width()).clamp(DIM.1, DIM.2);
        let linear = self.game == Game::Squares;
        let hidden: &[usize] = if linear { &[] } else { &[HIDDEN] };
        let player = Player {
            encoder: Layers::new(width, hidden, dim, &mut rng, &device),
            norm: BatchNormConfig::new(dim).init(&device),
            predictor: Layers::new(dim, &[], y.width(), &mut rng, &device),
        };
        let adversary = Layers::new(dim, hidden, s.width(), &mut rng, &device);
        let clip = || {
            AdamWConfig::new()
                .with_weight_decay(1e-4)
                .with_grad_clipping(Some(GradientClippingConfig::Norm(1.0)))
                .init()
        };
        let mut contest = Contest {
            game: self.game,
            hiding: how.hiding,
            x: floats(data.x),
            width,
            y,
            s,
            best: player.valid(),
            player,
            adversary,
            optimisers: (clip(), clip()),
            device,
        };
        train(self.name, &mut contest, data.x.nrows(), &plan(self.game), how, &mut rng)?;
        Ok(Box::new(Trained { name: self.name, player: contest.best, width, dim }))
    }
}

/// Encoder and predictor, which play together.
#[derive(Module, Debug)]
struct Player {
    encoder: Layers,
    norm: BatchNorm,
    predictor: Layers,
}

impl Player {
    fn encode(&self, x: Tensor<2>) -> Tensor<2> {
        self.norm.forward(self.encoder.forward(x))
    }
}

struct Contest {
    game: Game,
    hiding: f64,
    x: Vec<f32>,
    width: usize,
    y: Heads,
    s: Heads,
    player: Player,
    adversary: Layers,
    best: Player,
    optimisers: (ModuleOptimizer, ModuleOptimizer),
    device: Device,
}

impl Contest {
    fn rows(&self, rows: &[usize], device: &Device) -> Tensor<2> {
        let x: Vec<f32> =
            rows.iter().flat_map(|&i| &self.x[i * self.width..][..self.width]).copied().collect();
        Tensor::from_data(TensorData::new(x, [rows.len(), self.width]), device)
    }

    /// What a player loses who tells these attributes.
    fn loss(&self, heads: &Heads, told: &Tensor<2>, rows: &[usize], device: &Device) -> Tensor<1> {
        match self.game {
            Game::Squares => heads.squares(told, rows, device),
            _ => heads.likelihood(told, rows, device),
        }
    }

    /// What encoder and predictor lose.
    fn objective(
        &self,
        told: (&Tensor<2>, &Tensor<2>),
        rows: &[usize],
        device: &Device,
    ) -> Tensor<1> {
        let kept = self.loss(&self.y, told.0, rows, device);
        let hidden = match self.game {
            Game::Entropy => self.s.certainty(told.1),
            _ => -self.loss(&self.s, told.1, rows, device),
        };
        kept * (1.0 - self.hiding) + hidden * self.hiding
    }
}

impl Learner for Contest {
    fn step(&mut self, rows: &[usize], rate: f64) -> f64 {
        let device = self.device.clone();
        let z = self.player.encode(self.rows(rows, &device));
        let told = (self.player.predictor.forward(z.clone()), self.adversary.forward(z.clone()));
        let objective = self.objective((&told.0, &told.1), rows, &device);
        let value = f64::from(objective.clone().into_scalar::<f32>());
        let guessed = self.adversary.forward(z.detach());
        let caught = self.loss(&self.s, &guessed, rows, &device);
        let gradients = GradientsParams::from_grads(objective.backward(), &self.player);
        self.player = self.optimisers.0.step(rate, self.player.clone(), gradients);
        let gradients = GradientsParams::from_grads(caught.backward(), &self.adversary);
        self.adversary = self.optimisers.1.step(rate, self.adversary.clone(), gradients);
        value
    }

    fn judge(&self, rows: &[usize]) -> f64 {
        let device = Device::flex();
        let (player, adversary) = (self.player.valid(), self.adversary.valid());
        let sum = rows.chunks(SCORED).map(|rows| {
            let z = player.encode(self.rows(rows, &device));
            let told = (player.predictor.forward(z.clone()), adversary.forward(z));
            let mean = self.objective((&told.0, &told.1), rows, &device);
            f64::from(mean.into_scalar::<f32>()) * rows.len() as f64
        });
        sum.sum::<f64>() / rows.len() as f64
    }

    fn keep(&mut self) {
        self.best = self.player.valid();
    }
}

/// The encoder of the best epoch.
struct Trained {
    name: &'static str,
    player: Player,
    width: usize,
    dim: usize,
}

impl Encode for Trained {
    fn dim(&self) -> usize {
        self.dim
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.width)?;
        let device = Device::flex();
        crate::train::by_blocks(self.name, x, self.dim, |x| self.player.encode(x), &device)
    }
}
