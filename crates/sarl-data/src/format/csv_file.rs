//! CSV with a header, plain or gzipped.
//!
//! Cells are trimmed; which of them are missing is told by [`gap`]. The `csv` crate
//! splits the lines; the cells are converted here, because only then an error can
//! name the column and the row.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use csv::ByteRecord;

use super::csv_sniff::{Tally, delimiter, not_text};
use super::csv_source::{Rows, broken, bytes};
use super::names::trimmed;
use super::{Batches, Layout, MOST_COLUMNS, Pick, Probed, ReadAs, Reading, RowsHint, batch_of};
use crate::column::Column;
use crate::error::{DataError, Result};
use crate::input::Input;
use crate::text::{Gap, gap};

/// How many rows are looked at to decide what the columns hold.
const SAMPLE: u64 = 10_000;
/// How many bytes are looked at to decide whether this is text at all.
const START: u64 = 64 * 1024;
/// Bytes of a batch, about.
const MOST_BYTES: usize = 64 << 20;

/// How to read the file again.
#[derive(Clone, Debug)]
pub(super) struct CsvLayout {
    delimiter: u8,
    gzip: bool,
    width: usize,
}

pub(super) fn probe(path: &Input, gzip: bool, length: u64) -> Result<Probed> {
    let mut start = Vec::new();
    bytes(path, gzip)?.take(START).read_to_end(&mut start).map_err(|e| broken(path, gzip, e))?;
    if start.is_empty() {
        return Err(DataError::EmptyFile { path: path.to_path_buf() });
    }
    if let Some(reason) = not_text(&start) {
        return Err(DataError::damaged(path, "CSV", reason));
    }
    let delimiter = delimiter(&start);
    let mut rows = Rows::open(path, gzip, delimiter)?;
    let names = header(path, &mut rows)?;
    let (tallies, hint) = sample(path, gzip, &mut rows, names.len(), length)?;
    let columns = names
        .into_iter()
        .zip(&tallies)
        .map(|(name, tally)| Column {
            name,
            kind: tally.kind(),
            type_name: tally.kind().describe().to_owned(),
            array: None,
        })
        .collect::<Vec<_>>();
    let layout = Layout::Csv(CsvLayout { delimiter, gzip, width: columns.len() });
    Ok(Probed { columns, rows: hint, layout })
}

/// The column names.
fn header(path: &Path, rows: &mut Rows) -> Result<Vec<String>> {
    let header = rows.header(path)?;
    if header.len() > MOST_COLUMNS {
        return Err(DataError::TooManyColumns { path: path.to_owned(), found: header.len() });
    }
    let name = |cell: &[u8]| match std::str::from_utf8(cell) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(DataError::damaged(path, "CSV", "its header is not UTF-8 text")),
    };
    header.iter().map(name).collect()
}

fn sample(
    path: &Path,
    gzip: bool,
    reader: &mut Rows,
    width: usize,
    length: u64,
) -> Result<(Vec<Tally>, Option<RowsHint>)> {
    let mut tallies = vec![Tally::default(); width];
    let mut record = ByteRecord::new();
    let start = reader.position();
    let mut rows = 0;
    let mut ended = false;
    while rows < SAMPLE && !ended {
        ended = !reader.next(path, rows + 1, &mut record)?;
        if !ended {
            rows += 1;
            check_width(path, &record, width, rows)?;
            tallies.iter_mut().zip(&record).for_each(|(tally, cell)| tally.see(visible(cell)));
        }
    }
    if rows == 0 {
        return Err(DataError::NoRows { path: path.to_path_buf() });
    }
    let hint = match (ended, gzip) {
        (true, _) => Some(RowsHint { rows, exact: true }),
        (false, true) => None,
        (false, false) => {
            let bytes = reader.position().saturating_sub(start).max(1);
            let estimate = rows as f64 * length.saturating_sub(start) as f64 / bytes as f64;
            Some(RowsHint { rows: estimate as u64, exact: false })
        }
    };
    Ok((tallies, hint))
}

/// A cell without the space around it, also that of other alphabets.
fn visible(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    match (cell.first(), cell.last()) {
        (Some(0..=0x7f), Some(0..=0x7f)) | (None, _) => cell,
        _ => std::str::from_utf8(cell).map_or(cell, |text| trimmed(text).as_bytes()),
    }
}

fn check_width(path: &Path, record: &ByteRecord, width: usize, row: u64) -> Result<()> {
    match record.len() == width {
        true => Ok(()),
        false => Err(DataError::Ragged {
            path: path.to_owned(),
            row,
            found: record.len(),
            expected: width,
        }),
    }
}

