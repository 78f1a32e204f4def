//! What can go wrong with an object.

use std::error::Error;
use std::io;
use std::path::Path;

use crate::error::DataError;

/// Letters of a server's message that are shown.
const SHOWN: usize = 200;

/// Why an object could not be read or written. It is told to everyone who waits for the object.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// There is no such object.
    NotFound,
    /// The store refuses, or does not know who asks.
    Denied(String),
    /// The object is not the one that it was.
    Changed,
    /// The server gives whole objects only.
    NoRanges,
    /// The temporary file cannot be written.
    Cache(io::ErrorKind),
    /// The process is ending.
    Interrupted,
    /// All else.
    Other(String),
}

impl Trouble {
    /// The error of a reader.
    pub(crate) fn reading(self, path: &Path) -> DataError {
        match self {
            Self::NotFound => DataError::NotFound { path: path.to_owned() },
            Self::Changed => DataError::Changed { path: path.to_owned() },
            Self::Cache(kind) => DataError::Spool {
                path: path.to_owned(),
                folder: std::env::temp_dir(),
                source: kind.into(),
            },
            other => DataError::Read { path: path.to_owned(), source: other.into() },
        }
    }

    /// The error of a writer.
    pub(crate) fn writing(self, path: &Path) -> DataError {
        match self {
            Self::Interrupted => DataError::Interrupted,
            other => DataError::Write { path: path.to_owned(), source: other.into() },
        }
    }
}

impl From<Trouble> for io::Error {
    fn from(trouble: Trouble) -> Self {
        let other = io::ErrorKind::Other;
        let (kind, text) = match trouble {
            Trouble::NotFound => (io::ErrorKind::NotFound, "there is no such bucket".to_owned()),
            Trouble::Denied(text) => (io::ErrorKind::PermissionDenied, text),
            Trouble::Changed => (other, "the object has changed".to_owned()),
            Trouble::NoRanges => (other, "the server gives whole objects only".to_owned()),
            Trouble::Cache(kind) => return kind.into(),
            Trouble::Interrupted => (io::ErrorKind::Interrupted, "interrupted".to_owned()),
            Trouble::Other(text) => (other, text),
        };
        io::Error::new(kind, text)
    }
}

impl From<object_store::Error> for Trouble {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error::*;
        match &error {
            NotFound { .. } => Self::NotFound,
            PermissionDenied { .. } | Unauthenticated { .. } => Self::Denied(said(&error)),
            Precondition { .. } => Self::Changed,
            NotSupported { .. } => Self::NoRanges,
            _ => Self::Other(said(&error)),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Other(error.to_string())
    }
}

/// The innermost of nested errors: what the server or the network said, without addresses, which may
/// hold signatures.
pub(super) fn said(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    let text = inner.to_string();
    let message = text.split_once("<Message>").and_then(|(_, rest)| rest.split_once("</Message>"));
    let text = message.map_or(text.as_str(), |(message, _)| message);
    let line = text.lines().next().unwrap_or_default().trim().trim_end_matches([':', '.']);
    line.chars().take(SHOWN).collect()
}
