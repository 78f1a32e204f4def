//! Erasure: the least change of x that leaves nothing for a linear adversary.
//!
//! ```text
//! minimise  E|r(x) − x|²   over affine r   with   Cov(r(x), s) = 0      SPLINCE also:  Cov(r(x), y) = Cov(x, y)
//! ```
//!
//! Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman 2023, LEACE: Perfect linear
//! concept erasure in closed form. Holstege, Ravfogel, Wouters 2025, Preserving task-relevant
//! information under linear concept removal. Attackers here are trained on z, and to those without a
//! penalty z of both tells the same: they differ for predictors that are not trained anew.
//!
//! Our core has both ([`sarl::Erasing`]). There is no weight of hiding: everything linear goes.

use faer::{Mat, MatRef};
use sarl::{Erasure, FitParams, Goal, Ridge};
use sarl_eval::{Labelled, Labels};

use crate::error::{Error, Result};
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_width};

/// Least-squares concept erasure.
pub struct LinearErasure {
    about: About,
    preserves: bool,
}

/// The least change of all.
pub const LEACE: LinearErasure = LinearErasure {
    about: About {
        name: "leace",
        title: "LEACE",
        description: "least change of the features that no linear adversary survives (Belrose et al. 2023)",
        hiding: None,
        is_random: false,
    },
    preserves: false,
};
/// The least change that preserves the covariance with the target.
pub const SPLINCE: LinearErasure = LinearErasure {
    about: About {
        name: "splince",
        title: "SPLINCE",
        description: "least change of the features that no linear adversary survives and that keeps their covariance with the target (Holstege et al. 2025)",
        hiding: None,
        is_random: false,
    },
    preserves: true,
};

impl Rival for LinearErasure {
    fn about(&self) -> About {
        self.about
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let unfit = |reason| Err(Error::Unfit { rival: self.title(), reason });
        if self.preserves && targets.is_empty() {
            return unfit("needs a target whose covariance it preserves");
        }
        if self.preserves && targets.iter().any(|t| sensitives.contains(t)) {
            return unfit("cannot preserve a target that is itself to be hidden");
        }
        Ok(())
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        // What no method takes comes first: labels of no rows are all the same.
        if data.x.nrows() == 0 {
            return Err(Error::Empty);
        }
        check(self, data, how)?;
        let labels = Labelled {
            targets: if self.preserves { data.targets } else { &[] },
            sensitives: data.sensitives,
            names: &[],
            keeps_features: true,
            kernels: &[],
            weights: None,
        };
        let params = FitParams { ridge: Ridge::Fixed(0.0), ..Default::default() };
        let fitted = sarl_eval::fit(data.x, &labels, &params, how.stop)?;
        if (how.stop)() {
            return Err(Error::Interrupted);
        }
        let goal = Goal::Lambda(1.0);
        let erasing = if self.preserves { fitted.preserve()? } else { fitted.erase(goal)? };
        let mut eraser = Eraser { erasure: erasing.erasure(), emptied: Emptied::default() };
        eraser.emptied = Emptied::new(data.x, eraser.encode(data.x)?.as_ref());
        Ok(Box::new(eraser))
    }
}

struct Eraser {
    erasure: Erasure,
    emptied: Emptied,
}

impl Encode for Eraser {
    fn dim(&self) -> usize {
        self.erasure.mean().len()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        check_width(x, self.dim())?;
        let erased = self.erasure.apply(x)?;
        let mut z = MatRef::from_row_major_slice(&erased, x.nrows(), x.ncols()).to_owned();
        self.emptied.settle(&mut z);
        Ok(z)
    }
}

/// Columns that a projection leaves constant but for rounding, each with its mean.
///
/// Whoever scales columns to variance 1 would find in that rounding what the projection took away.
#[derive(Default)]
pub(crate) struct Emptied(Vec<(usize, f64)>);

impl Emptied {
    /// Compares the training rows before and after; rounding is small beside the widest column.
    pub(crate) fn new(before: MatRef<'_, f64>, after: MatRef<'_, f64>) -> Self {
        let spread = |x: MatRef<'_, f64>, j: usize| {
            let n = x.nrows() as f64;
            let mean = x.col(j).iter().sum::<f64>() / n;
            let variance = x.col(j).iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            (mean, variance.sqrt())
        };
        let widest = (0..before.ncols()).map(|j| spread(before, j).1).fold(0.0, f64::max);
        let columns = (0..after.ncols()).filter_map(|j| {
            let (mean, width) = spread(after, j);
            (width <= 1e-9 * widest).then_some((j, mean))
        });
        Emptied(columns.collect())
    }

    /// Makes them constant.
    pub(crate) fn settle(&self, z: &mut Mat<f64>) {
        for &(j, mean) in &self.0 {
            z.col_mut(j).fill(mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use sarl_eval::probes::Linear;
    use sarl_eval::{Attribute, Options, View, audit};

    use super::*;

    /// Two classes in four columns, the last of which is the class itself.
    fn rows() -> (Mat<f64>, Labels) {
        let codes: Vec<u32> = (0..300).map(|i| u32::from(i % 7 < 3)).collect();
        let x = Mat::from_fn(300, 4, |i, j| match j {
            3 => 2.0 * f64::from(codes[i]) - 1.0,
            _ => ((i * (5 + 6 * j)) % 23) as f64 / 7.0 + (j + 1) as f64 * f64::from(codes[i]),
        });
        (x, Labels::Classes { codes, count: 2 })
    }

    #[test]
    fn a_linear_adversary_learns_before_and_not_after() {
        let (x, s) = rows();
        let data = Data {
            x: x.as_ref(),
            categories: &[],
            targets: &[],
            sensitives: std::slice::from_ref(&s),
        };
        let eraser = LEACE.fit(&data, &Fitting { hiding: 1.0, seed: 0, stop: &|| false }).unwrap();
        let z = eraser.encode(x.as_ref()).unwrap();
        assert_eq!(z.shape(), x.shape());
        let told = |x: &Mat<f64>| {
            let views = [View { train: x.as_ref(), test: x.as_ref() }];
            let attributes = [Attribute { name: "s", train: &s, test: &s }];
            let options = Options {
                probes: &[&Linear],
                seeds: &[0],
                threads: 1,
                stop: &|| false,
                own: None,
                progress: &|_, _| (),
            };
            audit(&views, &attributes, &options).unwrap()[0][0].best.score.value()
        };
        let Labels::Classes { codes, .. } = &s else { unreachable!() };
        let majority = codes.iter().filter(|c| **c == 0).count() as f64 / codes.len() as f64;
        assert!(told(&x) > 0.99 && (told(&z) - majority).abs() < 1e-9, "{}", told(&z));
    }
}