pub(super) fn read(
    path: &Input,
    layout: &CsvLayout,
    reading: &Reading,
    places: &[usize],
) -> Result<Batches> {
    let field = |pick: &Pick| match pick.read {
        ReadAs::Number | ReadAs::Written(_) => Field::new(&pick.name, DataType::Float64, true),
        ReadAs::Text | ReadAs::Code | ReadAs::Verbatim => {
            Field::new(&pick.name, DataType::Utf8, true)
        }
    };
    let fields = reading.picks.iter().map(field).collect::<Vec<_>>();
    Ok(Box::new(CsvBatches {
        path: path.clone(),
        reader: Rows::open(path, layout.gzip, layout.delimiter)?,
        layout: layout.clone(),
        reading: reading.clone(),
        places: places.to_vec(),
        schema: Arc::new(ArrowSchema::new(fields)),
        row: 0,
        record: ByteRecord::new(),
    }))
}

struct CsvBatches {
    path: Input,
    reader: Rows,
    layout: CsvLayout,
    reading: Reading,
    places: Vec<usize>,
    schema: SchemaRef,
    row: u64,
    record: ByteRecord,
}

/// The cells of one column while a batch is filled.
enum Cells {
    Number(Vec<f64>),
    Text(StringBuilder),
}

impl Cells {
    fn new(read: ReadAs, rows: usize) -> Self {
        match read {
            ReadAs::Number | ReadAs::Written(_) => Cells::Number(Vec::with_capacity(rows)),
            ReadAs::Text | ReadAs::Code | ReadAs::Verbatim => {
                Cells::Text(StringBuilder::with_capacity(rows, 8 * rows))
            }
        }
    }

    /// Adds a cell; says what was expected of it when it is no such thing.
    fn push(
        &mut self,
        cell: &[u8],
        read: ReadAs,
        tokens: &[String],
    ) -> std::result::Result<(), &'static str> {
        let text = std::str::from_utf8(cell).map_err(|_| "UTF-8 text")?;
        let missing = is_missing(cell, read) || tokens.iter().any(|t| t == text);
        match self {
            Cells::Number(values) if missing => values.push(f64::NAN),
            Cells::Number(values) => values.push(match read {
                ReadAs::Written(written) => written.read(text).ok_or(written.expected())?,
                _ => text.parse().map_err(|_| "a number")?,
            }),
            Cells::Text(values) if missing => values.append_null(),
            Cells::Text(values) => values.append_value(text),
        }
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Cells::Number(values) => Arc::new(Float64Array::from(values)),
            Cells::Text(mut values) => Arc::new(values.finish()),
        }
    }
}

/// Whether a trimmed cell is missing in a column that is read so.
fn is_missing(cell: &[u8], read: ReadAs) -> bool {
    // Most cells begin with a digit, and no spelling of a gap does.
    if cell.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    match read {
        ReadAs::Verbatim => cell.is_empty(),
        ReadAs::Text => gap(cell) == Some(Gap::Always),
        ReadAs::Number | ReadAs::Written(_) | ReadAs::Code => gap(cell).is_some(),
    }
}

impl CsvBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut cells: Vec<Cells> =
            self.reading.picks.iter().map(|p| Cells::new(p.read, self.reading.rows)).collect();
        let (mut rows, mut bytes) = (0, 0);
        while rows < self.reading.rows && bytes < MOST_BYTES {
            if !self.reader.next(&self.path, self.row + 1, &mut self.record)? {
                break;
            }
            self.row += 1;
            rows += 1;
            bytes += self.record.as_slice().len();
            check_width(&self.path, &self.record, self.layout.width, self.row)?;
            self.take_row(&mut cells)?;
        }
        if rows == 0 {
            return Ok(None);
        }
        let columns = cells.into_iter().map(Cells::finish).collect();
        let batch = batch_of(self.schema.clone(), columns, rows);
        batch.map(Some).map_err(|e| DataError::damaged(&self.path, "CSV", e))
    }

    fn take_row(&self, cells: &mut [Cells]) -> Result<()> {
        let Reading { picks, tokens, .. } = &self.reading;
        for ((cell, pick), place) in cells.iter_mut().zip(picks).zip(&self.places) {
            let bytes = visible(self.record.get(*place).unwrap_or_default());
            cell.push(bytes, pick.read, tokens).map_err(|expected| DataError::BadCell {
                path: self.path.to_path_buf(),
                column: pick.name.clone(),
                row: self.row,
                found: String::from_utf8_lossy(bytes).chars().take(60).collect(),
                expected,
            })?;
        }
        Ok(())
    }
}

impl Iterator for CsvBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
