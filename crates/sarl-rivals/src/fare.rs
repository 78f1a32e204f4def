//! FARE: a decision tree whose leaves are the representation, with a certificate of its own.
//!
//! ```text
//! split to the least  (1 − γ) Gini_y + γ (1 − 1/q − Gini_s),   Gini = 1 − Σ share²
//! ```
//!
//! Jovanović, Balunović, Dimitrov, Vechev 2023, FARE: Provably fair representation learning with practical
//! certificates. The tree grows from its best leaf on, to a given number of leaves of a least number of rows. At each
//! node a column of numbers is cut between any two values. The categories of a column are put in order twice at each
//! node, and cut anywhere: by the mean of y; and in turns from two halves, of a high and of a low share of the
//! largest group (their s of 1), each by the mean of y. The second order lets a cut tell y and mix the groups.
//! Instead of the median of a leaf z is the leaf itself, as one column for each: attackers lose nothing by that.
//!
//! [`certificate`] bounds the balanced accuracy of every adversary from three sets of rows, as the paper does.

use faer::{Mat, MatRef};
use sarl::cells::{Counts, clopper_pearson_upper};
use sarl_eval::Labels;

use crate::error::{Error, Result};
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_width};

/// Fair trees with a certificate.
pub struct Fare;

/// Leaves of the rival; the experiments try others.
const LEAVES: usize = 20;
/// The least rows of a leaf.
const LEAST: usize = 100;
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
        codes(targets, sensitives).map(|_| ())
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        check(self, data, how)?;
        let labels = codes(data.targets, data.sensitives)?;
        let x = columns(data.x, data.categories);
        let growth = Growth { gamma: how.hiding, leaves: LEAVES, least: LEAST, stop: how.stop };
        let tree = Tree::grow(x.as_ref(), data.categories, labels, &growth)?;
        let (categories, inputs) = (data.categories.to_vec(), data.x.ncols());
        Ok(Box::new(Leaves { leaves: tree.leaves(LEAVES), tree, categories, inputs }))
    }
}

/// The codes of a class, and how many classes there are.
pub type Codes<'a> = (&'a [u32], usize);

/// The only target and the only sensitive attribute.
fn codes<'a>(targets: &'a [Labels], sensitives: &'a [Labels]) -> Result<[Codes<'a>; 2]> {
    match (targets, sensitives) {
        ([Labels::Classes { codes: y, count: p }], [Labels::Classes { codes: s, count: q }]) => {
            Ok([(y, *p), (s, *q)])
        }
        _ => {
            let reason = "it is made for one target and one sensitive attribute, both of classes";
            Err(Error::Unfit { rival: Fare.title(), reason })
        }
    }
}

/// One column for each number and, with its codes, for each category. A row without a value of a category
/// has a code beyond the others.
fn columns(x: MatRef<'_, f64>, categories: &[usize]) -> Mat<f64> {
    let numbers = x.ncols() - categories.iter().sum::<usize>();
    let mut start = numbers;
    let mut columns = Mat::zeros(x.nrows(), numbers + categories.len());
    columns.subcols_mut(0, numbers).copy_from(x.subcols(0, numbers));
    for (j, &values) in categories.iter().enumerate() {
        for i in 0..x.nrows() {
            let code = (0..values).find(|v| x[(i, start + v)] > 0.0).unwrap_or(values);
            columns[(i, numbers + j)] = code as f64;
        }
        start += values;
    }
    columns
}

struct Leaves {
    tree: Tree,
    /// The nodes that are leaves.
    leaves: Vec<usize>,
    categories: Vec<usize>,
    inputs: usize,
}

impl Encode for Leaves {
    fn dim(&self) -> usize {
        self.leaves.len()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.inputs)?;
        let x = columns(x, &self.categories);
        let mut z = Mat::zeros(x.nrows(), self.dim());
        for i in 0..x.nrows() {
            let leaf = self.tree.path(|column| x[(i, column)]).last();
            z[(i, self.leaves.iter().position(|node| Some(*node) == leaf).unwrap_or(0))] = 1.0;
        }
        Ok(z)
    }
}

