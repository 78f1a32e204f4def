//! NPY: one matrix. The number of rows is known only at the end, so room is left for
//! it in the header.

use std::io::{BufWriter, Seek, SeekFrom, Write};

use arrow_array::RecordBatch;

use super::{Names, Sink};
use crate::atomic::AtomicFile;
use crate::error::{DataError, Result};

/// The length of the whole header, as NumPy aligns it.
const HEADER: usize = 128;

pub(super) struct NpySink {
    names: Names,
    file: BufWriter<AtomicFile>,
    rows: u64,
}

impl NpySink {
    pub(super) fn create(names: Names) -> Result<Self> {
        if let Some(column) = names.keep.first() {
            return Err(DataError::CannotKeep { path: names.path.clone(), column: column.clone() });
        }
        let file = AtomicFile::create(&names.path)?;
        if file.is_stream() {
            let why = "an .npy file begins with its number of rows, which is known at the end";
            return Err(DataError::write(&names.path, why));
        }
        let mut file = BufWriter::new(file);
        file.write_all(&header(0, names.columns.len()))
            .map_err(|e| DataError::write(&names.path, e))?;
        Ok(Self { names, file, rows: 0 })
    }
}

fn header(rows: u64, columns: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((HEADER - 10) as u16).to_le_bytes());
    bytes.extend(
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}")
            .bytes(),
    );
    bytes.resize(HEADER - 1, b' ');
    bytes.push(b'\n');
    bytes
}

impl Sink for NpySink {
    fn write(&mut self, z: &[f64], rows: usize, keep: Option<&RecordBatch>) -> Result<()> {
        if let Some(field) = keep.and_then(|k| k.schema().fields().first().cloned()) {
            return Err(DataError::CannotKeep {
                path: self.names.path.clone(),
                column: field.name().clone(),
            });
        }
        for value in z {
            self.file
                .write_all(&value.to_le_bytes())
                .map_err(|e| DataError::write(&self.names.path, e))?;
        }
        self.rows += rows as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = self.names.path;
        let mut file =
            self.file.into_inner().map_err(|e| DataError::write(&path, e.into_error()))?;
        let head = header(self.rows, self.names.columns.len());
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&head))
            .map_err(|e| DataError::write(&path, e))?;
        file.commit()
    }
}
