//! Arrow IPC, as a file (Feather version 2) or as a stream.
//!
//! A batch of the file is read whole, so memory is bounded by the largest batch
//! that its writer made.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;

use super::arrow_walk::{file_rows, stream_rows};
use super::{Batches, Layout, Probed, RowsHint, arranged, columns_of, open, unique_places};
use crate::error::{DataError, Result};
use crate::guard::guarded;

/// Which of the two forms the file has.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArrowLayout {
    File,
    Stream,
}

fn damaged(path: &Path, error: impl ToString) -> DataError {
    DataError::damaged(path, "Arrow", error)
}

fn form(path: &Path, file: &mut File) -> Result<ArrowLayout> {
    let mut magic = Vec::new();
    file.take(6).read_to_end(&mut magic).map_err(|e| DataError::read(path, e))?;
    file.seek(SeekFrom::Start(0)).map_err(|e| DataError::read(path, e))?;
    match magic.as_slice() {
        b"ARROW1" => Ok(ArrowLayout::File),
        [b'F', b'E', b'A', b'1', ..] => {
            Err(damaged(path, "it is Feather version 1; save it as version 2"))
        }
        // A stream opens with its continuation marker.
        [0xff, 0xff, 0xff, 0xff, ..] => Ok(ArrowLayout::Stream),
        _ => Err(damaged(path, "it starts with neither the file nor the stream marker")),
    }
}

pub(super) fn probe(path: &Path, length: u64) -> Result<Probed> {
    guarded(path, "Arrow", || look(path, length))
}

fn look(path: &Path, length: u64) -> Result<Probed> {
    let mut file = open(path)?;
    let layout = form(path, &mut file)?;
    let rows = match layout {
        ArrowLayout::File => file_rows(&mut file, length),
        ArrowLayout::Stream => stream_rows(&mut file, length),
    };
    let rows = rows.map_err(|e| damaged(path, e))?;
    if rows == 0 {
        return Err(DataError::NoRows { path: path.to_owned() });
    }
    file.seek(SeekFrom::Start(0)).map_err(|e| DataError::read(path, e))?;
    let schema = match layout {
        ArrowLayout::File => {
            FileReader::try_new(file, None).map_err(|e| damaged(path, e))?.schema()
        }
        ArrowLayout::Stream => {
            StreamReader::try_new_buffered(file, None).map_err(|e| damaged(path, e))?.schema()
        }
    };
    Ok(Probed {
        columns: columns_of(&schema),
        rows: Some(RowsHint { rows, exact: true }),
        layout: Layout::Arrow(layout),
    })
}

pub(super) fn read(path: &Path, layout: &ArrowLayout, places: &[usize]) -> Result<Batches> {
    guarded(path, "Arrow", || start(path, layout, places))
}

fn start(path: &Path, layout: &ArrowLayout, places: &[usize]) -> Result<Batches> {
    let file = open(path)?;
    let (unique, order) = unique_places(places);
    let batches: RawBatches = match layout {
        ArrowLayout::File => Box::new(
            FileReader::try_new(BufReader::new(file), Some(unique))
                .map_err(|e| damaged(path, e))?,
        ),
        ArrowLayout::Stream => Box::new(
            StreamReader::try_new(BufReader::new(file), Some(unique))
                .map_err(|e| damaged(path, e))?,
        ),
    };
    Ok(Box::new(ArrowBatches { path: path.to_owned(), batches, order }))
}

type RawBatches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

struct ArrowBatches {
    path: PathBuf,
    batches: RawBatches,
    order: Vec<usize>,
}

impl Iterator for ArrowBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = || self.batches.next().transpose().map_err(|e| damaged(&self.path, e));
        let batch = guarded(&self.path, "Arrow", next).transpose()?;
        Some(batch.and_then(|b| arranged(&b, &self.order).map_err(|e| damaged(&self.path, e))))
    }
}
