//! A fit as bytes that say everything: how it is fitted, its columns, what a kernel learnt and its
//! rows. A worker of a cluster starts with these bytes and gives such bytes back.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::sample::StoredSampling;
use super::{Chosen, Features, Fit, FitParams, State};
use crate::container::{Reader, Writer};
use crate::moments::Layout;
use crate::{Error, Result};

const KIND: &str = "fit";
const VERSION: u32 = 1;

const ROWS: &str = "rows";
const MAP: &str = "map";
const LABEL_SAMPLE: &str = "labels.sample";

#[derive(Serialize, Deserialize)]
struct Description {
    params: FitParams,
    layout: Layout,
    /// What a kernel learnt of its inputs.
    #[serde(default)]
    spreads: Option<Vec<(f64, f64)>>,
    /// Rows that have passed by before a kernel was chosen.
    #[serde(default)]
    sampling: Option<StoredSampling>,
    /// The same for the kernels of labels.
    #[serde(default)]
    label_rows: Option<u64>,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Fit {
    /// Everything as bytes, with texts of the caller's. Rows that have only passed by are kept where
    /// their sample does not depend on their order.
    pub fn pack(&self, extra: BTreeMap<String, String>) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        let mut description = Description {
            params: self.params.clone(),
            layout: self.layout.clone(),
            spreads: None,
            sampling: None,
            label_rows: None,
            extra,
        };
        if let Some(sample) = &self.sample {
            description.label_rows = Some(sample.rows());
            writer.matrix(LABEL_SAMPLE, sample.stored()?.as_ref());
        }
        match &self.state {
            State::Sampling(sampling) => {
                description.sampling = Some(sampling.store(&mut writer)?);
            }
            State::Waiting => {}
            State::Held(_) | State::Sums { .. } => {
                writer.bytes(ROWS, self.to_bytes(BTreeMap::new())?);
            }
        }
        if let Some(Chosen { map, spreads }) = self.chosen()? {
            writer.bytes(MAP, map);
            description.spreads = Some(spreads);
        }
        writer.finish(KIND, VERSION, &description)
    }

    /// Whether bytes are those of [`Fit::pack`], whole or damaged.
    pub fn is_packed(bytes: &[u8]) -> bool {
        Reader::is_of_kind(bytes, KIND)
    }

    /// The inverse of [`Fit::pack`], with the texts.
    pub fn unpack(bytes: &[u8]) -> Result<(Self, BTreeMap<String, String>)> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION..=VERSION)?;
        let Description { params, layout, spreads, sampling, label_rows, extra } = description;
        let described = |e: Error| reader.problem(format!("the description is wrong: {e}"));
        let fit = match (reader.has(ROWS), &params.features) {
            (false, _) => {
                let mut fit = Fit::new(params, layout).map_err(described)?;
                fit.restore(&reader, sampling, label_rows)?;
                return Ok((fit, extra));
            }
            (true, Features::Linear) => Fit::from_bytes(params.clone(), reader.bytes(ROWS)?)?.0,
            (true, Features::Kernel(_)) => {
                let spreads = spreads.ok_or_else(|| reader.problem("a kernel has no spreads"))?;
                let chosen = Chosen { map: reader.bytes(MAP)?.to_vec(), spreads };
                Fit::from_chosen(params.clone(), layout.clone(), chosen, reader.bytes(ROWS)?)?
            }
        };
        let same = fit.layout == layout && fit.params == params;
        reader.require(same, "the rows are not those of the description")?;
        Ok((fit, extra))
    }

    /// Puts rows back that have passed by.
    fn restore(
        &mut self,
        reader: &Reader<'_>,
        sampling: Option<StoredSampling>,
        label_rows: Option<u64>,
    ) -> Result<()> {
        let missing = || reader.problem("rows that have passed by are missing");
        match (&mut self.state, sampling) {
            (State::Sampling(state), Some(stored)) => state.restore(reader, stored)?,
            (State::Sampling(_), None) => return Err(missing()),
            _ => {}
        }
        match (&mut self.sample, label_rows) {
            (Some(sample), Some(rows)) => {
                let kept = reader.any_matrix(LABEL_SAMPLE)?;
                sample.restore(rows, kept.as_ref())
            }
            (Some(_), None) => Err(missing()),
            (None, _) => Ok(()),
        }
    }
}
