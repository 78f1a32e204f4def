//! Second moments on a device.
//!
//! A block of rows is copied to one of two slots while the other one is being worked on. Its rows are
//! taken in chunks, in the order of their folds: their features `u`, about the shift and times the root
//! of the weight, are the columns of one matrix, and each fold adds `u uᵀ` to its scatter. Sums of
//! classes are added up in segments of rows, in a fixed order.

mod products;
mod shift;

use std::sync::Arc;

use cudarc::driver::CudaStream;
use faer::Mat;
use sarl::Precision;
use sarl::engine::{Accumulator, DeviceSums, Rows, SumsPlan, Values, scatter_rows};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::features::{Features, Picked, Source, gather};
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_rows};
use crate::memory::Buffer;
use crate::room::Room;
use crate::slot::{Pieces, Slot};
use crate::staging::Staging;

/// Rows whose mean is the shift, where rows have no weights.
const SHIFT_ROWS: usize = 1024;
/// Rows of a product in single precision, before it is widened.
const WIDEN: usize = 2048;
/// The same on the matrix units, which cut off what does not fit when they add: of 2048 rows that would
/// be more of a variance than what is dropped as rounding.
const WIDEN_FAST: usize = 512;

/// The priority of copies: the driver takes the highest that it has.
const FIRST: i32 = -5;

/// How products are formed on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// As the fit asks: in double or in single precision.
    #[default]
    Asked,
    /// Where the fit asks for single precision, by the matrix units: each number as two of 11 bits.
    Fast,
}

/// The accumulator; see the module.
pub(crate) struct Sums {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) copy: Arc<CudaStream>,
    pub(crate) compute: Arc<CudaStream>,
    blas: Blas,
    staging: Staging,
    features: Features,
    pub(crate) room: Room,
    pub(crate) groups: Vec<usize>,
    pub(crate) folds: usize,
    how: How,
    slots: Vec<Slot>,
    next: usize,
    /// Folds × (columns × columns), lower triangles.
    scatter: Buffer<f64>,
    /// Folds × classes × columns; the first class is that of all rows.
    tables: Buffer<f64>,
    /// The weight of each class, on this side.
    weights: Vec<f64>,
    shift: Buffer<f64>,
    /// Whether the shift is known.
    begun: bool,
    u: Buffer<f64>,
    single: Option<Single>,
    segment_sums: Buffer<f64>,
    means: Buffer<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Double,
    Single,
    Fast,
}

/// What products in single precision need.
struct Single {
    u: Buffer<f32>,
    product: Buffer<f32>,
    /// The parts of numbers for the matrix units.
    parts: Option<(Buffer<f32>, Buffer<f32>)>,
}

