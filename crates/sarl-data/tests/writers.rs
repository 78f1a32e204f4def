//! What is written can be read again; what is not finished is not there.
#![allow(clippy::unwrap_used)] // tests

mod common;

use std::fs;
use std::io::Write;

use common::*;
use sarl_data::{
    AtomicFile, BlockOptions, DataError, ExitClass, Labels, Request, Source, Targets, Writer,
    write_file,
};

fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("{prefix}{i}")).collect()
}

fn entries(folder: &std::path::Path) -> Vec<String> {
    fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn every_format_gives_the_numbers_back() {
    let folder = tempfile::tempdir().unwrap();
    let z: Vec<f64> = (0..3000).map(|i| (i as f64 * 0.1).sin() * 10f64.powi(i % 40 - 20)).collect();
    for name in ["z.csv", "z.parquet", "z.arrow", "z.npy"] {
        let path = folder.path().join(name);
        let mut writer = Writer::create(&path, &names("x", 3), &[]).unwrap();
        for block in z.chunks(3 * 170) {
            writer.write(block, block.len() / 3, None).unwrap();
        }
        assert!(!path.exists());
        writer.finish().unwrap();
        let request = Request { targets: Targets::Features(Vec::new()), ..Request::default() };
        let schema = learn(&path, &request).unwrap();
        let back: Vec<f64> = blocks(&path, &schema, &BlockOptions::default())
            .unwrap()
            .into_iter()
            .flat_map(|b| b.dense)
            .collect();
        assert!(back == z, "{name} differs");
        assert_eq!(schema.feature_names(), names("x", 3));
    }
    assert_eq!(entries(folder.path()).len(), 4);
}

#[test]
fn npy_is_read_by_npyz() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.npy");
    let mut writer = Writer::create(&path, &names("z", 2), &[]).unwrap();
    writer.write(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, None).unwrap();
    writer.finish().unwrap();
    let npy = npyz::NpyFile::new(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(npy.shape(), [3, 2]);
    assert_eq!(npy.into_vec::<f64>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn kept_columns_come_first_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let source_path = folder.path().join("a.parquet");
    let batch = table(500);
    write_parquet(&source_path, &batch, 100);
    let schema = learn(&source_path, &table_request()).unwrap();
    let keep = vec!["work".to_owned(), "age".to_owned()];
    let options = BlockOptions {
        rows: 128,
        labels: Labels::Skip,
        keep: keep.clone(),
        ..BlockOptions::default()
    };
    for name in ["z.csv", "z.parquet", "z.arrow"] {
        let path = folder.path().join(name);
        let mut writer = Writer::create(&path, &names("z", 1), &keep).unwrap();
        for block in Source::open(&[&source_path]).unwrap().blocks(&schema, &options).unwrap() {
            let block = block.unwrap();
            let z: Vec<f64> = block.dense.iter().step_by(schema.dense_width()).copied().collect();
            writer.write(&z, block.rows, block.keep.as_ref()).unwrap();
        }
        writer.finish().unwrap();
        let found: Vec<_> =
            Source::open(&[&path]).unwrap().columns().iter().map(|c| c.name.clone()).collect();
        assert_eq!(found, ["work", "age", "z0"]);
        let request = Request {
            features: Some(vec!["work".parse().unwrap(), "age".parse().unwrap()]),
            ..Request::default()
        };
        let kept = learn(&path, &request).unwrap();
        let original = learn(&source_path, &request).unwrap();
        assert_eq!(kept.features(), original.features(), "{name} differs");
    }
}

#[test]
fn a_dropped_writer_leaves_nothing_and_spares_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["z.csv", "z.parquet", "z.arrow", "z.npy"] {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        let mut writer = Writer::create(&path, &names("z", 2), &[]).unwrap();
        writer.write(&[1.0; 2000], 1000, None).unwrap();
        drop(writer);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        fs::remove_file(&path).unwrap();
    }
    let mut file = AtomicFile::create(&folder.path().join("front.csv")).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn an_empty_output_is_still_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["z.csv", "z.parquet", "z.arrow", "z.npy"] {
        let path = folder.path().join(name);
        Writer::create(&path, &names("z", 2), &[]).unwrap().finish().unwrap();
        assert!(path.exists(), "{name}");
    }
}

#[test]
fn outputs_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let error = |path: &std::path::Path, keep: &[String]| {
        Writer::create(path, &names("z", 1), keep).err().unwrap()
    };
    let missing = error(&at("no/such/folder/z.csv"), &[]);
    assert!(
        shown(&missing, folder.path()).0.starts_with("no/such/folder/z.csv: cannot write: "),
        "{missing}"
    );
    assert_eq!(missing.exit_class(), ExitClass::Machine);
    let unknown = error(&at("z.xlsx"), &[]);
    assert_eq!(
        shown(&unknown, folder.path()).0,
        "z.xlsx: unknown output format; expected .csv, .parquet, .arrow or .npy"
    );
    assert_eq!(unknown.exit_class(), ExitClass::Usage);
    let kept = error(&at("z.npy"), &["id".to_owned()]);
    assert_eq!(
        shown(&kept, folder.path()).0,
        "z.npy: an .npy file holds one matrix and cannot keep the column `id`"
    );
    assert_eq!(kept.hint().unwrap(), "write .csv, .parquet or .arrow to keep columns");
    let twice = error(&at("z.csv"), &["z0".to_owned()]);
    assert_eq!(twice.to_string(), "column `z0` is both a column to keep and an encoded column");
    fs::create_dir(at("folder.csv")).unwrap();
    assert_eq!(error(&at("folder.csv"), &[]).exit_class(), ExitClass::Machine);
    let mut writer = Writer::create(&at("z.csv"), &names("z", 2), &[]).unwrap();
    let short = writer.write(&[1.0; 3], 2, None).unwrap_err();
    assert_eq!(short.to_string(), "found 3 values, expected 2 rows of 2 columns");
}

/// A folder without write permission; root may write everywhere, so this says so.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(folder.path().join("probe"), "").is_ok() {
        println!("skipped: this user may write into a read-only folder");
        return;
    }
    let error = write_file(&folder.path().join("z.csv"), b"z").unwrap_err();
    assert!(matches!(error, DataError::Write { .. }) && error.exit_class() == ExitClass::Machine);
}

/// A device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_machines_fault() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(mut full) = full else { return println!("skipped: no /dev/full here") };
    let cause = full.write_all(b"z").unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let file = AtomicFile::create(&folder.path().join("z.csv")).unwrap();
    let error = file.error(cause);
    assert_eq!(error.exit_class(), ExitClass::Machine);
    assert!(!error.is_broken_pipe());
}
