//! The moments of some folds together.

use super::{Covariances, Moments};
use crate::{Error, Result};

impl Moments {
    /// The covariances of some folds together, one after another: all parts of all folds at once
    /// are many matrices of the size of the features.
    pub(crate) fn of_folds(&self, folds: &[usize]) -> Result<Covariances> {
        let sums = self.total(|fold| folds.contains(&fold));
        if sums.rows < 2 {
            let names: Vec<String> = folds.iter().map(usize::to_string).collect();
            return Err(Error::Folds(format!("fold {} has {}", names.join(" and "), sums.rows)));
        }
        let part = self.assemble(&sums)?;
        Ok(part)
    }

    /// The same, where every label varies.
    pub(crate) fn to_learn_from(&self, folds: &[usize]) -> Result<Covariances> {
        let part = self.of_folds(folds)?;
        part.check_informative(&self.layout)?;
        Ok(part)
    }
}
