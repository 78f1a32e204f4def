//! Encoders on a device: features of a chunk, one product, and z back.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use sarl::engine::{EncodePlan, Encoding, Values};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::features::{Features, Picked, Source, columns};
use crate::gpu::Gpu;
use crate::kernels::over_rows;
use crate::memory::{Buffer, Pinned};
use crate::staging::Staging;

/// Rows of a chunk at most, and the bytes that their features should not exceed.
const CHUNK_ROWS: usize = 65_536;
const CHUNK_BYTES: usize = 512 << 20;

/// An encoder; see the module.
pub(crate) struct Encoder {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    blas: Blas,
    staging: Staging,
    features: Features,
    chunk: usize,
    dim: usize,
    inputs: Buffer<f32>,
    mapped: Buffer<f64>,
    weights: Buffer<f64>,
    offset: Buffer<f64>,
    z: Buffer<f64>,
    back: Pinned,
    bad: Buffer<u32>,
}

impl Encoder {
    pub(crate) fn new(gpu: &Arc<Gpu>, plan: &EncodePlan<'_>) -> Result<Self, Fault> {
        gpu.bind()?;
        let stream = gpu.context().new_stream()?;
        let (m, dim) = (plan.weights.nrows(), plan.weights.ncols());
        let row = 8 * (m + plan.features.inputs + dim).max(1);
        let spare = gpu.free()? / 4;
        let chunk = (CHUNK_BYTES.min(spare) / row).clamp(1, CHUNK_ROWS);
        Ok(Encoder {
            blas: Blas::new(gpu, &stream)?,
            staging: Staging::new(gpu, 8 * plan.features.inputs)?,
            features: Features::new(gpu, &plan.features, (plan.shift, plan.factor), chunk)?,
            inputs: Buffer::new(gpu, 2 * chunk * plan.features.inputs)?,
            mapped: Buffer::new(gpu, chunk * m)?,
            weights: Buffer::of(gpu, &columns(plan.weights))?,
            offset: Buffer::of(gpu, plan.offset)?,
            z: Buffer::new(gpu, chunk * dim)?,
            back: Pinned::new(gpu, (chunk * dim * 8).max(8))?,
            bad: Buffer::new(gpu, 1)?,
            gpu: Arc::clone(gpu),
            stream,
            chunk,
            dim,
        })
    }

    fn rows(&mut self, rows: Values<'_>, to: &mut Vec<f64>) -> Result<Option<usize>, Fault> {
        self.gpu.bind()?;
        let count = match rows {
            Values::Double(rows) => rows.len(),
            Values::Single(rows) => rows.len(),
            Values::Placed(rows) => rows.rows,
        };
        let mut first = 0;
        while first < count {
            let some = self.chunk.min(count - first);
            let part = match rows {
                Values::Double(rows) => Values::Double(&rows[first..first + some]),
                Values::Single(rows) => Values::Single(&rows[first..first + some]),
                Values::Placed(rows) => Values::Placed(rows.slice(first, some)),
            };
            let (address, stride) = (self.inputs.at(0), self.features.inputs);
            // SAFETY: the buffer has room for a chunk of rows.
            unsafe { self.staging.send(part, stride, address, &self.stream) }?;
            let source = match part {
                Values::Placed(x) => {
                    Source { address: x.address, stride: x.stride, single: x.single }
                }
                _ => Source { address, stride, single: matches!(part, Values::Single(_)) },
            };
            // SAFETY: the rows are in the buffer.
            if let Some(bad) = unsafe { self.chunk(source, some, to) }? {
                return Ok(Some(first + bad));
            }
            first += some;
        }
        Ok(None)
    }

    /// z of a chunk behind `to`.
    ///
    /// # Safety
    /// The source has so many rows.
    unsafe fn chunk(
        &mut self,
        source: Source,
        rows: usize,
        to: &mut Vec<f64>,
    ) -> Result<Option<usize>, Fault> {
        let (m, dim, z) = (self.features.outputs, self.dim, self.z.at(0));
        let kernel =
            if source.single { &self.gpu.kernels.check_f } else { &self.gpu.kernels.check_d };
        self.bad.fill(0, &[u32::MAX], &self.stream)?;
        let args = [
            source.address.into(),
            (source.stride as u64).into(),
            (self.features.inputs as u32).into(),
            (rows as u32).into(),
            self.bad.at(0).into(),
        ];
        let picked = Picked { source, order: 0, first: 0, rows };
        // SAFETY: chunks are as large as the buffers; the stream is awaited before anything is read.
        unsafe {
            over_rows(&self.stream, kernel, (self.features.inputs, rows), &args)?;
            self.features.apply(
                &self.gpu,
                (&self.blas, &self.stream),
                picked,
                (self.mapped.at(0), m),
            )?;
            self.blas.gemm(
                (true, false),
                (dim, rows, m),
                (1.0, 0.0),
                (self.weights.at(0), m),
                (self.mapped.at(0), m),
                (z, dim),
            )?;
            let args =
                [z.into(), (dim as u32).into(), (rows as u32).into(), self.offset.at(0).into()];
            over_rows(&self.stream, &self.gpu.kernels.take_offset, (dim, rows), &args)?;
            self.back.receive(rows * dim * 8, z, &self.stream)?;
        }
        let mut bad = [0];
        self.bad.read(0, &mut bad, &self.stream)?;
        if bad[0] != u32::MAX {
            return Ok(Some(bad[0] as usize));
        }
        to.extend_from_slice(self.back.numbers::<f64>(rows * dim)?);
        Ok(None)
    }
}

impl Encoding for Encoder {
    fn encode(&mut self, rows: Values<'_>, to: &mut Vec<f64>) -> sarl::Result<Option<usize>> {
        let device = self.gpu.name();
        self.rows(rows, to)
            .map_err(|fault| sarl::Error::Device { device, message: fault.to_string() })
    }
}
