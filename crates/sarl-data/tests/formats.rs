//! The same data give the same bits: in every format, for every block size, for any
//! number of files and threads.
#![allow(clippy::unwrap_used, clippy::panic)] // tests

mod common;

use std::fs;
use std::path::PathBuf;

use common::*;
use npyz::Order;
use sarl_data::{
    BlockOptions, DataBlock, LabelColumn, Labels, MatrixArray, Request, Schema, Source, Targets,
};

const ROWS: usize = 5000;

/// The blocks with everything appended into one.
fn whole(blocks: &[DataBlock]) -> DataBlock {
    let mut all = blocks[0].clone();
    for block in &blocks[1..] {
        all.rows += block.rows;
        all.dense.extend(&block.dense);
        all.codes.iter_mut().zip(&block.codes).for_each(|(a, b)| a.codes.extend(&b.codes));
        let labels = |a: &mut Vec<LabelColumn>, b: &[LabelColumn]| {
            for (a, b) in a.iter_mut().zip(b) {
                match (a, b) {
                    (LabelColumn::Class { codes: a, .. }, LabelColumn::Class { codes: b, .. }) => {
                        a.extend(b)
                    }
                    (LabelColumn::Number(a), LabelColumn::Number(b)) => a.extend(b),
                    _ => panic!("labels changed their kind"),
                }
            }
        };
        labels(&mut all.targets, &block.targets);
        labels(&mut all.sensitives, &block.sensitives);
        if let (Some(a), Some(b)) = (&mut all.weights, &block.weights) {
            a.extend(b);
        }
    }
    all
}

fn read(
    paths: &[PathBuf],
    request: &Request,
    rows: usize,
    threads: usize,
) -> (Schema, Vec<DataBlock>) {
    let source = Source::open(paths).unwrap().with_threads(threads);
    let schema = learn_all(paths, request).unwrap();
    let options = BlockOptions { rows, ..BlockOptions::default() };
    let blocks = source.blocks(&schema, &options).unwrap().collect::<Result<_, _>>().unwrap();
    (schema, blocks)
}

#[test]
fn every_table_format_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let batch = table(ROWS);
    let csv = csv_text(&batch);
    fs::write(at("a.csv"), &csv).unwrap();
    write_gz(&at("a.csv.gz"), &csv);
    write_parquet(&at("a.parquet"), &batch, 777);
    write_arrow(&at("a.arrow"), &batch, 333);
    write_stream(&at("a.ipc"), &batch);
    let expected = read(&[at("a.parquet")], &table_request(), 1000, 1);
    assert_eq!(expected.1.len(), 5);
    for name in ["a.csv", "a.csv.gz", "a.arrow", "a.ipc"] {
        assert!(read(&[at(name)], &table_request(), 1000, 1) == expected, "{name} differs");
    }
    for threads in [2, 3, 100] {
        assert!(
            read(&[at("a.parquet")], &table_request(), 1000, threads) == expected,
            "{threads} threads differ"
        );
    }
}

#[test]
fn every_matrix_format_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let m = matrix(ROWS);
    let shape = [ROWS as u64, WIDTH as u64];
    let labels =
        || [("y", npy(&[ROWS as u64], &m.y, Order::C)), ("s", npy(&[ROWS as u64], &m.s, Order::C))];
    let c =
        || vec![("X", npy(&shape, &m.x, Order::C))].into_iter().chain(labels()).collect::<Vec<_>>();
    let f = || {
        vec![("X", npy(&shape, &m.fortran(), Order::Fortran))]
            .into_iter()
            .chain(labels())
            .collect::<Vec<_>>()
    };
    write_npz(&at("c.npz"), &c(), false);
    write_npz(&at("c-deflated.npz"), &c(), true);
    write_npz(&at("f.npz"), &f(), false);
    write_npz(&at("f-deflated.npz"), &f(), true);
    write_safetensors(&at("a.safetensors"), &m);
    fs::write(at("a.csv"), csv_text(&m.batch())).unwrap();
    write_parquet(&at("a.parquet"), &m.batch(), 999);
    write_arrow(&at("a.arrow"), &m.batch(), 4000);
    let expected = read(&[at("c.npz")], &matrix_request(), 1024, 1);
    let names = [
        "c-deflated.npz",
        "f.npz",
        "f-deflated.npz",
        "a.safetensors",
        "a.csv",
        "a.parquet",
        "a.arrow",
    ];
    for name in names {
        assert!(read(&[at(name)], &matrix_request(), 1024, 1) == expected, "{name} differs");
    }
    // X alone, from .npy in both orders.
    fs::write(at("c.npy"), npy(&shape, &m.x, Order::C)).unwrap();
    fs::write(at("f.npy"), npy(&shape, &m.fortran(), Order::Fortran)).unwrap();
    let request = Request { targets: Targets::Features(Vec::new()), ..Request::default() };
    for name in ["c.npy", "f.npy"] {
        let (schema, blocks) = read(&[at(name)], &request, 1024, 1);
        assert!(schema.target_is_features());
        assert_eq!(whole(&blocks).dense, whole(&expected.1).dense, "{name} differs");
    }
}

