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
//! Kept from the papers, or from the code that the authors of MaxEnt-ARL published: the losses and
//! their weights, encoder and adversary stepping in turn, learning rates that fall along a cosine,
//! normalised batches, logistic regression on z, and for faces one layer onto 100 dimensions. Chosen
//! here, because the networks there differ from data set to data set:
//!
//! - An adversary of two layers with 64 units: what our paper tests every encoder with.
//! - One hidden layer of 64 units in the encoder and as many dimensions of z as the target needs: one
//!   less than it has classes. More dimensions keep no more, and nothing makes the game empty them.
//! - With fewer than ten rows for each feature the encoder is linear, with 100 dimensions, no rows
//!   apart, and decay that erases what the start left in directions in which no row varies.
//! - The adversary takes two steps for each of the encoder, ten times as long (ten on few rows, ninety
//!   times): where it lags behind, the encoder learns to fool it and nobody else.
//! - 256 rows a step, gradients clipped to norm 1, and the encoder of the epoch that does best on a
//!   tenth of the rows, in the second half of the training, when the game has settled.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;
use sarl_nets::{AdamW, Layers, Matrix, Norm, Tape, Var, Weights};

use crate::error::Result;
use crate::heads::Heads;
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_labels};
use crate::train::{Frozen, Learner, Plan, mean_over, train};

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
    about: About,
    game: Game,
}

/// Simultaneous stochastic gradient descent on the linear problem that we solve in closed form.
pub const SSGD: Adversarial = Adversarial {
    about: About {
        name: "ssgd",
        title: "SSGD",
        description: "linear encoder, predictor and adversary by simultaneous gradient descent on squares",
        hiding: Some(0.1),
        is_random: true,
    },
    game: Game::Squares,
};
/// Xie, Dai, Du, Hovy, Neubig 2017: Controllable invariance through adversarial feature learning.
pub const ML_ARL: Adversarial = Adversarial {
    about: About {
        name: "ml-arl",
        title: "ML-ARL",
        description: "networks in a zero-sum game for the adversary's likelihood (Xie et al. 2017)",
        hiding: Some(0.3),
        is_random: true,
    },
    game: Game::Likelihood,
};
/// Roy, Boddeti 2019: Mitigating information leakage in image representations.
pub const MAXENT_ARL: Adversarial = Adversarial {
    about: About {
        name: "maxent-arl",
        title: "MaxEnt-ARL",
        description: "networks, the encoder maximising the adversary's entropy (Roy, Boddeti 2019)",
        hiding: Some(0.7),
        is_random: true,
    },
    game: Game::Entropy,
};

/// Hidden units of encoder and adversary.
const HIDDEN: usize = 64;
/// Fewer rows than this for each feature are few.
const FEW: usize = 10;
/// Dimensions of a linear encoder on few rows.
const FACES: usize = 100;

/// How a game is played.
struct Rules {
    plan: Plan,
    /// Decay of the weights.
    decay: f32,
    /// Steps of the adversary for each of the encoder, and how much longer they are.
    steps: usize,
    longer: f64,
    /// The encoder has a hidden layer.
    hidden: bool,
    dim: usize,
}

impl Rules {
    fn new(game: Game, data: &Data<'_>) -> Self {
        let plan = Plan {
            batch: 256,
            parts: 8,
            steps: (600, 4500),
            epochs: 100,
            rate: 1e-3,
            apart: 0.1,
            patience: 10,
            settle: 0.5,
        };
        let needed = |t: &Labels| t.classes().map_or(1, |c| c.saturating_sub(1).max(1));
        let dim = data.targets.iter().map(needed).sum();
        let few = data.x.nrows() < FEW * data.x.ncols();
        match (game, few) {
            (Game::Squares, _) => {
                let plan = Plan { rate: 1e-2, ..plan };
                Rules { plan, decay: 1e-4, steps: 1, longer: 3.0, hidden: false, dim }
            }
            (_, false) => Rules { plan, decay: 1e-4, steps: 2, longer: 10.0, hidden: true, dim },
            (_, true) => {
                let plan = Plan { parts: 12, steps: (3600, 3600), rate: 1e-4, apart: 0.0, ..plan };
                Rules { plan, decay: 30.0, steps: 10, longer: 90.0, hidden: false, dim: FACES }
            }
        }
    }
}

