//! A file to read, which may have come from a stream or from an object store.
//!
//! Data are read more than once, and a stream can be read only once: what comes from a FIFO, a device,
//! standard input or a web server that gives whole files only is first copied to a temporary file,
//! which is removed at the end. Objects are fetched in pieces ([`crate::remote`]).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use crate::error::{DataError, Result};
use crate::opened::Opened;
use crate::part::{self, Readers};
use crate::place::open_already;
use crate::remote::{self, Found, Object, ObjectReader, Plan};

/// Bytes that are copied at a time.
const CHUNK: usize = 256 * 1024;
/// How often a copy from a web server is begun.
const ATTEMPTS: u32 = 3;

/// A file of the data by the name that was given; it is a [`Path`] for all that only names it.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    from: Origin,
}

/// Where the bytes are.
#[derive(Clone, Debug)]
enum Origin {
    /// In the file of that name.
    File,
    /// In a copy.
    Spool(Arc<NamedTempFile>),
    /// In an object.
    Object(Arc<Object>),
}

impl Input {
    /// A file, an object, or all that comes from a stream; `-` is standard input.
    pub fn new(path: &Path) -> Result<Self> {
        if remote::is_address(path) {
            return Self::fetched(path);
        }
        let stream: Option<Box<dyn Read>> = match path == Path::new("-") {
            true => Some(Box::new(io::stdin())),
            false if is_stream(path) => {
                Some(Box::new(File::open(path).map_err(|e| DataError::read(path, e))?))
            }
            false => None,
        };
        let spool = stream.map(|stream| spooled(path, stream, |e| DataError::read(path, e)));
        let from = spool.transpose()?.map_or(Origin::File, |spool| Origin::Spool(Arc::new(spool)));
        Ok(Self { path: path.to_owned(), from })
    }

    /// An object that was found in a list.
    pub(crate) fn listed(object: Arc<Object>) -> Self {
        Self { path: object.path().to_owned(), from: Origin::Object(object) }
    }

    fn fetched(path: &Path) -> Result<Self> {
        let name = remote::without_query(path);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let whole = match remote::find(path)? {
                Found::Object(object) => {
                    return Ok(Self { path: name, from: Origin::Object(object) });
                }
                Found::Whole(whole) => whole,
            };
            let unread = |source| DataError::Read { path: name.clone(), source };
            match spooled(&name, whole, unread) {
                Err(DataError::Read { .. }) if attempt < ATTEMPTS => {}
                spool => {
                    let from = Origin::Spool(Arc::new(spool?));
                    return Ok(Self { path: name, from });
                }
            }
        }
    }

    /// Whether its contents may tell its format where its name does not.
    pub(crate) fn is_spooled(&self) -> bool {
        !matches!(self.from, Origin::File)
    }

    /// The object, where it is one.
    pub(crate) fn object(&self) -> Option<&Arc<Object>> {
        match &self.from {
            Origin::Object(object) => Some(object),
            Origin::File | Origin::Spool(_) => None,
        }
    }

    /// Opens it, at its beginning.
    pub fn open(&self) -> Result<Opened> {
        let place = match &self.from {
            Origin::File => self.path.as_path(),
            Origin::Spool(spool) => spool.path(),
            Origin::Object(object) => {
                let plan = Arc::new(Plan::whole(object.size()));
                return Ok(Opened::Object(ObjectReader::new(object, plan)));
            }
        };
        let file = File::open(place).map_err(|e| DataError::read(&self.path, e))?;
        let is_dir = file.metadata().map_err(|e| DataError::read(&self.path, e))?.is_dir();
        match is_dir {
            true => Err(DataError::UnknownFormat { path: self.path.clone() }),
            false => Ok(Opened::File(file)),
        }
    }

    /// Opens it to read only what is planned, where it is an object.
    pub(crate) fn open_planned(&self, plan: Option<&Arc<Plan>>) -> Result<Opened> {
        match (self.object(), plan) {
            (Some(object), Some(plan)) => {
                Ok(Opened::Object(ObjectReader::new(object, plan.clone())))
            }
            _ => self.open(),
        }
    }

    /// All of its bytes.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut opened = self.open()?;
        let read = opened.read_to_end(&mut bytes);
        read.map_err(|e| self.blame(DataError::read(&self.path, e))).map(|_| bytes)
    }

    /// The error, or what kept an object from coming, if that is behind it.
    pub fn blame(&self, error: DataError) -> DataError {
        self.object().and_then(|object| object.failure()).unwrap_or(error)
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
