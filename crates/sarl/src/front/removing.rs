//! Erasure at any strength, in a space that grows until solution and certificate agree.

use faer::{Mat, MatRef};

use super::{Front, Goal, Solution, lambdas};
use crate::Result;
use crate::encoder::complement;
use crate::moments::Covariances;
use crate::spare::Spare;
use crate::spectral::Reduced;
use crate::spectral::linalg::{congruence, eigh};
use crate::spectral::problem::Problem;
use crate::spectral::removal::Removal;

/// The most times that the space grows.
const ROUNDS: usize = 16;
/// How far the two problems may be apart, as a share of what is taken off.
const AGREE: f64 = 1e-11;
/// The same along the front, where leakage at a given λ has but half of the digits.
const AGREE_ALONG: f64 = 1e-13;
/// The share of the variance that is the rounding of both problems.
const ROUNDING: f64 = 1e-15;
/// λ at which both problems are compared along the front.
const COMPARED: usize = 33;

/// The directions that a goal needs, and its solution there.
pub(crate) fn removing(
    c: &Covariances,
    goal: &Goal,
    spare: &mut Spare,
) -> Result<(Reduced, Solution)> {
    let mut space = Removal::new(c, spare)?;
    let mut last = f64::INFINITY;
    let mut round = 0;
    loop {
        let reduced = space.reduced()?;
        let front = Front::new(&reduced, None)?;
        let solution = front.solve(goal.clone())?;
        let apart = apart(&front, &solution)?;
        let enough = AGREE * solution.point.losses.jy + ROUNDING * front.bounds.target_variance;
        let stuck = round > 4 && apart > 0.5 * last;
        if apart <= enough || stuck || space.is_whole() || round == ROUNDS {
            space.leave();
            return Ok((reduced, solution));
        }
        last = apart;
        let shifts = shifts(&reduced, space.known(), solution.subspace.as_ref())?;
        grow(&mut space, &shifts, round)?;
        round += 1;
    }
}

/// The directions that all λ need.
pub(crate) fn removing_along(c: &Covariances, spare: &mut Spare) -> Result<Reduced> {
    let mut space = Removal::new(c, spare)?;
    let mut round = 0;
    loop {
        let reduced = space.reduced()?;
        if space.is_whole() || round == ROUNDS {
            space.leave();
            return Ok(reduced);
        }
        let mut worst = (AGREE_ALONG, None);
        for lambda in lambdas(COMPARED) {
            let weight = reduced.problem.weight(lambda);
            if weight <= 0.0 || weight >= 1.0 {
                continue;
            }
            let (above, shift) = gained(&reduced.problem, weight)?;
            let (below, _) = gained(reduced.certifying(), weight)?;
            let share = (below - above) / below.max(f64::MIN_POSITIVE);
            if share > worst.0 {
                worst = (share, shift);
            }
        }
        match worst {
            (_, None) => {
                space.leave();
                return Ok(reduced);
            }
            (_, Some(shift)) => grow(&mut space, &[shift], round)?,
        }
        round += 1;
    }
}

/// The sum of the positive eigenvalues of `B(λ)`, and the largest θ that they stand for.
fn gained(problem: &Problem, weight: f64) -> Result<(f64, Option<f64>)> {
    let (values, _) = eigh(problem.b(weight).as_ref())?;
    let positive = || values.iter().copied().filter(|v| *v > 0.0);
    let unit = problem.target.total() / (1.0 - weight);
    Ok((positive().sum(), positive().next_back().map(|v| v * unit)))
}

/// How far the dual bounds of both problems are apart.
fn apart(front: &Front<'_>, solution: &Solution) -> Result<f64> {
    let Solution { goal, point, certificate, .. } = solution;
    let multipliers = certificate.multipliers.clone();
    let own = front.certify_by(&front.reduced.problem, goal, point, multipliers)?;
    Ok((own.dual_bound - certificate.dual_bound).abs())
}

/// θ of each removed direction: `(H + θI) e` is what the labels know. None where nothing else is
/// removed than what they know.
fn shifts(reduced: &Reduced, known: usize, kept: MatRef<'_, f64>) -> Result<Vec<f64>> {
    let removed = complement(kept);
    let beyond = |a: MatRef<'_, f64>| a.subrows(known, a.nrows() - known).to_owned();
    let directions = beyond(removed.as_ref());
    let images = beyond((&reduced.problem.target.a * &removed).as_ref());
    let (values, vectors) = eigh((directions.transpose() * &directions).as_ref())?;
    let large: Vec<usize> = (0..values.len()).filter(|&i| values[i] > 1e-14).collect();
    let root = Mat::from_fn(vectors.nrows(), large.len(), |i, j| {
        vectors[(i, large[j])] / values[large[j]].sqrt()
    });
    let inner = directions.transpose() * images * faer::Scale(-1.0);
    let inner = congruence(root.as_ref(), (&inner + inner.transpose()).as_ref());
    Ok(eigh(inner.as_ref())?.0.into_iter().map(|v| 0.5 * v).collect())
}

/// Adds what is missing most.
fn grow(space: &mut Removal<'_>, shifts: &[f64], round: usize) -> Result<()> {
    let mut positive: Vec<f64> = shifts.iter().copied().filter(|s| *s > 0.0).collect();
    positive.sort_by(f64::total_cmp);
    // Cheap steps first; then one after the other of the shifts, from the middle.
    if round == 0 || positive.is_empty() {
        space.step()?;
        return space.step();
    }
    let at = (positive.len() / 2 + round / 2) % positive.len();
    // Without a factor there, the powers of C must do.
    match space.shift(positive[at]) {
        Ok(()) => Ok(()),
        Err(_) => space.step(),
    }
}
