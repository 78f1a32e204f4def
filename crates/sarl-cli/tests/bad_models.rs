//! Models that are none, and tables that a model does not fit.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::people::{self, ROWS, with_cell, with_column};
use common::{Folder, all_fail, files};

/// The bytes with one text in them replaced by another of the same length.
fn patched(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
    let mut bytes = bytes.to_vec();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    bytes
}

#[test]
fn files_that_are_no_model() {
    let folder = Folder::with_model();
    let model = folder.read("model.safetensors");
    let version = r#"\"version\":3"#;
    folder.write("newer.safetensors", patched(&model, version, r#"\"version\":9"#));
    folder.write("half.safetensors", &model[..model.len() / 2]);
    let mut touched = model.clone();
    let last = touched.len() - 2;
    touched[last] ^= 0x7f;
    folder.write("touched.safetensors", touched).write("empty.safetensors", "");
    files::matrix_safetensors(&folder.path("foreign.safetensors"), &files::matrix(10));
    let names = ["newer", "half", "touched", "empty", "foreign", "nowhere"];
    let mut lines: Vec<String> =
        names.map(|n| format!("encode {n}.safetensors people.csv -o z.csv")).to_vec();
    lines.push("encode people.csv people.csv -o z.csv".into());
    lines.push("encode . people.csv -o z.csv".into());
    lines.push("info people.csv".into());
    lines.push("retune half.safetensors --lambda 0.5 -o other.safetensors".into());
    all_fail(&folder, "bad_models", 3, &lines);
}

#[test]
fn tables_that_do_not_fit_the_model() {
    let folder = Folder::with_model();
    let shift = |text: String| text.replacen("hours", "hour", 1);
    folder.write("category.csv", with_cell(12, "work", "robot"));
    folder.write("missing_column.csv", shift(people::csv(ROWS)));
    folder.write("text.csv", with_column("hours", "many"));
    folder.write("word.csv", with_cell(200, "hours", "many"));
    folder.write("gap.csv", with_cell(13, "hours", ""));
    folder.write("gap_category.csv", with_cell(14, "work", ""));
    folder.write("huge.csv", with_cell(15, "hours", "1e300"));
    folder.write("number.csv", with_column("work", "1.5"));
    folder.write("header.csv", format!("{}\n", people::HEADER));
    let names = [
        "category",
        "missing_column",
        "text",
        "word",
        "gap",
        "gap_category",
        "huge",
        "number",
        "header",
        "nowhere",
    ];
    let lines = names.map(|n| format!("encode model.safetensors {n}.csv -o z.csv"));
    all_fail(&folder, "bad_tables", 3, &lines);
}

/// A failed command leaves a file that was there before as it was.
#[test]
fn an_old_output_survives_a_failure() {
    let folder = Folder::with_model();
    folder.write("gap.csv", with_cell(200, "hours", "many")).write("z.csv", "precious\n");
    folder.fails("encode model.safetensors gap.csv -o z.csv", 3);
    assert_eq!(folder.text("z.csv"), "precious\n");
    folder.fails("fit gap.csv -t income -s sex --drop id --lambda 0.5 -o model.safetensors", 3);
    folder.sarl("info model.safetensors").succeeded();
}

#[test]
fn a_new_category_can_be_ignored() {
    let folder = Folder::with_model();
    folder.write("category.csv", with_cell(12, "work", "robot"));
    let line = "encode model.safetensors category.csv --unseen ignore --json -o z.csv";
    let run = folder.sarl(line).succeeded();
    assert_eq!((run.json()["rows"].as_u64(), run.stderr.as_str()), (Some(ROWS as u64), ""));
    folder.sarl("encode model.safetensors people.csv -o all.csv").succeeded();
    let (some, all) = (folder.text("z.csv"), folder.text("all.csv"));
    let differ = some.lines().zip(all.lines()).enumerate().filter(|(_, (a, b))| a != b);
    assert_eq!(differ.map(|(i, _)| i).collect::<Vec<_>>(), [12], "only that row changed");
}

#[test]
fn an_input_is_never_overwritten() {
    let folder = Folder::with_model();
    let before = folder.text("people.csv");
    folder.fails("encode model.safetensors people.csv -o people.csv", 2);
    folder.fails("fit people.csv -t income -s sex --drop id --lambda 0.5 -o people.csv", 2);
    folder.fails("front people.csv -t income -s sex --drop id --csv ./people.csv", 2);
    assert_eq!(folder.text("people.csv"), before);
}

/// Every command refuses what one of them would: the schema is a text to the core.
#[test]
fn a_model_with_a_damaged_schema() {
    let folder = Folder::with_model();
    let mut model = sarl::Model::from_bytes(&folder.read("model.safetensors")).unwrap();
    assert!(model.extra.insert("schema".to_owned(), "[".to_owned()).is_some());
    folder.write("model.safetensors", model.to_bytes().unwrap());
    for line in [
        "info model.safetensors",
        "retune model.safetensors --lambda 0.5 -o new.safetensors",
        "encode model.safetensors people.csv -o z.csv",
    ] {
        let said = folder.fails(line, 3);
        assert!(said.contains("unusable schema: "), "{said}");
    }
}
