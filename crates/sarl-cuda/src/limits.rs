//! What a device can do at most, measured: the rates that benchmarks are compared with.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cudarc::driver::CudaStream;
use rayon::prelude::*;
use sarl::Precision;
use sarl::engine::{Accumulator, FeaturePlan, Placed, Rows, SumsPlan, Values};

use crate::blas::{Blas, Kind};
use crate::engine::Cuda;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::memory::{Buffer, Pinned};
use crate::sums::Sums;

/// Runs of which the fastest counts, after one that does not.
const RUNS: usize = 5;

/// The device under the measurements.
pub struct Bench {
    cuda: Cuda,
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    blas: Blas,
}

/// Doubles in page-locked memory.
pub struct Locked {
    memory: Pinned,
    len: usize,
}

impl Locked {
    /// The doubles.
    pub fn numbers(&mut self) -> Result<&mut [f64], Fault> {
        self.memory.numbers(self.len)
    }
}

fn told(error: sarl::Error) -> Fault {
    Fault::Call { reason: error.to_string() }
}

impl Bench {
    /// On the first device of an engine.
    pub fn new(cuda: &Cuda) -> Result<Self, Fault> {
        let gpu = Arc::clone(&cuda.gpus()?[0]);
        gpu.bind()?;
        let stream = gpu.context().new_stream()?;
        let blas = Blas::new(&gpu, &stream)?;
        Ok(Bench { cuda: cuda.clone(), gpu, stream, blas })
    }

    fn seconds(&self, mut work: impl FnMut() -> Result<(), Fault>) -> Result<f64, Fault> {
        let mut best = f64::INFINITY;
        for run in 0..=RUNS {
            self.stream.synchronize()?;
            let start = Instant::now();
            work()?;
            self.stream.synchronize()?;
            if run > 0 {
                best = best.min(start.elapsed().as_secs_f64());
            }
        }
        Ok(best)
    }

    /// Numbers without a pattern: zeros are multiplied faster.
    fn noise(&self, len: usize) -> Result<Buffer<f64>, Fault> {
        let some: Vec<f64> =
            (0..1 << 20).map(|i| ((i as f64 * 0.618_033_988_75).fract() - 0.5) * 2.0).collect();
        let buffer = Buffer::new(&self.gpu, len)?;
        for at in (0..len).step_by(some.len()) {
            buffer.fill(at, &some[..some.len().min(len - at)], &self.stream)?;
        }
        self.stream.synchronize()?;
        Ok(buffer)
    }

    /// cuBLAS in doubles: 2 n³ operations of a square product, in a second, of so many products one after
    /// another. Over a longer time the device does not keep its highest clock.
    pub fn dgemm(&self, n: usize, count: usize) -> Result<f64, Fault> {
        let (a, b, c) =
            (self.noise(n * n)?, self.noise(n * n)?, Buffer::<f64>::new(&self.gpu, n * n)?);
        let (a, b, c) = ((a.at(0), n), (b.at(0), n), (c.at(0), n));
        let time = self.seconds(|| {
            // SAFETY: the matrices have this shape and stay until the stream was awaited.
            let product =
                || unsafe { self.blas.gemm((false, true), (n, n, n), (1.0, 0.0), a, b, c) };
            (0..count).try_for_each(|_| product())
        })?;
        Ok(2.0 * (n as f64).powi(3) * count as f64 / time)
    }

    /// The triangle of n × n from k rows in doubles, by `dsyrk` and by squares: n² k operations each.
    pub fn triangles(&self, n: usize, k: usize) -> Result<(f64, f64), Fault> {
        let (a, c) = (self.noise(n * k)?, Buffer::<f64>::new(&self.gpu, n * n)?);
        let (a, c) = (a.at(0), (c.at(0), n));
        // SAFETY: as before.
        let syrk = self.seconds(|| unsafe { self.blas.syrk((n, k), (a, n), c) })?;
        // SAFETY: as before.
        let tiles =
            self.seconds(|| unsafe { self.blas.triangle((n, k), (a, a, n), c, Kind::Double) })?;
        let work = (n as f64).powi(2) * k as f64;
        Ok((work / syrk, work / tiles))
    }

    /// The triangle in TF32 on the matrix units.
    pub fn tf32(&self, n: usize, k: usize) -> Result<f64, Fault> {
        let (a, c) = (self.noise(n * k)?, Buffer::<f64>::new(&self.gpu, n * n)?);
        let (a, c) = (a.at(0), (c.at(0), n));
        // SAFETY: half of each buffer is used.
        let time =
            self.seconds(|| unsafe { self.blas.triangle((n, k), (a, a, n), c, Kind::Tf32) })?;
        Ok((n as f64).powi(2) * k as f64 / time)
    }

