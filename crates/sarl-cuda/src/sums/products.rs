//! The products of a chunk, fold by fold, and the sums of its classes.

use super::{How, Single, Sums, WIDEN, WIDEN_FAST};
use crate::blas::Kind;
use crate::fault::Fault;
use crate::kernels::{Arg, over_all, over_rows};
use crate::slot::{Chunk, Slot};

impl Sums {
    /// The products of each fold's rows in a chunk.
    pub(super) unsafe fn add_products(&self, u: u64, chunk: &Chunk) -> Result<(), Fault> {
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
            let most = if single.parts.is_some() { WIDEN_FAST } else { WIDEN };
            for first in (start..start + rows).step_by(most) {
                let some = most.min(start + rows - first);
                // SAFETY: the caller's promise.
                unsafe { self.single_product(single, (from(first), some), scatter) }?;
            }
        }
        Ok(())
    }

    pub(super) unsafe fn single_product(
        &self,
        single: &Single,
        (u, rows): (u64, usize),
        scatter: u64,
    ) -> Result<(), Fault> {
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
                    self.blas.triangle(
                        (columns, 3 * rows),
                        (p, q, ld),
                        (product, ld),
                        Kind::Tf32,
                    )?;
                }
            }
            let args = [scatter.into(), product.into(), long, width];
            over_all(&self.compute, &self.gpu.kernels.widen, (columns, columns), &args)
        }
    }

    pub(super) unsafe fn add_segments(
        &self,
        slot: &Slot,
        (u, single): (u64, bool),
        chunk: &Chunk,
    ) -> Result<(), Fault> {
        let (columns, kernels) = (self.room.columns, &self.gpu.kernels);
        let kernel = if single { &kernels.segments_f } else { &kernels.segments_d };
        let sums = Arg::from(self.segment_sums.at(0));
        let args = [
            u.into(),
            (self.room.ld as u64).into(),
            (columns as u32).into(),
            slot.positions.at(0).into(),
            slot.segments.at(chunk.segments.0).into(),
            slot.order.at(0).into(),
            (chunk.first as u64).into(),
            slot.roots(),
            sums,
        ];
        // SAFETY: the caller's promise; a chunk has no more segments than there is room for.
        unsafe {
            over_all(&self.compute, kernel, (columns, chunk.segments.1), &args)?;
            let args = [
                sums,
                (columns as u32).into(),
                slot.cells.at(chunk.cells.0).into(),
                slot.cell_ranges.at(2 * chunk.cells.0).into(),
                self.tables.at(0).into(),
            ];
            over_all(&self.compute, &kernels.add_segments, (columns, chunk.cells.1), &args)
        }
    }
}
