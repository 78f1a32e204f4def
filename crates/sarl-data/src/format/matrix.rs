//! Matrices of numbers in a file: the arrays `X`, `y` and `s` of NPZ, NPY and
//! safetensors, read a few rows at a time.
//!
//! A matrix in C order is read sequentially and taken apart into columns; one in
//! Fortran order is read by seeking to each column. A compressed one in Fortran
//! order is first unpacked into an unnamed temporary file, so that memory stays
//! bounded.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema as ArrowSchema, SchemaRef};
use flate2::read::DeflateDecoder;

use super::scalar::Scalar;
use super::{Batches, Layout, Probed, RowsHint, batch_of, open};
use crate::column::{Column, MatrixArray};
use crate::error::{DataError, Result};

/// Rows at a time: few, so that taking columns out of them stays in the cache.
const ROWS: usize = 1024;
/// And never more bytes of one array than this, where a single row is smaller.
const BYTES: usize = 16 << 20;
/// More columns than this are taken for a damaged header.
const MOST_COLUMNS: u64 = 1_000_000;

/// Where the numbers of an array lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Plainly in the file, from this byte on.
    At(u64),
    /// Deflated: `length` bytes from `start`, of which the first `skip` unpacked are a header.
    Deflated { start: u64, length: u64, skip: u64 },
}

/// One array in a file.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    pub(super) array: MatrixArray,
    pub(super) shape: Vec<u64>,
    pub(super) scalar: Scalar,
    pub(super) fortran: bool,
    pub(super) place: Place,
}

impl Slab {
    fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    fn cols(&self) -> u64 {
        self.shape.get(1).copied().unwrap_or(1)
    }

    /// The number of bytes, unless that overflows.
    pub(super) fn bytes(&self) -> Option<u64> {
        let cells = self.shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
        cells.checked_mul(self.scalar.size() as u64)
    }

    fn columns(&self) -> impl Iterator<Item = Column> + '_ {
        let stem = self.array.name().to_lowercase();
        let single = self.array != MatrixArray::X && self.cols() == 1;
        (0..self.cols()).map(move |i| Column {
            name: if single { stem.clone() } else { format!("{stem}{i}") },
            kind: self.scalar.kind(),
            type_name: self.scalar.kind().describe().to_owned(),
            array: Some(self.array),
        })
    }
}

/// Checks the arrays against each other and names their columns.
pub(super) fn assemble(path: &Path, slabs: Vec<Slab>, found: Vec<String>) -> Result<Probed> {
    let x = slabs.iter().find(|s| s.array == MatrixArray::X);
    let x = x.ok_or_else(|| DataError::NoArray {
        path: path.to_owned(),
        array: "X".to_owned(),
        found,
    })?;
    let rows = x.rows();
    for slab in &slabs {
        check(path, slab, rows)?;
    }
    if rows == 0 {
        return Err(DataError::NoRows { path: path.to_owned() });
    }
    let columns = slabs.iter().flat_map(Slab::columns).collect();
    Ok(Probed {
        columns,
        rows: Some(RowsHint { rows, exact: true }),
        layout: Layout::Matrix(slabs),
    })
}

fn check(path: &Path, slab: &Slab, rows: u64) -> Result<()> {
    let wrong = |found: String, expected| DataError::WrongArray {
        path: path.to_owned(),
        array: slab.array.name().to_owned(),
        found,
        expected,
    };
    let dims = slab.shape.len();
    match slab.array {
        MatrixArray::X if dims != 2 => {
            return Err(wrong(format!("{dims} dimensions"), "two dimensions, rows by features"));
        }
        _ if !(1..=2).contains(&dims) => {
            return Err(wrong(format!("{dims} dimensions"), "one or two dimensions"));
        }
        _ => {}
    }
    if slab.cols() == 0 || slab.cols() > MOST_COLUMNS {
        return Err(wrong(format!("{} columns", slab.cols()), "between one and a million columns"));
    }
    match slab.rows() == rows {
        true => Ok(()),
        false => Err(DataError::WrongLength {
            path: path.to_owned(),
            array: slab.array.name().to_owned(),
            found: slab.rows(),
            expected: rows,
        }),
    }
}

pub(super) fn read(
    path: &Path,
    slabs: &[Slab],
    columns: &[Column],
    places: &[usize],
    rows: usize,
) -> Result<Batches> {
    let mut readers = Vec::new();
    let mut first = 0;
    let mut rows = rows.clamp(1, ROWS);
    for slab in slabs {
        let width = slab.cols() as usize;
        rows = rows.min(BYTES / (width * slab.scalar.size()).max(1)).max(1);
        let inside = |p: &usize| (first..first + width).contains(p);
        let wanted: Vec<(usize, usize)> = places
            .iter()
            .enumerate()
            .filter(|(_, p)| inside(p))
            .map(|(to, p)| (to, p - first))
            .collect();
        if !wanted.is_empty() {
            readers.push(SlabReader::new(path, slab, wanted)?);
        }
        first += width;
    }
    let column = |p: &usize| columns.get(*p).map(|c| c.name.clone()).unwrap_or_default();
    Ok(Box::new(MatrixBatches {
        path: path.to_owned(),
        left: slabs.first().map_or(0, Slab::rows),
        names: places.iter().map(column).collect(),
        rows,
        readers,
        schema: None,
    }))
}

