//! The memory that a fit will take, and the memory that the machine has.

use sarl_data::{FeatureValues, Schema};

use crate::failure::{Exit, Failure, Outcome};

/// Rows of a block at most.
const BLOCK: u64 = 8192;
/// Blocks in memory at a time.
const BLOCKS: u64 = 3;
/// Square matrices of a fit without folds, and of each of several folds; measured.
const SQUARES: u64 = 4;
const SQUARES_PER_FOLD: u64 = 8;

/// What the program takes whatever it does.
const LEAST: u64 = 16 << 20;

/// The bytes of a linear fit with so many columns of numbers, of which some are dense and the
/// others one-hot: its squares, of the columns or, where there are more columns than rows, of
/// the rows.
pub fn bytes(rows: u64, dense: u64, columns: u64, folds: u32) -> u64 {
    let doubles = |a: u64, b: u64| 8u64.saturating_mul(a).saturating_mul(b);
    let apart = if folds > 1 { u64::from(folds) } else { 0 };
    let squares = SQUARES + SQUARES_PER_FOLD * apart;
    let side = columns.min(rows);
    let table = if columns > rows { doubles(rows, columns) } else { 0 };
    let blocks = BLOCKS.saturating_mul(doubles(rows.min(BLOCK), dense));
    let square = doubles(side, side).saturating_mul(squares);
    square.saturating_add(blocks).saturating_add(table).saturating_add(LEAST)
}

/// Refuses a fit that needs more memory than there is.
pub fn check(schema: &Schema, folds: u32) -> Outcome {
    let columns = schema.width() as u64;
    let needed = bytes(schema.rows(), schema.dense_width() as u64, columns, folds);
    let Some(there) = machine().filter(|there| needed > *there) else { return Ok(()) };
    let message = format!(
        "a fit of {columns} columns needs about {}, and there are {}",
        shown(needed),
        shown(there)
    );
    let failure = Failure::new(Exit::Machine, message);
    let size = |values: &FeatureValues| match values {
        FeatureValues::Category { values, .. } => values.len(),
        FeatureValues::Number { .. } => 1,
    };
    let widest = schema.features().iter().max_by_key(|f| size(&f.values));
    Err(match widest.filter(|f| size(&f.values) > 50) {
        Some(widest) => failure.hint(format!(
            "`{}` has {} categories: use --max-categories 50, or --drop it",
            widest.name,
            size(&widest.values)
        )),
        None => failure.hint("use fewer columns with --features or --drop, or fewer --folds"),
    })
}

/// The memory of the machine, or of the part of it that we may use.
fn machine() -> Option<u64> {
    let read = |path| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()?.saturating_mul(1024))
    });
    let allowed =
        read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok());
    total.into_iter().chain(allowed).min()
}

/// Bytes as people say them.
pub fn shown(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = bytes as f64 / 1e3;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 1e3 {
            break;
        }
        (value, unit) = (value / 1e3, next);
    }
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(shown(1_500), "1.5 kB");
        assert_eq!(shown(24_000_000_000), "24 GB");
        assert!(bytes(300, 5000, 5000, 5) < bytes(10_000, 5000, 5000, 5) / 10);
        assert_eq!(bytes(u64::MAX, 1, u64::MAX, 5), u64::MAX);
    }
}
