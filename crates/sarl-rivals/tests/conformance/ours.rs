//! Our encoders behind the trait of the rivals.

use faer::{Mat, MatRef};
use sarl::{Encoder, Family, FitParams, Goal, KernelParams, Ridge};
use sarl_eval::Labelled;
use sarl_rivals::{About, Data, Encode, Error, Fitting, Result, Rival};

pub struct Ours {
    kernel: bool,
}

pub const LINEAR: Ours = Ours { kernel: false };
pub const KERNEL: Ours = Ours { kernel: true };

impl Rival for Ours {
    fn about(&self) -> About {
        About {
            name: if self.kernel { "kernel-sarl" } else { "linear-sarl" },
            title: if self.kernel { "Kernel-SARL" } else { "Linear-SARL" },
            description: "the global optimum in closed form",
            hiding: Some(0.5),
            is_random: false,
        }
    }

    fn fit(&self, data: &Data<'_>, how: &Fitting<'_>) -> Result<Box<dyn Encode>> {
        if !(0.0..=1.0).contains(&how.hiding) {
            return Err(Error::Hiding { value: how.hiding });
        }
        if data.x.nrows() == 0 {
            return Err(Error::Empty);
        }
        for labels in data.targets.iter().chain(data.sensitives) {
            let (expected, found) = (data.x.nrows(), labels.rows());
            if expected != found {
                return Err(Error::Shape { what: "values of an attribute", expected, found });
            }
        }
        let params = match self.kernel {
            false => FitParams { ridge: Ridge::Fixed(0.0), ..Default::default() },
            true => FitParams {
                ridge: Ridge::Auto,
                ..FitParams::kernel(KernelParams {
                    landmarks: 200,
                    ..KernelParams::new(Family::Rbf)
                })
            },
        };
        let (targets, sensitives) = (data.targets, data.sensitives);
        let labels = Labelled {
            targets,
            sensitives,
            names: &[],
            keeps_features: false,
            kernels: &[],
            weights: None,
        };
        let fitted = sarl_eval::fit(data.x, &labels, &params, how.stop)?;
        let model = fitted.solve(Goal::Lambda(how.hiding))?;
        Ok(Box::new(Fitted(model.encoder())))
    }
}

struct Fitted(Encoder);

impl Encode for Fitted {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn encode(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.0.encode(x)?)
    }
}
