//! Which cell a row of z is in.

use serde::{Deserialize, Serialize};

/// A tree of cuts. A cell can have several places in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    cells: usize,
    nodes: Vec<Node>,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Rows whose z on this axis is at most `at` go to the node `below`, the others to `above`.
    Cut {
        /// A column of z.
        axis: usize,
        /// Where it is cut.
        at: f64,
        /// A later node.
        below: usize,
        /// A later node.
        above: usize,
    },
    /// They are in this cell.
    Cell(u32),
}

impl Partition {
    /// Intervals on the first axis: `cells[i]` lies below `cuts[i]`, the last one above all cuts.
    pub(super) fn intervals(cuts: &[f64], cells: &[u32]) -> Self {
        let mut nodes = Vec::new();
        grow(&mut nodes, cuts, cells);
        Partition::from_nodes(nodes)
    }

    /// A tree; every node comes after the one that leads to it.
    pub fn from_nodes(nodes: Vec<Node>) -> Self {
        let most = nodes.iter().filter_map(|node| match node {
            Node::Cell(cell) => Some(*cell as usize + 1),
            Node::Cut { .. } => None,
        });
        let cells = most.max().unwrap_or(0);
        Partition { cells, nodes }
    }

    /// Gives every leaf the cell that its own number stands for.
    pub(super) fn relabelled(&self, to: &[u32]) -> Self {
        let node = |node: &Node| match node {
            Node::Cell(leaf) => Node::Cell(to[*leaf as usize]),
            cut => *cut,
        };
        Partition::from_nodes(self.nodes.iter().map(node).collect())
    }

    /// K, the number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The tree.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether it can be followed for z of so many columns, and has each of its cells.
    pub(super) fn is_sound(&self, dim: usize) -> bool {
        let n = self.nodes.len();
        let mut found = vec![false; self.cells.min(n)];
        let node = |(i, node): (usize, &Node)| match *node {
            Node::Cut { axis, at, below, above } => {
                axis < dim && at.is_finite() && [below, above].iter().all(|&to| to > i && to < n)
            }
            Node::Cell(cell) => match found.get_mut(cell as usize) {
                Some(found) => {
                    *found = true;
                    true
                }
                None => false,
            },
        };
        n > 0
            && self.nodes.iter().enumerate().all(node)
            && self.cells <= n
            && found.iter().all(|f| *f)
    }

    /// The cell of a row.
    pub fn cell(&self, z: impl Fn(usize) -> f64) -> u32 {
        let mut at = 0;
        loop {
            match self.nodes.get(at) {
                Some(Node::Cut { axis, at: cut, below, above }) => {
                    at = if z(*axis) <= *cut { *below } else { *above };
                }
                Some(Node::Cell(cell)) => return *cell,
                None => return 0,
            }
        }
    }
}

/// A balanced tree over intervals.
fn grow(nodes: &mut Vec<Node>, cuts: &[f64], cells: &[u32]) {
    if cuts.is_empty() {
        nodes.push(Node::Cell(cells.first().copied().unwrap_or(0)));
        return;
    }
    let middle = cuts.len() / 2;
    let node = nodes.len();
    nodes.push(Node::Cell(0));
    grow(nodes, &cuts[..middle], &cells[..=middle]);
    let above = nodes.len();
    grow(nodes, &cuts[middle + 1..], &cells[middle + 1..]);
    nodes[node] = Node::Cut { axis: 0, at: cuts[middle], below: node + 1, above };
}
