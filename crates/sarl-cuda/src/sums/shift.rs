//! The shift: rows that outweigh all before them move it to their mean, so that the many keep their
//! digits.

use sarl::engine::Rows;

use super::{SHIFT_ROWS, Sums};
use crate::fault::Fault;
use crate::features::{Picked, Source};
use crate::kernels::{Arg, NONE, over_all, over_rows};

impl Sums {
    /// Moves the shift before rows that outweigh all rows before them, to their mean.
    pub(super) fn follow(
        &mut self,
        at: usize,
        source: Source,
        rows: &Rows<'_>,
    ) -> Result<(), Fault> {
        let classes = self.classes();
        let before: f64 = self.weights.iter().step_by(classes).sum();
        let weight = |i: &u32| rows.roots.map_or(1.0, |roots| roots[*i as usize].powi(2));
        let coming: f64 = rows.order.iter().map(weight).sum();
        if coming <= before || rows.order.is_empty() {
            return Ok(());
        }
        // It works with `u` and on all sums.
        self.finish()?;
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

    pub(super) unsafe fn add_means(
        &self,
        at: usize,
        source: Source,
        (first, rows): (usize, usize),
        total: f64,
    ) -> Result<(), Fault> {
        let (slot, ld, columns) = (&self.slots[at], self.room.ld, self.room.columns);
        let picked = Picked { source, order: slot.order.at(0), first, rows };
        let u = self.u.at(0);
        // SAFETY: the caller's promise.
        unsafe {
            self.features.apply(&self.gpu, (&self.blas, &self.compute), picked, (u, ld))?;
            self.bring_beside(at, (first, rows), [NONE; 3], (u, false))?;
            let args: [Arg; 9] = [
                u.into(),
                (ld as u64).into(),
                (columns as u32).into(),
                slot.order.at(0).into(),
                (first as u64).into(),
                (rows as u32).into(),
                slot.roots(),
                total.into(),
                self.means.at(0).into(),
            ];
            over_rows(&self.compute, &self.gpu.kernels.add_means, (columns, 1), &args)
        }
    }

    pub(super) fn move_shift(&mut self, to: &[f64]) -> Result<(), Fault> {
        let (columns, ld, classes) = (self.room.columns, self.room.ld, self.classes());
        if self.begun {
            let mut from = vec![0.0; columns];
            self.shift.read(0, &mut from, &self.compute)?;
            let step: Vec<f64> = from.iter().zip(to).map(|(from, to)| from - to).collect();
            self.means.fill(0, &step, &self.compute)?;
            let weights = &self.weights_there;
            weights.fill(0, &self.weights, &self.compute)?;
            for fold in 0..self.folds {
                let (scatter, sum) = (
                    self.scatter.at(fold * columns * ld),
                    self.tables.at(fold * classes * columns),
                );
                let weight = self.weights[fold * classes];
                let args = [
                    scatter.into(),
                    (ld as u64).into(),
                    (columns as u32).into(),
                    sum.into(),
                    self.means.at(0).into(),
                    weight.into(),
                ];
                // SAFETY: these are the buffers of this size.
                unsafe {
                    over_all(&self.compute, &self.gpu.kernels.recentre, (columns, columns), &args)
                }?;
                let args = [
                    sum.into(),
                    (columns as u32).into(),
                    weights.at(fold * classes).into(),
                    self.means.at(0).into(),
                ];
                // SAFETY: as before.
                unsafe {
                    over_all(
                        &self.compute,
                        &self.gpu.kernels.recentre_tables,
                        (columns, classes),
                        &args,
                    )
                }?;
            }
            self.compute.synchronize()?;
        }
        self.begun = true;
        self.shift.fill(0, to, &self.compute)?;
        Ok(self.compute.synchronize()?)
    }
}
