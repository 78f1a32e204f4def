//! The centre of the programme, by Newton's method on its dual.
//!
//! With a logarithmic barrier of weight ε on `0 ≺ P ≺ I` and on the multipliers, the dual is smooth
//! and convex in as many numbers as there are limits:
//!
//! ```text
//! Φ(μ) = Σⱼ f(xⱼ) + μᵀc − ε Σ log μᵢ         x = eigenvalues of C − Σ μᵢAᵢ,  V their vectors
//! f(x) = max_{0<p<1} x p + ε log p + ε log(1−p),           P = V diag(p) Vᵀ
//! ∂Φ/∂μᵢ = cᵢ − tr(PAᵢ) − ε/μᵢ
//! ∂²Φ/∂μᵢ∂μₗ = Σⱼₖ p[xⱼ,xₖ] (VᵀAᵢV)ⱼₖ (VᵀAₗV)ⱼₖ + (ε/μᵢ²)[i = l]        (Daleckii–Krein)
//! ```
//!
//! At the minimum P is strictly feasible, `tr(PAᵢ) = cᵢ − ε/μᵢ`, and gains at most `ε(2t + m)` less
//! than any other. ε falls until that is nothing, or until doubles are too coarse for μ: where an
//! eigenvalue is near 0, P turns with μ/ε. So the last P is not that of μ, but that of μ and the
//! Newton step from there, to first order: it meets the limits to the last bit all the same.

use faer::Mat;

use super::program::{Counted, Program};
use crate::spectral::linalg::eigh;
use crate::{Error, Result};

/// ε falls by this factor from stage to stage.
const FALL: f64 = 0.05;
/// The gap at which to stop, of the size of the gain.
const GAP: f64 = 1e-12;
/// ε below this share of the multipliers cannot be told from their rounding.
const COARSE: f64 = 4e-15;
/// Newton steps for one ε. The barrier is self-concordant: a stage takes about ten.
const STEPS: usize = 80;
/// Multipliers of unit problems beyond this belong to limits that nothing meets but with no room.
const ENDLESS: f64 = 1e14;
/// A squared Newton decrement, over ε, under which a point is the centre.
const CENTRED: f64 = 1e-3;

/// A strictly feasible P, nearly the best, and the multipliers that prove it.
#[derive(Clone, Debug)]
pub(super) struct Centre {
    pub(super) multipliers: Vec<f64>,
    pub(super) vectors: Mat<f64>,
    /// The eigenvalues of P.
    pub(super) weights: Vec<f64>,
}

/// A programme scaled to unit size, with the factors that lead back.
struct Unit {
    program: Program,
    gain: f64,
    counts: Vec<f64>,
}

impl Unit {
    fn new(program: &Program) -> Self {
        let size = program.size();
        let trace: f64 = (0..size).map(|j| program.gain[(j, j)]).sum();
        let gain = if trace == 0.0 { 1.0 } else { trace.abs() };
        let mut unit = program.clone();
        unit.gain *= faer::Scale(1.0 / gain);
        let counts: Vec<f64> = program.counts.iter().map(|c| c.counted.size(size)).collect();
        for (count, by) in unit.counts.iter_mut().zip(&counts) {
            count.most /= by;
            // The identity is left alone: its multiplier is on the scale of the gain already.
            match &mut count.counted {
                Counted::Columns { factor, .. } => *factor *= faer::Scale(1.0 / by.sqrt()),
                Counted::Dimensions => count.most *= by,
            }
        }
        let counts = program.counts.iter().zip(counts).map(|(c, by)| match c.counted {
            Counted::Columns { .. } => by,
            Counted::Dimensions => 1.0,
        });
        Unit { counts: counts.collect(), program: unit, gain }
    }

    fn multipliers(&self, unit: &[f64]) -> Vec<f64> {
        unit.iter().zip(&self.counts).map(|(m, by)| m * self.gain / by).collect()
    }
}

/// The centre, or nothing if no P meets the limits.
pub(super) fn centre(program: &Program) -> Result<Option<Centre>> {
    let unit = Unit::new(program);
    let (size, limits) = (program.size(), program.counts.len());
    let last = GAP / (2 * size + limits) as f64;
    let mut at = State::new(&unit.program, vec![1.0; limits], 1.0)?;
    let mut epsilon = 1.0_f64;
    loop {
        let largest = at.multipliers.iter().fold(1.0_f64, |most, m| most.max(*m));
        let coarse = COARSE * largest;
        match converge(&unit.program, at, epsilon)? {
            Some(found) => at = found,
            None => return Ok(None),
        }
        if epsilon <= last.max(coarse) {
            break;
        }
        epsilon = (FALL * epsilon).max(last.max(coarse));
        at = State::new(&unit.program, at.multipliers, epsilon)?;
    }
    let multipliers = unit.multipliers(&at.multipliers);
    let (weights, vectors) = corrected(&unit.program, &at, epsilon)?;
    Ok(Some(Centre { multipliers, vectors, weights }))
}

