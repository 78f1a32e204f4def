//! Bad inputs: each gets the message that a person needs, and none a panic.
#![allow(clippy::unwrap_used)] // tests

mod common;

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
    let (message, _, class) = said(Source::open(&[folder.path().join("notes.txt")]), folder.path());
    assert!(message.starts_with("notes.txt: unknown data format; expected .csv"), "{message}");
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
    open_says("a.csv", b"a,a\n1,2\n", "a.csv: two columns are named `a`");
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
        "column `b`: all 2 values are missing",
    );
    assert_eq!(hint.unwrap(), "leave it out with --drop b");
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
        "column `id`: more than 10000 different values; is it an identifier?",
    );
    assert_eq!(hint.unwrap(), "leave it out with --drop id");
    let without = |target| Request { drop: vec!["id".to_owned()], ..request(target, "s") };
    let hint = csv_says(
        &text,
        &without("a"),
        "column `a`: more than 10000 different values; is it an identifier?",
    );
    assert_eq!(hint.unwrap(), "if it is a number, say `a:number`");
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
    let both = Targets::parse(&[":features", "income"]).unwrap_err();
    assert_eq!(
        both.to_string(),
        "a target column was given together with `:features` as the target"
    );
}

#[test]
fn files_that_do_not_agree() {
    let (folder, first) = text_file("1.csv", "a,y,s\n1,u,p\n2,v,q\n");
    let second = folder.path().join("2.csv");
    fs::write(&second, "a,s,z\n1,p,3\n").unwrap();
    let (message, _, class) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "2.csv: column `y` is not there, but it is in 1.csv");
    assert_eq!(class, ExitClass::Data);
    fs::write(&second, "a,s,y,z\n1,p,u,3\n").unwrap();
    let (message, ..) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "1.csv: column `z` is not there, but it is in 2.csv");
    fs::write(&second, "s,y,a\np,u,word\n").unwrap();
    let (message, ..) = said(Source::open(&[&first, &second]), folder.path());
    assert_eq!(message, "2.csv: column `a` holds text, expected integers as in 1.csv");
}

#[test]
fn damaged_archives() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_parquet(&at("a.parquet"), &table(2000), 500);
    let whole = fs::read(at("a.parquet")).unwrap();
    fs::write(at("cut.parquet"), &whole[..whole.len() / 2]).unwrap();
    let (message, _, class) = said(Source::open(&[at("cut.parquet")]), folder.path());
    assert!(message.starts_with("cut.parquet: not a readable Parquet file: "), "{message}");
    assert_eq!(class, ExitClass::Data);

    write_gz(&at("a.csv.gz"), &csv_text(&table(2000)));
    let whole = fs::read(at("a.csv.gz")).unwrap();
    fs::write(at("cut.csv.gz"), &whole[..whole.len() / 2]).unwrap();
    let (message, _, class) = said(learn(&at("cut.csv.gz"), &table_request()), folder.path());
    assert!(message.starts_with("cut.csv.gz: not a readable gzip file: "), "{message}");
    assert_eq!(class, ExitClass::Data);

    write_arrow(&at("a.arrow"), &table(2000), 500);
    let whole = fs::read(at("a.arrow")).unwrap();
    fs::write(at("cut.arrow"), &whole[..whole.len() / 2]).unwrap();
    let (message, ..) = said(Source::open(&[at("cut.arrow")]), folder.path());
    assert!(message.starts_with("cut.arrow: not a readable Arrow file: "), "{message}");

    write_safetensors(&at("a.safetensors"), &matrix(100));
    let whole = fs::read(at("a.safetensors")).unwrap();
    fs::write(at("cut.safetensors"), &whole[..whole.len() - 100]).unwrap();
    let (message, ..) = said(Source::open(&[at("cut.safetensors")]), folder.path());
    assert_eq!(
        message,
        "cut.safetensors: not a readable safetensors file: it has 3500 bytes of data, expected 3600"
    );

    let x = npy(&[10, 5], &[0.5f32; 50], Order::C);
    open_says(
        "a.npy",
        &x[..x.len() - 8],
        "a.npy: not a readable NPY file: array `X` has 192 bytes, expected 200",
    );
    open_says(
        "a.npy",
        b"hello numpy",
        "a.npy: not a readable NPY file: it does not start with NumPy's magic number",
    );
    open_says(
        "a.arrow",
        b"hello arrow",
        "a.arrow: not a readable Arrow file: it starts with neither the file nor the stream marker",
    );
}

