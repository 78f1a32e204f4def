//! Where a model comes from: the files of its fit, so that an audit can tell rows that the encoder
//! has seen from rows that it has not.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use sarl::Model;
use sarl_data::Input;
use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure, Outcome};

/// Where a model keeps it.
const ORIGIN: &str = "origin";
/// Bytes at the start and at the end of a file that are looked at.
const LOOK: u64 = 1 << 20;

/// How a model was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    pub files: Vec<Fingerprint>,
}

/// What is remembered of a file: enough to know it again, nothing of what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    pub name: String,
    pub bytes: u64,
    /// CRC-32 of the first and the last million bytes.
    pub crc32: u32,
}

impl Fingerprint {
    pub fn of(path: &Input) -> Outcome<Self> {
        let failed =
            |e: std::io::Error| Failure::new(Exit::Machine, format!("{}: {e}", path.display()));
        let mut file = path.open()?;
        let bytes = file.metadata().map_err(failed)?.len();
        let mut hash = crc32fast::Hasher::new();
        let mut look = |file: &mut File| -> std::io::Result<()> {
            let mut part = Vec::new();
            file.take(LOOK).read_to_end(&mut part)?;
            hash.update(&part);
            Ok(())
        };
        look(&mut file).map_err(failed)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(LOOK))).map_err(failed)?;
        look(&mut file).map_err(failed)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Fingerprint { name, bytes, crc32: hash.finalize() })
    }

    /// The same contents, whatever the name.
    fn same(&self, other: &Self) -> bool {
        (self.bytes, self.crc32) == (other.bytes, other.crc32)
    }
}

impl Origin {
    pub fn new<'a>(files: impl Iterator<Item = &'a Input>) -> Outcome<Self> {
        let files = files.map(Fingerprint::of).collect::<Outcome<_>>()?;
        Ok(Origin { files })
    }

    pub fn store(&self, model: &mut Model) -> Outcome {
        model.extra.insert(ORIGIN.into(), serde_json::to_string(self)?);
        Ok(())
    }

    /// None if the model does not say.
    pub fn load(model: &Model) -> Outcome<Option<Self>> {
        let Some(text) = model.extra.get(ORIGIN) else { return Ok(None) };
        let origin = serde_json::from_str(text).map_err(|e| {
            Failure::new(Exit::Data, format!("what the model says of its fit cannot be read: {e}"))
        })?;
        Ok(Some(origin))
    }

    /// The first of these files that the model was fitted on.
    pub fn saw<'a>(&self, mut files: impl Iterator<Item = &'a Input>) -> Outcome<Option<&'a Path>> {
        files
            .find_map(|path| match Fingerprint::of(path) {
                Ok(found) => self.files.iter().any(|f| f.same(&found)).then_some(Ok(&**path)),
                Err(failure) => Some(Err(failure)),
            })
            .transpose()
    }

    /// The names of the files.
    pub fn names(&self) -> Vec<&str> {
        self.files.iter().map(|f| f.name.as_str()).collect()
    }
}
