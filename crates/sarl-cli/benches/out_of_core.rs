//! A Parquet file larger than the memory allowed: `sarl fit` and `sarl encode` against the bare
//! scan of the same file plus the bare matrix work, in one run.
//!
//! The file (5,000,000 × 100 single-precision features and two labels, 2 GB) is made once in
//! `target/bench`; `SARL_BENCH_ROWS` makes a smaller one.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may stop"
)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Float32Array, Int32Array, RecordBatch};
use faer::{Mat, MatRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sarl::{Block, Layout, Moments, MomentsOptions, Role};

const WIDTH: usize = 100;
const BATCH: usize = 8192;
const REPEATS: usize = 5;

fn main() {
    // `cargo test --benches` only asks whether this builds and starts.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let rows = std::env::var("SARL_BENCH_ROWS").map_or(5_000_000, |r| r.parse().unwrap());
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&folder).unwrap();
    let file = make(&folder, rows);
    let (model, z) = (folder.join("model.safetensors"), folder.join("z.parquet"));
    let sarl = env!("CARGO_BIN_EXE_sarl");

    let mut times: [Vec<f64>; 5] = Default::default();
    let mut peaks = [0, 0];
    for _ in 0..REPEATS {
        times[0].push(seconds(|| scan(&file)));
        times[1].push(seconds(|| accumulate(rows)));
        times[2].push(seconds(|| multiply(rows)));
        let fit = ["fit", "-t", "y", "-s", "s", "--max-leakage", "0.01", "--quiet", "-o"];
        times[3].push(seconds(|| {
            let run = watched(Command::new(sarl).args(fit).arg(&model).arg(&file));
            peaks[0] = peaks[0].max(run);
        }));
        times[4].push(seconds(|| {
            let run =
                watched(Command::new(sarl).arg("encode").args([&model, &file]).arg("-o").arg(&z));
            peaks[1] = peaks[1].max(run);
        }));
    }
    let [scan, moments, product, fit, encode] = times.map(median);
    println!("{rows} x {WIDTH} floats, medians of {REPEATS} runs in turns");
    println!("bare scan by the parquet crate     {scan:>8.2} s");
    println!("bare moments, 5 folds, in memory   {moments:>8.2} s");
    println!("bare product with the encoder      {product:>8.2} s");
    report("sarl fit", fit, scan + moments, peaks[0]);
    report("sarl encode", encode, scan + product, peaks[1]);
}

fn report(what: &str, time: f64, limit: f64, peak: u64) {
    let ratio = time / limit;
    println!("{what:<34} {time:>8.2} s   ratio {ratio:.2} to scan + matrix work, peak {peak} MB");
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn make(folder: &Path, rows: usize) -> PathBuf {
    let path = folder.join(format!("{rows}x{WIDTH}.parquet"));
    if path.exists() {
        return path;
    }
    let part = path.with_extension("part");
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut left = rows;
    while left > 0 {
        let n = left.min(64 * BATCH);
        let y: Vec<i32> = (0..n).map(|_| rng.random_range(0..2)).collect();
        let s: Vec<i32> = (0..n).map(|_| rng.random_range(0..2)).collect();
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for j in 0..WIDTH {
            let lean = 0.02 * (j % 7) as f32;
            let value = |i: usize| lean * (y[i] + s[i]) as f32;
            let x: Float32Array =
                (0..n).map(|i| rng.random::<f32>() + value(i)).collect::<Vec<_>>().into();
            columns.push((format!("x{j}"), Arc::new(x)));
        }
        columns.push(("y".into(), Arc::new(Int32Array::from(y))));
        columns.push(("s".into(), Arc::new(Int32Array::from(s))));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let out = writer.get_or_insert_with(|| {
            ArrowWriter::try_new(File::create(&part).unwrap(), batch.schema(), None).unwrap()
        });
        out.write(&batch).unwrap();
        left -= n;
    }
    writer.unwrap().close().unwrap();
    std::fs::rename(part, &path).unwrap();
    path
}

fn scan(path: &Path) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let reader = builder.with_batch_size(BATCH).build().unwrap();
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert!(rows > 0);
}

/// The moments of as many rows, from one block that stays in the cache.
fn accumulate(rows: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let x: Vec<f64> = (0..BATCH * WIDTH).map(|_| rng.random()).collect();
    let y: Vec<u32> = (0..BATCH as u32).map(|i| i % 2).collect();
    let layout = Layout::dense(WIDTH).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let mut moments = Moments::new(layout, MomentsOptions::default()).unwrap();
    let block = Block::new(MatRef::from_row_major_slice(&x, BATCH, WIDTH)).class(&y).class(&y);
    for _ in 0..rows / BATCH {
        moments.push(&block).unwrap();
    }
}

fn multiply(rows: usize) {
    let x = Mat::from_fn(BATCH, WIDTH, |i, j| (i * j % 17) as f64);
    let w = Mat::from_fn(WIDTH, 1, |i, _| i as f64);
    let mut sum = 0.0;
    for _ in 0..rows / BATCH {
        sum += (&x * &w)[(0, 0)];
    }
    assert!(sum.is_finite());
}

/// Runs a command and returns its peak memory in MB.
fn watched(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) / 1024);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return peak;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
