//! Writers: the encoded rows, beside the columns that were kept.

mod npy;
mod table;
mod text;

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use crate::error::{DataError, Result};

/// A format that takes blocks.
trait Sink {
    fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()>;
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Writes a matrix block by block, as the extension says: `.csv`, `.parquet`, `.arrow`
/// or `.npy`; `-` is CSV on standard output.
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
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        let sink: Box<dyn Sink> = match extension.as_deref() {
            None if path == Path::new("-") => Box::new(text::CsvSink::stdout(names)?),
            Some("csv") => Box::new(text::CsvSink::file(names)?),
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

/// What the file and its columns are called.
struct Names {
    path: PathBuf,
    columns: Vec<String>,
    keep: Vec<String>,
}
