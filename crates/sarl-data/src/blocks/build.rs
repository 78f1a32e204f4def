//! Blocks from pieces: as many rows for each block as were asked for, whatever the
//! batches of the files are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use super::plan::Plan;
use super::{BlockOptions, DataBlock};
use crate::cells::At;
use crate::error::{DataError, Result};
use crate::picks::PickList;
use crate::schema::Schema;
use crate::source::{Piece, Pieces, Source};

/// The blocks of a data set, made one after another.
pub(super) struct Builder {
    source: Source,
    pieces: Pieces,
    /// Memory of blocks that are done with.
    spare: Receiver<Vec<f64>>,
    /// Rows left out so far.
    left_out: Arc<AtomicU64>,
    plan: Plan,
    rows: usize,
    next_row: u64,
    /// The piece that is being taken apart, and how much of it has been taken.
    current: Option<(Piece, usize)>,
}

impl Builder {
    pub(super) fn new(
        source: &Source,
        schema: &Schema,
        options: &BlockOptions,
        rows: usize,
        spare: Receiver<Vec<f64>>,
        left_out: Arc<AtomicU64>,
    ) -> Result<Self> {
        let mut picks = PickList::default();
        let plan = Plan::new(source, schema, options, &mut picks)?;
        let pieces = source.pieces(picks.picks, schema.missing_values(), rows);
        let (source, next_row, current) = (source.clone(), 0, None);
        Ok(Self { source, pieces, spare, left_out, plan, rows, next_row, current })
    }

    /// The next block, which may be empty when all of its rows are left out.
    fn block(&mut self) -> Result<Option<DataBlock>> {
        let mut block =
            self.plan.empty(self.next_row, self.rows, self.spare.try_recv().unwrap_or_default());
        let mut kept = Vec::new();
        let mut taken = 0;
        while taken < self.rows {
            let Some((piece, start)) = self.piece()? else { break };
            let length = (piece.batch.num_rows() - start).min(self.rows - taken);
            let part = piece.batch.slice(start, length);
            let (path, first_row) = (self.source.path(piece.file), piece.first_row + start as u64);
            kept.extend(self.plan.append(&mut block, part, At { path, first_row, kept: None })?);
            taken += length;
            self.current = Some((piece, start + length));
        }
        self.plan.finish(&mut block);
        self.next_row += taken as u64;
        self.left_out.fetch_add((taken - block.rows) as u64, Ordering::Relaxed);
        if let Some(first) = kept.first() {
            let schema = RecordBatch::schema(first);
            let joined = concat_batches(&schema, &kept);
            block.keep =
                Some(joined.map_err(|e| DataError::damaged(self.source.path(0), "data", e))?);
        }
        Ok((taken > 0).then_some(block))
    }

    /// The piece at hand, if rows of it are left, or the next one.
    fn piece(&mut self) -> Result<Option<(Piece, usize)>> {
        if let Some((piece, start)) =
            self.current.take().filter(|(p, start)| *start < p.batch.num_rows())
        {
            return Ok(Some((piece, start)));
        }
        for piece in self.pieces.by_ref() {
            let piece = piece?;
            if piece.batch.num_rows() > 0 {
                return Ok(Some((piece, 0)));
            }
        }
        Ok(None)
    }
}

impl Iterator for Builder {
    type Item = Result<DataBlock>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.block().transpose()? {
                Ok(block) if block.rows == 0 => {}
                block => return Some(block),
            }
        }
    }
}
