//! A block of rows on a device, with the lists that say what is done with each row.

use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};
use sarl::engine::{Rows, SumsPlan};

use crate::fault::Fault;
use crate::features::Source;
use crate::gpu::Gpu;
use crate::kernels::{Arg, NONE, over_rows};
use crate::memory::{Buffer, Pinned};
use crate::room::{Room, SEGMENT};

/// See the module.
pub(crate) struct Slot {
    /// Inputs of the rows; four bytes to a number here, whatever they are.
    pub(crate) inputs: Buffer<f32>,
    pub(crate) beside: Buffer<f64>,
    pub(crate) order: Buffer<u32>,
    roots: Buffer<f64>,
    weighted: bool,
    /// Rows of a chunk by class, where their segments start, and which cells these belong to.
    pub(crate) positions: Buffer<u32>,
    pub(crate) segments: Buffer<u32>,
    pub(crate) cells: Buffer<u32>,
    pub(crate) cell_ranges: Buffer<u32>,
    bad: Buffer<u32>,
    found: Pinned,
    /// The lists are there; the rows are there; the work on them is done.
    pub(crate) listed: CudaEvent,
    pub(crate) ready: CudaEvent,
    pub(crate) done: CudaEvent,
}

/// Some rows of a slot, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) first: usize,
    pub(crate) rows: usize,
    /// The fold, the first row in the chunk and the rows of each part.
    pub(crate) folds: Vec<(usize, usize, usize)>,
    /// The first of its segments, and how many; the same of its cells.
    pub(crate) segments: (usize, usize),
    pub(crate) cells: (usize, usize),
}

/// What is done with the rows of a block.
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) chunks: Vec<Chunk>,
    /// The weight of each cell: folds × classes.
    pub(crate) weights: Vec<f64>,
    positions: Vec<u32>,
    segments: Vec<u32>,
    cells: Vec<u32>,
    /// Where the segments of each cell start and end.
    cell_ranges: Vec<u32>,
}

impl Slot {
    pub(crate) fn new(gpu: &Arc<Gpu>, plan: &SumsPlan<'_>, room: &Room) -> Result<Self, Fault> {
        let numbers = plan.features.inputs * if plan.single { 1 } else { 2 };
        let chunks = room.block.div_ceil(room.chunk);
        let event = || gpu.context().new_event(None);
        Ok(Slot {
            inputs: Buffer::new(gpu, room.block * numbers)?,
            beside: Buffer::new(gpu, room.block * plan.beside)?,
            order: Buffer::new(gpu, room.block)?,
            roots: Buffer::new(gpu, room.block)?,
            weighted: false,
            positions: Buffer::new(gpu, (1 + plan.groups.len()) * room.block)?,
            segments: Buffer::new(gpu, chunks * (room.segments + 1))?,
            cells: Buffer::new(gpu, chunks * room.cells)?,
            cell_ranges: Buffer::new(gpu, chunks * 2 * room.cells)?,
            bad: Buffer::new(gpu, 1)?,
            found: Pinned::new(gpu, 4)?,
            listed: event()?,
            ready: event()?,
            done: event()?,
        })
    }

    /// The roots of the weights, as an argument.
    pub(crate) fn roots(&self) -> Arg {
        if self.weighted { self.roots.at(0).into() } else { NONE }
    }

    /// The number of the first row with a value that is not finite.
    pub(crate) fn check(
        &mut self,
        gpu: &Gpu,
        stream: &CudaStream,
        source: Source,
        width: usize,
        count: usize,
    ) -> Result<Option<usize>, Fault> {
        self.bad.fill(0, &[u32::MAX], stream)?;
        let kernel = if source.single { &gpu.kernels.check_f } else { &gpu.kernels.check_d };
        let args = [
            source.address.into(),
            (source.stride as u64).into(),
            (width as u32).into(),
            (count as u32).into(),
            self.bad.at(0).into(),
        ];
        // SAFETY: the source has so many rows, and stays until the stream is done, which is awaited.
        unsafe {
            over_rows(stream, kernel, (width, count), &args)?;
            self.found.receive(4, self.bad.at(0), stream)?;
        }
        stream.synchronize()?;
        let found = self.found.numbers::<u32>(1)?[0];
        Ok((found != u32::MAX).then_some(found as usize))
    }

    /// Copies everything but the inputs.
    pub(crate) fn bring(
        &mut self,
        rows: &Rows<'_>,
        pieces: &Pieces,
        stream: &CudaStream,
    ) -> Result<(), Fault> {
        self.beside.fill(0, rows.beside, stream)?;
        self.order.fill(0, rows.order, stream)?;
        self.weighted = rows.roots.is_some();
        self.roots.fill(0, rows.roots.unwrap_or(&[]), stream)?;
        self.positions.fill(0, &pieces.positions, stream)?;
        self.segments.fill(0, &pieces.segments, stream)?;
        self.cells.fill(0, &pieces.cells, stream)?;
        self.cell_ranges.fill(0, &pieces.cell_ranges, stream)
    }
}

