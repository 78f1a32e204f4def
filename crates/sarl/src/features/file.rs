//! A feature map as bytes, so that workers on other machines can map their rows alike; and its
//! columns in any file of ours.

use serde::{Deserialize, Serialize};

use super::{Columns, FeatureMap, Kernel, RawInputs, Scaling};
use crate::Result;
use crate::container::{Reader, Writer};

const KIND: &str = "feature map";
/// Version 1 knew no scaling.
const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Description {
    map: Stored,
    inputs: StoredInputs,
    residual: f64,
    gamma: Option<f64>,
}

/// Rows as they come; shifts and factors are tensors beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredInputs {
    dense: usize,
    categories: Vec<usize>,
    scaled: bool,
}

impl RawInputs {
    /// Writes shifts and factors, and gives what is to be said beside them.
    pub(crate) fn store(&self, writer: &mut Writer) -> StoredInputs {
        if let Some(scaling) = &self.scaling {
            writer.vector("scaling.shift", &scaling.shift);
            writer.vector("scaling.factor", &scaling.factor);
        }
        let (dense, categories) = (self.dense, self.categories.clone());
        StoredInputs { dense, categories, scaled: self.scaling.is_some() }
    }

    /// The inverse of [`RawInputs::store`], for a map of so many inputs.
    pub(crate) fn restore(
        reader: &Reader<'_>,
        stored: StoredInputs,
        inputs: usize,
    ) -> Result<Self> {
        let StoredInputs { dense, categories, scaled } = stored;
        let total = categories.iter().try_fold(dense, |sum, &n| sum.checked_add(n));
        reader.require(total == Some(inputs), "its inputs do not add up")?;
        let scaling = match scaled {
            false => None,
            true => Some(Scaling {
                shift: reader.vector("scaling.shift", dense)?,
                factor: reader.vector("scaling.factor", dense)?,
            }),
        };
        let sound = scaling.as_ref().is_none_or(Scaling::is_sound);
        reader.require(sound, "its scaling cannot be undone")?;
        Ok(RawInputs { dense, categories, scaling })
    }
}

/// Columns in a description; their matrices are tensors beside it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stored {
    Linear { width: usize },
    Landmarks(Kernel),
    RandomFeatures,
}

impl Columns {
    /// Writes the matrices, and gives what is to be said beside them.
    pub(crate) fn store(&self, writer: &mut Writer) -> Stored {
        match self {
            Columns::Linear { width } => Stored::Linear { width: *width },
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
            Stored::Linear { width } => Columns::Linear { width: *width },
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
        let inputs = self.raw.store(&mut writer);
        if let Some(factor) = &self.factor {
            writer.matrix("map.factor", factor.as_ref().as_ref());
        }
        writer.finish(
            KIND,
            VERSION,
            &Description { map, inputs, residual: self.residual, gamma: self.gamma },
        )
    }

    /// The inverse of [`FeatureMap::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION..=VERSION)?;
        let columns = Columns::restore(&reader, &description.map)?;
        let raw = RawInputs::restore(&reader, description.inputs, columns.inputs())?;
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
        let factor = factor.map(|factor| (factor, None));
        let map = FeatureMap::assemble(columns, factor, description.residual);
        Ok(FeatureMap { raw, gamma: description.gamma, ..map })
    }
}
