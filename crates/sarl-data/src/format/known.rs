//! The formats, and how they are recognised.

use std::io::{self, Read};
use std::path::Path;

use crate::opened::Opened;

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv { gzip: bool },
    Parquet,
    Arrow,
    Npz,
    Npy,
    Safetensors,
}

/// The endings of tables of text.
const TEXT: [&str; 5] = ["csv", "tsv", "tab", "psv", "txt"];

impl Format {
    /// The format of a file that was found in a folder, where `.txt` is more likely a note.
    pub(crate) fn in_folder(path: &Path) -> Option<Self> {
        let note = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("txt"));
        Self::of(path).filter(|_| !note)
    }

    /// The format that a file's name promises.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        if let Some(inside) = name.strip_suffix(".gz") {
            let text = TEXT.contains(&inside.rsplit_once('.')?.1);
            return text.then_some(Self::Csv { gzip: true });
        }
        match name.rsplit_once('.')?.1 {
            ending if TEXT.contains(&ending) => Some(Self::Csv { gzip: false }),
            "parquet" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            "npz" => Some(Self::Npz),
            "npy" => Some(Self::Npy),
            "safetensors" => Some(Self::Safetensors),
            _ => None,
        }
    }
}

impl Format {
    /// The format of what has no name that says it: text, unless it begins as another does.
    pub(super) fn by_contents(file: &mut Opened) -> io::Result<Self> {
        let mut start = Vec::new();
        file.take(9).read_to_end(&mut start)?;
        Ok(match start.as_slice() {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Self::Arrow,
            [b'P', b'K', 3, 4, ..] => Self::Npz,
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Npy,
            [0x1f, 0x8b, ..] => Self::Csv { gzip: true },
            // The length of a header below 2^32, and the header.
            [_, _, _, _, 0, 0, 0, 0, b'{'] => Self::Safetensors,
            _ => Self::Csv { gzip: false },
        })
    }
}
