//! What a file says of itself is checked before it is believed.
#![allow(clippy::unwrap_used)] // tests

mod common;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::*;
use npyz::Order;
use sarl_data::{BlockOptions, DataError, Request, Schema, Source};

/// Reads all rows of a matrix file.
fn read(path: &Path) -> Result<(), DataError> {
    let source = Source::open(&[path])?;
    let request = Request {
        targets: sarl_data::Targets::parse(&["y"])?,
        sensitives: vec!["s".parse()?],
        ..Request::default()
    };
    let schema = Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(()))?;
    source.blocks(&schema, &BlockOptions::default())?.try_for_each(|block| block.map(drop))
}

#[test]
fn checksums_of_npz_members() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.npz");
    let m = matrix(60);
    let shape = [60, WIDTH as u64];
    for (deflated, fortran) in [(false, false), (true, false), (false, true), (true, true)] {
        let x = match fortran {
            true => npy(&shape, &m.fortran(), Order::Fortran),
            false => npy(&shape, &m.x, Order::C),
        };
        let (y, s) = (npy(&[60], &m.y, Order::C), npy(&[60], &m.s, Order::C));
        write_npz(&path, &[("X", x), ("y", y), ("s", s)], deflated);
        read(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        // The low bits of numbers, which nothing else would notice.
        let mut refused = 0;
        let places: Vec<usize> = (200..bytes.len() / 2).step_by(97).collect();
        for &place in &places {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            fs::write(&path, &changed).unwrap();
            refused += usize::from(matches!(read(&path), Err(DataError::Damaged { .. })));
        }
        assert_eq!(refused, places.len(), "deflated: {deflated}, fortran: {fortran}");
    }
}

#[test]
fn lengths_of_packed_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let batch = table(1000);
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        let path = folder.path().join("t.arrow");
        let stream = folder.path().join("s.arrow");
        let file = fs::File::create(&path).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(file, &batch.schema(), options.clone()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let file = fs::File::create(&stream).unwrap();
        let mut writer =
            StreamWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        for path in [path, stream] {
            learn(&path, &table_request()).unwrap();
            let bytes = fs::read(&path).unwrap();
            let stated = 8000u64.to_le_bytes();
            let at = bytes.windows(8).position(|w| w == stated).unwrap();
            for lie in [8065u64, 1 << 33, 1 << 50, i64::MAX as u64] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                fs::write(&path, &changed).unwrap();
                let error = Source::open(&[&path]).unwrap_err().to_string();
                assert!(error.contains(&format!("states {lie} bytes")), "{error}");
            }
        }
    }
}

#[test]
fn a_million_columns_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let line = |cell: &str| format!("{}{cell}\n", format!("{cell},").repeat(1_000_000));
    fs::write(&path, line("a") + &line("1")).unwrap();
    assert!(matches!(
        Source::open(&[&path]),
        Err(DataError::TooManyColumns { found: 1_000_001, .. })
    ));
}

#[test]
fn wide_tables_are_read_in_small_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let names: Vec<String> = (0..5000).map(|i| format!("x{i}")).collect();
    let mut text = format!("{},y,s\n", names.join(","));
    for i in 0..20 {
        let cells: Vec<String> = (0..5000).map(|j| ((i * 31 + j * 17) % 101).to_string()).collect();
        text += &format!("{},{},{}\n", cells.join(","), i % 2, (i / 2) % 2);
    }
    fs::write(&path, text).unwrap();
    read(&path).unwrap();
}
