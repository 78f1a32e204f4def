//! From columns to rows: the transposition that every block of numbers goes through.
//!
//! A tile of rows is finished for all columns before the next is begun, and eight
//! columns of the same type go together: each line of cache is written at once.

use std::array;
use std::ops::Range;

use crate::cells::{At, LARGEST, Values};
use crate::error::Result;
use crate::request::Missing;

/// Rows to a tile.
const TILE: usize = 64;
/// Numbers to a line of cache.
const LINE: usize = 8;

/// A numeric feature on its way into a block.
#[derive(Clone, Debug)]
pub(super) struct DenseColumn {
    pub(super) name: String,
    pub(super) place: usize,
    pub(super) mean: f64,
}

/// A number that turns into the kind we calculate with.
trait Number: Copy {
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}
impl Number for f32 {
    fn number(self) -> f64 {
        f64::from(self)
    }
}
impl Number for i64 {
    fn number(self) -> f64 {
        self as f64
    }
}
impl Number for i32 {
    fn number(self) -> f64 {
        f64::from(self)
    }
}

/// Writes the columns into `to`, row by row.
pub(super) fn transpose(
    to: &mut [f64],
    columns: &[DenseColumn],
    values: &[Values],
    policy: Missing,
    at: At<'_>,
) -> Result<()> {
    let width = columns.len();
    if width == 0 {
        return Ok(());
    }
    for (number, tile) in to.chunks_mut(TILE * width).enumerate() {
        let first = number * TILE;
        let rows = first..first + tile.len() / width;
        let mut place = 0;
        while place < width {
            let (taken, sound) = put_some(tile, place, values, rows.clone());
            for place in (place..place + taken).filter(|_| !sound) {
                mend(tile, width, place, &columns[place], &values[place], first, policy, at)?;
            }
            place += taken;
        }
    }
    Ok(())
}

/// Writes the column at `place`, and the next ones with it where they are of the same
/// type. Returns how many, and whether all numbers were sound.
fn put_some(
    tile: &mut [f64],
    place: usize,
    values: &[Values],
    rows: Range<usize>,
) -> (usize, bool) {
    if let Some(several) = values[place..].first_chunk::<LINE>() {
        if let Some(several) = all(several, |v| v.as_f32(rows.clone())) {
            return (LINE, put_line(tile, values.len(), place, several));
        }
        if let Some(several) = all(several, |v| v.as_f64(rows.clone())) {
            return (LINE, put_line(tile, values.len(), place, several));
        }
    }
    let width = values.len();
    let sound = match &values[place] {
        Values::F64(a) => put(tile, width, place, &a.values()[rows]),
        Values::F32(a) => put(tile, width, place, &a.values()[rows]),
        Values::I64(a) => put(tile, width, place, &a.values()[rows]),
        Values::I32(a) => put(tile, width, place, &a.values()[rows]),
    };
    (1, sound)
}

/// What `f` makes of all columns, if it makes something of each.
fn all<'a, T>(
    values: &'a [Values; LINE],
    f: impl Fn(&'a Values) -> Option<&'a [T]>,
) -> Option<[&'a [T]; LINE]> {
    let mut slices: [&[T]; LINE] = [&[]; LINE];
    for (slice, values) in slices.iter_mut().zip(values) {
        *slice = f(values)?;
    }
    Some(slices)
}

/// Writes as many columns of a tile as make a line of cache, row by row.
fn put_line<T: Number>(tile: &mut [f64], width: usize, place: usize, values: [&[T]; LINE]) -> bool {
    let mut sound = true;
    for (row, to) in tile.chunks_exact_mut(width).enumerate() {
        let line: [f64; LINE] = array::from_fn(|k| values[k][row].number());
        sound &= line.iter().fold(true, |sound, v| sound & (v.abs() <= LARGEST));
        to[place..place + LINE].copy_from_slice(&line);
    }
    sound
}

/// Writes one column of a tile; says whether all numbers were sound.
fn put<T: Number>(to: &mut [f64], width: usize, place: usize, values: &[T]) -> bool {
    let mut sound = true;
    for (row, value) in to.chunks_exact_mut(width).zip(values) {
        let value = value.number();
        sound &= value.abs() <= LARGEST;
        row[place] = value;
    }
    sound
}

/// Deals with the numbers of a tile that are missing or too large.
#[allow(clippy::too_many_arguments)] // the tile and all that it came from
fn mend(
    to: &mut [f64],
    width: usize,
    place: usize,
    column: &DenseColumn,
    values: &Values,
    first: usize,
    policy: Missing,
    at: At<'_>,
) -> Result<()> {
    for (row, to) in to.chunks_exact_mut(width).enumerate() {
        let value = values.get(first + row);
        if value.is_nan() {
            match policy {
                Missing::Mean => to[place] = column.mean,
                _ => return Err(at.missing(&column.name, first + row)),
            }
        } else if value.abs() > LARGEST {
            return Err(at.too_large(&column.name, first + row, value));
        }
    }
    Ok(())
}
