//! Second moments on a device.
//!
//! A block of rows is copied to one of two slots while the other one is being worked on. Its rows are
//! taken in chunks, in the order of their folds: their features `u`, about the shift and times the root
//! of the weight, are the columns of one matrix, and each fold adds `u uᵀ` to its scatter. Sums of
//! classes are added up in segments of rows, in a fixed order.

mod products;
mod shift;

use std::sync::Arc;

use cudarc::driver::{CudaStream, result};
use faer::Mat;
use sarl::engine::{Accumulator, DeviceSums, NotFinite, Placed, Rows, SumsPlan, Values};
use sarl::{Map, Precision};

use crate::blas::Blas;
use crate::fault::Fault;
use crate::features::{Features, Picked, Source, gather};
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_rows};
use crate::made::Made;
use crate::memory::{Buffer, Plain};
use crate::room::Room;
use crate::slot::{Chunk, Pieces, Slot};
use crate::staging::{Looked, Staging};

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

/// The numbers of one row at an address of the device.
///
/// # Safety
/// They are there.
unsafe fn read_row<T: Plain + Default>(at: u64, columns: usize) -> Result<Vec<T>, Fault> {
    let mut values = vec![T::default(); columns];
    // SAFETY: the caller's promise; the copy is done when this returns.
    unsafe { result::memcpy_dtoh_sync(&mut values, at) }?;
    Ok(values)
}

