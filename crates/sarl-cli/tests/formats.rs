//! The same data is the same answer: in every format, through every way out, and in the library.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::files::{self, Matrix};
use common::{FIT, Folder, people};
use faer::Mat;
use sarl::{Block, FeatureMap, Front, HeldOut, Layout, MomentsOptions, Reduced, Role};
use serde_json::{Value, json};

const ROWS: usize = 700;
const POINTS: usize = 11;

/// Every way to say the same data, as arguments; in a matrix file the labels have their names.
fn every_format(folder: &Folder, m: &Matrix) -> Vec<&'static str> {
    let csv = m.csv();
    folder.write("m.csv", &csv);
    files::gz(&folder.path("m.csv.gz"), csv.as_bytes());
    files::parquet(&folder.path("m.parquet"), &m.batch());
    files::arrow(&folder.path("m.arrow"), &m.batch());
    files::matrix_npz(&folder.path("m.npz"), m);
    files::matrix_safetensors(&folder.path("m.safetensors"), m);
    std::fs::create_dir(folder.path("parts")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    folder.write("parts/a.csv", people::table(lines[0], &lines[1..200]));
    files::parquet(&folder.path("parts/b.parquet"), &m.batch().slice(199, 300));
    files::arrow(&folder.path("parts/c.arrow"), &m.batch().slice(499, ROWS - 499));
    folder.write("parts/notes.txt", "not data");
    vec![
        "m.csv",
        "m.csv.gz",
        "m.parquet",
        "m.arrow",
        "m.npz",
        "m.safetensors",
        "parts",
        "parts/a.csv parts/b.parquet parts/c.arrow",
    ]
}

fn front(folder: &Folder, data: &str, more: &str) -> Value {
    let line = format!("front {data} -t y:class -s s:class --points {POINTS} --json {more}");
    folder.sarl(&line).succeeded().json()
}

/// The greatest difference of numbers between two values of the same shape.
fn distance(a: &Value, b: &Value) -> f64 {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs(),
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(|(a, b)| distance(a, b)).fold(0.0, f64::max)
        }
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
            a.iter().map(|(k, v)| distance(v, &b[k])).fold(0.0, f64::max)
        }
        _ => {
            assert_eq!(a, b);
            0.0
        }
    }
}

