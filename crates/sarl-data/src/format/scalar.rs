//! The element types of matrices, and how a column of them becomes an Arrow array.

use std::io;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray, UInt64Array,
};
use half::{bf16, f16};

use crate::column::ColumnKind;

/// The type of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    /// Bytes of text, padded with zeros.
    Bytes(usize),
    /// Code points of four bytes each, padded with zeros.
    Chars(usize),
}

/// A type and the order of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub(super) of: Type,
    pub(super) big_endian: bool,
}

impl Scalar {
    /// A little-endian type.
    pub(super) fn little(of: Type) -> Self {
        Self { of, big_endian: false }
    }

    /// The number of bytes of a cell.
    pub(super) fn size(self) -> usize {
        match self.of {
            Type::Bool | Type::I8 | Type::U8 => 1,
            Type::F16 | Type::Bf16 | Type::I16 | Type::U16 => 2,
            Type::F32 | Type::I32 | Type::U32 => 4,
            Type::F64 | Type::I64 | Type::U64 => 8,
            Type::Bytes(n) => n,
            Type::Chars(n) => 4 * n,
        }
    }

    /// What a column of this type holds.
    pub(super) fn kind(self) -> ColumnKind {
        match self.of {
            Type::Bool => ColumnKind::Bool,
            Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => ColumnKind::Float,
            Type::Bytes(_) | Type::Chars(_) => ColumnKind::Text,
            _ => ColumnKind::Integer,
        }
    }

    /// The column that starts at byte `offset` of every `stride` bytes.
    pub(super) fn gather(self, bytes: &[u8], stride: usize, offset: usize) -> io::Result<ArrayRef> {
        let cells = Cells { bytes, stride, offset, big_endian: self.big_endian };
        Ok(match self.of {
            Type::F16 => {
                Arc::new(Float32Array::from(cells.take(|b| f16::from_le_bytes(b).to_f32())))
            }
            Type::Bf16 => {
                Arc::new(Float32Array::from(cells.take(|b| bf16::from_le_bytes(b).to_f32())))
            }
            Type::F32 => Arc::new(Float32Array::from(cells.take(f32::from_le_bytes))),
            Type::F64 => Arc::new(Float64Array::from(cells.take(f64::from_le_bytes))),
            Type::I8 => Arc::new(Int64Array::from(cells.take(|b| i64::from(i8::from_le_bytes(b))))),
            Type::I16 => {
                Arc::new(Int64Array::from(cells.take(|b| i64::from(i16::from_le_bytes(b)))))
            }
            Type::I32 => {
                Arc::new(Int64Array::from(cells.take(|b| i64::from(i32::from_le_bytes(b)))))
            }
            Type::I64 => Arc::new(Int64Array::from(cells.take(i64::from_le_bytes))),
            Type::U8 => Arc::new(Int64Array::from(cells.take(|b: [u8; 1]| i64::from(b[0])))),
            Type::U16 => {
                Arc::new(Int64Array::from(cells.take(|b| i64::from(u16::from_le_bytes(b)))))
            }
            Type::U32 => {
                Arc::new(Int64Array::from(cells.take(|b| i64::from(u32::from_le_bytes(b)))))
            }
            Type::U64 => Arc::new(UInt64Array::from(cells.take(u64::from_le_bytes))),
            Type::Bool => Arc::new(BooleanArray::from(cells.take(|b: [u8; 1]| b[0] != 0))),
            Type::Bytes(n) => Arc::new(StringArray::from(cells.text(n, bytes_text)?)),
            Type::Chars(n) => {
                Arc::new(StringArray::from(cells.text(4 * n, |c| self.chars_text(c))?))
            }
        })
    }

    fn chars_text(self, cell: &[u8]) -> Option<String> {
        let code = |b: &[u8]| <[u8; 4]>::try_from(b).ok().map(|b| self.code(b));
        let codes = cell.chunks_exact(4).filter_map(code).collect::<Vec<_>>();
        let end = codes.iter().rposition(|c| *c != 0).map_or(0, |i| i + 1);
        codes[..end].iter().map(|c| char::from_u32(*c)).collect()
    }

    fn code(self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

fn bytes_text(cell: &[u8]) -> Option<String> {
    let end = cell.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    String::from_utf8(cell[..end].to_vec()).ok()
}

/// The cells of one column among rows of `stride` bytes.
struct Cells<'a> {
    bytes: &'a [u8],
    stride: usize,
    offset: usize,
    big_endian: bool,
}

impl Cells<'_> {
    fn take<T, const N: usize>(&self, from_le: impl Fn([u8; N]) -> T) -> Vec<T> {
        let cell = |row: &[u8]| -> [u8; N] {
            let mut cell = [0; N];
            cell.copy_from_slice(&row[self.offset..self.offset + N]);
            cell
        };
        let rows = self.bytes.chunks_exact(self.stride.max(1));
        if self.big_endian {
            let swapped = |row| {
                let mut cell = cell(row);
                cell.reverse();
                from_le(cell)
            };
            rows.map(swapped).collect()
        } else {
            rows.map(|row| from_le(cell(row))).collect()
        }
    }

    fn text(
        &self,
        size: usize,
        decode: impl Fn(&[u8]) -> Option<String>,
    ) -> io::Result<Vec<String>> {
        let bad = || io::Error::new(io::ErrorKind::InvalidData, "text that is not Unicode");
        let cell = |row: &[u8]| decode(&row[self.offset..self.offset + size]).ok_or_else(bad);
        self.bytes.chunks_exact(self.stride.max(1)).map(cell).collect()
    }
}
