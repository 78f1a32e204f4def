//! The features as the decoder tells them.

use faer::MatRef;
use sarl_nets::{Matrix, Tape, Var};

/// The least logarithm of the variance of a number around what the decoder tells.
const LEAST: f32 = -4.0;

/// Columns of two values first, then the others; those of one value are left out.
pub(super) struct Columns {
    pub values: Matrix,
    /// Columns of two values.
    pub binary: usize,
    /// Columns of more.
    pub numbers: usize,
}

impl Columns {
    pub(super) fn new(x: MatRef<'_, f64>) -> Self {
        let (mut binary, mut numbers) = (Vec::new(), Vec::new());
        for j in 0..x.ncols() {
            let column = (0..x.nrows()).map(|i| x[(i, j)]);
            let (least, most) = column
                .clone()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            if least == most {
                continue;
            }
            if column.clone().all(|v| v == least || v == most) {
                binary.push((j, least, most - least));
            } else {
                numbers.push((j, 0.0, 1.0));
            }
        }
        let all = || binary.iter().chain(&numbers);
        let row = |i| all().map(move |&(j, zero, unit)| ((x[(i, j)] - zero) / unit) as f32);
        let values = (0..x.nrows()).flat_map(row).collect();
        let (binary, numbers) = (binary.len(), numbers.len());
        Columns { values: Matrix::new(x.nrows(), binary + numbers, values), binary, numbers }
    }

    pub(super) fn width(&self) -> usize {
        self.binary + self.numbers
    }

    /// The mean over rows of the negative log-likelihood, less a constant.
    pub(super) fn surprise<'t>(
        &self,
        told: Var<'t>,
        x: Var<'t>,
        spread: Var<'t>,
        tape: &'t Tape,
    ) -> Var<'t> {
        let (rows, split, width) = (told.shape().0, self.binary, self.width());
        let mut sum = tape.constant(Matrix::row(vec![0.0]));
        if self.binary > 0 {
            let (told, x) = (told.columns(0..split), x.columns(0..split));
            sum = sum + (told.softplus() - told * x).total();
        }
        if self.numbers > 0 {
            let (told, x) = (told.columns(split..width), x.columns(split..width));
            let spread = spread.clamp(LEAST, f32::INFINITY);
            let squares = (told - x).square() * (-spread).exp();
            sum = sum + (squares + spread).total() * 0.5;
        }
        sum * (1.0 / rows as f32)
    }
}
