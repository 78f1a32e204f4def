//! Refuses covariances that say nothing.

use rayon::prelude::*;

use super::covariances::Covariances;
use super::layout::{LabelKind, Layout, Role};
use super::rounding::constant;
use crate::error::Place;
use crate::{Error, Result};

impl Covariances {
    /// Sums of very large numbers.
    pub(super) fn check_overflow(&self, layout: &Layout) -> Result<()> {
        let m = self.features.ncols();
        // No early exit within a column: the loop vectorises, and almost every column is fine.
        let bad = |c: faer::ColRef<'_, f64>| c.iter().fold(false, |bad, v| bad | !v.is_finite());
        let bad = self.features.par_col_iter().position_first(bad);
        if let Some(j) = bad {
            let worst = (0..m).find(|&i| !self.features[(i, i)].is_finite()).unwrap_or(j);
            return Err(Error::Overflow { place: Place::Feature(worst) });
        }
        for (role, part) in [(Role::Target, &self.target), (Role::Sensitive, &self.sensitive)] {
            let ok = |j: usize| {
                let mut cross = part.cross.col_iter().skip(j).take(1);
                part.variance[j].is_finite() && cross.all(|c| c.iter().all(|v| v.is_finite()))
            };
            if let Some(j) = (0..part.variance.len()).find(|&j| !ok(j)) {
                let (name, column) = locate(layout, role, j);
                return Err(Error::Overflow { place: Place::Label { name, column } });
            }
        }
        Ok(())
    }

    /// Two rows at least, and every label with something to predict.
    pub(super) fn check_informative(&self, layout: &Layout) -> Result<()> {
        if self.rows < 2 {
            return Err(Error::TooFewRows { rows: self.rows });
        }
        for (role, part) in [(Role::Target, &self.target), (Role::Sensitive, &self.sensitive)] {
            let mut at = 0;
            for label in layout.labels.iter().filter(|l| l.role == role) {
                let width = layout.label_width(label);
                let flat = (at..at + width).all(|j| constant(part.variance[j], part.mean[j]));
                if flat && label.kind == LabelKind::Features {
                    return Err(Error::NoVariation);
                }
                let name = || label.name.clone();
                if flat && label.made.is_some() {
                    return Err(Error::ConstantWithin { name: name() });
                }
                if flat {
                    return Err(Error::ConstantLabel { name: name() });
                }
                at += width;
            }
        }
        Ok(())
    }
}

/// The label and the column within it of a role's column `j`.
fn locate(layout: &Layout, role: Role, j: usize) -> (String, usize) {
    let mut left = j;
    for label in layout.labels.iter().filter(|l| l.role == role) {
        let width = layout.label_width(label);
        if left < width {
            return (label.name.clone(), left);
        }
        left -= width;
    }
    (String::new(), j)
}
