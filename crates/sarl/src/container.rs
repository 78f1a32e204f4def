//! The files: safetensors with a JSON description under one metadata key.
//!
//! Matrices are stored row by row, so that other readers see their natural shape. The tensor
//! `checksum` is the CRC-32 of the description and of all other tensors, so that a flipped bit is
//! an error and not another model.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use faer::{Mat, MatRef};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// The metadata key of the description. One key, because the order of several is not fixed and
/// the same model should be the same bytes.
const KEY: &str = "sarl";

/// The tensor of the checksum.
const CHECKSUM: &str = "checksum";

/// The most rows or columns of a tensor.
const MOST: usize = 1 << 32;

/// What the description starts with.
#[derive(serde::Serialize, serde::Deserialize)]
struct Heading {
    kind: String,
    version: u32,
}

#[derive(serde::Serialize)]
struct Described<'a, T> {
    #[serde(flatten)]
    heading: Heading,
    #[serde(flatten)]
    description: &'a T,
}

/// The CRC-32 of the description and of all tensors but itself, in the order of their names.
fn checksum<N: AsRef<str>>(json: &str, tensors: &[(N, TensorView<'_>)]) -> u32 {
    let mut sorted: Vec<_> = tensors.iter().map(|(name, view)| (name.as_ref(), view)).collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut crc = crc32fast::Hasher::new();
    crc.update(json.as_bytes());
    for (name, view) in sorted.into_iter().filter(|(name, _)| *name != CHECKSUM) {
        crc.update(name.as_bytes());
        view.shape().iter().for_each(|&n| crc.update(&(n as u64).to_le_bytes()));
        crc.update(view.data());
    }
    crc.finalize()
}

/// Collects tensors and writes them out.
#[derive(Default)]
pub(crate) struct Writer {
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Writer {
    pub(crate) fn matrix(&mut self, name: &str, a: MatRef<'_, f64>) {
        let rows = (0..a.nrows()).flat_map(|i| a.row(i).iter());
        let bytes = rows.flat_map(|v| v.to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), Dtype::F64, vec![a.nrows(), a.ncols()], bytes));
    }

    pub(crate) fn vector(&mut self, name: &str, v: &[f64]) {
        let bytes = v.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensors.push((name.to_owned(), Dtype::F64, vec![v.len()], bytes));
    }

    /// Bytes as they are: another file.
    pub(crate) fn bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.tensors.push((name.to_owned(), Dtype::U8, vec![bytes.len()], bytes));
    }

    pub(crate) fn finish<T: Serialize>(
        self,
        kind: &'static str,
        version: u32,
        description: &T,
    ) -> Result<Vec<u8>> {
        let failed = |problem: String| Error::File { kind, problem };
        let heading = Heading { kind: kind.to_owned(), version };
        let json = serde_json::to_string(&Described { heading, description })
            .map_err(|e| failed(e.to_string()))?;
        let mut views = self
            .tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                let view = TensorView::new(*dtype, shape.clone(), bytes);
                view.map(|v| (name.as_str(), v)).map_err(|e| failed(e.to_string()))
            })
            .collect::<Result<Vec<_>>>()?;
        let sum = checksum(&json, &views).to_le_bytes();
        let sum = TensorView::new(Dtype::U32, vec![1], &sum).map_err(|e| failed(e.to_string()))?;
        views.push((CHECKSUM, sum));
        let metadata = HashMap::from([(KEY.to_owned(), json)]);
        safetensors::serialize(views, Some(metadata)).map_err(|e| failed(e.to_string()))
    }
}

/// A file's tensors, each checked before it is copied.
pub(crate) struct Reader<'a> {
    kind: &'static str,
    tensors: SafeTensors<'a>,
}

