//! A walk over the messages of an Arrow file, without their contents.
//!
//! The readers of `arrow-ipc` believe the lengths that a file states and allocate
//! them. Here every stated length is compared with the file first; on the way the
//! rows are counted.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, root_as_footer, root_as_message};

use super::arrow_stated::Stated;
use crate::opened::Opened;

/// What marks the beginning of a message.
const MARKER: [u8; 4] = [0xff; 4];
/// What a file ends with: the length of the footer and the magic word.
const TRAILER: u64 = 10;

/// What was found on the way.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) rows: u64,
    pub(super) stated: Stated,
}

pub(super) fn invalid(reason: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

pub(super) fn beyond() -> io::Error {
    invalid("a stated length is beyond the end of the file")
}

/// Walks over a file; an error unless all of its blocks lie within it.
pub(super) fn file(file: &mut Opened, length: u64) -> io::Result<Walk> {
    let end = length.checked_sub(TRAILER).ok_or_else(beyond)?;
    file.seek(SeekFrom::Start(end))?;
    let mut trailer = [0; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let footer = read_footer_length(trailer).map_err(invalid)? as u64;
    let start = end.checked_sub(footer).ok_or_else(beyond)?;
    file.seek(SeekFrom::Start(start))?;
    let footer = bytes(file, footer)?;
    let footer = root_as_footer(&footer).map_err(invalid)?;
    let schema = footer.schema().ok_or_else(|| invalid("it has no schema"))?;
    let mut walk = Walk { rows: 0, stated: Stated::new(&fb_to_schema(schema)) };
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        let metadata = within(block, end)?;
        let start = block.offset() as u64;
        file.seek(SeekFrom::Start(start))?;
        let message = bytes(file, metadata)?;
        let skip = if message.starts_with(&MARKER) { 8 } else { 4 };
        walk.see(file, message.get(skip..).unwrap_or_default(), start + metadata)?;
    }
    Ok(walk)
}

/// The length of a block's metadata, if the block ends before `end`.
fn within(block: &Block, end: u64) -> io::Result<u64> {
    let metadata = number(i64::from(block.metaDataLength()))?;
    let (offset, body) = (number(block.offset())?, number(block.bodyLength())?);
    let stop = offset.checked_add(metadata).and_then(|n| n.checked_add(body));
    stop.filter(|stop| *stop <= end).map(|_| metadata).ok_or_else(beyond)
}

/// Walks over a stream; an error unless all of its messages lie within it.
pub(super) fn stream(file: &mut Opened, length: u64) -> io::Result<Walk> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let (mut at, mut walk) = (0u64, Walk::default());
    while let Some(size) = message_size(&mut reader, &mut at)? {
        at = at.checked_add(size).filter(|at| *at <= length).ok_or_else(beyond)?;
        let metadata = bytes(&mut reader, size)?;
        let body = walk.see(&mut reader, &metadata, at)?;
        at = at.checked_add(body).filter(|at| *at <= length).ok_or_else(beyond)?;
        reader.seek(SeekFrom::Start(at))?;
    }
    Ok(walk)
}

/// The length of the next message's metadata, or none at the end.
fn message_size(reader: &mut impl Read, at: &mut u64) -> io::Result<Option<u64>> {
    let mut word = || -> io::Result<Option<[u8; 4]>> {
        let mut word = Vec::with_capacity(4);
        reader.take(4).read_to_end(&mut word)?;
        *at += word.len() as u64;
        match <[u8; 4]>::try_from(word) {
            Ok(word) => Ok(Some(word)),
            Err(rest) if rest.is_empty() => Ok(None),
            Err(_) => Err(beyond()),
        }
    };
    let size = match word()? {
        Some(MARKER) => word()?,
        other => other,
    };
    match size.map(i32::from_le_bytes) {
        None | Some(0) => Ok(None),
        Some(size) => u64::try_from(size).map(Some).map_err(|_| beyond()),
    }
}

impl Walk {
    /// Takes a message in, whose body begins at a place of the file; the length of the body.
    fn see<R: Read + Seek>(&mut self, file: &mut R, metadata: &[u8], body: u64) -> io::Result<u64> {
        let message = root_as_message(metadata).map_err(invalid)?;
        if let Some(schema) = message.header_as_schema() {
            self.stated = Stated::new(&fb_to_schema(schema));
        }
        if let Some(batch) = message.header_as_record_batch() {
            self.rows = self.rows.saturating_add(number(batch.length())?);
            self.stated.see(file, body, &batch, false)?;
        }
        if let Some(batch) = message.header_as_dictionary_batch().and_then(|d| d.data()) {
            self.stated.see(file, body, &batch, true)?;
        }
        number(message.bodyLength())
    }
}

fn number(n: i64) -> io::Result<u64> {
    u64::try_from(n).map_err(|_| beyond())
}

/// The next bytes, allocated only as far as they are there.
fn bytes(reader: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(beyond()),
    }
}
