//! Rows on their way to a device: packed into page-locked pieces by all threads, and copied from there
//! while the next piece is packed.

use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};
use rayon::prelude::*;
use sarl::engine::Values;

use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::{Pinned, Plain};

/// Bytes of a piece: large enough for the full rate of the bus.
const PIECE: usize = 16 << 20;
/// Pieces in turn.
const PIECES: usize = 4;
/// Bytes that one thread packs at a time.
const SHARE: usize = 256 << 10;

/// The pieces, with what says that each has been copied.
pub(crate) struct Staging {
    pieces: Vec<(Pinned, CudaEvent)>,
    next: usize,
}

impl Staging {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, Fault> {
        let piece = || -> Result<(Pinned, CudaEvent), Fault> {
            Ok((Pinned::new(gpu, PIECE)?, gpu.context().new_event(None)?))
        };
        Ok(Staging { pieces: (0..PIECES).map(|_| piece()).collect::<Result<_, _>>()?, next: 0 })
    }

    /// Copies rows of `width` numbers to an address, one after the other.
    ///
    /// # Safety
    /// The address has room for all rows until the stream is done.
    pub(crate) unsafe fn send(&mut self, rows: Values<'_>, width: usize, to: u64, stream: &CudaStream) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        match rows {
            Values::Double(rows) => unsafe { self.send_rows(rows, width, to, stream) },
            Values::Single(rows) => unsafe { self.send_rows(rows, width, to, stream) },
        }
    }

    unsafe fn send_rows<T: Plain>(&mut self, rows: &[&[T]], width: usize, to: u64, stream: &CudaStream) -> Result<(), Fault> {
        let bytes = (width * size_of::<T>()).max(1);
        if bytes > PIECE {
            return Err(Fault::Call { reason: format!("rows of {width} numbers are too wide") });
        }
        let share = (SHARE / bytes).max(1);
        let mut at = to;
        for some in rows.chunks(PIECE / bytes) {
            let (piece, copied) = &mut self.pieces[self.next];
            self.next = (self.next + 1) % PIECES;
            copied.synchronize()?;
            let packed = piece.numbers::<T>(some.len() * width)?;
            packed.par_chunks_mut((share * width).max(1)).zip(some.par_chunks(share)).for_each(|(to, rows)| {
                for (to, row) in to.chunks_exact_mut(width.max(1)).zip(rows) {
                    to.copy_from_slice(row);
                }
            });
            // SAFETY: the caller's promise; the piece is not written again before the event.
            unsafe { piece.send(some.len() * bytes, at, stream) }?;
            copied.record(stream)?;
            at += (some.len() * bytes) as u64;
        }
        Ok(())
    }
}
