//! Everything that can go wrong between a file and a block of numbers.
//!
//! Each variant carries the file, the column and the row it is about; rows are
//! counted from 1 and the header is not a row. [`DataError::hint`] says how to go
//! on, [`DataError::exit_class`] whose fault it is.

mod hint;
mod unusable;

use std::io;
use std::path::{Path, PathBuf};

pub use hint::quoted;
pub use unusable::{Unusable, WhyUnusable};
use unusable::{how_many, unusable_columns};

/// The result of this crate's functions.
pub type Result<T, E = DataError> = std::result::Result<T, E>;

/// Whose fault an error is; a command line turns it into its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitClass {
    /// The request is wrong: an unknown column, two roles for one column.
    Usage,
    /// The data are wrong: a damaged file, a bad cell, a label with one class.
    Data,
    /// The machine could not: the disk is full, the folder cannot be written.
    Machine,
}

/// What can go wrong while reading, converting and writing tables.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // every variant has its line; the fields are named after what they hold
pub enum DataError {
    /// No file was named.
    #[error("no data file given")]
    NoFiles,
    /// The extension is none that can be read.
    #[error("{}: unknown data format; expected .csv, .tsv, .txt (.gz too), .parquet, .arrow, .npz, .npy or .safetensors", .path.display())]
    UnknownFormat { path: PathBuf },
    /// The extension is none that can be written.
    #[error("{}: unknown output format; expected .csv, .parquet, .arrow or .npy", .path.display())]
    UnknownOutput { path: PathBuf },
    /// The address of an object that there cannot be.
    #[error("{}: {problem}", .path.display())]
    BadAddress { path: PathBuf, problem: &'static str },
    /// A pattern that matches nothing, whatever there is.
    #[error("{}: not a pattern: {problem}", .path.display())]
    BadPattern { path: PathBuf, problem: &'static str },
    /// A column was asked for that the data do not have.
    #[error("unknown column `{column}`")]
    UnknownColumn { column: String, nearest: Option<String>, available: Vec<String> },
    /// One column was given two roles that exclude each other.
    #[error("column `{column}` is both {first} and {second}")]
    TwoRoles { column: String, first: &'static str, second: &'static str },
    /// Nothing is left to learn from.
    #[error("no feature column is left")]
    NoFeatures,
    /// A column reference is empty.
    #[error("empty column name in `{text}`")]
    BadColumnRef { text: String },
    /// A number of bins that there cannot be.
    #[error("`bins={found}`: expected a whole number from 2 to {most}")]
    BadBins { found: String, most: usize },
    /// Quantiles of a column that are all its largest number.
    #[error("column `{column}`: nearly all rows have its largest number, so there are no bins")]
    NoBins { column: String },
    /// A label that is made of columns in a way that there is not.
    #[error("`{text}`: {problem}")]
    BadLabel { text: String, problem: &'static str },
    /// The output format holds one matrix and no other columns.
    #[error("{}: an .npy file holds one matrix and cannot keep the column `{column}`", .path.display())]
    CannotKeep { path: PathBuf, column: String },
    /// A block does not have the shape the writer was created for.
    #[error("found {found} values, expected {rows} rows of {columns} columns")]
    WrongBlock { found: usize, rows: usize, columns: usize },
    /// No known data set has this name.
    #[error("unknown data set `{name}`; known: {}", .known.join(", "))]
    UnknownDataset { name: String, known: Vec<String> },

    /// The file does not exist.
    #[error("{}: no such file", .path.display())]
    NotFound { path: PathBuf },
    /// No file has a name that matches.
    #[error("{}: no data file matches this pattern", .path.display())]
    NoMatch { path: PathBuf },
    /// The folder holds no file in a known format.
    #[error("{}: no data file in this folder", .path.display())]
    NoDataInFolder { path: PathBuf },
    /// The file has no bytes.
    #[error("{}: the file is empty", .path.display())]
    EmptyFile { path: PathBuf },
    /// There is a header, but no row follows.
    #[error("{}: no rows", .path.display())]
    NoRows { path: PathBuf },
    /// The contents are not what the extension promises.
    #[error("{}: not a readable {format} file: {reason}", .path.display())]
    Damaged { path: PathBuf, format: &'static str, reason: String },
    /// A line has too many or too few cells.
    #[error("{}: row {row} has {found} cells, expected {expected} as in the header", .path.display())]
    Ragged { path: PathBuf, row: u64, found: usize, expected: usize },
    /// A cell cannot be what the column holds.
    #[error("{}: column `{column}`, row {row}: found `{found}`, expected {expected}", .path.display())]
    BadCell { path: PathBuf, column: String, row: u64, found: String, expected: &'static str },
    /// A number is infinite, or so large that its square is useless.
    #[error("{}: column `{column}`, row {row}: found {found:e}, expected a finite number of at most 1e100", .path.display())]
    TooLarge { path: PathBuf, column: String, row: u64, found: f64 },
    /// A weight is negative.
    #[error("{}: weight column `{column}`, row {row}: found {found}, expected a weight of zero or more", .path.display())]
    BadWeight { path: PathBuf, column: String, row: u64, found: f64 },
    /// No row has a positive weight.
    #[error("weight column `{column}`: found only zeros, expected a positive weight")]
    NoWeight { column: String },
    /// The files of one data set do not have the same columns.
    #[error("{}: column `{column}` is not there, but it is in {}", .path.display(), .other.display())]
    ColumnsDiffer { path: PathBuf, column: String, other: PathBuf },
    /// A column holds different things in different files, or not what is needed.
    #[error("{}: column `{column}` holds {found}, expected {expected}", .path.display())]
    WrongType { path: PathBuf, column: String, found: String, expected: String },
    /// An archive lacks the array of features.
    #[error("{}: no array `{array}`; found: {}", .path.display(), if .found.is_empty() { "nothing".to_owned() } else { .found.join(", ") })]
    NoArray { path: PathBuf, array: String, found: Vec<String> },
    /// An array has the wrong number of dimensions or an unusable type.
    #[error("{}: array `{array}` has {found}, expected {expected}", .path.display())]
    WrongArray { path: PathBuf, array: String, found: String, expected: &'static str },
    /// The arrays of one file have different numbers of rows.
    #[error("{}: array `{array}` has {found} rows, expected {expected} as in `X`", .path.display())]
    WrongLength { path: PathBuf, array: String, found: u64, expected: u64 },
    /// Missing values, and the policy is to refuse them. The rows are those of `path`.
    #[error("{}: column `{column}`: {}", .path.display(), missing_values(*.count, .rows))]
    MissingValues { path: PathBuf, column: String, count: u64, rows: Vec<u64> },
    /// A missing value in a row that is being encoded.
    #[error("{}: column `{column}`, row {row}: the value is missing", .path.display())]
    MissingCell { path: PathBuf, column: String, row: u64 },
    /// A column holds nothing at all.
    #[error("column `{column}`: all {rows} values are missing")]
    AllMissing { column: String, rows: u64 },
    /// Dropping the rows with missing values left none.
    #[error("every one of the {rows} rows has a missing value")]
    AllRowsDropped { rows: u64 },
    /// A label with one class cannot be predicted or hidden.
    #[error("label `{column}`: found the one class `{value}`, expected at least two")]
    OneClass { column: String, value: String },
    /// A label that is the same number everywhere.
    #[error("label `{column}`: found the one number {value}, expected at least two")]
    ConstantLabel { column: String, value: f64 },
    /// Features that nothing can be learned from; whether others have missing values.
    #[error("{}", unusable_columns(.columns, *.rows))]
    UnusableColumns { columns: Vec<Unusable>, rows: u64, gaps: bool },
    /// A label has so many different values that it is probably an identifier.
    #[error("label `{column}`: {} different values are too many for classes", how_many(*.values, *.more_than))]
    TooManyClasses { column: String, values: u64, more_than: bool },
    /// Dates in which month and day cannot be told apart.
    #[error("column `{column}`: dates such as 03/04/2013 could have the month or the day first")]
    EitherDate { column: String },
    /// A value that was not there when the categories were learned.
    #[error("{}: column `{column}`, row {row}: new category `{found}`, expected one of the {known} learned", .path.display())]
    UnseenCategory { path: PathBuf, column: String, row: u64, found: String, known: usize },
    /// A column of the schema is not in the data.
    #[error("{}: no column `{column}`, which the model needs", .path.display())]
    NoColumn { path: PathBuf, column: String, nearest: Option<String> },
    /// A stored schema is damaged or of another version.
    #[error("unusable schema: {reason}")]
    BadSchema { reason: String },
    /// A file could not be downloaded; so many bytes of it are kept.
    #[error("could not fetch {url}: {reason}")]
    Fetch { url: String, folder: PathBuf, reason: String, kept: u64 },
    /// A server has another file than the one that is known.
    #[error("{url}: found {found}, expected {expected}")]
    WrongFile { url: String, found: String, expected: String },
    /// Nothing of a data set can be downloaded.
    #[error("data set `{dataset}`: {files} cannot be downloaded")]
    ByHand { dataset: String, files: String, advice: String },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,

    /// An object was replaced while it was read.
    #[error("{}: the object has changed since it was first read", .path.display())]
    Changed { path: PathBuf },
    /// The operating system could not read the file.
    #[error("{}: cannot read: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The operating system could not write the file.
    #[error("{}: cannot write: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    /// What has to be copied before it can be read does not fit, or cannot be written.
    #[error("{}: cannot be copied to a temporary file in {}: {source}", .path.display(), .folder.display())]
    Spool { path: PathBuf, folder: PathBuf, source: io::Error },
    /// A row of text is too long to be read.
    #[error("{}: row {row} is longer than {most}, the longest that is read", .path.display())]
    LongRow { path: PathBuf, row: u64, most: String },
    /// There are too many columns.
    #[error("{}: {found} columns, and at most 1000000 are read", .path.display())]
    TooManyColumns { path: PathBuf, found: usize },
    /// What a file holds needs more memory than there may be.
    #[error("{}: {exceeded}", .path.display())]
    Memory { path: PathBuf, exceeded: sarl_memory::Exceeded },
    /// A reading thread ended without a word, which is a defect in a reader.
    #[error("the reader of the data stopped unexpectedly")]
    ReaderStopped,
}

impl DataError {
    /// Whose fault this is.
    pub fn exit_class(&self) -> ExitClass {
        use DataError::*;
        match self {
            NoFiles
            | UnknownFormat { .. }
            | UnknownOutput { .. }
            | BadAddress { .. }
            | BadPattern { .. }
            | UnknownColumn { .. }
            | TwoRoles { .. }
            | NoFeatures
            | BadColumnRef { .. }
            | BadBins { .. }
            | BadLabel { .. }
            | CannotKeep { .. }
            | WrongBlock { .. }
            | UnknownDataset { .. } => ExitClass::Usage,
            Read { .. }
            | Spool { .. }
            | LongRow { .. }
            | TooManyColumns { .. }
            | Memory { .. }
            | Write { .. }
            | ReaderStopped
            | Interrupted
            | Fetch { .. }
            | WrongFile { .. }
            | ByHand { .. } => ExitClass::Machine,
            _ => ExitClass::Data,
        }
    }

    /// Whether the reader at the other end of a pipe has gone, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, DataError::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => DataError::NotFound { path },
            _ => DataError::Read { path, source },
        }
    }

    pub(crate) fn write(
        path: &Path,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        DataError::Write { path: path.to_owned(), source: into_io(source.into()) }
    }

    pub(crate) fn memory(path: &Path, exceeded: sarl_memory::Exceeded) -> Self {
        DataError::Memory { path: path.to_owned(), exceeded }
    }

    pub(crate) fn damaged(path: &Path, format: &'static str, reason: impl ToString) -> Self {
        DataError::Damaged {
            path: path.to_owned(),
            format,
            reason: first_line(&reason.to_string()),
        }
    }
}

/// The operating system's own error where one is inside, so that a broken pipe stays one.
fn into_io(error: Box<dyn std::error::Error + Send + Sync>) -> io::Error {
    match error.downcast::<io::Error>() {
        Ok(own) => *own,
        Err(other) => io::Error::other(other),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(200).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

fn missing_values(count: u64, rows: &[u64]) -> String {
    let rows = rows.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    match count {
        1 => format!("1 value is missing, in row {rows}"),
        _ => format!("{count} values are missing, first in rows {rows}"),
    }
}
