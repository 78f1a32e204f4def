//! Everything that can go wrong between a file and a block of numbers.
//!
//! Each variant carries the file, the column and the row it is about; rows are
//! counted from 1 and the header is not a row. [`DataError::hint`] says how to go
//! on, [`DataError::exit_class`] whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

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

/// A feature that nothing can be learned from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The name of the column.
    pub column: String,
    /// Why.
    pub why: WhyUnusable,
}

/// Why nothing can be learned from a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnusable {
    /// All of its values are missing.
    Empty,
    /// It holds words with so many different values: an identifier, or free text.
    Values {
        /// How many.
        values: u64,
        /// Whether there are more than that.
        more_than: bool,
    },
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
    /// A column was asked for that the data do not have.
    #[error("unknown column `{column}`")]
    UnknownColumn { column: String, nearest: Option<String>, available: Vec<String> },
    /// One column was given two roles that exclude each other.
    #[error("column `{column}` is both {first} and {second}")]
    TwoRoles { column: String, first: &'static str, second: &'static str },
    /// The features themselves are the target, and a target was named too.
    #[error("a target column was given together with `:features` as the target")]
    TargetTwice,
    /// Nothing is left to learn from.
    #[error("no feature column is left")]
    NoFeatures,
    /// A column reference is empty.
    #[error("empty column name in `{text}`")]
    BadColumnRef { text: String },
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

    /// The operating system could not read the file.
    #[error("{}: cannot read: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The operating system could not write the file.
    #[error("{}: cannot write: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
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
            | UnknownColumn { .. }
            | TwoRoles { .. }
            | TargetTwice
            | NoFeatures
            | BadColumnRef { .. }
            | CannotKeep { .. }
            | WrongBlock { .. }
            | UnknownDataset { .. } => ExitClass::Usage,
            Read { .. }
            | Write { .. }
            | ReaderStopped
            | Interrupted
            | Fetch { .. }
            | WrongFile { .. }
            | ByHand { .. } => ExitClass::Machine,
            _ => ExitClass::Data,
        }
    }

    /// One line on how to go on, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        use DataError::*;
        Some(match self {
            UnknownColumn { nearest: Some(name), .. } | NoColumn { nearest: Some(name), .. } => {
                format!("did you mean `{name}`?")
            }
            UnknownColumn { available, .. } => format!("the columns are: {}", some_of(available)),
            TwoRoles { column, .. } => format!("give `{column}` one role only"),
            NoFeatures => "name features with --features, or drop fewer columns".to_owned(),
            CannotKeep { .. } => "write .csv, .parquet or .arrow to keep columns".to_owned(),
            NoDataInFolder { .. } => {
                "give a .csv, .tsv, .txt (.gz too), .parquet, .arrow, .npz, .npy or .safetensors file".to_owned()
            }
            Ragged { .. } => "check the quoting and the delimiters of that line".to_owned(),
            BadCell { column, expected, .. } if expected.starts_with("a ") => {
                format!("correct the cell, or treat the column as categories with `{column}:class`")
            }
            TooLarge { .. } => {
                "correct the cell, or leave it empty and use --missing drop or mean".to_owned()
            }
            MissingCell { .. } => {
                "fill the cell in, or fit again with --missing drop or --missing mean".to_owned()
            }
            MissingValues { .. } => {
                "use --missing drop to leave such rows out, or --missing mean to fill them in"
                    .to_owned()
            }
            AllMissing { .. } => "choose another column".to_owned(),
            AllRowsDropped { .. } => {
                "use --missing mean, or --drop the columns with gaps".to_owned()
            }
            UnusableColumns { columns, gaps, .. } => unusable_hint(columns, *gaps),
            TooManyClasses { column, .. } => {
                format!("choose another label; if they are classes, say `{column}:class`")
            }
            EitherDate { .. } => "write them as 2013-04-03".to_owned(),
            UnseenCategory { .. } => {
                "use --unseen ignore to encode new categories as all zeros".to_owned()
            }
            NoArray { .. } => {
                "save the features as `X`, the target as `y`, the sensitive attribute as `s`"
                    .to_owned()
            }
            WrongArray { array, .. } => format!(
                "`{array}` must be a plain array of numbers; reshape or convert it before saving"
            ),
            WrongType { column, .. } => {
                format!("convert the column, or leave it out with --drop {column}")
            }
            OneClass { .. } | ConstantLabel { .. } => {
                "choose another label, or data in which it varies".to_owned()
            }
            Fetch { url, folder, kept: 0, .. } => {
                format!("download {url} by hand and put it into {}", folder.display())
            }
            Fetch { kept, .. } => format!("run the command again to go on after {kept} bytes"),
            WrongFile { .. } => "it was not kept; run the command again, and if it stays so the \
                                 source has changed or something on the way changes it"
                .to_owned(),
            ByHand { advice, .. } => advice.clone(),
            _ => return None,
        })
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

fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(", … ({} in all)", names.len()));
    }
    text
}

fn how_many(values: u64, more_than: bool) -> String {
    if more_than { format!("more than {values}") } else { values.to_string() }
}

fn unusable_columns(columns: &[Unusable], rows: u64) -> String {
    let each = |c: &Unusable| match c.why {
        WhyUnusable::Empty => format!("`{}` (empty)", c.column),
        WhyUnusable::Values { values, more_than } => {
            format!("`{}` ({} different texts)", c.column, how_many(values, more_than))
        }
    };
    let named = columns.iter().map(each).collect::<Vec<_>>().join(", ");
    let columns = if columns.len() == 1 { "column" } else { "columns" };
    format!("nothing can be learned from {columns} {named} in {rows} rows")
}

fn unusable_hint(columns: &[Unusable], gaps: bool) -> String {
    let names = columns.iter().map(|c| c.column.as_str()).collect::<Vec<_>>().join(",");
    let it = if columns.len() == 1 { "it" } else { "them" };
    let mut hint = format!("leave {it} out: --drop {}", quoted(&names));
    if columns.iter().any(|c| c.why != WhyUnusable::Empty) {
        hint.push_str("; or keep the most frequent values: --max-categories 50");
    }
    if gaps {
        hint.push_str("; other columns have missing values: add --missing drop or --missing mean");
    }
    hint
}

/// A word as a shell wants it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,:/=+@".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
