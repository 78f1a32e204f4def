//! Whole directions only: the best projection, where a corner cannot be had.
//!
//! A fractional direction needs another one that no label knows. Where there is none (the features
//! themselves are the target, say), or where the dimensions are capped, P has to be a projection
//! `G Gᵀ` of whole rank. From a start near the corner, sequential quadratic programming over the
//! subspaces: with `G⊥` the rest of the space and `G + G⊥Xᵀ` a step,
//!
//! ```text
//! tr(PA) changes by 2⟨B, X⟩ + …,   B = GᵀAG⊥          M = C − Σ μᵢAᵢ
//! X = D∘(B_C − Σ μᵢBᵢ),   D_ab = 1/(ηₐ − η_b),   2⟨Bᵢ, X⟩ = cᵢ − tr(GᵀAᵢG) for limits in use
//! ```
//!
//! with η the eigenvalues of `GᵀMG` and `G⊥ᵀMG⊥`, in whose bases this is Newton's method. What it
//! ends in meets the limits and is the best nearby; the gap to the dual bound tells the rest.

use faer::{Mat, MatRef};

use super::program::Program;
use crate::Result;
use crate::spectral::linalg::{congruence, eigh};

/// Steps at most.
const STEPS: usize = 60;
/// Steps that end in no gain at most.
const IDLE: usize = 6;
/// Sweeps over the limits of a step.
const RELAXATIONS: usize = 200;
/// The longest step, as a tangent.
const LONGEST: f64 = 0.5;

/// The programme over a space with directions that no label knows.
pub(super) fn padded(program: &Program, more: usize) -> Program {
    let size = program.size();
    let mut gain = Mat::zeros(size + more, size + more);
    gain.as_mut().submatrix_mut(0, 0, size, size).copy_from(&program.gain);
    let mut counts = program.counts.clone();
    counts.iter_mut().for_each(|c| c.counted = c.counted.padded(more));
    Program { gain, counts }
}

/// What a subspace gains, and by how much it exceeds each limit.
struct Value {
    gain: f64,
    excess: Vec<f64>,
}

impl Value {
    fn new(program: &Program, g: MatRef<'_, f64>) -> Self {
        let excess = program
            .counts
            .iter()
            .map(|c| c.counted.diagonal(g).iter().sum::<f64>() - c.most)
            .collect();
        Value { gain: program.gains(g).iter().sum(), excess }
    }

    fn fits(&self) -> bool {
        self.excess.iter().all(|e| *e <= 0.0)
    }

    fn merit(&self, weights: &[f64]) -> f64 {
        let over = self.excess.iter().zip(weights).map(|(e, w)| w * e.max(0.0));
        self.gain - over.sum::<f64>()
    }
}

/// The best subspace found from `start` that meets all limits, with its gain.
///
/// `program` asks for a little more than `loose`, so that what rounds to its limits is within
/// those of `loose`.
pub(super) fn polish(
    program: &Program,
    loose: &Program,
    start: MatRef<'_, f64>,
    multipliers: &[f64],
) -> Result<Option<(Mat<f64>, f64)>> {
    let (n, rank) = start.shape();
    let mut best: Option<(Mat<f64>, f64)> = None;
    let mut consider = |g: MatRef<'_, f64>| {
        let value = Value::new(loose, g);
        let better = best.as_ref().is_none_or(|(_, gain)| value.gain > *gain);
        if value.fits() && better {
            best = Some((g.to_owned(), value.gain));
        }
        value.fits() && better
    };
    consider(start);
    if rank == 0 || rank == n {
        return Ok(best);
    }
    let mut space = complete(start);
    let mut multipliers = multipliers.to_vec();
    let mut idle = 0;
    for _ in 0..STEPS {
        let g = space.as_ref().subcols(0, rank);
        let value = Value::new(program, g);
        let Some((step, next)) = step(program, &space, rank, &multipliers, &value)? else { break };
        multipliers = next;
        let weights: Vec<f64> = multipliers.iter().map(|m| 2.0 * m.abs() + 1e-3).collect();
        let mut length = (LONGEST / step.norm_l2()).min(1.0);
        let merit = value.merit(&weights);
        let mut moved = retract(&space, rank, &step, length);
        for _ in 0..30 {
            let g = moved.as_ref().subcols(0, rank);
            if Value::new(program, g).merit(&weights) >= merit {
                break;
            }
            length *= 0.5;
            moved = retract(&space, rank, &step, length);
        }
        space = moved;
        idle = if consider(space.as_ref().subcols(0, rank)) { 0 } else { idle + 1 };
        if idle > IDLE || step.norm_l2() < 1e-12 {
            break;
        }
    }
    Ok(best)
}

/// An orthogonal matrix that begins with `g`.
fn complete(g: MatRef<'_, f64>) -> Mat<f64> {
    let mut all = g.qr().compute_Q();
    // The signs of the first columns are those of g again.
    all.as_mut().subcols_mut(0, g.ncols()).copy_from(g);
    all
}

