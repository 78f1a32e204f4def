//! Files that are whole or absent.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{DataError, Result};

/// A file under construction. What is written goes to a temporary file in the same
/// folder; [`commit`](AtomicFile::commit) gives it its name. Dropped before that, it
/// leaves nothing, and a file that was there before stays as it was.
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
    temporary: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<Self> {
        if path.is_dir() || path.file_name().is_none() {
            return Err(DataError::write(path, io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".sarl-").suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        if !folder.is_dir() {
            let why = format!("there is no folder `{}`", folder.display());
            return Err(DataError::write(path, io::Error::new(io::ErrorKind::NotFound, why)));
        }
        // Only the kind of the error: its text names the temporary file.
        let temporary = builder
            .tempfile_in(folder)
            .map_err(|e| DataError::write(path, io::Error::from(e.kind())))?;
        Ok(Self { temporary, path: path.to_owned() })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of this file for a failure to write.
    pub fn error(&self, source: io::Error) -> DataError {
        DataError::write(&self.path, source)
    }

    /// Makes the file whole and gives it its name.
    pub fn commit(mut self) -> Result<()> {
        let fail = |e| DataError::write(&self.path, e);
        self.temporary.flush().map_err(fail)?;
        self.temporary.as_file().sync_all().map_err(fail)?;
        self.temporary
            .persist(&self.path)
            .map(drop)
            .map_err(|e| DataError::write(&self.path, e.error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.temporary.seek(to)
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
