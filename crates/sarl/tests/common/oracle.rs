//! The optimum of the constrained problem by a way of its own, a problem with known jumps, and what
//! the eigenvalues of dense matrices say.

use faer::{Mat, Side};
use sarl::{Front, Goal};

use super::dense::{Data, Dense, Values, column_space, eigenvalues};
use super::{normal, rng};

/// 4 coarse classes of 2 fine ones each, all alike: `Ay = 2 As` on the coarse space, so three
/// eigenvalues of `B` cross at λ = 2/3. `blur` makes the pairs unlike, `noise` adds features that
/// neither label knows.
pub fn nested(blur: f64, noise: usize) -> Data {
    let (rows, mut rng) = (480, rng(30));
    let fine: Vec<u32> = (0..rows as u32).map(|i| i % 8).collect();
    let extra = normal(&mut rng, rows, 8 + noise);
    let x = Mat::from_fn(rows, 8 + noise, |i, j| {
        let hot = f64::from(u8::from(fine[i] as usize == j));
        if j < 8 { hot + blur * extra[(i, j)] } else { extra[(i, j)] }
    });
    let coarse = fine.iter().map(|f| f / 2).collect();
    Data { x, y: vec![Values::Class(coarse)], s: vec![Values::Class(fine)] }
}

/// The true optimum, by a way of its own: over exactly i directions the reachable pairs are
/// convex, so Lagrange's bound is attained,
/// `u_i = min_μ [the i largest eigenvalues of (gain − μ cost), summed, + μ limit]`,
/// and the best of at most r directions is the largest `u_i`. Directions that neither label knows
/// (dilution) are zero rows and columns here and need no special care.
fn optimum(gain: &Mat<f64>, cost: &Mat<f64>, limit: f64, cap: usize) -> f64 {
    let least = eigenvalues(cost);
    let feasible = |i: &usize| least[..*i].iter().sum::<f64>() <= limit;
    let ranks = (0..=cap.min(gain.nrows())).filter(feasible);
    ranks
        .map(|i| smallest(|lambda| lagrange(gain, cost, limit, i, lambda)))
        .fold(f64::MIN, f64::max)
}

fn lagrange(gain: &Mat<f64>, cost: &Mat<f64>, limit: f64, rank: usize, lambda: f64) -> f64 {
    let mixed = gain * faer::Scale(1.0 - lambda) - cost * faer::Scale(lambda);
    let top: f64 = eigenvalues(&mixed).iter().rev().take(rank).sum();
    (top + lambda * limit) / (1.0 - lambda)
}

/// The minimum of a function with one valley on [0, 1), by golden sections.
fn smallest(f: impl Fn(f64) -> f64) -> f64 {
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..72 {
        if fa < fb {
            (high, b, fb) = (b, a, fa);
            a = high - golden * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + golden * (high - low);
            fb = f(b);
        }
    }
    fa.min(fb).min(f(0.0))
}

/// `Ay` and `As` on the span of both labels, with one more direction if there is one.
fn compressed(dense: &Dense) -> (Mat<f64>, Mat<f64>) {
    let (p, q) = (dense.y.ncols(), dense.s.ncols());
    let both = Mat::from_fn(dense.size(), p + q, |i, j| {
        if j < p { dense.y[(i, j)] } else { dense.s[(i, j - p)] }
    });
    let basis = column_space(both.as_ref());
    let t = basis.ncols();
    let size = if dense.size() > t { t + 1 } else { t };
    let inner = |half: &Mat<f64>| {
        let k = basis.transpose() * half;
        let a = &k * k.transpose();
        Mat::from_fn(size, size, |i, j| if i < t && j < t { a[(i, j)] } else { 0.0 })
    };
    (inner(&dense.y), inner(&dense.s))
}

/// What is maximised at the optimum: the explained target, or less of the sensitive attribute.
pub fn best_possible(dense: &Dense, front: &Front<'_>, goal: &Goal, cap: usize) -> f64 {
    let (ay, a_s) = compressed(dense);
    let bounds = front.bounds();
    match goal {
        Goal::Utility(share) => {
            let wanted = share * bounds.attainable;
            let negated = |a: Mat<f64>| a * faer::Scale(-1.0);
            -dense.ts - optimum(&negated(a_s), &negated(ay), -wanted, cap)
        }
        Goal::Leakage(share) => optimum(&ay, &a_s, share * dense.ts, cap) - dense.ty,
        Goal::Alpha(alpha) => optimum(&ay, &a_s, dense.ts - alpha, cap) - dense.ty,
        _ => unreachable!("not a constraint"),
    }
}

/// The null space (or, with `range`, the range) of `A = K Kᵀ`, from its eigenvectors.
pub fn part_of(k: &Mat<f64>, range: bool) -> Mat<f64> {
    let a = k * k.transpose();
    let eigen = a.self_adjoint_eigen(Side::Lower).unwrap();
    let (values, vectors) = (eigen.S().column_vector(), eigen.U());
    let most = values.iter().fold(0.0_f64, |m, v| m.max(*v));
    let picked: Vec<usize> =
        (0..values.nrows()).filter(|&i| (values[i] > 1e-12 * most) == range).collect();
    Mat::from_fn(a.nrows(), picked.len(), |i, j| vectors[(i, picked[j])])
}

/// Negative eigenvalues of the full `B`, those of size zero not counted.
pub fn inertia(dense: &Dense, lambda: f64) -> usize {
    let values = eigenvalues(&dense.b(lambda));
    let size = (dense.ay().norm_l2()).min(dense.a_s().norm_l2());
    values.iter().filter(|&&v| v < -1e-13 * size).count()
}
