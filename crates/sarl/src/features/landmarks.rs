//! Landmarks by blocked randomly pivoted Cholesky.
//!
//! With landmarks `u_1..u_m` and `K_mm = L Lᵀ`, `φ(x) = L⁻¹ [k(u_1,x) … k(u_m,x)]` is the
//! Nyström feature map. Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2023) draws each
//! landmark with probability proportional to what the ones before leave unexplained of it, `d_i =
//! k(x_i,x_i) − ‖φ(x_i)‖²`. Landmarks are proposed in blocks and each is accepted with probability
//! (its `d` now) / (its `d` when proposed), which gives the same law as one at a time (Epperly,
//! Tropp, Webber 2024). The relative trace residual `Σd / Σk(x_i,x_i)` says when to stop.
//!
//! Cost `O(N m (m + d))` for N candidates; memory `N m`.

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::kernel::{Kernel, Points};
use crate::engine::{Candidates, Engine, MOST_PICKED};
use crate::spectral::linalg::solve_lower;
use crate::{Error, Result};

/// How landmarks are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// Randomly pivoted Cholesky.
    Adaptive,
    /// Uniformly at random: the paper's Nyström.
    Uniform,
    /// Every point that adds anything, the least explained first: the exact kernel method.
    Exact,
}

/// How many landmarks, and how they are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandmarkOptions {
    /// The way.
    pub choice: Choice,
    /// No more than this many; ignored for [`Choice::Exact`].
    pub cap: usize,
    /// Stop when the relative trace residual falls under this; ignored for [`Choice::Exact`].
    pub tolerance: f64,
    /// The same seed gives the same landmarks.
    pub seed: u64,
}

impl Default for LandmarkOptions {
    fn default() -> Self {
        LandmarkOptions { choice: Choice::Adaptive, cap: 1000, tolerance: 1e-8, seed: 0 }
    }
}

/// A pivot under this share of its point's `k(x,x)` is rounding, or so near to it that its
/// feature could not be computed again to six digits.
const PIVOT: f64 = 1e-12;
/// Proposals per block.
const BLOCK: usize = MOST_PICKED;
/// Room for all landmarks is taken at the start where it is no more than so many bytes.
const AT_ONCE: u64 = 256 << 20;

/// Which candidates became landmarks, and their factor.
pub(super) struct Landmarks {
    pub(super) picked: Vec<usize>,
    /// `L`, m × m, of the kernel matrix over the landmarks in order.
    pub(super) factor: Mat<f64>,
    /// The length of each row of `L⁻¹`, where it is known.
    pub(super) inverse_rows: Option<Vec<f64>>,
    /// The relative trace residual over the candidates.
    pub(super) residual: f64,
}

pub(super) fn choose(
    kernel: Kernel,
    x: MatRef<'_, f64>,
    options: &LandmarkOptions,
    stop: &dyn Fn() -> bool,
    engine: Option<&dyn Engine>,
) -> Result<Landmarks> {
    let limits = match options.choice {
        Choice::Exact => (x.nrows(), 0.0),
        _ => (options.cap.min(x.nrows()), options.tolerance),
    };
    if limits.0 == 0 {
        let expected = "expected at least 1, and a row to take it from";
        return Err(Error::Argument { name: "the number of landmarks", value: 0.0, expected });
    }
    if options.choice != Choice::Exact && !(0.0..1.0).contains(&options.tolerance) {
        let (name, value) = ("the tolerance of landmarks", options.tolerance);
        return Err(Error::Argument { name, value, expected: "expected 0 or more, and under 1" });
    }
    let device = match engine.map(|engine| (engine, engine.candidates(kernel, x, limits.0))) {
        None => None,
        Some((engine, Err(_))) if engine.is_optional() => None,
        Some((_, device)) => device?,
    };
    let mut state = State::new(kernel, x, limits, device);
    if !state.diagonal.iter().sum::<f64>().is_finite() {
        return Err(Error::TooLarge { what: "kernel values" });
    }
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let goes_on = |state: &State<'_>| -> Result<bool> {
        let more = !stop() && state.wants_more();
        if more {
            state.check_memory()?;
        }
        Ok(more)
    };
    match options.choice {
        Choice::Adaptive => while goes_on(&state)? && state.adaptive_block(&mut rng)? {},
        Choice::Exact => while goes_on(&state)? && state.greedy_block()? {},
        Choice::Uniform => {
            let order = shuffled(x.nrows(), &mut rng);
            for block in order.chunks(BLOCK) {
                if !goes_on(&state)? {
                    break;
                }
                state.try_block(block, |_, _| true)?;
            }
        }
    }
    if stop() {
        return Err(Error::Interrupted);
    }
    state.finish()
}

