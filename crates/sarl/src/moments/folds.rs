//! Which row goes to which fold.
//!
//! By position, rows fall into folds in the order in which they come. By content or by key the fold
//! of a row depends on nothing but the row, so that any partition of the rows, in any order, gives
//! the same folds:
//!
//! ```text
//! h = Σ_j low(bits of x_j + c_j) · high(bits of x_j + c_j) + key      by content
//! h = key                                                             by key
//! fold = splitmix(h ⊕ splitmix(seed)) mod K
//! ```
//!
//! with a number c_j for each column, and the low and the high 32 bits of a sum (as in XXH3: one
//! multiplication for each number, which vectorises). All sums wrap at 64 bits. −0 counts as 0, and single precision as the
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

/// Rows hashed by one worker at least.
const ROWS: usize = 1024;
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

/// What the folds of the rows of a block depend on.
pub(crate) enum Rule<'a> {
    Position,
    /// A number for each row.
    Known(&'a [u64]),
    /// The features, which are hashed when a row is read, and the keys.
    Content(Hasher, Option<&'a [u64]>),
}

impl<T: Element> Block<'_, T> {
    pub(crate) fn rule(&self, by: FoldBy) -> Result<Rule<'_>> {
        match (by, self.hashes, self.keys) {
            (FoldBy::Position, ..) => Ok(Rule::Position),
            (_, Some(hashes), _) => Ok(Rule::Known(hashes)),
            (FoldBy::Key, None, Some(keys)) => Ok(Rule::Known(keys)),
            (FoldBy::Key, None, None) => Err(Error::NoKeys { what: "folds by key" }),
            (FoldBy::Content, None, None) if !self.codes.is_empty() => {
                Err(Error::NoKeys { what: "folds by the content of class-coded features" })
            }
            (FoldBy::Content, None, keys) => {
                Ok(Rule::Content(Hasher::new(self.dense.ncols()), keys))
            }
        }
    }

    /// The same for features that are mapped, or rows that are held; nothing where folds go by
    /// position.
    pub(crate) fn hashed(&self, by: FoldBy) -> Result<Option<Cow<'_, [u64]>>> {
        Ok(match self.rule(by)? {
            Rule::Position => None,
            Rule::Known(hashes) => Some(Cow::Borrowed(hashes)),
            Rule::Content(hasher, keys) => {
                let hash = |i: usize| hasher.row(self.dense, i, keys);
                let rows = (0..self.rows()).into_par_iter().with_min_len(ROWS);
                Some(Cow::Owned(rows.map(hash).collect()))
            }
        })
    }
}

/// Hashes of rows of numbers: each has a number of its column added, and its halves are multiplied.
#[derive(Clone, Debug)]
pub(crate) struct Hasher(Vec<u64>);

impl Hasher {
    pub(crate) fn new(columns: usize) -> Self {
        Hasher((0..columns).map(|j| splitmix(j as u64) | 1).collect())
    }

    /// That of some values.
    #[inline(always)]
    pub(crate) fn hash<T: Element>(&self, values: &[T]) -> u64 {
        values.iter().zip(&self.0).fold(0, |sum, (value, column)| add(sum, *value, *column))
    }

    /// That of a row, with its key.
    #[inline(always)]
    fn row<T: Element>(&self, x: MatRef<'_, T>, i: usize, keys: Option<&[u64]>) -> u64 {
        let hash = match row_slice(x, i) {
            Some(row) => self.hash(row),
            None => x.row(i).iter().zip(&self.0).fold(0, |sum, (v, c)| add(sum, *v, *c)),
        };
        hash.wrapping_add(keys.map_or(0, |keys| keys[i]))
    }
}

#[inline(always)]
fn add<T: Element>(sum: u64, value: T, column: u64) -> u64 {
    let value: f64 = value.into();
    // −0 + 0 is 0.
    let bits = (value + 0.0).to_bits().wrapping_add(column);
    sum.wrapping_add((bits & u64::from(u32::MAX)).wrapping_mul(bits >> 32))
}

/// The folds of the rows of a block.
pub(crate) struct Folds<'a> {
    folds: u64,
    seed: u64,
    /// The number of the first row.
    first: u64,
    rule: Rule<'a>,
}

impl Folds<'_> {
    /// That of row `i` of the block.
    #[inline(always)]
    pub(crate) fn of<T: Element>(&self, block: &Block<'_, T>, i: usize) -> usize {
        let Folds { folds, seed, first, rule } = self;
        match rule {
            Rule::Position => fold_of(first + i as u64, *folds, *seed),
            Rule::Known(hashes) => fold_of_hash(hashes[i], *folds, *seed),
            Rule::Content(hasher, keys) => {
                fold_of_hash(hasher.row(block.dense, i, *keys), *folds, *seed)
            }
        }
    }
}

impl Moments {
    /// The folds of the rows of a block that comes next.
    pub(crate) fn next_folds<'a, T: Element>(&self, block: &'a Block<'_, T>) -> Result<Folds<'a>> {
        let MomentsOptions { folds, seed, fold_by, .. } = self.options;
        Ok(Folds { folds: folds as u64, seed, first: self.seen, rule: block.rule(fold_by)? })
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
