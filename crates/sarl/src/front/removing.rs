//! Erasure at any strength, in a space that grows until solution and certificate agree.

use faer::{Mat, MatRef};

use super::{Front, Goal, Solution, lambdas};
use crate::Result;
use crate::encoder::complement;
use crate::moments::Covariances;
use crate::spare::Spare;
use crate::spectral::Reduced;
use crate::spectral::linalg::{congruence, eigh};
use crate::spectral::removal::Removal;
use crate::spectral::secular::Secular;

/// The most times that the space grows.
const ROUNDS: usize = 16;
/// The share of the variance that is the rounding of both problems.
const ROUNDING: f64 = 1e-15;
/// λ at which both problems are compared along the front.
const COMPARED: usize = 101;
/// Powers of `C` on both sides before both problems are first compared, and when more are added.
const BEGIN: usize = 3;
const STEPS: usize = 2;
/// The most of them at a time.
const MOST_STEPS: usize = 10;
/// How many times nearer each power must have brought both problems for more of them.
const FAST: f64 = 2.0;
/// How often both problems may come no nearer.
const MOST_SLOW: usize = 4;

/// How far the two problems may be apart, as a share of what is taken off. Leakage at a given λ has but half
/// of the digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accuracy {
    goal: f64,
    along: f64,
}

/// That of what is stored, with its certificate.
pub(crate) const STORED: Accuracy = Accuracy { goal: 1e-11, along: 1e-13 };
/// That of held-out losses, whose spread between folds is many times larger.
pub(super) const HELD_OUT: Accuracy = Accuracy { goal: 1e-10, along: 1e-10 };

/// How far the two problems are apart, and a θ of the directions that bring them nearer.
struct Apart {
    share: f64,
    shift: Option<f64>,
}

/// What a space grows by, where there is a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// One θ is all that is missing: that costs a factor.
    Shifts,
    /// Many are: powers of `C` cost products, as long as they do.
    Powers,
}

/// The directions that a goal needs, and its solution there.
pub(crate) fn removing(
    c: &Covariances,
    goal: &Goal,
    accuracy: Accuracy,
    spare: &mut Spare,
) -> Result<(Reduced, Solution)> {
    grown(c, (accuracy.goal, Growth::Shifts), spare, |reduced, known, round| {
        let front = Front::new(reduced, None)?;
        let solution = front.solve(goal.clone())?;
        let rounding = ROUNDING * front.bounds.target_variance / accuracy.goal;
        let size = (solution.point.losses.jy + rounding).max(f64::MIN_POSITIVE);
        let share = apart(&front, &solution)? / size;
        let shifts = shifts(reduced, known, solution.subspace.as_ref())?;
        let mut positive: Vec<f64> = shifts.into_iter().filter(|s| *s > 0.0).collect();
        positive.sort_by(f64::total_cmp);
        // One after the other, from the middle.
        let at = (positive.len() / 2 + round / 2) % positive.len().max(1);
        Ok((Apart { share, shift: positive.get(at).copied() }, solution))
    })
}

/// The directions that all λ need.
pub(crate) fn removing_along(
    c: &Covariances,
    accuracy: Accuracy,
    spare: &mut Spare,
) -> Result<Reduced> {
    let compared = |reduced: &Reduced, _: usize, _: usize| Ok((furthest(reduced)?, ()));
    Ok(grown(c, (accuracy.along, Growth::Powers), spare, compared)?.0)
}

/// A space that grows until both problems are no further apart than that share, with what was found of
/// it last.
fn grown<T>(
    c: &Covariances,
    (enough, growth): (f64, Growth),
    spare: &mut Spare,
    compare: impl Fn(&Reduced, usize, usize) -> Result<(Apart, T)>,
) -> Result<(Reduced, T)> {
    let mut space = Removal::new(c, spare)?;
    space.steps(BEGIN)?;
    let (mut last, mut steps, mut slow) = (f64::INFINITY, 0, 0);
    for round in 1.. {
        let reduced = space.reduced()?;
        let (Apart { share, shift }, found) = compare(&reduced, space.known(), round)?;
        if share <= enough || space.is_whole() || slow == MOST_SLOW || round == ROUNDS {
            space.leave();
            return Ok((reduced, found));
        }
        let (size, rate) = (space.size(), last / share);
        let each = rate.ln() / steps.max(1) as f64;
        if growth == Growth::Powers && each > FAST.ln() {
            // As many as are missing.
            let missing = ((share / enough).ln() / each).ceil() as usize;
            steps = missing.clamp(STEPS, MOST_STEPS);
            space.steps(steps)?;
        } else {
            steps = STEPS;
            grow(&mut space, shift)?;
        }
        slow = if rate < 2.0 { slow + 1 } else { 0 };
        slow = if space.size() == size { MOST_SLOW } else { slow };
        last = share;
    }
    Err(crate::Error::Unstable)
}

/// The largest difference of both problems along the front, as a share of what is gained there,
/// and the largest θ of the directions that go there.
fn furthest(reduced: &Reduced) -> Result<Apart> {
    let (above, below) = (&reduced.problem, reduced.certifying());
    let (above, below) = (Secular::new(above)?, Secular::new(below)?);
    let mut worst = Apart { share: 0.0, shift: None };
    for lambda in lambdas(COMPARED) {
        let weight = reduced.problem.weight(lambda);
        if weight <= 0.0 || weight >= 1.0 {
            continue;
        }
        let (gained, most) = (above.positive(weight)?.0, below.positive(weight)?.0);
        let most: f64 = most.iter().sum();
        let share = (most - gained.iter().sum::<f64>()) / most.max(f64::MIN_POSITIVE);
        if share > worst.share {
            let unit = reduced.problem.target.total() / (1.0 - weight);
            worst = Apart { share, shift: gained.first().map(|beta| beta * unit) };
        }
    }
    Ok(worst)
}

/// Adds the directions of a shift, or more powers of `C` where that adds none.
fn grow(space: &mut Removal<'_>, shift: Option<f64>) -> Result<()> {
    let size = space.size();
    // Without a factor there, the powers of C must do.
    let shifted = shift.map(|shift| space.shift(shift));
    match shifted {
        Some(Ok(())) if space.size() > size => Ok(()),
        _ => space.steps(STEPS),
    }
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
