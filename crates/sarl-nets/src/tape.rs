//! Operations that are recorded as they are computed.

use std::cell::{Ref, RefCell};
use std::ops::{Add, Mul, Neg, Range, Sub};

use crate::function::Function;
use crate::matrix::Matrix;

/// What was computed, in order; it grows until it is dropped.
#[derive(Default)]
pub struct Tape {
    pub(crate) nodes: RefCell<Vec<Node>>,
}

pub(crate) struct Node {
    pub value: Matrix,
    pub made: Made,
    /// Whether a gradient is wanted: something that it was made of is learnt.
    pub learns: bool,
}

/// How a node was made of those before it.
pub(crate) enum Made {
    Given,
    /// `a b`
    Product(usize, usize),
    /// `a + b`; here and below b may be a row for all rows of a.
    Sum(usize, usize),
    /// `a − b`
    Difference(usize, usize),
    /// `a ∘ b`
    Entrywise(usize, usize),
    Map(usize, Function),
    /// The sum of all values.
    Total(usize),
    LogSoftmax(usize),
    /// The mean cross-entropy, with the probabilities that were told and the true classes.
    CrossEntropy(usize, Matrix, Vec<u32>),
    /// Columns from this one on.
    Columns(usize, usize),
    /// Side by side.
    Beside(usize, usize),
    /// Columns less their mean, over their spread; with one over the spreads.
    Standard(usize, Matrix),
}

/// A matrix on a tape.
#[derive(Clone, Copy)]
pub struct Var<'t> {
    pub(crate) tape: &'t Tape,
    pub(crate) at: usize,
}

impl Tape {
    /// A matrix that is not learnt.
    pub fn constant(&self, value: Matrix) -> Var<'_> {
        self.push(value, Made::Given, false)
    }

    /// A matrix whose gradient is wanted.
    pub fn parameter(&self, value: Matrix) -> Var<'_> {
        self.push(value, Made::Given, true)
    }

    fn push(&self, value: Matrix, made: Made, learns: bool) -> Var<'_> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { value, made, learns });
        Var { tape: self, at: nodes.len() - 1 }
    }
}

impl<'t> Var<'t> {
    /// Its value.
    pub fn value(self) -> Ref<'t, Matrix> {
        Ref::map(self.tape.nodes.borrow(), |nodes| &nodes[self.at].value)
    }

    /// Its first value: that of a sum, a mean or a loss.
    pub fn number(self) -> f32 {
        self.value().values().first().copied().unwrap_or(f32::NAN)
    }

    /// Rows and columns.
    pub fn shape(self) -> (usize, usize) {
        let value = self.value();
        (value.nrows(), value.ncols())
    }

    fn unary(self, made: Made, of: impl FnOnce(&Matrix) -> Matrix) -> Var<'t> {
        let (value, learns) = {
            let node = &self.tape.nodes.borrow()[self.at];
            (of(&node.value), node.learns)
        };
        self.tape.push(value, made, learns)
    }

    fn binary(
        self,
        other: Var<'t>,
        made: Made,
        of: impl FnOnce(&Matrix, &Matrix) -> Matrix,
    ) -> Var<'t> {
        let (value, learns) = {
            let nodes = self.tape.nodes.borrow();
            let (a, b) = (&nodes[self.at], &nodes[other.at]);
            (of(&a.value, &b.value), a.learns || b.learns)
        };
        self.tape.push(value, made, learns)
    }

    fn map(self, function: Function) -> Var<'t> {
        self.unary(Made::Map(self.at, function), |x| function.of(x))
    }

    /// The product of two matrices.
    pub fn product(self, other: Var<'t>) -> Var<'t> {
        self.binary(other, Made::Product(self.at, other.at), Matrix::product)
    }

    /// `max(x, 0)` of each value.
    pub fn relu(self) -> Var<'t> {
        self.map(Function::Relu)
    }

    /// `eˣ` of each value.
    pub fn exp(self) -> Var<'t> {
        self.map(Function::Exp)
    }

    /// `log(1 + eˣ)` of each value.
    pub fn softplus(self) -> Var<'t> {
        self.map(Function::Softplus)
    }

    /// The cosine of each value.
    pub fn cos(self) -> Var<'t> {
        self.map(Function::Cos)
    }

    /// The square of each value.
    pub fn square(self) -> Var<'t> {
        self.map(Function::Square)
    }

    /// Each value, or the bound that it is beyond; there the slope is 0.
    pub fn clamp(self, least: f32, most: f32) -> Var<'t> {
        self.map(Function::Clamp(least, most))
    }

    /// The sum of all values.
    pub fn total(self) -> Var<'t> {
        self.unary(Made::Total(self.at), |x| {
            let sum: f64 = x.values().iter().map(|&v| f64::from(v)).sum();
            Matrix::row(vec![sum as f32])
        })
    }

    /// The mean of all values.
    pub fn mean(self) -> Var<'t> {
        let (rows, columns) = self.shape();
        self.total() * (1.0 / (rows * columns) as f32)
    }

    /// The logarithms of the probabilities that a row of logits stands for:
    /// `xⱼ − log Σₖ exp xₖ`.
    pub fn log_softmax(self) -> Var<'t> {
        self.unary(Made::LogSoftmax(self.at), log_softmax)
    }

    /// The mean over rows of `−log pᵢ(cᵢ)`, where a row of logits stands for the probabilities `pᵢ`
    /// and `cᵢ` is its class.
    pub fn cross_entropy(self, classes: &[u32]) -> Var<'t> {
        let mut told = self.value().clone();
        let mut sum = 0.0;
        for (row, &class) in told.each_row_mut().zip(classes) {
            let true_one = row[class as usize];
            sum += f64::from(softmax(row) - true_one);
        }
        let mean = (sum / classes.len() as f64) as f32;
        let made = Made::CrossEntropy(self.at, told, classes.to_vec());
        self.unary(made, |_| Matrix::row(vec![mean]))
    }

    /// Some of the columns.
    pub fn columns(self, range: Range<usize>) -> Var<'t> {
        self.unary(Made::Columns(self.at, range.start), |x| {
            let values = x.each_row().flat_map(|row| &row[range.clone()]).copied().collect();
            Matrix::new(x.nrows(), range.len(), values)
        })
    }

    /// The columns of both, side by side.
    pub fn beside(self, other: Var<'t>) -> Var<'t> {
        self.binary(other, Made::Beside(self.at, other.at), |a, b| {
            assert_eq!(a.nrows(), b.nrows(), "rows of two matrices");
            let (left, right) = (a.ncols(), b.ncols());
            let row = |i: usize| {
                a.values()[i * left..][..left].iter().chain(&b.values()[i * right..][..right])
            };
            Matrix::new(a.nrows(), left + right, (0..a.nrows()).flat_map(row).copied().collect())
        })
    }

    /// Each column less its mean over the rows, divided by `√(variance + epsilon)`.
    pub fn standard(self, epsilon: f32) -> Var<'t> {
        let (mean, variance) = self.value().moments();
        let over = variance.iter().map(|v| 1.0 / (v + epsilon).sqrt()).collect();
        let (mean, over) = (Matrix::row(mean), Matrix::row(over));
        let made = Made::Standard(self.at, over.clone());
        self.unary(made, |x| x.zip(&mean, |x, m| x - m).zip(&over, |x, o| x * o))
    }
}

