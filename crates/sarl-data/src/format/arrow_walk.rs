//! A walk over the messages of an Arrow file, without their contents.
//!
//! The readers of `arrow-ipc` believe the lengths that a file states and allocate
//! them. Here every stated length is compared with the file first; on the way the
//! rows are counted.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, root_as_footer, root_as_message};

/// What marks the beginning of a message.
const MARKER: [u8; 4] = [0xff; 4];
/// What a file ends with: the length of the footer and the magic word.
const TRAILER: u64 = 10;

fn invalid(reason: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.to_string())
}

fn beyond() -> io::Error {
    invalid("a stated length is beyond the end of the file")
}

/// The rows of a file, if all of its blocks lie within it.
pub(super) fn file_rows(file: &mut File, length: u64) -> io::Result<u64> {
    let end = length.checked_sub(TRAILER).ok_or_else(beyond)?;
    file.seek(SeekFrom::Start(end))?;
    let mut trailer = [0; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let footer = read_footer_length(trailer).map_err(invalid)? as u64;
    let start = end.checked_sub(footer).ok_or_else(beyond)?;
    file.seek(SeekFrom::Start(start))?;
    let footer = bytes(file, footer)?;
    let footer = root_as_footer(&footer).map_err(invalid)?;
    if footer.schema().is_none() {
        return Err(invalid("it has no schema"));
    }
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries {
        within(block, end)?;
    }
    let mut rows = 0u64;
    for block in footer.recordBatches().into_iter().flatten() {
        let metadata = within(block, end)?;
        file.seek(SeekFrom::Start(block.offset() as u64))?;
        let message = bytes(file, metadata)?;
        let skip = if message.starts_with(&MARKER) { 8 } else { 4 };
        rows = rows.saturating_add(message_of(message.get(skip..).unwrap_or_default())?.0);
    }
    Ok(rows)
}

/// The length of a block's metadata, if the block ends before `end`.
fn within(block: &Block, end: u64) -> io::Result<u64> {
    let number = |n: i64| u64::try_from(n).map_err(|_| beyond());
    let metadata = number(i64::from(block.metaDataLength()))?;
    let (offset, body) = (number(block.offset())?, number(block.bodyLength())?);
    let stop = offset.checked_add(metadata).and_then(|n| n.checked_add(body));
    stop.filter(|stop| *stop <= end).map(|_| metadata).ok_or_else(beyond)
}

/// The rows of a stream, if all of its messages lie within it.
pub(super) fn stream_rows(file: &mut File, length: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let (mut at, mut rows) = (0u64, 0u64);
    while let Some(size) = message_size(&mut reader, &mut at)? {
        at = at.checked_add(size).filter(|at| *at <= length).ok_or_else(beyond)?;
        let (count, body) = message_of(&bytes(&mut reader, size)?)?;
        at = at.checked_add(body).filter(|at| *at <= length).ok_or_else(beyond)?;
        reader.seek_relative(i64::try_from(body).map_err(|_| beyond())?)?;
        rows = rows.saturating_add(count);
    }
    Ok(rows)
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

/// The rows of a message and the length of its body.
fn message_of(metadata: &[u8]) -> io::Result<(u64, u64)> {
    let message = root_as_message(metadata).map_err(invalid)?;
    let rows = message.header_as_record_batch().map_or(0, |batch| batch.length());
    let number = |n: i64| u64::try_from(n).map_err(|_| beyond());
    Ok((number(rows)?, number(message.bodyLength())?))
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