/// The eigenvalues and vectors of `P + P′[−Σ δμᵢAᵢ]`, with δμ the Newton step.
fn corrected(program: &Program, at: &State, epsilon: f64) -> Result<(Vec<f64>, Mat<f64>)> {
    let (step, _) = at.step(epsilon)?;
    let size = program.size();
    let mut turned = Mat::zeros(size, size);
    for ((count, multiplier), share) in program.counts.iter().zip(&at.multipliers).zip(&step) {
        turned += count.counted.within(at.vectors.as_ref()) * faer::Scale(multiplier * share);
    }
    let x = &at.values;
    let moved = Mat::from_fn(size, size, |j, k| {
        let own = if j == k { at.weights[j] } else { 0.0 };
        own - divided_difference(x[j], x[k], epsilon) * turned[(j, k)]
    });
    let (weights, vectors) = eigh(moved.as_ref())?;
    let weights = weights.into_iter().map(|w| w.clamp(0.0, 1.0)).collect();
    Ok((weights, &at.vectors * vectors))
}

/// Φ with its derivatives at one μ.
struct State {
    multipliers: Vec<f64>,
    values: Vec<f64>,
    vectors: Mat<f64>,
    weights: Vec<f64>,
    value: f64,
    /// What weak duality allows here.
    bound: f64,
    gradient: Vec<f64>,
    hessian: Mat<f64>,
}

impl State {
    fn new(program: &Program, multipliers: Vec<f64>, epsilon: f64) -> Result<Self> {
        let (x, vectors) = eigh(program.net(&multipliers).as_ref())?;
        let weights: Vec<f64> = x.iter().map(|&x| weight(x, epsilon)).collect();
        let counts = &program.counts;
        let within: Vec<Mat<f64>> =
            counts.iter().map(|c| c.counted.within(vectors.as_ref())).collect();
        let limits = counts.len();
        let mut value: f64 = x.iter().map(|&x| smoothed(x, epsilon)).sum();
        let mut bound: f64 = x.iter().map(|x| x.max(0.0)).sum();
        let mut gradient = Vec::with_capacity(limits);
        for (i, count) in counts.iter().enumerate() {
            let counted: f64 = weights.iter().enumerate().map(|(j, p)| p * within[i][(j, j)]).sum();
            gradient.push(count.most - counted - epsilon / multipliers[i]);
            value += multipliers[i] * count.most - epsilon * multipliers[i].ln();
            bound += multipliers[i] * count.most;
        }
        let mut hessian = Mat::zeros(limits, limits);
        for k in 0..x.len() {
            for j in 0..x.len() {
                let slope = divided_difference(x[j], x[k], epsilon);
                for i in 0..limits {
                    for l in 0..=i {
                        hessian[(i, l)] += slope * within[i][(j, k)] * within[l][(j, k)];
                    }
                }
            }
        }
        for i in 0..limits {
            hessian[(i, i)] += epsilon / (multipliers[i] * multipliers[i]);
        }
        let values = x;
        Ok(State { multipliers, values, vectors, weights, value, bound, gradient, hessian })
    }

    /// The Newton step, as shares of the multipliers, and the squared decrement.
    ///
    /// In these coordinates the barrier adds ε to every eigenvalue of the Hessian; where two
    /// labels are copies of each other, nothing else is in one of them.
    fn step(&self, epsilon: f64) -> Result<(Vec<f64>, f64)> {
        let m = &self.multipliers;
        let scaled = Mat::from_fn(m.len(), m.len(), |i, l| {
            let (i, l) = (i.max(l), i.min(l));
            m[i] * m[l] * self.hessian[(i, l)]
        });
        let (values, vectors) = eigh(scaled.as_ref())?;
        let least = epsilon.max(1e-15 * values.last().copied().unwrap_or(0.0));
        let slope: Vec<f64> = m.iter().zip(&self.gradient).map(|(m, g)| m * g).collect();
        let slope = vectors.transpose() * faer::ColRef::from_slice(&slope);
        let along = faer::Col::from_fn(m.len(), |i| -slope[i] / values[i].max(least));
        let decrement = (0..m.len()).map(|i| -slope[i] * along[i]).sum();
        Ok(((&vectors * along).iter().copied().collect(), decrement))
    }
}

