//! Rows that a device encodes.

use faer::{Mat, MatRef};

use super::Encoder;
use super::encode::finite;
use crate::engine::{EncodePlan, Encoding, Engine, FeaturePlan, Values};
use crate::error::Place;
use crate::moments::{Block, Element, check_finite};
use crate::{Error, Result};

impl Encoder {
    /// The same encoder on a device, for [`Encoder::encode_with`]; nothing where so many rows are not
    /// worth the way there, or where the device refuses and need not be used.
    pub fn encoding(&self, engine: &dyn Engine, rows: u64) -> Result<Option<Box<dyn Encoding>>> {
        let inputs = self.inputs();
        let features = FeaturePlan { map: self.columns.view(), factor: None, inputs };
        if self.dim() == 0 || !engine.pays(&features, rows) {
            return Ok(None);
        }
        let plan = EncodePlan {
            features,
            shift: &self.shift,
            factor: &self.factor,
            weights: self.weights.as_ref(),
            offset: &self.rest,
        };
        match engine.encoding(&plan) {
            Ok(encoding) => Ok(Some(encoding)),
            Err(_) if engine.is_optional() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// [`Encoder::encode_block`] by a device that has this encoder.
    pub fn encode_with<T: Element>(
        &self,
        encoding: &mut dyn Encoding,
        block: &Block<'_, T>,
    ) -> Result<Mat<f64>> {
        self.raw.check(block)?;
        let (rows, width, dim) = (block.rows(), self.inputs(), self.dim());
        let x = self.raw.rows(block.dense, &block.codes);
        let slices: Vec<&[f64]> = x.chunks_exact(width.max(1)).collect();
        let mut z = Vec::with_capacity(rows * dim);
        if encoding.encode(Values::Double(&slices), &mut z)?.is_some() {
            check_finite(block.dense, 0, Place::Feature)?;
            return Err(Error::EncodingOverflow);
        }
        let z = MatRef::from_row_major_slice(&z, rows, dim).to_owned();
        Ok(self.cut(finite(z)?))
    }
}
