//! From the centre to a corner: as few fractional directions as the limits allow.
//!
//! In the eigenvectors of P the programme is a linear one over its eigenvalues. While more of them
//! are fractional than limits are tight, a combination that no tight limit sees moves until one is
//! 0 or 1, in the direction that gains. Then rotations join in (Pataki): among f fractional
//! directions there are f(f+1)/2 symmetric changes, so at the end f(f+1)/2 is at most the number of
//! tight limits. Every step keeps all limits and loses nothing.

use faer::{Mat, MatRef};

use super::barrier::Centre;
use super::program::Program;
use crate::Result;
use crate::spectral::linalg::{eigh, pick_columns};

/// A limit with less slack than this share of itself is tight.
const TIGHT: f64 = 1e-14;
/// A change that gains less than this share of what it moves gains nothing.
const NOTHING: f64 = 1e-13;

/// Orthonormal directions and how much of each is taken.
#[derive(Clone, Debug)]
pub(super) struct Corner {
    /// Taken whole.
    pub(super) whole: Mat<f64>,
    /// Taken in part.
    pub(super) partial: Mat<f64>,
    /// How much of each.
    pub(super) shares: Vec<f64>,
}

/// The work in progress: weights in [0, 1] on directions.
struct Work<'a> {
    program: &'a Program,
    /// What decides between changes that gain nothing: less of it is better.
    aside: &'a Mat<f64>,
    directions: Mat<f64>,
    weights: Vec<f64>,
    /// What is left of each limit.
    slack: Vec<f64>,
}

/// The corner that the centre leads to; `aside` decides where nothing is gained.
pub(super) fn purify(program: &Program, centre: &Centre, aside: &Mat<f64>) -> Result<Corner> {
    let (directions, weights) = (centre.vectors.clone(), centre.weights.clone());
    let mut work = Work { program, aside, directions, weights, slack: Vec::new() };
    work.settle_weights();
    work.settle_rotations()?;
    Ok(work.corner())
}

