//! Gradients: back over the tape, from a number to what is learnt.
//!
//! With `G` the gradient of a node, those that it was made of get
//!
//! ```text
//! a b                    a: G bᵀ     b: aᵀ G
//! a + b, a − b           a: G        b: ±G
//! a ∘ b                  a: G ∘ b    b: G ∘ a
//! f(a)                   a: G ∘ f'(a)
//! Σ a                    a: G everywhere
//! log softmax a          a: G − softmax a ∘ (row sums of G)
//! cross-entropy, n rows  a: G (softmax a − indicators of the classes) / n
//! (a − mean) / spread    a: (G − mean G − y ∘ mean (G ∘ y)) / spread, where y is the node
//! ```
//!
//! Where b is a row for all rows of a, its gradient is summed over the rows. Means are those of
//! columns.

use crate::matrix::Matrix;
use crate::tape::{Made, Node, Var};

impl<'t> Var<'t> {
    /// The gradients of this number, one for each of these parameters; none for those that it was
    /// not made of.
    pub fn gradients(self, parameters: &[Var<'t>]) -> Vec<Option<Matrix>> {
        let nodes = self.tape.nodes.borrow();
        let mut found: Vec<Option<Matrix>> = (0..=self.at).map(|_| None).collect();
        let value = &nodes[self.at].value;
        found[self.at] = Some(Matrix::filled(value.nrows(), value.ncols(), 1.0));
        for at in (0..=self.at).rev() {
            if !nodes[at].learns || matches!(nodes[at].made, Made::Given) {
                continue;
            }
            if let Some(gradient) = found[at].take() {
                Back { nodes: &nodes, found: &mut found }.through(&nodes[at], gradient);
            }
        }
        parameters.iter().map(|p| found.get_mut(p.at).and_then(Option::take)).collect()
    }
}

struct Back<'a> {
    nodes: &'a [Node],
    found: &'a mut [Option<Matrix>],
}

impl<'a> Back<'a> {
    fn value(&self, at: usize) -> &'a Matrix {
        &self.nodes[at].value
    }

    /// Adds to the gradient of a node, if it is wanted.
    fn give(&mut self, at: usize, gradient: impl FnOnce() -> Matrix) {
        if !self.nodes[at].learns {
            return;
        }
        match &mut self.found[at] {
            Some(sum) => sum.add(&gradient()),
            none => *none = Some(gradient()),
        }
    }

    /// Hands the gradient of a node on to those that it was made of.
    fn through(&mut self, node: &Node, g: Matrix) {
        let y = &node.value;
        match &node.made {
            Made::Given => {}
            &Made::Product(a, b) => {
                let (left, right) = (self.value(a), self.value(b));
                self.give(a, || Matrix::product_with_transposed(&g, right));
                self.give(b, || Matrix::product_of_transposed(left, &g));
            }
            &Made::Sum(a, b) => {
                let rows = self.value(b).nrows();
                self.give(b, || fitted(&g, rows));
                self.give(a, || g);
            }
            &Made::Difference(a, b) => {
                let rows = self.value(b).nrows();
                self.give(b, || fitted(&g, rows).map(|g| -g));
                self.give(a, || g);
            }
            &Made::Entrywise(a, b) => {
                let (left, right) = (self.value(a), self.value(b));
                self.give(b, || fitted(&g.zip(left, |g, a| g * a), right.nrows()));
                self.give(a, || g.zip(right, |g, b| g * b));
            }
            &Made::Map(a, function) => {
                let x = self.value(a);
                self.give(a, || function.back(&g, x, y));
            }
            &Made::Total(a) => {
                let (x, g) = (self.value(a), g.values()[0]);
                self.give(a, || Matrix::filled(x.nrows(), x.ncols(), g));
            }
            &Made::LogSoftmax(a) => self.give(a, || log_softmax(&g, y)),
            Made::CrossEntropy(a, told, classes) => {
                self.give(*a, || cross_entropy(g.values()[0], told, classes));
            }
            &Made::Columns(a, from) => {
                let x = self.value(a);
                self.give(a, || widened(&g, from, x.ncols()));
            }
            &Made::Beside(a, b) => {
                let (left, right) = (self.value(a).ncols(), self.value(b).ncols());
                self.give(a, || narrowed(&g, 0, left));
                self.give(b, || narrowed(&g, left, right));
            }
            Made::Standard(a, over) => self.give(*a, || standard(&g, y, over)),
        }
    }
}

/// The gradient of the second of two, which may be a row for all rows.
fn fitted(g: &Matrix, rows: usize) -> Matrix {
    if g.nrows() == rows {
        return g.clone();
    }
    Matrix::row(g.column_sums(|_, v| v.into()).iter().map(|&s| s as f32).collect())
}

fn log_softmax(g: &Matrix, logs: &Matrix) -> Matrix {
    let mut out = g.clone();
    for (row, logs) in out.each_row_mut().zip(logs.each_row()) {
        let sum: f32 = row.iter().sum();
        row.iter_mut().zip(logs).for_each(|(g, log)| *g -= log.exp() * sum);
    }
    out
}

fn cross_entropy(g: f32, told: &Matrix, classes: &[u32]) -> Matrix {
    let each = g / classes.len() as f32;
    let mut out = told.map(|p| p * each);
    for (row, &class) in out.each_row_mut().zip(classes) {
        row[class as usize] -= each;
    }
    out
}

/// Zeros around the columns from this one on.
fn widened(g: &Matrix, from: usize, width: usize) -> Matrix {
    let mut out = Matrix::filled(g.nrows(), width, 0.0);
    for (out, row) in out.each_row_mut().zip(g.each_row()) {
        out[from..from + row.len()].copy_from_slice(row);
    }
    out
}

fn narrowed(g: &Matrix, from: usize, width: usize) -> Matrix {
    let values = g.each_row().flat_map(|row| &row[from..from + width]).copied().collect();
    Matrix::new(g.nrows(), width, values)
}

fn standard(g: &Matrix, y: &Matrix, over: &Matrix) -> Matrix {
    let share = 1.0 / g.nrows() as f64;
    let mean = |sums: Vec<f64>| Matrix::row(sums.iter().map(|s| (s * share) as f32).collect());
    let along = mean(g.zip(y, |g, y| g * y).column_sums(|_, v| v.into()));
    let level = mean(g.column_sums(|_, v| v.into()));
    let projected = y.zip(&along, |y, along| y * along);
    g.zip(&level, |g, level| g - level).zip(&projected, |g, p| g - p).zip(over, |g, o| g * o)
}
