//! Rows on their way to a device and sums on their way back, through page-locked pieces.
//!
//! Each thread packs rows into a piece of its own and hands it to the device, which copies it while the
//! thread packs the next one. Rows that are page-locked already are copied from where they lie.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaEvent, CudaStream, sys};
use rayon::prelude::*;
use sarl::Element;
use sarl::engine::Values;

use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::{Buffer, PIECE, Pinned, Plain};

/// Pieces for each thread, and in all: with more of them they do not stay in the cache.
const PER_THREAD: usize = 2;
const MOST: usize = 64;

/// What is known of rows that were sent.
pub(crate) enum Looked {
    /// Nobody has looked at their values.
    Not,
    /// The first row that has a value that is not finite, if there is one.
    Found(Option<usize>),
}

/// The pieces, with what says that each has been copied.
pub(crate) struct Staging {
    gpu: Arc<Gpu>,
    bytes: usize,
    free: Mutex<Vec<(Pinned, CudaEvent)>>,
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Pieces are kept for others: none of them may be on its way.
        let free = self.free.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, copied) in free.iter() {
            let _ = copied.synchronize();
        }
    }
}

impl Staging {
    /// For rows of so many bytes.
    pub(crate) fn new(gpu: &Arc<Gpu>, row: usize) -> Result<Self, Fault> {
        let bytes = PIECE.max(row);
        let piece = |_| -> Result<(Pinned, CudaEvent), Fault> {
            Ok((Pinned::new(gpu, bytes)?, gpu.context().new_event(None)?))
        };
        let count = (PER_THREAD * rayon::current_num_threads()).min(MOST);
        let free = Mutex::new((0..count).map(piece).collect::<Result<_, _>>()?);
        Ok(Staging { gpu: Arc::clone(gpu), bytes, free })
    }

    /// Copies rows of `width` numbers to an address, one after the other, and looks for values that are
    /// not finite on the way. Rows that lie on the device stay there.
    ///
    /// # Safety
    /// The address has room for all rows until the stream is done; rows that are page-locked stay until
    /// then too.
    pub(crate) unsafe fn send(
        &self,
        rows: Values<'_>,
        width: usize,
        to: u64,
        stream: &CudaStream,
    ) -> Result<Looked, Fault> {
        // SAFETY: the caller's promise.
        match rows {
            Values::Double(rows) => unsafe { self.send_rows(rows, width, to, stream) },
            Values::Single(rows) => unsafe { self.send_rows(rows, width, to, stream) },
            Values::Placed(_) => Ok(Looked::Not),
        }
    }

    unsafe fn send_rows<T: Plain + Element>(
        &self,
        rows: &[&[T]],
        width: usize,
        to: u64,
        stream: &CudaStream,
    ) -> Result<Looked, Fault> {
        let bytes = width * size_of::<T>();
        if rows.is_empty() || bytes == 0 {
            return Ok(Looked::Found(None));
        }
        self.gpu.fits(bytes, self.bytes)?;
        if let Some(all) = locked(rows, width) {
            // SAFETY: the caller's promise.
            unsafe { cudarc::driver::result::memcpy_htod_async(to, all, stream.cu_stream()) }?;
            return Ok(Looked::Not);
        }
        let some = self.bytes / bytes;
        let bad = AtomicUsize::new(usize::MAX);
        rows.par_chunks(some).enumerate().try_for_each(|(i, rows)| -> Result<(), Fault> {
            self.gpu.bind()?;
            let (mut piece, copied) = self.piece();
            let sent = (|| {
                copied.synchronize()?;
                let packed = piece.numbers::<T>(rows.len() * width)?;
                for (k, (to, row)) in packed.chunks_exact_mut(width).zip(rows).enumerate() {
                    // No early exit: the loop vectorises, and almost every row is fine.
                    if row.iter().fold(false, |bad, v| bad | !v.finite()) {
                        bad.fetch_min(i * some + k, Ordering::Relaxed);
                    }
                    to.copy_from_slice(row);
                }
                // SAFETY: the caller's promise; the piece is not written again before the event.
                unsafe { piece.send(rows.len() * bytes, to + (i * some * bytes) as u64, stream) }?;
                Ok(copied.record(stream)?)
            })();
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push((piece, copied));
            sent
        })?;
        let bad = bad.into_inner();
        Ok(Looked::Found((bad != usize::MAX).then_some(bad)))
    }

    /// A piece that nobody fills; the device may still be copying it.
    fn piece(&self) -> (Pinned, CudaEvent) {
        loop {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            // The one that was handed over first.
            if !free.is_empty() {
                return free.remove(0);
            }
            drop(free);
            std::thread::yield_now();
        }
    }

    /// Lower triangles of matrices that lie one behind the other on the device, columns `ld` numbers
    /// apart, into the columns of matrices here. The stream must have nothing to do that writes them.
    pub(crate) fn receive(
        &self,
        from: &Buffer<f64>,
        ld: usize,
        to: Vec<Vec<&mut [f64]>>,
        stream: &CudaStream,
    ) -> Result<(), Fault> {
        let mut pieces: Vec<(usize, usize, Vec<&mut [f64]>)> = Vec::new();
        for (matrix, columns) in to.into_iter().enumerate() {
            let size = columns.len();
            let mut columns = columns.into_iter();
            let mut first = 0;
            while first < size {
                // As many columns as fit a piece, from the diagonal of the first of them on.
                let some = (self.bytes / 8 / (size - first)).clamp(1, size - first);
                let at = (matrix * size + first) * ld + first;
                pieces.push((at, first, columns.by_ref().take(some).collect()));
                first += some;
            }
        }
        pieces.into_par_iter().try_for_each(|(at, first, columns)| -> Result<(), Fault> {
            self.gpu.bind()?;
            let (mut piece, copied) = self.piece();
            let got = (|| {
                copied.synchronize()?;
                let rows = columns.first().map_or(0, |column| column.len()) - first;
                let shape = (rows * 8, columns.len());
                // SAFETY: the buffer has these columns, and the event is awaited before they are read.
                unsafe { piece.receive_rows(shape, (from.at(at), ld * 8), stream) }?;
                copied.record(stream)?;
                copied.synchronize()?;
                let numbers = piece.numbers::<f64>(rows * columns.len())?;
                for (k, (to, from)) in
                    columns.into_iter().zip(numbers.chunks_exact(rows)).enumerate()
                {
                    to[first + k..].copy_from_slice(&from[k..]);
                }
                Ok(())
            })();
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push((piece, copied));
            got
        })
    }
}

/// All numbers of rows that lie one behind the other in page-locked memory.
fn locked<'a, T: Plain>(rows: &[&'a [T]], width: usize) -> Option<&'a [T]> {
    let (first, last) = (rows.first()?, rows.last()?);
    let behind =
        rows.windows(2).all(|pair| pair[0].as_ptr().wrapping_add(width) == pair[1].as_ptr());
    if !behind || rows.iter().any(|row| row.len() != width) || !is_locked(first) || !is_locked(last)
    {
        return None;
    }
    // SAFETY: the rows are one stretch of memory, borrowed for as long as each of them.
    Some(unsafe { std::slice::from_raw_parts(first.as_ptr(), rows.len() * width) })
}

/// Whether the driver knows memory as page-locked.
fn is_locked<T>(values: &[T]) -> bool {
    let mut kind: u32 = 0;
    let what = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    // SAFETY: the driver writes one number; an address that it does not know is an error, which is an
    // answer too.
    let known =
        unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), what, values.as_ptr() as u64) };
    known == sys::CUresult::CUDA_SUCCESS && kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32
}