/// A tree. The nodes are in the order in which they were made, the two sides of a split beside each other:
/// the first 2 k − 1 are the tree of k leaves.
pub struct Tree {
    nodes: Vec<Option<Split>>,
}

/// How a tree grows.
pub struct Growth<'a> {
    /// The weight of mixed groups.
    pub gamma: f64,
    /// Leaves at most.
    pub leaves: usize,
    /// The least rows of a leaf.
    pub least: usize,
    /// Asked now and then; the tree ends with [`Error::Interrupted`] when it says so.
    pub stop: &'a dyn Fn() -> bool,
}

struct Split {
    column: usize,
    cut: Cut,
    gain: f64,
    /// The node of the rows below; the next one has the others.
    to: usize,
}

/// Which rows are below a split.
enum Cut {
    AtMost(f64),
    /// For each category whether it is.
    Categories(Vec<bool>),
}

impl Split {
    fn is_below(&self, value: f64) -> bool {
        match &self.cut {
            Cut::AtMost(at) => value <= *at,
            Cut::Categories(are) => are.get(value as usize).is_some_and(|is| *is),
        }
    }
}

impl Tree {
    /// The tree of numbers and, in the last columns, the codes of categories of so many values; by the codes of
    /// the target and of the sensitive attribute.
    pub fn grow(
        x: MatRef<'_, f64>,
        categories: &[usize],
        [y, s]: [Codes<'_>; 2],
        growth: &Growth<'_>,
    ) -> Result<Self> {
        let numbers = x.ncols().saturating_sub(categories.len());
        let column = |j: usize| match j.checked_sub(numbers) {
            None => TreeColumn::number(x.col(j).iter().copied().collect()),
            Some(of) => TreeColumn::category(x.col(j).iter().copied(), categories[of]),
        };
        let group = |group: usize| s.0.iter().filter(|&&code| code as usize == group).count();
        let largest = (0..s.1).max_by_key(|&code| group(code)).unwrap_or(0);
        let grower =
            Grower { largest, columns: (0..x.ncols()).map(column).collect(), y, s, growth };
        let mut nodes = vec![None];
        let all: Vec<u32> = (0..x.nrows() as u32).collect();
        let mut open = vec![(0, grower.best_split(&all), all)];
        while open.len() < growth.leaves {
            if (growth.stop)() {
                return Err(Error::Interrupted);
            }
            let gain = |i: &usize| open[*i].1.as_ref().map_or(0.0, |split| split.gain);
            let best = (0..open.len()).max_by(|a, b| gain(a).total_cmp(&gain(b)));
            let Some(best) = best.filter(|i| gain(i) > 0.0) else { break };
            let (node, Some(mut split), of) = open.swap_remove(best) else { break };
            let is_below = |row: &u32| split.is_below(x[(*row as usize, split.column)]);
            let (below, above): (Vec<u32>, Vec<u32>) = of.into_iter().partition(is_below);
            split.to = nodes.len();
            for (i, side) in [below, above].into_iter().enumerate() {
                open.push((split.to + i, grower.best_split(&side), side));
                nodes.push(None);
            }
            nodes[node] = Some(split);
        }
        Ok(Tree { nodes })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes that are the leaves of the tree of at most so many.
    pub fn leaves(&self, most: usize) -> Vec<usize> {
        let made = self.nodes.len().min((2 * most).saturating_sub(1));
        let is_leaf = |split: &Option<Split>| split.as_ref().is_none_or(|split| split.to >= made);
        (0..made).filter(|&node| is_leaf(&self.nodes[node])).collect()
    }

    /// The nodes that a row passes, from the root to its leaf.
    pub fn path(&self, row: impl Fn(usize) -> f64) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(0), move |&node: &usize| {
            let split = self.nodes[node].as_ref()?;
            Some(split.to + usize::from(!split.is_below(row(split.column))))
        })
    }
}