/// Turns a row of logits into probabilities; returns `log Σₖ exp xₖ`.
fn softmax(row: &mut [f32]) -> f32 {
    let most = row.iter().fold(f32::NEG_INFINITY, |most, &v| most.max(v));
    let mut sum = 0.0;
    for v in row.iter_mut() {
        // With two classes this is half of all exponentials.
        *v = if *v == most { 1.0 } else { (*v - most).exp() };
        sum += *v;
    }
    row.iter_mut().for_each(|v| *v /= sum);
    most + sum.ln()
}

fn log_softmax(x: &Matrix) -> Matrix {
    let mut logs = x.clone();
    let mut told = x.clone();
    for (row, told) in logs.each_row_mut().zip(told.each_row_mut()) {
        let log = softmax(told);
        row.iter_mut().for_each(|v| *v -= log);
    }
    logs
}

/// `other` may be a row for all rows of `self`.
impl<'t> Add for Var<'t> {
    type Output = Var<'t>;

    fn add(self, other: Self) -> Self {
        self.binary(other, Made::Sum(self.at, other.at), |a, b| a.zip(b, |a, b| a + b))
    }
}

/// `other` may be a row for all rows of `self`.
impl<'t> Sub for Var<'t> {
    type Output = Var<'t>;

    fn sub(self, other: Self) -> Self {
        self.binary(other, Made::Difference(self.at, other.at), |a, b| a.zip(b, |a, b| a - b))
    }
}

/// Value by value; `other` may be a row for all rows of `self`.
impl<'t> Mul for Var<'t> {
    type Output = Var<'t>;

    fn mul(self, other: Self) -> Self {
        self.binary(other, Made::Entrywise(self.at, other.at), |a, b| a.zip(b, |a, b| a * b))
    }
}

impl<'t> Mul<f32> for Var<'t> {
    type Output = Var<'t>;

    fn mul(self, factor: f32) -> Self {
        self.map(Function::Line(factor, 0.0))
    }
}

impl<'t> Add<f32> for Var<'t> {
    type Output = Var<'t>;

    fn add(self, shift: f32) -> Self {
        self.map(Function::Line(1.0, shift))
    }
}

impl<'t> Neg for Var<'t> {
    type Output = Var<'t>;

    fn neg(self) -> Self {
        self * -1.0
    }
}
