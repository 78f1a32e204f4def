//! The library's own time of a fit, for `python/benches/fit.py` to set its times against.
//!
//! Arguments: a folder with `x.f32`, `y.u32` and `s.u32`, the number of rows, the number of
//! columns, and `encode` or `erase`. One line of JSON says how long each of some fits took, how
//! much memory they took at their peak beyond the data, and what they reached.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may stop"
)]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use faer::MatRef;
use sarl::{Block, FeatureMap, Goal, Layout, Model, MomentsOptions, Reduced, Role};

/// Rows of the fit before the one that counts: threads are started, and code is read in.
const WARM_UP: usize = 4096;
/// Fits that count.
const TIMES: usize = 3;

fn main() {
    // `cargo bench` and `cargo test --benches` start this with a flag, or with nothing.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [folder, rows, columns, job] = words.as_slice() else {
        println!("nothing to fit: `python python/benches/fit.py` makes the data and runs this");
        return;
    };
    let data = Data::read(Path::new(folder), rows.parse().unwrap(), columns.parse().unwrap());
    let fit = if job == "erase" { erase } else { encode };
    fit(&data, WARM_UP.min(data.y.len()));

    let before = peak();
    let mut jy = f64::NAN;
    let seconds = [(); TIMES].map(|()| {
        let start = Instant::now();
        jy = fit(&data, data.y.len());
        start.elapsed().as_secs_f64()
    });
    let extra = match (before, peak()) {
        (Some(before), Some(after)) => format!("{:.1}", after - before),
        _ => "null".into(),
    };
    let threads = rayon::current_num_threads();
    println!(
        r#"{{"seconds": {seconds:?}, "extra_mb": {extra}, "jy": {jy:e}, "threads": {threads}}}"#
    );
}

struct Data {
    x: Vec<f32>,
    y: Vec<u32>,
    s: Vec<u32>,
    columns: usize,
}

impl Data {
    fn read(folder: &Path, rows: usize, columns: usize) -> Self {
        Data {
            x: numbers(&folder.join("x.f32"), rows * columns, f32::from_ne_bytes),
            y: numbers(&folder.join("y.u32"), rows, u32::from_ne_bytes),
            s: numbers(&folder.join("s.u32"), rows, u32::from_ne_bytes),
            columns,
        }
    }

    fn features(&self, rows: usize) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.x[..rows * self.columns], rows, self.columns)
    }
}

/// A file of numbers, a piece at a time so that it is never in memory twice.
fn numbers<T>(path: &Path, count: usize, of: fn([u8; 4]) -> T) -> Vec<T> {
    let mut file = File::open(path).unwrap();
    let mut piece = vec![0; 1 << 20];
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let size = (4 * (count - all.len())).min(piece.len());
        file.read_exact(&mut piece[..size]).unwrap();
        all.extend(piece[..size].as_chunks::<4>().0.iter().map(|&bytes| of(bytes)));
    }
    all
}

/// As `sarl.SARL(max_leakage=0)` does it; returns the loss of the target.
fn encode(data: &Data, rows: usize) -> f64 {
    let layout =
        Layout::dense(data.columns).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let block = Block::new(data.features(rows)).class(&data.y[..rows]).class(&data.s[..rows]);
    solve(&layout, &block, true).point().losses.jy
}

/// As `sarl.Eraser()` does it; returns the loss of the features.
fn erase(data: &Data, rows: usize) -> f64 {
    let layout = Layout::dense(data.columns).keep_features().class("s", Role::Sensitive, 2);
    let block = Block::new(data.features(rows)).class(&data.s[..rows]);
    let model = solve(&layout, &block, false);
    std::hint::black_box(model.erasure().unwrap());
    model.point().losses.jy
}

/// Five folds, seed 0 and double precision, as Python has them unless told otherwise.
fn solve(layout: &Layout, block: &Block<'_, f32>, standardise: bool) -> Model {
    let map = FeatureMap::linear(layout.dense_features());
    let mut moments = map.moments(layout, MomentsOptions::default()).unwrap();
    map.push(&mut moments, block).unwrap();
    if standardise {
        moments.standardise().unwrap();
    }
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    Model::new(&map, layout, &reduced, None, Goal::Leakage(0.0)).unwrap()
}

/// The most memory so far in megabytes, where the system tells.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}
