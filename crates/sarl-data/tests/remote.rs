//! Objects of a server on this machine, in good and in bad weather.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod common;
#[path = "common/server.rs"]
mod server;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use common::{csv_text, learn_all, table, table_request, write_parquet};
use sarl_data::{AtomicFile, BlockOptions, DataBlock, DataError, ExitClass, Input, Result, Source};
use server::{Answer, Asked, Server};

const TAG: &str = "ETag: \"one\"";

/// All rows of a data set after a pass that learns and a pass that reads.
fn rows(paths: &[PathBuf]) -> Result<Vec<DataBlock>> {
    let schema = learn_all(paths, &table_request())?;
    Source::open(paths)?.blocks(&schema, &BlockOptions::default())?.collect()
}

/// The contents of blocks.
fn contents(blocks: &[DataBlock]) -> Vec<String> {
    blocks.iter().map(|block| format!("{block:?}")).collect()
}

/// A table as CSV and Parquet files, with more than one request to each.
fn tables(rows: usize) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("a.csv"), folder.path().join("b.parquet"));
    fs::write(&csv, csv_text(&table(rows))).unwrap();
    write_parquet(&parquet, &table(rows), rows / 7);
    (folder, vec![csv, parquet])
}

/// Serves the files of a folder, as `change` has it.
fn serving(
    folder: &Path,
    mut change: impl FnMut(usize, Answer) -> Answer + Send + 'static,
) -> Server {
    let folder = folder.to_owned();
    Server::new(move |number, asked| {
        let name = asked.line.split([' ', '?']).nth(1).unwrap().trim_start_matches('/');
        match fs::read(folder.join(name)) {
            Ok(file) => change(number, Answer::part(&file, asked)),
            Err(_) => Answer::new("404 Not Found"),
        }
    })
}

fn address(server: &Server, path: &Path) -> PathBuf {
    PathBuf::from(server.at(path.file_name().unwrap().to_str().unwrap()))
}

#[test]
fn the_same_rows_as_from_disk() {
    let (folder, paths) = tables(150_000);
    let server = serving(folder.path(), |_, answer| answer.header(TAG));
    for path in &paths {
        let local = rows(std::slice::from_ref(path)).unwrap();
        let remote = rows(&[address(&server, path)]).unwrap();
        assert!(contents(&local) == contents(&remote), "{path:?}");
    }
}

#[test]
fn a_second_pass_fetches_nothing() {
    let (folder, paths) = tables(150_000);
    let sizes: usize = paths.iter().map(|p| fs::metadata(p).unwrap().len() as usize).sum();
    assert!(sizes > 10 << 20, "{sizes}");
    let server = serving(folder.path(), |_, answer| answer.header(TAG));
    let remote: Vec<PathBuf> = paths.iter().map(|path| address(&server, path)).collect();
    for path in &remote {
        let source = Source::open(&[path]).unwrap();
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        let schema = sarl_data::Schema::learn(&source, &table_request(), go_on).unwrap();
        for _ in 0..2 {
            let blocks = source.blocks(&schema, &BlockOptions::default()).unwrap();
            assert_eq!(blocks.map(|b| b.unwrap().rows).sum::<usize>(), 150_000);
        }
    }
    let length = |a: &Asked| a.to.unwrap() - a.from.unwrap() + 1;
    let fetched: usize = server.asked().iter().map(length).sum();
    assert!(fetched <= sizes + 2, "{fetched} of {sizes} bytes");
}

#[test]
fn broken_connections_go_on_where_they_stopped() {
    let (folder, paths) = tables(150_000);
    let local = rows(&paths[..1]).unwrap();
    let size = fs::metadata(&paths[0]).unwrap().len() as usize;
    for tag in [TAG, "X-Without: a tag"] {
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        let server = serving(folder.path(), move |number, answer| {
            let answer = answer.header(tag);
            // Every other body ends early, some of them before the first block is whole.
            let length = answer.body.len();
            let cut = [length / 3, length, 100_000, length, 2_000_000][number % 5];
            let answer = answer.cut(cut.max(1).min(length));
            count.fetch_add(answer.body.len(), Ordering::SeqCst);
            answer
        });
        let remote = rows(&[address(&server, &paths[0])]).unwrap();
        assert!(contents(&local) == contents(&remote));
        let asked = server.asked();
        assert!(asked.len() > 6, "{}", asked.len());
        // Two sources read it, and what has come is not sent again.
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < 2 * size + size / 10, "{sent} of {size}");
    }
}

#[test]
fn a_server_that_never_finishes_is_an_error_that_names_the_object() {
    let (folder, paths) = tables(2000);
    for path in &paths {
        let server = serving(folder.path(), |number, answer| match number {
            0 => answer,
            _ => answer.cut(0),
        });
        let start = Instant::now();
        let error = rows(&[address(&server, path)]).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Machine, "{error}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(matches!(&error, DataError::Read { .. }), "{error:?}");
        assert!(error.to_string().contains(&server.at(name)), "{error}");
        assert!(error.hint().is_some());
        assert!(start.elapsed().as_secs() < 30);
    }
}

