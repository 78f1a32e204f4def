//! A feature map as bytes, so that workers on other machines can map their rows alike.

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

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Linear { dense: usize, codes: Vec<usize> },
    Landmarks(Kernel),
    RandomFeatures,
}

impl FeatureMap {
    /// The map in the safetensors format. The same map is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        let map = match &self.columns {
            Columns::Linear { dense, codes } => {
                Stored::Linear { dense: *dense, codes: codes.clone() }
            }
            Columns::Kernel { kernel, landmarks } => {
                writer.matrix("landmarks", landmarks.as_ref());
                Stored::Landmarks(*kernel)
            }
            Columns::Fourier { frequencies } => {
                writer.matrix("frequencies", frequencies.as_ref());
                Stored::RandomFeatures
            }
        };
        if let Some(factor) = &self.factor {
            writer.matrix("factor", factor.as_ref());
        }
        writer.finish(KIND, VERSION, &Description { map, residual: self.residual })
    }

    /// The inverse of [`FeatureMap::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION)?;
        let (columns, factor) = match description.map {
            Stored::Linear { dense, codes } => (Columns::Linear { dense, codes }, None),
            Stored::Landmarks(kernel) => {
                kernel.check().map_err(|e| reader.problem(e.to_string()))?;
                let landmarks = reader.any_matrix("landmarks")?;
                let m = landmarks.nrows();
                let factor = reader.matrix("factor", m, m)?;
                let regular = (0..m).all(|i| factor[(i, i)] > 0.0);
                reader.require(regular, "`factor` is singular")?;
                (Columns::Kernel { kernel, landmarks }, Some(factor))
            }
            Stored::RandomFeatures => {
                (Columns::Fourier { frequencies: reader.any_matrix("frequencies")? }, None)
            }
        };
        let there = columns.inputs() > 0 && columns.outputs() > 0;
        reader.require(there, "the map has no inputs or no features")?;
        Ok(FeatureMap { columns, factor, residual: description.residual })
    }
}
