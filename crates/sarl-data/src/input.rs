//! A file to read, which may have come from a stream.
//!
//! Data are read more than once, and a stream can be read only once: what comes from a FIFO, a device
//! or standard input is first copied to a temporary file, which is removed at the end.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use crate::error::{DataError, Result};
use crate::part::{self, Readers};
use crate::place::open_already;

/// Bytes that are copied at a time.
const CHUNK: usize = 256 * 1024;

/// A file of the data by the name that was given; it is a [`Path`] for all that only names it.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    spool: Option<Arc<NamedTempFile>>,
}

impl Input {
    /// A file, or all that comes from a stream; `-` is standard input.
    pub fn new(path: &Path) -> Result<Self> {
        let stream: Option<Box<dyn Read>> = match path == Path::new("-") {
            true => Some(Box::new(io::stdin())),
            false if is_stream(path) => {
                Some(Box::new(File::open(path).map_err(|e| DataError::read(path, e))?))
            }
            false => None,
        };
        let spool = stream.map(|stream| spooled(path, stream, |e| DataError::read(path, e)));
        Ok(Self { path: path.to_owned(), spool: spool.transpose()?.map(Arc::new) })
    }

    /// Whether its name says nothing of its contents.
    pub(crate) fn is_spooled(&self) -> bool {
        self.spool.is_some()
    }

    /// Opens it, at its beginning.
    pub fn open(&self) -> Result<File> {
        let place = self.spool.as_ref().map_or(self.path.as_path(), |spool| spool.path());
        let file = File::open(place).map_err(|e| DataError::read(&self.path, e))?;
        let is_dir = file.metadata().map_err(|e| DataError::read(&self.path, e))?.is_dir();
        match is_dir {
            true => Err(DataError::UnknownFormat { path: self.path.clone() }),
            false => Ok(file),
        }
    }
}

impl Deref for Input {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// Whether a path is neither a file nor a folder, or is open already: `/dev/stdin` has no name of its own.
fn is_stream(path: &Path) -> bool {
    let is_other = |found: fs::Metadata| !found.is_file() && !found.is_dir();
    open_already(path).is_some() || fs::metadata(path).is_ok_and(is_other)
}

/// Copies what comes to a temporary file. `unread` is the error where it cannot be read.
pub(crate) fn spooled(
    path: &Path,
    mut from: impl Read,
    unread: impl Fn(io::Error) -> DataError,
) -> Result<NamedTempFile> {
    let folder = std::env::temp_dir();
    let failed = |source: io::Error| DataError::Spool {
        path: path.to_owned(),
        folder: folder.clone(),
        source: io::Error::from(source.kind()),
    };
    let mut spool = part::create(&folder, Readers::Owner).map_err(failed)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => spool.write_all(&chunk[..count]).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(error)),
        }
    }
    spool.flush().map_err(failed)?;
    Ok(spool)
}
