//! What every method is asked for.

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use sarl_eval::Labels;

use crate::error::{Error, Result};

/// Rows to learn from.
///
/// Numeric columns are expected to have mean 0 and variance 1; one-hot columns may stay 0 and 1.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    /// The features, a row for each sample.
    pub x: MatRef<'a, f64>,
    /// The numbers of values of the categories that the last columns of the features are, one-hot.
    pub categories: &'a [usize],
    /// What is to be kept; may be empty, then the features themselves are.
    pub targets: &'a [Labels],
    /// What is to be hidden.
    pub sensitives: &'a [Labels],
}

/// How to fit.
#[derive(Clone, Copy)]
pub struct Fitting<'a> {
    /// The weight of hiding, 0 to 1: at 0 nothing is hidden, at 1 everything that can be, at any
    /// cost. Each method says how it maps to its own weight.
    pub hiding: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// Asked now and then; the fit ends with [`Error::Interrupted`] when it says so.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// A fitted encoder.
pub trait Encode: Send + Sync {
    /// The dimensions of z.
    fn dim(&self) -> usize;

    /// Encodes rows.
    ///
    /// # Errors
    ///
    /// Rows that are not as wide as those of the fit.
    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>>;
}

/// What a method is.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name in options and JSON.
    pub name: &'static str,
    /// Its name in tables and figures.
    pub title: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// The weight of hiding that is sensible when nothing else is known; none for a method that has
    /// no such weight.
    pub hiding: Option<f64>,
    /// Whether the seed changes the encoder.
    pub is_random: bool,
}

/// A method that makes encoders.
pub trait Rival: Sync {
    /// What it is.
    fn about(&self) -> About;

    /// See [`About::name`].
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// See [`About::title`].
    fn title(&self) -> &'static str {
        self.about().title
    }

    /// See [`About::hiding`].
    fn hiding(&self) -> Option<f64> {
        self.about().hiding
    }

    /// Whether it can work on data with these labels, and why not.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`].
    fn accepts(&self, _targets: &[Labels], _sensitives: &[Labels]) -> Result<()> {
        Ok(())
    }

    /// Fits an encoder.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] where training does not converge, [`Error::Unfit`] for labels that the
    /// method has no answer for.
    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>>;
}

/// What every fit looks at first.
pub(crate) fn check(rival: &dyn Rival, data: &Data<'_>, how: &Fitting<'_>) -> Result<()> {
    rival.accepts(data.targets, data.sensitives)?;
    if !(0.0..=1.0).contains(&how.hiding) {
        return Err(Error::Hiding { value: how.hiding });
    }
    let rows = data.x.nrows();
    if rows == 0 || data.x.ncols() == 0 {
        return Err(Error::Empty);
    }
    let (found, expected) = (data.x.ncols(), data.categories.iter().sum());
    if found < expected {
        return Err(Error::Shape { what: "features", expected, found });
    }
    for labels in data.targets.iter().chain(data.sensitives) {
        labels.check()?;
        if labels.rows() != rows {
            let (expected, found) = (rows, labels.rows());
            return Err(Error::Shape { what: "values of an attribute", expected, found });
        }
    }
    Ok(())
}

/// Refuses rows of another width.
pub(crate) fn check_width(x: MatRef<'_, f64>, expected: usize) -> Result<()> {
    match x.ncols() {
        found if found == expected => Ok(()),
        found => Err(Error::Shape { what: "features", expected, found }),
    }
}

/// Refuses labels without a target, and numbers that are to be hidden where there is a reason to.
pub(crate) fn check_labels(
    rival: &dyn Rival,
    targets: &[Labels],
    sensitives: &[Labels],
    no_numbers: Option<&'static str>,
) -> Result<()> {
    let reason = match no_numbers {
        _ if targets.is_empty() => "needs a target to keep",
        Some(reason) if sensitives.iter().any(|s| s.classes().is_none()) => reason,
        _ => return Ok(()),
    };
    Err(Error::Unfit { rival: rival.title(), reason })
}

/// The places of rows in a random order, and of a tenth that is kept apart.
pub(crate) fn kept_apart(rows: usize, rng: &mut ChaCha8Rng) -> [Vec<usize>; 2] {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(rng);
    let apart = order.split_off(rows - rows / 10);
    // Of a handful of rows none can be spared.
    let apart = if apart.is_empty() { order.clone() } else { apart };
    [order, apart]
}
