//! A fit as bytes, so that its rows can be those of several machines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Features, Fit, FitParams, State};
use crate::features::{FeatureMap, Wide};
use crate::moments::{Layout, Moments};
use crate::{Error, Result};

/// What a kernel learnt from its sample.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// What is computed from each row, as bytes.
    pub map: Vec<u8>,
    /// The mean and the standard deviation of each dense input.
    pub spreads: Vec<(f64, f64)>,
}

impl Fit {
    /// The rows that were pushed, as sums or as they are, with texts of the caller's.
    pub fn to_bytes(&self, extra: BTreeMap<String, String>) -> Result<Vec<u8>> {
        match &self.state {
            State::Sampling(_) => {
                Err(Error::Unavailable("the landmarks of the kernel are not chosen yet"))
            }
            State::Held(wide) => {
                let mut wide = (**wide).clone();
                wide.extra = extra;
                wide.to_bytes()
            }
            State::Sums { moments, .. } => {
                let mut moments = (**moments).clone();
                moments.extra = extra;
                moments.to_bytes()
            }
        }
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
            return Ok((Fit { params, layout, state: State::Held(Arc::new(wide)) }, extra));
        }
        let mut moments = Moments::from_bytes(bytes)?;
        let (extra, layout) = (std::mem::take(&mut moments.extra), moments.layout().clone());
        let map = Arc::new(FeatureMap::coded(layout.dense_features(), layout.categories()));
        let state = State::Sums { map, moments: Arc::new(moments), spreads: None };
        Ok((Fit { params, layout, state }, extra))
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
        let moments = Arc::new(Moments::from_bytes(bytes)?);
        let empty = map.moments(&layout, moments.options())?;
        if empty.layout() != moments.layout() {
            return Err(Error::Merge("they are not moments of these landmarks".into()));
        }
        let state = State::Sums { map, moments, spreads: Some(chosen.spreads) };
        Ok(Fit { params, layout, state })
    }
}
