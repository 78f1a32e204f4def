//! Sums of rows whose classes or categories get other numbers.

use std::sync::Arc;

use super::lane::Lane;
use super::{LabelKind, Layout, Made, Moments};
use crate::{Error, Result};

impl Moments {
    /// Renumbers the classes of a label, counted in the order of the layout: class `k` becomes
    /// class `to[k]` of `classes`. Moments that met other classes, or the same ones in another
    /// order, can then be merged, and a stream can go on with classes that it had not met.
    pub fn reclass(&mut self, label: usize, to: &[u32], classes: usize) -> Result<()> {
        let name = self.layout.labels.get(label).map_or("", |l| &l.name).to_owned();
        let Some((group, before)) = self.layout.class_group(label) else {
            return Err(Error::LabelKind { name, found: "numbers", expected: "classes" });
        };
        if to.len() != before {
            return Err(Error::shape(format!("classes of label `{name}`"), to.len(), before));
        }
        check_places(&format!("label `{name}`"), to, classes)?;
        self.take_layout(self.layout.reclassed(label, classes), group, to)
    }

    /// The same of a label of joint classes, which becomes one of `joint`.
    pub(crate) fn reclass_joint(&mut self, label: usize, to: &[u32], joint: Made) -> Result<()> {
        let mut layout = self.layout.clone();
        let (Some((group, _)), Some(new), Made::Joint { classes, groups, .. }) =
            (self.layout.class_group(label), layout.labels.get_mut(label), joint)
        else {
            return Err(Error::Unavailable("these classes are not those of a target and a group"));
        };
        new.kind = LabelKind::Class { classes: classes.saturating_mul(groups) };
        new.made = Some(joint);
        self.take_layout(layout, group, to)
    }

    /// Moves the sums of a group's classes to where another layout has them.
    fn take_layout(&mut self, layout: Layout, group: usize, to: &[u32]) -> Result<()> {
        layout.check()?;
        self.settle()?;
        for lane in Arc::make_mut(&mut self.lanes) {
            let mut wider = Lane::new(&layout, self.options.folds, self.options.precision);
            for (sums, old) in wider.folds.iter_mut().zip(&lane.folds) {
                sums.take_reclassed(old, group, to, &self.pairs);
            }
            *lane = wider;
        }
        self.layout = layout;
        Ok(())
    }

    /// Renumbers the categories of a class-coded feature, counted among the class-coded ones: `k`
    /// becomes `to[k]` of `size`. The sums of its one-hot columns move to their new places, and those
    /// of categories that nobody has met are zero.
    pub fn recode(&mut self, category: usize, to: &[u32], size: usize) -> Result<()> {
        let layout = self.layout.recoded(category, to, size)?;
        self.take_layout(layout, category, to)
    }
}

/// Refuses places that are not there, or that two would have.
pub(super) fn check_places(what: &str, to: &[u32], places: usize) -> Result<()> {
    let mut taken = vec![false; places];
    for &class in to {
        if taken.get(class as usize) != Some(&false) {
            return Err(Error::ClassTwice { what: what.to_owned(), class });
        }
        taken[class as usize] = true;
    }
    Ok(())
}
