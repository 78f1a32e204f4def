//! Damage: flipped bits, other bytes, numbers at the ends of their range, cuts, splices.

use rand::{Rng, RngExt};

use super::inputs::{Input, Inputs};
use crate::sealed;

/// Cells and marks that text files may meet.
const WORDS: [&str; 16] = [
    "\"",
    ",",
    "\n",
    "\r",
    "\0",
    ";",
    "1e999",
    "nan",
    "-1e308",
    "\u{feff}",
    "\u{a0}",
    "\x1b[31m",
    "NA",
    "''",
    "99999999999999999999",
    "é\u{202e}",
];

/// The file with one to four changes. One in thirty stays as it is: a control.
pub(super) fn changed(random: &mut impl Rng, input: &Input, inputs: &Inputs) -> Vec<u8> {
    let mut bytes = input.bytes.clone();
    if random.random_range(0..30) == 0 {
        return bytes;
    }
    for _ in 0..random.random_range(1..=4) {
        change(random, &mut bytes, inputs);
    }
    // Whoever means harm gives a model the right checksum.
    match input.is_model && random.random_range(0..4) > 0 {
        true => sealed(&bytes).unwrap_or(bytes),
        false => bytes,
    }
}

fn change(random: &mut impl Rng, bytes: &mut Vec<u8>, inputs: &Inputs) {
    if bytes.is_empty() {
        return;
    }
    // Headers are short and matter most: half of all changes are near an end.
    let length = bytes.len();
    let at = match random.random_range(0..4) {
        0 => random.random_range(0..length.min(400)),
        1 => length - 1 - random.random_range(0..length.min(400)),
        _ => random.random_range(0..length),
    };
    match random.random_range(0..15) {
        0..=2 => bytes[at] ^= 1 << random.random_range(0..8),
        3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'-', b'9'][random.random_range(0..7)],
        4 => {
            let value = [0, u64::MAX, 1 << 31, 1 << 32, (1 << 63) - 1][random.random_range(0..5)];
            let count = [2, 4, 8][random.random_range(0..3)];
            let to = bytes.iter_mut().skip(at).take(count);
            to.zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
        }
        5 => bytes.truncate(at),
        6 => {
            let end = (at + random.random_range(1..64)).min(length);
            drop(bytes.drain(at..end));
        }
        7 => {
            let word = WORDS[random.random_range(0..WORDS.len())];
            drop(bytes.splice(at..at, word.bytes()));
        }
        8 => splice(random, bytes, at, inputs),
        9..=12 => digit(random, bytes, at),
        _ => double(random, bytes, at),
    }
}

/// Changes the next digit: what was a number stays one.
fn digit(random: &mut impl Rng, bytes: &mut [u8], at: usize) {
    let next = bytes.iter_mut().skip(at).find(|b| b.is_ascii_digit());
    next.into_iter().for_each(|b| *b = b"0123456789"[random.random_range(0..10)]);
}

/// Puts a double where one may be.
fn double(random: &mut impl Rng, bytes: &mut [u8], at: usize) {
    const VALUES: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 1e300, 1e-300, 1e155, f64::NAN, 0.1];
    let value = VALUES[random.random_range(0..VALUES.len())];
    if let Some(to) = bytes.as_chunks_mut::<8>().0.get_mut(at / 8) {
        *to = value.to_le_bytes();
    }
}

/// Puts a piece of some file, perhaps this one, at a place.
fn splice(random: &mut impl Rng, bytes: &mut Vec<u8>, at: usize, inputs: &Inputs) {
    let other = inputs.draw(random).bytes;
    let from = random.random_range(0..other.len());
    let end = (from + random.random_range(1..256)).min(other.len());
    let over = if random.random() { at } else { (at + end - from).min(bytes.len()) };
    drop(bytes.splice(at..over, other[from..end].iter().copied()));
}
