//! FARE: a decision tree whose leaves are the representation, with a certificate of its own.
//!
//! ```text
//! split to the least  (1 − γ) Gini_y + γ (1 − 1/q − Gini_s),   Gini = 1 − Σ share²
//! ```
//!
//! Jovanović, Balunović, Dimitrov, Vechev 2023, FARE: Provably fair representation learning with practical
//! certificates. The tree grows from its best leaf on, to a given number of leaves. A split is at one of a
//! few quantiles of a column, and each side has a least number of rows. Instead of the median of a leaf
//! z is the leaf itself, as one column for each: attackers lose nothing by that.
//!
//! [`certificate`] bounds the balanced accuracy of every adversary from three sets of rows, as the paper does:
//! the share of each group from the rows of the tree, the groups in each leaf from rows to validate on, and the
//! mean over leaves from rows to test on.

use faer::{Mat, MatRef};
use sarl::cells::{Counts, Node, Partition, clopper_pearson_upper};
use sarl_eval::Labels;

use crate::error::{Error, Result};
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_width};

/// Fair trees with a certificate.
pub struct Fare;

/// Leaves of the rival; the experiments try others.
const LEAVES: usize = 20;
/// The least rows of a leaf.
const LEAST: usize = 100;
/// Places where a column may be cut.
const PLACES: usize = 32;
/// Parts of δ: the shares of groups, the leaves, the mean over leaves.
const PARTS: [f64; 3] = [0.1, 0.8, 0.1];

impl Rival for Fare {
    fn about(&self) -> About {
        About {
            name: "fare",
            title: "FARE",
            description: "leaves of a fair decision tree, with a certificate (Jovanović et al. 2023)",
            hiding: Some(0.5),
            is_random: false,
        }
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let classes = |labels: &[Labels]| matches!(labels, [Labels::Classes { .. }]);
        if classes(targets) && classes(sensitives) {
            return Ok(());
        }
        let reason = "it is made for one target and one sensitive attribute, both of classes";
        Err(Error::Unfit { rival: self.title(), reason })
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        self.accepts(data.targets, data.sensitives)?;
        let tree = tree(data, how.hiding, LEAVES, LEAST, how.stop)?;
        Ok(Box::new(Leaves { tree, inputs: data.x.ncols() }))
    }
}

struct Leaves {
    tree: Partition,
    inputs: usize,
}

impl Encode for Leaves {
    fn dim(&self) -> usize {
        self.tree.cells()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.inputs)?;
        let mut z = Mat::zeros(x.nrows(), self.dim());
        for i in 0..x.nrows() {
            z[(i, self.tree.cell(|axis| x[(i, axis)]) as usize)] = 1.0;
        }
        Ok(z)
    }
}

/// Rows in a leaf that may still be split.
struct Leaf {
    node: usize,
    rows: Vec<u32>,
    best: Option<Split>,
}

struct Split {
    axis: usize,
    at: f64,
    gain: f64,
}

/// The codes of the target and of the sensitive attribute.
struct Codes<'a> {
    y: (&'a [u32], usize),
    s: (&'a [u32], usize),
    gamma: f64,
}

impl Codes<'_> {
    /// What a leaf adds to what is made small: its rows times their impurity. Counts of y come first.
    fn impurity(&self, counts: &[f64]) -> f64 {
        let (y, s) = counts.split_at(self.y.1);
        let rows: f64 = y.iter().sum();
        if rows == 0.0 {
            return 0.0;
        }
        let gini = |counts: &[f64]| 1.0 - counts.iter().map(|n| (n / rows).powi(2)).sum::<f64>();
        let most = 1.0 - 1.0 / self.s.1 as f64;
        rows * ((1.0 - self.gamma) * gini(y) + self.gamma * (most - gini(s)))
    }

    fn add(&self, counts: &mut [f64], row: u32) {
        counts[self.y.0[row as usize] as usize] += 1.0;
        counts[self.y.1 + self.s.0[row as usize] as usize] += 1.0;
    }

    fn counts(&self, rows: &[u32]) -> Vec<f64> {
        let mut counts = vec![0.0; self.y.1 + self.s.1];
        rows.iter().for_each(|&row| self.add(&mut counts, row));
        counts
    }
}

