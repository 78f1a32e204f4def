//! CSV, into a file or onto standard output. Numbers have all their digits; NaN is empty.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use arrow_array::RecordBatch;

use super::{Names, Sink};
use crate::atomic::AtomicFile;
use crate::cells::{Show, show};
use crate::error::{DataError, Result};

/// Where the lines go.
enum Target {
    File(BufWriter<AtomicFile>),
    Stdout(BufWriter<io::Stdout>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

pub(super) struct CsvSink {
    names: Names,
    writer: csv::Writer<Target>,
    cell: String,
}

fn fail(path: &Path, error: csv::Error) -> DataError {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => DataError::write(path, e),
        kind => DataError::write(path, format!("{kind:?}")),
    }
}

impl CsvSink {
    pub(super) fn file(names: Names) -> Result<Self> {
        let file = AtomicFile::create(&names.path)?;
        Self::begin(names, Target::File(BufWriter::new(file)))
    }

    pub(super) fn stdout(names: Names) -> Result<Self> {
        Self::begin(names, Target::Stdout(BufWriter::new(io::stdout())))
    }

    fn begin(names: Names, target: Target) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(target);
        let header = names.keep.iter().chain(&names.columns);
        writer.write_record(header).map_err(|e| fail(&names.path, e))?;
        Ok(Self { names, writer, cell: String::new() })
    }

    fn row(&mut self, kept: &[Show<'_>], row: usize, z: &[f64]) -> Result<(), csv::Error> {
        for column in kept {
            self.cell.clear();
            // A value that cannot be shown is left empty, as a missing one is.
            if column(row, &mut self.cell).is_err() {
                self.cell.clear();
            }
            self.writer.write_field(&self.cell)?;
        }
        for value in z {
            self.cell.clear();
            if !value.is_nan() {
                let _ = write!(self.cell, "{value:?}");
            }
            self.writer.write_field(&self.cell)?;
        }
        self.writer.write_record(None::<&[u8]>)
    }
}

impl Sink for CsvSink {
    fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()> {
        let columns = keep.map_or(&[][..], RecordBatch::columns);
        let kept: Vec<Show<'_>> = columns.iter().map(|c| show(c)).collect();
        let width = self.names.columns.len();
        for row in 0..rows {
            let z = &z[row * width..(row + 1) * width];
            self.row(&kept, row, z).map_err(|e| fail(&self.names.path, e))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = self.names.path;
        let target =
            self.writer.into_inner().map_err(|e| DataError::write(&path, e.into_error()))?;
        match target {
            Target::Stdout(mut stdout) => stdout.flush().map_err(|e| DataError::write(&path, e)),
            Target::File(file) => {
                file.into_inner().map_err(|e| DataError::write(&path, e.into_error()))?.commit()
            }
        }
    }
}
