//! The matrix products, by cuBLAS. Matrices are column-major: rows of the data are columns here.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use cudarc::cublas::{result, sys};
use cudarc::driver::CudaStream;

use crate::fault::Fault;
use crate::gpu::Gpu;

const N: sys::cublasOperation_t = sys::cublasOperation_t::CUBLAS_OP_N;
const T: sys::cublasOperation_t = sys::cublasOperation_t::CUBLAS_OP_T;
const LOWER: sys::cublasFillMode_t = sys::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;

/// Triangles smaller than this are formed as squares.
const TILE: usize = 512;

/// A handle on one stream.
pub(crate) struct Blas {
    handle: sys::cublasHandle_t,
    gpu: Arc<Gpu>,
}

// SAFETY: a handle may move between threads; it is used by one at a time (`&mut` of its owner).
unsafe impl Send for Blas {}

impl Blas {
    pub(crate) fn new(gpu: &Arc<Gpu>, stream: &CudaStream) -> Result<Self, Fault> {
        gpu.bind()?;
        let handle = result::create_handle()?;
        let blas = Blas { handle, gpu: Arc::clone(gpu) };
        // SAFETY: the stream outlives the handle: whoever has one has both.
        unsafe { result::set_stream(handle, stream.cu_stream() as _) }?;
        Ok(blas)
    }

