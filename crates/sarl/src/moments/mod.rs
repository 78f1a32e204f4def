//! Second moments of blocks of rows: one pass, mergeable, in memory that does not grow.
//!
//! Everything that the method needs of the data is in
//!
//! ```text
//! C  = Cov(φ, φ)   m×m      Cy = Cov(φ, y)   m×p      ty = tr Cov(y, y)
//!                           Cs = Cov(φ, s)   m×q      ts = tr Cov(s, s)
//! ```
//!
//! divided by the number of rows, or by the total weight. [`Moments`] accumulates them, K folds
//! apart so that held-out losses need no second pass. `O(n m²)` multiplications at the speed of
//! a symmetric rank-k update; class labels are tables of class sums, `O(n m)` for any number of
//! classes; class-coded features are counted, never multiplied.
//!
//! ```
//! use sarl::{Block, Layout, Moments, MomentsOptions, Role};
//! # use faer::MatRef;
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut moments = Moments::new(layout, MomentsOptions::default())?;
//! let x = [0.0, 1.0, 1.0, 3.0, 2.0, 2.0, 3.0, 5.0];
//! let block = Block::new(MatRef::from_row_major_slice(&x, 4, 2));
//! moments.push(&block.class(&[0, 0, 1, 1]).class(&[0, 1, 0, 1]))?;
//! assert_eq!(moments.covariances()?.mean, [1.5, 2.75]);
//! # Ok::<(), sarl::Error>(())
//! ```

mod assemble;
mod block;
mod checks;
mod covariances;
mod device;
mod file;
mod folds;
mod landmarks;
mod lane;
mod layout;
mod listed;
mod made;
mod parts;
mod products;
mod renumber;
mod rounding;
mod scaled;
mod sums;
#[cfg(test)]
mod tests;
mod there;

pub use block::{Block, Element, LabelBlock, NO_CLASS};
pub use covariances::{Covariances, InputCovariances, LabelColumns, LabelCovariances};
pub use folds::{FoldBy, category_key, text_key};
pub use layout::{Label, LabelKind, Layout, Role};

pub(crate) use block::{check_finite, row_slice};
pub(crate) use covariances::Over;
pub(crate) use folds::{Hasher, splitmix};
pub(crate) use landmarks::Landmarks;
pub(crate) use made::Made;
pub(crate) use parts::Known;
pub(crate) use rounding::constant;
pub(crate) use there::{PartThere, There};

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Par;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Place;
use crate::{Error, Mismatch, Result};
pub(crate) use device::Coming;
use device::Device;
use lane::{Lane, Plan};
use sums::Sums;

/// How the products of features are formed; sums are always in double precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// In double precision, whatever the blocks hold.
    #[default]
    Double,
    /// In single precision within stretches of 1024 rows: twice as fast, for embeddings that are
    /// single precision anyway. Directions below 1e-5 of a feature's variance are then noise and
    /// are dropped.
    Single,
}

/// How moments are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MomentsOptions {
    /// Folds kept apart for held-out losses; 1 for none.
    pub folds: usize,
    /// Decides which row goes to which fold.
    pub seed: u64,
    /// How products are formed.
    pub precision: Precision,
    /// What decides, with the seed, which row goes to which fold.
    #[serde(default, skip_serializing_if = "FoldBy::is_position")]
    pub fold_by: FoldBy,
}

impl Default for MomentsOptions {
    fn default() -> Self {
        let (precision, fold_by) = (Precision::Double, FoldBy::Position);
        MomentsOptions { folds: 5, seed: 0, precision, fold_by }
    }
}

impl MomentsOptions {
    /// Refuses folds that there cannot be.
    pub(crate) fn check(&self) -> Result<()> {
        match (1..=MOST_FOLDS).contains(&self.folds) {
            true => Ok(()),
            false => {
                let (name, value) = ("folds", self.folds as f64);
                Err(Error::Argument { name, value, expected: "expected 1 to 1000" })
            }
        }
    }

    /// Refuses others, whose sums cannot be added to those of these.
    pub(crate) fn check_same(self, other: Self) -> Result<()> {
        match (self.fold_by == other.fold_by, self == other) {
            (true, true) => Ok(()),
            (false, _) => Err(Error::Merge(Mismatch::FoldBy)),
            (true, false) => Err(Error::Merge(Mismatch::Options)),
        }
    }
}

/// Beyond this for one worker, or for all, workers share one scatter per fold instead of having their own:
/// new memory takes longer to be touched than it takes threads to agree on who does which part of a product.
const LANE_BYTES: usize = 32 << 20;
const LANES_BYTES: usize = 512 << 20;
/// Rows whose mean is the shift, where rows have no weights.
const SHIFT_ROWS: usize = 1024;
/// Blocks with fewer rows per worker than this are left to fewer workers.
const LANE_ROWS: usize = 512;
/// More folds than this are refused.
const MOST_FOLDS: usize = 1000;

