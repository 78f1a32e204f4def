//! From rows to z.

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use super::Encoder;
use crate::error::Place;
use crate::features::Columns;
use crate::moments::{Block, Element, NO_CLASS, check_finite, row_slice};
use crate::{Error, Result, dots, tolerance};

/// Rows encoded at a time by one worker.
const ROWS: usize = 1024;
/// The same, where z is a few inner products.
const DOTS: usize = 256;

impl Encoder {
    /// The cell of each row of a block.
    pub fn cells_of<T: Element>(&self, block: &Block<'_, T>) -> Result<Vec<u32>> {
        let cells = self.cells.as_ref().ok_or(Error::Unavailable("this encoder has no cells"))?;
        let z = self.uncut(block)?;
        Ok((0..z.nrows()).map(|i| cells.partition().cell(|axis| z[(i, axis)])).collect())
    }

    /// Each row of z moved to the centre of its cell, if there are cells.
    pub(super) fn cut(&self, mut z: Mat<f64>) -> Mat<f64> {
        if let Some(cells) = &self.cells {
            for i in 0..z.nrows() {
                let cell = cells.partition().cell(|axis| z[(i, axis)]) as usize;
                for (j, v) in cells.centres()[cell].iter().enumerate() {
                    z[(i, j)] = *v;
                }
            }
        }
        z
    }

    /// z for each row of x, rows × dim, in parallel over rows.
    pub fn encode<T: Element>(&self, x: MatRef<'_, T>) -> Result<Mat<f64>> {
        if x.ncols() != self.inputs() {
            return Err(Error::shape("input columns", x.ncols(), self.inputs()));
        }
        Ok(self.cut(self.encode_columns(x, &[])?))
    }

    /// z for each row of a block, whose class-coded features are looked up, not multiplied.
    /// Labels and weights are not looked at.
    pub fn encode_block<T: Element>(&self, block: &Block<'_, T>) -> Result<Mat<f64>> {
        Ok(self.cut(self.uncut(block)?))
    }

    /// z before it is cut.
    fn uncut<T: Element>(&self, block: &Block<'_, T>) -> Result<Mat<f64>> {
        self.raw.check(block)?;
        if !matches!(self.columns, Columns::Linear { .. }) && !self.raw.categories.is_empty() {
            check_finite(block.dense, 0, Place::Feature)?;
            let x = self.raw.rows(block.dense, &block.codes);
            let x = MatRef::from_row_major_slice(&x, block.rows(), self.inputs());
            return self.encode_columns(x, &[]);
        }
        let mut coded = Vec::with_capacity(block.codes.len());
        let mut start = self.raw.dense;
        for (&codes, &classes) in block.codes.iter().zip(&self.raw.categories) {
            coded.push((start, codes));
            start += classes;
        }
        self.encode_columns(block.dense, &coded)
    }

    /// z of a block by each of several encoders of the same fit: what they share is computed once.
    pub(crate) fn encode_each<T: Element>(
        encoders: &[Encoder],
        block: &Block<'_, T>,
    ) -> Result<Vec<Mat<f64>>> {
        let Some(first) = encoders.first() else { return Ok(Vec::new()) };
        if matches!(first.columns, Columns::Linear { .. }) {
            return encoders.iter().map(|e| e.encode_block(block)).collect();
        }
        first.raw.check(block)?;
        check_finite(block.dense, 0, Place::Feature)?;
        let x = first.raw.rows(block.dense, &block.codes);
        let x = MatRef::from_row_major_slice(&x, block.rows(), first.inputs());
        let parts =
            x.par_row_chunks(ROWS).map(|x| first.features(x)).collect::<Result<Vec<_>>>()?;
        let encoded = |e: &Encoder| -> Result<Mat<f64>> {
            let mut z = Mat::zeros(block.rows(), e.dim());
            for (i, features) in parts.iter().enumerate() {
                let part = e.encode_features(features.as_ref())?;
                z.as_mut().subrows_mut(i * ROWS, part.nrows()).copy_from(&part);
            }
            Ok(z)
        };
        encoders.iter().map(encoded).collect()
    }

