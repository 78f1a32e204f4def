//! Names that try to write to the terminal, streams as inputs, and files that ask for more memory
//! than they are worth.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use common::people::Numbers;
use common::{FIT, Folder};
use flate2::{Compression, write::GzEncoder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Packed, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// What a terminal would act on, or a reader be deceived by.
const ATTACK: &str = "\u{1b}[2J\u{9b}31m\r\nerror: forged\u{202e}\u{2066}\u{200b}\u{7f}";

/// A table whose names and cells are hostile.
fn table() -> String {
    let mut numbers = Numbers::new(5);
    let mut text = format!("\"a{ATTACK}\",\"c{ATTACK}\",\"y{ATTACK}\",\"s{ATTACK}\"\n");
    for i in 0..300 {
        let (a, b, c) = (numbers.normal(), numbers.normal(), numbers.normal());
        let word = |name: &str, yes: bool| format!("\"{name}{}{ATTACK}\"", u8::from(yes));
        let (y, s) = (word("y", a + b > 0.0), word("s", a + c > 0.0));
        text += &format!("{a},{},{y},{s}\n", word("c", i % 3 == 0));
    }
    text
}

/// Nothing but lines of visible characters, none of which was forged.
fn assert_visible(line: &str, output: &Output) {
    for said in [&output.stdout, &output.stderr] {
        let said = String::from_utf8(said.clone()).unwrap();
        let unseen =
            |c: char| (c.is_control() && c != '\n') || ATTACK[8..].contains(c) && !c.is_ascii();
        assert!(!said.chars().any(unseen), "{line}: {said:?}");
        assert!(
            !said.lines().any(|l| l.trim_start().starts_with("error: forged")),
            "{line}: {said}"
        );
    }
}

#[test]
fn names_and_cells_cannot_write_to_the_terminal() {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let (y, s) = (format!("y{ATTACK}"), format!("s{ATTACK}"));
    // Names end where what is not seen ends; the last characters are no part of them.
    let labels = ["-t", y.as_str(), "-s", s.as_str()];
    let run = |line: &str, more: &[&str]| {
        let output = folder.command(line).args(more).output().unwrap();
        assert_visible(line, &output);
        output.status.code()
    };
    let model = "m.safetensors";
    assert_eq!(run("fit t.csv --max-leakage 0.2 -o m.safetensors --html r.html", &labels), Some(0));
    assert_eq!(run("fit t.csv --lambda 0.5 -o j.safetensors --json", &labels), Some(0));
    assert_eq!(
        run("fit t.csv --lambda 0.5 --criterion equal-opportunity -o o.safetensors", &labels),
        Some(0)
    );
    assert_eq!(run("front t.csv", &labels), Some(0));
    assert_eq!(run("bounds t.csv", &labels), Some(0));
    assert_eq!(run("inspect t.csv", &labels), Some(0));
    assert_eq!(run("inspect t.csv --json", &[]), Some(0));
    assert_eq!(run("info o.safetensors", &[]), Some(0));
    assert_eq!(run(&format!("audit {model} t.csv --probes linear"), &[]), Some(0));
    assert_eq!(run(&format!("audit {model} t.csv --probes linear --json"), &[]), Some(0));
    assert_eq!(
        run(
            "compare t.csv --rivals leace --probes linear --seeds 1 --leakages 0.1 -o out",
            &labels
        ),
        Some(0)
    );
    assert_eq!(run(&format!("encode {model} t.csv -o z.csv --keep"), &[&y]), Some(0));
    // Errors: an unknown column, a new category, a bad cell, a hostile path.
    assert_eq!(run("fit t.csv --lambda 0 -o x -t", &[ATTACK, "-s", &s]), Some(2));
    folder.write("new.csv", table().replace("c1", "new"));
    assert_eq!(run(&format!("encode {model} new.csv -o z.csv"), &[]), Some(3));
    folder.write("bad.csv", table() + &format!("\"{ATTACK}\",c,y,s\n"));
    assert_eq!(run("fit bad.csv --lambda 0 -o x", &labels), Some(3));
    assert_eq!(run("info", &[&format!("no{ATTACK}")]), Some(3));
    assert_eq!(
        run("fit t.csv --lambda 0 -o", &[&[format!("m{ATTACK}").as_str()], &labels[..]].concat()),
        Some(0)
    );
}

#[test]
fn certificates_with_hostile_names() {
    let folder = Folder::new();
    let rows = table();
    let (header, body) = rows.split_once("\u{7f}\"\n").unwrap();
    folder.write("t.csv", format!("{header}\u{7f}\"\n{}", body.repeat(12)));
    let labels = [format!("y{ATTACK}"), format!("s{ATTACK}")];
    let fit = "fit t.csv --max-advantage 0.5 -o m.safetensors";
    let output = folder.command(fit).args(["-t", &labels[0], "-s", &labels[1]]).output().unwrap();
    assert_visible(fit, &output);
    assert_eq!(output.status.code(), Some(0));
    assert_visible("info", &folder.command("info m.safetensors").output().unwrap());
}

#[test]
fn names_may_end_in_space_that_is_not_ascii() {
    let folder = Folder::new();
    let mut numbers = Numbers::new(9);
    let rows: String =
        (0..100).map(|i| format!("{},{},{}\n", numbers.normal(), i % 2, (i / 2) % 2)).collect();
    folder.write("t.csv", format!("a\u{a0},y\u{a0},s\u{2003}\n{rows}"));
    for (y, s) in [("y\u{a0}", "s\u{2003}"), ("y", "s")] {
        let mut bounds = folder.command("bounds t.csv --features");
        let run = bounds.args(["a\u{a0}", "-t", y, "-s", s]).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn streams_are_inputs() {
    let folder = Folder::with_people();
    let figures = |output: Output| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let mut value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        value["seconds"].take();
        value["model"].take();
        value
    };
    let line =
        |data: &str, out: &str| format!("fit {data} {FIT} --html {out}.html -o {out} --json");
    let file = figures(folder.command(&line("people.csv", "a")).output().unwrap());
    let open = || Stdio::from(fs::File::open(folder.path("people.csv")).unwrap());
    let stdin = folder.command(&line("-", "b")).stdin(open()).output().unwrap();
    assert_eq!(figures(stdin)["js"], file["js"]);
    let shell = format!("cat people.csv | \"$0\" {}", line("/dev/stdin", "c"));
    let mut piped = Command::new("sh");
    piped.args(["-c", &shell, env!("CARGO_BIN_EXE_sarl")]).current_dir(folder.path(""));
    assert_eq!(figures(piped.output().unwrap())["js"], file["js"]);
    let redirected = folder.command(&line("/dev/stdin", "e")).stdin(open()).output().unwrap();
    assert_eq!(figures(redirected)["js"], file["js"]);
    // A name that says nothing: the contents do.
    for (name, make) in [("z.parquet", "parquet"), ("z.arrow", "arrow"), ("z.npy", "npy")] {
        folder.sarl(&format!("encode a people.csv -o {name}")).succeeded();
        let data = Stdio::from(fs::File::open(folder.path(name)).unwrap());
        let run = folder.command("inspect - --json").stdin(data).output().unwrap();
        assert_eq!(figures(run)["rows"], common::people::ROWS, "{make}");
    }
    let mut fit = folder.command(&line("-", "d"));
    let output = fit.stdin(open()).env("TMPDIR", "/nowhere").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("temporary file in /nowhere") && said.contains("TMPDIR"), "{said}");
}

#[test]
fn what_cannot_be_read_has_one_exit_code() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_model();
    for name in ["people.csv", "model.safetensors"] {
        fs::copy(folder.path(name), folder.path(&format!("no-{name}"))).unwrap();
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(folder.path(&format!("no-{name}")), closed).unwrap();
    }
    if fs::File::open(folder.path("no-people.csv")).is_ok() {
        return; // Root reads everything.
    }
    folder.fails(&format!("fit no-people.csv {FIT} -o m.safetensors"), 4);
    folder.fails("info no-model.safetensors", 4);
    folder.fails("encode model.safetensors no-people.csv -o z.csv", 4);
}