#[test]
fn the_block_size_changes_nothing_but_the_blocks() {
    let (folder, _) = text_file("none", "");
    let path = folder.path().join("a.parquet");
    write_parquet(&path, &table(ROWS), 1300);
    let paths = [path];
    let (schema, blocks) = read(&paths, &table_request(), 8192, 1);
    let expected = whole(&blocks);
    for rows in [1, 7, 64, 1000, 1300, 4999, 5000, 5001] {
        let (again, blocks) = read(&paths, &table_request(), rows, 1);
        assert_eq!(again, schema);
        assert!(blocks[..blocks.len() - 1].iter().all(|b| b.rows == rows));
        assert!(blocks.iter().enumerate().all(|(i, b)| b.first_row == (i * rows) as u64));
        assert!(whole(&blocks) == expected, "blocks of {rows} rows differ");
    }
}

#[test]
fn several_files_are_one_data_set_whatever_their_order_of_columns() {
    let folder = tempfile::tempdir().unwrap();
    let batch = table(ROWS);
    write_parquet(&folder.path().join("whole.parquet"), &batch, 5000);
    let expected = read(&[folder.path().join("whole.parquet")], &table_request(), 1024, 1);
    let parts = folder.path().join("parts");
    fs::create_dir(&parts).unwrap();
    fs::write(parts.join("notes.txt"), "not data").unwrap();
    let turned: Vec<usize> = (0..batch.num_columns()).rev().collect();
    write_parquet(&parts.join("0.parquet"), &batch.slice(0, 1500), 400);
    fs::write(parts.join("1.csv"), csv_text(&batch.slice(1500, 1).project(&turned).unwrap()))
        .unwrap();
    write_arrow(&parts.join("2.arrow"), &batch.slice(1501, 3499).project(&turned).unwrap(), 1000);
    assert!(read(&[parts], &table_request(), 1024, 1) == expected);
}

#[test]
fn the_numbers_are_what_they_should_be() {
    let text = "age,work,code,income,sex\n10,b,5,1.5,m\n20,a,40,2.5,f\n30,b,5,0.5,m\n";
    let (_folder, path) = text_file("a.csv", text);
    let asked = Request { categorical: vec!["code".to_owned()], ..request("income", "sex") };
    let schema = learn(&path, &asked).unwrap();
    assert_eq!(schema.feature_names(), ["age", "work=a", "work=b", "code=5", "code=40"]);
    assert_eq!((schema.rows(), schema.width(), schema.dense_width()), (3, 5, 1));
    let block = blocks(&path, &schema, &BlockOptions::default()).unwrap().remove(0);
    let expected = [10., 0., 1., 1., 0., 20., 1., 0., 0., 1., 30., 0., 1., 1., 0.];
    assert_eq!(block.densify(), expected);
    assert_eq!(block.targets, [LabelColumn::Number(vec![1.5, 2.5, 0.5])]);
    assert_eq!(block.sensitives, [LabelColumn::Class { classes: 2, codes: vec![1, 0, 1] }]);
}

#[test]
fn a_schema_survives_json_to_the_last_bit() {
    let (_folder, path) = text_file("a.csv", std::str::from_utf8(&csv_text(&table(321))).unwrap());
    let schema = learn(&path, &table_request()).unwrap();
    let json = schema.to_json().unwrap();
    assert_eq!(Schema::from_json(&json).unwrap(), schema);
}

