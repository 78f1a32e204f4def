//! A data set: one file or several with the same columns.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::cells::At;
use crate::column::{Column, ColumnKind, MatrixArray};
use crate::error::{DataError, Result};
use crate::format::{Batches, DataFile, Pick, Reading, RowsHint, interpret, trimmed};
use crate::found::{FoundFile, expand, values};
use crate::guard::on_reader_thread;
use crate::input::Input;
use crate::remote::AHEAD;

/// Cells of a piece at most, where a row is not longer.
const MOST_CELLS: usize = 1 << 22;

/// Files that are one data set, looked at but not yet read.
///
/// Opening reads the headers (and the first rows of a CSV file) only. Every pass
/// over the data opens the files again, so a `Source` is cheap to keep.
#[derive(Clone, Debug)]
pub struct Source {
    files: Arc<[DataFile]>,
    columns: Vec<Column>,
    index: HashMap<String, usize>,
    threads: usize,
}

impl Source {
    /// Opens files, objects, folders and patterns as one data set. A folder stands for the
    /// data files in it and in its partition folders (`NAME=VALUE`), sorted by name; the
    /// partitions are columns. All files must have the same columns, in any order.
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self> {
        let found = expand(paths)?;
        let files = on_reader_thread(|| probe(&found))?;
        let columns = agree(&files)?;
        let index = columns.iter().enumerate().map(|(i, c)| (c.name.clone(), i)).collect();
        Ok(Self { files: files.into(), columns, index, threads: 1 })
    }

    /// Decodes the columns of Parquet files with this many threads (at first: one).
    /// The blocks do not depend on it.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.clamp(1, 256), ..self }
    }

    /// The columns, in the order of the first file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The files, in the order in which they are read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.inputs().map(|input| &**input)
    }

    /// The same, to be opened: those that came from a stream are copies of it.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.files.iter().map(|f| &f.path)
    }

    /// The number of rows, where it is known or can be guessed without reading them.
    pub fn rows_hint(&self) -> Option<RowsHint> {
        let add = |sum: RowsHint, hint: RowsHint| RowsHint {
            rows: sum.rows.saturating_add(hint.rows),
            exact: sum.exact && hint.exact,
        };
        self.files
            .iter()
            .map(|f| f.rows)
            .try_fold(RowsHint { rows: 0, exact: true }, |sum, hint| Some(add(sum, hint?)))
    }

    /// The names of the columns that come from one array of a matrix file: those of
    /// `y` and `s` are the labels when nobody names others.
    pub fn array_columns(&self, array: MatrixArray) -> Vec<String> {
        self.columns.iter().filter(|c| c.array == Some(array)).map(|c| c.name.clone()).collect()
    }

    /// The columns whose name another one had before, by the names that they have here.
    pub fn renamed(&self) -> &[String] {
        self.files.first().map_or(&[], |f| &f.renamed)
    }

    /// Whether the first file is text, where empty cells and the usual spellings are missing.
    pub(crate) fn is_text(&self) -> bool {
        self.files.first().is_some_and(DataFile::is_text)
    }

    /// The column of a name.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.index.get(trimmed(name)).and_then(|i| self.columns.get(*i))
    }

    /// The file of a piece, for messages.
    pub(crate) fn path(&self, file: usize) -> &Path {
        self.files.get(file).map_or(Path::new(""), |f| &f.path)
    }

    /// The rows of all files one after another, in pieces of at most about `rows` rows.
    /// Cells that hold one of the `tokens` are missing.
    pub(crate) fn pieces(&self, picks: Vec<Pick>, tokens: &[String], rows: usize) -> Pieces {
        let fitting = (MOST_CELLS / picks.len().max(1)).max(1);
        let (tokens, rows, threads) = (tokens.into(), rows.clamp(1, fitting), self.threads);
        Pieces {
            files: self.files.clone(),
            reading: Reading { picks, tokens, rows, threads },
            next_file: 0,
            current: None,
            row: 0,
        }
    }
}