/// A text file of one byte over and over, packed to almost nothing.
fn endless(folder: &Folder, name: &str, start: &str) {
    let mut file =
        GzEncoder::new(fs::File::create(folder.path(name)).unwrap(), Compression::fast());
    file.write_all(start.as_bytes()).unwrap();
    let block = vec![b'a'; 1 << 20];
    (0..80).for_each(|_| file.write_all(&block).unwrap());
    file.finish().unwrap();
}

#[test]
fn rows_without_an_end_are_refused() {
    let folder = Folder::new();
    endless(&folder, "line.csv.gz", "a,y,s\n1,2,3\n");
    endless(&folder, "quote.csv.gz", "a,y,s\n1,2,3\n\"");
    endless(&folder, "header.csv.gz", "a,y,s");
    for name in ["line", "quote", "header"] {
        let said =
            folder.fails(&format!("fit {name}.csv.gz -t y -s s --lambda 0 -o m --memory 1G"), 4);
        assert!(said.contains("longer than 67 MB"), "{said}");
    }
}

#[test]
fn dictionaries_and_texts_ask_for_memory_first() {
    let folder = Folder::new();
    let long = "x".repeat(120 << 20);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("big", Arc::new(StringArray::from(vec![long.as_str(); 1]))),
        ("y", Arc::new(Float64Array::from(vec![1.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = |name: &str| fs::File::create(folder.path(name)).unwrap();
    let packed = WriterProperties::builder()
        .set_compression(Packed::ZSTD(ZstdLevel::default()))
        .set_dictionary_page_size_limit(1 << 30)
        .build();
    let mut writer = ArrowWriter::try_new(file("d.parquet"), batch.schema(), Some(packed)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let packed = arrow_ipc::writer::IpcWriteOptions::default()
        .try_with_compression(Some(arrow_ipc::CompressionType::ZSTD))
        .unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new_with_options(
        file("d.arrow"),
        &batch.schema(),
        packed,
    )
    .unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    for name in ["d.parquet", "d.arrow"] {
        let said = folder.fails(&format!("inspect {name} --memory 100M"), 4);
        assert!(said.contains(&format!("{name}: about ")), "{said}");
        assert!(said.contains("limit is 100 MB") && said.contains("--memory"), "{said}");
    }
}