struct State<'a> {
    kernel: Kernel,
    x: MatRef<'a, f64>,
    /// The same, from the first landmark on that the processor takes.
    points: Option<Points>,
    cap: usize,
    tolerance: f64,
    /// `k(x_i, x_i)`.
    diagonal: Vec<f64>,
    /// What is left of it.
    left: Vec<f64>,
    picked: Vec<usize>,
    /// `φ(x_i)` so far, candidates × landmarks. The room for them doubles, where it is not there from the start.
    columns: Mat<f64>,
    /// How many columns there is room for.
    room: usize,
    /// Where they are on a device instead.
    device: Option<Box<dyn Candidates>>,
}

impl<'a> State<'a> {
    fn new(
        kernel: Kernel,
        x: MatRef<'a, f64>,
        (cap, tolerance): (usize, f64),
        device: Option<Box<dyn Candidates>>,
    ) -> Self {
        let diagonal = kernel.diagonal(x);
        let (here, all) = (device.is_none(), bytes(x.nrows(), cap));
        let fits = all <= AT_ONCE && sarl_memory::check(all).is_ok();
        let room = if here && fits { cap } else { 0 };
        let mut columns = Mat::with_capacity(x.nrows(), room);
        columns.resize_with(x.nrows(), 0, |_, _| 0.0);
        State {
            kernel,
            x,
            points: None,
            cap,
            tolerance,
            left: diagonal.clone(),
            diagonal,
            picked: vec![],
            columns,
            room,
            device,
        }
    }

    fn residual(&self) -> f64 {
        self.left.iter().sum::<f64>() / self.diagonal.iter().sum::<f64>()
    }

    fn wants_more(&self) -> bool {
        self.picked.len() < self.cap && self.residual() > self.tolerance
    }

