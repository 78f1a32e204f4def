//! Bad inputs: each gets the message that a person needs, and none a panic.
#![allow(clippy::unwrap_used)] // tests

#[path = "../common/mod.rs"]
mod common;
mod files;
mod schemas;

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use common::*;
use npyz::Order;
use sarl_data::{
    BlockOptions, DataError, ExitClass, Labels, Missing, Request, Result, Schema, Source, Targets,
    UNSEEN, Unseen,
};

/// What a failing call says, with its class.
fn said<T>(result: Result<T>, folder: &Path) -> (String, Option<String>, ExitClass) {
    let error = result.err().unwrap();
    let (message, hint) = shown(&error, folder);
    (message, hint, error.exit_class())
}

/// A CSV file that cannot be learned from.
#[track_caller]
fn csv_says(text: &str, request: &Request, message: &str) -> Option<String> {
    let (folder, path) = text_file("a.csv", text);
    let (found, hint, class) = said(learn(&path, request), folder.path());
    assert_eq!(found, message);
    assert_eq!(class, ExitClass::Data);
    hint
}

/// A file that cannot even be opened.
#[track_caller]
fn open_says(name: &str, bytes: &[u8], message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let (found, _, class) = said(Source::open(&[&path]), folder.path());
    assert_eq!((found.as_str(), class), (message, ExitClass::Data));
}

#[test]
fn files_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let (message, _, class) = said(Source::open(&[folder.path().join("a.csv")]), folder.path());
    assert_eq!((message.as_str(), class), ("a.csv: no such file", ExitClass::Data));
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let (message, hint, _) = said(Source::open(&[folder.path()]), folder.path());
    assert!(message.ends_with(": no data file in this folder"), "{message}");
    assert!(hint.unwrap().contains(".parquet"));
    let (message, _, class) = said(Source::open(&[folder.path().join("notes.doc")]), folder.path());
    assert!(message.starts_with("notes.doc: unknown data format; expected .csv"), "{message}");
    assert_eq!(class, ExitClass::Usage);
    assert_eq!(Source::open::<&Path>(&[]).err().unwrap().to_string(), "no data file given");
}

#[test]
fn csv_files_that_are_none() {
    open_says("a.csv", b"", "a.csv: the file is empty");
    open_says("a.csv", b"a,b\n", "a.csv: no rows");
    open_says("a.csv", b"\x00\x01\x02junk", "a.csv: not a readable CSV file: it holds binary data");
    open_says(
        "a.csv",
        b"\xff\xfea\x00",
        "a.csv: not a readable CSV file: it is UTF-16; save it as UTF-8",
    );
    open_says("a.csv", b"PAR1....", "a.csv: not a readable CSV file: it is a Parquet file");
    open_says(
        "a.csv",
        b"a,b\n1,2\n1,2,3\n",
        "a.csv: row 2 has 3 cells, expected 2 as in the header",
    );
}

#[test]
fn a_ragged_row_far_down() {
    let mut text = "a,y,s\n".to_owned();
    (0..12_000).for_each(|i| text.push_str(&format!("{i},{},{}\n", i % 2, i % 3)));
    text.push_str("1,2\n");
    let hint = csv_says(
        &text,
        &request("y", "s"),
        "a.csv: row 12001 has 2 cells, expected 3 as in the header",
    );
    assert_eq!(hint.unwrap(), "check the quoting and the delimiters of that line");
}

#[test]
fn cells_that_are_no_numbers() {
    let hint = csv_says(
        "a,y,s\n1,u,p\n2,v,q\nabc,u,p\n",
        &request("y", "s"),
        "a.csv: column `a`, row 3: found `abc`, expected a number",
    );
    assert_eq!(hint.unwrap(), "correct the cell, or treat the column as categories with `a:class`");
    csv_says(
        "a,y,s\n1,0,p\n2,1,q\n3,oops,p\n",
        &request("y", "s"),
        "a.csv: column `y`, row 3: found `oops`, expected a number, as in the other rows",
    );
    // Asked for as a class it is one.
    let (_folder, path) = text_file("a.csv", "a,y,s\n1,0,p\n2,1,q\n3,oops,p\n");
    assert!(learn(&path, &request("y:class", "s")).is_ok());
    let large = "expected a finite number of at most 1e100";
    for (cell, shown) in
        [("inf", "inf"), ("-Infinity", "-inf"), ("1e200", "1e200"), ("1e999", "inf")]
    {
        let message = format!("a.csv: column `a`, row 2: found {shown}, {large}");
        csv_says(&format!("a,y,s\n1,u,p\n{cell},v,q\n2,u,p\n"), &request("y", "s"), &message);
    }
}

