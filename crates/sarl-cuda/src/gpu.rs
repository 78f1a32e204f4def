//! One device: what is found out before it is used, its context, its kernels and its memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, DriverError, result, sys};

use crate::fault::Fault;
use crate::kernels::Kernels;

/// The oldest driver: that of CUDA 11.4.
const OLDEST_DRIVER: i32 = 11_040;
/// The first devices that can add doubles atomically, and the oldest that current toolkits know.
const OLDEST_MAJOR: i32 = 6;
/// The most page-locked pieces that are kept.
const MOST_SPARE: usize = 64;

/// A device that is ready.
pub(crate) struct Gpu {
    context: Arc<CudaContext>,
    pub(crate) kernels: Kernels,
    name: String,
    /// The most bytes that may be taken of its memory, and those that are.
    limit: usize,
    taken: AtomicUsize,
    /// Addresses of page-locked pieces that nobody uses: they take longer to make than to fill.
    spare: Mutex<Vec<usize>>,
}

/// Whether there is a driver at all, which is quickly known.
pub(crate) fn has_driver() -> bool {
    // SAFETY: the call only looks for a library.
    unsafe { sys::is_culib_present() }
}

/// How many devices there are.
pub fn devices() -> Result<usize, Fault> {
    // SAFETY: these calls only look for libraries.
    let (driver, blas, compiler) = unsafe {
        (
            sys::is_culib_present(),
            cudarc::cublas::sys::is_culib_present(),
            cudarc::nvrtc::sys::is_culib_present(),
        )
    };
    if !driver {
        return Err(Fault::NoDriver);
    }
    let none = |e: DriverError| Fault::NoDevice { reason: format!("{e:?}") };
    result::init().map_err(none)?;
    let mut found = 0;
    // SAFETY: the driver is there and writes one number.
    unsafe { sys::cuDriverGetVersion(&mut found) }.result().map_err(none)?;
    if found < OLDEST_DRIVER {
        return Err(Fault::OldDriver { found, needed: OLDEST_DRIVER });
    }
    let count = result::device::get_count().map_err(none)?;
    if count < 1 {
        return Err(Fault::NoDevice { reason: "there are 0".to_owned() });
    }
    for (there, library) in [(blas, "cuBLAS (libcublas)"), (compiler, "NVRTC (libnvrtc)")] {
        if !there {
            return Err(Fault::NoLibrary { library });
        }
    }
    Ok(count as usize)
}

/// The number of the device whose memory an address is of.
pub fn device_of(address: u64) -> Result<usize, Fault> {
    devices()?;
    let mut number: std::ffi::c_int = 0;
    let what = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the driver writes one number; an address that it does not know is an error.
    unsafe { sys::cuPointerGetAttribute((&raw mut number).cast(), what, address) }.result()?;
    Ok(number.max(0) as usize)
}

/// Devices that are ready, which takes a while, for all who want no limit of memory.
static READY: Mutex<Vec<(usize, Arc<Gpu>)>> = Mutex::new(Vec::new());

impl Gpu {
    /// The device that others use too, if nothing is said of its memory.
    pub(crate) fn shared(number: usize, limit: Option<usize>) -> Result<Arc<Self>, Fault> {
        if limit.is_some() {
            return Self::new(number, limit);
        }
        let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, gpu)) = ready.iter().find(|(own, _)| *own == number) {
            return Ok(Arc::clone(gpu));
        }
        let gpu = Self::new(number, None)?;
        ready.push((number, Arc::clone(&gpu)));
        Ok(gpu)
    }

    /// Device `number`, with at most `limit` bytes of its memory.
    fn new(number: usize, limit: Option<usize>) -> Result<Arc<Self>, Fault> {
        let count = devices()?;
        if number >= count {
            return Err(Fault::NoSuchDevice { number, count });
        }
        let context = CudaContext::new(number)?;
        let (major, minor) = context.compute_capability()?;
        if major < OLDEST_MAJOR {
            return Err(Fault::OldDevice { major, minor });
        }
        let name = context.name()?;
        let kernels = Kernels::compile(&context, major, minor)?;
        let (taken, spare) = (AtomicUsize::new(0), Mutex::default());
        let limit = limit.unwrap_or(usize::MAX);
        Ok(Arc::new(Gpu { context, kernels, name, limit, taken, spare }))
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// `cuda:0 (NVIDIA H200)`, say.
    pub(crate) fn name(&self) -> String {
        format!("cuda:{} ({})", self.context.ordinal(), self.name)
    }

    /// Makes it the device of this thread.
    pub(crate) fn bind(&self) -> Result<(), Fault> {
        Ok(self.context.bind_to_thread()?)
    }

    /// Bytes that may still be taken.
    pub(crate) fn free(&self) -> Result<usize, Fault> {
        self.bind()?;
        let (free, _) = self.context.mem_get_info()?;
        Ok(free.min(self.limit.saturating_sub(self.taken.load(Ordering::Relaxed))))
    }

    pub(crate) fn take(&self, bytes: usize) -> Result<(), Fault> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limit {
            self.give(bytes);
            let (mib, free) = (1 << 20, self.limit.saturating_sub(before));
            return Err(Fault::Memory {
                needed: bytes / mib,
                free: free / mib,
                total: self.limit / mib,
            });
        }
        Ok(())
    }

    pub(crate) fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A page-locked piece that nobody uses, if there is one.
    pub(crate) fn spare(&self) -> Option<usize> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a page-locked piece for the next one who needs it; whether there is room for it.
    pub(crate) fn keep(&self, address: usize) -> bool {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let room = spare.len() < MOST_SPARE;
        if room {
            spare.push(address);
        }
        room
    }

    /// What a refused allocation means.
    pub(crate) fn fault_of_memory(&self, bytes: usize, error: DriverError) -> Fault {
        if error.0 != sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return error.into();
        }
        let (free, total) = self.context.mem_get_info().unwrap_or((0, 0));
        let mib = 1 << 20;
        Fault::Memory { needed: bytes / mib, free: free / mib, total: total / mib }
    }

    /// Refuses to go beyond the end of a buffer.
    pub(crate) fn fits(&self, end: usize, len: usize) -> Result<(), Fault> {
        match end <= len {
            true => Ok(()),
            false => {
                Err(Fault::Call { reason: format!("{end} numbers do not fit a buffer of {len}") })
            }
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.bind().is_ok() {
            while let Some(address) = self.spare() {
                // SAFETY: allocated by `Pinned::new`, freed here only.
                let _ = unsafe { result::free_host(address as *mut std::ffi::c_void) };
            }
        }
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}
