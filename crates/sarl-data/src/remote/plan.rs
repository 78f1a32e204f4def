//! What of an object will be read, and in which requests.

use std::ops::Range;

/// Bytes of a block: the unit of what is kept.
pub(crate) const BLOCK: u64 = 256 * 1024;
/// Blocks of a request at most. A smaller object comes in one request.
pub(super) const RUN: u64 = 32;

/// Requests for parts of an object, as ranges of blocks in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    runs: Vec<Range<u64>>,
}

impl Plan {
    /// All of an object of so many bytes, from its beginning to its end.
    pub(crate) fn whole(size: u64) -> Self {
        Self::of(size, std::iter::once(0..size))
    }

    /// The blocks in which these bytes lie.
    pub(crate) fn of(size: u64, bytes: impl IntoIterator<Item = Range<u64>>) -> Self {
        let last = size.div_ceil(BLOCK);
        let blocks = |r: Range<u64>| r.start / BLOCK..r.end.div_ceil(BLOCK).min(last);
        let mut wanted: Vec<Range<u64>> = match last <= RUN {
            true => std::iter::once(0..last).collect(),
            false => bytes.into_iter().map(blocks).collect(),
        };
        wanted.sort_by_key(|run| run.start);
        let mut runs: Vec<Range<u64>> = Vec::new();
        for mut next in wanted {
            next.start = next.start.max(runs.last().map_or(0, |run| run.end));
            while next.start < next.end {
                match runs.last_mut() {
                    Some(run) if run.end == next.start && run.end - run.start < RUN => {
                        run.end = next.end.min(run.start + RUN);
                        next.start = run.end;
                    }
                    _ => {
                        runs.push(next.start..next.end.min(next.start + RUN));
                        next.start = next.end.min(next.start + RUN);
                    }
                }
            }
        }
        Self { runs }
    }

    /// The requests.
    pub(crate) fn runs(&self) -> &[Range<u64>] {
        &self.runs
    }

    /// The request that brings a block.
    pub(super) fn place(&self, block: u64) -> Option<usize> {
        let place = self.runs.partition_point(|run| run.end <= block);
        self.runs.get(place).is_some_and(|run| run.contains(&block)).then_some(place)
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "plans of one run")]
mod tests {
    use super::*;

    #[test]
    fn small_objects_come_whole() {
        assert_eq!(Plan::of(RUN * BLOCK, [9..10]).runs(), [0..RUN]);
        assert_eq!(Plan::whole(1).runs(), [0..1]);
        assert_eq!(Plan::whole(0).place(0), None);
    }

    #[test]
    fn every_wanted_block_is_in_one_run() {
        let size = 1000 * BLOCK + 7;
        let wanted =
            [5 * BLOCK + 1..40 * BLOCK, 900 * BLOCK..size, 40 * BLOCK..41 * BLOCK + 1, 7..8, 9..9];
        let plan = Plan::of(size, wanted.clone());
        assert!(plan.runs().iter().all(|run| run.end - run.start <= RUN && run.start < run.end));
        assert!(plan.runs().windows(2).all(|pair| pair[0].end <= pair[1].start));
        for block in 0..1001 {
            let bytes = block * BLOCK..(block + 1) * BLOCK;
            let is_wanted = wanted
                .iter()
                .any(|w| w.start < w.end && w.start < bytes.end && bytes.start < w.end);
            let place = plan.place(block);
            assert_eq!(place.is_some(), is_wanted, "{block}");
            assert!(place.is_none_or(|place| plan.runs()[place].contains(&block)));
        }
        assert_eq!(Plan::whole(size).runs().len(), 32);
    }
}