struct MatrixBatches {
    path: PathBuf,
    left: u64,
    rows: usize,
    names: Vec<String>,
    readers: Vec<SlabReader>,
    schema: Option<SchemaRef>,
}

impl MatrixBatches {
    fn batch(&mut self) -> Result<RecordBatch> {
        let rows = self.left.min(self.rows as u64) as usize;
        let mut taken: Vec<Option<ArrayRef>> = vec![None; self.names.len()];
        for reader in &mut self.readers {
            reader
                .take(rows, &mut taken)
                .map_err(|e| DataError::damaged(&self.path, "matrix", e))?;
        }
        self.left -= rows as u64;
        let columns: Vec<ArrayRef> = taken.into_iter().flatten().collect();
        let schema = self.schema.get_or_insert_with(|| {
            let field = |(name, column): (&String, &ArrayRef)| {
                Field::new(name, column.data_type().clone(), true)
            };
            Arc::new(ArrowSchema::new(
                self.names.iter().zip(&columns).map(field).collect::<Vec<_>>(),
            ))
        });
        batch_of(schema.clone(), columns, rows)
            .map_err(|e| DataError::damaged(&self.path, "matrix", e))
    }
}

impl Iterator for MatrixBatches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.left > 0).then(|| self.batch())
    }
}

/// The bytes of an array.
enum Bytes {
    Plain { file: File, start: u64 },
    Sequential(Box<dyn Read + Send>),
}

struct SlabReader {
    slab: Slab,
    bytes: Bytes,
    wanted: Vec<(usize, usize)>,
    row: u64,
    buffer: Vec<u8>,
}

impl SlabReader {
    fn new(path: &Path, slab: &Slab, wanted: Vec<(usize, usize)>) -> Result<Self> {
        let seeks = slab.fortran && slab.cols() > 1;
        let bytes = bytes_of(open(path)?, slab, seeks)
            .map_err(|e| DataError::damaged(path, "matrix", e))?;
        Ok(Self { slab: slab.clone(), bytes, wanted, row: 0, buffer: Vec::new() })
    }

    /// Takes the wanted columns of the next rows to their places.
    fn take(&mut self, rows: usize, taken: &mut [Option<ArrayRef>]) -> io::Result<()> {
        let size = self.slab.scalar.size();
        match &mut self.bytes {
            Bytes::Sequential(reader) => {
                let stride = size * self.slab.cols() as usize;
                self.buffer.resize(rows * stride, 0);
                reader.read_exact(&mut self.buffer)?;
                for (to, column) in &self.wanted {
                    taken[*to] =
                        Some(self.slab.scalar.gather(&self.buffer, stride, column * size)?);
                }
            }
            Bytes::Plain { file, start } => {
                self.buffer.resize(rows * size, 0);
                for (to, column) in &self.wanted {
                    let cell = *column as u64 * self.slab.rows() + self.row;
                    file.seek(SeekFrom::Start(*start + cell * size as u64))?;
                    file.read_exact(&mut self.buffer)?;
                    taken[*to] = Some(self.slab.scalar.gather(&self.buffer, size, 0)?);
                }
            }
        }
        self.row += rows as u64;
        Ok(())
    }
}

fn bytes_of(mut file: File, slab: &Slab, seeks: bool) -> io::Result<Bytes> {
    match slab.place {
        Place::At(start) if seeks => Ok(Bytes::Plain { file, start }),
        Place::At(start) => {
            file.seek(SeekFrom::Start(start))?;
            Ok(Bytes::Sequential(Box::new(BufReader::with_capacity(256 * 1024, file))))
        }
        Place::Deflated { start, length, skip } => {
            file.seek(SeekFrom::Start(start))?;
            let mut unpacked = DeflateDecoder::new(BufReader::new(file.take(length)));
            io::copy(&mut (&mut unpacked).take(skip), &mut io::sink())?;
            if !seeks {
                return Ok(Bytes::Sequential(Box::new(unpacked)));
            }
            let mut spool = tempfile::tempfile()?;
            let bytes = slab.bytes().unwrap_or(u64::MAX);
            io::copy(&mut unpacked.take(bytes), &mut spool)?;
            Ok(Bytes::Plain { file: spool, start: 0 })
        }
    }
}
