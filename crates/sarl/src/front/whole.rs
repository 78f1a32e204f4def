//! What the labels of all the data are shares of.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::moments::{Covariances, LabelCovariances};
use crate::spectral::Reduced;
use crate::spectral::attribute::Attribute;
use crate::spectral::reduced::attainable;

/// A label over all the data, in its own units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WholeLabel {
    pub(super) name: String,
    pub(super) variance: f64,
    /// What utility or leakage is a share of: what all the features explain, or the variance.
    whole: f64,
}

impl WholeLabel {
    /// The share that a loss leaves explained; all, if there is nothing to explain.
    pub(super) fn share(&self, loss: f64) -> f64 {
        if self.whole > 0.0 { (self.variance - loss) / self.whole } else { 1.0 }
    }
}

/// The labels over all the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Whole {
    pub(super) target: Vec<WholeLabel>,
    pub(super) sensitive: Vec<WholeLabel>,
}

impl Whole {
    pub(super) fn new(c: &Covariances) -> Result<Self> {
        let explained = attainable(c)?;
        let target = labels(&c.target).zip(explained);
        let target = target.map(|(label, whole)| WholeLabel { whole, ..label });
        Ok(Whole { target: target.collect(), sensitive: labels(&c.sensitive).collect() })
    }

    /// The same of a problem that is known.
    pub(super) fn of(reduced: &Reduced) -> Self {
        let exact = reduced.exact();
        let label = |(a, whole): (&Attribute, f64)| {
            let whole = a.scale * whole;
            WholeLabel { name: a.name.clone(), variance: a.scale * a.variance, whole }
        };
        let target = exact.target.attributes.iter().zip(exact.target.attainable_each());
        let sensitive = exact.sensitive.attributes.iter().map(|a| (a, a.variance));
        Whole { target: target.map(label).collect(), sensitive: sensitive.map(label).collect() }
    }

    /// Where the features are the target, which explain all of themselves, or no share is asked for.
    pub(super) fn of_labels(c: &Covariances) -> Self {
        Whole { target: labels(&c.target).collect(), sensitive: labels(&c.sensitive).collect() }
    }
}

fn labels(part: &LabelCovariances) -> impl Iterator<Item = WholeLabel> + '_ {
    let mut at = 0;
    part.labels.iter().map(move |label| {
        let variance = part.variance[at..at + label.width].iter().sum();
        at += label.width;
        WholeLabel { name: label.name.clone(), variance, whole: variance }
    })
}
