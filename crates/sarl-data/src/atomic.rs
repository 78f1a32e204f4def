//! Files that are whole or absent.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{DataError, Result};
use crate::part::{self, Readers};
use crate::place::Place;
use crate::remote;

/// A file under construction. What is written goes to a temporary file in the same
/// folder; [`commit`](AtomicFile::commit) gives it its name. Dropped before that, it
/// leaves nothing, and a file that was there before stays as it was.
///
/// An object (`s3://…`) is written to a temporary file first, and sent by
/// [`commit`](AtomicFile::commit).
///
/// A file that is replaced gives its permissions to the new one, and links stay links.
/// Devices and FIFOs are written to, as the bytes come.
///
/// ```
/// use std::io::Write;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("front.csv");
/// let mut file = sarl_data::AtomicFile::create(&path)?;
/// file.write_all(b"lambda,leakage\n").map_err(|e| file.error(e))?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert!(path.exists());
/// # Ok::<(), sarl_data::DataError>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    to: To,
    path: PathBuf,
}

#[derive(Debug)]
enum To {
    /// A temporary file, and what it will be called.
    File(NamedTempFile, PathBuf),
    /// A temporary file that becomes an object.
    Object(NamedTempFile),
    Stream(File),
    Stdout(io::Stdout),
}

impl AtomicFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self> {
        if remote::is_address(path) {
            remote::check_upload(path)?;
            let part = part::create(&std::env::temp_dir(), Readers::Owner);
            let part = part.map_err(|e| DataError::write(path, io::Error::from(e.kind())))?;
            return Ok(Self { to: To::Object(part), path: path.to_owned() });
        }
        let to = match Place::of(path).map_err(|e| DataError::write(path, e))? {
            Place::Stdout => Ok(To::Stdout(io::stdout())),
            Place::Stream(stream) => OpenOptions::new().append(true).open(stream).map(To::Stream),
            Place::File(place) => begin(&place).map(|part| To::File(part, place)),
        };
        let to = to.map_err(|e| DataError::write(path, e))?;
        Ok(Self { to, path: path.to_owned() })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is written cannot be changed later.
    pub(crate) fn is_stream(&self) -> bool {
        !matches!(self.to, To::File(..) | To::Object(_))
    }

    /// The error of this file for a failure to write.
    pub fn error(&self, source: io::Error) -> DataError {
        DataError::write(&self.path, source)
    }

    /// Makes the file whole and gives it its name.
    pub fn commit(mut self) -> Result<()> {
        let fail = |e| DataError::write(&self.path, e);
        self.to.writer().flush().map_err(fail)?;
        match self.to {
            To::File(part, place) => {
                part.as_file().sync_all().map_err(fail)?;
                part.persist(place).map(drop).map_err(|e| DataError::write(&self.path, e.error))
            }
            To::Object(mut part) => remote::upload(part.as_file_mut(), &self.path),
            To::Stream(_) | To::Stdout(_) => Ok(()),
        }
    }
}

impl To {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::File(part, _) | Self::Object(part) => part,
            Self::Stream(stream) => stream,
            Self::Stdout(stdout) => stdout,
        }
    }
}

/// A temporary file for this place, with the permissions that it will have.
fn begin(place: &Path) -> io::Result<NamedTempFile> {
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let why = format!("there is no folder `{}`", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    // Only the kind of the error: its text names the temporary file.
    let before = fs::metadata(place).ok();
    let readers = if before.is_some() { Readers::Owner } else { Readers::Usual };
    let part = part::create(folder, readers).map_err(|e| io::Error::from(e.kind()))?;
    if let Some(before) = before {
        inherit(part.as_file(), &before);
    }
    Ok(part)
}

/// The permissions of the file that is replaced, and its owner where that is allowed.
#[cfg(unix)]
fn inherit(file: &File, before: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if fchown(file, Some(before.uid()), Some(before.gid())).is_err() {
        // Its group at least, if we are in it.
        let _ = fchown(file, None, Some(before.gid()));
    }
    // Where they cannot be set, nobody else may read the new file.
    let _ = file.set_permissions(before.permissions());
}

#[cfg(not(unix))]
fn inherit(_: &File, _: &Metadata) {}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.writer().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.to {
            To::File(part, _) | To::Object(part) => part.seek(to),
            To::Stream(_) | To::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

/// Writes a whole file at once.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|e| file.error(e))?;
    file.commit()
}

/// Makes a folder and those above it.
pub(crate) fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| DataError::write(path, e))
}
