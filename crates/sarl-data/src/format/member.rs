//! A member of a zip archive, with its checksum.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use crc32fast::Hasher;
use flate2::read::DeflateDecoder;

use crate::opened::Opened;

/// Where a member lies, and what it must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its first byte in the file, and how many there are.
    pub(super) start: u64,
    pub(super) packed: u64,
    /// Its bytes unpacked.
    pub(super) size: u64,
    pub(super) crc32: u32,
    pub(super) deflated: bool,
}

impl Member {
    /// Its bytes from the beginning.
    pub(super) fn open(self, mut file: Opened) -> io::Result<MemberReader> {
        file.seek(SeekFrom::Start(self.start))?;
        let raw = BufReader::with_capacity(256 * 1024, file.take(self.packed));
        let bytes: Box<dyn Read + Send> = match self.deflated {
            true => Box::new(DeflateDecoder::new(raw)),
            false => Box::new(raw),
        };
        Ok(MemberReader { bytes, member: self, hash: Hasher::new(), seen: 0 })
    }
}

/// The bytes of a member. At the end they are compared with what the archive says of them.
pub(super) struct MemberReader {
    bytes: Box<dyn Read + Send>,
    member: Member,
    hash: Hasher,
    seen: u64,
}

impl MemberReader {
    /// Reads what is left, to compare all of it.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        io::copy(self, &mut io::sink()).map(drop)
    }
}

impl Read for MemberReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let wrong = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        let count = self.bytes.read(to)?;
        self.hash.update(&to[..count]);
        self.seen += count as u64;
        if self.seen > self.member.size {
            return Err(wrong("a member of the archive has more bytes than it says"));
        }
        if count == 0 && !to.is_empty() {
            if self.seen < self.member.size {
                return Err(wrong("a member of the archive has fewer bytes than it says"));
            }
            if self.hash.clone().finalize() != self.member.crc32 {
                return Err(wrong("the checksum (CRC-32) of a member of the archive is wrong"));
            }
        }
        Ok(count)
    }
}
