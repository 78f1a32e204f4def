//! LFR: soft memberships of prototypes that the groups have alike.
//!
//! ```text
//! M_nk = softmax_k(−Σᵢ αᵢ (x_ni − v_ki)²)       x̂_n = Σ_k M_nk v_k       ŷ_n = Σ_k M_nk w_k
//! minimise  Az Σ_k |mean of M_k in one group − in the other|  +  Ax Lx(x̂)  +  Ay Ly(ŷ)
//! ```
//!
//! Zemel, Wu, Swersky, Pitassi, Dwork 2013, Learning fair representations. z are the memberships M,
//! the paper's distribution of Z given x: what ŷ and x̂ are made from. As in the paper everything is
//! found by L-BFGS: prototypes v, weights α of the features and answers w, from a drawn start.
//!
//! Chosen here:
//! - one α for all, where the paper has one for each group: nobody tells the encoder the group;
//! - K = 10 prototypes, or as many as the target has classes, up to 100;
//! - Lx are squares beside those of the mean, so that neither the number of the features nor their
//!   scale matters (Ax = 0.01); Ly is the mean cross-entropy, w_k being probabilities by a softmax,
//!   or the mean squares of a number of variance 1 (Ay = 1);
//! - of several groups each is compared with all rows, the sum divided by groups − 1, which for two
//!   groups is the paper's difference; several attributes add up;
//! - Az = 10 λ²: the square because small weights are where the trade-off happens;
//! - differences of memberships below 0.01 count by their square, as |t| has no gradient at 0;
//! - prototypes start as noise of the scale of the features, α so that memberships are rather hard,
//!   and w apart from each other. Nothing but the means of M is alike in the groups: hard
//!   memberships have nothing else to show, while soft ones hide s from linear adversaries only;
//! - Ly and Lx of a tenth of the rows, kept apart, say when to stop. Parity is that of the rows
//!   fitted: of few rows it is noise.

mod objective;