#[test]
fn arrays_of_the_wrong_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let says = |arrays: &[(&str, Vec<u8>)]| {
        write_npz(&path, arrays, false);
        said(Source::open(&[&path]), folder.path()).0
    };
    let x = || npy(&[4, 2], &[1f32; 8], Order::C);
    assert_eq!(says(&[("features", x())]), "a.npz: no array `X`; found: features");
    assert_eq!(
        says(&[("X", npy(&[8], &[1f32; 8], Order::C))]),
        "a.npz: array `X` has 1 dimensions, expected two dimensions, rows by features"
    );
    assert_eq!(
        says(&[("X", x()), ("y", npy(&[2, 2, 1], &[1i64; 4], Order::C))]),
        "a.npz: array `y` has 3 dimensions, expected one or two dimensions"
    );
    assert_eq!(
        says(&[("X", x()), ("y", npy(&[3], &[1i64; 3], Order::C))]),
        "a.npz: array `y` has 3 rows, expected 4 as in `X`"
    );
    assert_eq!(says(&[("X", npy::<f32>(&[0, 2], &[], Order::C))]), "a.npz: no rows");
    let header = |descr: &str, shape: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes
    };
    assert_eq!(
        says(&[("X", header("'|O'", "(4, 2)"))]),
        "a.npz: array `X` has pickled Python objects, expected plain numbers (objects are never unpickled)"
    );
    assert_eq!(
        says(&[("X", header("'<c16'", "(4, 2)"))]),
        "a.npz: array `X` has the type `<c16`, expected numbers, booleans or text"
    );
    assert_eq!(
        says(&[("X", header("'<f8'", "(4000000000, 4000000000, 4000000000)"))]),
        "a.npz: not a readable NPZ file: its shape is beyond all bounds"
    );
    assert!(
        says(&[("X", header("[('a', '<f8')]", "(4, 2)"))]).contains("the type `[('a', '<f8')]`")
    );
}

#[test]
fn data_that_the_schema_does_not_fit() {
    let (folder, path) = text_file("a.csv", "age,work,y,s\n1,private,u,p\n2,public,v,q\n");
    let schema = learn(&path, &request("y", "s")).unwrap();
    let skip = BlockOptions { labels: Labels::Skip, ..BlockOptions::default() };
    let other = folder.path().join("b.csv");
    let says = |text: &str, options: &BlockOptions| {
        fs::write(&other, text).unwrap();
        said(blocks(&other, &schema, options), folder.path())
    };
    let (message, hint, class) = says("age,work\n1,private\n2,retired\n", &skip);
    assert_eq!(
        message,
        "b.csv: column `work`, row 2: new category `retired`, expected one of the 2 learned"
    );
    assert_eq!(hint.unwrap(), "use --unseen ignore to encode new categories as all zeros");
    assert_eq!(class, ExitClass::Data);
    let (message, hint, _) = says("ages,work\n1,private\n", &skip);
    assert_eq!(message, "b.csv: no column `age`, which the model needs");
    assert_eq!(hint.unwrap(), "did you mean `ages`?");
    let (message, ..) = says("age,work\nold,private\n", &skip);
    assert_eq!(message, "b.csv: column `age`, row 1: found `old`, expected a number");
    let (message, ..) = says("age,work\n1,private\n,public\n", &skip);
    assert_eq!(message, "b.csv: column `age`, row 2: the value is missing");
    let (message, ..) = says("age,work\n1,private\n", &BlockOptions::default());
    assert_eq!(message, "b.csv: no column `y`, which the model needs");
    let keep = BlockOptions { keep: vec!["id".to_owned()], ..skip.clone() };
    let (message, ..) = says("age,work\n1,private\n", &keep);
    assert_eq!(message, "unknown column `id`");

    fs::write(&other, "age,work\n1,private\n2,retired\n").unwrap();
    let ignore = BlockOptions { unseen: Unseen::Ignore, ..skip.clone() };
    let block = blocks(&other, &schema, &ignore).unwrap().remove(0);
    assert_eq!(block.codes[0].codes, [0, UNSEEN]);
    assert_eq!(block.densify()[3..], [1.0, 0.0, 0.0]);

    // A typed column of the wrong type.
    let typed = folder.path().join("b.parquet");
    let renamed = table(10).project(&[2, 2]).unwrap();
    let columns = ["age", "work"].into_iter().zip(renamed.columns().iter().cloned());
    write_parquet(&typed, &arrow_array::RecordBatch::try_from_iter(columns).unwrap(), 10);
    let (message, ..) = said(blocks(&typed, &schema, &skip), folder.path());
    assert_eq!(message, "b.parquet: column `age` holds text, expected numbers");
}

