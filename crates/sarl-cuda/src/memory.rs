//! Memory of a device, and host memory that it copies from.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaStream, result, sys};

use crate::fault::Fault;
use crate::gpu::Gpu;

/// What can lie on a device as it lies here: plain numbers.
pub(crate) trait Plain: Copy + Send + Sync + 'static {}
impl Plain for f64 {}
impl Plain for f32 {}
impl Plain for u32 {}

/// Numbers on a device.
pub(crate) struct Buffer<T> {
    gpu: Arc<Gpu>,
    address: sys::CUdeviceptr,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Plain> Buffer<T> {
    /// Room for so many numbers, which are zero.
    pub(crate) fn new(gpu: &Arc<Gpu>, len: usize) -> Result<Self, Fault> {
        let bytes = len.max(1) * size_of::<T>();
        gpu.take(bytes)?;
        gpu.bind()?;
        // SAFETY: the context is bound; the address is freed once, when the buffer goes.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(|e| {
            gpu.give(bytes);
            gpu.fault_of_memory(bytes, e)
        })?;
        let buffer = Buffer { gpu: Arc::clone(gpu), address, len, kind: PhantomData };
        // SAFETY: the bytes were just allocated.
        unsafe { result::memset_d8_sync(address, 0, bytes) }?;
        Ok(buffer)
    }

    /// The same, with numbers from here.
    pub(crate) fn of(gpu: &Arc<Gpu>, values: &[T]) -> Result<Self, Fault> {
        let buffer = Self::new(gpu, values.len())?;
        if !values.is_empty() {
            // SAFETY: both sides have as many numbers, and the copy is done when this returns.
            unsafe { result::memcpy_htod_sync(buffer.address, values) }?;
        }
        Ok(buffer)
    }

    /// How many numbers there is room for.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where number `at` lies.
    pub(crate) fn at(&self, at: usize) -> u64 {
        debug_assert!(at <= self.len);
        self.address + (at * size_of::<T>()) as u64
    }

    /// Copies numbers from here; they may change once this returns.
    pub(crate) fn fill(&self, at: usize, values: &[T], stream: &CudaStream) -> Result<(), Fault> {
        if values.is_empty() {
            return Ok(());
        }
        self.gpu.fits(at + values.len(), self.len)?;
        // SAFETY: the range was checked. Memory of ours is not page-locked: the driver has copied it
        // when the call returns.
        unsafe { result::memcpy_htod_async(self.at(at), values, stream.cu_stream()) }?;
        Ok(())
    }

    /// Copies numbers to here, after all work on the stream.
    pub(crate) fn read(&self, at: usize, to: &mut [T], stream: &CudaStream) -> Result<(), Fault> {
        stream.synchronize()?;
        if to.is_empty() {
            return Ok(());
        }
        self.gpu.fits(at + to.len(), self.len)?;
        // SAFETY: the range was checked, and the copy is done when this returns.
        unsafe { result::memcpy_dtoh_sync(to, self.at(at)) }?;
        Ok(())
    }

    /// Makes numbers zero.
    pub(crate) fn clear(&self, stream: &CudaStream) -> Result<(), Fault> {
        let bytes = self.len * size_of::<T>();
        // SAFETY: these are the bytes of the buffer.
        unsafe { result::memset_d8_async(self.address, 0, bytes, stream.cu_stream()) }?;
        Ok(())
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        self.gpu.give(self.len.max(1) * size_of::<T>());
        if self.gpu.bind().is_ok() {
            // SAFETY: allocated by `new`, freed here only. The call waits for work that uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Bytes of a piece of page-locked memory: they stay in the cache of the processor, and the bus has its full
/// rate.
pub(crate) const PIECE: usize = 2 << 20;

/// Page-locked bytes, from which a device copies while the processor goes on.
pub(crate) struct Pinned {
    gpu: Arc<Gpu>,
    address: *mut c_void,
    len: usize,
}

// SAFETY: the bytes belong to the value alone.
unsafe impl Send for Pinned {}

impl Pinned {
    pub(crate) fn new(gpu: &Arc<Gpu>, len: usize) -> Result<Self, Fault> {
        gpu.bind()?;
        if let Some(address) = (len == PIECE).then(|| gpu.spare()).flatten() {
            return Ok(Pinned { gpu: Arc::clone(gpu), address: address as *mut c_void, len });
        }
        // SAFETY: the context is bound; freed once, when the value goes.
        let address = unsafe { result::malloc_host(len, 0) }?;
        // SAFETY: the bytes were just allocated.
        unsafe { address.cast::<u8>().write_bytes(0, len) };
        Ok(Pinned { gpu: Arc::clone(gpu), address, len })
    }

    /// The first numbers of it.
    pub(crate) fn numbers<T: Plain>(&mut self, count: usize) -> Result<&mut [T], Fault> {
        self.gpu.fits(count * size_of::<T>(), self.len)?;
        // SAFETY: page-locked memory is aligned to pages, was written when it was made, and any bits
        // are numbers; the range was checked.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address.cast::<T>(), count) })
    }

    /// Copies its first bytes to an address of the device, which has room for them, in the order of the
    /// stream. They must not change before an event says so.
    ///
    /// # Safety
    /// `to` has room for so many bytes until the copy is done.
    pub(crate) unsafe fn send(
        &self,
        bytes: usize,
        to: u64,
        stream: &CudaStream,
    ) -> Result<(), Fault> {
        self.gpu.fits(bytes, self.len)?;
        // SAFETY: the range was checked, the other side is the caller's promise.
        unsafe {
            let from = std::slice::from_raw_parts(self.address.cast::<u8>(), bytes);
            result::memcpy_htod_async(to, from, stream.cu_stream())?;
        }
        Ok(())
    }

    /// The inverse: it must not be read before the stream is done.
    ///
    /// # Safety
    /// So many bytes at `from` stay until the copy is done.
    pub(crate) unsafe fn receive(
        &mut self,
        bytes: usize,
        from: u64,
        stream: &CudaStream,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe { self.receive_rows((bytes, 1), (from, bytes), stream) }
    }

    /// The same for `count` stretches of `width` bytes, which lie `pitch` bytes apart there and one
    /// behind the other here.
    ///
    /// # Safety
    /// As [`Pinned::receive`], for all stretches.
    pub(crate) unsafe fn receive_rows(
        &mut self,
        (width, count): (usize, usize),
        (from, pitch): (u64, usize),
        stream: &CudaStream,
    ) -> Result<(), Fault> {
        self.gpu.fits(width * count, self.len)?;
        let copy = sys::CUDA_MEMCPY2D_st {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: from,
            srcArray: std::ptr::null_mut(),
            srcPitch: pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: self.address,
            dstDevice: 0,
            dstArray: std::ptr::null_mut(),
            dstPitch: width,
            WidthInBytes: width,
            Height: count,
        };
        // SAFETY: the range was checked, the other side is the caller's promise.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result()?;
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.len == PIECE && self.gpu.keep(self.address as usize) {
            return;
        }
        if self.gpu.bind().is_ok() {
            // SAFETY: allocated by `new`, freed here only.
            let _ = unsafe { result::free_host(self.address) };
        }
    }
}
