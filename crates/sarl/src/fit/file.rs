//! A fit as bytes, so that its rows can be those of several machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Features, Fit, FitParams, NOT_CHOSEN, State};
use crate::features::{FeatureMap, Wide};
use crate::labels::LabelMap;
use crate::moments::{Layout, Moments};
use crate::{Error, Mismatch, Result};

/// What a kernel learnt from its sample.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What is computed from each row, as bytes.
    pub map: Vec<u8>,
    /// The mean and the standard deviation of each dense input.
    pub spreads: Vec<(f64, f64)>,
}

/// Where moments carry what the labels have become.
const LABELS: &str = "sarl.labels";

impl Fit {
    /// The rows that were pushed, as sums or as they are, with texts of the caller's.
    pub fn to_bytes(&self, mut extra: BTreeMap<String, String>) -> Result<Vec<u8>> {
        if let Some(labels) = &self.labels {
            extra.insert(LABELS.to_owned(), labels.to_json()?);
        }
        match &self.state {
            State::Sampling(_) | State::Waiting => Err(Error::Unavailable(NOT_CHOSEN)),
            State::Held(wide) => {
                let mut wide = (**wide).clone();
                wide.extra = extra;
                wide.to_bytes()
            }
            State::Sums { moments, .. } => {
                let mut moments = (**moments).clone();
                moments.settle()?;
                moments.extra = extra;
                moments.to_bytes()
            }
        }
    }

    /// The same without rows: features and labels as they were chosen, for rows of other machines
    /// whose sums are to be merged with these.
    pub fn without_rows(&self) -> Result<Self> {
        if self.sample.is_some() {
            return Err(Error::Unavailable(NOT_CHOSEN));
        }
        let mut fit = self.clone();
        fit.state = match &self.state {
            State::Sampling(_) => return Err(Error::Unavailable(NOT_CHOSEN)),
            State::Sums { map, spreads: Some(spreads), .. } => State::Sums {
                moments: Arc::new(map.moments(&self.added(), self.params.moments())?),
                map: Arc::clone(map),
                spreads: Some(spreads.clone()),
            },
            State::Waiting | State::Held(_) | State::Sums { .. } => State::Waiting,
        };
        fit.begin()?;
        Ok(fit)
    }

    /// What a kernel learnt from its sample, which its rows need too.
    pub fn chosen(&self) -> Result<Option<Chosen>> {
        match &self.state {
            State::Sums { map, spreads: Some(spreads), .. } => {
                Ok(Some(Chosen { map: map.to_bytes()?, spreads: spreads.clone() }))
            }
            _ => Ok(None),
        }
    }

    /// The inverse of [`Fit::to_bytes`] for a linear fit, with the texts.
    pub fn from_bytes(params: FitParams, bytes: &[u8]) -> Result<(Self, BTreeMap<String, String>)> {
        params.check()?;
        if params.features != Features::Linear {
            return Err(Error::Unavailable("a kernel needs its landmarks beside its rows"));
        }
        if let Ok(mut wide) = Wide::from_bytes(bytes) {
            let (extra, layout) = (std::mem::take(&mut wide.extra), wide.layout().clone());
            return Self::labelled(params, layout, extra, State::Held(Arc::new(wide)));
        }
        let mut moments = Moments::from_bytes(bytes)?;
        let (extra, layout) = (std::mem::take(&mut moments.extra), moments.layout().clone());
        let map = Arc::new(FeatureMap::coded(layout.dense_features(), layout.categories()));
        let state = State::Sums { map, moments: Arc::new(moments), spreads: None };
        Self::labelled(params, layout, extra, state)
    }

    /// With what the labels had become, if that travelled along.
    fn labelled(
        mut params: FitParams,
        layout: Layout,
        mut extra: BTreeMap<String, String>,
        state: State,
    ) -> Result<(Self, BTreeMap<String, String>)> {
        let (labels, layout) = match extra.remove(LABELS) {
            None => (None, layout),
            Some(text) => {
                let (labels, layout) = LabelMap::from_json(&text, &layout)?;
                (Some(Arc::new(labels)), layout)
            }
        };
        params.criterion = labels.as_ref().map_or_else(Default::default, |l| l.criterion());
        let (sample, expected) = (None, None);
        Ok((
            Fit { params, layout, labels, sample, expected, engine: None, coming: 0, state },
            extra,
        ))
    }

    /// The same for a kernel, with what it learnt and the layout of its rows as they come.
    pub fn from_chosen(
        params: FitParams,
        layout: Layout,
        chosen: Chosen,
        bytes: &[u8],
    ) -> Result<Self> {
        params.check()?;
        let map = Arc::new(FeatureMap::from_bytes(&chosen.map)?);
        let mut moments = Moments::from_bytes(bytes)?;
        let (labels, added) = match moments.extra.remove(LABELS) {
            None => (None, layout.clone()),
            Some(text) => {
                let inner = layout.relabelled(moments.layout().labels().to_vec());
                let (labels, given) = LabelMap::from_json(&text, &inner)?;
                if given != layout {
                    return Err(Error::Merge(Mismatch::Labels));
                }
                (Some(Arc::new(labels)), inner)
            }
        };
        let empty = map.moments(&added, moments.options())?;
        if empty.layout() != moments.layout() {
            return Err(Error::Merge(Mismatch::Landmarks));
        }
        let criterion = labels.as_ref().map_or_else(Default::default, |l| l.criterion());
        let params = FitParams { criterion, ..params };
        let moments = Arc::new(moments);
        let state = State::Sums { map, moments, spreads: Some(chosen.spreads) };
        let (sample, expected) = (None, None);
        Ok(Fit { params, layout, labels, sample, expected, engine: None, coming: 0, state })
    }
}