impl Rival for Adversarial {
    fn about(&self) -> About {
        self.about
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let reason = "hides classes only: a number has no entropy to maximise";
        let reason = (self.game == Game::Entropy).then_some(reason);
        check_labels(self, targets, sensitives, reason)
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let mut rng = ChaCha8Rng::seed_from_u64(how.seed);
        let (y, s) = (Heads::new(data.targets), Heads::new(data.sensitives));
        let width = data.x.ncols();
        let rules = Rules::new(self.game, data);
        let dim = rules.dim;
        let inside: &[usize] = if rules.hidden { &[HIDDEN] } else { &[] };
        let against: &[usize] = if self.game == Game::Squares { &[] } else { &[HIDDEN] };
        let mut weights = Weights::default();
        let player = Player {
            encoder: Layers::new(&mut weights, width, inside, dim, &mut rng),
            norm: Norm::new(&mut weights, dim),
            predictor: Layers::new(&mut weights, dim, &[], y.width(), &mut rng),
            weights,
        };
        let mut weights = Weights::default();
        let adversary = Layers::new(&mut weights, dim, against, s.width(), &mut rng);
        let adversary = Adversary { layers: adversary, weights };
        let optimiser = || AdamW::new(rules.decay, Some(1.0));
        let plan = rules.plan;
        let mut contest = Contest {
            game: self.game,
            hiding: how.hiding as f32,
            x: Matrix::rounded(data.x),
            y,
            s,
            best: player.clone(),
            player,
            adversary,
            optimisers: (optimiser(), optimiser()),
            rules,
        };
        train(self.title(), &mut contest, data.x.nrows(), &plan, how, &mut rng)?;
        let player = contest.best;
        Ok(Box::new(Frozen { width, dim, encode: frozen(player) }))
    }
}

/// Encoder and predictor, which play together.
#[derive(Clone)]
struct Player {
    encoder: Layers,
    norm: Norm,
    predictor: Layers,
    weights: Weights,
}

impl Player {
    /// z of these rows, without learning.
    fn encode<'t>(&self, weights: &[Var<'t>], x: Var<'t>) -> Var<'t> {
        self.norm.apply(weights, self.encoder.forward(weights, x))
    }
}

fn frozen(player: Player) -> impl for<'t> Fn(Var<'t>, &'t Tape) -> Var<'t> + Send + Sync {
    move |x, tape| player.encode(&player.weights.hold(tape), x)
}

struct Adversary {
    layers: Layers,
    weights: Weights,
}

struct Contest {
    game: Game,
    hiding: f32,
    x: Matrix,
    y: Heads,
    s: Heads,
    player: Player,
    adversary: Adversary,
    best: Player,
    optimisers: (AdamW, AdamW),
    rules: Rules,
}

impl Contest {
    /// What a player loses who tells these attributes.
    fn loss<'t>(&self, heads: &Heads, told: Var<'t>, rows: &[usize], tape: &'t Tape) -> Var<'t> {
        match self.game {
            Game::Squares => heads.squares(told, rows, tape),
            _ => heads.likelihood(told, rows, tape),
        }
    }

    /// What encoder and predictor lose by this z of these rows.
    fn objective<'t>(
        &self,
        weights: &[Var<'t>],
        z: Var<'t>,
        rows: &[usize],
        tape: &'t Tape,
    ) -> Var<'t> {
        let told = self.player.predictor.forward(weights, z);
        let guessed = self.adversary.layers.forward(&self.adversary.weights.hold(tape), z);
        let kept = self.loss(&self.y, told, rows, tape);
        let hidden = match self.game {
            Game::Entropy => self.s.certainty(guessed, tape),
            _ => -self.loss(&self.s, guessed, rows, tape),
        };
        kept * (1.0 - self.hiding) + hidden * self.hiding
    }
}

impl Learner for Contest {
    fn step(&mut self, rows: &[usize], rate: f64) -> f64 {
        let tape = Tape::default();
        let learnt = self.player.weights.learn(&tape);
        let inside = self.player.encoder.forward(&learnt, tape.constant(self.x.pick(rows)));
        // Strong decay would shrink z as well.
        let held = self.player.weights.hold(&tape);
        let scale = if self.rules.decay < 1.0 { &learnt } else { &held };
        let z = self.player.norm.learn(scale, inside);
        let objective = self.objective(&learnt, z, rows, &tape);
        let gradients = objective.gradients(&learnt);
        self.optimisers.0.step(&mut self.player.weights, &gradients, rate);
        let before = z.value().clone();
        for _ in 0..self.rules.steps {
            let tape = Tape::default();
            let learnt = self.adversary.weights.learn(&tape);
            let guessed = self.adversary.layers.forward(&learnt, tape.constant(before.clone()));
            let gradients = self.loss(&self.s, guessed, rows, &tape).gradients(&learnt);
            let rate = rate * self.rules.longer;
            self.optimisers.1.step(&mut self.adversary.weights, &gradients, rate);
        }
        f64::from(objective.number())
    }

    fn judge(&self, rows: &[usize]) -> f64 {
        mean_over(rows, |rows, tape| {
            let held = self.player.weights.hold(tape);
            let z = self.player.encode(&held, tape.constant(self.x.pick(rows)));
            self.objective(&held, z, rows, tape)
        })
    }

    fn keep(&mut self) {
        self.best = self.player.clone();
    }
}