/// The accumulator of second moments; see the [module](self).
#[derive(Clone, Debug)]
pub struct Moments {
    layout: Layout,
    options: MomentsOptions,
    pairs: Vec<(usize, usize)>,
    /// Empty until the first row.
    shift: Vec<f64>,
    seen: u64,
    /// Shared by copies until one of them takes more rows.
    lanes: Arc<Vec<Lane>>,
    /// The error of each feature as it is computed from a row; empty where there is none.
    pub(crate) noise: Vec<f64>,
    /// The landmarks of the features, if they have any.
    pub(crate) landmarks: Option<Landmarks>,
    /// What numeric columns are multiplied by where sums become covariances.
    factors: Option<Arc<[f64]>>,
    /// Texts of the caller's, carried along (the names of classes, say).
    pub extra: BTreeMap<String, String>,
    /// A device that adds up rows instead.
    device: Option<Device>,
}

impl Moments {
    /// No rows yet.
    pub fn new(layout: Layout, options: MomentsOptions) -> Result<Self> {
        layout.check()?;
        if layout.labels.iter().any(|l| matches!(l.kind, LabelKind::Kernel { .. })) {
            let message = "the features of a label's kernel are chosen by a `Fit`";
            return Err(Error::Unavailable(message));
        }
        // A file may say anything of its columns.
        let wrong = |l: &&Label| l.made.is_some_and(|made| !made.suits(&l.kind));
        if let Some(label) = layout.labels.iter().find(wrong) {
            return Err(Error::MadeOfOthers { name: label.name.clone() });
        }
        options.check()?;
        let pairs = layout.pairs();
        let (shift, lanes, noise) = (Vec::new(), Arc::default(), Vec::new());
        let (landmarks, factors, extra, device) = (None, None, BTreeMap::new(), None);
        Ok(Moments {
            layout,
            options,
            pairs,
            shift,
            seen: 0,
            lanes,
            noise,
            landmarks,
            factors,
            extra,
            device,
        })
    }

    /// What the columns are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How the moments are kept.
    pub fn options(&self) -> MomentsOptions {
        self.options
    }

    /// Rows pushed so far, those of weight zero included.
    pub fn rows(&self) -> u64 {
        self.seen
    }

