//! The kernels, compiled when a device is first used.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};

use crate::fault::Fault;

const SOURCE: &str = include_str!("kernels.cu");
/// Threads to a block, over the numbers of a row.
const THREADS: u32 = 128;
/// The most blocks over rows: each takes every so many rows.
const ROW_BLOCKS: u32 = 4096;

macro_rules! kernels {
    ($($name:ident),*) => {
        pub(crate) struct Kernels { $(pub(crate) $name: CudaFunction),* }

        impl Kernels {
            fn load(module: &Arc<cudarc::driver::CudaModule>) -> Result<Self, Fault> {
                Ok(Kernels { $($name: module.load_function(stringify!($name))?),* })
            }
        }
    };
}

kernels!(
    gather_dd,
    gather_fd,
    gather_df,
    gather_ff,
    centre_rows,
    narrow,
    check_d,
    check_f,
    add_means,
    segments_d,
    segments_f,
    add_segments,
    recentre,
    recentre_tables,
    combine,
    diagonal_of,
    diagonal,
    row_squares,
    widen,
    split,
    squares,
    rbf,
    laplacian,
    polynomial,
    fourier,
    take_offset
);

impl Kernels {
    pub(crate) fn compile(
        context: &Arc<CudaContext>,
        major: i32,
        minor: i32,
    ) -> Result<Self, Fault> {
        let options = |arch: String| CompileOptions {
            options: vec![format!("--gpu-architecture={arch}"), "--std=c++17".to_owned()],
            ..Default::default()
        };
        // An older compiler does not know a newer device, whose driver takes older code.
        let own = compile_ptx_with_opts(SOURCE, options(format!("compute_{major}{minor}")));
        let ptx: Ptx = match own {
            Ok(ptx) => ptx,
            Err(_) => {
                compile_ptx_with_opts(SOURCE, options("compute_70".to_owned())).map_err(why)?
            }
        };
        let failed = |e: cudarc::driver::DriverError| Fault::Compile { reason: format!("{e:?}") };
        Self::load(&context.load_module(ptx).map_err(failed)?)
    }
}

fn why(error: CompileError) -> Fault {
    let reason = match error {
        CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
        other => format!("{other:?}"),
    };
    Fault::Compile { reason }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    /// An address or a large number.
    Long(u64),
    Int(u32),
    Real(f64),
}

/// No address.
pub(crate) const NONE: Arg = Arg::Long(0);

impl From<u64> for Arg {
    fn from(value: u64) -> Self {
        Arg::Long(value)
    }
}

impl From<u32> for Arg {
    fn from(value: u32) -> Self {
        Arg::Int(value)
    }
}

impl From<f64> for Arg {
    fn from(value: f64) -> Self {
        Arg::Real(value)
    }
}

/// One thread for each of `width` numbers, one block for each of `rows`, in turns.
///
/// # Safety
/// The arguments are those of the kernel, and its addresses are of buffers that are large enough and
/// stay until the stream is done.
pub(crate) unsafe fn over_rows(
    stream: &CudaStream,
    kernel: &CudaFunction,
    (width, rows): (usize, usize),
    args: &[Arg],
) -> Result<(), Fault> {
    let grid = ((width as u32).div_ceil(THREADS), (rows as u32).min(ROW_BLOCKS), 1);
    // SAFETY: the caller's promise.
    unsafe { launch(stream, kernel, grid, args) }
}

/// One thread for each of `width` numbers, one block for each of `rows`, at once.
///
/// # Safety
/// As [`over_rows`].
pub(crate) unsafe fn over_all(
    stream: &CudaStream,
    kernel: &CudaFunction,
    (width, rows): (usize, usize),
    args: &[Arg],
) -> Result<(), Fault> {
    // The second dimension of a grid ends at 65535: callers have fewer cells and columns.
    if rows > 65_535 {
        return Err(Fault::Call { reason: format!("{rows} blocks of a kernel are too many") });
    }
    let grid = ((width as u32).div_ceil(THREADS), rows as u32, 1);
    // SAFETY: the caller's promise.
    unsafe { launch(stream, kernel, grid, args) }
}

/// # Safety
/// As [`over_rows`].
pub(crate) unsafe fn launch(
    stream: &CudaStream,
    kernel: &CudaFunction,
    grid: (u32, u32, u32),
    args: &[Arg],
) -> Result<(), Fault> {
    if grid.0 == 0 || grid.1 == 0 {
        return Ok(());
    }
    let mut builder = stream.launch_builder(kernel);
    for arg in args {
        match arg {
            Arg::Long(value) => builder.arg(value),
            Arg::Int(value) => builder.arg(value),
            Arg::Real(value) => builder.arg(value),
        };
    }
    let config = LaunchConfig { grid_dim: grid, block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the caller's promise.
    unsafe { builder.launch(config) }?;
    Ok(())
}
