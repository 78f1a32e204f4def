//! One file: recognised by its extension, described, and read in batches.
//!
//! Every format ends in the same type, an Arrow [`RecordBatch`] with the columns
//! that were asked for, in the order in which they were asked for. Nothing here
//! knows about features, labels or scaling.

mod arrow_file;
mod arrow_stated;
mod arrow_walk;
mod csv_file;
mod csv_sniff;
mod csv_source;
mod fixed;
mod known;
mod matrix;
mod member;
mod names;
mod npy;
mod parquet_file;
mod parquet_pages;
mod scalar;
mod tensors;
mod typed;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema as ArrowSchema, SchemaRef};

use crate::column::{Column, ColumnKind};
use crate::error::{DataError, Result};
use crate::input::Input;
use crate::remote::Plan;
use crate::text::Written;

pub(crate) use fixed::Value;
pub(crate) use known::Format;
pub(crate) use names::trimmed;
pub(crate) use typed::interpret;

/// More columns than this are taken for damage.
pub(crate) const MOST_COLUMNS: usize = 1_000_000;

/// How many rows there are, as far as that is known without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsHint {
    /// The number of rows.
    pub rows: u64,
    /// Whether the number is exact or extrapolated from the first rows.
    pub exact: bool,
}

/// A column to read, and what a text format should make of its cells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pick {
    pub(crate) name: String,
    pub(crate) read: ReadAs,
}

/// What to make of a cell of text; typed formats have decided already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ReadAs {
    /// A number as programs write it.
    Number,
    /// A number or a date that is written in this way.
    Written(Written),
    /// The text of a category.
    Text,
    /// The text of a category in a column of numbers, where `-` and its like are missing.
    Code,
    /// Text that is handed through, with only empty cells missing.
    Verbatim,
}

impl ReadAs {
    /// How the categories of a column of this kind are read.
    pub(crate) fn category(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer | ColumnKind::Float | ColumnKind::Date => Self::Code,
            _ => Self::Text,
        }
    }

    /// How numbers that are written so are read.
    pub(crate) fn number(written: Written) -> Self {
        if written.is_plain() { Self::Number } else { Self::Written(written) }
    }
}

/// Which columns to read, and how.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) picks: Vec<Pick>,
    /// More cells that stand for a missing value.
    pub(crate) tokens: Arc<[String]>,
    /// Rows of a batch, about.
    pub(crate) rows: usize,
    /// With more than one thread the columns of a Parquet file are decoded side by side.
    pub(crate) threads: usize,
}

/// The batches of one file.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What was learned about a file by looking at its beginning.
#[derive(Clone, Debug)]
enum Layout {
    Csv(csv_file::CsvLayout),
    Parquet(parquet_file::ParquetLayout),
    Arrow(arrow_file::ArrowLayout),
    Matrix(Vec<matrix::Slab>),
}

/// One file of a data set.
#[derive(Clone, Debug)]
pub(crate) struct DataFile {
    pub(crate) path: Input,
    pub(crate) columns: Vec<Column>,
    /// The columns whose name another one had before, by their new names.
    pub(crate) renamed: Vec<String>,
    pub(crate) rows: Option<RowsHint>,
    layout: Layout,
    /// The columns that are not in the file, by their places.
    fixed: HashMap<usize, Value>,
}

/// What a format's own `probe` reports.
struct Probed {
    columns: Vec<Column>,
    rows: Option<RowsHint>,
    layout: Layout,
}

impl DataFile {
    /// Looks at a file: its columns, their kinds, the number of rows where cheap.
    /// The values of partition folders are columns; one of the file with such a name is not read.
    pub(crate) fn probe(path: &Input, partitions: &[(String, Value)]) -> Result<Self> {
        let mut file = Self::look(path).map_err(|e| path.blame(e))?;
        for (name, value) in partitions {
            let place = file.columns.iter().position(|c| c.name == *name);
            let place = place.unwrap_or(file.columns.len());
            match file.columns.get_mut(place) {
                Some(column) => *column = value.column(name),
                None => file.columns.push(value.column(name)),
            }
            file.fixed.insert(place, value.clone());
        }
        Ok(file)
    }