    /// Adds the rows of a block. A block that is refused leaves the moments as they were.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        block.check_numbers(&self.layout, self.seen)?;
        if block.weights.is_none_or(|w| w.iter().any(|&w| w > 0.0)) && self.push_linear(block)? {
            return Ok(());
        }
        check_finite(block.dense, self.seen, Place::Feature)?;
        let folds = self.next_folds(block)?;
        if block.rows() == 0 {
            return Ok(());
        }
        if block.weights.is_some_and(|w| w.iter().all(|&w| w == 0.0)) {
            self.seen += block.rows() as u64;
            return Ok(());
        }
        self.write_factors();
        self.follow(block);
        let workers = self.workers();
        let lanes = Arc::make_mut(&mut self.lanes);
        while lanes.len() < workers {
            lanes.push(Lane::new(&self.layout, self.options.folds, self.options.precision));
        }
        let used = workers.min(block.rows().div_ceil(LANE_ROWS));
        let per_lane = block.rows().div_ceil(used);
        let plan = Plan {
            shift: &self.shift,
            pairs: &self.pairs,
            folds,
            par: if used == 1 { Par::rayon(0) } else { Par::Seq },
        };
        lanes[..used].par_iter_mut().enumerate().for_each(|(i, lane)| {
            let start = (i * per_lane).min(block.rows());
            let end = (start + per_lane).min(block.rows());
            lane.push(block, (start, end), &plan);
        });
        self.seen += block.rows() as u64;
        Ok(())
    }

    /// Moves the shift before a block that outweighs all rows before it, to that block's means:
    /// the many keep their digits, and a stream of equal weights moves it no more than log₂ n times.
    fn follow<T: Element>(&mut self, block: &Block<'_, T>) {
        if self.lanes.is_empty() {
            self.shift = means(block);
        } else if block.weight() > self.weight() {
            self.move_shift(means(block));
        }
    }

    /// The total weight so far.
    fn weight(&self) -> f64 {
        self.lanes.iter().flat_map(|lane| &lane.folds).map(|sums| sums.weight).sum()
    }

    fn every_sum(&mut self) -> impl Iterator<Item = &mut Sums> {
        Arc::make_mut(&mut self.lanes).iter_mut().flat_map(|lane| &mut lane.folds)
    }

    fn move_shift(&mut self, to: Vec<f64>) {
        let step: Vec<f64> = self.shift.iter().zip(&to).map(|(old, new)| old - new).collect();
        for sums in self.every_sum() {
            sums.recentre(&step);
        }
        self.shift = to;
    }

    /// A worker with sums of its own for each thread, or one for all where that takes much memory.
    fn workers(&self) -> usize {
        let (columns, threads) = (self.layout.columns(), rayon::current_num_threads());
        let lane = columns * columns * 8 * self.options.folds;
        if lane > LANE_BYTES || lane * threads > LANES_BYTES { 1 } else { threads }
    }

    /// Adds another accumulator's rows, fold by fold, exactly.
    pub fn merge(&mut self, other: &Moments) -> Result<()> {
        self.check_settled()?;
        other.check_settled()?;
        if self.layout != other.layout {
            return Err(Error::Merge(Mismatch::Columns));
        }
        self.options.check_same(other.options)?;
        let seen = self.seen + other.seen;
        if self.lanes.is_empty() {
            let (extra, noise) = (std::mem::take(&mut self.extra), self.noise.clone());
            let landmarks = self.landmarks.take();
            *self = Moments { extra, noise, landmarks, ..other.clone() };
        } else if !other.lanes.is_empty() {
            self.add_rows_of(other);
        }
        if let (Some(landmarks), Some(others)) = (&mut self.landmarks, &other.landmarks) {
            landmarks.merge(others);
        }
        self.seen = seen;
        Ok(())
    }

    fn add_rows_of(&mut self, other: &Moments) {
        let folds = (0..self.options.folds).map(|fold| other.fold(fold)).collect();
        self.add_folds(&other.shift, folds);
    }

    /// Adds the sums of each fold about another shift.
    fn add_folds(&mut self, shift: &[f64], folds: Vec<Sums>) {
        self.write_factors();
        // About the shift of the heavier one.
        if folds.iter().map(|sums| sums.weight).sum::<f64>() > self.weight() {
            self.move_shift(shift.to_vec());
        }
        let step: Vec<f64> = shift.iter().zip(&self.shift).map(|(o, s)| o - s).collect();
        for (to, mut sums) in Arc::make_mut(&mut self.lanes)[0].folds.iter_mut().zip(folds) {
            sums.recentre(&step);
            to.add(&sums);
        }
    }

    /// Means and covariances of all rows.
    pub fn covariances(&self) -> Result<Covariances> {
        self.covariances_over(Over::default())
    }

    /// For each fold, the covariances of the other folds (to train on) and of the fold itself
    /// (to test on), without landmarks that only the tested fold knows.
    pub fn splits(&self) -> Result<Vec<(Covariances, Covariances)>> {
        if self.options.folds < 2 {
            return Err(Error::OneFold);
        }
        let split = |fold: usize| {
            let train: Vec<usize> = (0..self.options.folds).filter(|&f| f != fold).collect();
            let (mut train, mut test) = (self.of_folds(&train)?, self.of_folds(&[fold])?);
            train.check_informative(&self.layout)?;
            self.leave_out(&[fold], [&mut train, &mut test]);
            Ok((train, test))
        };
        (0..self.options.folds).map(split).collect()
    }

    /// For each fold, the covariances of three parts that share no row: half of the other folds,
    /// the rest of them, and the fold itself; only with landmarks that the first part knows. None with fewer than three folds, and none where a
    /// label does not vary in a part.
    pub fn thirds(&self) -> Result<Vec<[Covariances; 3]>> {
        let folds = self.options.folds;
        if folds < 3 {
            return Ok(Vec::new());
        }
        let half = folds / 2;
        let third = |fold: usize| -> Result<[Covariances; 3]> {
            let others: Vec<usize> = (1..folds).map(|step| (fold + step) % folds).collect();
            let (mut first, mut second) =
                (self.of_folds(&others[..half])?, self.of_folds(&others[half..])?);
            first.check_informative(&self.layout)?;
            second.check_informative(&self.layout)?;
            let mut third = self.of_folds(&[fold])?;
            let unseen: Vec<usize> = others[half..].iter().copied().chain([fold]).collect();
            self.leave_out(&unseen, [&mut first, &mut second, &mut third]);
            Ok([first, second, third])
        };
        let thirds = (0..folds).map(third).filter(|third| {
            let few = Error::is_about_few_rows;
            !third.as_ref().is_err_and(few)
        });
        thirds.collect()
    }
}

/// The shift: weighted means of a block's rows, of the first ones where all weigh the same. Any
/// value would do; these keep the sums small. A row of hardly any weight must not move it, however
/// far away it is.
fn means<T: Element>(block: &Block<'_, T>) -> Vec<f64> {
    let rows = if block.weights.is_some() { block.rows() } else { block.rows().min(SHIFT_ROWS) };
    let numbers = block.numbers();
    let width = block.dense.ncols() + numbers.iter().map(|v| v.ncols()).sum::<usize>();
    let mut shift = vec![0.0; width];
    let mut total = 0.0;
    // Row by row, as the rows lie in memory, each mean moved by the share of the row's weight: no
    // sum of weights times values overflows.
    for i in 0..rows {
        let weight = block.weights.map_or(1.0, |w| w[i]);
        if weight == 0.0 {
            continue;
        }
        total += weight;
        let share = weight / total;
        let (dense, others) = shift.split_at_mut(block.dense.ncols());
        let move_to = |mean: &mut f64, value: f64| *mean += share * (value - *mean);
        match row_slice(block.dense, i) {
            Some(row) => dense.iter_mut().zip(row).for_each(|(mean, &v)| move_to(mean, v.into())),
            None => {
                let row = block.dense.row(i).iter();
                dense.iter_mut().zip(row).for_each(|(mean, &v)| move_to(mean, v.into()));
            }
        }
        let row = numbers.iter().flat_map(|v| v.row(i).iter());
        others.iter_mut().zip(row).for_each(|(mean, &v)| move_to(mean, v));
    }
    shift
}
