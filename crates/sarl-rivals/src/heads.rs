//! Attributes as a network tells them: a column for each class, one for a number.

use sarl_eval::Labels;
use sarl_nets::{Matrix, Tape, Var};

/// Attributes to be told, side by side.
pub(crate) struct Heads {
    heads: Vec<Head>,
}

enum Head {
    Class {
        codes: Vec<u32>,
        count: usize,
    },
    /// In units of its spread, around its mean.
    Number(Vec<f32>),
}

impl Heads {
    pub(crate) fn new(labels: &[Labels]) -> Self {
        let head = |label: &Labels| match label {
            Labels::Classes { codes, count } => Head::Class { codes: codes.clone(), count: *count },
            Labels::Numbers(values) => {
                Head::Number(standard(values).into_iter().map(|v| v as f32).collect())
            }
        };
        Heads { heads: labels.iter().map(head).collect() }
    }

    /// Columns of all heads together.
    pub(crate) fn width(&self) -> usize {
        self.heads.iter().map(Head::width).sum()
    }

    /// The mean over heads of the cross-entropy, or of the squares for a number.
    pub(crate) fn likelihood<'t>(&self, told: Var<'t>, rows: &[usize], tape: &'t Tape) -> Var<'t> {
        self.mean(told, tape, |head, told| match head {
            Head::Class { codes, .. } => {
                let codes: Vec<u32> = rows.iter().map(|&i| codes[i]).collect();
                told.cross_entropy(&codes)
            }
            Head::Number(_) => (told - tape.constant(head.columns(rows))).square().mean(),
        })
    }

    /// The mean over heads of the squared distance to the one-hot code or the number.
    pub(crate) fn squares<'t>(&self, told: Var<'t>, rows: &[usize], tape: &'t Tape) -> Var<'t> {
        self.mean(told, tape, |head, told| {
            (told - tape.constant(head.columns(rows))).square().total() * (1.0 / rows.len() as f32)
        })
    }

    /// The mean over heads of the negative entropy of what is told; classes only.
    pub(crate) fn certainty<'t>(&self, told: Var<'t>, tape: &'t Tape) -> Var<'t> {
        self.mean(told, tape, |_, told| {
            let (rows, logs) = (told.shape().0, told.log_softmax());
            (logs.exp() * logs).total() * (1.0 / rows as f32)
        })
    }

    /// The mean over heads of something of their columns of what was told.
    fn mean<'t>(
        &self,
        told: Var<'t>,
        tape: &'t Tape,
        of: impl Fn(&Head, Var<'t>) -> Var<'t>,
    ) -> Var<'t> {
        let mut at = 0;
        let part = |head: &Head| {
            let from = at;
            at += head.width();
            of(head, told.columns(from..at))
        };
        let sum = self.heads.iter().map(part).reduce(|a, b| a + b);
        let sum = sum.unwrap_or_else(|| tape.constant(Matrix::row(vec![0.0])));
        sum * (1.0 / self.heads.len().max(1) as f32)
    }

    /// One-hot codes and numbers of these rows, side by side.
    pub(crate) fn columns(&self, rows: &[usize]) -> Matrix {
        let mut values = Vec::with_capacity(rows.len() * self.width());
        for &row in rows {
            self.heads.iter().for_each(|head| head.extend(row, &mut values));
        }
        Matrix::new(rows.len(), self.width(), values)
    }
}

impl Head {
    fn width(&self) -> usize {
        match self {
            Head::Class { count, .. } => *count,
            Head::Number(_) => 1,
        }
    }

    /// Appends the one-hot code or the number of a row.
    fn extend(&self, row: usize, values: &mut Vec<f32>) {
        match self {
            Head::Class { codes, count } => {
                values.extend((0..*count).map(|c| f32::from(c == codes[row] as usize)));
            }
            Head::Number(numbers) => values.push(numbers[row]),
        }
    }

    fn columns(&self, rows: &[usize]) -> Matrix {
        let mut values = Vec::with_capacity(rows.len() * self.width());
        rows.iter().for_each(|&row| self.extend(row, &mut values));
        Matrix::new(rows.len(), self.width(), values)
    }
}

/// Mean 0 and variance 1.
pub(crate) fn standard(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let spread = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    values.iter().map(|v| (v - mean) / spread).collect()
}