impl Work<'_> {
    fn free(&self) -> Vec<usize> {
        (0..self.weights.len())
            .filter(|&j| self.weights[j] > 0.0 && self.weights[j] < 1.0)
            .collect()
    }

    fn tight(&self) -> Vec<usize> {
        let tight = |i: &usize| self.slack[*i] <= TIGHT * self.program.counts[*i].most.abs();
        (0..self.slack.len()).filter(tight).collect()
    }

    /// The linear programme over the weights.
    fn settle_weights(&mut self) {
        let v = self.directions.as_ref();
        let gains = self.program.gains(v);
        let aside = diagonal(self.aside, v);
        let counts: Vec<Vec<f64>> =
            self.program.counts.iter().map(|c| c.counted.diagonal(v)).collect();
        let used = |c: &Vec<f64>| c.iter().zip(&self.weights).map(|(c, w)| c * w).sum::<f64>();
        self.slack =
            counts.iter().zip(&self.program.counts).map(|(c, l)| l.most - used(c)).collect();
        let limits = counts.len();
        let largest = gains.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        for _ in 0..self.weights.len() + limits {
            let (free, tight) = (self.free(), self.tight());
            if free.len() <= tight.len() {
                break;
            }
            // Those that are hardest to call last, so that they stay.
            let mut order = free;
            let call = |j: usize| (self.weights[j] - 0.5).abs();
            order.sort_by(|&a, &b| call(b).total_cmp(&call(a)));
            order.truncate(tight.len() + 1);
            let seen = Mat::from_fn(tight.len(), order.len(), |i, j| counts[tight[i]][order[j]]);
            let mut change = unseen(seen.as_ref());
            let along = |of: &[f64]| order.iter().zip(&change).map(|(&j, d)| of[j] * d).sum();
            let size = |of: &[f64]| {
                order.iter().zip(&change).map(|(&j, d)| (of[j] * d).abs()).sum::<f64>()
            };
            let (gain, more): (f64, f64) = (along(&gains), along(&aside));
            let backward = match gain.abs() > NOTHING * (size(&gains) + largest) {
                true => gain < 0.0,
                false => more >= 0.0,
            };
            if backward {
                change.iter_mut().for_each(|d| *d = -*d);
            }
            self.shift(&order, &change, &counts);
        }
    }

    /// Moves weights as far as they and the slack limits go.
    fn shift(&mut self, order: &[usize], change: &[f64], counts: &[Vec<f64>]) {
        let tight = self.tight();
        let mut length = f64::INFINITY;
        let mut hit = None;
        for (&j, &d) in order.iter().zip(change).filter(|(_, d)| **d != 0.0) {
            let room = if d > 0.0 { 1.0 - self.weights[j] } else { self.weights[j] };
            if room / d.abs() < length {
                length = room / d.abs();
                hit = Some((j, if d > 0.0 { 1.0 } else { 0.0 }));
            }
        }
        let mut reached = None;
        for i in (0..counts.len()).filter(|i| !tight.contains(i)) {
            let used: f64 = order.iter().zip(change).map(|(&j, d)| counts[i][j] * d).sum();
            if used > 0.0 && self.slack[i] / used < length {
                length = self.slack[i] / used;
                (hit, reached) = (None, Some(i));
            }
        }
        if !length.is_finite() {
            return;
        }
        for (&j, &d) in order.iter().zip(change) {
            self.weights[j] = (self.weights[j] + length * d).clamp(0.0, 1.0);
        }
        for (i, slack) in self.slack.iter_mut().enumerate() {
            let used: f64 = order.iter().zip(change).map(|(&j, d)| counts[i][j] * d).sum();
            *slack -= length * used;
        }
        if let Some((j, end)) = hit {
            self.weights[j] = end;
        }
        if let Some(i) = reached {
            self.slack[i] = 0.0;
        }
    }

    /// Symmetric changes among the fractional directions.
    fn settle_rotations(&mut self) -> Result<()> {
        for _ in 0..self.free().len() {
            let (free, tight) = (self.free(), self.tight());
            let f = free.len();
            if f < 2 || f * (f + 1) / 2 <= tight.len() {
                break;
            }
            let u = pick_columns(self.directions.as_ref(), &free);
            let flat = |a: &Mat<f64>| -> Vec<f64> {
                pairs(f).map(|(i, j)| if i == j { a[(i, j)] } else { 2.0 * a[(i, j)] }).collect()
            };
            let counts: Vec<Vec<f64>> = tight
                .iter()
                .map(|&i| flat(&self.program.counts[i].counted.within(u.as_ref())))
                .collect();
            let unknown = f * (f + 1) / 2;
            let seen = Mat::from_fn(tight.len(), unknown, |i, j| counts[i][j]);
            let change = unseen(seen.as_ref());
            let gains = flat(&(u.transpose() * (&self.program.gain * &u)));
            let gain: f64 = gains.iter().zip(&change).map(|(g, d)| g * d).sum();
            let sign = if gain < 0.0 { -1.0 } else { 1.0 };
            let mut delta = Mat::zeros(f, f);
            for ((i, j), d) in pairs(f).zip(&change) {
                delta[(i, j)] = sign * d;
                delta[(j, i)] = sign * d;
            }
            self.rotate(&free, u.as_ref(), delta)?;
        }
        Ok(())
    }

    /// Adds as much of `delta` to the fractional part as keeps it between 0 and I.
    fn rotate(&mut self, free: &[usize], u: MatRef<'_, f64>, delta: Mat<f64>) -> Result<()> {
        let theta: Vec<f64> = free.iter().map(|&j| self.weights[j]).collect();
        let steepest = |room: &dyn Fn(usize) -> f64, sign: f64| -> Result<f64> {
            let scaled = Mat::from_fn(free.len(), free.len(), |i, j| {
                sign * delta[(i, j)] / (room(i) * room(j)).sqrt()
            });
            Ok(eigh(scaled.as_ref())?.0.last().copied().unwrap_or(0.0))
        };
        let down = steepest(&|i| theta[i], -1.0)?;
        let up = steepest(&|i| 1.0 - theta[i], 1.0)?;
        let mut length = 1.0 / down.max(up);
        let tight = self.tight();
        let used = |i: usize| -> f64 {
            let within = self.program.counts[i].counted.within(u);
            let all = (0..free.len()).flat_map(|a| (0..free.len()).map(move |b| (a, b)));
            all.map(|(a, b)| within[(a, b)] * delta[(a, b)]).sum()
        };
        let used: Vec<f64> =
            (0..self.slack.len()).map(|i| if tight.contains(&i) { 0.0 } else { used(i) }).collect();
        for (slack, used) in self.slack.iter().zip(&used).filter(|(_, used)| **used > 0.0) {
            length = length.min(slack / used);
        }
        self.slack.iter_mut().zip(&used).for_each(|(slack, used)| *slack -= length * used);
        let moved = Mat::from_fn(free.len(), free.len(), |i, j| {
            length * delta[(i, j)] + if i == j { theta[i] } else { 0.0 }
        });
        let (values, vectors) = eigh(moved.as_ref())?;
        let turned = u * vectors;
        for (k, &j) in free.iter().enumerate() {
            self.weights[j] = snapped(values[k]);
            self.directions.col_mut(j).copy_from(turned.col(k));
        }
        Ok(())
    }

    fn corner(&self) -> Corner {
        let whole: Vec<usize> =
            (0..self.weights.len()).filter(|&j| self.weights[j] >= 1.0).collect();
        let partial = self.free();
        Corner {
            whole: pick_columns(self.directions.as_ref(), &whole),
            partial: pick_columns(self.directions.as_ref(), &partial),
            shares: partial.iter().map(|&j| self.weights[j]).collect(),
        }
    }
}

