//! Fits of other rows: merged, and renumbered so that they can be.

use std::sync::Arc;

use super::{Fit, State};
use crate::features::{FeatureMap, Wide};
use crate::labels::Reclassed;
use crate::{Error, Mismatch, Result};

impl Fit {
    /// Adds the rows of another fit. Kernels must have the same landmarks, or none yet: then rows
    /// that have passed by are added, where folds do not go by position.
    pub fn merge(&mut self, other: &Fit) -> Result<()> {
        if self.needs_sample() && other.needs_sample() {
            return self.merge_samples(other);
        }
        if self.labels != other.labels || self.sample.is_some() || other.sample.is_some() {
            return Err(Error::Merge(Mismatch::Labels));
        }
        if let (State::Held(own), State::Held(others)) = (&mut self.state, &other.state)
            && own.folds_follow_rows()
            && Wide::suits(own.rows() + others.rows(), self.layout.features())
        {
            return Arc::make_mut(own).merge(others);
        }
        let mut other = other.clone();
        other.add_up()?;
        other.settle()?;
        self.add_up()?;
        self.settle()?;
        match (&mut self.state, &other.state) {
            (State::Sums { map, moments, .. }, State::Sums { map: theirs, moments: added, .. }) => {
                if !map.is_same(theirs) {
                    return Err(Error::Merge(Mismatch::Landmarks));
                }
                Arc::make_mut(moments).merge(added)
            }
            _ => Err(Error::Merge(Mismatch::NotChosen)),
        }
    }

    /// Adds rows that have passed by another fit of the same kind.
    fn merge_samples(&mut self, other: &Fit) -> Result<()> {
        self.params.moments().check_same(other.params.moments())?;
        if self.layout != other.layout {
            return Err(Error::Merge(Mismatch::Columns));
        }
        let mut merged = self.clone();
        match (&mut merged.sample, &other.sample) {
            (Some(sample), Some(others)) => sample.merge(others)?,
            (None, None) => {}
            _ => return Err(Error::Merge(Mismatch::Labels)),
        }
        match (&mut merged.state, &other.state) {
            (State::Sampling(sampling), State::Sampling(others)) => sampling.merge(others)?,
            (State::Waiting, State::Waiting) => {}
            _ => return Err(Error::Merge(Mismatch::NotChosen)),
        }
        *self = merged;
        Ok(())
    }

    /// Renumbers the classes of a label; see [`Moments::reclass`](crate::Moments::reclass).
    pub fn reclass(&mut self, label: usize, to: &[u32], classes: usize) -> Result<()> {
        let layout = self.layout.reclassed(label, classes);
        let own = || vec![Reclassed { label, to: to.to_vec(), joint: None }];
        let (labels, changes) = match &self.labels {
            None => (None, own()),
            Some(labels) => {
                let (labels, changes) = labels.reclassed(label, to, classes)?;
                self.params.criterion = labels.criterion();
                (Some(Arc::new(labels)), changes)
            }
        };
        for Reclassed { label, to, joint } in changes {
            match (&mut self.state, joint) {
                (State::Sampling(_) | State::Waiting, _) => {}
                (State::Held(wide), None) => Arc::make_mut(wide).reclass(label, &to, classes)?,
                (State::Held(wide), Some(joint)) => {
                    Arc::make_mut(wide).reclass_joint(label, &to, joint)?;
                }
                (State::Sums { moments, .. }, None) => {
                    Arc::make_mut(moments).reclass(label, &to, classes)?;
                }
                (State::Sums { moments, .. }, Some(joint)) => {
                    Arc::make_mut(moments).reclass_joint(label, &to, joint)?;
                }
            }
        }
        (self.layout, self.labels) = (layout, labels);
        Ok(())
    }

    /// Renumbers the categories of a class-coded feature; see [`Moments::recode`](crate::Moments::recode). Not those of a
    /// kernel, whose landmarks have them.
    pub fn recode(&mut self, category: usize, to: &[u32], size: usize) -> Result<()> {
        let layout = self.layout.recoded(category, to, size)?;
        match &mut self.state {
            State::Waiting => {}
            State::Held(wide) => Arc::make_mut(wide).recode(category, to, size)?,
            State::Sums { map, moments, spreads: None } => {
                Arc::make_mut(moments).recode(category, to, size)?;
                *map = Arc::new(FeatureMap::coded(layout.dense_features(), layout.categories()));
            }
            State::Sampling(_) | State::Sums { .. } => {
                return Err(Error::Unavailable("the categories of a kernel are those of its rows"));
            }
        }
        self.layout = layout;
        Ok(())
    }
}