impl<'a> Reader<'a> {
    /// Opens a file of the given kind and versions, and reads its description.
    pub(crate) fn open<T: DeserializeOwned>(
        bytes: &'a [u8],
        kind: &'static str,
        versions: RangeInclusive<u32>,
    ) -> Result<(Self, T)> {
        let failed = |problem: String| Error::File { kind, problem };
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|e| failed(format!("the safetensors container is damaged or foreign: {e}")))?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| failed(e.to_string()))?;
        let described = metadata.metadata().as_ref().and_then(|m| m.get(KEY));
        let json = described.ok_or_else(|| {
            failed(format!("it is a safetensors file without a `{KEY}` description"))
        })?;
        let damaged = |e: serde_json::Error| failed(format!("the description is damaged: {e}"));
        let heading: Heading = serde_json::from_str(json).map_err(damaged)?;
        if heading.kind != kind {
            return Err(failed(format!("it holds {}, not {kind}", heading.kind)));
        }
        if heading.version < *versions.start() {
            let message = "it was written by an earlier version of sarl: make it again";
            return Err(failed(message.into()));
        }
        if heading.version > *versions.end() {
            let message = "it was written by a later version of sarl: use that one to read it";
            return Err(failed(message.into()));
        }
        let found = tensors.tensor(CHECKSUM).ok().map(|t| t.data().to_vec());
        if found.as_deref() != Some(&checksum(json, &tensors.tensors()).to_le_bytes()) {
            return Err(failed("its checksum is wrong: the file is damaged".into()));
        }
        let description = serde_json::from_str(json).map_err(damaged)?;
        Ok((Reader { kind, tensors }, description))
    }

    /// Whether a file says that it is of this kind.
    pub(crate) fn is_of_kind(bytes: &[u8], kind: &str) -> bool {
        let metadata = SafeTensors::read_metadata(bytes).ok();
        let json = metadata.and_then(|(_, m)| m.metadata().as_ref()?.get(KEY).cloned());
        let heading = json.and_then(|json| serde_json::from_str::<Heading>(&json).ok());
        heading.is_some_and(|heading| heading.kind == kind)
    }

    /// Whether there is a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    pub(crate) fn problem(&self, problem: impl Into<String>) -> Error {
        Error::File { kind: self.kind, problem: problem.into() }
    }

    /// Fails with `problem` unless `holds`.
    pub(crate) fn require(&self, holds: bool, problem: impl Into<String>) -> Result<()> {
        if holds { Ok(()) } else { Err(self.problem(problem)) }
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&self, name: &str) -> Result<&'a [u8]> {
        let tensor = self.tensors.tensor(name);
        let tensor = tensor.map_err(|_| self.problem(format!("tensor `{name}` is missing")))?;
        let found = tensor.dtype();
        self.require(found == Dtype::U8, format!("tensor `{name}` is {found:?}, expected U8"))?;
        Ok(tensor.data())
    }

    fn numbers(&self, name: &str, dimensions: usize) -> Result<(Vec<usize>, &'a [u8])> {
        let tensor = self.tensors.tensor(name);
        let tensor = tensor.map_err(|_| self.problem(format!("tensor `{name}` is missing")))?;
        if tensor.dtype() != Dtype::F64 {
            let found = tensor.dtype();
            return Err(self.problem(format!("tensor `{name}` is {found:?}, expected F64")));
        }
        let shape = tensor.shape().to_vec();
        if shape.len() != dimensions {
            let expected = format!("expected {dimensions} dimensions");
            return Err(self.problem(format!("tensor `{name}` has shape {shape:?}, {expected}")));
        }
        // A dimension of 0 makes any other one free: refuse what no layout could ask for.
        let sane = shape.iter().all(|&n| n <= MOST);
        self.require(sane, format!("tensor `{name}` has shape {shape:?}, which is too large"))?;
        let bytes = self.tensors.tensor(name).map(|t| t.data());
        let bytes = bytes.map_err(|e| self.problem(e.to_string()))?;
        let finite = bytes.as_chunks::<8>().0.iter().all(|c| f64::from_le_bytes(*c).is_finite());
        self.require(finite, format!("tensor `{name}` holds values that are not finite"))?;
        Ok((shape, bytes))
    }

    /// A matrix of any shape.
    pub(crate) fn any_matrix(&self, name: &str) -> Result<Mat<f64>> {
        let (shape, bytes) = self.numbers(name, 2)?;
        let values = bytes.as_chunks::<8>().0;
        let columns = shape[1];
        if values.is_empty() {
            return Ok(Mat::zeros(shape[0], columns));
        }
        Ok(Mat::from_fn(shape[0], columns, |i, j| f64::from_le_bytes(values[i * columns + j])))
    }

    /// A matrix of a given shape.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Mat<f64>> {
        let (shape, _) = self.numbers(name, 2)?;
        let fits = shape == [rows, columns];
        let message = format!("tensor `{name}` has shape {shape:?}, expected [{rows}, {columns}]");
        self.require(fits, message)?;
        self.any_matrix(name)
    }

    /// A vector of a given length.
    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Vec<f64>> {
        let (shape, bytes) = self.numbers(name, 1)?;
        let message = format!("tensor `{name}` has shape {shape:?}, expected [{length}]");
        self.require(shape == [length], message)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|c| f64::from_le_bytes(*c)).collect())
    }
}
