//! Second moments on a device.
//!
//! A block of rows is copied to one of two slots while the other one is being worked on. Its rows are
//! taken in chunks, in the order of their folds: their features `u`, about the shift and times the root
//! of the weight, are the columns of one matrix, and each fold adds `u uᵀ` to its scatter. Sums of
//! classes are added up in segments of rows, in a fixed order: the same rows give the same bits.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use faer::Mat;
use sarl::engine::{Accumulator, DeviceSums, Rows, SumsPlan, Values, scatter_rows};
use sarl::Precision;

use crate::blas::{Blas, Kind};
use crate::fault::Fault;
use crate::features::{Features, Picked, Source, gather};
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_all, over_rows};
use crate::memory::Buffer;
use crate::room::Room;
use crate::slot::Slot;
use crate::staging::Staging;

/// Rows whose mean is the shift, where rows have no weights.
const SHIFT_ROWS: usize = 1024;
/// Rows of a product in single precision, before it is widened.
const WIDEN: usize = 2048;

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
    pub(crate) fn new(gpu: &Arc<Gpu>, plan: &SumsPlan<'_>, products: Products) -> Result<Self, Fault> {
        gpu.bind()?;
        let how = match (plan.precision, products) {
            (Precision::Single, Products::Fast) => How::Fast,
            (Precision::Single, Products::Asked) => How::Single,
            _ => How::Double,
        };
        let room = Room::plan(gpu, plan, how != How::Double, how == How::Fast)?;
        let (copy, compute) = (gpu.context().new_stream()?, gpu.context().new_stream()?);
        let blas = Blas::new(gpu, &compute)?;
        let (columns, ld, chunk) = (room.columns, room.ld, room.chunk);
        let classes = 1 + plan.groups.iter().sum::<usize>();
        let single = match how {
            How::Double => None,
            _ => {
                let part = || Buffer::new(gpu, 3 * WIDEN * ld);
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
            u: Buffer::new(gpu, if how == How::Double || !features.is_linear() { chunk * ld } else { SHIFT_ROWS.min(chunk) * ld })?,
            segment_sums: Buffer::new(gpu, room.segments * columns)?,
            means: Buffer::new(gpu, columns)?,
            groups: plan.groups.clone(),
            folds: plan.folds,
            gpu: Arc::clone(gpu),
            single, features, room, how, copy, compute, blas,
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
    pub(crate) unsafe fn push_there(&mut self, source: Source, rows: &Rows<'_>, count: usize) -> Result<Option<usize>, Fault> {
        self.gpu.bind()?;
        self.put(rows, count, Some(source))
    }

    /// Waits until all rows are added.
    pub(crate) fn wait(&self) -> Result<(), Fault> {
        Ok(self.compute.synchronize()?)
    }

    fn put(&mut self, rows: &Rows<'_>, count: usize, there: Option<Source>) -> Result<Option<usize>, Fault> {
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
        let pieces = slot.bring(rows, count, (&self.groups, self.folds), &self.room, &self.copy)?;
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

    /// Moves the shift before rows that outweigh all rows before them, to their mean.
    fn follow(&mut self, at: usize, source: Source, rows: &Rows<'_>) -> Result<(), Fault> {
        let classes = self.classes();
        let before: f64 = self.weights.iter().step_by(classes).sum();
        let weight = |i: &u32| rows.roots.map_or(1.0, |roots| roots[*i as usize].powi(2));
        let coming: f64 = rows.order.iter().map(weight).sum();
        if coming <= before || rows.order.is_empty() {
            return Ok(());
        }
        let used = match rows.roots {
            Some(_) => rows.order.len(),
            None => rows.order.len().min(SHIFT_ROWS),
        };
        let total: f64 = rows.order[..used].iter().map(weight).sum();
        self.means.clear(&self.compute)?;
        let step = SHIFT_ROWS.min(self.room.chunk);
        for first in (0..used).step_by(step) {
            let some = step.min(used - first);
            // SAFETY: `u` has room for as many rows, and the slot stays.
            unsafe { self.add_means(at, source, (first, some), total) }?;
        }
        let columns = self.room.columns;
        let mut mean = vec![0.0; columns];
        self.means.read(0, &mut mean, &self.compute)?;
        self.move_shift(&mean)
    }

    unsafe fn add_means(&self, at: usize, source: Source, (first, rows): (usize, usize), total: f64) -> Result<(), Fault> {
        let (slot, ld, columns) = (&self.slots[at], self.room.ld, self.room.columns);
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let u = self.u.at(0);
        // SAFETY: the caller's promise.
        unsafe {
            self.features.apply(&self.gpu, (&self.blas, &self.compute), picked, (u, ld))?;
            self.bring_beside(at, (first, rows), [NONE; 3], (u, false))?;
            let args: [Arg; 9] = [
                u.into(), (ld as u64).into(), (columns as u32).into(), slot.order.at(0).into(),
                (first as u64).into(), (rows as u32).into(), slot.roots(), total.into(), self.means.at(0).into(),
            ];
            over_rows(&self.compute, &self.gpu.kernels.add_means, (columns, 1), &args)
        }
    }

    fn move_shift(&mut self, to: &[f64]) -> Result<(), Fault> {
        let (columns, ld, classes) = (self.room.columns, self.room.ld, self.classes());
        if self.begun {
            let mut from = vec![0.0; columns];
            self.shift.read(0, &mut from, &self.compute)?;
            let step: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
            self.means.fill(0, &step, &self.compute)?;
            let weights = Buffer::of(&self.gpu, &self.weights)?;
            for fold in 0..self.folds {
                let (scatter, sum) = (self.scatter.at(fold * columns * ld), self.tables.at(fold * classes * columns));
                let weight = self.weights[fold * classes];
                let args = [scatter.into(), (ld as u64).into(), (columns as u32).into(), sum.into(), self.means.at(0).into(), weight.into()];
                // SAFETY: these are the buffers of this size.
                unsafe { over_all(&self.compute, &self.gpu.kernels.recentre, (columns, columns), &args) }?;
                let args = [sum.into(), (columns as u32).into(), weights.at(fold * classes).into(), self.means.at(0).into()];
                // SAFETY: as before.
                unsafe { over_all(&self.compute, &self.gpu.kernels.recentre_tables, (columns, classes), &args) }?;
            }
            self.compute.synchronize()?;
        }
        self.begun = true;
        self.shift.fill(0, to, &self.compute)
    }

    /// Numbers beside the features, behind them.
    unsafe fn bring_beside(&self, at: usize, (first, rows): (usize, usize), how: [Arg; 3], (u, single): (u64, bool)) -> Result<(), Fault> {
        let (slot, beside) = (&self.slots[at], self.room.columns - self.features.outputs);
        if beside == 0 {
            return Ok(());
        }
        let source = Source { address: slot.beside.at(0), stride: beside, single: false };
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let behind = u + (self.features.outputs * if single { 4 } else { 8 }) as u64;
        // SAFETY: the caller's promise.
        unsafe { gather(&self.gpu, &self.compute, picked, beside, how, (behind, self.room.ld, single)) }
    }

    unsafe fn add_chunk(&self, at: usize, source: Source, chunk: &crate::slot::Chunk) -> Result<(), Fault> {
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
                    gather(&self.gpu, &self.compute, picked, self.features.inputs, how, (self.u.at(0), ld, false))?;
                    (self.u.at(0), false)
                }
                (Some(single), true) => {
                    let how = [shift(0), NONE, slot.roots()];
                    gather(&self.gpu, &self.compute, picked, self.features.inputs, how, (single.u.at(0), ld, true))?;
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
    unsafe fn map_chunk(&self, slot: &Slot, picked: Picked, single: Option<&Single>) -> Result<(u64, bool), Fault> {
        let (u, ld, m, rows) = (self.u.at(0), self.room.ld, self.features.outputs, picked.rows);
        // SAFETY: the caller's promise.
        unsafe {
            self.features.apply(&self.gpu, (&self.blas, &self.compute), picked, (u, ld))?;
            let args = [
                u.into(), (ld as u64).into(), (m as u32).into(), picked.order.into(), (picked.first as u64).into(),
                (rows as u32).into(), self.shift.at(0).into(), slot.roots(),
            ];
            over_rows(&self.compute, &self.gpu.kernels.centre_rows, (m, rows), &args)?;
            let Some(single) = single else { return Ok((u, false)) };
            let to = single.u.at(0);
            let args = [u.into(), to.into(), (ld as u64).into(), (m as u32).into(), (rows as u32).into()];
            over_rows(&self.compute, &self.gpu.kernels.narrow, (m, rows), &args)?;
            Ok((to, true))
        }
    }

    /// The products of each fold's rows in a chunk.
    unsafe fn add_products(&self, u: u64, chunk: &crate::slot::Chunk) -> Result<(), Fault> {
        let (columns, ld) = (self.room.columns, self.room.ld);
        let size = if self.how == How::Double { 8 } else { 4 };
        for &(fold, start, rows) in &chunk.folds {
            let scatter = self.scatter.at(fold * columns * ld);
            let from = |start: usize| u + (start * ld * size) as u64;
            let Some(single) = &self.single else {
                // SAFETY: the caller's promise.
                unsafe { self.blas.syrk((columns, rows), (from(start), ld), (scatter, ld)) }?;
                continue;
            };
            for first in (start..start + rows).step_by(WIDEN) {
                let some = WIDEN.min(start + rows - first);
                // SAFETY: the caller's promise.
                unsafe { self.single_product(single, (from(first), some), scatter) }?;
            }
        }
        Ok(())
    }

    unsafe fn single_product(&self, single: &Single, (u, rows): (u64, usize), scatter: u64) -> Result<(), Fault> {
        let (columns, ld, product) = (self.room.columns, self.room.ld, single.product.at(0));
        let (width, long) = (Arg::from(columns as u32), Arg::from(ld as u64));
        // SAFETY: the caller's promise.
        unsafe {
            match &single.parts {
                None => self.blas.syrk_single((columns, rows), (u, ld), (product, ld))?,
                Some((p, q)) => {
                    let (p, q) = (p.at(0), q.at(0));
                    let args = [u.into(), long, width, (rows as u32).into(), p.into(), q.into()];
                    over_rows(&self.compute, &self.gpu.kernels.split, (columns, rows), &args)?;
                    self.blas.triangle((columns, 3 * rows), (p, q, ld), (product, ld), Kind::Tf32)?;
                }
            }
            let args = [scatter.into(), product.into(), long, width];
            over_all(&self.compute, &self.gpu.kernels.widen, (columns, columns), &args)
        }
    }

    unsafe fn add_segments(&self, slot: &Slot, (u, single): (u64, bool), chunk: &crate::slot::Chunk) -> Result<(), Fault> {
        let (columns, kernels) = (self.room.columns, &self.gpu.kernels);
        let kernel = if single { &kernels.segments_f } else { &kernels.segments_d };
        let sums = Arg::from(self.segment_sums.at(0));
        let args = [
            u.into(), (self.room.ld as u64).into(), (columns as u32).into(), slot.positions.at(0).into(),
            slot.segments.at(chunk.segments.0).into(), slot.order.at(0).into(), (chunk.first as u64).into(),
            slot.roots(), sums,
        ];
        // SAFETY: the caller's promise; a chunk has no more segments than there is room for.
        unsafe {
            over_all(&self.compute, kernel, (columns, chunk.segments.1), &args)?;
            let args = [
                sums, (columns as u32).into(), slot.cells.at(chunk.cells.0).into(),
                slot.cell_starts.at(chunk.cell_starts).into(), self.tables.at(0).into(),
            ];
            over_all(&self.compute, &kernels.add_segments, (columns, chunk.cells.1), &args)
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
            self.staging.receive(&self.scatter, (fold * columns * ld, ld), slices.collect(), &self.compute)?;
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
        self.gpu.bind().and_then(|()| self.put(rows, count, None)).map_err(|fault| self.error(fault))
    }

    fn sums(&mut self) -> sarl::Result<(Vec<f64>, Vec<DeviceSums>)> {
        self.read().map_err(|fault| self.error(fault))
    }
}