/// The tree of at most `leaves` leaves of at least `least` rows, its leaves numbered.
pub fn tree(
    data: &Data<'_>,
    gamma: f64,
    leaves: usize,
    least: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Partition> {
    let ([Labels::Classes { codes: y, count: p }], [Labels::Classes { codes: s, count: q }]) =
        (data.targets, data.sensitives)
    else {
        Fare.accepts(data.targets, data.sensitives)?;
        return Err(Error::Empty);
    };
    let codes = Codes { y: (y, *p), s: (s, *q), gamma };
    let places: Vec<Vec<f64>> = (0..data.x.ncols()).map(|j| places(data.x, j)).collect();
    let leaf = |node: usize, rows: Vec<u32>| {
        let best = best_split(&rows, data.x, &codes, &places, least);
        Leaf { node, rows, best }
    };
    let mut nodes = vec![Node::Cell(0)];
    let mut open = vec![leaf(0, (0..data.x.nrows() as u32).collect())];
    while open.len() < leaves {
        if stop() {
            return Err(Error::Interrupted);
        }
        let gain = |l: &Leaf| l.best.as_ref().map_or(0.0, |split| split.gain);
        let at = (0..open.len()).max_by(|&a, &b| gain(&open[a]).total_cmp(&gain(&open[b])));
        let Some(at) = at else { break };
        let Some(split) = open[at].best.take().filter(|split| split.gain > 0.0) else { break };
        let Leaf { node, rows, .. } = open.swap_remove(at);
        let is_below = |&row: &u32| data.x[(row as usize, split.axis)] <= split.at;
        let (low, high): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_below);
        let (below, above) = (nodes.len(), nodes.len() + 1);
        nodes.extend([Node::Cell(0); 2]);
        nodes[node] = Node::Cut { axis: split.axis, at: split.at, below, above };
        open.push(leaf(below, low));
        open.push(leaf(above, high));
    }
    for (i, leaf) in open.iter().enumerate() {
        nodes[leaf.node] = Node::Cell(i as u32);
    }
    Ok(Partition::from_nodes(nodes))
}

/// Where a column may be cut: between quantiles that differ.
fn places(x: MatRef<'_, f64>, axis: usize) -> Vec<f64> {
    let mut values: Vec<f64> = x.col(axis).iter().copied().collect();
    values.sort_by(f64::total_cmp);
    let mut places: Vec<f64> = (1..PLACES)
        .filter_map(|i| {
            let below = *values.get(i * values.len() / PLACES)?;
            let above = values[i * values.len() / PLACES..].iter().find(|v| **v > below)?;
            Some(below + 0.5 * (above - below))
        })
        .collect();
    // A rare value at the lower end has no quantile of its own.
    if let (Some(first), Some(second)) =
        (values.first(), values.iter().find(|v| Some(*v) > values.first()))
    {
        places.insert(0, first + 0.5 * (second - first));
    }
    places.dedup();
    places
}

fn best_split(
    rows: &[u32],
    x: MatRef<'_, f64>,
    codes: &Codes<'_>,
    places: &[Vec<f64>],
    least: usize,
) -> Option<Split> {
    if rows.len() < 2 * least {
        return None;
    }
    let all = codes.counts(rows);
    let whole = codes.impurity(&all);
    let width = all.len();
    let mut best: Option<Split> = None;
    for (axis, places) in places.iter().enumerate() {
        // One table of counts for each stretch between places.
        let mut counts = vec![0.0; width * (places.len() + 1)];
        for &row in rows {
            let value = x[(row as usize, axis)];
            let stretch = places.partition_point(|place| *place < value);
            codes.add(&mut counts[stretch * width..][..width], row);
        }
        let mut below = vec![0.0; width];
        for (i, &at) in places.iter().enumerate() {
            below.iter_mut().zip(&counts[i * width..]).for_each(|(sum, n)| *sum += n);
            let count: f64 = below[..codes.y.1].iter().sum();
            if count < least as f64 || rows.len() as f64 - count < least as f64 {
                continue;
            }
            let above: Vec<f64> = all.iter().zip(&below).map(|(a, b)| a - b).collect();
            let gain = whole - codes.impurity(&below) - codes.impurity(&above);
            if best.as_ref().is_none_or(|b| gain > b.gain) {
                best = Some(Split { axis, at, gain });
            }
        }
    }
    best
}