    /// What the map makes of each row of x: the columns that the weights belong to. One matrix
    /// serves every encoder of the same fit, see [`Encoder::encode_features`].
    pub fn features(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if x.ncols() != self.inputs() {
            return Err(Error::shape("input columns", x.ncols(), self.inputs()));
        }
        check_finite(x, 0, Place::Feature)?;
        let x = match self.shift.is_empty() {
            true => x.to_owned(),
            false => self.scaled(x, &mut Vec::new()).to_owned(),
        };
        Ok(match &self.columns {
            Columns::Linear { .. } => x,
            columns => columns.apply(x.as_ref()),
        })
    }

    /// z of rows whose [`Encoder::features`] are known.
    pub fn encode_features(&self, features: MatRef<'_, f64>) -> Result<Mat<f64>> {
        if features.ncols() != self.weights.nrows() {
            return Err(Error::shape("features", features.ncols(), self.weights.nrows()));
        }
        let mut z = features * &self.weights;
        for (j, offset) in self.rest.iter().enumerate() {
            z.col_mut(j).iter_mut().for_each(|v| *v -= offset);
        }
        Ok(self.cut(finite(z)?))
    }

    /// `coded` are the first weight row and the codes of each class-coded input.
    fn encode_columns<T: Element>(
        &self,
        x: MatRef<'_, T>,
        coded: &[(usize, &[u32])],
    ) -> Result<Mat<f64>> {
        if self.suits_dots(x, coded)
            && let Some(weights) = self.weights_of_rows()
        {
            return self.encode_by_dots(x, &weights);
        }
        check_finite(x, 0, Place::Feature)?;
        let mut z = Mat::zeros(x.nrows(), self.dim());
        if self.dim() == 0 {
            return Ok(z);
        }
        let dense = match &self.columns {
            Columns::Linear { .. } => self.weights.subrows(0, x.ncols()),
            _ => self.weights.as_ref(),
        };
        let parts = z.as_mut().par_row_chunks_mut(ROWS);
        // One buffer for each worker: to allocate it anew for each part takes as long as the rest.
        parts.enumerate().for_each_init(Vec::new, |buffer, (i, mut part)| {
            let first = i * ROWS;
            let rows = x.subrows(first, part.nrows());
            let rows = match T::as_doubles(rows).filter(|_| self.shift.is_empty()) {
                Some(rows) => rows,
                None => self.scaled(rows, buffer),
            };
            let mut encoded = match &self.columns {
                Columns::Linear { .. } => rows * dense,
                columns => columns.apply(rows) * dense,
            };
            for (j, offset) in self.rest.iter().enumerate() {
                let weights = self.weights.col_as_slice(j);
                for (i, v) in encoded.col_mut(j).iter_mut().enumerate() {
                    let looked_up = coded
                        .iter()
                        .filter(|(_, codes)| codes[first + i] != NO_CLASS)
                        .map(|(start, codes)| weights[start + codes[first + i] as usize]);
                    *v += looked_up.sum::<f64>() - offset;
                }
            }
            part.copy_from(&encoded);
        });
        finite(z)
    }

    /// Whether z is a few inner products with rows that lie in one piece.
    fn suits_dots<T: Element>(&self, x: MatRef<'_, T>, coded: &[(usize, &[u32])]) -> bool {
        let linear = matches!(self.columns, Columns::Linear { .. });
        let few = (1..=dots::FEW).contains(&self.dim());
        linear
            && few
            && coded.is_empty()
            && x.nrows() > 0
            && x.ncols() > 0
            && row_slice(x, 0).is_some()
    }