/// What the library says of the standardised matrix, in the words of the contract.
fn by_hand(m: &Matrix) -> Value {
    let n = m.rows() as f64;
    let mut x = Mat::from_fn(m.rows(), 4, |i, j| m.x[i][j]);
    for j in 0..4 {
        let mean = x.col(j).sum() / n;
        let variance = x.col(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        x.col_mut(j).iter_mut().for_each(|v| *v = (*v - mean) / variance.sqrt());
    }
    let codes = |v: &[i64]| v.iter().map(|&c| c as u32).collect::<Vec<_>>();
    let map = FeatureMap::linear(4);
    let layout = Layout::dense(4).class("y", Role::Target, 3).class("s", Role::Sensitive, 2);
    let mut moments = map.moments(&layout, MomentsOptions::default()).unwrap();
    let (y, s) = (codes(&m.y), codes(&m.s));
    map.push(&mut moments, &Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
    let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
    let front = Front::new(&reduced, None).unwrap();
    let heldout = HeldOut::new(&moments, 0.0, None).unwrap().points(POINTS).unwrap();
    let points = front.points(POINTS).unwrap().into_iter().zip(heldout).map(|(p, h)| {
        json!({
            "lambda": p.lambda, "dim": p.dim, "jy": p.losses.jy, "js": p.losses.js,
            "utility": p.utility, "leakage": p.leakage,
            "heldout": { "jy": h.jy, "js": h.js, "jy_sd": h.jy_sd, "js_sd": h.js_sd, "kept_sd": h.kept_sd, "leaked_sd": h.leaked_sd, "utility": h.utility, "leakage": h.leakage },
        })
    });
    let b = front.bounds();
    json!({
        "device": "cpu",
        "criterion": "parity",
        "bounds": {
            "n": m.rows(), "features": 4, "basis": 4, "labels": { "target": 3, "sensitive": 2 },
            "gamma_min": b.gamma_min, "gamma_max": b.gamma_max, "alpha_min": b.alpha_min,
            "alpha_max": b.alpha_max, "alpha_bar_min": b.alpha_bar_min,
            "alpha_star_min": b.alpha_star_min, "target_variance": b.target_variance,
            "attainable": b.attainable, "attributes": {
                "target": { "y": {
                    "variance": b.target_variance, "gamma_min": b.gamma_min,
                    "gamma_max": b.gamma_max,
                } },
                "sensitive": { "s": {
                    "alpha_max": b.alpha_max, "alpha_min": b.alpha_min,
                    "alpha_star_min": b.alpha_star_min,
                } },
            },
        },
        "breakpoints": front.breakpoints().unwrap(),
        "points": points.collect::<Vec<_>>(),
    })
}

#[test]
fn every_format_gives_the_front_of_the_library() {
    let (folder, m) = (Folder::new(), files::matrix(ROWS));
    let formats = every_format(&folder, &m);
    let first = front(&folder, formats[0], "");
    for data in &formats {
        let far = distance(&front(&folder, data, ""), &first);
        assert!(far <= 1e-12, "{data} is {far:e} from CSV");
    }
    let far = distance(&first, &by_hand(&m));
    assert!(far < 1e-10, "the command is {far:e} from the library");
}

#[test]
fn matrix_files_name_their_labels() {
    let (folder, m) = (Folder::new(), files::matrix(ROWS));
    every_format(&folder, &m);
    let bounds = |args: &str| folder.sarl(&format!("bounds {args} --json")).succeeded().json();
    let named = bounds("m.npz -t y -s s");
    assert_eq!(bounds("m.npz"), named);
    assert_eq!(bounds("m.safetensors"), named);
}

#[test]
fn the_scale_of_the_features_does_not_matter() {
    let (folder, m) = (Folder::new(), files::matrix(ROWS));
    folder.write("m.csv", m.csv());
    let (standard, none) = (front(&folder, "m.csv", ""), front(&folder, "m.csv", "--scale none"));
    assert!(distance(&standard, &none) < 1e-9);
}

/// Rows of numbers from CSV text with a header.
fn numbers(csv: &str) -> Vec<Vec<f64>> {
    let line = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    csv.lines().skip(1).map(line).collect()
}

fn model(folder: &Folder, options: &str) -> Vec<Vec<f64>> {
    folder.write("m.csv", files::matrix(ROWS).csv());
    let fit = format!("fit m.csv -t y -s s --max-leakage 0.05 -o m.safetensors {options}");
    folder.sarl(&fit).succeeded();
    numbers(&folder.sarl("encode m.safetensors m.csv -o -").succeeded().stdout)
}

#[test]
fn every_output_holds_the_same_z() {
    use arrow_array::{cast::AsArray, types::Float64Type};
    let folder = Folder::new();
    let z = model(&folder, "");
    for kind in ["parquet", "arrow", "npy"] {
        folder.sarl(&format!("encode m.safetensors m.csv -o z.{kind}")).succeeded();
    }
    let open = |name: &str| std::fs::File::open(folder.path(name)).unwrap();
    let parquet =
        parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(open("z.parquet"), ROWS);
    let arrow = arrow_ipc::reader::FileReader::try_new(open("z.arrow"), None).unwrap();
    let columns = |batches: Vec<arrow_array::RecordBatch>| -> Vec<Vec<f64>> {
        let row = |b: &arrow_array::RecordBatch, i: usize| {
            b.columns().iter().map(|c| c.as_primitive::<Float64Type>().value(i)).collect()
        };
        batches
            .iter()
            .flat_map(|b| (0..b.num_rows()).map(|i| row(b, i)).collect::<Vec<_>>())
            .collect()
    };
    assert_eq!(columns(parquet.unwrap().map(Result::unwrap).collect()), z);
    assert_eq!(columns(arrow.map(Result::unwrap).collect()), z);
    let npy = npyz::NpyFile::new(open("z.npy")).unwrap();
    assert_eq!(npy.shape(), [ROWS as u64, z[0].len() as u64]);
    assert_eq!(npy.into_vec::<f64>().unwrap(), z.concat());
}

#[test]
fn z_is_white_on_the_training_rows() {
    let folder = Folder::new();
    for kernel in ["", "--kernel rbf --landmarks 40 --ridge 0"] {
        let z = model(&folder, kernel);
        let (n, dim) = (z.len() as f64, z[0].len());
        for a in 0..dim {
            let mean = z.iter().map(|row| row[a]).sum::<f64>() / n;
            assert!(mean.abs() < 1e-9, "{kernel} mean {mean:e}");
            for b in 0..dim {
                let c = z.iter().map(|row| row[a] * row[b]).sum::<f64>() / n;
                let unit = if a == b { 1.0 } else { 0.0 };
                assert!((c - unit).abs() < 1e-7, "{kernel} covariance {c}");
            }
        }
    }
}

#[test]
fn columns_are_found_by_name_in_any_order_and_format() {
    let folder = Folder::new();
    let z = model(&folder, "");
    let m = files::matrix(ROWS);
    let line = |i: usize| {
        let [a, b, c, d] = m.x[i];
        format!("{c:?},extra,{a:?},{d:?},{b:?}")
    };
    let lines: Vec<String> = (0..ROWS).map(line).collect();
    folder.write("permuted.csv", people::table("x2,note,x0,x3,x1", &lines));
    files::parquet(&folder.path("m.parquet"), &m.batch());
    files::matrix_npz(&folder.path("m.npz"), &m);
    for data in ["permuted.csv", "m.parquet", "m.npz"] {
        let line = format!("encode m.safetensors {data} -o -");
        assert_eq!(numbers(&folder.sarl(&line).succeeded().stdout), z, "{data}");
    }
}

/// The header of a safetensors file: its length, then JSON.
#[test]
fn the_model_describes_itself_to_any_reader() {
    let folder = Folder::with_model();
    let bytes = folder.read("model.safetensors");
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let described = header["__metadata__"]["sarl"].as_str().unwrap();
    let described: Value = serde_json::from_str(described).unwrap();
    assert_eq!((&described["kind"], &described["version"]), (&json!("model"), &json!(3)));
    let shape = &header["encoder.weights"]["shape"];
    assert_eq!(shape[1], described["point"]["dim"]);
    let schema: Value =
        serde_json::from_str(described["extra"]["schema"].as_str().unwrap()).unwrap();
    assert!(schema.to_string().contains("hours") && !FIT.contains("hours"));
}