    /// `c = alpha a b + beta c`, with `a` m × k and `b` k × n, or their transposes.
    ///
    /// # Safety
    /// The addresses have matrices of these shapes until the stream is done.
    pub(crate) unsafe fn gemm(
        &self,
        (ta, tb): (bool, bool),
        (m, n, k): (usize, usize, usize),
        (alpha, beta): (f64, f64),
        (a, lda): (u64, usize),
        (b, ldb): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        let op = |t: bool| if t { T } else { N };
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasDgemm_v2(
                self.handle,
                op(ta),
                op(tb),
                m as c_int,
                n as c_int,
                k as c_int,
                &alpha,
                a as _,
                lda as c_int,
                b as _,
                ldb as c_int,
                &beta,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// The lower triangle of `c += a aᵀ`, with `a` n × k.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn syrk(
        &self,
        (n, k): (usize, usize),
        (a, lda): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasDsyrk_v2(
                self.handle,
                LOWER,
                N,
                n as c_int,
                k as c_int,
                &1.0,
                a as _,
                lda as c_int,
                &1.0,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// The lower triangle of `c = aᵀ a`, with `a` k × n.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn inner(
        &self,
        (n, k): (usize, usize),
        (a, lda): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasDsyrk_v2(
                self.handle,
                LOWER,
                T,
                n as c_int,
                k as c_int,
                &1.0,
                a as _,
                lda as c_int,
                &0.0,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// `c = aᵀ`, both n × n.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn transpose(
        &self,
        n: usize,
        (a, lda): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        let (size, none) = (n as c_int, c as *const f64);
        // SAFETY: the caller's promise; what is not added is not read.
        unsafe {
            sys::cublasDgeam(
                self.handle,
                T,
                N,
                size,
                size,
                &1.0,
                a as _,
                lda as c_int,
                &0.0,
                none,
                ldc as c_int,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// `c = a b`, with the lower triangle of a symmetric `a` m × m, and `b` m × n.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn symmetric(
        &self,
        (m, n): (usize, usize),
        (a, lda): (u64, usize),
        (b, ldb): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasDsymm_v2(
                self.handle,
                sys::cublasSideMode_t::CUBLAS_SIDE_LEFT,
                LOWER,
                m as c_int,
                n as c_int,
                &1.0,
                a as _,
                lda as c_int,
                b as _,
                ldb as c_int,
                &0.0,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// The same in single precision, in place of what was in `c`.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn syrk_single(
        &self,
        (n, k): (usize, usize),
        (a, lda): (u64, usize),
        (c, ldc): (u64, usize),
    ) -> Result<(), Fault> {
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasSsyrk_v2(
                self.handle,
                LOWER,
                N,
                n as c_int,
                k as c_int,
                &1.0,
                a as _,
                lda as c_int,
                &0.0,
                c as _,
                ldc as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// `b = L⁻¹ b`, with `L` m × m lower triangular and `b` m × n, or with the transpose of `L`.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn solve_lower(
        &self,
        transposed: bool,
        (m, n): (usize, usize),
        (l, ldl): (u64, usize),
        (b, ldb): (u64, usize),
    ) -> Result<(), Fault> {
        let side = sys::cublasSideMode_t::CUBLAS_SIDE_LEFT;
        // SAFETY: the caller's promise.
        unsafe { self.solve(side, transposed, (m, n), (l, ldl), (b, ldb)) }
    }

    /// `b = b L⁻ᵀ`, with `L` n × n lower triangular and `b` m × n.
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn solve_right(
        &self,
        (m, n): (usize, usize),
        (l, ldl): (u64, usize),
        (b, ldb): (u64, usize),
    ) -> Result<(), Fault> {
        let side = sys::cublasSideMode_t::CUBLAS_SIDE_RIGHT;
        // SAFETY: the caller's promise.
        unsafe { self.solve(side, true, (m, n), (l, ldl), (b, ldb)) }
    }

    unsafe fn solve(
        &self,
        side: sys::cublasSideMode_t,
        transposed: bool,
        (m, n): (usize, usize),
        (l, ldl): (u64, usize),
        (b, ldb): (u64, usize),
    ) -> Result<(), Fault> {
        let plain = sys::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT;
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasDtrsm_v2(
                self.handle,
                side,
                LOWER,
                if transposed { T } else { N },
                plain,
                m as c_int,
                n as c_int,
                &1.0,
                l as _,
                ldl as c_int,
                b as _,
                ldb as c_int,
            )
        }
        .result()?;
        Ok(())
    }

    /// At least the lower triangle of `c = p qᵀ + beta c`, both n × k, as squares of which few lie above
    /// the diagonal: in double precision, or in single precision on the matrix units (TF32).
    ///
    /// # Safety
    /// As [`Blas::gemm`].
    pub(crate) unsafe fn triangle(
        &self,
        (n, k): (usize, usize),
        (p, q, ld): (u64, u64, usize),
        (c, ldc): (u64, usize),
        kind: Kind,
    ) -> Result<(), Fault> {
        let size = kind.size();
        let tiles = n / TILE;
        // The largest power of two of tiles, then what is left of them below and beside.
        let whole = if tiles == 0 { 0 } else { TILE << tiles.ilog2() };
        if whole == 0 {
            return unsafe { self.squares((n, n, k), (p, q, ld), (c, ldc), (0, 1), kind) };
        }
        // SAFETY: all squares lie within the matrices.
        unsafe {
            let mut half = whole / 2;
            while half >= TILE {
                let step = 2 * half;
                let (below, at) = (p + (half * size) as u64, c + (half * size) as u64);
                self.squares(
                    (half, half, k),
                    (below, q, ld),
                    (at, ldc),
                    (step, whole / step),
                    kind,
                )?;
                half /= 2;
            }
            self.squares((TILE, TILE, k), (p, q, ld), (c, ldc), (TILE, whole / TILE), kind)?;
            let rest = n - whole;
            if rest > 0 {
                let bytes = (whole * size) as u64;
                self.squares((rest, whole, k), (p + bytes, q, ld), (c + bytes, ldc), (0, 1), kind)?;
                let corner = c + ((whole * ldc + whole) * size) as u64;
                self.triangle((rest, k), (p + bytes, q + bytes, ld), (corner, ldc), kind)?;
            }
        }
        Ok(())
    }

    /// `count` products along the diagonal, `step` rows and columns apart.
    unsafe fn squares(
        &self,
        (m, n, k): (usize, usize, usize),
        (p, q, ld): (u64, u64, usize),
        (c, ldc): (u64, usize),
        (step, count): (usize, usize),
        kind: Kind,
    ) -> Result<(), Fault> {
        let (data, compute) = kind.types();
        let (one, beta) = (kind.number(1.0), kind.number(kind.beta()));
        let apart = step as i64;
        // SAFETY: the caller's promise.
        unsafe {
            sys::cublasGemmStridedBatchedEx(
                self.handle,
                N,
                T,
                m as c_int,
                n as c_int,
                k as c_int,
                one.as_ptr(),
                p as _,
                data,
                ld as c_int,
                apart,
                q as _,
                data,
                ld as c_int,
                apart,
                beta.as_ptr(),
                c as _,
                data,
                ldc as c_int,
                apart * (ldc as i64 + 1),
                count as c_int,
                compute,
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .result()?;
        Ok(())
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            // SAFETY: made by `new`, destroyed here only.
            let _ = unsafe { result::destroy_handle(self.handle) };
        }
    }
}

/// How the squares of a triangle are formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Doubles, added to what is there.
    Double,
    /// Single precision on the matrix units, in place of what is there.
    Tf32,
}

impl Kind {
    fn size(self) -> usize {
        if self == Kind::Double { 8 } else { 4 }
    }

    fn beta(self) -> f64 {
        if self == Kind::Double { 1.0 } else { 0.0 }
    }

    fn types(self) -> (sys::cudaDataType, sys::cublasComputeType_t) {
        use sys::cublasComputeType_t::{CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F};
        match self {
            Kind::Double => (sys::cudaDataType_t::CUDA_R_64F, CUBLAS_COMPUTE_64F),
            Kind::Tf32 => (sys::cudaDataType_t::CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
        }
    }

    fn number(self, value: f64) -> Number {
        match self {
            Kind::Double => Number::Double(value),
            Kind::Tf32 => Number::Single(value as f32),
        }
    }
}

/// A factor, in the type of its product.
enum Number {
    Double(f64),
    Single(f32),
}

impl Number {
    fn as_ptr(&self) -> *const c_void {
        match self {
            Number::Double(value) => (value as *const f64).cast(),
            Number::Single(value) => (value as *const f32).cast(),
        }
    }
}
