//! Cholesky factors on a device, by cuSOLVER, which is looked for when one is first wanted.

use std::ffi::c_int;
use std::sync::Arc;

use cudarc::cusolver::{result, sys};
use cudarc::driver::CudaStream;
use faer::{MatMut, MatRef};
use sarl::engine::Factor;

use crate::blas::Blas;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::Buffer;

const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

/// Whether the library is there.
pub(crate) fn is_there() -> bool {
    // SAFETY: the call only looks for a library.
    unsafe { sys::is_culib_present() }
}

/// `L` of `A = L Lᵀ`, on the device.
pub(crate) struct Cholesky {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    blas: Blas,
    size: usize,
    lower: Buffer<f64>,
    /// Right sides of the last call, which the next may use again.
    sides: Option<Buffer<f64>>,
}

/// A handle of the library, destroyed when it goes.
struct Handle(sys::cusolverDnHandle_t);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made by `dn_create`, destroyed here only, while its context is bound.
        let _ = unsafe { result::dn_destroy(self.0) };
    }
}

impl Cholesky {
    /// Of a matrix of which the lower triangle counts.
    pub(crate) fn new(gpu: &Arc<Gpu>, a: MatRef<'_, f64>) -> Result<Self, Fault> {
        gpu.bind()?;
        let size = a.nrows();
        gpu.fits(size, c_int::MAX as usize)?;
        if a.ncols() != size {
            return Err(Fault::Call { reason: "a factor is of a square matrix".to_owned() });
        }
        let stream = gpu.context().new_stream()?;
        let blas = Blas::new(gpu, &stream)?;
        let lower = Buffer::new(gpu, size * size)?;
        put(&lower, a, &stream)?;
        let handle = Handle(result::dn_create()?);
        let (n, at, mut room) = (size as c_int, lower.at(0) as *mut f64, 0);
        let status = Buffer::<u32>::new(gpu, 1)?;
        // SAFETY: the buffers have this size and stay until the stream is done, which `read` awaits.
        let work = unsafe {
            result::dn_set_stream(handle.0, stream.cu_stream() as _)?;
            sys::cusolverDnDpotrf_bufferSize(handle.0, LOWER, n, at, n, &mut room).result()?;
            let work = Buffer::<f64>::new(gpu, room.max(0) as usize)?;
            let (place, info) = (work.at(0) as *mut f64, status.at(0) as *mut c_int);
            sys::cusolverDnDpotrf(handle.0, LOWER, n, at, n, place, room, info).result()?;
            work
        };
        let mut info = [0];
        status.read(0, &mut info, &stream)?;
        drop(work);
        match info[0] {
            0 => Ok(Cholesky { gpu: Arc::clone(gpu), stream, blas, size, lower, sides: None }),
            at => Err(Fault::Call {
                reason: format!("the matrix is not positive definite: pivot {at} is not positive"),
            }),
        }
    }

    fn solve(&mut self, transposed: bool, mut b: MatMut<'_, f64>) -> Result<(), Fault> {
        self.gpu.bind()?;
        let (rows, columns) = b.shape();
        if rows != self.size {
            let reason = format!("{rows} rows are given, but the factor has {}", self.size);
            return Err(Fault::Call { reason });
        }
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let sides = match self.sides.take() {
            Some(sides) if sides.len() >= rows * columns => sides,
            _ => Buffer::new(&self.gpu, rows * columns)?,
        };
        put(&sides, b.as_ref(), &self.stream)?;
        let (l, to) = ((self.lower.at(0), rows), (sides.at(0), rows));
        // SAFETY: both buffers have these shapes and stay until the stream was awaited.
        unsafe { self.blas.solve_lower(transposed, (rows, columns), l, to) }?;
        let mut flat = vec![0.0; rows * columns];
        sides.read(0, &mut flat, &self.stream)?;
        b.copy_from(MatRef::from_column_major_slice(&flat, rows, columns));
        self.sides = Some(sides);
        Ok(())
    }

    fn error(&self, fault: Fault) -> sarl::Error {
        sarl::Error::Device { device: self.gpu.name(), message: fault.to_string() }
    }
}

/// Copies a matrix there, column after column.
fn put(to: &Buffer<f64>, a: MatRef<'_, f64>, stream: &CudaStream) -> Result<(), Fault> {
    for (j, column) in a.col_iter().enumerate() {
        match column.try_as_col_major() {
            Some(column) => to.fill(j * a.nrows(), column.as_slice(), stream)?,
            None => {
                let copied: Vec<f64> = column.iter().copied().collect();
                to.fill(j * a.nrows(), &copied, stream)?;
            }
        }
    }
    Ok(())
}

impl Factor for Cholesky {
    fn solve_lower(&mut self, b: MatMut<'_, f64>) -> sarl::Result<()> {
        self.solve(false, b).map_err(|fault| self.error(fault))
    }

    fn solve_lower_transposed(&mut self, b: MatMut<'_, f64>) -> sarl::Result<()> {
        self.solve(true, b).map_err(|fault| self.error(fault))
    }
}
