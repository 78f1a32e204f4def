//! Files with bytes changed or cut off: an error or other numbers, never a panic.
#![allow(clippy::unwrap_used)] // tests

mod common;

use std::fs;
use std::path::Path;

use common::*;
use npyz::Order;
use sarl_data::{BlockOptions, DataError, Request, Schema, Source};

/// Reads all there is to read; a dead reader is a failure of the test.
fn read(path: &Path, request: &Request, learned: &Schema) {
    let check = |error: DataError| {
        assert!(!matches!(error, DataError::ReaderStopped), "a reader panicked");
    };
    match learn(path, request) {
        Ok(schema) => {
            blocks(path, &schema, &BlockOptions::default()).map(drop).unwrap_or_else(check)
        }
        Err(error) => check(error),
    }
    if let Ok(source) = Source::open(&[path]) {
        let blocks = source.blocks(learned, &BlockOptions::default());
        blocks.and_then(|b| b.collect::<Result<Vec<_>, _>>()).map(drop).unwrap_or_else(check);
    }
}

fn damage(name: &str, bytes: &[u8], request: &Request) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let learned = learn(&path, request).unwrap();
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..150 {
        let mut changed = bytes.to_vec();
        if round % 3 == 0 {
            changed.truncate(random(bytes.len()));
        }
        // Headers and footers are where damage hurts most.
        for _ in 0..1 + random(4) {
            let near = random(changed.len().clamp(1, 300));
            let place =
                [near, changed.len().saturating_sub(1 + near), random(changed.len().max(1))]
                    [random(3)];
            if let Some(byte) = changed.get_mut(place) {
                *byte = [0, 0xff, *byte ^ (1 << random(8)), random(256) as u8][random(4)];
            }
        }
        fs::write(&path, &changed).unwrap();
        read(&path, request, &learned);
    }
}

#[test]
fn csv() {
    damage("a.csv", &csv_text(&table(60)), &table_request());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    write_gz(&path, &csv_text(&table(60)));
    damage("a.csv.gz", &fs::read(path).unwrap(), &table_request());
}

#[test]
fn parquet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_parquet(&path, &table(300), 100);
    damage("a.parquet", &fs::read(path).unwrap(), &table_request());
}

#[test]
fn arrow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.arrow");
    write_arrow(&path, &table(100), 40);
    damage("a.arrow", &fs::read(&path).unwrap(), &table_request());
    write_stream(&path, &table(100));
    damage("a.ipc", &fs::read(&path).unwrap(), &table_request());
}

#[test]
fn matrices() {
    let m = matrix(100);
    let arrays = [
        ("X", npy(&[100, WIDTH as u64], &m.fortran(), Order::Fortran)),
        ("y", npy(&[100], &m.y, Order::C)),
        ("s", npy(&[100], &m.s, Order::C)),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    for deflate in [false, true] {
        write_npz(&path, &arrays, deflate);
        damage("a.npz", &fs::read(&path).unwrap(), &matrix_request());
    }
    write_safetensors(&path, &m);
    damage("a.safetensors", &fs::read(&path).unwrap(), &matrix_request());
}
