//! Our encoders behind the trait of the rivals.

use faer::{Mat, MatRef};
use sarl::{
    Encoder, Family, FeatureMap, Goal, Kernel, LandmarkOptions, Model, MomentsOptions, Reduced,
    best_ridge, median_gamma,
};
use sarl_eval::{Labelled, Labels, moments};
use sarl_rivals::{Data, Encode, Error, Fitting, Result, Rival};

pub struct Ours {
    kernel: bool,
}

pub const LINEAR: Ours = Ours { kernel: false };
pub const KERNEL: Ours = Ours { kernel: true };

impl Rival for Ours {
    fn name(&self) -> &'static str {
        if self.kernel { "kernel-sarl" } else { "linear-sarl" }
    }

    fn title(&self) -> &'static str {
        if self.kernel { "Kernel-SARL" } else { "Linear-SARL" }
    }

    fn description(&self) -> &'static str {
        "the global optimum in closed form"
    }

    fn hiding(&self) -> Option<f64> {
        Some(0.5)
    }

    fn is_random(&self) -> bool {
        false
    }

    fn accepts(&self, _: &[Labels], _: &[Labels]) -> Result<()> {
        Ok(())
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
        let map = match self.kernel {
            false => FeatureMap::linear(data.x.ncols()),
            true => {
                let gamma = median_gamma(Family::Rbf, data.x)?;
                let options = LandmarkOptions { cap: 200, ..Default::default() };
                FeatureMap::landmarks(Kernel::Rbf { gamma }, data.x, &options)?
            }
        };
        let (targets, sensitives) = (data.targets, data.sensitives);
        let labels = Labelled { targets, sensitives, names: &[], weights: None };
        let (layout, moments) = moments(&map, data.x, &labels, MomentsOptions::default())?;
        let ridge = if self.kernel { best_ridge(&moments, None)?.ridge } else { 0.0 };
        let reduced = Reduced::new(&moments.covariances()?, ridge)?;
        let model = Model::new(&map, &layout, &reduced, None, Goal::Lambda(how.hiding))?;
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
