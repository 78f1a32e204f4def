//! What can go wrong.

use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A data set is not here.
    #[error("the {dataset} data is not here: found no {} in {}", files.join(", "), folders.join(", "))]
    Absent {
        /// Its name.
        dataset: &'static str,
        /// The files that were looked for.
        files: &'static [&'static str],
        /// Where they were looked for.
        folders: Vec<String>,
        /// What to do.
        advice: &'static str,
    },
    /// A table whose labels are not classes.
    #[error("{}: y and s must be classes", path.display())]
    NotClasses {
        /// The file.
        path: PathBuf,
    },
    /// A table without rows.
    #[error("{}: there are no rows", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// Nothing to repeat.
    #[error("at least one seed is needed")]
    NoSeeds,
    /// Probes that said nothing of an attribute.
    #[error("the audit is not whole")]
    Unfinished,
    /// A folder that cannot be made.
    #[error("{}: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// Results that cannot be written as text.
    #[error("the results cannot be written: {0}")]
    Text(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    Data(#[from] sarl_data::DataError),
    /// An encoder cannot be fitted, compared or shown.
    #[error(transparent)]
    Lab(#[from] sarl_lab::Error),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl From<sarl::Error> for Error {
    fn from(error: sarl::Error) -> Self {
        Error::Lab(error.into())
    }
}

impl From<sarl_report::ReportError> for Error {
    fn from(error: sarl_report::ReportError) -> Self {
        Error::Lab(error.into())
    }
}

impl From<sarl_rivals::Error> for Error {
    fn from(error: sarl_rivals::Error) -> Self {
        Error::Lab(error.into())
    }
}
