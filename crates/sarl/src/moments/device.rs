//! Rows that a device adds up.
//!
//! What a device keeps is a set of moments of its own, about its own shift, beside those that the
//! processor has. [`Moments::settle`] adds it to these as the rows of another machine are added.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::block::{Block, Element, check_finite, row_slice};
use super::lane::Lane;
use super::listed::Listed;
use super::sums::Sums;
use super::{FoldBy, Moments};
use crate::engine::{
    Accumulator, DeviceSums, Engine, FeaturePlan, NotFinite, Placed, SumsPlan, Values,
};
use crate::error::Place;
use crate::features::Map;
use crate::{Error, Result};

/// Where rows come from.
#[derive(Clone, Copy)]
pub(crate) enum Coming {
    /// So many rows in host memory, which are copied only where that pays.
    Here(usize),
    /// From the device itself.
    There,
}

/// What is known of rows that lie on a device.
enum Found {
    /// They lie on another one.
    Elsewhere,
    /// The first value that is not finite.
    Bad(NotFinite),
    Sound,
}

/// A device that takes the rows.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    engine: Arc<dyn Engine>,
    /// Shared by clones until one of them gets more rows.
    running: Option<Arc<Mutex<Running>>>,
    /// Why the processor goes on alone.
    refused: Option<String>,
    /// Whether it has got rows.
    used: bool,
    /// How many rows will come, as far as that is known.
    expected: u64,
}

/// What is on the device, and the counts that belong to it.
struct Running {
    parts: Vec<Part>,
    /// The part that gets the next block.
    next: usize,
    single: bool,
    /// What went wrong while rows were added, so that some of them are missing.
    failed: Option<String>,
}

struct Part {
    accumulator: Box<dyn Accumulator>,
    /// Rows, weights and counts; the rest is on the device.
    sums: Vec<Sums>,
}

impl Part {
    /// The shift and the sums of each fold about it.
    fn whole(&mut self) -> Result<(Vec<f64>, Vec<Sums>)> {
        let (shift, sums) = self.accumulator.sums()?;
        let whole = |(counted, from): (&Sums, DeviceSums)| {
            let mut sums = counted.clone();
            sums.take(from.scatter, from.sum, from.tables);
            sums
        };
        Ok((shift, self.sums.iter().zip(sums).map(whole).collect()))
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sums on {} devices", self.parts.len())
    }
}

impl Moments {
    /// Lets an engine add up the rows that come from now on. They count once they are
    /// [settled](Moments::settle).
    pub fn on(&mut self, engine: Arc<dyn Engine>) -> Result<()> {
        self.settle()?;
        self.device =
            Some(Device { engine, running: None, refused: None, used: false, expected: 0 });
        Ok(())
    }

    /// So many rows will come: an engine that may refuse rows asks for it.
    pub fn expect(&mut self, rows: u64) {
        if let Some(device) = &mut self.device {
            device.expected = rows;
        }
    }

    /// The engine that was named, unless it has refused the rows.
    pub(super) fn engine(&self) -> Option<&dyn Engine> {
        let device = self.device.as_ref().filter(|device| device.refused.is_none());
        device.map(|device| device.engine.as_ref())
    }

    /// Whether an engine was named.
    pub(crate) fn has_engine(&self) -> bool {
        self.device.is_some()
    }

    /// Why the engine that was named leaves the rows to the processor, if it does.
    pub fn refused(&self) -> Option<&str> {
        self.device.as_ref().and_then(|device| device.refused.as_deref())
    }

    /// The device that has added up rows, if one has.
    pub fn device_name(&self) -> Option<String> {
        self.device.as_ref().filter(|device| device.used).map(|device| device.engine.name())
    }

    /// Takes what a device has added up, and leaves it free.
    pub fn settle(&mut self) -> Result<()> {
        let running = self.device.as_ref().and_then(|device| device.running.clone());
        let Some(running) = running else { return Ok(()) };
        {
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            self.check_whole(&running)?;
            let used = |part: &&mut Part| part.sums.iter().any(|sums| sums.rows > 0);
            let parts = running.parts.iter_mut().filter(used).map(Part::whole);
            // All of them before any is added: what fails leaves the moments as they were.
            for (shift, folds) in parts.collect::<Result<Vec<_>>>()? {
                self.take_part(shift, folds)?;
            }
        }
        if let Some(device) = &mut self.device {
            device.running = None;
        }
        Ok(())
    }

    /// Refuses sums in which rows are missing.
    fn check_whole(&self, running: &Running) -> Result<()> {
        let Some(why) = &running.failed else { return Ok(()) };
        let device = self.device.as_ref().map_or_else(String::new, |device| device.engine.name());
        let message = format!("its sums are lost since an error while rows were added: {why}");
        Err(Error::Device { device, message })
    }

