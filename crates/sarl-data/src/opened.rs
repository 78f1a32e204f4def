//! A file or an object that is being read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::remote::ObjectReader;

/// What [`Input::open`](crate::Input::open) gives.
#[derive(Debug)]
pub enum Opened {
    /// A file.
    File(File),
    /// An object, which comes in pieces.
    Object(ObjectReader),
}

impl Opened {
    /// The number of bytes.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Object(object) => Ok(object.size()),
        }
    }

    /// The same from another position. What one of them reads moves the other, where it is a file.
    fn at(&self, position: u64) -> io::Result<Self> {
        let mut other = match self {
            Self::File(file) => Self::File(file.try_clone()?),
            Self::Object(object) => Self::Object(object.clone()),
        };
        other.seek(SeekFrom::Start(position))?;
        Ok(other)
    }
}

impl Read for Opened {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(to),
            Self::Object(object) => object.read(to),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Object(object) => object.seek(to),
        }
    }
}

impl Length for Opened {
    fn len(&self) -> u64 {
        self.length().unwrap_or(0)
    }
}

impl ChunkReader for Opened {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::with_capacity(length);
        self.at(start)?.take(length as u64).read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF(format!("{} bytes of {length}", bytes.len()))),
        }
    }
}