/// What a tree grows from.
struct Grower<'a> {
    columns: Vec<TreeColumn>,
    y: Codes<'a>,
    s: Codes<'a>,
    /// The largest group.
    largest: usize,
    growth: &'a Growth<'a>,
}

/// A column: for each row the place of its number among all numbers, or its category.
struct TreeColumn {
    codes: Vec<u32>,
    values: usize,
    /// The numbers by size; none of a category.
    numbers: Option<Vec<f64>>,
}

impl TreeColumn {
    fn number(column: Vec<f64>) -> Self {
        let mut numbers = column.clone();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let code = |value: &f64| numbers.partition_point(|number| number < value) as u32;
        let codes = column.iter().map(code).collect();
        TreeColumn { codes, values: numbers.len(), numbers: Some(numbers) }
    }

    /// A category of so many values, and none.
    fn category(column: impl Iterator<Item = f64>, values: usize) -> Self {
        let codes = column.map(|code| (code as u32).min(values as u32)).collect();
        TreeColumn { codes, values: values + 1, numbers: None }
    }

    /// The orders that are tried at a node, where the values that are present have these means of y
    /// and shares of the largest group.
    fn orders(&self, present: Vec<u32>, mean: impl Fn(u32) -> [f64; 2]) -> Vec<Vec<u32>> {
        if self.numbers.is_some() {
            return vec![present];
        }
        let sorted = |codes: &[u32], label: usize| {
            let mut codes: Vec<(f64, u32)> = codes.iter().map(|&c| (mean(c)[label], c)).collect();
            codes.sort_by(|a, b| a.0.total_cmp(&b.0));
            codes.into_iter().map(|(_, code)| code).collect::<Vec<_>>()
        };
        let by_s = sorted(&present, 1);
        let (low, high) = by_s.split_at(by_s.len() / 2);
        let (low, high) = (sorted(low, 0), sorted(high, 0));
        let turns = high.iter().zip(&low).flat_map(|(high, low)| [*high, *low]);
        let turns = turns.chain(high.get(low.len()).copied()).collect();
        vec![sorted(&present, 0), turns]
    }

    /// The cut after so many values of an order. Categories that are not present go to both sides by turns.
    fn cut(&self, order: &[u32], after: usize) -> Cut {
        let number = |i: usize| self.numbers.as_ref().map(|numbers| numbers[order[i] as usize]);
        if let (Some(low), Some(high)) = (number(after - 1), number(after)) {
            let middle = 0.5 * low + 0.5 * high;
            return Cut::AtMost(if middle < high { middle } else { low });
        }
        let mut are: Vec<bool> = (0..self.values).map(|code| code % 2 == 1).collect();
        order.iter().enumerate().for_each(|(i, &code)| are[code as usize] = i < after);
        Cut::Categories(are)
    }
}

