//! Arrow IPC, as a file (Feather version 2) or as a stream.
//!
//! A batch of the file is read whole, so memory is bounded by the largest batch
//! that its writer made.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;

use super::arrow_stated::Stated;
use super::arrow_walk::{self, Walk};
use super::{Batches, Layout, Probed, RowsHint, arranged, columns_of, unique_places};
use crate::error::{DataError, Result};
use crate::guard::guarded;
use crate::input::Input;
use crate::opened::Opened;

/// Which form the file has, and what its columns need unpacked.
#[derive(Clone, Debug)]
pub(super) struct ArrowLayout {
    form: Form,
    stated: Arc<Stated>,
}

/// The two forms.
#[derive(Clone, Copy, Debug)]
enum Form {
    File,
    Stream,
}

fn damaged(path: &Path, error: impl ToString) -> DataError {
    DataError::damaged(path, "Arrow", error)
}

fn form(path: &Path, file: &mut Opened) -> Result<Form> {
    let mut magic = Vec::new();
    file.take(6).read_to_end(&mut magic).map_err(|e| DataError::read(path, e))?;
    file.seek(SeekFrom::Start(0)).map_err(|e| DataError::read(path, e))?;
    match magic.as_slice() {
        b"ARROW1" => Ok(Form::File),
        [b'F', b'E', b'A', b'1', ..] => {
            Err(damaged(path, "it is Feather version 1; save it as version 2"))
        }
        // A stream opens with its continuation marker.
        [0xff, 0xff, 0xff, 0xff, ..] => Ok(Form::Stream),
        _ => Err(damaged(path, "it starts with neither the file nor the stream marker")),
    }
}

pub(super) fn probe(path: &Input, length: u64) -> Result<Probed> {
    guarded(path, "Arrow", || look(path, length))
}

fn look(path: &Input, length: u64) -> Result<Probed> {
    let mut file = path.open()?;
    let form = form(path, &mut file)?;
    let walk = match form {
        Form::File => arrow_walk::file(&mut file, length),
        Form::Stream => arrow_walk::stream(&mut file, length),
    };
    let Walk { rows, stated } = walk.map_err(|e| damaged(path, e))?;
    if rows == 0 {
        return Err(DataError::NoRows { path: path.to_path_buf() });
    }
    file.seek(SeekFrom::Start(0)).map_err(|e| DataError::read(path, e))?;
    let schema = match form {
        Form::File => FileReader::try_new(file, None).map_err(|e| damaged(path, e))?.schema(),
        Form::Stream => {
            StreamReader::try_new_buffered(file, None).map_err(|e| damaged(path, e))?.schema()
        }
    };
    Ok(Probed {
        columns: columns_of(&schema),
        rows: Some(RowsHint { rows, exact: true }),
        layout: Layout::Arrow(ArrowLayout { form, stated: Arc::new(stated) }),
    })
}

pub(super) fn read(path: &Input, layout: &ArrowLayout, places: &[usize]) -> Result<Batches> {
    guarded(path, "Arrow", || start(path, layout, places))
}

fn start(path: &Input, layout: &ArrowLayout, places: &[usize]) -> Result<Batches> {
    let file = path.open()?;
    let (unique, order) = unique_places(places);
    sarl_memory::check(layout.stated.of(&unique)).map_err(|e| DataError::memory(path, e))?;
    let batches: RawBatches = match layout.form {
        Form::File => Box::new(
            FileReader::try_new(BufReader::new(file), Some(unique))
                .map_err(|e| damaged(path, e))?,
        ),
        Form::Stream => Box::new(
            StreamReader::try_new(BufReader::new(file), Some(unique))
                .map_err(|e| damaged(path, e))?,
        ),
    };
    Ok(Box::new(ArrowBatches { path: path.clone(), batches, order }))
}

type RawBatches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

struct ArrowBatches {
    path: Input,
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
