//! Rows that are added to a fit.

use std::sync::Arc;

use faer::MatRef;
use pyo3::prelude::*;
use sarl::Element;

use crate::arrays::Beside;
use crate::failure::refused;
use crate::fit::Fit;
use crate::work::released;

/// Numbers that are read between two questions whether somebody pressed Ctrl-C.
const CHUNK: usize = 1 << 23;
/// The same where they are multiplied as they are: products of more rows of each fold are faster.
const CHUNK_LINEAR: usize = 1 << 27;

impl Fit {
    pub fn add_here<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        // What was solved may share the sums.
        self.finished = Arc::default();
        let into = Arc::make_mut(&mut self.fit);
        let beside = beside.slice(0, x.nrows())?;
        released(py, threads, || into.push(&beside.with(x)))?.map_err(refused)
    }

    pub fn add<T: Element>(
        &mut self,
        py: Python<'_>,
        x: MatRef<'_, T>,
        beside: &Beside<'_>,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let map = self.fit.map();
        let width = map.map_or(1, sarl::FeatureMap::outputs);
        // Rows that lie apart are read where they are; others are laid out first.
        let apart = x.row_stride() != 1;
        let linear = apart && map.is_some_and(sarl::FeatureMap::is_linear);
        let chunk = if linear { CHUNK_LINEAR } else { CHUNK };
        let mut step = (chunk / x.ncols().max(width).max(1)).max(1);
        // What is refused, or interrupted, leaves the fit as it was.
        let mut fit = Arc::clone(&self.fit);
        if x.nrows() <= step {
            fit = std::mem::replace(&mut self.fit, fit);
        }
        let (mut done, mut start) = (Ok(()), 0);
        while start < x.nrows() {
            let rows = step.min(x.nrows() - start);
            let part = x.subrows(start, rows);
            let beside = beside.slice(start, rows)?;
            let into = Arc::make_mut(&mut fit);
            into.coming(x.nrows() as u64);
            done = released(py, threads, || {
                if apart {
                    return into.push(&beside.with(part));
                }
                let laid = laid_out(part);
                into.push(&beside.with(MatRef::from_row_major_slice(&laid, rows, part.ncols())))
            })?;
            if done.is_err() {
                break;
            }
            start += rows;
            // A device that adds them up is faster with more at a time.
            step = step.max(into.device_rows().unwrap_or(0));
            if let Some(progress) = progress {
                progress.call1((rows,))?;
            }
            py.check_signals()?;
        }
        done.map_err(refused)?;
        // Estimators live long, and the memory of a device is scarce.
        Arc::make_mut(&mut fit).settle().map_err(refused)?;
        self.fit = fit;
        self.finished = Arc::default();
        Ok(())
    }
}

/// Rows one after the other.
fn laid_out<T: Element>(x: MatRef<'_, T>) -> Vec<T> {
    (0..x.nrows()).flat_map(|i| (0..x.ncols()).map(move |j| x[(i, j)])).collect()
}

pub fn pass_by<T: Element>(
    py: Python<'_>,
    fit: &mut sarl::Fit,
    x: MatRef<'_, T>,
    beside: &Beside<'_>,
    landmarks: bool,
    threads: Option<usize>,
) -> PyResult<sarl::Result<()>> {
    let block = beside.slice(0, x.nrows())?;
    released(py, threads, || {
        let block = block.with(x);
        if landmarks { fit.candidates(&block) } else { fit.sample(&block) }
    })
}