impl Grower<'_> {
    /// What a leaf adds to what is made small: its rows times their impurity. Counts of y come first.
    fn impurity(&self, counts: &[f64]) -> f64 {
        let (y, s) = counts.split_at(self.y.1);
        let rows: f64 = y.iter().sum();
        if rows == 0.0 {
            return 0.0;
        }
        let gini = |counts: &[f64]| 1.0 - counts.iter().map(|n| (n / rows).powi(2)).sum::<f64>();
        let (most, gamma) = (1.0 - 1.0 / self.s.1 as f64, self.growth.gamma);
        rows * ((1.0 - gamma) * gini(y) + gamma * (most - gini(s)))
    }

    /// The classes of some rows by the values of a column: counts of y, then of s, for each value.
    fn counts(&self, rows: &[u32], column: &TreeColumn) -> Vec<f64> {
        let width = self.y.1 + self.s.1;
        let mut counts = vec![0.0; width * column.values];
        for row in rows.iter().map(|row| *row as usize) {
            let at = column.codes[row] as usize * width;
            counts[at + self.y.0[row] as usize] += 1.0;
            counts[at + self.y.1 + self.s.0[row] as usize] += 1.0;
        }
        counts
    }

    fn best_split(&self, rows: &[u32]) -> Option<Split> {
        let (least, largest) = (self.growth.least as f64, self.largest);
        let mut best: Option<Split> = None;
        for (j, column) in self.columns.iter().enumerate() {
            let counts = self.counts(rows, column);
            let of = |code: u32| {
                counts.chunks_exact(self.y.1 + self.s.1).nth(code as usize).unwrap_or(&[])
            };
            let size = |counts: &[f64]| counts[..self.y.1].iter().sum::<f64>();
            let mean = |code: u32| {
                let (y, s) = of(code).split_at(self.y.1);
                let y: f64 = (0..).zip(y).map(|(class, n)| f64::from(class) * n).sum();
                [y, s[largest]].map(|sum| sum / size(of(code)))
            };
            let present = (0..column.values as u32).filter(|&code| size(of(code)) > 0.0).collect();
            for order in column.orders(present, mean) {
                let mut above = vec![0.0; self.y.1 + self.s.1];
                order.iter().for_each(|&code| add(&mut above, of(code), 1.0));
                let (mut below, whole) = (vec![0.0; above.len()], self.impurity(&above));
                for (i, &code) in order.iter().enumerate().take(order.len().saturating_sub(1)) {
                    add(&mut below, of(code), 1.0);
                    add(&mut above, of(code), -1.0);
                    if size(&below) < least || size(&above) < least {
                        continue;
                    }
                    let gain = whole - self.impurity(&below) - self.impurity(&above);
                    if best.as_ref().is_none_or(|best| gain > best.gain) {
                        best =
                            Some(Split { column: j, cut: column.cut(&order, i + 1), gain, to: 0 });
                    }
                }
            }
        }
        best
    }
}

/// Adds counts, each times a factor.
fn add(to: &mut [f64], counts: &[f64], times: f64) {
    to.iter_mut().zip(counts).for_each(|(sum, n)| *sum += times * n);
}