#[test]
fn labels_need_not_be_there_when_they_are_not_read() {
    let (folder, path) = text_file("a.csv", "a,b,y,s\n1,u,p,0\n2,v,q,1\n");
    let schema = learn(&path, &request("y", "s")).unwrap();
    let other = folder.path().join("b.csv");
    fs::write(&other, "id,b,a\n007,v,2\n?,u,1\n").unwrap();
    let options = BlockOptions {
        labels: Labels::Skip,
        keep: vec!["id".to_owned()],
        ..BlockOptions::default()
    };
    let block = blocks(&other, &schema, &options).unwrap().remove(0);
    assert_eq!(block.dense, [2.0, 1.0]);
    assert_eq!(block.codes[0].codes, [1, 0]);
    assert!(block.targets.is_empty() && block.sensitives.is_empty());
    use arrow_array::cast::AsArray;
    let kept = block.keep.unwrap();
    let ids: Vec<_> = kept.column(0).as_string::<i32>().iter().flatten().collect();
    assert_eq!(ids, ["007", "?"]);
}

#[test]
fn matrices_name_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let x = npy(&[4, 2], &[1f64, 2., 3., 4., 5., 6., 7., 9.], Order::C);
    let y = npy(&[4, 2], &[1f32, 2., 3., 4., 5., 6., 7., 9.], Order::C);
    let s = npy(&[4], &[true, false, true, false], Order::C);
    write_npz(&path, &[("X", x), ("y", y), ("s", s)], true);
    let source = Source::open(&[&path]).unwrap();
    let names: Vec<_> = source.columns().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["x0", "x1", "y0", "y1", "s"]);
    assert_eq!(source.array_columns(MatrixArray::Y), ["y0", "y1"]);
    let schema = learn(&path, &request("y", "s")).unwrap();
    assert_eq!(schema.targets().len(), 2);
    assert_eq!(schema.feature_names(), ["x0", "x1"]);
    let block = blocks(&path, &schema, &BlockOptions::default()).unwrap().remove(0);
    assert_eq!(block.targets[1], LabelColumn::Number(vec![2., 4., 6., 9.]));
    assert_eq!(block.sensitives[0], LabelColumn::Class { classes: 2, codes: vec![1, 0, 1, 0] });
}

#[test]
fn missing_values_follow_the_policy() {
    use sarl_data::Missing;
    let text = "a,b,y,s\n1,u,p,0\n,v,q,1\n3,?,p,1\n5,v,NA,0\n6,v,q,1\n";
    let (_folder, path) = text_file("a.csv", text);
    let with = |missing| Request { missing, ..request("y", "s") };
    let dropped = learn(&path, &with(Missing::Drop)).unwrap();
    assert_eq!((dropped.rows(), dropped.dropped_rows()), (2, 3));
    let block = blocks(&path, &dropped, &BlockOptions::default()).unwrap().remove(0);
    assert_eq!((block.rows, block.dense), (2, vec![1.0, 6.0]));
    let filled = learn(&path, &with(Missing::Mean)).unwrap();
    assert_eq!((filled.rows(), filled.dropped_rows()), (4, 1));
    let block = blocks(&path, &filled, &BlockOptions::default()).unwrap().remove(0);
    assert_eq!(block.dense, [1.0, 10.0 / 3.0, 3.0, 6.0]);
    assert_eq!(block.codes[0].codes, [0, 1, 1, 1]);
}

#[test]
fn used_memory_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_parquet(&path, &table(2500), 600);
    let schema = learn(&path, &table_request()).unwrap();
    let options = BlockOptions { rows: 100, ..BlockOptions::default() };
    let expected = blocks(&path, &schema, &options).unwrap();
    let mut again = Source::open(&[&path]).unwrap().blocks(&schema, &options).unwrap();
    for expected in expected {
        let block = again.next().unwrap().unwrap();
        assert!(block == expected);
        again.recycle(block);
    }
    assert!(again.next().is_none());
}

#[test]
fn wide_matrices_with_gaps_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.npy");
    let width = 20_003;
    let mut x: Vec<f64> = (0..3 * width).map(|i| (i as f64).sin()).collect();
    x[width + 8] = f64::NAN;
    fs::write(&path, npy(&[3, width as u64], &x, Order::C)).unwrap();
    let request = Request {
        targets: Targets::Features(Vec::new()),
        missing: sarl_data::Missing::Mean,
        ..Request::default()
    };
    let schema = learn(&path, &request).unwrap();
    let block = blocks(&path, &schema, &BlockOptions::default()).unwrap().remove(0);
    x[width + 8] = (x[8] + x[2 * width + 8]) / 2.0;
    assert!(block.dense == x);
}
