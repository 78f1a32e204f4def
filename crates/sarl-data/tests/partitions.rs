//! Patterns and partition folders.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use common::{csv_text, learn_all, request, table, write_parquet};
use sarl_data::{
    BlockOptions, ColumnKind, DataError, ExitClass, FeatureValues, Missing, Request, Source,
};

/// A part of the table in a folder, as CSV or Parquet.
fn put(folder: &Path, name: &str, batch: &RecordBatch) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match name.ends_with("csv") {
        true => fs::write(path, csv_text(batch)).unwrap(),
        false => write_parquet(&path, batch, 100),
    }
}

fn names(source: &Source, folder: &Path) -> Vec<String> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    source.paths().map(name).collect()
}

fn kind(source: &Source, name: &str) -> ColumnKind {
    source.columns().iter().find(|c| c.name == name).unwrap().kind
}

/// The rows of a feature, by the text of its categories or as numbers.
fn feature(paths: &[PathBuf], request: &Request, name: &str) -> Vec<String> {
    let schema = learn_all(paths, request).unwrap();
    let source = Source::open(paths).unwrap();
    let features = schema.features();
    let at = features.iter().position(|f| f.name == name).unwrap();
    let is_number = |i: &usize| matches!(features[*i].values, FeatureValues::Number { .. });
    let before = (0..at).filter(is_number).count();
    let width = (0..features.len()).filter(is_number).count();
    let mut found = Vec::new();
    for block in source.blocks(&schema, &BlockOptions::default()).unwrap() {
        let block = block.unwrap();
        match &features[at].values {
            FeatureValues::Number { .. } => {
                found.extend((0..block.rows).map(|r| block.dense[r * width + before].to_string()));
            }
            FeatureValues::Category { values, .. } => {
                let codes = &block.codes[at - before].codes;
                found.extend(codes.iter().map(|c| values[*c as usize].clone()));
            }
        }
    }
    found
}

#[test]
fn partitions_are_columns() {
    for ending in ["csv", "parquet"] {
        let folder = tempfile::tempdir().unwrap();
        let batch = table(60);
        for (i, (year, city)) in
            [(2018, "S%C3%A3o%20Paulo"), (2018, "b"), (2019, "b")].iter().enumerate()
        {
            let name = format!("year={year}/city={city}/x.{ending}");
            put(folder.path(), &name, &batch.slice(20 * i, 20));
        }
        fs::create_dir(folder.path().join("not-a-partition")).unwrap();
        put(folder.path(), &format!("not-a-partition/y.{ending}"), &batch);
        fs::write(folder.path().join("year=2018/_SUCCESS"), "").unwrap();
        let paths = [folder.path().to_owned()];
        let source = Source::open(&paths).unwrap();
        assert_eq!(names(&source, folder.path()).len(), 3, "{ending}");
        assert_eq!(kind(&source, "year"), ColumnKind::Integer);
        assert_eq!(kind(&source, "city"), ColumnKind::Text);
        let request = request("income", "sex");
        let expected = |values: [&str; 3]| {
            values.iter().flat_map(|v| vec![v.to_string(); 20]).collect::<Vec<_>>()
        };
        assert_eq!(
            feature(&paths, &request, "city"),
            expected(["São Paulo", "b", "b"]),
            "{ending}"
        );
        assert_eq!(
            feature(&paths, &request, "year"),
            expected(["2018", "2018", "2019"]),
            "{ending}"
        );
        let classes = Request { categorical: vec!["year".to_owned()], ..request.clone() };
        assert_eq!(
            feature(&paths, &classes, "year"),
            expected(["2018", "2018", "2019"]),
            "{ending}"
        );
        // The other columns are those of the files.
        let one = tempfile::tempdir().unwrap();
        put(one.path(), &format!("all.{ending}"), &batch);
        assert_eq!(
            feature(&paths, &request, "height"),
            feature(&[one.path().to_owned()], &request, "height")
        );
        // A partition as the label.
        let label = Request {
            features: Some(vec!["age".parse().unwrap()]),
            ..common::request("year:class", "city")
        };
        assert_eq!(learn_all(&paths, &label).unwrap().targets().len(), 1);
        let only = Request {
            features: Some(vec!["city".parse().unwrap()]),
            ..common::request("year:class", "city")
        };
        assert_eq!(learn_all(&paths, &only).unwrap().rows(), 60);
    }
}

#[test]
fn missing_partitions_and_names_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let batch = table(40);
    // `age` is in the file too: the folder counts.
    put(folder.path(), "age=7/n=__HIVE_DEFAULT_PARTITION__/x.parquet", &batch.slice(0, 20));
    put(folder.path(), "age=8/n=3/x.parquet", &batch.slice(20, 20));
    let paths = [folder.path().to_owned()];
    assert_eq!(kind(&Source::open(&paths).unwrap(), "n"), ColumnKind::Integer);
    let gaps = learn_all(&paths, &request("income", "sex")).unwrap_err();
    assert!(
        matches!(&gaps, DataError::MissingValues { column, count: 20, .. } if column == "n"),
        "{gaps}"
    );
    let drop = Request { missing: Missing::Drop, ..request("income", "sex") };
    assert_eq!(feature(&paths, &drop, "age"), vec!["8"; 20]);
}

#[test]
fn all_files_have_the_same_partitions() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "year=1/x.csv", &table(20));
    put(folder.path(), "y.csv", &table(20));
    let error = Source::open(&[folder.path()]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Data);
    let text = error.to_string();
    assert!(text.contains("y.csv: column `year` is not there, but it is in"), "{text}");
}

#[test]
fn patterns() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["a1.csv", "a2.csv", "b.csv", "k=1/x.csv", "k=1/m=2/y.csv", "k=2/m=3/x.csv", ".h.csv"]
    {
        put(folder.path(), name, &table(20));
    }
    fs::write(folder.path().join("a3"), "no data").unwrap();
    let open = |pattern: &str| Source::open(&[folder.path().join(pattern)]);
    let found = |pattern: &str| names(&open(pattern).unwrap(), folder.path());
    assert_eq!(found("a*"), ["a1.csv", "a2.csv"]);
    assert_eq!(found("[ab]?.csv"), ["a1.csv", "a2.csv"]);
    assert_eq!(found("?.csv"), ["b.csv"]);
    assert_eq!(found("k=*/m=*/*.csv"), ["k=1/m=2/y.csv", "k=2/m=3/x.csv"]);
    assert_eq!(found("k=2*"), ["k=2/m=3/x.csv"]);
    let source = open("k=*/m=*/*.csv").unwrap();
    assert!(kind(&source, "k") == ColumnKind::Integer && kind(&source, "m") == ColumnKind::Integer);
    // What was typed is no partition.
    let source = open("k=1/m=*/*.csv").unwrap();
    assert!(!source.columns().iter().any(|c| c.name == "k"));
    assert_eq!(kind(&source, "m"), ColumnKind::Integer);
    let error = open("z*").unwrap_err();
    assert!(matches!(error, DataError::NoMatch { .. }) && error.exit_class() == ExitClass::Data);
    assert_eq!(open("a***").unwrap_err().exit_class(), ExitClass::Usage);
    // A file of that name comes first.
    put(folder.path(), "[x].csv", &table(20));
    assert_eq!(found("[x].csv"), ["[x].csv"]);
}
