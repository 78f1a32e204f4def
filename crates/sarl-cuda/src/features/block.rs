//! Kernels of points and rows.

use cudarc::driver::CudaStream;
use sarl::Kernel;

use crate::blas::Blas;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::kernels::{Arg, launch, over_rows};

/// Points on the device: number `d` of point `j` is at `d · across + j · along`.
#[derive(Clone, Copy)]
pub(crate) struct Points {
    pub(crate) at: u64,
    pub(crate) count: usize,
    pub(crate) across: usize,
    pub(crate) along: usize,
    /// Their squared lengths.
    pub(crate) squares: u64,
}

/// The squared lengths of rows of `shape.0` numbers.
///
/// # Safety
/// The rows are there, and so is the room, until the stream is done.
pub(crate) unsafe fn launch_squares(
    gpu: &Gpu,
    stream: &CudaStream,
    (x, stride): (u64, usize),
    (width, rows): (usize, usize),
    to: u64,
) -> Result<(), Fault> {
    let args: [Arg; 5] =
        [x.into(), (stride as u64).into(), (width as u32).into(), (rows as u32).into(), to.into()];
    // SAFETY: the caller's promise.
    unsafe { launch(stream, &gpu.kernels.squares, ((rows as u32).div_ceil(4), 1, 1), &args) }
}

/// `k(u_j, x_i)` of points u and rows x of `w` numbers, one row's values after the other's.
///
/// # Safety
/// Points, rows and room are there until the stream is done; rows lie one after the other.
pub(crate) unsafe fn kernel_block(
    gpu: &Gpu,
    (blas, stream): (&Blas, &CudaStream),
    kernel: Kernel,
    w: usize,
    u: Points,
    x: Points,
    (to, ld): (u64, usize),
) -> Result<(), Fault> {
    let (m, rows) = (u.count, x.count);
    let shape: [Arg; 4] = [to.into(), (ld as u64).into(), (m as u32).into(), (rows as u32).into()];
    let places: [Arg; 5] = [
        x.at.into(),
        u.at.into(),
        (w as u32).into(),
        (u.across as u64).into(),
        (u.along as u64).into(),
    ];
    // Points one after the other are the columns of a matrix, which is transposed.
    let (turned, lead) = if u.across == 1 { (true, u.along) } else { (false, u.across) };
    // SAFETY: the caller's promise.
    unsafe {
        let product = |alpha: f64| {
            blas.gemm(
                (turned, false),
                (m, rows, w),
                (alpha, 0.0),
                (u.at, lead),
                (x.at, x.along),
                (to, ld),
            )
        };
        match kernel {
            Kernel::Rbf { gamma } => {
                product(2.0 * gamma)?;
                let rest = [x.squares.into(), u.squares.into(), gamma.into()];
                over_rows(
                    stream,
                    &gpu.kernels.rbf,
                    (m, rows),
                    &[&shape[..], &rest, &places].concat(),
                )
            }
            Kernel::Laplacian { gamma } => {
                let args = [&shape[..], &[gamma.into()], &places].concat();
                over_rows(stream, &gpu.kernels.laplacian, (m, rows.div_ceil(4)), &args)
            }
            Kernel::Polynomial { gamma, coef0, degree } => {
                product(1.0)?;
                let rest = [gamma.into(), coef0.into(), degree.into()];
                over_rows(stream, &gpu.kernels.polynomial, (m, rows), &[&shape[..], &rest].concat())
            }
        }
    }
}
