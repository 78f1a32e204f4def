//! The sums of the folds after the last row: combined, factored and multiplied on the device.
//!
//! Where folds know some of the landmarks only, what they can encode lies in the span of the rows of `L` that
//! belong to these: with `M` for an orthonormal basis of it, `MᵀA M = G Gᵀ` is factored.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaStream;
use faer::{Mat, MatMut, MatRef};
use sarl::engine::{Factor, Factored, Folds, FoldsPlan, Together, Values};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::features::{Picked, Source, gather};
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_all};
use crate::memory::Buffer;
use crate::solver::Solver;
use crate::staging::Staging;

/// Squares of the size of the features that are needed beside the sums: `L`, `M`, `A`, `A M` and its products.
const SQUARES: usize = 5;
/// Columns of right sides that are worked on at a time.
const COLUMNS: usize = 64;

/// See the module.
#[derive(Clone)]
pub(crate) struct Sums {
    gpu: Arc<Gpu>,
    work: Arc<Mutex<Work>>,
}

/// What one call at a time works with.
struct Work {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    blas: Blas,
    solver: Solver,
    size: usize,
    folds: usize,
    scatters: Buffer<f64>,
    /// The rows of `L`, one after the other, where there are landmarks.
    rows: Option<Buffer<f64>>,
    /// `M` of the landmarks that were known last.
    basis: Option<(Vec<usize>, Buffer<f64>)>,
    order: Buffer<u32>,
    /// Shares, delta, scale and diagonal.
    lists: [Buffer<f64>; 4],
    /// Few columns, and what comes of them.
    sides: [Buffer<f64>; 2],
    /// Squares that nobody uses.
    free: Vec<Buffer<f64>>,
}

/// `G`, with the landmarks that it is in the span of.
struct Lower {
    of: Sums,
    basis: usize,
    least: f64,
    lower: Option<Buffer<f64>>,
    known: Option<Vec<usize>>,
}

impl std::fmt::Debug for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sums of folds on {}", self.gpu.name())
    }
}

impl Sums {
    pub(crate) fn new(gpu: &Arc<Gpu>, plan: &FoldsPlan<'_>) -> Result<Self, Fault> {
        gpu.bind()?;
        let size = plan.scatters.first().map_or(0, |scatter| scatter.nrows());
        let folds = plan.scatters.len();
        let needed = 8 * size * size * (folds + SQUARES);
        let (free, mib) = (gpu.free()?, 1 << 20);
        if needed > free {
            let total = gpu.context().total_mem().unwrap_or(0) / mib;
            return Err(Fault::Memory { needed: needed / mib, free: free / mib, total });
        }
        let stream = gpu.context().new_stream()?;
        let list = |len: usize| Buffer::new(gpu, len);
        let mut work = Work {
            blas: Blas::new(gpu, &stream)?,
            solver: Solver::new(gpu, &stream, size)?,
            scatters: list(folds * size * size)?,
            rows: None,
            basis: None,
            order: Buffer::new(gpu, size)?,
            lists: [list(folds)?, list(size)?, list(size)?, list(size)?],
            sides: [list(size * COLUMNS)?, list(size * COLUMNS)?],
            free: Vec::new(),
            gpu: Arc::clone(gpu),
            stream,
            size,
            folds,
        };
        work.bring(plan)?;
        Ok(Sums { gpu: Arc::clone(gpu), work: Arc::new(Mutex::new(work)) })
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, fault: Fault) -> sarl::Error {
        sarl::Error::Device { device: self.gpu.name(), message: fault.to_string() }
    }
}

