//! SPLINCE: the least change of x that leaves nothing of s to a linear adversary and keeps the
//! covariance with the target.
//!
//! ```text
//! minimise  E|r(x) − x|²   over affine r   with   Cov(r(x), s) = 0   and   Cov(r(x), y) = Cov(x, y)
//! ```
//!
//! Holstege, Ravfogel, Wouters 2025, Preserving task-relevant information under linear concept
//! removal. Our core has it ([`sarl::Erasing::preserving`]). There is no weight of hiding:
//! everything linear goes. Attackers here are trained on z, and to those without a penalty z tells
//! what that of LEACE tells: the two differ for predictors that are not trained anew. A target that is
//! itself hidden cannot be kept.

use faer::{Mat, MatRef};
use sarl::{Erasure, FitParams, Ridge};
use sarl_eval::{Labelled, Labels};

use crate::error::{Error, Result};
use crate::leace::Emptied;
use crate::rival::{About, Data, Encode, Fitting, Rival, check, check_width};

/// Erasure that preserves the covariance with the target.
pub struct Splince;

impl Rival for Splince {
    fn about(&self) -> About {
        About {
            name: "splince",
            title: "SPLINCE",
            description: "least change of the features that no linear adversary survives and that keeps their covariance with the target (Holstege et al. 2025)",
            hiding: None,
            is_random: false,
        }
    }

    fn accepts(&self, targets: &[Labels], sensitives: &[Labels]) -> Result<()> {
        let unfit = |reason| Err(Error::Unfit { rival: self.title(), reason });
        if targets.is_empty() {
            return unfit("needs a target whose covariance it preserves");
        }
        if targets.iter().any(|t| sensitives.contains(t)) {
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
            targets: data.targets,
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
        let erasure = fitted.preserve()?.erasure();
        let mut eraser = Eraser { erasure, emptied: Emptied::default() };
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
