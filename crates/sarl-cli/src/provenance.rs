//! What a model file says of its fit beside the encoder. This is the one place that knows under which
//! names it is kept.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use sarl::{HeldOutLabels, HeldOutLosses, Model};
use sarl_data::{DataError, Input, Opened, Schema};
use sarl_lab::SCHEMA;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure, Outcome};

const HELDOUT: &str = "heldout";
const HELDOUT_LABELS: &str = "heldout_labels";
const ORIGIN: &str = "origin";
const PUBLIC_LANDMARKS: &str = "landmarks_from";
/// Bytes at the start and at the end of a file that are looked at.
const LOOK: u64 = 1 << 20;

/// How a model was made.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The columns of its table.
    pub schema: Option<Schema>,
    /// Its losses on rows held out, together and of each label.
    pub heldout: Option<HeldOutLosses>,
    pub heldout_labels: Option<HeldOutLabels>,
    /// The files of its fit, so that an audit can tell rows that the encoder has seen from rows that
    /// it has not.
    pub origin: Option<Origin>,
    /// Whether its landmarks are rows of another file.
    pub public_landmarks: bool,
}

impl Provenance {
    /// What the texts of a file say. What they do not say is left out; what cannot be read is an
    /// error.
    pub fn of(extra: &BTreeMap<String, String>) -> Outcome<Self> {
        let schema = extra.get(SCHEMA).map(|text| Schema::from_json(text)).transpose()?;
        Ok(Provenance {
            schema,
            heldout: said(extra, HELDOUT)?.flatten(),
            heldout_labels: said(extra, HELDOUT_LABELS)?.flatten(),
            origin: said(extra, ORIGIN)?,
            public_landmarks: extra.contains_key(PUBLIC_LANDMARKS),
        })
    }

    /// Gives it to a model, in the place of what that said before.
    pub fn store(&self, model: &mut Model) -> Outcome {
        let mut put = |name: &str, text: Option<String>| match text {
            Some(text) => drop(model.extra.insert(name.to_owned(), text)),
            None => drop(model.extra.remove(name)),
        };
        put(SCHEMA, self.schema.as_ref().map(Schema::to_json).transpose()?);
        put(HELDOUT, Some(serde_json::to_string(&self.heldout)?));
        put(HELDOUT_LABELS, Some(serde_json::to_string(&self.heldout_labels)?));
        put(ORIGIN, self.origin.as_ref().map(serde_json::to_string).transpose()?);
        put(PUBLIC_LANDMARKS, self.public_landmarks.then(String::new));
        Ok(())
    }
}

fn said<T: DeserializeOwned>(extra: &BTreeMap<String, String>, name: &str) -> Outcome<Option<T>> {
    let Some(text) = extra.get(name) else { return Ok(None) };
    let unread = |e| {
        let message = format!("what the model says of its fit (`{name}`) cannot be read: {e}");
        Failure::new(Exit::Data, message)
    };
    serde_json::from_str(text).map(Some).map_err(unread)
}

/// The files of a fit.
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
        let failed = |source: std::io::Error| {
            path.blame(DataError::Read { path: path.to_path_buf(), source })
        };
        let mut file = path.open()?;
        let bytes = file.length().map_err(failed)?;
        let mut hash = crc32fast::Hasher::new();
        let mut look = |file: &mut Opened| -> std::io::Result<()> {
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
