//! A feature map as bytes, so that workers on other machines can map their rows alike; and its
//! columns in any file of ours.

use serde::{Deserialize, Serialize};

use super::{Columns, FeatureMap, Kernel};
use crate::Result;
use crate::container::{Reader, Writer};

const KIND: &str = "feature map";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Description {
    map: Stored,
    residual: f64,
}

/// Columns in a description; their matrices are tensors beside it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stored {
    Linear { dense: usize, codes: Vec<usize> },
    Landmarks(Kernel),
    RandomFeatures,
}

impl Columns {
    /// Writes the matrices, and gives what is to be said beside them.
    pub(crate) fn store(&self, writer: &mut Writer) -> Stored {
        match self {
            Columns::Linear { dense, codes } => {
                Stored::Linear { dense: *dense, codes: codes.clone() }
            }
            Columns::Kernel { kernel, landmarks } => {
                writer.matrix("map.landmarks", landmarks.as_ref());
                Stored::Landmarks(*kernel)
            }
            Columns::Fourier { frequencies } => {
                writer.matrix("map.frequencies", frequencies.as_ref());
                Stored::RandomFeatures
            }
        }
    }

    /// The inverse of [`Columns::store`], with at least one input.
    pub(crate) fn restore(reader: &Reader<'_>, stored: &Stored) -> Result<Self> {
        let columns = match stored {
            Stored::Linear { dense, codes } => {
                let total = codes.iter().try_fold(*dense, |sum, &n| sum.checked_add(n));
                reader.require(total.is_some(), "its inputs do not add up")?;
                Columns::Linear { dense: *dense, codes: codes.clone() }
            }
            &Stored::Landmarks(kernel) => {
                kernel.check().map_err(|e| reader.problem(format!("the kernel is wrong: {e}")))?;
                Columns::Kernel { kernel, landmarks: reader.any_matrix("map.landmarks")? }
            }
            Stored::RandomFeatures => {
                Columns::Fourier { frequencies: reader.any_matrix("map.frequencies")? }
            }
        };
        reader.require(columns.inputs() > 0, "the map has no inputs")?;
        Ok(columns)
    }
}

impl FeatureMap {
    /// The map in the safetensors format. The same map is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check_maps_rows()?;
        let mut writer = Writer::default();
        let map = self.columns.store(&mut writer);
        if let Some(factor) = &self.factor {
            writer.matrix("map.factor", factor.as_ref().as_ref());
        }
        writer.finish(KIND, VERSION, &Description { map, residual: self.residual })
    }

    /// The inverse of [`FeatureMap::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION)?;
        let columns = Columns::restore(&reader, &description.map)?;
        let m = columns.outputs();
        reader.require(m > 0, "the map has no features")?;
        let factor = match columns {
            Columns::Kernel { .. } => {
                let factor = reader.matrix("map.factor", m, m)?;
                let regular = (0..m).all(|i| factor[(i, i)] > 0.0);
                reader.require(regular, "`map.factor` is singular")?;
                Some(factor)
            }
            _ => None,
        };
        Ok(FeatureMap::assemble(columns, factor, description.residual))
    }
}