#[test]
fn a_server_that_fails_for_a_while() {
    let (folder, paths) = tables(2000);
    let local = rows(&paths[1..]).unwrap();
    let server = serving(folder.path(), |number, answer| match number % 3 {
        0 => answer,
        _ => Answer::new("503 Slow Down"),
    });
    assert!(contents(&local) == contents(&rows(&[address(&server, &paths[1])]).unwrap()));
}

#[test]
fn a_server_without_ranges() {
    let (folder, paths) = tables(2000);
    let folder_of = folder.path().to_owned();
    let server = Server::new(move |_, asked| {
        let name = asked.line.split(' ').nth(1).unwrap().trim_start_matches('/');
        Answer::whole(&fs::read(folder_of.join(name)).unwrap())
    });
    for path in &paths {
        let local = rows(std::slice::from_ref(path)).unwrap();
        let remote = rows(&[address(&server, path)]).unwrap();
        assert!(contents(&local) == contents(&remote), "{path:?}");
    }
}

#[test]
fn an_object_that_changes() {
    let (folder, paths) = tables(150_000);
    for path in &paths {
        let server = serving(folder.path(), |number, answer| {
            answer.header(if number < 2 { TAG } else { "ETag: \"two\"" })
        });
        let error = rows(&[address(&server, path)]).unwrap_err();
        assert!(matches!(error, DataError::Changed { .. }), "{error:?}");
        assert_eq!(error.exit_class(), ExitClass::Data);
    }
}

#[test]
fn only_the_columns_that_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.parquet");
    let batch = table(700_000);
    write_parquet(&path, &batch, 350_000);
    let size = fs::metadata(&path).unwrap().len() as usize;
    assert!(size > 9 << 20, "{size}");
    let server = serving(folder.path(), |_, answer| answer.header(TAG));
    let request = sarl_data::Request {
        features: Some(vec!["age".parse().unwrap()]),
        ..common::request("income", "sex")
    };
    let schema = learn_all(&[address(&server, &path)], &request).unwrap();
    assert_eq!(schema.rows(), 700_000);
    let fetched: usize = server.asked().iter().map(|a| a.to.unwrap() - a.from.unwrap() + 1).sum();
    assert!(fetched < size / 2, "{fetched} of {size}");
}

#[test]
fn what_is_refused() {
    let server = Server::new(|_, asked| match asked.line.contains("secret") {
        true => Answer::new("403 Forbidden"),
        false => Answer::new("404 Not Found"),
    });
    let error = Source::open(&[server.at("no.csv")]).unwrap_err();
    assert!(
        matches!(&error, DataError::NotFound { path } if path.ends_with("no.csv")),
        "{error:?}"
    );
    let error = Source::open(&[server.at("secret.csv?signature=abc")]).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Machine);
    assert!(error.to_string().contains("secret.csv: cannot read"), "{error}");
    assert!(!error.to_string().contains("abc"), "{error}");
    assert!(error.hint().is_some());
    assert!(server.lines().iter().any(|line| line.contains("signature=abc")));
    for wrong in ["ftp://a/b.csv", "s3:///x.csv", "s3://bucket/a//b.csv"] {
        let error = Source::open(&[wrong]).unwrap_err();
        assert_eq!(error.exit_class(), ExitClass::Usage, "{wrong}: {error}");
    }
}

#[test]
fn outputs_are_sent_whole_or_not_at_all() {
    let server = Server::new(|_, asked| match asked.line.contains("full") {
        true => Answer::new("507 Insufficient Storage"),
        false => Answer::new("201 Created"),
    });
    let send = |name: &str, commit: bool| -> Result<()> {
        let mut file = AtomicFile::create(Path::new(&server.at(name)))?;
        file.write_all(b"some bytes").unwrap();
        if commit { file.commit() } else { Ok(()) }
    };
    send("dropped.csv", false).unwrap();
    assert!(server.asked().is_empty());
    send("z.csv", true).unwrap();
    assert_eq!(server.lines(), ["PUT /z.csv HTTP/1.1"]);
    assert_eq!(server.asked()[0].body, b"some bytes");
    let error = send("full.csv", true).unwrap_err();
    assert_eq!(error.exit_class(), ExitClass::Machine);
    assert!(error.to_string().contains("full.csv: cannot write"), "{error}");
}

#[test]
fn contents_tell_a_format_without_a_name() {
    let (folder, paths) = tables(2000);
    fs::rename(&paths[1], folder.path().join("download")).unwrap();
    let server = serving(folder.path(), |_, answer| answer);
    let input = Input::new(Path::new(&server.at("download?id=3"))).unwrap();
    assert_eq!(input.read().unwrap(), fs::read(folder.path().join("download")).unwrap());
    let source = Source::open(&[server.at("download?id=3")]).unwrap();
    assert_eq!(source.rows_hint().unwrap().rows, 2000);
}
