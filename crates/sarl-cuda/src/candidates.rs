//! Candidates for landmarks on a device.
//!
//! `F` has one row for each candidate, with room for all landmarks: new columns lie behind those that
//! are there, and what they leave of the kernel is one product.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use sarl::Kernel;
use sarl::engine::{Candidates, MOST_PICKED};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::features::{Picked, Points, Source, columns, gather, kernel_block, launch_squares};
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_all};
use crate::made::Made;
use crate::memory::Buffer;
use crate::staging::Staging;

/// See the module.
pub(crate) struct Pool {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    blas: Blas,
    kernel: Kernel,
    count: usize,
    width: usize,
    /// Landmarks at most, and so far.
    most: usize,
    have: usize,
    x: Buffer<f64>,
    own: Buffer<f64>,
    f: Buffer<f64>,
    order: Buffer<u32>,
    points: Buffer<f64>,
    squares: Buffer<f64>,
    rows: Buffer<f64>,
    factor: Buffer<f64>,
    explained: Buffer<f64>,
    /// What the factor comes back into.
    made: Made,
}

impl Pool {
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        kernel: Kernel,
        x: MatRef<'_, f64>,
        most: usize,
    ) -> Result<Self, Fault> {
        gpu.bind()?;
        let stream = gpu.context().new_stream()?;
        let (count, width) = x.shape();
        let about = |j: usize| match kernel {
            // Distances stay, and ‖x‖² + ‖u‖² − 2xᵀu cancels less.
            Kernel::Rbf { .. } => x.col(j).iter().sum::<f64>() / count.max(1) as f64,
            _ => 0.0,
        };
        let about: Vec<f64> = (0..width).map(about).collect();
        let mut flat = vec![0.0; count * width];
        flat.par_chunks_mut(width.max(1)).enumerate().for_each(|(i, row)| {
            row.iter_mut().enumerate().for_each(|(j, v)| *v = x[(i, j)] - about[j]);
        });
        let pool = Pool {
            blas: Blas::new(gpu, &stream)?,
            x: Buffer::of(gpu, &flat)?,
            own: Buffer::new(gpu, count)?,
            f: Buffer::new(gpu, count * most)?,
            order: Buffer::new(gpu, MOST_PICKED)?,
            points: Buffer::new(gpu, MOST_PICKED * width)?,
            squares: Buffer::new(gpu, MOST_PICKED)?,
            rows: Buffer::new(gpu, MOST_PICKED * most)?,
            factor: Buffer::new(gpu, MOST_PICKED * MOST_PICKED)?,
            explained: Buffer::new(gpu, count)?,
            made: Made::begin(1, most),
            gpu: Arc::clone(gpu),
            have: 0,
            stream,
            kernel,
            count,
            width,
            most,
        };
        // SAFETY: the buffers have these sizes and stay.
        unsafe {
            launch_squares(
                &pool.gpu,
                &pool.stream,
                (pool.x.at(0), width),
                (width, count),
                pool.own.at(0),
            )
        }?;
        Ok(pool)
    }

    /// The first `width` numbers of some rows of a matrix, one row after the other.
    fn pick(
        &self,
        from: &Buffer<f64>,
        stride: usize,
        picked: &[usize],
        width: usize,
        to: &Buffer<f64>,
    ) -> Result<(), Fault> {
        self.pick_to(from, stride, picked, width, to.at(0))
    }

    /// The same to an address that has room for them.
    fn pick_to(
        &self,
        from: &Buffer<f64>,
        stride: usize,
        picked: &[usize],
        width: usize,
        to: u64,
    ) -> Result<(), Fault> {
        let rows = picked.len();
        self.gpu.fits(rows, MOST_PICKED)?;
        if let Some(beyond) = picked.iter().find(|&&i| i >= self.count) {
            return Err(Fault::Call { reason: format!("there is no candidate {beyond}") });
        }
        let order: Vec<u32> = picked.iter().map(|&i| i as u32).collect();
        self.order.fill(0, &order, &self.stream)?;
        let source = Source { address: from.at(0), stride, single: false };
        let picked = Picked { source, order: self.order.at(0), first: 0, rows };
        // SAFETY: all picked rows are there, and the buffers have room for as many.
        unsafe { gather(&self.gpu, &self.stream, picked, width, [NONE; 3], (to, width, false)) }
    }

    fn read_rows(&self, picked: &[usize]) -> Result<Mat<f64>, Fault> {
        self.gpu.bind()?;
        let have = self.have;
        if have == 0 {
            return Ok(Mat::zeros(picked.len(), 0));
        }
        let mut flat = vec![0.0; picked.len() * have];
        for (some, to) in picked.chunks(MOST_PICKED).zip(flat.chunks_mut(MOST_PICKED * have)) {
            self.pick(&self.f, self.most, some, have, &self.rows)?;
            self.rows.read(0, to, &self.stream)?;
        }
        Ok(MatRef::from_row_major_slice(&flat, picked.len(), have).to_owned())
    }

    /// `L` of the landmarks, and the length of each row of its inverse.
    fn read_factor(&mut self, picked: &[usize]) -> Result<(Mat<f64>, Vec<f64>), Fault> {
        self.gpu.bind()?;
        let n = picked.len();
        self.gpu.fits(n, self.have)?;
        let (upper, lower) =
            (Buffer::<f64>::new(&self.gpu, n * n)?, Buffer::<f64>::new(&self.gpu, n * n)?);
        for (part, some) in picked.chunks(MOST_PICKED).enumerate() {
            self.pick_to(&self.f, self.most, some, n, upper.at(part * MOST_PICKED * n))?;
        }
        let (squares, width) = (Buffer::<f64>::new(&self.gpu, n)?, Arg::from(n as u32));
        let kernels = &self.gpu.kernels;
        // SAFETY: the matrices have these sizes and stay until the stream was awaited.
        unsafe {
            self.blas.transpose(n, (upper.at(0), n), (lower.at(0), n))?;
            // What is above the diagonal of L is rounding.
            let args = [upper.at(0).into(), width, NONE];
            over_all(&self.stream, &kernels.diagonal_of, (n, n), &args)?;
            self.blas.solve_lower(false, (n, n), (lower.at(0), n), (upper.at(0), n))?;
            over_all(
                &self.stream,
                &kernels.row_squares,
                (n, 1),
                &[upper.at(0).into(), width, squares.at(0).into()],
            )?;
        }
        let mut rows = vec![0.0; n];
        squares.read(0, &mut rows, &self.stream)?;
        rows.iter_mut().for_each(|square| *square = square.sqrt());
        let mut factor = self.made.take(1, n).pop().unwrap_or_else(|| Mat::zeros(n, n));
        let columns = factor.as_mut().col_iter_mut().filter_map(|column| {
            column.try_as_col_major_mut().map(|column| &mut column.as_slice_mut()[..n])
        });
        let staging = Staging::new(&self.gpu, 8 * n)?;
        staging.receive(&lower, n, vec![columns.take(n).collect()], &self.stream)?;
        factor.truncate(n, n);
        Ok((factor, rows))
    }

    fn add(&mut self, picked: &[usize], factor: MatRef<'_, f64>) -> Result<Vec<f64>, Fault> {
        self.gpu.bind()?;
        let (new, have, w) = (picked.len(), self.have, self.width);
        self.gpu.fits(have + new, self.most)?;
        self.gpu.fits(factor.nrows() * factor.ncols(), MOST_PICKED * MOST_PICKED)?;
        self.factor.fill(0, &columns(factor), &self.stream)?;
        if have > 0 {
            self.pick(&self.f, self.most, picked, have, &self.rows)?;
        }
        self.pick(&self.x, w, picked, w, &self.points)?;
        let all = Points {
            at: self.x.at(0),
            count: self.count,
            across: 1,
            along: w,
            squares: self.own.at(0),
        };
        let points = Points {
            at: self.points.at(0),
            count: new,
            across: 1,
            along: w,
            squares: self.squares.at(0),
        };
        let (blas, ld, behind) = (&self.blas, self.most, self.f.at(have));
        // SAFETY: the buffers have room for as many landmarks and candidates, and stay.
        unsafe {
            launch_squares(&self.gpu, &self.stream, (points.at, w), (w, new), points.squares)?;
            kernel_block(
                &self.gpu,
                (blas, &self.stream),
                self.kernel,
                w,
                points,
                all,
                (behind, ld),
            )?;
            if have > 0 {
                let known = (self.f.at(0), ld);
                blas.gemm(
                    (true, false),
                    (new, self.count, have),
                    (-1.0, 1.0),
                    (self.rows.at(0), have),
                    known,
                    (behind, ld),
                )?;
            }
            blas.solve_lower(false, (new, self.count), (self.factor.at(0), new), (behind, ld))?;
            launch_squares(
                &self.gpu,
                &self.stream,
                (behind, ld),
                (new, self.count),
                self.explained.at(0),
            )?;
        }
        self.have += new;
        let mut explained = vec![0.0; self.count];
        self.explained.read(0, &mut explained, &self.stream)?;
        Ok(explained)
    }

    fn error(&self, fault: Fault) -> sarl::Error {
        sarl::Error::Device { device: self.gpu.name(), message: fault.to_string() }
    }
}

impl Candidates for Pool {
    fn rows(&mut self, picked: &[usize]) -> sarl::Result<Mat<f64>> {
        self.read_rows(picked).map_err(|fault| self.error(fault))
    }

    fn extend(&mut self, picked: &[usize], factor: MatRef<'_, f64>) -> sarl::Result<Vec<f64>> {
        self.add(picked, factor).map_err(|fault| self.error(fault))
    }

    fn factor(&mut self, picked: &[usize]) -> sarl::Result<(Mat<f64>, Vec<f64>)> {
        self.read_factor(picked).map_err(|fault| self.error(fault))
    }
}
