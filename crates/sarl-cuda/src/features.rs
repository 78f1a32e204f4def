//! From inputs to features on the device.

mod block;
mod factor;

pub(crate) use block::{Points, kernel_block, launch_squares};

use std::sync::Arc;

use cudarc::driver::CudaStream;
use faer::MatRef;
use sarl::engine::FeaturePlan;
use sarl::{Kernel, Map};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_rows};
use crate::memory::Buffer;
use factor::{DIAGONAL, Factor};

/// Rows on the device: where the first lies, how far they are apart, and their type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) address: u64,
    pub(crate) stride: usize,
    pub(crate) single: bool,
}

/// Some rows in an order: `first` is the place of the first in it.
#[derive(Clone, Copy)]
pub(crate) struct Picked {
    pub(crate) source: Source,
    /// Where the order lies; 0 for rows as they come.
    pub(crate) order: u64,
    pub(crate) first: usize,
    pub(crate) rows: usize,
}

/// A map with what it needs on the device.
pub(crate) struct Features {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    kind: Kind,
    /// Nothing for features that are the columns themselves.
    factor: Option<Factor>,
    /// What is taken off each input, and what it is multiplied by.
    centre: Option<Buffer<f64>>,
    scale: Option<Buffer<f64>>,
    /// Inputs of a chunk, in their order.
    x: Buffer<f64>,
    /// The squared lengths of these, or their phases.
    beside: Buffer<f64>,
}

enum Kind {
    Linear,
    Kernel { kernel: Kernel, landmarks: Buffer<f64>, squares: Buffer<f64> },
    Fourier { frequencies: Buffer<f64>, half: usize },
}

/// The numbers of a matrix, column after column.
pub(crate) fn columns(a: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.ncols()).flat_map(|j| a.col(j).iter().copied()).collect()
}

impl Features {
    /// Bytes that it takes for one row of a chunk.
    pub(crate) fn row_bytes(plan: &FeaturePlan<'_>) -> usize {
        match plan.map {
            Map::Linear => 0,
            Map::Kernel { .. } => {
                8 * (plan.inputs + 1 + plan.factor.map_or(0, |factor| factor.nrows()))
            }
            Map::Fourier { frequencies } => 8 * (plan.inputs + frequencies.ncols()),
        }
    }

    /// Bytes that it takes whatever the rows.
    pub(crate) fn fixed_bytes(plan: &FeaturePlan<'_>) -> usize {
        let factor =
            plan.factor.map_or(0, |l| l.nrows() * (l.ncols() + DIAGONAL) + DIAGONAL * DIAGONAL);
        8 * (factor + plan.outputs() * (plan.inputs + 1))
    }