    fn look(path: &Input) -> Result<Self> {
        let named = Format::of(path);
        if named.is_none() && !path.is_spooled() {
            return Err(DataError::UnknownFormat { path: path.to_path_buf() });
        }
        let unread = |e| DataError::read(path, e);
        let mut file = path.open()?;
        let length = file.length().map_err(unread)?;
        let format = match named {
            Some(format) => format,
            None => Format::by_contents(&mut file).map_err(unread)?,
        };
        if length == 0 {
            return Err(DataError::EmptyFile { path: path.to_path_buf() });
        }
        let mut probed = match format {
            Format::Csv { gzip } => csv_file::probe(path, gzip, length)?,
            Format::Parquet => parquet_file::probe(path)?,
            Format::Arrow => arrow_file::probe(path, length)?,
            Format::Npz => npy::probe_npz(path)?,
            Format::Npy => npy::probe_npy(path, length)?,
            Format::Safetensors => tensors::probe(path, length)?,
        };
        let found = probed.columns.len();
        if found > MOST_COLUMNS {
            return Err(DataError::TooManyColumns { path: path.to_path_buf(), found });
        }
        let renamed = names::tell_apart(&mut probed.columns);
        let Probed { columns, rows, layout } = probed;
        Ok(Self { path: path.clone(), columns, renamed, rows, layout, fixed: HashMap::new() })
    }

    /// Reads the picked columns in batches.
    pub(crate) fn read(&self, reading: &Reading) -> Result<Batches> {
        let places = self.places(&reading.picks)?;
        let values: Vec<_> = places.iter().map(|place| self.fixed.get(place).cloned()).collect();
        if values.iter().all(Option::is_none) {
            return self.read_own(reading, &places);
        }
        let own = |i: &usize| values[*i].is_none();
        let picks = (0..places.len()).filter(own).map(|i| reading.picks[i].clone()).collect();
        let places: Vec<usize> = (0..places.len()).filter(own).map(|i| places[i]).collect();
        let own = self.read_own(&Reading { picks, ..reading.clone() }, &places)?;
        let (path, reading, is_text) = (self.path.clone(), reading.clone(), self.is_text());
        Ok(Box::new(fixed::WithFixed { path, own, reading, values, is_text }))
    }

    /// Fetches the beginning of what a pass will read, where that is an object.
    pub(crate) fn begin(&self, reading: &Reading) {
        let Some(object) = self.path.object() else { return };
        let plan = match (&self.layout, self.places(&reading.picks)) {
            (Layout::Parquet(layout), Ok(places)) => {
                parquet_file::plan(&self.path, layout, &places)
            }
            _ => None,
        };
        object.begin(&plan.unwrap_or_else(|| Plan::whole(object.size())));
    }

    fn read_own(&self, reading: &Reading, places: &[usize]) -> Result<Batches> {
        let Reading { rows, threads, .. } = *reading;
        match &self.layout {
            Layout::Csv(layout) => csv_file::read(&self.path, layout, reading, places),
            Layout::Parquet(layout) => {
                parquet_file::read(&self.path, layout, places, rows, threads)
            }
            Layout::Arrow(layout) => arrow_file::read(&self.path, layout, places),
            Layout::Matrix(slabs) => matrix::read(&self.path, slabs, &self.columns, places, rows),
        }
    }

    /// Whether cells are text that this crate reads, and not of types that the file has.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.layout, Layout::Csv(_))
    }

    /// The position of each picked column in this file.
    fn places(&self, picks: &[Pick]) -> Result<Vec<usize>> {
        let index: HashMap<&str, usize> =
            self.columns.iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect();
        let place = |pick: &Pick| {
            index.get(pick.name.as_str()).copied().ok_or_else(|| DataError::NoColumn {
                path: self.path.to_path_buf(),
                column: pick.name.clone(),
                nearest: None,
            })
        };
        picks.iter().map(place).collect()
    }
}

/// The columns of an Arrow schema.
fn columns_of(schema: &ArrowSchema) -> Vec<Column> {
    let column = |field: &Arc<arrow_schema::Field>| Column {
        name: field.name().clone(),
        kind: ColumnKind::of(field.data_type()),
        type_name: field.data_type().to_string(),
        array: None,
    };
    schema.fields().iter().map(column).collect()
}

/// The places without repetition in ascending order, and for each place its index there.
fn unique_places(places: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut unique = places.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let back = places.iter().map(|p| unique.partition_point(|u| u < p)).collect();
    (unique, back)
}

/// A batch of the given columns, which may be none.
fn batch_of(
    schema: SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    RecordBatch::try_new_with_options(
        schema,
        columns,
        &RecordBatchOptions::new().with_row_count(Some(rows)),
    )
}

/// Reorders (and repeats) the columns of a batch.
fn arranged(batch: &RecordBatch, order: &[usize]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    batch.project(order)
}
