//! Fine cells, from which coarser ones are made: bins of one axis, or boxes by recursive cuts.

use super::measure::Measure;
use super::partition::{Node, Partition};
use super::sample::Sample;

/// Bins of one axis at most.
const BINS: usize = 512;
/// Rows of a bin, where there are enough.
const ROWS_PER_BIN: usize = 25;
/// Boxes of several axes at most.
const BOXES: usize = 64;
/// Places where a box may be cut along an axis.
const PLACES: usize = 16;

/// Fine cells and what is in them.
pub(super) struct Fine {
    /// Where a single axis is cut; empty for boxes.
    pub cuts: Vec<f64>,
    /// The leaves are the fine cells, by their numbers.
    pub partition: Partition,
    pub sums: Vec<Vec<f64>>,
}

/// The bins of z with one column, of equal numbers of rows but for ties.
pub(super) fn bins(sample: &Sample, encoder: usize, measure: &Measure) -> Fine {
    let z = sample.z(encoder);
    let mut sorted = z.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = (sorted.len() / ROWS_PER_BIN).clamp(2, BINS);
    let mut cuts: Vec<f64> = (1..count)
        .filter_map(|b| {
            let at = b * sorted.len() / count;
            let below = *sorted.get(at.checked_sub(1)?)?;
            // Between two values that differ: rows of one value are in one bin.
            let above = *sorted[at..].iter().find(|v| **v > below)?;
            let middle = below + 0.5 * (above - below);
            Some(if middle < above { middle } else { below })
        })
        .collect();
    cuts.dedup();
    let mut sums = vec![vec![0.0; measure.width]; cuts.len() + 1];
    for (i, v) in z.iter().enumerate() {
        sample.add(i, measure, &mut sums[cuts.partition_point(|cut| cut < v)]);
    }
    let leaves: Vec<u32> = (0..sums.len() as u32).collect();
    Fine { partition: Partition::intervals(&cuts, &leaves), cuts, sums }
}

/// Rows of a box that may still be cut.
struct Leaf {
    node: usize,
    rows: Vec<u32>,
    sums: Vec<f64>,
    best: Option<Cut>,
}

struct Cut {
    axis: usize,
    at: f64,
    gain: f64,
}

/// Boxes of z with several columns: the cut that says most about all labels comes first.
pub(super) fn boxes(sample: &Sample, encoder: usize, dim: usize, measure: &Measure) -> Fine {
    let z = sample.z(encoder);
    let n = sample.rows();
    let least = (n / 500).max(ROWS_PER_BIN.min(n / 8)).max(1);
    let mut nodes = vec![Node::Cell(0)];
    let leaf = |node: usize, rows: Vec<u32>| {
        let mut sums = vec![0.0; measure.width];
        rows.iter().for_each(|&i| sample.add(i as usize, measure, &mut sums));
        let mut leaf = Leaf { node, rows, sums, best: None };
        leaf.best = best_cut(&leaf, z, dim, sample, measure, least);
        leaf
    };
    let mut leaves = vec![leaf(0, (0..n as u32).collect())];
    while leaves.len() < BOXES {
        let gain = |l: &Leaf| l.best.as_ref().map_or(0.0, |cut| cut.gain);
        let Some(at) =
            (0..leaves.len()).max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])))
        else {
            break;
        };
        let Some(cut) = leaves[at].best.take().filter(|cut| cut.gain > 0.0) else { break };
        let Leaf { node, rows, .. } = leaves.swap_remove(at);
        let is_below = |i: &u32| z[*i as usize * dim + cut.axis] <= cut.at;
        let (low, high): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_below);
        let (below, above) = (nodes.len(), nodes.len() + 1);
        nodes.extend([Node::Cell(0); 2]);
        nodes[node] = Node::Cut { axis: cut.axis, at: cut.at, below, above };
        leaves.push(leaf(below, low));
        leaves.push(leaf(above, high));
    }
    for (i, leaf) in leaves.iter().enumerate() {
        nodes[leaf.node] = Node::Cell(i as u32);
    }
    let sums = leaves.into_iter().map(|leaf| leaf.sums).collect();
    Fine { cuts: Vec::new(), partition: Partition::from_nodes(nodes), sums }
}

fn best_cut(
    leaf: &Leaf,
    z: &[f64],
    dim: usize,
    sample: &Sample,
    measure: &Measure,
    least: usize,
) -> Option<Cut> {
    if leaf.rows.len() < 2 * least {
        return None;
    }
    let whole = said(measure, &leaf.sums);
    let mut best: Option<Cut> = None;
    for axis in 0..dim {
        let of = |i: u32| z[i as usize * dim + axis];
        let mut order = leaf.rows.clone();
        order.sort_by(|&a, &b| of(a).total_cmp(&of(b)));
        let mut below = vec![0.0; measure.width];
        let mut from = 0;
        for place in 1..PLACES {
            let at = place * order.len() / PLACES;
            order[from..at].iter().for_each(|&i| sample.add(i as usize, measure, &mut below));
            from = at;
            if at < least.max(1) || order.len() - at < least.max(1) {
                continue;
            }
            let (low, high) = (of(order[at - 1]), of(order[at]));
            if low >= high {
                continue;
            }
            let above: Vec<f64> = leaf.sums.iter().zip(&below).map(|(a, b)| a - b).collect();
            let gain = said(measure, &below) + said(measure, &above) - whole;
            if best.as_ref().is_none_or(|b| gain > b.gain) {
                let middle = low + 0.5 * (high - low);
                let at = if middle < high { middle } else { low };
                best = Some(Cut { axis, at, gain });
            }
        }
    }
    best
}

/// How much the sums of a box say about all labels.
fn said(measure: &Measure, sums: &[f64]) -> f64 {
    (0..measure.labels.len()).map(|label| measure.explained(label, sums)).sum()
}