impl Work {
    /// Copies the sums, and `L`, whose rows become columns.
    fn bring(&mut self, plan: &FoldsPlan<'_>) -> Result<(), Fault> {
        let n = self.size;
        let staging = Staging::new(&self.gpu, 8 * n)?;
        for (fold, scatter) in plan.scatters.iter().enumerate() {
            send(&staging, *scatter, self.scatters.at(fold * n * n), &self.stream)?;
        }
        if let Some(l) = plan.factor.filter(|l| l.nrows() == n) {
            let (lower, rows) = (self.square()?, Buffer::new(&self.gpu, n * n)?);
            send(&staging, l, lower.at(0), &self.stream)?;
            // SAFETY: the matrices have this size and stay until the stream was awaited.
            unsafe { self.blas.transpose(n, (lower.at(0), n), (rows.at(0), n)) }?;
            self.stream.synchronize()?;
            self.free.push(lower);
            self.rows = Some(rows);
        }
        Ok(self.stream.synchronize()?)
    }

    /// Room for a square of the size of the features.
    fn square(&mut self) -> Result<Buffer<f64>, Fault> {
        match self.free.pop() {
            Some(square) => Ok(square),
            None => Buffer::new(&self.gpu, self.size * self.size),
        }
    }

    /// The lower triangle of `S C S + D`.
    fn combine(
        &mut self,
        of: &Together,
        (scale, diagonal): (&[f64], &[f64]),
    ) -> Result<Buffer<f64>, Fault> {
        let a = self.square()?;
        let n = self.size;
        let lists = [&of.shares[..], &of.delta, scale, diagonal];
        for (to, list) in self.lists.iter().zip(lists) {
            to.fill(0, list, &self.stream)?;
        }
        let list = |i: usize| match lists[i].is_empty() {
            true => NONE,
            false => Arg::from(self.lists[i].at(0)),
        };
        let args = [
            a.at(0).into(),
            (n as u32).into(),
            self.scatters.at(0).into(),
            (self.folds as u32).into(),
            list(0),
            list(1),
            list(2),
            list(3),
        ];
        // SAFETY: the buffers have these sizes and stay until the stream was awaited.
        unsafe { over_all(&self.stream, &self.gpu.kernels.combine, (n, n), &args) }?;
        Ok(a)
    }

    fn multiply(&mut self, of: &Together, b: MatRef<'_, f64>) -> Result<Mat<f64>, Fault> {
        self.gpu.bind()?;
        let (n, mut c) = (self.size, Mat::zeros(self.size, b.ncols()));
        self.gpu.fits(b.nrows(), n)?;
        let a = self.combine(of, (&[], &[]))?;
        for first in (0..b.ncols()).step_by(COLUMNS) {
            let (count, [from, to]) = (COLUMNS.min(b.ncols() - first), &self.sides);
            from.fill(0, &columns(b.subcols(first, count)), &self.stream)?;
            let (a, b) = ((a.at(0), n), (from.at(0), n));
            // SAFETY: the buffers have room for as many columns, and stay until they were read.
            unsafe { self.blas.symmetric((n, count), a, b, (to.at(0), n)) }?;
            take(to, c.as_mut().subcols_mut(first, count), &self.stream)?;
        }
        self.free.push(a);
        Ok(c)
    }

    /// `G`, if there is one.
    fn factor(&mut self, a: &Buffer<f64>, size: usize) -> Result<bool, Fault> {
        // SAFETY: the buffer has a matrix of this size, and the stream is awaited.
        unsafe { self.solver.factor(size, (a.at(0), size), &self.stream) }
    }

