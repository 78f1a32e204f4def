//! The dictionaries of a Parquet file: how large each says that it is.
//!
//! A dictionary is unpacked whole before the first value is read. It is the first page of a chunk, and
//! a page begins with its type, its length unpacked and its length packed (Thrift's compact protocol).

use std::io::{self, Read, Seek, SeekFrom};

use parquet::file::metadata::ParquetMetaData;

/// Bytes of a page's header that are looked at: three fields of at most six bytes.
const HEADER: u64 = 18;
/// A field with a 32-bit number, after the field before it.
const NEXT_NUMBER: u8 = 0x15;

/// The bytes that the dictionaries of these leaves need, in the row group with the largest ones.
pub(super) fn dictionaries(
    file: &mut (impl Read + Seek),
    metadata: &ParquetMetaData,
    is_wanted: impl Fn(usize) -> bool,
) -> io::Result<u64> {
    let mut most = 0u64;
    for group in metadata.row_groups() {
        let mut sum = 0u64;
        for (leaf, chunk) in group.columns().iter().enumerate().filter(|(i, _)| is_wanted(*i)) {
            let Some(offset) = chunk.dictionary_page_offset() else { continue };
            let offset = u64::try_from(offset).map_err(|_| invalid(leaf))?;
            file.seek(SeekFrom::Start(offset))?;
            let mut header = Vec::new();
            file.by_ref().take(HEADER).read_to_end(&mut header)?;
            sum = sum.saturating_add(unpacked(&header).ok_or_else(|| invalid(leaf))?);
        }
        most = most.max(sum);
    }
    Ok(most)
}

fn invalid(leaf: usize) -> io::Error {
    let text = format!("column {leaf} has no dictionary where it says");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The length of a page unpacked.
fn unpacked(header: &[u8]) -> Option<u64> {
    let mut rest = header;
    let mut field = || -> Option<i64> {
        let (&first, after) = rest.split_first()?;
        rest = after;
        (first == NEXT_NUMBER).then(|| number(&mut rest)).flatten()
    };
    let (_, length) = (field()?, field()?);
    u64::try_from(length).ok()
}

/// A number of Thrift: seven bits to a byte, the sign in the lowest.
fn number(rest: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::unpacked;

    #[test]
    fn lengths_of_pages() {
        // Type 2, 300 bytes unpacked, 100 packed.
        assert_eq!(unpacked(&[0x15, 4, 0x15, 0xd8, 0x04, 0x15, 0xc8, 0x01]), Some(300));
        assert_eq!(unpacked(&[0x15, 4, 0x15, 0xff]), None);
        assert_eq!(unpacked(&[0x15, 4, 0x25, 1]), None);
        assert_eq!(unpacked(&[0x15, 4, 0x15, 1]), None);
    }
}