impl Pieces {
    pub(crate) fn new(rows: &Rows<'_>, (groups, folds): (&[usize], usize), chunk: usize) -> Self {
        let classes = 1 + groups.iter().sum::<usize>();
        let mut pieces = Pieces { weights: vec![0.0; folds * classes], ..Default::default() };
        for first in (0..rows.order.len()).step_by(chunk) {
            let count = chunk.min(rows.order.len() - first);
            pieces.add(rows, groups, (first, count), classes);
        }
        pieces
    }

    fn add(
        &mut self,
        rows: &Rows<'_>,
        groups: &[usize],
        (first, count): (usize, usize),
        classes: usize,
    ) {
        let mut chunk = Chunk { first, rows: count, ..Default::default() };
        chunk.segments.0 = self.segments.len();
        chunk.cells.0 = self.cells.len();
        let mut start = 0;
        for (fold, &end) in rows.ends.iter().enumerate() {
            let until = end.clamp(first, first + count) - first;
            if until > start {
                chunk.folds.push((fold, start, until - start));
                self.add_fold(rows, groups, (first, start, until), (fold * classes, &mut chunk));
                start = until;
            }
        }
        self.segments.push(self.positions.len() as u32);
        self.chunks.push(chunk);
    }

    /// The rows of one fold by class, for all groups.
    fn add_fold(
        &mut self,
        rows: &Rows<'_>,
        groups: &[usize],
        (first, start, until): (usize, usize, usize),
        (table, chunk): (usize, &mut Chunk),
    ) {
        let order = &rows.order[first..];
        let weight = |p: usize| rows.roots.map_or(1.0, |roots| roots[order[p] as usize].powi(2));
        self.weights[table] += (start..until).map(weight).sum::<f64>();
        let first_segment = chunk.segments.1;
        let mut cell = table + 1;
        // Where each row has a class of the first group, all rows are the segments of that group.
        let mut classed = groups.iter().zip(rows.codes).take(1).any(|(&size, codes)| {
            (start..until).all(|p| (codes[order[p] as usize] as usize) < size)
        });
        if !classed {
            self.add_cell(table, (start..until).map(|p| p as u32), chunk);
        }
        for (&size, codes) in groups.iter().zip(rows.codes) {
            let mut members: Vec<Vec<u32>> = vec![Vec::new(); size];
            for p in start..until {
                if let Some(members) = members.get_mut(codes[order[p] as usize] as usize) {
                    members.push(p as u32);
                }
            }
            for (k, members) in members.into_iter().enumerate().filter(|m| !m.1.is_empty()) {
                self.weights[cell + k] += members.iter().map(|&p| weight(p as usize)).sum::<f64>();
                self.add_cell(cell + k, members.into_iter(), chunk);
            }
            if std::mem::take(&mut classed) {
                self.add_range(table, first_segment, chunk);
            }
            cell += size;
        }
    }

    /// A cell of the segments from `first` on.
    fn add_range(&mut self, cell: usize, first: usize, chunk: &mut Chunk) {
        self.cells.push(cell as u32);
        self.cell_ranges.extend([first as u32, chunk.segments.1 as u32]);
        chunk.cells.1 += 1;
    }

    fn add_cell(&mut self, cell: usize, members: impl Iterator<Item = u32>, chunk: &mut Chunk) {
        let first = chunk.segments.1;
        for (i, member) in members.enumerate() {
            if i % SEGMENT == 0 {
                self.segments.push(self.positions.len() as u32);
                chunk.segments.1 += 1;
            }
            self.positions.push(member);
        }
        self.add_range(cell, first, chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_cell_of_each_group() {
        let codes: Vec<u32> = (0..300).map(|i| i % 3).collect();
        let order: Vec<u32> = (0..300).rev().collect();
        let roots: Vec<f64> = (0..300).map(|i| 1.0 + f64::from(i)).collect();
        let rows = Rows {
            beside: &[],
            order: &order,
            ends: &[120, 300],
            roots: Some(&roots),
            codes: &[&codes],
        };
        let pieces = Pieces::new(&rows, (&[3], 2), 200);
        assert_eq!(pieces.chunks[0].folds, [(0, 0, 120), (1, 120, 80)]);
        assert_eq!(pieces.chunks[1].folds, [(1, 0, 100)]);
        // Adding up what the lists say gives what a loop over the rows gives.
        let mut found = vec![0.0; 2 * 4];
        for chunk in &pieces.chunks {
            for k in 0..chunk.cells.1 {
                let range = &pieces.cell_ranges[2 * (chunk.cells.0 + k)..];
                for s in range[0]..range[1] {
                    let of = &pieces.segments[chunk.segments.0 + s as usize..];
                    for &p in &pieces.positions[of[0] as usize..of[1] as usize] {
                        let row = order[chunk.first + p as usize] as usize;
                        found[pieces.cells[chunk.cells.0 + k] as usize] += roots[row] * roots[row];
                    }
                }
            }
        }
        let mut expected = vec![0.0; 2 * 4];
        for (at, &row) in order.iter().enumerate() {
            let (fold, weight) = (usize::from(at >= 120), roots[row as usize].powi(2));
            expected[fold * 4] += weight;
            expected[fold * 4 + 1 + codes[row as usize] as usize] += weight;
        }
        assert_eq!(found, expected);
        assert_eq!(pieces.weights, expected);
    }
}
