//! Cholesky factors on a device, by cuSOLVER, which is looked for when one is first wanted.

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::cusolver::{result, sys};
use cudarc::driver::CudaStream;

use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::Buffer;

const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

/// Whether the library is there.
pub(crate) fn is_there() -> bool {
    // SAFETY: the call only looks for a library.
    unsafe { sys::is_culib_present() }
}

/// A handle of the library on one stream, with room for matrices of one size.
pub(crate) struct Solver {
    handle: sys::cusolverDnHandle_t,
    gpu: Arc<Gpu>,
    most: usize,
    work: Buffer<f64>,
    status: Buffer<u32>,
}

// SAFETY: a handle may move between threads; it is used by one at a time (`&mut` of its owner).
unsafe impl Send for Solver {}

impl Solver {
    /// For matrices up to this size.
    pub(crate) fn new(gpu: &Arc<Gpu>, stream: &CudaStream, most: usize) -> Result<Self, Fault> {
        gpu.bind()?;
        gpu.fits(most, c_int::MAX as usize)?;
        let (work, status) = (Buffer::new(gpu, 0)?, Buffer::new(gpu, 1)?);
        let (handle, n, mut room) = (result::dn_create()?, most as c_int, 0);
        let mut solver = Solver { handle, gpu: Arc::clone(gpu), most, work, status };
        // SAFETY: the stream outlives the handle; no matrix is looked at for the size of its room.
        unsafe {
            result::dn_set_stream(handle, stream.cu_stream() as _)?;
            let none = std::ptr::null_mut();
            sys::cusolverDnDpotrf_bufferSize(handle, LOWER, n, none, n, &mut room).result()?;
        }
        solver.work = Buffer::new(gpu, room.max(0) as usize)?;
        Ok(solver)
    }

    /// Writes the factor of a matrix over its lower triangle; whether there is one.
    ///
    /// # Safety
    /// The address has a matrix of this size until the stream is done, which is awaited.
    pub(crate) unsafe fn factor(
        &mut self,
        size: usize,
        (a, lda): (u64, usize),
        stream: &CudaStream,
    ) -> Result<bool, Fault> {
        self.gpu.fits(size, self.most)?;
        let (place, info) = (self.work.at(0) as *mut f64, self.status.at(0) as *mut c_int);
        let (n, room) = (size as c_int, self.work.len() as c_int);
        // SAFETY: the caller's promise; there is room for the largest matrix.
        unsafe {
            sys::cusolverDnDpotrf(
                self.handle,
                LOWER,
                n,
                a as *mut f64,
                lda as c_int,
                place,
                room,
                info,
            )
        }
        .result()?;
        let mut info = [0];
        self.status.read(0, &mut info, stream)?;
        Ok(info[0] == 0)
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: made by `new`, destroyed here only.
            let _ = unsafe { result::dn_destroy(self.handle) };
        }
    }
}