    /// The same, with each row read once.
    fn encode_by_dots<T: Element>(
        &self,
        x: MatRef<'_, T>,
        weights: &[Vec<f64>],
    ) -> Result<Mat<f64>> {
        let (shift, rest) = match self.rest_of_rows::<T>(weights) {
            Some(rest) => (&[][..], rest),
            None => (self.shift.as_slice(), self.rest.clone()),
        };
        let mut z = Mat::zeros(x.nrows(), self.dim());
        z.as_mut().par_row_chunks_mut(DOTS).enumerate().for_each(|(part, to)| {
            let x = x.subrows(part * DOTS, to.nrows());
            dots::with_vectors(Products { x, to, shift, weights, rest: &rest });
        });
        // A value that is not finite leaves no finite z.
        finite(z).or_else(|error| {
            check_finite(x, 0, Place::Feature)?;
            Err(error)
        })
    }

    /// What is taken off the products of rows that are not shifted, where these lose no digit that z
    /// of single precision has.
    fn rest_of_rows<T: Element>(&self, weights: &[Vec<f64>]) -> Option<Vec<f64>> {
        if !T::SINGLE || self.shift.is_empty() {
            return None;
        }
        let taken = |weights: &Vec<f64>| {
            let parts = weights.iter().zip(&self.shift).map(|(w, shift)| w * shift);
            let (sum, size) = parts.fold((0.0, 0.0), |(sum, size), p| (sum + p, size + p.abs()));
            (size * f64::EPSILON <= tolerance::LOST_SINGLE).then_some(sum)
        };
        weights.iter().zip(&self.rest).map(|(w, rest)| Some(taken(w)? + rest)).collect()
    }

    /// The weights of each dimension for rows that are shifted and not scaled, unless one of them has
    /// too few digits.
    fn weights_of_rows(&self) -> Option<Vec<Vec<f64>>> {
        let dimension = |j: usize| -> Option<Vec<f64>> {
            let weights = self.weights.col_as_slice(j);
            if self.factor.is_empty() {
                return Some(weights.to_vec());
            }
            let both = weights.iter().zip(&self.factor);
            let product = |(&w, &factor): (&f64, &f64)| {
                let exact = w == 0.0 || factor == 0.0 || (w * factor).is_normal();
                exact.then_some(w * factor)
            };
            both.map(product).collect()
        };
        (0..self.dim()).map(dimension).collect()
    }

    /// Rows as doubles, shifted and scaled, in the buffer.
    fn scaled<'b, T: Element>(
        &self,
        x: MatRef<'_, T>,
        buffer: &'b mut Vec<f64>,
    ) -> MatRef<'b, f64> {
        let (rows, width) = x.shape();
        buffer.clear();
        for i in 0..rows {
            match row_slice(x, i) {
                Some(row) => buffer.extend(row.iter().map(|&v| v.into())),
                None => buffer.extend((0..width).map(|j| x[(i, j)].into())),
            }
        }
        for row in buffer.chunks_mut(width.max(1)) {
            row.iter_mut().zip(&self.shift).for_each(|(v, shift)| *v -= shift);
            row.iter_mut().zip(&self.factor).for_each(|(v, factor)| *v *= factor);
        }
        MatRef::from_row_major_slice(buffer, rows, width)
    }
}

/// Products of rows with a few columns of weights.
struct Products<'a, T> {
    x: MatRef<'a, T>,
    to: MatMut<'a, f64>,
    shift: &'a [f64],
    weights: &'a [Vec<f64>],
    rest: &'a [f64],
}

impl<T: Element> dots::Work for Products<'_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(mut self) {
        for i in 0..self.to.nrows() {
            // Rows lie in one piece where this is used.
            let row = row_slice(self.x, i).unwrap_or_default();
            for (j, (weights, rest)) in self.weights.iter().zip(self.rest).enumerate() {
                self.to[(i, j)] = dots::dot::<T, FUSED>(row, self.shift, weights) - rest;
            }
        }
    }
}

/// z, unless it overflows.
pub(super) fn finite(z: Mat<f64>) -> Result<Mat<f64>> {
    let finite = (0..z.ncols()).all(|j| z.col(j).iter().all(|v| v.is_finite()));
    if finite { Ok(z) } else { Err(Error::EncodingOverflow) }
}
