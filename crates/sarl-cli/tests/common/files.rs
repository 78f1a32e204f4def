//! The same numbers in every format, written by other crates.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;
use parquet::arrow::ArrowWriter;
use safetensors::tensor::{Dtype, TensorView};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::people::Numbers;

/// Features, a target of three classes and a sensitive attribute of two.
pub struct Matrix {
    pub x: Vec<[f64; 4]>,
    pub y: Vec<i64>,
    pub s: Vec<i64>,
}

/// Rows whose features differ in scale and share their causes.
pub fn matrix(rows: usize) -> Matrix {
    let mut numbers = Numbers::new(11);
    let mut m = Matrix { x: Vec::new(), y: Vec::new(), s: Vec::new() };
    for _ in 0..rows {
        let mut normal = || numbers.normal();
        let (a, b, c, d) = (normal(), normal(), normal(), normal());
        m.x.push([a, 100.0 * (b + 0.3 * a), 0.01 * c + 5.0, d - b]);
        m.y.push(i64::from(a + 0.4 * b > 0.2) + i64::from(a + 0.5 * normal() > 0.9));
        m.s.push(i64::from(b + 0.5 * normal() > 0.0));
    }
    m
}

impl Matrix {
    pub fn rows(&self) -> usize {
        self.x.len()
    }

    pub fn csv(&self) -> String {
        let line = |i: usize| {
            let [a, b, c, d] = self.x[i];
            format!("{a:?},{b:?},{c:?},{d:?},{},{}\n", self.y[i], self.s[i])
        };
        "x0,x1,x2,x3,y,s\n".to_owned() + &(0..self.rows()).map(line).collect::<String>()
    }

    pub fn batch(&self) -> RecordBatch {
        let x = |j: usize| -> ArrayRef {
            Arc::new(self.x.iter().map(|row| row[j]).collect::<Float64Array>())
        };
        let label = |v: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(v.to_vec())) };
        let mut columns: Vec<(String, ArrayRef)> =
            (0..4).map(|j| (format!("x{j}"), x(j))).collect();
        columns.push(("y".to_owned(), label(&self.y)));
        columns.push(("s".to_owned(), label(&self.s)));
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn flat(&self) -> Vec<f64> {
        self.x.as_flattened().to_vec()
    }
}

pub fn gz(path: &Path, bytes: &[u8]) {
    let mut writer = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap();
}

pub fn parquet(path: &Path, batch: &RecordBatch) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

pub fn arrow(path: &Path, batch: &RecordBatch) {
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

/// An NPY array as bytes.
pub fn npy<T: npyz::AutoSerialize + Copy>(shape: &[u64], values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape);
    let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// The NPY header of a pickled array of Python objects.
pub fn pickled(rows: usize) -> Vec<u8> {
    let header = format!("{{'descr': '|O', 'fortran_order': False, 'shape': ({rows},), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.");
    bytes
}

pub fn npz(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

pub fn matrix_npz(path: &Path, m: &Matrix) {
    let rows = m.rows() as u64;
    let x = npy(&[rows, 4], &m.flat());
    npz(path, &[("X", x), ("y", npy(&[rows], &m.y)), ("s", npy(&[rows], &m.s))]);
}

pub fn matrix_safetensors(path: &Path, m: &Matrix) {
    let x: Vec<u8> = m.flat().iter().flat_map(|v| v.to_le_bytes()).collect();
    let label = |v: &[i64]| v.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (y, s) = (label(&m.y), label(&m.s));
    let tensors = vec![
        ("X", TensorView::new(Dtype::F64, vec![m.rows(), 4], &x).unwrap()),
        ("y", TensorView::new(Dtype::I64, vec![m.rows()], &y).unwrap()),
        ("s", TensorView::new(Dtype::I64, vec![m.rows()], &s).unwrap()),
    ];
    std::fs::write(path, safetensors::serialize(tensors, None).unwrap()).unwrap();
}