impl Sums {
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        plan: &SumsPlan<'_>,
        products: Products,
    ) -> Result<Self, Fault> {
        gpu.bind()?;
        let how = match (plan.precision, products) {
            (Precision::Single, Products::Fast) => How::Fast,
            (Precision::Single, Products::Asked) => How::Single,
            _ => How::Double,
        };
        let room = Room::plan(gpu, plan, how != How::Double, how == How::Fast)?;
        // What comes next goes before the products, which take all of the device.
        let copy = gpu.context().new_stream_with_priority(FIRST)?;
        let compute = gpu.context().new_stream()?;
        let blas = Blas::new(gpu, &compute)?;
        let (columns, ld, chunk) = (room.columns, room.ld, room.chunk);
        let classes = 1 + plan.groups.iter().sum::<usize>();
        let single = match how {
            How::Double => None,
            _ => {
                let part = || Buffer::new(gpu, 3 * WIDEN_FAST * ld);
                let parts = if how == How::Fast { Some((part()?, part()?)) } else { None };
                let (u, product) = (Buffer::new(gpu, chunk * ld)?, Buffer::new(gpu, columns * ld)?);
                Some(Single { u, product, parts })
            }
        };
        let features = Features::new(gpu, &plan.features, (&[], &[]), chunk)?;
        let slot = || Slot::new(gpu, plan, &room);
        Ok(Sums {
            staging: Staging::new(gpu, 8 * plan.features.inputs.max(room.ld))?,
            slots: vec![slot()?, slot()?],
            next: 0,
            scatter: Buffer::new(gpu, plan.folds * columns * ld)?,
            tables: Buffer::new(gpu, plan.folds * classes * columns)?,
            weights: vec![0.0; plan.folds * classes],
            shift: Buffer::new(gpu, columns)?,
            begun: false,
            u: Buffer::new(
                gpu,
                if how == How::Double || !features.is_linear() {
                    chunk * ld
                } else {
                    SHIFT_ROWS.min(chunk) * ld
                },
            )?,
            segment_sums: Buffer::new(gpu, room.segments * columns)?,
            means: Buffer::new(gpu, columns)?,
            groups: plan.groups.clone(),
            folds: plan.folds,
            gpu: Arc::clone(gpu),
            single,
            features,
            room,
            how,
            copy,
            compute,
            blas,
        })
    }

    /// Classes of all groups, and the one of all rows.
    pub(crate) fn classes(&self) -> usize {
        1 + self.groups.iter().sum::<usize>()
    }

    /// Adds rows that lie on this device at `source`.
    ///
    /// # Safety
    /// So many rows are there, and stay until [`Sums::wait`].
    pub(crate) unsafe fn push_there(
        &mut self,
        source: Source,
        rows: &Rows<'_>,
        count: usize,
    ) -> Result<Option<usize>, Fault> {
        self.gpu.bind()?;
        self.put(rows, count, Some(source))
    }

    /// Waits until all rows are added.
    pub(crate) fn wait(&self) -> Result<(), Fault> {
        Ok(self.compute.synchronize()?)
    }

    fn put(
        &mut self,
        rows: &Rows<'_>,
        count: usize,
        there: Option<Source>,
    ) -> Result<Option<usize>, Fault> {
        let pieces = Pieces::new(rows, (&self.groups, self.folds), self.room.chunk);
        let at = self.next;
        self.next = 1 - self.next;
        // What the slot held is needed until the work on it is done.
        self.copy.wait(&self.slots[at].done)?;
        let slot = &mut self.slots[at];
        let source = match there {
            Some(source) => source,
            None => {
                let single = matches!(rows.inputs, Values::Single(_));
                let (address, width) = (slot.inputs.at(0), self.features.inputs);
                // SAFETY: the slot has room for as many rows as a call may bring.
                unsafe { self.staging.send(rows.inputs, width, address, &self.copy) }?;
                Source { address, stride: width, single }
            }
        };
        if let Some(bad) = slot.check(&self.gpu, &self.copy, source, self.features.inputs, count)? {
            return Ok(Some(bad));
        }
        slot.bring(rows, &pieces, &self.copy)?;
        slot.ready.record(&self.copy)?;
        self.compute.wait(&slot.ready)?;
        self.follow(at, source, rows)?;
        for piece in &pieces.chunks {
            // SAFETY: the slot and the source stay until `done` is met.
            unsafe { self.add_chunk(at, source, piece) }?;
        }
        self.slots[at].done.record(&self.compute)?;
        self.weights.iter_mut().zip(&pieces.weights).for_each(|(w, more)| *w += more);
        Ok(None)
    }

    /// Numbers beside the features, behind them.
    unsafe fn bring_beside(
        &self,
        at: usize,
        (first, rows): (usize, usize),
        how: [Arg; 3],
        (u, single): (u64, bool),
    ) -> Result<(), Fault> {
        let (slot, beside) = (&self.slots[at], self.room.columns - self.features.outputs);
        if beside == 0 {
            return Ok(());
        }
        let source = Source { address: slot.beside.at(0), stride: beside, single: false };
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let behind = u + (self.features.outputs * if single { 4 } else { 8 }) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            gather(&self.gpu, &self.compute, picked, beside, how, (behind, self.room.ld, single))
        }
    }

    unsafe fn add_chunk(
        &self,
        at: usize,
        source: Source,
        chunk: &crate::slot::Chunk,
    ) -> Result<(), Fault> {
        let (slot, ld) = (&self.slots[at], self.room.ld);
        let (first, rows) = (chunk.first, chunk.rows);
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let shift = |j: usize| Arg::from(self.shift.at(j));
        let behind = [shift(self.features.outputs), NONE, slot.roots()];
        // SAFETY: the caller's promise.
        unsafe {
            let u = match (&self.single, self.features.is_linear()) {
                (None, true) => {
                    let how = [shift(0), NONE, slot.roots()];
                    gather(
                        &self.gpu,
                        &self.compute,
                        picked,
                        self.features.inputs,
                        how,
                        (self.u.at(0), ld, false),
                    )?;
                    (self.u.at(0), false)
                }
                (Some(single), true) => {
                    let how = [shift(0), NONE, slot.roots()];
                    gather(
                        &self.gpu,
                        &self.compute,
                        picked,
                        self.features.inputs,
                        how,
                        (single.u.at(0), ld, true),
                    )?;
                    (single.u.at(0), true)
                }
                (single, false) => self.map_chunk(slot, picked, single.as_ref())?,
            };
            self.bring_beside(at, (first, rows), behind, u)?;
            self.add_products(u.0, chunk)?;
            self.add_segments(slot, u, chunk)
        }
    }

    /// Features that are not the inputs: computed in doubles, then moved and weighted.
    unsafe fn map_chunk(
        &self,
        slot: &Slot,
        picked: Picked,
        single: Option<&Single>,
    ) -> Result<(u64, bool), Fault> {
        let (u, ld, m, rows) = (self.u.at(0), self.room.ld, self.features.outputs, picked.rows);
        // SAFETY: the caller's promise.
        unsafe {
            self.features.apply(&self.gpu, (&self.blas, &self.compute), picked, (u, ld))?;
            let args = [
                u.into(),
                (ld as u64).into(),
                (m as u32).into(),
                picked.order.into(),
                (picked.first as u64).into(),
                (rows as u32).into(),
                self.shift.at(0).into(),
                slot.roots(),
            ];
            over_rows(&self.compute, &self.gpu.kernels.centre_rows, (m, rows), &args)?;
            let Some(single) = single else { return Ok((u, false)) };
            let to = single.u.at(0);
            let args =
                [u.into(), to.into(), (ld as u64).into(), (m as u32).into(), (rows as u32).into()];
            over_rows(&self.compute, &self.gpu.kernels.narrow, (m, rows), &args)?;
            Ok((to, true))
        }
    }

    fn read(&mut self) -> Result<(Vec<f64>, Vec<DeviceSums>), Fault> {
        self.gpu.bind()?;
        let (columns, ld, classes) = (self.room.columns, self.room.ld, self.classes());
        let mut shift = vec![0.0; columns];
        self.shift.read(0, &mut shift, &self.compute)?;
        let mut folds = Vec::with_capacity(self.folds);
        let mut tables = vec![0.0; classes * columns];
        for fold in 0..self.folds {
            let mut scatter = Mat::<f64>::zeros(scatter_rows(columns), columns);
            // The lower triangle is all that counts, but whole columns are copied faster.
            let slices = scatter.as_mut().col_iter_mut().filter_map(|column| {
                column.try_as_col_major_mut().map(|column| &mut column.as_slice_mut()[..columns])
            });
            self.staging.receive(
                &self.scatter,
                (fold * columns * ld, ld),
                slices.collect(),
                &self.compute,
            )?;
            self.tables.read(fold * classes * columns, &mut tables, &self.compute)?;
            let mut first = columns;
            let table = |&size: &usize| {
                let part = &tables[first..first + size * columns];
                first += size * columns;
                Mat::from_fn(columns, size, |i, k| part[k * columns + i])
            };
            folds.push(DeviceSums {
                tables: self.groups.iter().map(table).collect(),
                sum: tables[..columns].to_vec(),
                scatter,
            });
        }
        Ok((shift, folds))
    }

    fn error(&self, fault: Fault) -> sarl::Error {
        sarl::Error::Device { device: self.gpu.name(), message: fault.to_string() }
    }
}

impl Accumulator for Sums {
    fn capacity(&self) -> usize {
        self.room.block
    }

    fn push(&mut self, rows: &Rows<'_>) -> sarl::Result<Option<usize>> {
        let count = rows.count();
        self.gpu
            .bind()
            .and_then(|()| self.put(rows, count, None))
            .map_err(|fault| self.error(fault))
    }

    fn sums(&mut self) -> sarl::Result<(Vec<f64>, Vec<DeviceSums>)> {
        self.read().map_err(|fault| self.error(fault))
    }
}