fn probe(found: &[FoundFile]) -> Result<Vec<DataFile>> {
    let mut files = Vec::with_capacity(found.len());
    for (i, (file, partitions)) in found.iter().zip(values(found)).enumerate() {
        for next in found[i..].iter().take(AHEAD) {
            next.input.object().iter().for_each(|object| object.glance());
        }
        files.push(DataFile::probe(&file.input, &partitions)?);
    }
    Ok(files)
}

/// The columns that all files agree on.
fn agree(files: &[DataFile]) -> Result<Vec<Column>> {
    let Some((first, rest)) = files.split_first() else { return Err(DataError::NoFiles) };
    let mut columns = first.columns.clone();
    for file in rest {
        let theirs: HashMap<&str, &Column> =
            file.columns.iter().map(|c| (c.name.as_str(), c)).collect();
        for column in &mut columns {
            let same = theirs.get(column.name.as_str());
            let same = same.ok_or_else(|| differ(file, &column.name, first))?;
            column.kind = column.kind.join(same.kind).ok_or_else(|| DataError::WrongType {
                path: file.path.to_path_buf(),
                column: column.name.clone(),
                found: same.kind.describe().to_owned(),
                expected: format!("{} as in {}", column.kind.describe(), first.path.display()),
            })?;
        }
        let ours: HashSet<&str> = first.columns.iter().map(|c| c.name.as_str()).collect();
        if let Some(more) = file.columns.iter().find(|c| !ours.contains(c.name.as_str())) {
            return Err(differ(first, &more.name, file));
        }
    }
    Ok(columns)
}

fn differ(without: &DataFile, column: &str, with: &DataFile) -> DataError {
    DataError::ColumnsDiffer {
        path: without.path.to_path_buf(),
        column: column.to_owned(),
        other: with.path.to_path_buf(),
    }
}

/// Some rows of one file.
pub(crate) struct Piece {
    /// The number of the file.
    pub(crate) file: usize,
    /// The row of the file that comes first here, counted from 0.
    pub(crate) first_row: u64,
    pub(crate) batch: RecordBatch,
}

/// The pieces of all files in order.
pub(crate) struct Pieces {
    files: Arc<[DataFile]>,
    reading: Reading,
    next_file: usize,
    current: Option<Batches>,
    row: u64,
}

impl Pieces {
    /// What kept the bytes of a file from coming, or the error.
    fn blamed(&self, file: usize, error: DataError) -> DataError {
        match self.files.get(file) {
            Some(file) => file.path.blame(error),
            None => error,
        }
    }

    /// Lets the files that come soon be fetched.
    fn begin_next(&self) {
        let first = if self.next_file == 0 { 1 } else { self.next_file + AHEAD };
        let soon = self.files.iter().take(self.next_file + AHEAD + 1).skip(first);
        soon.for_each(|file| file.begin(&self.reading));
    }

    fn piece(&mut self) -> Result<Option<Piece>> {
        loop {
            if let Some(batch) = self.current.as_mut().and_then(Iterator::next) {
                let (first_row, file) = (self.row, self.next_file - 1);
                let mut batch = batch.map_err(|e| self.blamed(file, e))?;
                self.row += batch.num_rows() as u64;
                if let Some(typed) = self.files.get(file).filter(|f| !f.is_text()) {
                    let at = At { path: &typed.path, first_row, kept: None };
                    batch = interpret(batch, &self.reading, at)?;
                }
                return Ok(Some(Piece { file, first_row, batch }));
            }
            let Some(file) = self.files.get(self.next_file) else { return Ok(None) };
            self.begin_next();
            let batches = file.read(&self.reading);
            self.current = Some(batches.map_err(|e| file.path.blame(e))?);
            self.next_file += 1;
            self.row = 0;
        }
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        self.piece().transpose()
    }
}

/// Columns without any known kind are read as text.
pub(crate) fn kind_or_text(kind: ColumnKind) -> ColumnKind {
    match kind {
        ColumnKind::Empty | ColumnKind::Other | ColumnKind::Written => ColumnKind::Text,
        kind => kind,
    }
}
