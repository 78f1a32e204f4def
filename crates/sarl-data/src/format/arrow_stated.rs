//! The lengths that the compressed buffers of an Arrow file state.
//!
//! `arrow-ipc` allocates them before it unpacks anything. Here they are compared with what the
//! types and the rows allow, and summed for each column, so that a reader can ask for the memory.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{CompressionType, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::arrow_walk::{beyond, invalid};

/// Bytes by which a buffer may be longer than its values.
const PADDING: u64 = 64;
/// The most bytes that a byte of LZ4 and of Zstandard can become.
const LZ4: u64 = 256;
const ZSTD: u64 = 1 << 16;

/// What a buffer holds, and so how long it can be.
#[derive(Clone, Copy)]
enum Holds {
    Bits,
    Values(u64),
    Offsets(u64),
    /// Text, whose length only the buffer itself knows.
    Text,
}

impl Holds {
    fn most(self, rows: u64) -> Option<u64> {
        let values = match self {
            Self::Bits => Some(rows.div_ceil(8)),
            Self::Values(width) => rows.checked_mul(width),
            Self::Offsets(width) => rows.checked_add(1).and_then(|n| n.checked_mul(width)),
            Self::Text => return None,
        };
        Some(values.unwrap_or(u64::MAX).saturating_add(PADDING))
    }
}

/// The buffers of a column, where they are its own alone.
fn buffers(of: &DataType) -> Option<Vec<Holds>> {
    use DataType::*;
    use Holds::*;
    Some(match of {
        Null => vec![],
        Boolean => vec![Bits, Bits],
        Utf8 | Binary => vec![Bits, Offsets(4), Text],
        LargeUtf8 | LargeBinary => vec![Bits, Offsets(8), Text],
        FixedSizeBinary(width) => vec![Bits, Values(u64::try_from(*width).ok()?)],
        Dictionary(key, _) => vec![Bits, Values(key.primitive_width()? as u64)],
        other => vec![Bits, Values(other.primitive_width()? as u64)],
    })
}

/// The bytes that each column has unpacked in the largest batch.
#[derive(Debug, Default)]
pub(super) struct Stated {
    /// For each column; the last is for what belongs to no column that is known.
    columns: Vec<u64>,
    /// The column and the contents of each buffer, as far as they can be told by the types.
    places: Vec<(usize, Holds)>,
}

impl std::fmt::Debug for Holds {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{:?}", self.most(0))
    }
}

impl Stated {
    pub(super) fn new(schema: &Schema) -> Self {
        let fields = schema.fields().iter().enumerate();
        let known = fields.map_while(|(i, field)| Some((i, buffers(field.data_type())?)));
        let places = known.flat_map(|(i, all)| all.into_iter().map(move |holds| (i, holds)));
        Self { columns: vec![0; schema.fields().len() + 1], places: places.collect() }
    }

    /// The bytes of these columns in the largest batch.
    pub(super) fn of(&self, columns: &[usize]) -> u64 {
        let rest = self.columns.len().saturating_sub(1);
        let bytes = columns.iter().chain([&rest]).filter_map(|i| self.columns.get(*i));
        bytes.fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Looks at a batch whose body begins at a place of the file.
    pub(super) fn see<R: Read + Seek>(
        &mut self,
        file: &mut R,
        body: u64,
        batch: &RecordBatch<'_>,
        is_dictionary: bool,
    ) -> io::Result<()> {
        let Some(compression) = batch.compression() else { return Ok(()) };
        let ratio = if compression.codec() == CompressionType::LZ4_FRAME { LZ4 } else { ZSTD };
        let number = |n: i64| u64::try_from(n).map_err(|_| beyond());
        let rows = number(batch.length())?;
        let rest = self.columns.len().saturating_sub(1);
        let mut sums = vec![0u64; self.columns.len()];
        for (i, buffer) in batch.buffers().into_iter().flatten().enumerate() {
            let (offset, length) = (number(buffer.offset())?, number(buffer.length())?);
            let Some(packed) = length.checked_sub(8) else { continue };
            file.seek(SeekFrom::Start(body.checked_add(offset).ok_or_else(beyond)?))?;
            let mut stated = [0; 8];
            file.read_exact(&mut stated).map_err(|_| beyond())?;
            // A negative number says that the buffer is not compressed.
            let Ok(stated) = u64::try_from(i64::from_le_bytes(stated)) else { continue };
            let known = self.places.get(i).filter(|_| !is_dictionary);
            let most = known.and_then(|(_, holds)| holds.most(rows)).unwrap_or(u64::MAX);
            let most = most.min(packed.saturating_mul(ratio));
            if stated > most {
                let text = format!("a buffer states {stated} bytes, and can have {most} at most");
                return Err(invalid(text));
            }
            if let Some(sum) = sums.get_mut(known.map_or(rest, |(column, _)| *column)) {
                *sum = sum.saturating_add(stated);
            }
        }
        for (most, sum) in self.columns.iter_mut().zip(sums) {
            // Dictionaries stay.
            *most = if is_dictionary { most.saturating_add(sum) } else { sum.max(*most) };
        }
        Ok(())
    }
}
