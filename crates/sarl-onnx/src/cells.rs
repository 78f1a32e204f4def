//! Cells: the tree of cuts is followed one step at a time, for all rows at once.
//!
//! Every place of the tree has a column of z, a cut and two places that come next; those of a leaf
//! are the leaf itself. After as many steps as the tree is deep, every row is at its leaf.

use sarl::cells::{Cells, Node};

use crate::graph::{Graph, integer};

/// The cell of each row, −1 where z is not finite, and z moved to the centre of its cell.
pub fn cut(graph: &mut Graph, z: &str, cells: &Cells) -> (String, String) {
    let leaf = leaves(graph, z, cells.partition().nodes());
    let axis = graph.integers(&[1]);
    let cell = graph.node("Squeeze", &[&leaf, &axis], Vec::new());
    let centres = cells.centres();
    let dim = centres.first().map_or(0, Vec::len);
    let centres = graph.doubles(&[centres.len(), dim], centres.iter().flatten().copied());
    let centre = graph.node("Gather", &[&centres, &cell], vec![integer("axis", 0)]);

    // Zero, or NaN where z is not finite: such a row has no cell.
    let zero = graph.node("Sub", &[z, z], Vec::new());
    let centre = graph.node("Add", &[&centre, &zero], Vec::new());
    let whole = graph.node("ReduceSum", &[&zero, &axis], vec![integer("keepdims", 0)]);
    let bad = graph.node("IsNaN", &[&whole], Vec::new());
    let none = graph.integers(&[-1]);
    (graph.node("Where", &[&bad, &none, &cell], Vec::new()), centre)
}

/// The cell of the leaf that each row is led to, rows × 1.
fn leaves(graph: &mut Graph, z: &str, nodes: &[Node]) -> String {
    let (mut axes, mut cuts, mut belows, mut aboves, mut cells) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, node) in nodes.iter().enumerate() {
        let (axis, cut, below, above, cell) = match *node {
            Node::Cut { axis, at, below, above } => (axis, at, below, above, 0),
            Node::Cell(cell) => (0, 0.0, i, i, cell),
        };
        axes.push(axis as i64);
        cuts.push(cut);
        belows.push(below as i64);
        aboves.push(above as i64);
        cells.push(i64::from(cell));
    }
    let [axes, belows, aboves, cells] =
        [axes, belows, aboves, cells].map(|values| graph.integers(&values));
    let cuts = graph.doubles(&[cuts.len()], cuts);
    let pick = |graph: &mut Graph, from: &str, at: &str| {
        graph.node("Gather", &[from, at], vec![integer("axis", 0)])
    };
    let mut at = graph.zeros(z);
    for _ in 0..depth(nodes) {
        let axis = pick(graph, &axes, &at);
        let value = graph.node("GatherElements", &[z, &axis], vec![integer("axis", 1)]);
        let cut = pick(graph, &cuts, &at);
        let is_below = graph.node("LessOrEqual", &[&value, &cut], Vec::new());
        let below = pick(graph, &belows, &at);
        let above = pick(graph, &aboves, &at);
        at = graph.node("Where", &[&is_below, &below, &above], Vec::new());
    }
    pick(graph, &cells, &at)
}

/// The most cuts on the way to a leaf. Nodes come after those that lead to them.
fn depth(nodes: &[Node]) -> usize {
    let mut below: Vec<usize> = vec![0; nodes.len()];
    for (i, node) in nodes.iter().enumerate().rev() {
        if let Node::Cut { below: one, above: other, .. } = *node {
            let of = |to: usize| below.get(to).copied().unwrap_or(0);
            below[i] = 1 + of(one).max(of(other));
        }
    }
    below.first().copied().unwrap_or(0)
}
