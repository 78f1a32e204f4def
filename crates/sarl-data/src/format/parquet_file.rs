//! Parquet: only the columns asked for are decoded, in batches.
//!
//! With several threads each decodes its share of the columns. Splitting by
//! columns rather than by row groups keeps memory independent of the size of a
//! row group, because all shares stay within a few batches of each other.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;

use super::parquet_pages::dictionaries;
use super::{Batches, Layout, Probed, RowsHint, arranged, columns_of, unique_places};
use crate::ahead::Ahead;
use crate::error::{DataError, Result};
use crate::guard::guarded;
use crate::input::Input;
use crate::opened::Opened;
use crate::remote::Plan;

/// Batches decoded ahead by each thread.
const DEPTH: usize = 3;

/// The footer, parsed once.
#[derive(Clone, Debug)]
pub(super) struct ParquetLayout {
    metadata: ArrowReaderMetadata,
}

fn damaged(path: &Path, error: impl ToString) -> DataError {
    DataError::damaged(path, "Parquet", error)
}

pub(super) fn probe(path: &Input) -> Result<Probed> {
    guarded(path, "Parquet", || look(path))
}

fn look(path: &Input) -> Result<Probed> {
    let file = path.open()?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .map_err(|e| damaged(path, e))?;
    let rows = metadata.metadata().file_metadata().num_rows();
    let rows = u64::try_from(rows).map_err(|_| damaged(path, "negative number of rows"))?;
    if rows == 0 {
        return Err(DataError::NoRows { path: path.to_path_buf() });
    }
    Ok(Probed {
        columns: columns_of(metadata.schema()),
        rows: Some(RowsHint { rows, exact: true }),
        layout: Layout::Parquet(ParquetLayout { metadata }),
    })
}

pub(super) fn read(
    path: &Input,
    layout: &ParquetLayout,
    places: &[usize],
    rows: usize,
    threads: usize,
) -> Result<Batches> {
    let (unique, order) = unique_places(places);
    let plan = plan(path, layout, places).map(Arc::new);
    check_dictionaries(path, layout, &unique, plan.as_ref())?;
    let open = || path.open_planned(plan.as_ref());
    let shares = threads.min(unique.len()).max(1);
    if shares == 1 {
        let reader = part(path, open()?, layout, &unique, rows)?;
        let part = Part { path: path.clone(), reader };
        return Ok(Box::new(Ordered { path: path.clone(), parts: vec![Box::new(part)], order }));
    }
    let parts = unique.chunks(unique.len().div_ceil(shares)).map(|share| {
        let part = Part { path: path.clone(), reader: part(path, open()?, layout, share, rows)? };
        Ok(Box::new(Ahead::spawn(DEPTH, part)) as Batches)
    });
    Ok(Box::new(Ordered { path: path.clone(), parts: parts.collect::<Result<_>>()?, order }))
}

/// Where the columns lie, where they have to be fetched.
pub(super) fn plan(path: &Input, layout: &ParquetLayout, places: &[usize]) -> Option<Plan> {
    let object = path.object()?;
    let metadata = layout.metadata.metadata();
    let schema = layout.metadata.parquet_schema();
    let range = |leaf: usize, group: &RowGroupMetaData| -> Option<Range<u64>> {
        let chunk = group.columns().get(leaf)?;
        let first = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let start = u64::try_from(first.min(chunk.data_page_offset())).ok()?;
        let end = start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?;
        (end <= object.size()).then_some(start..end)
    };
    let wanted: Vec<usize> = (0..schema.num_columns())
        .filter(|leaf| places.contains(&schema.get_column_root_idx(*leaf)))
        .collect();
    let groups = metadata.row_groups().iter();
    let ranges = groups.flat_map(|group| wanted.iter().filter_map(move |leaf| range(*leaf, group)));
    Some(Plan::of(object.size(), ranges))
}

/// Refuses dictionaries that do not fit. They are unpacked, and their values are copied once.
fn check_dictionaries(
    path: &Input,
    layout: &ParquetLayout,
    roots: &[usize],
    plan: Option<&Arc<Plan>>,
) -> Result<()> {
    let schema = layout.metadata.parquet_schema();
    let is_wanted = |leaf: usize| {
        leaf < schema.num_columns()
            && roots.binary_search(&schema.get_column_root_idx(leaf)).is_ok()
    };
    let mut file = path.open_planned(plan)?;
    let bytes = dictionaries(&mut file, layout.metadata.metadata(), is_wanted);
    let bytes = bytes.map_err(|e| damaged(path, e))?;
    sarl_memory::check(bytes.saturating_mul(2)).map_err(|e| DataError::memory(path, e))
}

fn part(
    path: &Input,
    opened: Opened,
    layout: &ParquetLayout,
    roots: &[usize],
    rows: usize,
) -> Result<ParquetRecordBatchReader> {
    let mask = ProjectionMask::roots(layout.metadata.parquet_schema(), roots.iter().copied());
    let builder =
        ParquetRecordBatchReaderBuilder::new_with_metadata(opened, layout.metadata.clone());
    let builder = builder.with_projection(mask).with_batch_size(rows);
    guarded(path, "Parquet", || builder.build().map_err(|e| damaged(path, e)))
}

struct Part {
    path: Input,
    reader: ParquetRecordBatchReader,
}

impl Iterator for Part {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = || self.reader.next().transpose().map_err(|e| damaged(&self.path, e));
        guarded(&self.path, "Parquet", next).transpose()
    }
}

/// The shares of the columns side by side, in the order that was asked for.
struct Ordered {
    path: Input,
    parts: Vec<Batches>,
    order: Vec<usize>,
}

impl Ordered {
    fn joined(&mut self) -> Result<Option<RecordBatch>> {
        let mut joined: Option<RecordBatch> = None;
        let mut ended = 0;
        for part in &mut self.parts {
            match (part.next().transpose()?, joined.take()) {
                (None, before) => {
                    ended += 1;
                    joined = before;
                }
                (Some(batch), None) => joined = Some(batch),
                (Some(batch), Some(before)) => joined = Some(beside(&self.path, before, batch)?),
            }
        }
        if ended != 0 && joined.is_some() {
            return Err(damaged(&self.path, "its columns have different numbers of rows"));
        }
        let arrange =
            |batch: RecordBatch| arranged(&batch, &self.order).map_err(|e| damaged(&self.path, e));
        joined.map(arrange).transpose()
    }
}

fn beside(path: &Path, left: RecordBatch, right: RecordBatch) -> Result<RecordBatch> {
    let fields =
        left.schema().fields().iter().chain(right.schema().fields()).cloned().collect::<Vec<_>>();
    let columns = left.columns().iter().chain(right.columns()).cloned().collect();
    let schema = std::sync::Arc::new(arrow_schema::Schema::new(fields));
    RecordBatch::try_new(schema, columns).map_err(|e| damaged(path, e))
}

impl Iterator for Ordered {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.joined().transpose()
    }
}
