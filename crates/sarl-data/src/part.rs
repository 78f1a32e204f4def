//! Temporary files that do not outlive their process.
//!
//! A process that is killed cannot remove its temporary files, so the next one does. Each is locked
//! while it is in use: a file whose lock can be taken belongs to nobody.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, NamedTempFile};

const PREFIX: &str = ".sarl-";
const SUFFIX: &str = ".part";
/// A new file may be taken for one that belongs to nobody before it is locked; then another is made.
const TRIES: usize = 8;

/// The temporary files of this process, and some that it has had.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of this process, for an end without destructors, and lets a store forget
/// the parts of an object that is not whole. Only a store is waited for, and not for long.
pub fn remove_parts() {
    for part in OWN.try_lock().iter().flat_map(|own| own.iter()) {
        let _ = fs::remove_file(part);
    }
    crate::remote::abandon();
}

/// Who may read a temporary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Its owner alone.
    Owner,
    /// Those who may read any new file.
    Usual,
}

/// A temporary file in a folder; those of processes that were killed are removed.
pub(crate) fn create(folder: &Path, readers: Readers) -> io::Result<NamedTempFile> {
    sweep(folder);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    if readers == Readers::Usual {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    for _ in 0..TRIES {
        let part = builder.tempfile_in(folder)?;
        // Where there are no locks there is no sweeping either.
        let _ = part.as_file().lock();
        if is_there(&part) {
            let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
            own.retain(|path| path.exists());
            own.push(std::path::absolute(part.path())?);
            return Ok(part);
        }
    }
    Err(io::Error::other("temporary files are removed by another program"))
}

/// Whether the file still has its name.
#[cfg(unix)]
fn is_there(part: &NamedTempFile) -> bool {
    use std::os::unix::fs::MetadataExt;
    part.as_file().metadata().is_ok_and(|found| found.nlink() > 0)
}

#[cfg(not(unix))]
fn is_there(part: &NamedTempFile) -> bool {
    part.path().exists()
}

/// Removes the files of processes that are gone. What cannot be removed stays.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_nobody_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".sarl-left.part", ".sarl-x", "x.part"] {
            fs::write(at(name), "left").unwrap();
        }
        let alive = create(folder.path(), Readers::Owner).unwrap();
        assert!(!at(".sarl-left.part").exists() && at(".sarl-x").exists() && at("x.part").exists());
        let other = create(folder.path(), Readers::Owner).unwrap();
        assert!(alive.path().exists() && other.path().exists());
    }

    #[test]
    fn many_at_once_do_not_remove_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let part = create(folder.path(), Readers::Owner).unwrap();
                        assert!(part.path().exists());
                        part.close().unwrap();
                    }
                });
            }
        });
    }
}
