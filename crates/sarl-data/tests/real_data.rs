//! The real data, where they are: in `SARL_DATA` or in `shared/data` beside the
//! repository. Otherwise these tests say that they skip.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests, which say when they skip

mod common;

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use common::*;
use sarl_data::{
    BlockOptions, ColumnRef, DataBlock, LabelValues, Missing, Request, Schema, Source, Treat,
};

fn data(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let set = std::env::var_os("SARL_DATA").map(PathBuf::from);
    let found = set.into_iter().chain([beside]).map(|f| f.join(name)).find(|p| p.exists());
    if found.is_none() {
        // Past the harness, which swallows what passing tests print.
        let mut out = std::io::stderr();
        assert!(std::env::var_os("SARL_REQUIRE_DATA").is_none(), "the real data is required");
        writeln!(out, "SKIPPED: no {name} in SARL_DATA or beside the repository").unwrap();
    }
    found
}

#[test]
fn adult_in_every_matrix_format_gives_the_same_blocks() {
    let Some(path) = data("adult/train.npz") else { return };
    let source = Source::open(&[&path]).unwrap();
    assert_eq!(source.rows_hint().unwrap().rows, 30_162);
    let schema = learn(&path, &matrix_request()).unwrap();
    assert_eq!((schema.dense_width(), schema.rows()), (123, 30_162));
    let expected = blocks(&path, &schema, &BlockOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let batch = raw_batch(&path);
    write_parquet(&folder.path().join("a.parquet"), &batch, 10_000);
    write_arrow(&folder.path().join("a.arrow"), &batch, 7000);
    fs::write(folder.path().join("a.csv"), csv_text(&batch)).unwrap();
    for name in ["a.parquet", "a.arrow", "a.csv"] {
        let path = folder.path().join(name);
        let own = learn(&path, &matrix_request()).unwrap();
        assert!(
            own == schema && blocks(&path, &own, &BlockOptions::default()).unwrap() == expected,
            "{name} differs"
        );
    }
}

/// The columns as they are in the file, by way of the columns handed through.
fn raw_batch(path: &Path) -> RecordBatch {
    let source = Source::open(&[path]).unwrap();
    let schema = learn(path, &matrix_request()).unwrap();
    let keep = source.columns().iter().map(|c| c.name.clone()).collect();
    let options = BlockOptions { keep, ..BlockOptions::default() };
    let batches: Vec<_> =
        blocks(path, &schema, &options).unwrap().into_iter().map(|b| b.keep.unwrap()).collect();
    arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap()
}

#[test]
fn adult_as_distributed_with_a_header() {
    let Some(path) = data("adult/adult.data") else { return };
    let names = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,capital-loss,hours-per-week,native-country,income\n";
    let (_folder, csv) =
        text_file("adult.csv", &(names.to_owned() + &fs::read_to_string(path).unwrap()));
    let refused = learn(&csv, &request("income", "sex")).unwrap_err().to_string();
    assert!(
        refused
            .contains("adult.csv: column `workclass`: 1836 values are missing, first in rows 28, "),
        "{refused}"
    );
    let dropping = Request {
        missing: Missing::Drop,
        drop: vec!["fnlwgt".to_owned()],
        ..request("income", "sex")
    };
    let schema = learn(&csv, &dropping).unwrap();
    assert_eq!((schema.rows(), schema.dropped_rows()), (30_162, 2399));
    let rows: usize =
        blocks(&csv, &schema, &BlockOptions::default()).unwrap().iter().map(|b| b.rows).sum();
    assert_eq!(rows, 30_162);
}

#[test]
fn the_other_matrices_are_read() {
    for (name, rows, width) in [
        ("yaleb/train.npz", 190, 504),
        ("gaussian/train.npz", 4000, 3),
        ("german/all.npz", 1000, 24),
    ] {
        let Some(path) = data(name) else { continue };
        let schema = learn(&path, &matrix_request()).unwrap();
        assert_eq!((schema.rows(), schema.width()), (rows, width), "{name}");
    }
}

#[test]
fn acs_streams_with_codes_as_categories() {
    let Some(path) = data("acs/acs_income_2018.parquet") else { return };
    let source = Source::open(&[&path]).unwrap();
    let categorical = vec!["OCCP".to_owned(), "POBP".to_owned()];
    let request = Request { categorical, drop: vec!["ST".to_owned()], ..request("PINCP", "SEX") };
    let schema = Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(schema.rows(), 1_402_639);
    assert!(schema.width() > 600, "{} columns", schema.width());
    assert!(
        matches!(&schema.targets()[0].values, LabelValues::Class { values, .. } if values == &["false", "true"])
    );
    let check = |block: &DataBlock| {
        assert_eq!(block.dense.len(), block.rows * schema.dense_width());
        assert!(
            block.codes.iter().all(|c| c.codes.iter().all(|code| (*code as usize) < c.categories))
        );
    };
    let mut rows = 0;
    for block in source.blocks(&schema, &BlockOptions::default()).unwrap() {
        let block = block.unwrap();
        check(&block);
        rows += block.rows;
    }
    assert_eq!(rows, 1_402_639);
    // The same by naming the features.
    let refs = ["AGEP", "OCCP:class", "POBP:class"].map(|c| c.parse::<ColumnRef>().unwrap());
    assert_eq!(refs[1].treat, Some(Treat::Class));
}
