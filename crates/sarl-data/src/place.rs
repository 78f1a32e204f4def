//! Where an output goes: a file, whatever links lead to it, or a stream.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::remote;

/// Links that are followed before a path is taken for a loop.
const LINKS: usize = 40;

/// Where what is written to a path ends up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file, or the place of one; no link.
    File(PathBuf),
    /// A device, a FIFO or an open file of this process: it is written to, never replaced.
    Stream(PathBuf),
    /// The standard output of this process.
    Stdout,
}

impl Place {
    /// Follows the links of a path, also one that leads to nothing yet.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut place = path.to_owned();
        for _ in 0..LINKS {
            match open_already(&place) {
                Some("1") => return Ok(Self::Stdout),
                Some(_) => return Ok(Self::Stream(place)),
                None => {}
            }
            match fs::read_link(&place) {
                Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
                Err(_) => return Self::without_links(place),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }

    fn without_links(place: PathBuf) -> io::Result<Self> {
        match fs::metadata(&place) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Ok(Self::Stream(place)),
            _ if place.file_name().is_none() => Err(io::ErrorKind::IsADirectory.into()),
            _ => Ok(Self::File(place)),
        }
    }
}

/// The number of a file that this process has open already, by the names of Unix for such.
pub(crate) fn open_already(path: &Path) -> Option<&str> {
    match path.to_str()? {
        "/dev/stdin" => Some("0"),
        "/dev/stdout" => Some("1"),
        "/dev/stderr" => Some("2"),
        text => text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/")),
    }
}

/// Whether a path is the address of an object: `s3://bucket/file`, `https://…`.
pub fn is_address(path: &Path) -> bool {
    remote::is_address(path)
}

/// Whether what is written to a path goes to standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || (!is_address(path) && matches!(Place::of(path), Ok(Place::Stdout)))
}

/// Whether a path is a device, a FIFO or an open file of this process.
pub(crate) fn is_stream(path: &Path) -> bool {
    matches!(Place::of(path), Ok(Place::Stream(_) | Place::Stdout))
}

/// Whether two paths are one file: by other names of folders, by links, or by hard links.
/// Devices such as `/dev/null` are never in each other's way.
pub fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one_is), Ok(other_is)) => match same_inode(&one_is, &other_is) {
            Some(same) => same,
            None => whole(one) == whole(other),
        },
        (Err(_), Err(_)) => whole(one) == whole(other),
        _ => false,
    }
}

#[cfg(unix)]
fn same_inode(one: &Metadata, other: &Metadata) -> Option<bool> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let same = (one.dev(), one.ino()) == (other.dev(), other.ino());
    Some(same && !one.file_type().is_char_device())
}

#[cfg(not(unix))]
fn same_inode(_: &Metadata, _: &Metadata) -> Option<bool> {
    None
}

/// A path from the root, without links; what is not there yet stays as it is written.
fn whole(path: &Path) -> PathBuf {
    let place = match Place::of(path) {
        Ok(Place::File(place)) => place,
        _ => path.to_owned(),
    };
    let place = std::path::absolute(&place).unwrap_or(place);
    let there = place.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => match place.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => place,
        },
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_the_process() {
        assert_eq!(Place::of(Path::new("/dev/stdout")).unwrap(), Place::Stdout);
        assert_eq!(Place::of(Path::new("/proc/self/fd/1")).unwrap(), Place::Stdout);
        assert!(is_stdout(Path::new("-")) && !is_stdout(Path::new("./-")));
        assert!(is_stream(Path::new("/dev/fd/7")) && !is_stream(Path::new("/dev/fdx")));
    }

    #[cfg(unix)]
    #[test]
    fn names_of_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        std::os::unix::fs::symlink("nothing", at("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        fs::create_dir(at("in")).unwrap();
        for name in ["a", "./a", "hard", "soft", "in/../a"] {
            assert!(same_file(&at("a"), &at(name)), "{name}");
        }
        assert!(same_file(&at("dangling"), &at("nothing")));
        assert!(same_file(&at("no/x"), &at("./no/x")));
        assert!(!same_file(&at("a"), &at("b")) && !same_file(&at("b"), &at("c")));
        assert!(!same_file(Path::new("/dev/null"), Path::new("/dev/null")));
        assert!(Place::of(&at("loop")).is_err());
    }
}