    /// Refuses to be read while rows are on a device.
    pub(super) fn check_settled(&self) -> Result<()> {
        match &self.device {
            Some(Device { running: Some(_), .. }) => {
                Err(Error::Unavailable("rows are still on a device: settle the moments first"))
            }
            _ => Ok(()),
        }
    }

    fn take_part(&mut self, shift: Vec<f64>, folds: Vec<Sums>) -> Result<()> {
        if folds.iter().any(|fold| !fold.diagonal_is_finite()) && !self.noise.is_empty() {
            return Err(Error::Unstable);
        }
        if self.lanes.is_empty() {
            let lane = Lane::of(folds, &self.layout, self.options.precision);
            (self.shift, self.lanes) = (shift, Arc::new(vec![lane]));
        } else {
            self.add_folds(&shift, folds);
        }
        Ok(())
    }

    /// Whether a device takes these rows; it is asked for its memory with the first of them.
    pub(crate) fn device_takes(
        &mut self,
        features: FeaturePlan<'_>,
        rows: Coming,
        single: bool,
    ) -> Result<bool> {
        let Some(Device { engine, running, refused, used, expected }) = &mut self.device else {
            return Ok(false);
        };
        if refused.is_some() {
            return Ok(false);
        }
        if let Some(held) = running {
            let shared = Arc::strong_count(held) > 1;
            let held = held.lock().unwrap_or_else(PoisonError::into_inner);
            if !shared && held.failed.is_none() && held.single == single {
                return Ok(true);
            }
            drop(held);
            self.settle()?;
            return self.device_takes(features, rows, single);
        }
        if let Coming::Here(rows) = rows
            && !engine.pays(&features, (*expected).max(rows as u64))
        {
            return Ok(false);
        }
        let plan = SumsPlan {
            features,
            beside: self.layout.columns() - features.outputs(),
            groups: self.layout.groups(),
            folds: self.options.folds,
            precision: self.options.precision,
            single,
        };
        let accumulators = match engine.accumulators(&plan) {
            Ok(accumulators) => accumulators,
            Err(error) if engine.is_optional() => {
                *refused = Some(error.to_string());
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let sums = vec![Sums::counts(&self.layout); self.options.folds];
        let part = |accumulator| Part { accumulator, sums: sums.clone() };
        let parts = accumulators.into_iter().map(part).collect();
        *running = Some(Arc::new(Mutex::new(Running { parts, next: 0, single, failed: None })));
        *used = true;
        Ok(true)
    }

    /// Adds a linear block on the device, if there is one that takes it.
    pub(super) fn push_linear<T: Element>(&mut self, block: &Block<'_, T>) -> Result<bool> {
        let features = FeaturePlan { map: Map::Linear, factor: None, inputs: self.layout.dense };
        if self.device.is_none()
            || !self.device_takes(features, Coming::Here(block.rows()), T::SINGLE)?
        {
            return Ok(false);
        }
        let first = self.seen;
        let capacity = self.device_capacity();
        if block.rows() > capacity {
            // Nothing of a block may be added before all of it is known to be sound.
            check_finite(block.dense, first, Place::Feature)?;
        }
        let mut start = 0;
        while start < block.rows() {
            let part = block.slice(start, capacity.min(block.rows() - start));
            if let Some(row) = self.push_part(&part)? {
                check_finite(block.dense.subrows(start, part.rows()), first, Place::Feature)?;
                let row = first + (start + row) as u64;
                return Err(Error::NotFinite { row, place: Place::Feature(0), value: f64::NAN });
            }
            start += part.rows();
        }
        Ok(true)
    }

    /// Adds rows that lie on a device: `block` has everything of them but their features. Whether they
    /// were added: where there is no engine, or one that need not take them and does not, they must be
    /// [pushed](Moments::push) from host memory. Rows that are refused leave the moments as they were.
    pub fn push_placed(&mut self, x: &Placed, block: &Block<'_, f64>) -> Result<bool> {
        if (x.columns, x.rows) != (self.layout.dense, block.rows()) {
            let (found, expected) = match x.columns == self.layout.dense {
                true => (x.rows, block.rows()),
                false => (x.columns, self.layout.dense),
            };
            return Err(Error::shape("rows or columns on a device", found, expected));
        }
        if self.options.fold_by == FoldBy::Content {
            let why = "folds by content need rows in host memory: copy them there first";
            return Err(Error::Unavailable(why));
        }
        block.check_beside(&self.layout, self.seen)?;
        let features = FeaturePlan { map: Map::Linear, factor: None, inputs: self.layout.dense };
        let optional = self.device.as_ref().is_none_or(|device| device.engine.is_optional());
        if !self.device_takes(features, Coming::There, x.single)? {
            return Ok(false);
        }
        // One look at all rows, before the first of them is added.
        match self.look(x)? {
            Found::Elsewhere if optional => return Ok(false),
            Found::Elsewhere => {
                let why = "the rows lie on another device than the engine's";
                return Err(Error::Unavailable(why));
            }
            Found::Bad((row, column, value)) => {
                let (row, place) = (self.seen + row as u64, Place::Feature(column));
                return Err(Error::NotFinite { row, place, value });
            }
            Found::Sound => {}
        }
        if block.weights.is_some_and(|w| w.iter().all(|&w| w == 0.0)) || block.rows() == 0 {
            self.seen += block.rows() as u64;
            return Ok(true);
        }
        let capacity = self.device_capacity();
        let mut start = 0;
        while start < block.rows() {
            let part = block.slice(start, capacity.min(block.rows() - start));
            let there = Values::Placed(x.slice(start, part.rows()));
            self.push_values(&part, there)?;
            start += part.rows();
        }
        // Their owner may change them from now on.
        let mut running = self.running()?;
        let at = running.next;
        let waited = running.parts[at].accumulator.wait();
        running.failed = waited.as_ref().err().map(Error::to_string);
        waited.map(|()| true)
    }

    fn running(&self) -> Result<MutexGuard<'_, Running>> {
        let running = self.device.as_ref().and_then(|device| device.running.as_ref());
        let running = running.ok_or(Error::Unavailable("there is no device for these rows"))?;
        Ok(running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The first value of rows on a device that is not finite, by the part that reaches them, which gets
    /// the next rows.
    fn look(&mut self, x: &Placed) -> Result<Found> {
        let mut running = self.running()?;
        let Some(at) = running.parts.iter().position(|part| part.accumulator.reaches(x)) else {
            return Ok(Found::Elsewhere);
        };
        running.next = at;
        let found = match x.rows {
            0 => None,
            _ => running.parts[at].accumulator.look(x)?,
        };
        Ok(found.map_or(Found::Sound, Found::Bad))
    }

    /// The most rows that [`Moments::push_part`] takes.
    pub(crate) fn device_capacity(&self) -> usize {
        let running = self.device.as_ref().and_then(|device| device.running.as_ref());
        running.map_or(0, |running| {
            let running = running.lock().unwrap_or_else(PoisonError::into_inner);
            running.parts.iter().map(|part| part.accumulator.capacity()).min().unwrap_or(0)
        })
    }

    /// Hands rows to the device: `dense` are what its map takes, the numbers beside them are those of
    /// the block. The number of the first row that is not finite, if there is one.
    pub(crate) fn push_part<T: Element>(&mut self, block: &Block<'_, T>) -> Result<Option<usize>> {
        let copied;
        let slices: Vec<&[T]> = match block.dense.try_as_row_major().is_some() {
            true => (0..block.rows()).filter_map(|i| row_slice(block.dense, i)).collect(),
            false => {
                let (rows, width) = block.dense.shape();
                let numbers = (0..rows).flat_map(|i| block.dense.row(i).iter().copied());
                copied = numbers.collect::<Vec<T>>();
                copied.chunks_exact(width.max(1)).collect()
            }
        };
        self.push_values(block, T::values(&slices))
    }

    /// The same with the inputs of the rows wherever they are.
    fn push_values<T: Element>(
        &mut self,
        block: &Block<'_, T>,
        inputs: Values<'_>,
    ) -> Result<Option<usize>> {
        let folds = self.next_folds(block)?;
        let (groups, count) = (block.groups(), self.options.folds);
        let found = OnceLock::new();
        let find = || Listed::new(block, &groups, (&folds, count), (&self.layout, &self.pairs));
        let rows = || found.get_or_init(find).rows(&groups);
        let mut running = self.running()?;
        let at = running.next;
        let part = &mut running.parts[at];
        match part.accumulator.push(inputs, &rows) {
            Ok(None) => {}
            Ok(Some(row)) => return Ok(Some(row)),
            Err(error) => {
                running.failed = Some(error.to_string());
                return Err(error);
            }
        }
        let counts = &found.get_or_init(find).counts;
        part.sums.iter_mut().zip(counts).for_each(|(sums, more)| sums.add(more));
        if !matches!(inputs, Values::Placed(_)) {
            running.next = (at + 1) % running.parts.len();
        }
        drop(running);
        self.seen += block.rows() as u64;
        Ok(None)
    }
}
