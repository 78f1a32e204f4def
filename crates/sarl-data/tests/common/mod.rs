//! Small data sets in every format, made by the crates whose files are read.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test helpers

use std::fs::{self, File};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use sarl_data::{BlockOptions, DataBlock, DataError, Request, Result, Schema, Source, Targets};

/// A small table with every kind of column.
pub fn table(rows: usize) -> RecordBatch {
    let i = || 0..rows;
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "height",
            Arc::new(i().map(|i| (i as f64 * 0.7).sin() * 10.0 + 0.1).collect::<Float64Array>()),
        ),
        ("age", Arc::new(i().map(|i| (i * 7 % 60) as i64 + 18).collect::<Int64Array>())),
        (
            "work",
            Arc::new(StringArray::from_iter_values(
                i().map(|i| ["self-emp", "private", "a, \"b\""][i % 3]),
            )),
        ),
        ("citizen", Arc::new(i().map(|i| Some(i % 5 != 0)).collect::<BooleanArray>())),
        (
            "code",
            Arc::new(i().map(|i| [9, 100, 20, -3][i * i % 4 + i % 2]).collect::<Int64Array>()),
        ),
        (
            "income",
            Arc::new(StringArray::from_iter_values(
                i().map(|i| if i % 4 == 0 { ">50K" } else { "<=50K" }),
            )),
        ),
        ("sex", Arc::new(i().map(|i| (i / 2 % 2) as i64).collect::<Int64Array>())),
        ("score", Arc::new(i().map(|i| (i as f64).sqrt()).collect::<Float64Array>())),
        ("weight", Arc::new(i().map(|i| 0.5 + (i % 3) as f64).collect::<Float64Array>())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The request that uses all of it.
pub fn table_request() -> Request {
    Request {
        targets: Targets::parse(&["income", "score"]).unwrap(),
        sensitives: vec!["sex".parse().unwrap()],
        categorical: vec!["code".to_owned()],
        weight: Some("weight".to_owned()),
        ..Request::default()
    }
}

pub fn csv_text(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(batch.schema().fields().iter().map(|f| f.name().clone())).unwrap();
    for row in 0..batch.num_rows() {
        for column in batch.columns() {
            use arrow_array::cast::AsArray;
            use arrow_array::types::{Float32Type, Float64Type, Int64Type};
            let cell = if let Some(a) = column.as_primitive_opt::<Float64Type>() {
                format!("{:?}", a.value(row))
            } else if let Some(a) = column.as_primitive_opt::<Float32Type>() {
                format!("{:?}", a.value(row) as f64)
            } else if let Some(a) = column.as_primitive_opt::<Int64Type>() {
                a.value(row).to_string()
            } else if let Some(a) = column.as_boolean_opt() {
                a.value(row).to_string()
            } else {
                column.as_string::<i32>().value(row).to_owned()
            };
            writer.write_field(cell).unwrap();
        }
        writer.write_record(None::<&[u8]>).unwrap();
    }
    writer.into_inner().unwrap()
}

pub fn write_parquet(path: &Path, batch: &RecordBatch, group: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

pub fn write_arrow(path: &Path, batch: &RecordBatch, rows: usize) {
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    for start in (0..batch.num_rows()).step_by(rows) {
        writer.write(&batch.slice(start, rows.min(batch.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
}

pub fn write_stream(path: &Path, batch: &RecordBatch) {
    let mut writer = StreamWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

pub fn write_gz(path: &Path, bytes: &[u8]) {
    let mut writer = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap();
}

/// A matrix of features with a class and a sensitive class.
pub struct Matrix {
    pub rows: usize,
    pub x: Vec<f32>,
    pub y: Vec<i64>,
    pub s: Vec<i64>,
}

pub const WIDTH: usize = 5;

pub fn matrix(rows: usize) -> Matrix {
    Matrix {
        rows,
        x: (0..rows * WIDTH).map(|i| ((i * 31 % 1009) as f32 * 0.37).cos() * 3.0).collect(),
        y: (0..rows).map(|i| (i % 3) as i64).collect(),
        s: (0..rows).map(|i| (i / 5 % 2) as i64).collect(),
    }
}

impl Matrix {
    pub fn batch(&self) -> RecordBatch {
        let column = |j: usize| -> ArrayRef {
            Arc::new(self.x.iter().skip(j).step_by(WIDTH).copied().collect::<Float32Array>())
        };
        let mut columns: Vec<(String, ArrayRef)> =
            (0..WIDTH).map(|j| (format!("x{j}"), column(j))).collect();
        columns.push(("y".to_owned(), Arc::new(self.y.iter().copied().collect::<Int64Array>())));
        columns.push(("s".to_owned(), Arc::new(self.s.iter().copied().collect::<Int64Array>())));
        RecordBatch::try_from_iter(columns).unwrap()
    }

    pub fn fortran(&self) -> Vec<f32> {
        (0..WIDTH)
            .flat_map(|j| self.x.iter().skip(j).step_by(WIDTH).copied().collect::<Vec<_>>())
            .collect()
    }
}

/// An NPY array as bytes, written by `npyz`.
pub fn npy<T: npyz::AutoSerialize + Copy>(
    shape: &[u64],
    values: &[T],
    order: npyz::Order,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .order(order)
        .shape(shape)
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A zip archive of arrays.
pub fn write_npz(path: &Path, arrays: &[(&str, Vec<u8>)], deflate: bool) {
    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};
    let method = if deflate { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in arrays {
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

pub fn bytes_of<T: Copy, const N: usize>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

pub fn write_safetensors(path: &Path, m: &Matrix) {
    use safetensors::tensor::{Dtype, TensorView};
    let (x, y, s) = (
        bytes_of(&m.x, f32::to_le_bytes),
        bytes_of(&m.y, i64::to_le_bytes),
        bytes_of(&m.s, i64::to_le_bytes),
    );
    let tensors = vec![
        ("X", TensorView::new(Dtype::F32, vec![m.rows, WIDTH], &x).unwrap()),
        ("y", TensorView::new(Dtype::I64, vec![m.rows], &y).unwrap()),
        ("s", TensorView::new(Dtype::I64, vec![m.rows], &s).unwrap()),
    ];
    fs::write(path, safetensors::serialize(tensors, None).unwrap()).unwrap();
}

pub fn matrix_request() -> Request {
    Request {
        targets: Targets::parse(&["y"]).unwrap(),
        sensitives: vec!["s".parse().unwrap()],
        ..Request::default()
    }
}

pub fn request(target: &str, sensitive: &str) -> Request {
    Request {
        targets: Targets::parse(&[target]).unwrap(),
        sensitives: vec![sensitive.parse().unwrap()],
        ..Request::default()
    }
}

pub fn learn(path: &Path, request: &Request) -> Result<Schema> {
    learn_all(&[path.to_owned()], request)
}

pub fn learn_all(paths: &[PathBuf], request: &Request) -> Result<Schema> {
    Schema::learn(&Source::open(paths)?, request, &mut |_| ControlFlow::Continue(()))
}

pub fn blocks(path: &Path, schema: &Schema, options: &BlockOptions) -> Result<Vec<DataBlock>> {
    Source::open(&[path])?.blocks(schema, options)?.collect()
}

/// A file of text in a folder of its own.
pub fn text_file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

/// The message without the folder, and the hint.
pub fn shown(error: &DataError, folder: &Path) -> (String, Option<String>) {
    let folder = format!("{}/", folder.display());
    (error.to_string().replace(&folder, ""), error.hint().map(|h| h.replace(&folder, "")))
}