/// The accumulator; see the module.
pub(crate) struct Sums {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) copy: Arc<CudaStream>,
    pub(crate) compute: Arc<CudaStream>,
    /// That of the lists of a block, which must not wait for its rows.
    lists: Arc<CudaStream>,
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
    /// Room for them there.
    weights_there: Buffer<f64>,
    /// What the sums come back into.
    made: Made,
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
        let lists = gpu.context().new_stream_with_priority(FIRST)?;
        let compute = gpu.context().new_stream()?;
        let linear = matches!(plan.features.map, Map::Linear);
        let blas = Blas::new(gpu, &compute)?;
        let (columns, ld, chunk) = (room.columns, room.ld, room.chunk);
        let classes = 1 + plan.groups.iter().sum::<usize>();
        let single = match how {
            How::Double => None,
            _ => {
                let part = || Buffer::new(gpu, 3 * WIDEN_FAST * ld);
                let parts = if how == How::Fast { Some((part()?, part()?)) } else { None };
                let product = Buffer::new(gpu, columns * ld)?;
                Some(Single { u: Buffer::new(gpu, chunk * ld)?, product, parts })
            }
        };
        let features = Features::new(gpu, &plan.features, (&[], &[]), chunk)?;
        let slot = || Slot::new(gpu, plan, &room);
        let sums = Sums {
            staging: Staging::new(gpu, 8 * plan.features.inputs.max(room.ld))?,
            slots: vec![slot()?, slot()?],
            next: 0,
            scatter: Buffer::new(gpu, plan.folds * columns * ld)?,
            tables: Buffer::new(gpu, plan.folds * classes * columns)?,
            weights: vec![0.0; plan.folds * classes],
            weights_there: Buffer::new(gpu, plan.folds * classes)?,
            made: Made::begin(plan.folds, columns),
            shift: Buffer::new(gpu, columns)?,
            begun: false,
            u: match how == How::Double || !linear {
                true => Buffer::new(gpu, chunk * ld)?,
                false => Buffer::new(gpu, SHIFT_ROWS.min(chunk) * ld)?,
            },
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
            lists,
            blas,
        };
        sums.warm()?;
        Ok(sums)
    }

    /// Classes of all groups, and the one of all rows.
    pub(crate) fn classes(&self) -> usize {
        1 + self.groups.iter().sum::<usize>()
    }

    /// Waits until all rows are added.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        self.gpu.bind()?;
        Ok(self.compute.synchronize()?)
    }

    fn put<'a>(
        &mut self,
        inputs: Values<'_>,
        rows: &(dyn Fn() -> Rows<'a> + Sync),
    ) -> Result<Option<usize>, Fault> {
        self.gpu.bind()?;
        let (count, width) = (inputs.count(), self.features.inputs);
        self.gpu.fits(count, self.room.block)?;
        let at = self.next;
        self.next = 1 - self.next;
        // What the slot held is needed until the work on it is done.
        self.copy.wait(&self.slots[at].done)?;
        self.lists.wait(&self.slots[at].done)?;
        let slot = &mut self.slots[at];
        let source = match inputs {
            Values::Placed(x) => Source { address: x.address, stride: x.stride, single: x.single },
            Values::Single(_) => Source { address: slot.inputs.at(0), stride: width, single: true },
            Values::Double(_) => {
                Source { address: slot.inputs.at(0), stride: width, single: false }
            }
        };
        let (staging, copy) = (&self.staging, &self.copy);
        // The lists are made while the rows are sent.
        let list = || {
            let rows = rows();
            (rows, Pieces::new(&rows, (&self.groups, self.folds), self.room.chunk))
        };
        let (looked, (rows, pieces)) = rayon::join(
            // SAFETY: the slot has room for as many rows as a call may bring.
            || unsafe { staging.send(inputs, width, source.address, copy) },
            list,
        );
        let bad = match (looked?, inputs) {
            (Looked::Found(bad), _) => bad,
            (Looked::Not, Values::Placed(_)) => None,
            (Looked::Not, _) => slot.check(&self.gpu, &self.copy, source, width, count)?,
        };
        if bad.is_some() {
            // What was sent may not be written over before it has arrived.
            self.copy.synchronize()?;
            return Ok(bad);
        }
        slot.bring(&rows, &pieces, &self.lists)?;
        slot.listed.record(&self.lists)?;
        slot.ready.record(&self.copy)?;
        self.compute.wait(&slot.listed)?;
        self.compute.wait(&slot.ready)?;
        self.follow(at, source, &rows)?;
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

    unsafe fn add_chunk(&self, at: usize, source: Source, chunk: &Chunk) -> Result<(), Fault> {
        let (slot, ld) = (&self.slots[at], self.room.ld);
        let (first, rows) = (chunk.first, chunk.rows);
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let shift = |j: usize| Arg::from(self.shift.at(j));
        let behind = [shift(self.features.outputs), NONE, slot.roots()];
        // SAFETY: the caller's promise.
        unsafe {
            let u = match self.features.is_linear() {
                true => {
                    let (to, single) = match &self.single {
                        None => (self.u.at(0), false),
                        Some(single) => (single.u.at(0), true),
                    };
                    let how = [shift(0), NONE, slot.roots()];
                    let width = self.features.inputs;
                    gather(&self.gpu, &self.compute, picked, width, how, (to, ld, single))?;
                    (to, single)
                }
                false => self.map_chunk(slot, picked, self.single.as_ref())?,
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
        let (columns, ld, classes) = (self.room.columns, self.room.ld, self.classes());
        let mut scatters = self.made.take(self.folds, columns);
        self.finish()?;
        let mut shift = vec![0.0; columns];
        self.shift.read(0, &mut shift, &self.compute)?;
        let mut tables = vec![0.0; self.folds * classes * columns];
        self.tables.read(0, &mut tables, &self.compute)?;
        let to = scatters.iter_mut().map(|scatter| {
            let columns = scatter.as_mut().col_iter_mut().filter_map(|column| {
                column.try_as_col_major_mut().map(|column| &mut column.as_slice_mut()[..columns])
            });
            columns.collect()
        });
        self.staging.receive(&self.scatter, ld, to.collect(), &self.compute)?;
        let folds = scatters.into_iter().zip(tables.chunks_exact(classes * columns));
        let folds = folds.map(|(scatter, tables)| {
            let mut first = columns;
            let table = |&size: &usize| {
                let part = &tables[first..first + size * columns];
                first += size * columns;
                Mat::from_fn(columns, size, |i, k| part[k * columns + i])
            };
            DeviceSums {
                tables: self.groups.iter().map(table).collect(),
                sum: tables[..columns].to_vec(),
                scatter,
            }
        });
        Ok((shift, folds.collect()))
    }

    /// One product of zeros: what the libraries load when they are first used, they load now, and not
    /// when rows are on the device and its memory may be somebody else's.
    fn warm(&self) -> Result<(), Fault> {
        let (rows, u) = (self.room.chunk.min(WIDEN), self.u.at(0));
        let single = self.single.as_ref().map(|single| single.u.at(0));
        let chunk = Chunk { rows, folds: vec![(0, 0, rows)], ..Default::default() };
        // SAFETY: `u` is zero and has as many rows.
        unsafe { self.add_products(single.unwrap_or(u), &chunk) }?;
        Ok(self.compute.synchronize()?)
    }

    /// The first value of rows on the device that is not finite.
    fn find(&mut self, x: &Placed) -> Result<Option<NotFinite>, Fault> {
        self.gpu.bind()?;
        // Whoever wrote the rows may still be at it.
        match x.stream {
            // SAFETY: a stream of the context that the rows are of, which its owner has not destroyed
            // while they are lent.
            Some(stream) => unsafe { result::stream::synchronize(stream as _) }?,
            None => self.gpu.context().synchronize()?,
        }
        let source = Source { address: x.address, stride: x.stride, single: x.single };
        let found = self.slots[0].check(&self.gpu, &self.copy, source, x.columns, x.rows)?;
        let Some(row) = found else { return Ok(None) };
        let at = x.slice(row, 1).address;
        let values: Vec<f64> = match x.single {
            // SAFETY: the row lies there.
            true => unsafe { read_row::<f32>(at, x.columns)? }.into_iter().map(f64::from).collect(),
            // SAFETY: as before.
            false => unsafe { read_row::<f64>(at, x.columns)? },
        };
        let column = values.iter().position(|v| !v.is_finite()).unwrap_or(0);
        Ok(Some((row, column, values.get(column).copied().unwrap_or(f64::NAN))))
    }

    fn error(&self, fault: Fault) -> sarl::Error {
        sarl::Error::Device { device: self.gpu.name(), message: fault.to_string() }
    }
}

impl Accumulator for Sums {
    fn capacity(&self) -> usize {
        self.room.block
    }

    fn push<'a>(
        &mut self,
        inputs: Values<'_>,
        rows: &(dyn Fn() -> Rows<'a> + Sync),
    ) -> sarl::Result<Option<usize>> {
        self.put(inputs, rows).map_err(|fault| self.error(fault))
    }

    fn reaches(&self, rows: &Placed) -> bool {
        rows.device == self.gpu.context().ordinal()
    }

    fn look(&mut self, rows: &Placed) -> sarl::Result<Option<NotFinite>> {
        self.find(rows).map_err(|fault| self.error(fault))
    }

    fn wait(&mut self) -> sarl::Result<()> {
        self.finish().map_err(|fault| self.error(fault))
    }

    fn sums(&mut self) -> sarl::Result<(Vec<f64>, Vec<DeviceSums>)> {
        self.read().map_err(|fault| self.error(fault))
    }
}