/// A weight that a step of full length has brought to its end, up to rounding.
fn snapped(weight: f64) -> f64 {
    match weight {
        w if w <= 1e-14 => 0.0,
        w if w >= 1.0 - 1e-14 => 1.0,
        w => w,
    }
}

fn pairs(f: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..f).flat_map(move |i| (0..=i).map(move |j| (i, j)))
}

fn diagonal(a: &Mat<f64>, v: MatRef<'_, f64>) -> Vec<f64> {
    let product = a * v;
    (0..v.ncols()).map(|j| v.col(j).transpose() * product.col(j)).collect()
}

/// A vector that all rows of a wide matrix are orthogonal to, of largest entry 1: elimination, with
/// each row in units of its own.
fn unseen(rows: MatRef<'_, f64>) -> Vec<f64> {
    let (height, width) = rows.shape();
    let mut a = rows.to_owned();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    for i in 0..height {
        let open = |j: &usize| pivots.iter().all(|(_, pivot)| pivot != j);
        let best = (0..width).filter(open);
        let best = best.max_by(|&j, &k| a[(i, j)].abs().total_cmp(&a[(i, k)].abs()));
        let told = 1e-14 * rows.row(i).norm_max();
        let Some(pivot) = best.filter(|&j| a[(i, j)].abs() > told) else { continue };
        for k in (0..height).filter(|&k| k != i) {
            let share = a[(k, pivot)] / a[(i, pivot)];
            for j in 0..width {
                let off = share * a[(i, j)];
                a[(k, j)] -= off;
            }
            a[(k, pivot)] = 0.0;
        }
        pivots.push((i, pivot));
    }
    let mut change = vec![0.0; width];
    let open = (0..width).find(|j| pivots.iter().all(|(_, pivot)| pivot != j));
    let Some(open) = open else { return change };
    change[open] = 1.0;
    for (i, pivot) in pivots {
        change[pivot] = -a[(i, open)] / a[(i, pivot)];
    }
    let largest = change.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
    change.iter_mut().for_each(|d| *d /= largest);
    change
}
