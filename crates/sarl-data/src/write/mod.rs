//! Writers: the encoded rows, beside the columns that were kept.

mod npy;
mod table;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, FieldRef, Schema};

use crate::error::{DataError, Result};
use crate::place::is_stream;
use crate::remote::without_query;

/// A format that takes blocks.
trait Sink {
    fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()>;
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Writes a matrix block by block, as the extension says: `.csv`, `.parquet`, `.arrow`
/// or `.npy`; `-` is CSV on standard output, and so are devices and FIFOs without extension.
///
/// The file appears under its name only with [`finish`](Writer::finish); a writer that
/// is dropped before leaves nothing.
pub struct Writer {
    sink: Box<dyn Sink>,
    columns: usize,
}

impl Writer {
    /// Begins a file with these columns of numbers, after the columns to keep.
    pub fn create(path: &Path, columns: &[String], keep: &[String]) -> Result<Self> {
        if let Some(twice) = columns.iter().find(|c| keep.contains(c)) {
            let (first, second) = ("a column to keep", "an encoded column");
            return Err(DataError::TwoRoles { column: twice.clone(), first, second });
        }
        let names = Names { path: path.to_owned(), columns: columns.to_vec(), keep: keep.to_vec() };
        let named = without_query(path);
        let extension = named.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let sink: Box<dyn Sink> = match extension.as_deref() {
            None if path == Path::new("-") => Box::new(text::CsvSink::stdout(names)?),
            Some("csv") => Box::new(text::CsvSink::file(names)?),
            None if is_stream(path) => Box::new(text::CsvSink::file(names)?),
            Some("parquet") => Box::new(table::TableSink::create(names, table::Kind::Parquet)?),
            Some("arrow" | "feather" | "ipc") => {
                Box::new(table::TableSink::create(names, table::Kind::Arrow)?)
            }
            Some("npy") => Box::new(npy::NpySink::create(names)?),
            _ => return Err(DataError::UnknownOutput { path: path.to_owned() }),
        };
        Ok(Self { sink, columns: columns.len() })
    }

    /// Writes rows: `z` row by row, and the columns to keep of the same rows.
    pub fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()> {
        let kept = keep.map_or(rows, RecordBatch::num_rows);
        if Some(z.len()) != rows.checked_mul(self.columns) || kept != rows {
            return Err(DataError::WrongBlock { found: z.len(), rows, columns: self.columns });
        }
        self.sink.write(z, rows, keep)
    }

    /// Makes the file whole and gives it its name.
    pub fn finish(self) -> Result<()> {
        self.sink.finish()
    }
}

/// Columns to keep with one of codes after them; rows without a code are empty there.
pub fn with_codes(
    keep: Option<&RecordBatch>,
    name: &str,
    codes: impl Iterator<Item = Option<u32>>,
) -> Result<RecordBatch> {
    let codes: ArrayRef = Arc::new(codes.collect::<UInt32Array>());
    let (found, rows) = (codes.len(), keep.map_or(codes.len(), RecordBatch::num_rows));
    let schema = keep.map(|batch| batch.schema());
    let kept = schema.iter().flat_map(|schema| schema.fields().iter().cloned());
    let field = Arc::new(Field::new(name, DataType::UInt32, true));
    let fields: Vec<FieldRef> = kept.chain([field]).collect();
    let columns = keep.map(|batch| batch.columns().to_vec()).unwrap_or_default();
    let columns = columns.into_iter().chain([codes]).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
        .map_err(|_| DataError::WrongBlock { found, rows, columns: 1 })
}

/// What the file and its columns are called.
struct Names {
    path: PathBuf,
    columns: Vec<String>,
    keep: Vec<String>,
}