    /// Draws a block in proportion to what is left and accepts by rejection.
    fn adaptive_block(&mut self, rng: &mut ChaCha8Rng) -> Result<bool> {
        // What rounding left of a large value would be drawn for ever.
        let real = |(left, d): (&f64, &f64)| if *left > PIVOT * d { *left } else { 0.0 };
        let sums: Vec<f64> = self
            .left
            .iter()
            .zip(&self.diagonal)
            .map(real)
            .scan(0.0, |sum, left| {
                *sum += left;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0.0);
        if total <= 0.0 {
            return Ok(false);
        }
        let mut block: Vec<usize> = Vec::with_capacity(BLOCK);
        for _ in 0..BLOCK.min(self.cap - self.picked.len()) {
            let draw: f64 = rng.random::<f64>() * total;
            block.push(sums.partition_point(|&s| s <= draw).min(sums.len() - 1));
        }
        let mut seen = std::collections::HashSet::new();
        block.retain(|&i| seen.insert(i) && self.left[i] > PIVOT * self.diagonal[i]);
        let before = self.picked.len();
        self.try_block(&block, |now, proposed| rng.random::<f64>() * proposed < now)?;
        if self.picked.len() == before {
            // The first of a block is taken unless it is rounding only: so were all of these.
            block.iter().for_each(|&i| self.left[i] = 0.0);
        }
        Ok(true)
    }

    /// The points with most left, deterministically.
    fn greedy_block(&mut self) -> Result<bool> {
        let mut order: Vec<usize> = (0..self.x.nrows()).collect();
        let rank = |i: &usize| std::cmp::Reverse(FloatOrder(self.left[*i]));
        let size = BLOCK.min(order.len());
        if size < order.len() {
            order.select_nth_unstable_by_key(size, rank);
        }
        order.truncate(size);
        order.sort_unstable_by_key(|i| (rank(i), *i));
        let before = self.picked.len();
        self.try_block(&order, |now, proposed| now > 0.5 * proposed || now == proposed)?;
        Ok(self.picked.len() > before)
    }

    /// Adds those of `block` that `accept` takes, given what is left of each now and what was
    /// when the block was proposed.
    fn try_block(
        &mut self,
        block: &[usize],
        mut accept: impl FnMut(f64, f64) -> bool,
    ) -> Result<()> {
        let have = self.picked.len();
        let points = Mat::from_fn(block.len(), self.x.ncols(), |i, j| self.x[(block[i], j)]);
        let mut k = self.kernel.block(points.as_ref(), points.as_ref());
        let f = self.known(block)?;
        k -= &f * f.transpose();
        let proposed: Vec<f64> = (0..block.len()).map(|i| k[(i, i)]).collect();
        let mut kept: Vec<usize> = Vec::new();
        // Cholesky of the accepted rows, eliminating as it goes.
        for i in 0..block.len() {
            let now = k[(i, i)];
            let room = have + kept.len() < self.cap;
            let real = now > PIVOT * self.diagonal[block[i]];
            if !(room && real && accept(now, proposed[i])) {
                continue;
            }
            kept.push(i);
            let pivot = now.sqrt();
            for j in i + 1..block.len() {
                let l = k[(j, i)] / pivot;
                for h in i + 1..=j {
                    let other = k[(h, i)] / pivot;
                    k[(j, h)] -= l * other;
                }
            }
        }
        self.extend(block, &kept, &k)
    }

    /// The columns so far of some candidates.
    fn known(&mut self, rows: &[usize]) -> Result<Mat<f64>> {
        match &mut self.device {
            Some(device) => device.rows(rows),
            None => {
                let known = self.columns.as_ref();
                let (count, have) = (rows.len(), self.picked.len());
                Ok(Mat::from_fn(count, have, |i, j| known[(rows[i], j)]))
            }
        }
    }

    /// New columns `(K[:, new] − F F[new]ᵀ) L⁻ᵀ`, with `L` from the eliminated block `k`.
    fn extend(&mut self, block: &[usize], kept: &[usize], k: &Mat<f64>) -> Result<()> {
        if kept.is_empty() {
            return Ok(());
        }
        let (have, new) = (self.picked.len(), kept.len());
        let picked: Vec<usize> = kept.iter().map(|&i| block[i]).collect();
        let factor = Mat::from_fn(new, new, |i, j| {
            let pivot = k[(kept[j], kept[j])].sqrt();
            match i.cmp(&j) {
                std::cmp::Ordering::Greater => k[(kept[i], kept[j])] / pivot,
                std::cmp::Ordering::Equal => pivot,
                std::cmp::Ordering::Less => 0.0,
            }
        });
        let explained = match &mut self.device {
            Some(device) => device.extend(&picked, factor.as_ref())?,
            None => {
                let points = Mat::from_fn(new, self.x.ncols(), |i, j| self.x[(picked[i], j)]);
                let known = self.columns.as_ref().subcols(0, have);
                let rows = Mat::from_fn(new, have, |i, j| known[(picked[i], j)]);
                let all = self.points.get_or_insert_with(|| Points::new(self.kernel, self.x));
                let mut g = all.values(points.as_ref());
                g -= &rows * known.transpose();
                solve_lower(factor.as_ref(), g.as_mut());
                self.reserve(have + new);
                self.columns.as_mut().subcols_mut(have, new).copy_from(g.transpose());
                (0..g.ncols()).map(|i| g.col(i).squared_norm_l2()).collect()
            }
        };
        for (left, explained) in self.left.iter_mut().zip(explained) {
            *left = (*left - explained).max(0.0);
        }
        for &i in &picked {
            self.left[i] = 0.0;
        }
        self.picked.extend(picked);
        Ok(())
    }

    /// Refuses another block of landmarks where there is no memory for their columns.
    fn check_memory(&self) -> Result<()> {
        let needed = (self.picked.len() + BLOCK).min(self.cap);
        if needed <= self.room || self.device.is_some() {
            return Ok(());
        }
        sarl_memory::check(bytes(self.columns.nrows(), self.grown(needed))).map_err(Error::Memory)
    }

    /// How many columns are kept room for, where so many are needed.
    fn grown(&self, needed: usize) -> usize {
        (2 * self.room).max(needed).min(self.cap)
    }

    fn reserve(&mut self, needed: usize) {
        let rows = self.columns.nrows();
        if needed > self.room {
            self.room = self.grown(needed);
            let mut wider = Mat::with_capacity(rows, self.room);
            wider.resize_with(rows, self.columns.ncols(), |_, _| 0.0);
            wider.copy_from(&self.columns);
            self.columns = wider;
        }
        self.columns.resize_with(rows, needed, |_, _| 0.0);
    }

    fn finish(mut self) -> Result<Landmarks> {
        if self.picked.is_empty() {
            return Err(Error::ZeroKernel);
        }
        let m = self.picked.len();
        let picked = std::mem::take(&mut self.picked);
        let lower = |i: usize, j: usize| if i < j { 0.0 } else { self.columns[(picked[i], j)] };
        let (factor, inverse_rows) = match &mut self.device {
            Some(device) => {
                let (factor, rows) = device.factor(&picked)?;
                // Squares of very small pivots overflow.
                (factor, rows.iter().all(|row| row.is_finite()).then_some(rows))
            }
            None => (Mat::from_fn(m, m, lower), None),
        };
        let residual = self.residual();
        Ok(Landmarks { picked, factor, inverse_rows, residual })
    }
}

/// The bytes of a matrix.
fn bytes(rows: usize, columns: usize) -> u64 {
    (rows as u64).saturating_mul(columns as u64).saturating_mul(8)
}

/// Floats in their total order, as a sorting key.
#[derive(PartialEq)]
struct FloatOrder(f64);

impl Eq for FloatOrder {}

impl PartialOrd for FloatOrder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FloatOrder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A permutation of `0..n` (Fisher and Yates).
fn shuffled(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}
