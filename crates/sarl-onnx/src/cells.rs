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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use faer::Mat;
    use prost::Message;
    use sarl::cells::{Adversary, Ask, CellGoal, CellUtility, Cutter, Limits, Node};
    use sarl::{Block, Encoder, Fit, FitParams, Layout, Role};

    use super::depth;
    use crate::proto::ModelProto;
    use crate::{Column, Error, Inputs, encoder as model};

    fn with_cells() -> Encoder {
        let rows = |from: usize| {
            let x = Mat::from_fn(1000, 2, |i, j| (((from + i) * (7 + 4 * j)) % 31) as f64 - 15.0);
            let y: Vec<u32> = (0..1000).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
            let s: Vec<u32> = (0..1000).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
            (x, y, s)
        };
        let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
        let mut fit = Fit::new(FitParams::default(), layout).unwrap();
        let (x, y, s) = rows(0);
        fit.push(&Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
        let goal = CellGoal {
            adversary: Adversary::Advantage,
            limits: Limits::Each(0.9),
            utility: CellUtility::Accuracy,
            confidence: 0.95,
            cells: 4,
        };
        let mut cutter = Cutter::new(&fit.finish().unwrap(), vec![Ask::One(goal)], 0).unwrap();
        let (x, y, s) = rows(1000);
        cutter.push(&Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
        cutter.choose(1000).unwrap();
        let (x, y, s) = rows(2000);
        cutter.push(&Block::new(x.as_ref()).class(&y).class(&s)).unwrap();
        cutter.finish().unwrap()[0][0].encoder()
    }

    #[test]
    fn cells_come_out_beside_their_centres() {
        let encoder = with_cells();
        let cells = encoder.cells().unwrap();
        let bytes = model(&encoder, &Inputs::Matrix, true).unwrap();
        let graph = ModelProto::decode(bytes.as_slice()).unwrap().graph.unwrap();
        let names: Vec<&str> = graph.output.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["z", "cell"]);
        let steps = graph.node.iter().filter(|n| n.op_type == "LessOrEqual").count();
        assert_eq!(steps, depth(cells.partition().nodes()));
        let dims = [cells.count() as i64, encoder.dim() as i64];
        let centres = graph.initializer.iter().filter(|t| t.dims == dims);
        let known: Vec<u8> =
            cells.centres().iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        assert!(centres.into_iter().any(|t| t.raw_data.as_ref() == Some(&known)));
    }

    #[test]
    fn a_column_cannot_have_the_name_of_the_cell() {
        let columns = [Column::Number { name: "cell" }, Column::Number { name: "b" }];
        let found = model(&with_cells(), &Inputs::Table(&columns), false);
        assert_eq!(found, Err(Error::OutputName { name: "cell".into() }));
    }

    #[test]
    fn the_deepest_leaf_decides_on_the_steps() {
        let cut = |below, above| Node::Cut { axis: 0, at: 0.0, below, above };
        let leaf = Node::Cell;
        assert_eq!(depth(&[leaf(0)]), 0);
        assert_eq!(depth(&[cut(1, 2), leaf(0), cut(3, 4), leaf(1), leaf(0)]), 2);
    }
}