#[test]
fn labels_and_columns_that_say_nothing() {
    csv_says(
        "a,y,s\n1,u,p\n2,u,q\n",
        &request("y", "s"),
        "label `y`: found the one class `u`, expected at least two",
    );
    csv_says(
        "a,y,s\n1,.5,p\n2,.5,q\n",
        &request("y", "s"),
        "label `y`: found the one number 0.5, expected at least two",
    );
    let hint = csv_says(
        "a,b,y,s\n1,,u,p\n2,?,v,q\n",
        &request("y", "s"),
        "nothing can be learned from column `b` (empty) in 2 rows",
    );
    assert_eq!(hint.unwrap(), "leave it out: --drop b");
    let hint = csv_says(
        "a,y,s\n1,u,p\nNA,v,q\n3,v,q\nnan,v,q\n",
        &request("y", "s"),
        "a.csv: column `a`: 2 values are missing, first in rows 2, 4",
    );
    assert!(hint.unwrap().contains("--missing drop"));
    let drop = Request { missing: Missing::Drop, ..request("y", "s") };
    csv_says("a,b,y,s\n1,,u,p\n,2,v,q\n", &drop, "every one of the 2 rows has a missing value");
}

#[test]
fn weights_that_are_none() {
    let weighted = Request { weight: Some("w".to_owned()), ..request("y", "s") };
    csv_says(
        "a,w,y,s\n1,1,u,p\n2,-1,v,q\n",
        &weighted,
        "a.csv: weight column `w`, row 2: found -1, expected a weight of zero or more",
    );
    csv_says(
        "a,w,y,s\n1,0,u,p\n2,0,v,q\n",
        &weighted,
        "weight column `w`: found only zeros, expected a positive weight",
    );
}

#[test]
fn an_identifier_is_no_category() {
    let mut text = "id,a,y,s\n".to_owned();
    (0..10_001).for_each(|i| text.push_str(&format!("p{i},{i},{},{}\n", i % 2, i % 3)));
    let hint = csv_says(
        &text,
        &request("y", "s"),
        "nothing can be learned from column `id` (more than 10000 different texts) in 10001 rows",
    );
    assert_eq!(
        hint.unwrap(),
        "leave it out: --drop id; or keep the most frequent values: --max-categories 50"
    );
    let without = |target| Request { drop: vec!["a".to_owned()], ..request(target, "s") };
    let hint = csv_says(
        &text,
        &without("id"),
        "label `id`: more than 10000 different values are too many for classes",
    );
    assert_eq!(hint.unwrap(), "choose another label; if they are classes, say `id:class`");
    let without = |target| Request { drop: vec!["id".to_owned()], ..request(target, "s") };
    let (_folder, path) = text_file("a.csv", &text);
    assert!(learn(&path, &without("y")).is_ok());
}

#[test]
fn columns_that_were_misnamed() {
    let (folder, path) = text_file("a.csv", "age,income,sex\n1,u,p\n2,v,q\n");
    let usage = |request: &Request| {
        let (message, hint, class) = said(learn(&path, request), folder.path());
        assert_eq!(class, ExitClass::Usage);
        (message, hint.unwrap_or_default())
    };
    let (message, hint) = usage(&request("incom", "sex"));
    assert_eq!(
        (message.as_str(), hint.as_str()),
        ("unknown column `incom`", "did you mean `income`?")
    );
    let (message, hint) = usage(&request("zzzzzz", "sex"));
    assert_eq!(
        (message.as_str(), hint.as_str()),
        ("unknown column `zzzzzz`", "the columns are: age, income, sex")
    );
    let (message, _) = usage(&request("sex", "sex"));
    assert_eq!(message, "column `sex` is both a target and a sensitive column");
    let (message, _) = usage(&Request { drop: vec!["age".to_owned()], ..request("income", "sex") });
    assert_eq!(message, "no feature column is left");
    let (message, _) = usage(&Request { drop: vec!["sex".to_owned()], ..request("income", "sex") });
    assert_eq!(message, "column `sex` is both a sensitive column and dropped");
    let (message, _) =
        usage(&Request { weight: Some("sex".to_owned()), ..request("income", "sex") });
    assert_eq!(message, "column `sex` is both a sensitive column and the weight");
    assert_eq!(
        ":class".parse::<sarl_data::ColumnRef>().unwrap_err().to_string(),
        "empty column name in `:class`"
    );
    let both = Targets::parse(&[":features", "income"]).unwrap();
    assert!(both.are_features() && both.columns().len() == 1);
}