fn retract(space: &Mat<f64>, rank: usize, step: &Mat<f64>, length: f64) -> Mat<f64> {
    let (g, rest) = space.as_ref().split_at_col(rank);
    let moved = g + rest * step.transpose() * faer::Scale(length);
    moved.qr().compute_Q()
}

/// The Newton step and its multipliers.
fn step(
    program: &Program,
    space: &Mat<f64>,
    rank: usize,
    multipliers: &[f64],
    value: &Value,
) -> Result<Option<(Mat<f64>, Vec<f64>)>> {
    let (g, rest) = space.as_ref().split_at_col(rank);
    let net = program.net(multipliers);
    let (inner, e) = eigh(congruence(g, net.as_ref()).as_ref())?;
    let (outer, f) = eigh(congruence(rest, net.as_ref()).as_ref())?;
    let (ge, rf) = (g * &e, rest * &f);
    let size = net.norm_max().max(f64::MIN_POSITIVE);
    let scale =
        Mat::from_fn(rank, outer.len(), |a, b| 1.0 / (inner[a] - outer[b]).abs().max(1e-5 * size));
    let gain = ge.transpose() * (&program.gain * &rf);
    let counts: Vec<Mat<f64>> =
        program.counts.iter().map(|c| c.counted.between(ge.as_ref(), rf.as_ref())).collect();
    let inner_product = |a: &Mat<f64>, b: &Mat<f64>| -> f64 {
        let entries = (0..rank).flat_map(|i| (0..outer.len()).map(move |j| (i, j)));
        entries.map(|(i, j)| a[(i, j)] * scale[(i, j)] * b[(i, j)]).sum()
    };
    let limits = counts.len();
    let gram = Mat::from_fn(limits, limits, |i, l| inner_product(&counts[i], &counts[l]));
    let wanted: Vec<f64> = counts
        .iter()
        .zip(&value.excess)
        .map(|(count, excess)| inner_product(count, &gain) + 0.5 * excess)
        .collect();
    let next = complementary(&gram, &wanted)?;
    let mut slope = gain.clone();
    for (count, by) in counts.iter().zip(&next).filter(|(_, by)| **by != 0.0) {
        slope -= count * faer::Scale(*by);
    }
    let turned = Mat::from_fn(rank, outer.len(), |i, j| slope[(i, j)] * scale[(i, j)]);
    let step = &e * turned * f.transpose();
    Ok(step.is_all_finite().then_some((step, next)))
}

/// `μ ≥ 0` with `Gμ ≥ w` and one of both tight for each limit: the multipliers of the quadratic
/// problem whose limits are linear. Relaxation finds which are positive, a solve how large.
fn complementary(gram: &Mat<f64>, wanted: &[f64]) -> Result<Vec<f64>> {
    let limits = wanted.len();
    let mut found = vec![0.0; limits];
    for _ in 0..RELAXATIONS {
        let mut moved = 0.0_f64;
        for i in (0..limits).filter(|&i| gram[(i, i)] > 0.0) {
            let others: f64 =
                (0..limits).filter(|&l| l != i).map(|l| gram[(i, l)] * found[l]).sum();
            let next = ((wanted[i] - others) / gram[(i, i)]).max(0.0);
            moved = moved.max((next - found[i]).abs() / next.max(f64::MIN_POSITIVE));
            found[i] = next;
        }
        if moved < 1e-12 {
            return Ok(found);
        }
    }
    let used: Vec<usize> = (0..limits).filter(|&i| found[i] > 0.0).collect();
    let part = Mat::from_fn(used.len(), used.len(), |i, l| gram[(used[i], used[l])]);
    let right: Vec<f64> = used.iter().map(|&i| wanted[i]).collect();
    let solved = solve_symmetric(&part, &right)?;
    if solved.iter().all(|m| *m >= 0.0) {
        used.iter().zip(&solved).for_each(|(&i, m)| found[i] = *m);
    }
    Ok(found)
}

/// The least solution of a small symmetric system that may be singular.
fn solve_symmetric(a: &Mat<f64>, b: &[f64]) -> Result<Vec<f64>> {
    if b.is_empty() {
        return Ok(Vec::new());
    }
    // In units of the diagonal: limits may differ by orders of magnitude.
    let unit: Vec<f64> =
        (0..b.len()).map(|i| if a[(i, i)] > 0.0 { 1.0 / a[(i, i)].sqrt() } else { 0.0 }).collect();
    let scaled = Mat::from_fn(b.len(), b.len(), |i, j| a[(i, j)] * unit[i] * unit[j]);
    let (values, vectors) = eigh(scaled.as_ref())?;
    let right = faer::Col::from_fn(b.len(), |i| b[i] * unit[i]);
    let along = vectors.transpose() * right;
    let told = |v: f64| if v > 1e-10 { 1.0 / v } else { 0.0 };
    let solved = &vectors * faer::Col::from_fn(b.len(), |i| along[i] * told(values[i]));
    Ok((0..b.len()).map(|i| solved[i] * unit[i]).collect())
}
