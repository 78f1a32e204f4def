//! The bytes of a text file, with a limit on the length of a row.
//!
//! A row without an end, or a quote that is never closed, would otherwise be held in memory whole.

use std::io::{self, BufReader, Read};
use std::path::Path;

use csv::ByteRecord;
use flate2::read::MultiGzDecoder;

use crate::error::{DataError, Result};
use crate::input::Input;

/// Bytes that are read at a time.
pub(super) const BUFFER: usize = 256 * 1024;
/// Bytes of a row at most.
const LONGEST: u64 = 64 << 20;

/// A row is longer than [`LONGEST`].
#[derive(Debug, thiserror::Error)]
#[error("a row is too long")]
struct TooLong;

/// The bytes of a file, unpacked.
pub(super) fn bytes(path: &Input, gzip: bool) -> Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(BUFFER, path.open()?);
    Ok(if gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// The rows of a file.
pub(super) struct Rows {
    reader: csv::Reader<Bounded>,
    gzip: bool,
}

/// Bytes, counted since the end of the last row.
struct Bounded {
    bytes: Box<dyn Read + Send>,
    since: u64,
}

impl Read for Bounded {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.since > LONGEST {
            return Err(io::Error::other(TooLong));
        }
        let count = self.bytes.read(to)?;
        self.since += count as u64;
        Ok(count)
    }
}

impl Rows {
    pub(super) fn open(path: &Input, gzip: bool, delimiter: u8) -> Result<Self> {
        let source = Bounded { bytes: bytes(path, gzip)?, since: 0 };
        let mut builder = csv::ReaderBuilder::new();
        let builder = builder.delimiter(delimiter).flexible(true).buffer_capacity(BUFFER);
        Ok(Self { reader: builder.from_reader(source), gzip })
    }

    /// The header.
    pub(super) fn header(&mut self, path: &Path) -> Result<&ByteRecord> {
        let gzip = self.gzip;
        self.reader.byte_headers().map_err(|e| csv_error(path, gzip, 0, e))
    }

    /// The next row, whose number is given; false at the end.
    pub(super) fn next(&mut self, path: &Path, row: u64, record: &mut ByteRecord) -> Result<bool> {
        self.reader.get_mut().since = 0;
        self.reader.read_byte_record(record).map_err(|e| csv_error(path, self.gzip, row, e))
    }

    /// The bytes before the next row.
    pub(super) fn position(&self) -> u64 {
        self.reader.position().byte()
    }
}

fn csv_error(path: &Path, gzip: bool, row: u64, error: csv::Error) -> DataError {
    match error.into_kind() {
        csv::ErrorKind::Io(e) if e.get_ref().is_some_and(|e| e.is::<TooLong>()) => {
            let (path, most) = (path.to_owned(), sarl_memory::shown(LONGEST));
            DataError::LongRow { path, row, most }
        }
        csv::ErrorKind::Io(e) => broken(path, gzip, e),
        kind => DataError::damaged(path, "CSV", format!("{kind:?}")),
    }
}

/// A failure to read: within gzip it is the contents, unless the machine says otherwise.
pub(super) fn broken(path: &Path, gzip: bool, error: io::Error) -> DataError {
    match gzip && error.raw_os_error().is_none() {
        true => DataError::damaged(path, "gzip", error),
        false => DataError::read(path, error),
    }
}