#[test]
fn rows_are_counted_past_those_left_out() {
    let (folder, path) = text_file("a.csv", "a,b,y,s\n1,x,u,p\n2,z,v,q\n");
    let schema = learn(&path, &Request { missing: Missing::Drop, ..request("y", "s") }).unwrap();
    let other = folder.path().join("b.csv");
    fs::write(&other, "a,b\n1,x\n,x\n,z\n3,new\n").unwrap();
    let skip = BlockOptions { labels: Labels::Skip, ..BlockOptions::default() };
    let (message, ..) = said(blocks(&other, &schema, &skip), folder.path());
    assert_eq!(
        message,
        "b.csv: column `b`, row 4: new category `new`, expected one of the 2 learned"
    );
}

#[test]
fn a_date_is_no_feature() {
    use arrow_array::{ArrayRef, Date32Array};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2, 3]));
    let mut columns: Vec<(&str, ArrayRef)> = vec![("day", dates)];
    let base = table(3);
    columns.push(("income", base.column(5).clone()));
    columns.push(("sex", base.column(6).clone()));
    write_parquet(&path, &arrow_array::RecordBatch::try_from_iter(columns).unwrap(), 10);
    let (message, hint, _) = said(learn(&path, &request("income", "sex")), folder.path());
    assert_eq!(message, "a.parquet: column `day` holds Date32, expected text, booleans or numbers");
    assert_eq!(hint.unwrap(), "convert the column, or leave it out with --drop day");
}

#[test]
fn hostile_schemas() {
    let (_folder, path) = text_file("a.csv", "age,work,y,s\n1,private,u,p\n2,public,v,q\n");
    let json = learn(&path, &request("y", "s")).unwrap().to_json().unwrap();
    let says = |from: &str, to: &str| {
        let changed = json.replacen(from, to, 1);
        assert_ne!(changed, json, "`{from}` is not in {json}");
        let error = Schema::from_json(&changed).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Data);
        error.to_string()
    };
    assert_eq!(
        says("\"version\":1", "\"version\":7"),
        "unusable schema: found version 7, expected 1"
    );
    assert_eq!(
        says("\"std\":0.5", "\"std\":-1.0"),
        "unusable schema: column `age`: found mean 1.5 and standard deviation -1, expected finite numbers"
    );
    assert_eq!(
        says("\"fill\":0", "\"fill\":4000000000"),
        "unusable schema: column `work`: found the fill 4000000000, expected less than 2"
    );
    assert_eq!(
        says("\"public\"", "\"private\""),
        "unusable schema: column `work`: a category comes twice"
    );
    assert_eq!(
        says("[\"u\",\"v\"]", "[\"u\"]"),
        "unusable schema: column `y`: found 1 categories, expected 2 to 10000"
    );
    assert_eq!(
        says("\"name\":\"work\"", "\"name\":\"age\""),
        "unusable schema: the feature `age` has no name or comes twice"
    );
    assert_eq!(
        says("\"counts\":[1,1]", "\"counts\":[1]"),
        "unusable schema: label `y`: found 1 counts, expected 2"
    );
    assert!(says("\"rows\":2", "\"rows\":-2").starts_with("unusable schema: "));
    assert!(says("\"scale\"", "\"scales\"").starts_with("unusable schema: unknown field `scales`"));
    for junk in ["", "null", "[]", "{}", "{\"version\":1}", &"[".repeat(100_000)] {
        assert!(matches!(Schema::from_json(junk), Err(DataError::BadSchema { .. })));
    }
}

#[test]
fn a_pass_can_be_stopped() {
    let (folder, path) = text_file("a.csv", "a,y,s\n1,u,p\n2,v,q\n");
    let source = Source::open(&[&path]).unwrap();
    let stopped = Schema::learn(&source, &request("y", "s"), &mut |_| ControlFlow::Break(()));
    assert_eq!(said(stopped, folder.path()).0, "interrupted");
}

#[test]
fn data_sets_that_are_not_known() {
    let error = sarl_data::dataset("mnist").unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown data set `mnist`; known: gaussian, adult, german, yaleb, cifar100, acs"
    );
    assert_eq!(error.exit_class(), ExitClass::Usage);
}