/// The advantage that no adversary exceeds with confidence 1 − δ: the share of each group from the rows of the tree,
/// the groups in each leaf from rows to validate on, the mean over leaves from rows to test on.
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

    fn grow(x: &Mat<f64>, categories: &[usize], labels: &[Vec<u32>; 2], growth: [f64; 3]) -> Tree {
        let [gamma, leaves, least] = growth;
        let (leaves, least) = (leaves as usize, least as usize);
        let growth = Growth { gamma, leaves, least, stop: &|| false };
        Tree::grow(x.as_ref(), categories, [(&labels[0], 2), (&labels[1], 2)], &growth).unwrap()
    }

    /// y is in the first column, s in the second.
    fn rows(n: usize) -> (Mat<f64>, [Vec<u32>; 2]) {
        let x = Mat::from_fn(n, 3, |i, j| ((i * (7 + 4 * j) + i / 7) % 31) as f64);
        let labels = [0, 1].map(|j| (0..n).map(|i| u32::from(x[(i, j)] > 15.0)).collect());
        (x, labels)
    }

    /// Of a tree of at most so many leaves.
    fn counts(tree: &Tree, most: usize, x: &Mat<f64>, codes: &[u32]) -> Counts {
        let mut counts = Counts::new(tree.nodes(), 2);
        for (i, &group) in codes.iter().enumerate() {
            tree.path(|column| x[(i, column)]).for_each(|node| counts.add(node as u32, group));
        }
        let leaves = tree.leaves(most).into_iter().map(|node| counts.cell(node).to_vec());
        Counts::from_rows(2, &leaves.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_tree_cuts_what_it_keeps_and_not_what_it_hides() {
        let (x, labels) = rows(2000);
        let keeping = grow(&x, &[], &labels, [0.0, 2.0, 10.0]);
        assert_eq!(keeping.nodes[0].as_ref().unwrap().column, 0);
        let advantage = |tree: &Tree| counts(tree, 16, &x, &labels[1]).observed().advantage;
        let [open, fair] = [0.0, 0.9].map(|gamma| grow(&x, &[], &labels, [gamma, 16.0, 20.0]));
        assert!(advantage(&fair) <= advantage(&open));
    }

    #[test]
    fn a_small_tree_is_the_beginning_of_a_large_one() {
        let (x, labels) = rows(2000);
        let large = grow(&x, &[], &labels, [0.5, 16.0, 20.0]);
        for most in 1..=16 {
            let small = grow(&x, &[], &labels, [0.5, most as f64, 20.0]);
            let of = |tree| labels.each_ref().map(|codes| counts(tree, most, &x, codes));
            assert!(of(&small) == of(&large), "{most}");
        }
    }

    /// Two jobs of men and two of women, where each job of men has the higher share of y: in the order of
    /// y a cut in the middle tells the sex, in the second order it mixes them.
    #[test]
    fn only_the_second_order_finds_a_split_that_mixes_the_groups() {
        let shares = [4, 1, 9, 6];
        let (job, place) = (|i: usize| i / 10, |i: usize| i % 10);
        let x = Mat::from_fn(40, 1, |i, _| job(i) as f64);
        let y = (0..40).map(|i| u32::from(place(i) < shares[job(i)])).collect();
        let s = (0..40).map(|i| u32::from(job(i) > 1)).collect::<Vec<_>>();
        let tree = grow(&x, &[4], &[y, s.clone()], [0.9, 2.0, 5.0]);
        let Cut::Categories(below) = &tree.nodes[0].as_ref().unwrap().cut else {
            unreachable!("jobs are categories")
        };
        let below: Vec<usize> = (0..4).filter(|job| below[*job]).collect();
        assert_eq!(below, [1, 3], "the lower job of women and that of men");
        assert_eq!(counts(&tree, 2, &x, &s).observed().advantage, 0.0);
        // As numbers in the order of y there is one order, and no cut that mixes them is to be had.
        let ranks = Mat::from_fn(40, 1, |i, _| shares[job(i)] as f64);
        let labels = [Vec::from_iter((0..40).map(|i| u32::from(place(i) < shares[job(i)]))), s];
        let tree = grow(&ranks, &[], &labels, [0.9, 2.0, 5.0]);
        let found =
            tree.nodes() == 1 || counts(&tree, 2, &ranks, &labels[1]).observed().advantage > 0.0;
        assert!(found, "one order finds no such split");
    }

    #[test]
    fn one_hot_columns_are_read_as_the_categories_that_they_stand_for() {
        let x = Mat::from_fn(4, 6, |i, j| match j {
            0 => 0.5 * i as f64,
            1..3 => f64::from(u8::from(i % 2 == j - 1)),
            _ => f64::from(u8::from(i == j - 3)),
        });
        let found = columns(x.as_ref(), &[2, 3]);
        let row = |i: usize| [0, 1, 2].map(|j| found[(i, j)]);
        assert_eq!(
            [0, 1, 2, 3].map(row),
            [[0.0, 0.0, 0.0], [0.5, 1.0, 1.0], [1.0, 0.0, 2.0], [1.5, 1.0, 3.0]]
        );
    }

    #[test]
    fn the_certificate_is_above_what_is_seen_and_falls_with_rows() {
        let bound = |n: usize| {
            let (x, labels) = rows(n);
            let tree = grow(&x, &[], &labels, [0.5, 4.0, 20.0]);
            let counts = counts(&tree, 4, &x, &labels[1]);
            let bound = certificate(&counts, &counts, &counts, 0.05);
            assert!(bound >= counts.observed().advantage);
            bound
        };
        assert!(bound(20_000) < bound(1000));
    }
}