/// The advantage that no adversary exceeds with confidence 1 − δ: rows of the tree, rows to validate on and
/// rows to test on, each counted by leaf and group.
pub fn certificate(tree: &Counts, validation: &Counts, test: &Counts, delta: f64) -> f64 {
    let (q, cells) = (tree.groups(), tree.cells());
    let groups = q as f64;
    let [of_groups, of_leaves, of_mean] = PARTS.map(|part| part * delta);
    let upper = clopper_pearson_upper;
    // 1 / P(s) is largest where P(s) is least.
    let rows = tree.rows();
    let inverse: Vec<f64> = tree
        .sizes()
        .iter()
        .map(|&n| 1.0 / (1.0 - upper(rows - n, rows, of_groups / groups)).max(f64::MIN_POSITIVE))
        .collect();
    let of_leaf = |cell: usize| {
        let counts = validation.cell(cell);
        let here: u64 = counts.iter().sum();
        let level = of_leaves / (cells * q) as f64;
        let each = counts.iter().zip(&inverse);
        each.map(|(&n, inverse)| upper(n, here, level) * inverse / groups).fold(0.0, f64::max)
    };
    let leaves: Vec<f64> = (0..cells).map(of_leaf).collect();
    let all = test.rows() as f64;
    let here = |cell: usize| test.cell(cell).iter().sum::<u64>() as f64;
    let mean = leaves.iter().enumerate().map(|(c, bound)| here(c) * bound).sum::<f64>() / all;
    let (low, high) =
        leaves.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
    let balanced = mean + (high - low) * (-of_mean.ln() / (2.0 * all)).sqrt();
    ((balanced - 1.0 / groups) / (1.0 - 1.0 / groups)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    /// y is in the first column, s in the second.
    fn rows(n: usize) -> (Mat<f64>, [Labels; 1], [Labels; 1]) {
        let x = Mat::from_fn(n, 3, |i, j| ((i * (7 + 4 * j) + i / 7) % 31) as f64);
        let codes = |j: usize| (0..n).map(|i| u32::from(x[(i, j)] > 15.0)).collect::<Vec<_>>();
        let labels = |j: usize| [Labels::Classes { codes: codes(j), count: 2 }];
        let (y, s) = (labels(0), labels(1));
        (x, y, s)
    }

    fn counts(tree: &Partition, x: &Mat<f64>, s: &[Labels; 1]) -> Counts {
        let mut counts = Counts::new(tree.cells(), 2);
        let [Labels::Classes { codes, .. }] = s else { return counts };
        for (i, &group) in codes.iter().enumerate() {
            counts.add(tree.cell(|axis| x[(i, axis)]), group);
        }
        counts
    }

    #[test]
    fn the_tree_cuts_what_it_keeps_and_not_what_it_hides() {
        let (x, y, s) = rows(2000);
        let data = Data { x: x.as_ref(), targets: &y, sensitives: &s };
        let keeping = tree(&data, 0.0, 2, 10, &|| false).unwrap();
        assert!(matches!(keeping.nodes()[0], Node::Cut { axis: 0, .. }));
        let advantage = |tree: &Partition| counts(tree, &x, &s).observed().advantage;
        let [open, fair] = [0.0, 0.9].map(|g| tree(&data, g, 16, 20, &|| false).unwrap());
        assert!(advantage(&fair) <= advantage(&open));
    }

    #[test]
    fn the_certificate_is_above_what_is_seen_and_falls_with_rows() {
        let bound = |n: usize| {
            let (x, y, s) = rows(n);
            let data = Data { x: x.as_ref(), targets: &y, sensitives: &s };
            let tree = tree(&data, 0.5, 4, 20, &|| false).unwrap();
            let counts = counts(&tree, &x, &s);
            let bound = certificate(&counts, &counts, &counts, 0.05);
            assert!(bound >= counts.observed().advantage);
            bound
        };
        assert!(bound(20_000) < bound(1000));
    }
}