    /// `L⁻¹ b` in doubles: m² n operations.
    pub fn solve(&self, m: usize, n: usize) -> Result<f64, Fault> {
        let l: Vec<f64> = (0..m * m)
            .map(|at| if at % m == at / m { 1.0 } else { 1e-3 * ((at % 7) as f64 - 3.0) })
            .collect();
        let (l, b) = (Buffer::of(&self.gpu, &l)?, self.noise(m * n)?);
        let (l, b) = ((l.at(0), m), (b.at(0), m));
        // SAFETY: as before.
        let time = self.seconds(|| unsafe { self.blas.solve_lower(false, (m, n), l, b) })?;
        Ok((m as f64).powi(2) * n as f64 / time)
    }

    /// Bytes in a second from page-locked memory to the device.
    pub fn copy(&self) -> Result<f64, Fault> {
        let bytes = 256 << 20;
        let (from, to) =
            (Pinned::new(&self.gpu, bytes)?, Buffer::<f32>::new(&self.gpu, bytes / 4)?);
        // SAFETY: the buffer has so many bytes and stays until the stream was awaited.
        let time = self.seconds(|| unsafe { from.send(bytes, to.at(0), &self.stream) })?;
        Ok(bytes as f64 / time)
    }

    /// Bytes in a second that all threads pack from ordinary memory into page-locked pieces.
    pub fn packing(&self, from: &[f64]) -> Result<f64, Fault> {
        let numbers = 1 << 18;
        let pieces = (0..rayon::current_num_threads())
            .map(|_| Pinned::new(&self.gpu, 8 * numbers).map(Mutex::new));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let time = self.seconds(|| {
            from.par_chunks(numbers).try_for_each(|some| {
                let own = rayon::current_thread_index().unwrap_or(0) % pieces.len();
                let mut piece = pieces[own].lock().unwrap_or_else(PoisonError::into_inner);
                piece.numbers::<f64>(some.len())?.copy_from_slice(some);
                Ok(())
            })
        })?;
        Ok(size_of_val(from) as f64 / time)
    }

    /// Room for so many doubles in page-locked memory.
    pub fn locked(&self, len: usize) -> Result<Locked, Fault> {
        Ok(Locked { memory: Pinned::new(&self.gpu, 8 * len)?, len })
    }

    /// Seconds for the moments of `rows` × `width` doubles that lie on the device, in folds, with two
    /// labels of two classes: the first time of two that counts.
    pub fn moments_there(
        &self,
        rows: usize,
        width: usize,
        folds: usize,
        precision: Precision,
    ) -> Result<f64, Fault> {
        let x = self.noise(rows * width)?;
        let features = FeaturePlan { map: sarl::Map::Linear, factor: None, inputs: width };
        let plan =
            SumsPlan { features, beside: 0, groups: vec![2, 2], folds, precision, single: false };
        let mut sums = Sums::new(&self.gpu, &plan, self.cuda.how())?;
        let block = sums.capacity();
        let codes: Vec<u32> = (0..block).map(|i| (i % 2) as u32).collect();
        let mut best = f64::INFINITY;
        for _ in 0..2 {
            self.stream.synchronize()?;
            let start = Instant::now();
            let (device, single) = (self.gpu.context().ordinal(), false);
            let (address, stream) = (x.at(0), Some(self.stream.cu_stream() as u64));
            let all =
                Placed { device, address, rows, columns: width, stride: width, single, stream };
            // As `Moments::push_placed` does it. `x` has all rows and stays.
            sums.look(&all).map_err(told)?;
            for first in (0..rows).step_by(block) {
                let count = block.min(rows - first);
                let order: Vec<u32> =
                    (0..folds).flat_map(|f| (f..count).step_by(folds)).map(|i| i as u32).collect();
                let ends: Vec<usize> = (0..folds)
                    .scan(0, |end, f| {
                        *end += (count - f).div_ceil(folds);
                        Some(*end)
                    })
                    .collect();
                let rows = Rows {
                    beside: &[],
                    order: &order,
                    ends: &ends,
                    roots: None,
                    codes: &[&codes[..count], &codes[..count]],
                };
                let inputs = Values::Placed(all.slice(first, count));
                sums.push(inputs, &|| rows).map_err(told)?;
            }
            sums.finish()?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok(best)
    }
}
