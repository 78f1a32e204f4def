//! Safetensors with the tensors `X`, `y` and `s`.
//!
//! The `safetensors` crate checks the header; the numbers are read a few rows at a
//! time, because mapping the file into memory needs unsafe code.

use std::io::Read;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::Probed;
use super::matrix::{Place, Slab, assemble};
use super::scalar::{Scalar, Type};
use crate::column::MatrixArray;
use crate::error::{DataError, Result};
use crate::input::Input;

/// The limit of the format itself.
const LONGEST_HEADER: u64 = 100_000_000;

pub(super) fn probe(path: &Input, length: u64) -> Result<Probed> {
    let damaged =
        |reason: &dyn ToString| DataError::damaged(path, "safetensors", reason.to_string());
    let mut file = path.open()?;
    let mut size = [0; 8];
    file.read_exact(&mut size).map_err(|_| damaged(&"it is too short"))?;
    let size = u64::from_le_bytes(size);
    if size > LONGEST_HEADER || size > length.saturating_sub(8) {
        return Err(damaged(&"its header is longer than the file"));
    }
    let mut header = vec![0; size as usize];
    file.read_exact(&mut header).map_err(|e| damaged(&e))?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|e| damaged(&e))?;
    let data = length - 8 - size;
    if metadata.data_len() as u64 != data {
        return Err(damaged(&format!(
            "it has {data} bytes of data, expected {}",
            metadata.data_len()
        )));
    }
    let mut slabs = Vec::new();
    for array in [MatrixArray::X, MatrixArray::Y, MatrixArray::S] {
        if let Some(info) = metadata.info(array.name()) {
            slabs.push(slab(path, array, info, 8 + size)?);
        }
    }
    assemble(path, slabs, metadata.offset_keys())
}

fn slab(path: &Path, array: MatrixArray, info: &TensorInfo, start: u64) -> Result<Slab> {
    let of = element(info.dtype).ok_or_else(|| DataError::WrongArray {
        path: path.to_owned(),
        array: array.name().to_owned(),
        found: format!("the type {:?}", info.dtype),
        expected: "numbers or booleans",
    })?;
    Ok(Slab {
        array,
        shape: info.shape.iter().map(|n| *n as u64).collect(),
        scalar: Scalar::little(of),
        fortran: false,
        place: Place::At(start + info.data_offsets.0 as u64),
    })
}

fn element(dtype: Dtype) -> Option<Type> {
    Some(match dtype {
        Dtype::BOOL => Type::Bool,
        Dtype::U8 => Type::U8,
        Dtype::I8 => Type::I8,
        Dtype::I16 => Type::I16,
        Dtype::U16 => Type::U16,
        Dtype::F16 => Type::F16,
        Dtype::BF16 => Type::Bf16,
        Dtype::I32 => Type::I32,
        Dtype::U32 => Type::U32,
        Dtype::F32 => Type::F32,
        Dtype::F64 => Type::F64,
        Dtype::I64 => Type::I64,
        Dtype::U64 => Type::U64,
        _ => return None,
    })
}
