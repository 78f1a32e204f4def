//! How fast blocks are made, beside a bare scan of the same Parquet file.
//!
//!     cargo run --release -p sarl-data --example stream_speed -- make big.parquet 1000000 100
//!     cargo run --release -p sarl-data --example stream_speed -- time big.parquet [--class COL,COL] [--threads N] [--rows N] [-t COL] [-s COL]
#![allow(clippy::print_stdout)] // it is a measuring tool

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use sarl_data::{BlockOptions, Request, Schema, Source, Targets};

type Outcome<T> = Result<T, Box<dyn Error>>;

const RUNS: usize = 7;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["make", path, rows, columns] => make(Path::new(path), rows.parse()?, columns.parse()?),
        ["time", path, options @ ..] => time(PathBuf::from(path), options),
        _ => Err("usage: make FILE ROWS COLUMNS | time FILE [--class COL,COL] [--threads N] [--rows N] [-t COL] [-s COL]".into()),
    }
}

/// A file of random floats with two integer labels, in row groups of 100,000 rows.
fn make(path: &Path, rows: usize, columns: usize) -> Outcome<()> {
    let mut state = 1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let mut writer = None;
    for start in (0..rows).step_by(100_000) {
        let n = (rows - start).min(100_000);
        let mut fields: Vec<(String, ArrayRef)> = Vec::new();
        for j in 0..columns {
            fields.push((
                format!("x{j}"),
                Arc::new((0..n).map(|_| random()).collect::<Float32Array>()),
            ));
        }
        for name in ["y", "s"] {
            let label = (0..n).map(|_| i64::from(random() > 0.0));
            fields.push((name.to_owned(), Arc::new(label.collect::<arrow_array::Int64Array>())));
        }
        let batch = RecordBatch::try_from_iter(fields)?;
        if writer.is_none() {
            let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
            writer =
                Some(ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch)?;
            writer.flush()?;
        }
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}

fn time(path: PathBuf, options: &[&str]) -> Outcome<()> {
    let option = |name: &str| {
        options.iter().position(|o| *o == name).and_then(|i| options.get(i + 1).copied())
    };
    let list = |name: &str| -> Vec<String> {
        option(name).map(|v| v.split(',').map(str::to_owned).collect()).unwrap_or_default()
    };
    let threads: usize = option("--threads").unwrap_or("1").parse()?;
    let rows: usize = option("--rows").unwrap_or("8192").parse()?;
    let source = Source::open(&[&path])?.with_threads(threads);
    let request = Request {
        targets: Targets::parse(&[option("-t").unwrap_or("y")])?,
        sensitives: vec![option("-s").unwrap_or("s").parse()?],
        categorical: list("--class"),
        ..Request::default()
    };
    let mut learned = None;
    best("bare parquet scan", || bare(&path, rows))?;
    best("first pass (schema)", || {
        let schema = Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(()))?;
        let rows = schema.rows();
        learned = Some(schema);
        Ok(rows)
    })?;
    let schema = learned.ok_or("no schema")?;
    println!("  {} dense columns, {} with one-hot", schema.dense_width(), schema.width());
    best("second pass (blocks)", || blocks(&source, &schema, rows))
}

fn blocks(source: &Source, schema: &Schema, size: usize) -> Outcome<u64> {
    let mut rows = 0;
    let mut blocks =
        source.blocks(schema, &BlockOptions { rows: size, ..BlockOptions::default() })?;
    while let Some(block) = blocks.next() {
        let block = black_box(block?);
        rows += block.rows as u64;
        blocks.recycle(block);
    }
    Ok(rows)
}

/// What the `parquet` crate needs to decode the whole file.
fn bare(path: &Path, size: usize) -> Outcome<u64> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?
        .with_batch_size(size)
        .build()?;
    let mut rows = 0;
    for batch in reader {
        rows += black_box(batch?).num_rows() as u64;
    }
    Ok(rows)
}

/// The shortest of several runs: other programs only ever make it longer.
fn best(what: &str, mut run: impl FnMut() -> Outcome<u64>) -> Outcome<()> {
    let (mut rows, mut seconds) = (0, f64::INFINITY);
    for _ in 0..RUNS {
        let start = Instant::now();
        rows = run()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    println!("{what:<22} {seconds:8.3} s  {:10.0} rows/s", rows as f64 / seconds);
    Ok(())
}