use argmin::core::{Executor, TerminationReason, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl_eval::{Labels, Objective};

use self::objective::{Rows, Shape, Weights, columns, memberships};
use crate::error::{Error, Result};
use crate::heads::standard;
use crate::rival::{
    About, Data, Encode, Fitting, Rival, check, check_labels, check_width, kept_apart,
};

/// Learning fair representations.
pub struct Lfr;

/// K, at least and at most.
const PROTOTYPES: (usize, usize) = (10, 100);
/// Az at λ = 1, and Ax, beside Ay = 1.
const PARITY: f64 = 10.0;
const RECONSTRUCTION: f64 = 0.01;
/// The spread over rows of the scores of a prototype at the start.
const HARDNESS: f64 = 1.8;
/// Steps of L-BFGS between two looks at the rows apart; looks at most, and without progress.
const STEPS: u64 = 5;
const LOOKS: usize = 60;
const PATIENCE: usize = 10;
/// Vectors that L-BFGS remembers.
const MEMORY: usize = 10;

impl Rival for Lfr {
    fn about(&self) -> About {
        About {
            name: "lfr",
            title: "LFR",
            description: "memberships of prototypes that every group has alike (Zemel et al. 2013)",
            hiding: Some(0.7),
            is_random: true,
        }
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let reason = "hides classes only: a number has no groups to be alike";
        check_labels(self, targets, sensitives, Some(reason))
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let mut rng = ChaCha8Rng::seed_from_u64(how.seed);
        let (rows, features) = data.x.shape();
        let [order, apart] = kept_apart(rows, &mut rng);
        let mean: Vec<f64> = (0..features)
            .map(|j| order.iter().map(|&i| data.x[(i, j)]).sum::<f64>() / order.len() as f64)
            .collect();
        let seen = part(data, &order, &mean);
        let judged = part(data, &apart, &mean);
        let told = data.targets.iter().map(columns).sum::<usize>();
        let shape = Shape { features, prototypes: told.clamp(PROTOTYPES.0, PROTOTYPES.1) };
        let parity = PARITY * how.hiding * how.hiding;
        let weights = Weights { parity, reconstruction: RECONSTRUCTION, prediction: 1.0 };
        let start = start(&seen, shape, &mut rng);
        let point = minimise(&seen, &judged, shape, &weights, start, how)?;
        let (a, b) = shape.scores(&point);
        Ok(Box::new(Memberships { mean, a, b }))
    }
}

/// Some of the rows, about the mean.
fn part(data: &Data<'_>, rows: &[usize], mean: &[f64]) -> Rows {
    let x = Mat::from_fn(rows.len(), mean.len(), |i, j| data.x[(rows[i], j)] - mean[j]);
    let variance = (x.squared_norm_l2() / rows.len() as f64).max(f64::MIN_POSITIVE);
    let scaled = |label: &Labels| match label {
        Labels::Numbers(values) => Labels::Numbers(standard(values)).select(rows),
        classes => classes.select(rows),
    };
    let targets = data.targets.iter().map(scaled).collect();
    let sensitives = data.sensitives.iter().map(|l| l.select(rows)).collect();
    Rows { x, targets, sensitives, variance }
}

/// Noise, with the same α for every feature: `HARDNESS² = 4 α² Σ variance²`.
fn start(rows: &Rows, shape: Shape, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let n = rows.x.nrows() as f64;
    let spreads: Vec<f64> = rows.x.col_iter().map(|c| (c.squared_norm_l2() / n).sqrt()).collect();
    let size = spreads.iter().map(|s| s.powi(4)).sum::<f64>().sqrt();
    let alpha = HARDNESS / (2.0 * size.max(f64::MIN_POSITIVE));
    let mut point = vec![alpha.ln(); shape.features];
    let mut noise = || -> f64 { StandardNormal.sample(rng) };
    for _ in 0..shape.prototypes {
        point.extend(spreads.iter().map(|spread| spread * noise()));
    }
    let answers: usize = rows.targets.iter().map(|t| shape.prototypes * columns(t)).sum();
    point.extend((0..answers).map(|_| noise()));
    point
}

/// L-BFGS, as far as rows apart see progress.
fn minimise(
    seen: &Rows,
    judged: &Rows,
    shape: Shape,
    weights: &Weights,
    start: Vec<f64>,
    how: &Fitting<'_>,
) -> Result<Vec<f64>> {
    let search = || {
        let look = move |point: &[f64]| {
            let (losses, gradient) = seen.look(shape, weights, point);
            match weights.total(&losses) {
                loss if loss.is_finite() => Ok((loss, gradient)),
                _ => Err(failed("the loss is not finite").into()),
            }
        };
        Objective::new(look, how.stop)
    };
    let fresh = |point: Vec<f64>| {
        let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY);
        Executor::new(search(), solver).configure(|s| s.param(point).max_iters(STEPS))
    };
    let mut best = (f64::INFINITY, start.clone(), 0);
    let mut executor = fresh(start);
    for look in 1..=LOOKS {
        let run = executor.run();
        if (how.stop)() {
            return Err(Error::Interrupted);
        }
        let run = run.map_err(|e| failed(&e.to_string()))?;
        let (solver, mut state) = (run.solver, run.state);
        let point = state.best_param.clone().ok_or_else(|| failed("no step was taken"))?;
        let (mut losses, _) = judged.look(shape, weights, &point);
        losses.parity = seen.look(shape, weights, &point).0.parity;
        let score = weights.total(&losses);
        if score < best.0 {
            best = (score, point.clone(), look);
        }
        if look - best.2 >= PATIENCE {
            break;
        }
        executor = match &state.termination_status {
            TerminationStatus::Terminated(TerminationReason::MaxItersReached) => {
                state.termination_status = TerminationStatus::NotTerminated;
                state.max_iters += STEPS;
                Executor::new(search(), solver).configure(|_| state)
            }
            // No step along a direction that memory led to: once more along the gradient.
            TerminationStatus::Terminated(TerminationReason::SolverExit(_)) if state.iter > 1 => {
                fresh(point)
            }
            _ => break,
        };
    }
    match best.0.is_finite() {
        true => Ok(best.1),
        false => Err(Error::Diverged { rival: Lfr.title(), step: 0 }),
    }
}

fn failed(reason: &str) -> Error {
    Error::Failed { rival: Lfr.title(), reason: reason.to_owned() }
}

/// `softmax(XA + b)`.
struct Memberships {
    mean: Vec<f64>,
    a: Mat<f64>,
    b: Vec<f64>,
}

impl Encode for Memberships {
    fn dim(&self) -> usize {
        self.b.len()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.mean.len())?;
        let x = Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i, j)] - self.mean[j]);
        Ok(memberships((x * &self.a).as_ref(), &self.b))
    }
}

#[cfg(test)]
mod tests;
