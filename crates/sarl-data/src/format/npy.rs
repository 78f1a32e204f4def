//! NumPy's NPY and NPZ.
//!
//! An NPY file is a magic number, a version, the length of a header and the header
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 3), }`, then the
//! numbers. NPZ is a zip archive of them. The header is parsed here, with every
//! length checked before it is believed; arrays of Python objects are refused.

use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use super::Probed;
use super::matrix::{Place, Slab, assemble};
use super::member::Member;
use super::scalar::{Scalar, Type};
use crate::column::MatrixArray;
use crate::error::{DataError, Result};
use crate::input::Input;
use crate::opened::Opened;

/// A longer header is taken for damage.
const LONGEST_HEADER: usize = 1 << 20;
/// The longest text of a label.
const LONGEST_TEXT: usize = 4096;

/// What an NPY header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
    /// The number of bytes before the numbers.
    length: u64,
}

pub(super) fn probe_npy(path: &Input, length: u64) -> Result<Probed> {
    let header =
        header(BufReader::new(path.open()?)).map_err(|e| DataError::damaged(path, "NPY", e))?;
    let slab = slab(path, MatrixArray::X, &header, Place::At(header.length))?;
    check_length(path, &slab, "NPY", length.saturating_sub(header.length))?;
    assemble(path, vec![slab], Vec::new())
}

pub(super) fn probe_npz(path: &Input) -> Result<Probed> {
    let mut archive = ZipArchive::new(BufReader::new(path.open()?))
        .map_err(|e| DataError::damaged(path, "NPZ", e))?;
    let names: Vec<String> =
        archive.file_names().flatten().map(|n| n.trim_end_matches(".npy").to_owned()).collect();
    let mut slabs = Vec::new();
    for array in [MatrixArray::X, MatrixArray::Y, MatrixArray::S] {
        if let Some(index) = archive.index_for_name(&format!("{}.npy", array.name())) {
            slabs.push(entry(path, &mut archive, index, array)?);
        }
    }
    assemble(path, slabs, names)
}

fn entry(
    path: &Input,
    archive: &mut ZipArchive<BufReader<Opened>>,
    index: usize,
    array: MatrixArray,
) -> Result<Slab> {
    let damaged = |e: &dyn ToString| DataError::damaged(path, "NPZ", e.to_string());
    let member = {
        let entry = archive.by_index_raw(index).map_err(|e| damaged(&e))?;
        if entry.encrypted() {
            return Err(damaged(&"it is encrypted"));
        }
        let deflated = match entry.compression() {
            CompressionMethod::STORE => false,
            CompressionMethod::DEFLATE => true,
            other => return Err(damaged(&format!("compression {other} is not supported"))),
        };
        Member {
            start: entry.data_start().ok_or_else(|| damaged(&"an entry has no data"))?,
            packed: entry.compressed_size(),
            size: entry.size(),
            crc32: entry.crc32(),
            deflated,
        }
    };
    let bytes = member.open(path.open()?).map_err(|e| DataError::read(path, e))?;
    let header = header(bytes).map_err(|e| damaged(&e))?;
    let (size, place) = (member.size, Place::In(member, header.length));
    let slab = slab(path, array, &header, place)?;
    check_length(path, &slab, "NPZ", size.saturating_sub(header.length))?;
    Ok(slab)
}

fn check_length(path: &Path, slab: &Slab, format: &'static str, found: u64) -> Result<()> {
    match slab.bytes() {
        Some(bytes) if bytes <= found => Ok(()),
        Some(bytes) => {
            let array = slab.array.name();
            Err(DataError::damaged(
                path,
                format,
                format!("array `{array}` has {found} bytes, expected {bytes}"),
            ))
        }
        None => Err(DataError::damaged(path, format, "its shape is beyond all bounds")),
    }
}

fn slab(path: &Path, array: MatrixArray, header: &Header, place: Place) -> Result<Slab> {
    let wrong = |found: String, expected| DataError::WrongArray {
        path: path.to_owned(),
        array: array.name().to_owned(),
        found,
        expected,
    };
    if header.descr.contains('O') {
        return Err(wrong(
            "pickled Python objects".to_owned(),
            "plain numbers (objects are never unpickled)",
        ));
    }
    let scalar = scalar(&header.descr);
    let scalar = scalar.ok_or_else(|| {
        wrong(format!("the type `{}`", header.descr), "numbers, booleans or text")
    })?;
    Ok(Slab { array, shape: header.shape.clone(), scalar, fortran: header.fortran, place })
}

/// The type that a string such as `<f4` stands for.
fn scalar(descr: &str) -> Option<Scalar> {
    let big_endian = match descr.as_bytes().first()? {
        b'>' => true,
        b'<' | b'|' => false,
        b'=' => cfg!(target_endian = "big"),
        _ => return None,
    };
    let size: usize = descr.get(2..)?.parse().ok()?;
    let of = match (descr.as_bytes().get(1)?, size) {
        (b'b', 1) => Type::Bool,
        (b'f', 2) => Type::F16,
        (b'f', 4) => Type::F32,
        (b'f', 8) => Type::F64,
        (b'i', 1) => Type::I8,
        (b'i', 2) => Type::I16,
        (b'i', 4) => Type::I32,
        (b'i', 8) => Type::I64,
        (b'u', 1) => Type::U8,
        (b'u', 2) => Type::U16,
        (b'u', 4) => Type::U32,
        (b'u', 8) => Type::U64,
        (b'S', 1..=LONGEST_TEXT) => Type::Bytes(size),
        (b'U', 1..=LONGEST_TEXT) => Type::Chars(size),
        _ => return None,
    };
    Some(Scalar { of, big_endian })
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

fn header(mut reader: impl Read) -> io::Result<Header> {
    let mut start = [0; 8];
    reader.read_exact(&mut start)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(invalid("it does not start with NumPy's magic number"));
    }
    let (length, before) = match start[6] {
        1 => {
            let mut bytes = [0; 2];
            reader.read_exact(&mut bytes)?;
            (usize::from(u16::from_le_bytes(bytes)), 10)
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes)?;
            (u32::from_le_bytes(bytes) as usize, 12)
        }
        _ => return Err(invalid("its version is unknown")),
    };
    if length > LONGEST_HEADER {
        return Err(invalid("its header is too long"));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| invalid("its header is not text"))?;
    parse(&text, (before + length) as u64).ok_or_else(|| invalid("its header cannot be understood"))
}

/// The three entries of the header's dictionary.
fn parse(text: &str, length: u64) -> Option<Header> {
    let descr = after(text, "descr")?;
    let descr = match descr.chars().next()? {
        quote @ ('\'' | '"') => descr[1..].split(quote).next()?.to_owned(),
        // A record type; shown as it is when it is refused.
        _ => descr.split("'fortran_order'").next()?.trim_end_matches([' ', ',']).to_owned(),
    };
    let fortran = match after(text, "fortran_order")? {
        order if order.starts_with("True") => true,
        order if order.starts_with("False") => false,
        _ => return None,
    };
    let shape = after(text, "shape")?.strip_prefix('(')?.split(')').next()?;
    let sizes = shape.split(',').map(|s| s.trim().trim_end_matches('L')).filter(|s| !s.is_empty());
    let shape = sizes.map(|s| s.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Some(Header { descr, fortran, shape, length })
}

/// What follows a key of the dictionary.
fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|k| text.find(k.as_str()).map(|i| i + k.len()))?;
    Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let header =
            parse("{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 3), }  \n", 128)
                .unwrap();
        assert_eq!(
            (header.descr.as_str(), header.fortran, header.shape),
            ("<f4", false, vec![4000, 3])
        );
        let header =
            parse("{'shape': (7L,), 'fortran_order': True, 'descr': \"|b1\"}", 80).unwrap();
        assert_eq!((header.descr.as_str(), header.fortran, header.shape), ("|b1", true, vec![7]));
        for bad in ["", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}"] {
            assert_eq!(parse(bad, 0), None);
        }
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}";
        assert_eq!(parse(huge, 0), None);
    }
}
