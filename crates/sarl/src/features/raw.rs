//! Rows as they come: dense inputs, class-coded ones, and what is done to the dense ones first.

use faer::MatRef;
use rayon::prelude::*;

use crate::moments::{Block, Element, NO_CLASS, row_slice};
use crate::{Error, Result};

/// `(x − shift) · factor` for each dense input.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    pub(crate) shift: Vec<f64>,
    pub(crate) factor: Vec<f64>,
}

impl Scaling {
    /// From the mean and the standard deviation of each dense input; a constant is only shifted.
    pub fn standard(spreads: &[(f64, f64)]) -> Self {
        let factor = |&(_, deviation): &(f64, f64)| match deviation > 0.0 {
            true => 1.0 / deviation,
            false => 1.0,
        };
        Scaling {
            shift: spreads.iter().map(|s| s.0).collect(),
            factor: spreads.iter().map(factor).collect(),
        }
    }

    /// What is taken off each dense input.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// What it is then multiplied by.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Whether it can be undone.
    pub(crate) fn is_sound(&self) -> bool {
        let all = self.shift.iter().chain(&self.factor);
        all.clone().all(|v| v.is_finite()) && self.factor.iter().all(|&v| v != 0.0)
    }
}

/// The inputs of a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawInputs {
    pub(crate) dense: usize,
    /// The number of categories of each class-coded input.
    pub(crate) categories: Vec<usize>,
    pub(crate) scaling: Option<Scaling>,
}

/// Rows laid out at a time by one worker.
const ROWS: usize = 256;

impl RawInputs {
    pub(crate) fn new(dense: usize, categories: &[usize]) -> Self {
        RawInputs { dense, categories: categories.to_vec(), scaling: None }
    }

    /// How many there are, one-hot columns included.
    pub(crate) fn width(&self) -> usize {
        self.dense + self.categories.iter().sum::<usize>()
    }

    /// Whether a block has these inputs.
    pub(crate) fn check<T: Element>(&self, block: &Block<'_, T>) -> Result<()> {
        let found = block.dense.ncols();
        if found != self.dense {
            return Err(Error::shape("dense input columns", found, self.dense));
        }
        let (found, expected) = (block.codes.len(), self.categories.len());
        if found != expected {
            return Err(Error::shape("class-coded input columns", found, expected));
        }
        for (g, (&codes, &classes)) in block.codes.iter().zip(&self.categories).enumerate() {
            if codes.len() != block.rows() {
                return Err(Error::shape("rows of a class-coded input", codes.len(), block.rows()));
            }
            let unknown = |c: u32| c as usize >= classes && c != NO_CLASS;
            if let Some(i) = codes.iter().position(|&c| unknown(c)) {
                let (what, row, class) = (format!("class-coded input {g}"), i as u64, codes[i]);
                return Err(Error::Class { what, row, class, classes });
            }
        }
        Ok(())
    }

    /// Rows as they are mapped, one after the other: scaled, and one-hot columns behind.
    pub(crate) fn rows<T: Element>(&self, x: MatRef<'_, T>, codes: &[&[u32]]) -> Vec<f64> {
        let width = self.width();
        let mut out = vec![0.0; x.nrows() * width];
        if width == 0 {
            return out;
        }
        out.par_chunks_mut(ROWS * width).enumerate().for_each(|(part, to)| {
            let first = part * ROWS;
            for (i, row) in to.chunks_exact_mut(width).enumerate() {
                self.row(x, codes, first + i, row);
            }
        });
        out
    }

    /// One row; `to` is zero where it has one-hot columns.
    pub(crate) fn row<T: Element>(
        &self,
        x: MatRef<'_, T>,
        codes: &[&[u32]],
        i: usize,
        to: &mut [f64],
    ) {
        let (dense, mut rest) = to.split_at_mut(self.dense);
        match row_slice(x, i) {
            Some(row) => dense.iter_mut().zip(row).for_each(|(to, &v)| *to = v.into()),
            None => dense.iter_mut().enumerate().for_each(|(j, to)| *to = x[(i, j)].into()),
        }
        if let Some(Scaling { shift, factor }) = &self.scaling {
            let how = shift.iter().zip(factor);
            dense.iter_mut().zip(how).for_each(|(v, (shift, factor))| *v = (*v - shift) * factor);
        }
        for (codes, &classes) in codes.iter().zip(&self.categories) {
            if let Some(hot) = rest.get_mut(codes[i] as usize).filter(|_| codes[i] != NO_CLASS) {
                *hot = 1.0;
            }
            rest = &mut rest[classes..];
        }
    }
}