    /// The least number on the diagonal of a factor.
    fn least(&self, a: &Buffer<f64>, n: usize) -> Result<f64, Fault> {
        let to = &self.sides[0];
        let args = [a.at(0).into(), (n as u32).into(), to.at(0).into()];
        // SAFETY: the buffers have this size and stay until they were read.
        unsafe { over_all(&self.stream, &self.gpu.kernels.diagonal, (n, 1), &args) }?;
        let mut diagonal = vec![0.0; n];
        to.read(0, &mut diagonal, &self.stream)?;
        Ok(diagonal.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// `M`: the rows of `L` of the known landmarks, made orthonormal by two rounds of Cholesky. Whether
    /// rounding leaves such a basis.
    fn span(&mut self, known: &[usize]) -> Result<bool, Fault> {
        if self.basis.as_ref().is_some_and(|(last, _)| last == known) {
            return Ok(true);
        }
        if let Some((_, old)) = self.basis.take() {
            self.free.push(old);
        }
        let Some(rows) = self.rows.as_ref().map(|rows| rows.at(0)) else {
            return Err(Fault::Call { reason: "there are no landmarks".to_owned() });
        };
        let (n, k) = (self.size, known.len());
        if known.iter().any(|&j| j >= n) {
            return Err(Fault::Call { reason: "there is no such landmark".to_owned() });
        }
        let order: Vec<u32> = known.iter().map(|&j| j as u32).collect();
        self.order.fill(0, &order, &self.stream)?;
        let (m, products) = (self.square()?, self.square()?);
        let source = Source { address: rows, stride: n, single: false };
        let picked = Picked { source, order: self.order.at(0), first: 0, rows: k };
        let (at, inner) = ((m.at(0), n), (products.at(0), k));
        let mut there = true;
        // SAFETY: squares have room for as many columns, and stay until the stream was awaited.
        unsafe {
            gather(&self.gpu, &self.stream, picked, n, [NONE; 3], (m.at(0), n, false))?;
            for _ in 0..2 {
                self.blas.inner((k, n), at, inner)?;
                there = there && self.factor(&products, k)?;
                if there {
                    self.blas.solve_right((n, k), inner, at)?;
                }
            }
        }
        self.stream.synchronize()?;
        self.free.push(products);
        match there {
            true => self.basis = Some((known.to_vec(), m)),
            false => self.free.push(m),
        }
        Ok(there)
    }

    /// `MᵀA M`, in place of `A`.
    fn within(&mut self, a: Buffer<f64>, k: usize) -> Result<Buffer<f64>, Fault> {
        let (along, inner) = (self.square()?, self.square()?);
        let n = self.size;
        if let Some((_, m)) = &self.basis {
            let (m, along) = ((m.at(0), n), (along.at(0), n));
            // SAFETY: squares have room for as many columns, and stay until the stream was awaited.
            unsafe {
                self.blas.symmetric((n, k), (a.at(0), n), m, along)?;
                let to = (inner.at(0), k);
                self.blas.gemm((true, false), (k, k, n), (1.0, 0.0), m, along, to)?;
            }
        }
        self.stream.synchronize()?;
        self.free.extend([a, along]);
        Ok(inner)
    }

    /// `G`, how many columns it has, and the least number on its diagonal.
    fn lower(
        &mut self,
        of: &Together,
        how: &Factored<'_>,
    ) -> Result<Option<(Buffer<f64>, usize, f64)>, Fault> {
        self.gpu.bind()?;
        let mut a = self.combine(of, (how.scale, how.diagonal))?;
        let mut k = self.size;
        let mut there = true;
        if let Some(known) = how.known {
            there = self.span(known)?;
            if there {
                k = known.len();
                a = self.within(a, k)?;
            }
        }
        if there && self.factor(&a, k)? {
            let least = self.least(&a, k)?;
            return Ok(Some((a, k, least)));
        }
        self.free.push(a);
        Ok(None)
    }
}

impl Lower {
    /// `Wᵀ a`, or `W a`.
    fn apply(&self, transposed: bool, a: MatRef<'_, f64>) -> Result<Mat<f64>, Fault> {
        let mut work = self.of.work();
        work.gpu.bind()?;
        let (n, k) = (work.size, self.basis);
        let (from, to) = if transposed { (n, k) } else { (k, n) };
        let Some(lower) = self.lower.as_ref().filter(|_| a.nrows() == from) else {
            let reason = format!("{} rows are given, but {from} are expected", a.nrows());
            return Err(Fault::Call { reason });
        };
        let basis = match &self.known {
            None => None,
            // Another factor may have been formed since.
            Some(known) => {
                work.span(known)?;
                work.basis.as_ref().map(|(_, m)| (m.at(0), n))
            }
        };
        let l = (lower.at(0), k);
        let mut all = Mat::zeros(to, a.ncols());
        for first in (0..a.ncols()).step_by(COLUMNS) {
            let count = COLUMNS.min(a.ncols() - first);
            let [one, other] = &work.sides;
            one.fill(0, &columns(a.subcols(first, count)), &work.stream)?;
            let (mut found, next) = ((one.at(0), from), (other.at(0), to));
            // SAFETY: the buffers have room for as many columns, and stay until they were read.
            unsafe {
                match (transposed, basis) {
                    (true, Some(m)) => {
                        work.blas.gemm((true, false), (k, count, n), (1.0, 0.0), m, found, next)?;
                        found = next;
                        work.blas.solve_lower(false, (k, count), l, found)?;
                    }
                    (true, None) => work.blas.solve_lower(false, (k, count), l, found)?,
                    (false, basis) => {
                        work.blas.solve_lower(true, (k, count), l, found)?;
                        if let Some(m) = basis {
                            work.blas.gemm(
                                (false, false),
                                (n, count, k),
                                (1.0, 0.0),
                                m,
                                found,
                                next,
                            )?;
                            found = next;
                        }
                    }
                }
            }
            let there = if found.0 == one.at(0) { one } else { other };
            take(there, all.as_mut().subcols_mut(first, count), &work.stream)?;
        }
        Ok(all)
    }
}

/// The columns of a matrix, one after the other.
fn columns(a: MatRef<'_, f64>) -> Vec<f64> {
    crate::features::columns(a)
}

fn take(from: &Buffer<f64>, mut to: MatMut<'_, f64>, stream: &CudaStream) -> Result<(), Fault> {
    let (rows, count) = to.shape();
    let mut flat = vec![0.0; rows * count];
    from.read(0, &mut flat, stream)?;
    to.copy_from(MatRef::from_column_major_slice(&flat, rows, count));
    Ok(())
}

/// Copies the columns of a square there, through page-locked memory.
fn send(staging: &Staging, a: MatRef<'_, f64>, to: u64, stream: &CudaStream) -> Result<(), Fault> {
    let copied;
    let columns: Vec<&[f64]> = match a.try_as_col_major() {
        Some(a) => (0..a.ncols()).map(|j| a.col(j).as_slice()).collect(),
        None => {
            copied = columns(a);
            copied.chunks_exact(a.nrows().max(1)).collect()
        }
    };
    // SAFETY: callers have room for a matrix of this size, and the columns stay until the stream is awaited.
    unsafe { staging.send(Values::Double(&columns), a.nrows(), to, stream) }?;
    Ok(stream.synchronize()?)
}

impl Drop for Lower {
    fn drop(&mut self) {
        self.of.work().free.extend(self.lower.take());
    }
}

impl Folds for Sums {
    fn product(&self, of: &Together, b: MatRef<'_, f64>) -> sarl::Result<Mat<f64>> {
        self.work().multiply(of, b).map_err(|fault| self.error(fault))
    }

    fn factor(&self, of: &Together, how: &Factored<'_>) -> sarl::Result<Option<Box<dyn Factor>>> {
        let found = self.work().lower(of, how).map_err(|fault| self.error(fault))?;
        Ok(found.map(|(lower, basis, least)| -> Box<dyn Factor> {
            let known = how.known.map(<[usize]>::to_vec);
            Box::new(Lower { of: self.clone(), basis, least, lower: Some(lower), known })
        }))
    }
}

impl Factor for Lower {
    fn basis(&self) -> usize {
        self.basis
    }

    fn least(&self) -> f64 {
        self.least
    }

    fn whiten(&mut self, a: MatRef<'_, f64>) -> sarl::Result<Mat<f64>> {
        self.apply(true, a).map_err(|fault| self.of.error(fault))
    }

    fn unwhiten(&mut self, q: MatRef<'_, f64>) -> sarl::Result<Mat<f64>> {
        self.apply(false, q).map_err(|fault| self.of.error(fault))
    }
}
