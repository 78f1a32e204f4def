//! Where the search for whole directions begins.

use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::program::{Counted, Program, padded_rows};
use super::purify::Corner;
use crate::Result;
use crate::spectral::linalg::{beside, congruence, eigh, pick_columns};

/// Problems up to this size are searched from random subspaces too.
const SMALL: usize = 24;

/// The ranks to try.
pub(super) struct Ranks {
    /// The rank of what the corner takes whole.
    pub(super) low: usize,
    /// The same with what it takes in part.
    pub(super) high: usize,
    pub(super) most: usize,
}

impl Ranks {
    /// Tries the ranks of the corner, then more and fewer as long as that is better.
    pub(super) fn climb(&self, mut better: impl FnMut(usize) -> Result<bool>) -> Result<()> {
        for rank in self.low..=self.high {
            better(rank)?;
        }
        for rank in (0..self.low).rev() {
            if !better(rank)? {
                break;
            }
        }
        for rank in self.high + 1..=self.most {
            if !better(rank)? {
                break;
            }
        }
        Ok(())
    }
}

/// An orthonormal basis whose first columns, of any rank, are a subspace to start from. The first
/// is that of the corner, the others are what gains most, what counts least, and chance.
pub(super) fn start_from(
    number: usize,
    program: &Program,
    corner: &Corner,
    multipliers: &[f64],
) -> Result<Option<Mat<f64>>> {
    let n = program.size();
    let all = Mat::identity(n, n);
    Ok(match number {
        0 => Some(from_corner(program, corner, multipliers)?),
        1 => Some(best_first(all, &program.gain)?),
        2 => Some(best_first(all, &program.net(&heavy(program)))?),
        _ if n <= SMALL => Some(random(n, number as u64)),
        _ => None,
    })
}

/// Multipliers under which next to nothing but the counts matters.
fn heavy(program: &Program) -> Vec<f64> {
    let trace: f64 = (0..program.size()).map(|j| program.gain[(j, j)].abs()).sum();
    let counts = program.counts.iter();
    let heavy = |counted: &Counted| 1e3 * trace / counted.size(program.size());
    counts.map(|c| heavy(&c.counted)).collect()
}

/// The span of `g` in descending order of `by`.
fn best_first(g: Mat<f64>, by: &Mat<f64>) -> Result<Mat<f64>> {
    let (values, vectors) = eigh(congruence(g.as_ref(), by.as_ref()).as_ref())?;
    let order: Vec<usize> = (0..values.len()).rev().collect();
    Ok(&g * pick_columns(vectors.as_ref(), &order))
}

fn from_corner(program: &Program, corner: &Corner, multipliers: &[f64]) -> Result<Mat<f64>> {
    let net = program.net(multipliers);
    let spare = program.size() - corner.whole.nrows();
    let wide = |g: MatRef<'_, f64>| padded_rows(g, spare);
    let mut order: Vec<usize> = (0..corner.shares.len()).collect();
    order.sort_by(|&a, &b| corner.shares[b].total_cmp(&corner.shares[a]));
    let partial = pick_columns(corner.partial.as_ref(), &order);
    let whole = best_first(wide(corner.whole.as_ref()), &net)?;
    let taken = beside(whole.as_ref(), wide(partial.as_ref()).as_ref());
    let (n, used) = taken.shape();
    let rest = match used {
        0 => Mat::identity(n, n),
        _ => taken.qr().compute_Q().subcols(used, n - used).to_owned(),
    };
    Ok(beside(taken.as_ref(), best_first(rest, &net)?.as_ref()))
}

fn random(n: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let drawn: Mat<f64> = Mat::from_fn(n, n, |_, _| StandardNormal.sample(&mut rng));
    drawn.qr().compute_Q()
}
