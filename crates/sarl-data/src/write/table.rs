//! Parquet and Arrow IPC.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, FieldRef, Schema as ArrowSchema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::{Names, Sink};
use crate::atomic::AtomicFile;
use crate::error::{DataError, Result};

/// Rows to a row group: few enough to keep the memory of the writer small.
const GROUP: usize = 64 * 1024;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Parquet,
    Arrow,
}

/// The types of the kept columns are known with the first block only.
enum State {
    Waiting(AtomicFile),
    Parquet(Box<ArrowWriter<BufWriter<AtomicFile>>>, SchemaRef),
    Arrow(Box<FileWriter<BufWriter<AtomicFile>>>, SchemaRef),
    Failed,
}

pub(super) struct TableSink {
    names: Names,
    kind: Kind,
    state: State,
}

impl TableSink {
    pub(super) fn create(names: Names, kind: Kind) -> Result<Self> {
        let state = State::Waiting(AtomicFile::create(&names.path)?);
        Ok(Self { names, kind, state })
    }

    fn fail(&self, error: impl std::error::Error + Send + Sync + 'static) -> DataError {
        DataError::write(&self.names.path, error)
    }

    fn schema(&self, keep: Option<&RecordBatch>) -> SchemaRef {
        let kept = keep
            .map(|k| k.schema().fields().iter().cloned().collect::<Vec<_>>())
            .unwrap_or_default();
        let number =
            |name: &String| -> FieldRef { Arc::new(Field::new(name, DataType::Float64, false)) };
        Arc::new(ArrowSchema::new(
            kept.into_iter().chain(self.names.columns.iter().map(number)).collect::<Vec<_>>(),
        ))
    }

    /// Begins the table, once the columns are known.
    fn start(&mut self, keep: Option<&RecordBatch>) -> Result<()> {
        let file = match std::mem::replace(&mut self.state, State::Failed) {
            State::Waiting(file) => BufWriter::new(file),
            begun => {
                self.state = begun;
                return Ok(());
            }
        };
        let schema = self.schema(keep);
        self.state = match self.kind {
            Kind::Parquet => {
                // Real numbers hardly repeat: a dictionary of them only costs time.
                let mut properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_row_count(Some(GROUP));
                for name in &self.names.columns {
                    let path = ColumnPath::from(name.as_str());
                    properties = properties.set_column_dictionary_enabled(path, false);
                }
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties.build()));
                State::Parquet(Box::new(writer.map_err(|e| self.fail(e))?), schema)
            }
            Kind::Arrow => {
                let writer = FileWriter::try_new(file, &schema);
                State::Arrow(Box::new(writer.map_err(|e| self.fail(e))?), schema)
            }
        };
        Ok(())
    }

    fn columns(&self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Vec<ArrayRef> {
        let width = self.names.columns.len();
        let mut columns = keep.map(|k| k.columns().to_vec()).unwrap_or_default();
        for place in 0..width {
            let column: Vec<f64> = (0..rows).map(|row| z[row * width + place]).collect();
            columns.push(Arc::new(Float64Array::from(column)));
        }
        columns
    }
}

impl Sink for TableSink {
    fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()> {
        self.start(keep)?;
        let columns = self.columns(z, rows, keep);
        let path = &self.names.path;
        let batch = |schema: &SchemaRef| {
            RecordBatch::try_new(schema.clone(), columns).map_err(|e| DataError::write(path, e))
        };
        match &mut self.state {
            State::Parquet(writer, schema) => {
                writer.write(&batch(schema)?).map_err(|e| DataError::write(path, e))
            }
            State::Arrow(writer, schema) => {
                writer.write(&batch(schema)?).map_err(|e| DataError::write(path, e))
            }
            State::Waiting(_) | State::Failed => {
                Err(DataError::write(path, "writing failed before"))
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.start(None)?;
        let path = self.names.path;
        let file = match self.state {
            State::Parquet(writer, _) => {
                writer.into_inner().map_err(|e| DataError::write(&path, e))?
            }
            State::Arrow(mut writer, _) => {
                writer.finish().map_err(|e| DataError::write(&path, e))?;
                writer.into_inner().map_err(|e| DataError::write(&path, e))?
            }
            State::Waiting(_) | State::Failed => {
                return Err(DataError::write(&path, "writing failed before"));
            }
        };
        file.into_inner().map_err(|e| DataError::write(&path, e.into_error()))?.commit()
    }
}
