//! How much memory sums take on a device, and how many rows at a time that leaves room for.

use sarl::engine::SumsPlan;

use crate::fault::Fault;
use crate::features::Features;
use crate::gpu::Gpu;

/// Rows of a chunk at most, and the bytes that their features should not exceed.
const CHUNK_ROWS: usize = 65_536;
const CHUNK_BYTES: usize = 1 << 30;
/// The same for a block, of which two are kept.
const BLOCK_ROWS: usize = 262_144;
const BLOCK_BYTES: usize = 2 << 30;
/// Fewer rows than this at a time are not worth it.
const FEWEST: usize = 256;
/// Rows of a segment of a class.
pub(crate) const SEGMENT: usize = 64;
/// Blocks of a kernel over segments end at 65535.
const MOST_SEGMENTS: usize = 60_000;
/// What is left to the libraries and to others.
const SPARE: usize = 256 << 20;

/// The sizes of all buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Numeric columns, and how far rows of features are apart.
    pub(crate) columns: usize,
    pub(crate) ld: usize,
    /// Rows of a chunk and of a block.
    pub(crate) chunk: usize,
    pub(crate) block: usize,
    /// The most segments and cells of a chunk.
    pub(crate) segments: usize,
    pub(crate) cells: usize,
}

impl Room {
    pub(crate) fn plan(
        gpu: &Gpu,
        plan: &SumsPlan<'_>,
        single: bool,
        fast: bool,
    ) -> Result<Self, Fault> {
        let free = gpu.free()?;
        let room = Self::within(plan, (single, fast), free.saturating_sub(SPARE));
        room.map_err(|needed| {
            let mib = 1 << 20;
            let total = gpu.context().total_mem().unwrap_or(0);
            Fault::Memory { needed: (needed + SPARE) / mib, free: free / mib, total: total / mib }
        })
    }

    /// What fits so many bytes; the least that would do, where nothing does.
    pub(crate) fn within(
        plan: &SumsPlan<'_>,
        (single, fast): (bool, bool),
        bytes: usize,
    ) -> Result<Self, usize> {
        let columns = plan.columns();
        let ld = columns.next_multiple_of(16).max(16);
        let width = plan.features.inputs * if plan.single { 4 } else { 8 } + plan.beside * 8;
        let mut chunk = (CHUNK_BYTES / (8 * ld)).clamp(FEWEST, CHUNK_ROWS);
        let mut block = (BLOCK_BYTES / width.max(1)).clamp(chunk, BLOCK_ROWS);
        loop {
            let groups = 1 + plan.groups.len();
            let cells: usize =
                plan.groups.iter().map(|&g| (g * plan.folds).min(chunk)).sum::<usize>()
                    + plan.folds;
            let segments = groups * chunk.div_ceil(SEGMENT) + cells;
            let room = Room { columns, ld, chunk, block, segments, cells };
            let needed = room.bytes(plan, (single, fast));
            if needed <= bytes && segments <= MOST_SEGMENTS {
                return Ok(room);
            }
            if chunk <= FEWEST {
                return Err(needed);
            }
            chunk = (chunk / 2).max(FEWEST);
            block = (block / 2).max(chunk);
        }
    }

    /// All bytes of an accumulator.
    fn bytes(&self, plan: &SumsPlan<'_>, (single, fast): (bool, bool)) -> usize {
        let Room { columns, ld, chunk, block, segments, cells } = *self;
        let classes = 1 + plan.groups.iter().sum::<usize>();
        let sums = plan.folds * (columns * ld + classes * columns + classes) * 8 + 3 * columns * 8;
        let width = plan.features.inputs * if plan.single { 4 } else { 8 } + plan.beside * 8;
        let chunks = block.div_ceil(chunk);
        let lists = (1 + plan.groups.len()) * block + chunks * (segments + 2 * cells + 2);
        let slots = 2 * (block * (width + 12) + 4 * lists);
        let features =
            Features::fixed_bytes(&plan.features) + chunk * Features::row_bytes(&plan.features);
        let products = if single { 4 * (chunk * ld + columns * ld) } else { 0 };
        let parts = if fast { 2 * 3 * 512 * ld * 4 } else { 0 };
        sums + slots + features + products + parts + chunk * ld * 8 + segments * columns * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sarl::engine::FeaturePlan;
    use sarl::{Map, Precision};

    fn plan(inputs: usize) -> SumsPlan<'static> {
        let features = FeaturePlan { map: Map::Linear, factor: None, inputs };
        SumsPlan {
            features,
            beside: 0,
            groups: vec![2, 2],
            folds: 5,
            precision: Precision::Double,
            single: false,
        }
    }

    #[test]
    fn it_takes_no_more_than_it_may() {
        let plan = plan(1000);
        let roomy = Room::within(&plan, (false, false), usize::MAX).unwrap();
        let all = roomy.bytes(&plan, (false, false));
        let tight = Room::within(&plan, (false, false), all / 4).unwrap();
        assert!(tight.bytes(&plan, (false, false)) <= all / 4);
        assert!(tight.chunk < roomy.chunk && tight.block < roomy.block);
    }

    #[test]
    fn it_says_what_it_needs_at_least() {
        let plan = plan(1000);
        let needed = Room::within(&plan, (false, false), 1 << 20).unwrap_err();
        // Five folds of a thousand columns alone.
        assert!(needed > 5 * 1000 * 1000 * 8);
        assert!(Room::within(&plan, (false, false), needed).is_ok());
    }
}