/// Newton's method at one ε; nothing if the dual has no minimum, because no P meets the limits.
fn converge(program: &Program, mut at: State, epsilon: f64) -> Result<Option<State>> {
    let least = program.least() - 1e-9;
    for _ in 0..STEPS {
        if at.bound < least || at.multipliers.iter().any(|m| *m > ENDLESS) {
            return Ok(None);
        }
        let (step, decrement) = at.step(epsilon)?;
        if decrement <= CENTRED * epsilon {
            return Ok(Some(at));
        }
        let back = step.iter().fold(0.0_f64, |most, s| most.max(-s));
        let mut length = if back > 0.9 { 0.9 / back } else { 1.0 };
        let mut next = moved(program, &at, &step, length, epsilon)?;
        // Near the centre a full step is safe, and Φ too coarse to tell.
        while decrement > 0.1 * epsilon
            && length > 1e-12
            && next.value > at.value - 0.1 * length * decrement
        {
            length *= 0.5;
            next = moved(program, &at, &step, length, epsilon)?;
        }
        at = next;
    }
    // Rounding may keep the decrement from falling further; a point within the reach of Newton's
    // method is strictly feasible all the same.
    let (_, decrement) = at.step(epsilon)?;
    match decrement <= 0.25 * epsilon {
        true => Ok(Some(at)),
        false => Err(Error::NoConvergence { what: "search for the multipliers of the limits" }),
    }
}

fn moved(program: &Program, at: &State, step: &[f64], length: f64, epsilon: f64) -> Result<State> {
    let moved = at.multipliers.iter().zip(step).map(|(m, s)| m * (1.0 + length * s));
    State::new(program, moved.collect(), epsilon)
}

/// `r` in `p − ½ = (x/4) / (ε + r)`.
fn root(x: f64, epsilon: f64) -> f64 {
    epsilon.hypot(0.5 * x)
}

/// The p that maximises `x p + ε log p + ε log(1−p)`.
fn weight(x: f64, epsilon: f64) -> f64 {
    let (upper, lower) = parts(x, epsilon);
    if x >= 0.0 { upper } else { lower }
}

/// The larger of p and 1−p, and the smaller one without cancellation: their product is
/// `ε / (2(ε + r))`.
fn parts(x: f64, epsilon: f64) -> (f64, f64) {
    let r = root(x, epsilon);
    let larger = 0.5 + 0.25 * x.abs() / (epsilon + r);
    (larger, epsilon / (2.0 * (epsilon + r)) / larger)
}

/// `f(x)`.
fn smoothed(x: f64, epsilon: f64) -> f64 {
    let (larger, smaller) = parts(x, epsilon);
    let p = if x >= 0.0 { larger } else { smaller };
    x * p + epsilon * (larger.ln() + smaller.ln())
}

/// `(p(a) − p(b)) / (a − b)`, also where a and b are near or equal.
fn divided_difference(a: f64, b: f64, epsilon: f64) -> f64 {
    let (ra, rb) = (root(a, epsilon), root(b, epsilon));
    let below = 4.0 * (epsilon + ra) * (epsilon + rb);
    if a * b < 0.0 {
        return (epsilon + (a * rb - b * ra) / (a - b)) / below;
    }
    let across = a * rb + b * ra;
    let share = if across == 0.0 { epsilon } else { epsilon * epsilon * (a + b) / across };
    (epsilon + share) / below
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn weights_are_stationary_and_slopes_are_differences() {
        for epsilon in [1.0, 1e-3, 1e-9] {
            for x in [-1.0, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 1.0] {
                let p = weight(x, epsilon);
                let (larger, smaller) = parts(x, epsilon);
                assert!((larger + smaller - 1.0).abs() < 1e-15);
                let q = if x >= 0.0 { smaller } else { larger };
                let slope = x + epsilon / p - epsilon / q;
                assert!(
                    slope.abs() < 1e-9 * (x.abs() + epsilon / p + epsilon / q),
                    "{x} {epsilon}"
                );
                for other in [-0.5, -3e-9, 1e-12, 2e-9, 0.3] {
                    let plain = (weight(other, epsilon) - p) / (other - x);
                    let stable = divided_difference(x, other, epsilon);
                    let rounding = 1e-15 / (other - x).abs();
                    assert!((plain - stable).abs() <= 1e-6 * stable + rounding, "{x} {other}");
                }
            }
        }
    }
}