    /// `shift` and `scale` are what is done to the inputs first, if anything is; chunks have `rows` at
    /// most.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        plan: &FeaturePlan<'_>,
        (shift, scale): (&[f64], &[f64]),
        rows: usize,
    ) -> Result<Self, Fault> {
        let mut centre = vec![0.0; plan.inputs];
        centre.iter_mut().zip(shift).for_each(|(c, s)| *c = *s);
        let mut padded = scale.to_vec();
        if !scale.is_empty() {
            padded.resize(plan.inputs, 1.0);
        }
        let scale = &padded;
        let mut beside = 0;
        let kind = match plan.map {
            Map::Linear => Kind::Linear,
            Map::Kernel { kernel, landmarks } => {
                beside = rows;
                let (points, squares) = Self::landmarks(kernel, landmarks, &mut centre, scale);
                Kind::Kernel {
                    kernel,
                    landmarks: Buffer::of(gpu, &points)?,
                    squares: Buffer::of(gpu, &squares)?,
                }
            }
            Map::Fourier { frequencies } => {
                let half = frequencies.ncols();
                beside = rows * half;
                Kind::Fourier { frequencies: Buffer::of(gpu, &columns(frequencies))?, half }
            }
        };
        let some =
            |values: &[f64]| (!values.is_empty()).then(|| Buffer::of(gpu, values)).transpose();
        let moved = centre.iter().any(|c| *c != 0.0);
        let linear = matches!(kind, Kind::Linear);
        Ok(Features {
            inputs: plan.inputs,
            outputs: plan.outputs(),
            kind,
            factor: plan.factor.map(|l| Factor::new(gpu, l, rows)).transpose()?,
            centre: if moved { some(&centre)? } else { None },
            scale: some(scale)?,
            x: Buffer::new(gpu, if linear { 0 } else { rows * plan.inputs })?,
            beside: Buffer::new(gpu, beside)?,
        })
    }

    /// Landmarks about the point that distances are taken from, which is added to the centre of the
    /// inputs, and their squared lengths.
    fn landmarks(
        kernel: Kernel,
        u: MatRef<'_, f64>,
        centre: &mut [f64],
        scale: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let count = u.nrows().max(1) as f64;
        // Distances stay, and ‖x‖² + ‖u‖² − 2xᵀu cancels less.
        let about = |j: usize| match kernel {
            Kernel::Rbf { .. } => u.col(j).iter().sum::<f64>() / count,
            _ => 0.0,
        };
        let about: Vec<f64> = (0..u.ncols()).map(about).collect();
        for (j, centre) in centre.iter_mut().enumerate() {
            // (x − shift) · scale − about = (x − (shift + about / scale)) · scale
            *centre += about[j] / scale.get(j).copied().unwrap_or(1.0);
        }
        let points: Vec<f64> = (0..u.ncols())
            .flat_map(|j| u.col(j).iter().map(|v| v - about[j]).collect::<Vec<_>>())
            .collect();
        let m = u.nrows();
        let square = |i: usize| (0..u.ncols()).map(|j| points[j * m + i].powi(2)).sum();
        (points.clone(), (0..m).map(square).collect())
    }

    /// Whether the features are the inputs.
    pub(crate) fn is_linear(&self) -> bool {
        matches!(self.kind, Kind::Linear)
    }

    /// Features of some rows, to doubles `ld` apart.
    ///
    /// # Safety
    /// The rows are there, and so is the room, until the stream is done.
    pub(crate) unsafe fn apply(
        &self,
        gpu: &Gpu,
        (blas, stream): (&Blas, &CudaStream),
        picked: Picked,
        (to, ld): (u64, usize),
    ) -> Result<(), Fault> {
        let (rows, w, m) = (picked.rows, self.inputs, self.outputs);
        let x = self.x.at(0);
        let (end, end_ld) = (to, ld);
        let (to, ld) = self.factor.as_ref().map_or((to, ld), |factor| (factor.columns.at(0), m));
        // SAFETY: chunks have as many rows as the buffers have room for.
        unsafe {
            match &self.kind {
                Kind::Linear => return self.gather(gpu, stream, picked, (to, ld)),
                _ => self.gather(gpu, stream, picked, (x, w))?,
            }
            match &self.kind {
                Kind::Linear => {}
                Kind::Kernel { kernel, landmarks, squares } => {
                    let own = self.beside.at(0);
                    launch_squares(gpu, stream, (x, w), (w, rows), own)?;
                    let points = Points {
                        at: landmarks.at(0),
                        count: m,
                        across: m,
                        along: 1,
                        squares: squares.at(0),
                    };
                    let rows = Points { at: x, count: rows, across: 1, along: w, squares: own };
                    kernel_block(gpu, (blas, stream), *kernel, w, points, rows, (to, ld))?;
                }
                Kind::Fourier { frequencies, half } => {
                    let phase = self.beside.at(0);
                    blas.gemm(
                        (true, false),
                        (*half, rows, w),
                        (1.0, 0.0),
                        (frequencies.at(0), w),
                        (x, w),
                        (phase, *half),
                    )?;
                    let scale = (1.0 / *half as f64).sqrt();
                    let args = [
                        phase.into(),
                        (*half as u32).into(),
                        (rows as u32).into(),
                        scale.into(),
                        to.into(),
                        (ld as u64).into(),
                    ];
                    over_rows(stream, &gpu.kernels.fourier, (*half, rows), &args)?;
                }
            }
            if let Some(factor) = &self.factor {
                factor.solve(blas, (m, rows), (end, end_ld))?;
            }
        }
        Ok(())
    }

    /// Inputs in their order, moved and scaled, as doubles.
    unsafe fn gather(
        &self,
        gpu: &Gpu,
        stream: &CudaStream,
        picked: Picked,
        (to, ld): (u64, usize),
    ) -> Result<(), Fault> {
        let address =
            |buffer: &Option<Buffer<f64>>| buffer.as_ref().map_or(NONE, |b| b.at(0).into());
        let how = [address(&self.centre), address(&self.scale), NONE];
        // SAFETY: the caller's promise.
        unsafe { gather(gpu, stream, picked, self.inputs, how, (to, ld, false)) }
    }
}

/// Numbers of rows in their order: `how` are addresses of what is taken off, of factors, and of the
/// roots of weights.
///
/// # Safety
/// The rows are there, and so is the room, until the stream is done.
pub(crate) unsafe fn gather(
    gpu: &Gpu,
    stream: &CudaStream,
    picked: Picked,
    width: usize,
    how: [Arg; 3],
    (to, ld, single): (u64, usize, bool),
) -> Result<(), Fault> {
    let Picked { source, order, first, rows } = picked;
    let kernel = match (source.single, single) {
        (false, false) => &gpu.kernels.gather_dd,
        (true, false) => &gpu.kernels.gather_fd,
        (false, true) => &gpu.kernels.gather_df,
        (true, true) => &gpu.kernels.gather_ff,
    };
    let args = [
        source.address.into(),
        (source.stride as u64).into(),
        (width as u32).into(),
        order.into(),
        (first as u64).into(),
        (rows as u32).into(),
        how[0],
        how[1],
        how[2],
        to.into(),
        (ld as u64).into(),
    ];
    // SAFETY: the caller's promise.
    unsafe { over_rows(stream, kernel, (width, rows), &args) }
}
