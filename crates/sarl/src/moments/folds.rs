//! Which row goes to which fold.
//!
//! By position, rows fall into folds in the order in which they come. By content or by key the fold
//! of a row depends on nothing but the row, so that any partition of the rows, in any order, gives
//! the same folds:
//!
//! ```text
//! h = Σ_j mix(bits of x_j) · c_j + key        by content, with an odd number c_j for each column
//! h = key                                     by key
//! fold = splitmix(h ⊕ splitmix(seed)) mod K
//! ```
//!
//! All sums are those of 64-bit integers that wrap. −0 counts as 0, and single precision as the
//! double of the same value. The texts of class-coded features are part of the key
//! ([`category_key`]): codes may differ from shard to shard, texts do not. Labels are no part of it,
//! so rows with the same features are always in the same fold.

use std::borrow::Cow;

use faer::MatRef;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::block::{Block, Element, row_slice};
use super::{Moments, MomentsOptions};
use crate::{Error, Result};

/// What decides on the fold of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldBy {
    /// Its number among the rows, which is balanced. Other partitions give other folds.
    #[default]
    Position,
    /// Its features, and its key where it has one ([`Block::keys`]).
    Content,
    /// Its key alone.
    Key,
}

impl FoldBy {
    /// Whether it is the default one, which files do not mention.
    pub(crate) fn is_position(&self) -> bool {
        *self == FoldBy::Position
    }
}

/// Rows hashed at a time by one worker.
const ROWS: usize = 1024;
/// An odd number of no structure (that of MurmurHash's finaliser).
const MIX: u64 = 0xff51_afd7_ed55_8ccd;

/// A number for a text: that of an id, say.
pub fn text_key(text: &str) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    splitmix(text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// What a category adds to the key of a row: `place` is the number of its column among the
/// class-coded ones. A row without a category there adds nothing.
pub fn category_key(place: usize, text: &str) -> u64 {
    splitmix(text_key(text) ^ splitmix(place as u64))
}

impl<T: Element> Block<'_, T> {
    /// What the fold of each row depends on; nothing where that is its position.
    pub(crate) fn hashed(&self, by: FoldBy) -> Result<Option<Cow<'_, [u64]>>> {
        match (by, self.hashes, self.keys) {
            (FoldBy::Position, ..) => Ok(None),
            (_, Some(hashes), _) => Ok(Some(Cow::Borrowed(hashes))),
            (FoldBy::Key, None, Some(keys)) => Ok(Some(Cow::Borrowed(keys))),
            (FoldBy::Key, None, None) => Err(Error::NoKeys { what: "folds by key" }),
            (FoldBy::Content, None, None) if !self.codes.is_empty() => {
                Err(Error::NoKeys { what: "folds by the content of class-coded features" })
            }
            (FoldBy::Content, None, keys) => Ok(Some(Cow::Owned(content(self.dense, keys)))),
        }
    }
}

/// The hash of each row.
fn content<T: Element>(x: MatRef<'_, T>, keys: Option<&[u64]>) -> Vec<u64> {
    let factors: Vec<u64> = (0..x.ncols()).map(|j| splitmix(j as u64) | 1).collect();
    let mut hashes = keys.map_or_else(|| vec![0; x.nrows()], <[u64]>::to_vec);
    hashes.par_chunks_mut(ROWS).enumerate().for_each(|(part, hashes)| {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = hash.wrapping_add(row_hash(x, part * ROWS + i, &factors));
        }
    });
    hashes
}

#[inline(always)]
fn row_hash<T: Element>(x: MatRef<'_, T>, i: usize, factors: &[u64]) -> u64 {
    let add = |sum: u64, (value, factor): (T, &u64)| {
        let value: f64 = value.into();
        let bits = (value + 0.0).to_bits().wrapping_mul(MIX);
        sum.wrapping_add((bits ^ (bits >> 32)).wrapping_mul(*factor))
    };
    match row_slice(x, i) {
        Some(row) => row.iter().copied().zip(factors).fold(0, add),
        None => x.row(i).iter().copied().zip(factors).fold(0, add),
    }
}

/// The folds of the rows of a block.
pub(crate) struct Folds<'a> {
    folds: u64,
    seed: u64,
    /// The number of the first row.
    first: u64,
    hashes: Option<&'a [u64]>,
}

impl<'a> Folds<'a> {
    pub(super) fn new(options: MomentsOptions, first: u64, hashes: Option<&'a [u64]>) -> Self {
        let MomentsOptions { folds, seed, .. } = options;
        Folds { folds: folds as u64, seed, first, hashes }
    }

    /// That of row `i` of the block.
    #[inline(always)]
    pub(crate) fn of(&self, i: usize) -> usize {
        match self.hashes {
            None => fold_of(self.first + i as u64, self.folds, self.seed),
            Some(hashes) => fold_of_hash(hashes[i], self.folds, self.seed),
        }
    }
}

impl Moments {
    /// The folds of the rows that come next.
    pub(crate) fn next_folds<'a>(&self, hashes: Option<&'a [u64]>) -> Folds<'a> {
        Folds::new(self.options, self.seen, hashes)
    }
}

/// Balanced folds that do not depend on how rows come in blocks: of every K rows in a row each
/// goes to another fold, rotated by a hash so that periodic data does not fall into step.
pub(super) fn fold_of(row: u64, folds: u64, seed: u64) -> usize {
    if folds == 1 {
        return 0;
    }
    ((row % folds + splitmix(seed ^ (row / folds)) % folds) % folds) as usize
}

fn fold_of_hash(hash: u64, folds: u64, seed: u64) -> usize {
    (splitmix(hash ^ splitmix(seed)) % folds) as usize
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) fn splitmix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
