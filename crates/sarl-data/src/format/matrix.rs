//! Matrices of numbers in a file: the arrays `X`, `y` and `s` of NPZ, NPY and
//! safetensors, read a few rows at a time.
//!
//! A matrix in C order is read sequentially and taken apart into columns; one in
//! Fortran order is read by seeking to each column. A compressed one in Fortran
//! order is first unpacked into a temporary file, so that memory stays bounded.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema as ArrowSchema, SchemaRef};
use tempfile::NamedTempFile;

use super::member::{Member, MemberReader};
use super::scalar::Scalar;
use super::{Batches, Layout, MOST_COLUMNS, Probed, RowsHint, batch_of};
use crate::column::{Column, MatrixArray};
use crate::error::{DataError, Result};
use crate::input::{Input, spooled};
use crate::opened::Opened;

/// Rows at a time: few, so that taking columns out of them stays in the cache.
const ROWS: usize = 1024;
/// And never more bytes of one array than this, where a single row is smaller.
const BYTES: usize = 16 << 20;

/// Where the numbers of an array lie.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Plainly in the file, from this byte on.
    At(u64),
    /// In a member of a zip archive, after a header of so many bytes.
    In(Member, u64),
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
    if slab.cols() == 0 || slab.cols() > MOST_COLUMNS as u64 {
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
    path: &Input,
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
        path: path.clone(),
        left: slabs.first().map_or(0, Slab::rows),
        names: places.iter().map(column).collect(),
        rows,
        readers,
        schema: None,
    }))
}

struct MatrixBatches {
    path: Input,
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
        if self.left == 0 {
            for reader in &mut self.readers {
                reader.finish().map_err(|e| DataError::damaged(&self.path, "matrix", e))?;
            }
        }
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
    Plain { file: Opened, start: u64, _spool: Option<NamedTempFile> },
    Sequential(Box<dyn Read + Send>),
    Member(MemberReader),
}

struct SlabReader {
    slab: Slab,
    bytes: Bytes,
    wanted: Vec<(usize, usize)>,
    row: u64,
    buffer: Vec<u8>,
}

impl SlabReader {
    fn new(path: &Input, slab: &Slab, wanted: Vec<(usize, usize)>) -> Result<Self> {
        let seeks = slab.fortran && slab.cols() > 1;
        let bytes = bytes_of(path, slab, seeks)?;
        Ok(Self { slab: slab.clone(), bytes, wanted, row: 0, buffer: Vec::new() })
    }

    /// Compares what was read with its checksum, where it has one.
    fn finish(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Member(member) => member.finish(),
            Bytes::Plain { .. } | Bytes::Sequential(_) => Ok(()),
        }
    }

    /// Takes the wanted columns of the next rows to their places.
    fn take(&mut self, rows: usize, taken: &mut [Option<ArrayRef>]) -> io::Result<()> {
        let size = self.slab.scalar.size();
        let reader: &mut dyn Read = match &mut self.bytes {
            Bytes::Sequential(reader) => reader,
            Bytes::Member(reader) => reader,
            Bytes::Plain { file, start, .. } => {
                self.buffer.resize(rows * size, 0);
                for (to, column) in &self.wanted {
                    let cell = *column as u64 * self.slab.rows() + self.row;
                    file.seek(SeekFrom::Start(*start + cell * size as u64))?;
                    file.read_exact(&mut self.buffer)?;
                    taken[*to] = Some(self.slab.scalar.gather(&self.buffer, size, 0)?);
                }
                self.row += rows as u64;
                return Ok(());
            }
        };
        let stride = size * self.slab.cols() as usize;
        self.buffer.resize(rows * stride, 0);
        reader.read_exact(&mut self.buffer)?;
        for (to, column) in &self.wanted {
            taken[*to] = Some(self.slab.scalar.gather(&self.buffer, stride, column * size)?);
        }
        self.row += rows as u64;
        Ok(())
    }
}

fn bytes_of(path: &Input, slab: &Slab, seeks: bool) -> Result<Bytes> {
    let damaged = |e: io::Error| DataError::damaged(path, "matrix", e);
    let mut file = path.open()?;
    match slab.place {
        Place::At(start) if seeks => Ok(Bytes::Plain { file, start, _spool: None }),
        Place::At(start) => {
            file.seek(SeekFrom::Start(start)).map_err(|e| DataError::read(path, e))?;
            Ok(Bytes::Sequential(Box::new(BufReader::with_capacity(256 * 1024, file))))
        }
        Place::In(member, header) => {
            let mut bytes = member.open(file).map_err(damaged)?;
            if seeks && member.deflated {
                let spool = spooled(path, bytes, damaged)?;
                let file = Opened::File(spool.reopen().map_err(|e| DataError::read(path, e))?);
                return Ok(Bytes::Plain { file, start: header, _spool: Some(spool) });
            }
            if seeks {
                bytes.finish().map_err(damaged)?;
                let start = member.start + header;
                return Ok(Bytes::Plain { file: path.open()?, start, _spool: None });
            }
            io::copy(&mut (&mut bytes).take(header), &mut io::sink()).map_err(damaged)?;
            Ok(Bytes::Member(bytes))
        }
    }
}
