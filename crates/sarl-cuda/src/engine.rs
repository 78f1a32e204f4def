//! One device or several, as an engine of `sarl`.

use std::sync::{Arc, OnceLock};

use faer::MatRef;
use sarl::engine::{
    Accumulator, Candidates, EncodePlan, Encoding, Engine, FeaturePlan, Folds, FoldsPlan, SumsPlan,
};
use sarl::{Error, Kernel, Map, Result};

use crate::candidates::Pool;
use crate::encoding::Encoder;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::sums::{Products, Sums};
use crate::{folds, solver};

/// With fewer columns than this the copy of a linear row takes longer than its products here.
const NARROW: usize = 256;
/// Multiplications that take a few processors as long as it takes to make a device ready.
const LITTLE: f64 = 1e11;

/// The same for the factors of folds, whose sums must be copied there.
const LITTLE_FACTOR: f64 = 1e9;
/// Columns of a matrix that kernels take at once.
const MOST_COLUMNS: usize = 65_535;

/// CUDA devices that share the rows.
#[derive(Clone, Debug)]
pub struct Cuda {
    numbers: Vec<usize>,
    bytes: Option<usize>,
    products: Products,
    optional: bool,
    /// Made ready when they are first needed.
    gpus: Arc<OnceLock<std::result::Result<Vec<Arc<Gpu>>, Fault>>>,
}

impl Cuda {
    /// These devices, by their numbers; one may be named twice.
    pub fn new(numbers: &[usize]) -> std::result::Result<Self, Fault> {
        Self::within(numbers, None)
    }

    /// The same with at most so many bytes of the memory of each.
    pub fn within(numbers: &[usize], bytes: Option<usize>) -> std::result::Result<Self, Fault> {
        if numbers.is_empty() {
            return Err(Fault::NoDevice { reason: "none is named".to_owned() });
        }
        let cuda = Cuda { bytes, optional: false, ..Self::later(numbers) };
        cuda.gpus().map(|_| ())?;
        Ok(cuda)
    }

    /// Devices that are made ready only when there is work that is worth it; what is not, and what there
    /// is no memory for, is left to the processor.
    pub(crate) fn later(numbers: &[usize]) -> Self {
        let (numbers, products) = (numbers.to_vec(), Products::default());
        Cuda { numbers, bytes: None, products, optional: true, gpus: Arc::default() }
    }

    /// How products are formed.
    pub fn products(self, products: Products) -> Self {
        Cuda { products, ..self }
    }

    /// The processor takes over what is not worth the way, and what there is no memory for.
    pub fn optional(self) -> Self {
        Cuda { optional: true, ..self }
    }

    pub(crate) fn how(&self) -> Products {
        self.products
    }

    pub(crate) fn gpus(&self) -> std::result::Result<&[Arc<Gpu>], Fault> {
        let all = self.gpus.get_or_init(|| {
            self.numbers.iter().map(|&number| Gpu::shared(number, self.bytes)).collect()
        });
        all.as_deref().map_err(Clone::clone)
    }

    fn ready(&self) -> Result<&[Arc<Gpu>]> {
        self.gpus().map_err(|fault| {
            let numbers: Vec<String> = self.numbers.iter().map(usize::to_string).collect();
            Error::Device {
                device: format!("cuda:{}", numbers.join(",")),
                message: fault.to_string(),
            }
        })
    }

    fn error(gpu: &Gpu, fault: &Fault) -> Error {
        Error::Device { device: gpu.name(), message: fault.to_string() }
    }
}

impl Engine for Cuda {
    fn name(&self) -> String {
        match self.gpus.get() {
            Some(Ok(gpus)) => gpus.iter().map(|gpu| gpu.name()).collect::<Vec<_>>().join(", "),
            _ => "cuda".to_owned(),
        }
    }

    fn is_optional(&self) -> bool {
        self.optional
    }

    fn pays(&self, features: &FeaturePlan<'_>, rows: u64) -> bool {
        if !self.optional {
            return true;
        }
        let (inputs, outputs) = (features.inputs as f64, features.outputs() as f64);
        let linear = matches!(features.map, Map::Linear);
        let row =
            if linear || features.factor.is_some() { outputs * outputs } else { inputs * outputs };
        !(linear && features.inputs < NARROW) && row * rows as f64 >= LITTLE
    }

    fn accumulators(&self, plan: &SumsPlan<'_>) -> Result<Vec<Box<dyn Accumulator>>> {
        let one = |gpu: &Arc<Gpu>| -> Result<Box<dyn Accumulator>> {
            let sums =
                Sums::new(gpu, plan, self.products).map_err(|fault| Self::error(gpu, &fault))?;
            Ok(Box::new(sums))
        };
        self.ready()?.iter().map(one).collect()
    }

    fn candidates(
        &self,
        kernel: Kernel,
        x: MatRef<'_, f64>,
        most: usize,
    ) -> Result<Option<Box<dyn Candidates>>> {
        let work = x.nrows() as f64 * (most as f64).powi(2);
        if self.optional && work < LITTLE {
            return Ok(None);
        }
        let gpu = &self.ready()?[0];
        let pool = Pool::new(gpu, kernel, x, most).map_err(|fault| Self::error(gpu, &fault))?;
        Ok(Some(Box::new(pool)))
    }

    fn folds(&self, plan: &FoldsPlan<'_>) -> Result<Option<Box<dyn Folds>>> {
        let size = plan.scatters.first().map_or(0, |scatter| scatter.nrows());
        let little = (size as f64).powi(3) / 3.0 < LITTLE_FACTOR;
        if (self.optional && little) || size > MOST_COLUMNS || !solver::is_there() {
            return Ok(None);
        }
        let gpu = &self.ready()?[0];
        let sums = folds::Sums::new(gpu, plan).map_err(|fault| Self::error(gpu, &fault))?;
        Ok(Some(Box::new(sums)))
    }

    fn encoding(&self, plan: &EncodePlan<'_>) -> Result<Box<dyn Encoding>> {
        let gpu = &self.ready()?[0];
        Ok(Box::new(Encoder::new(gpu, plan).map_err(|fault| Self::error(gpu, &fault))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_need_not_be_used_gets_only_work_that_is_worth_it() {
        let plan = |inputs: usize| FeaturePlan { map: Map::Linear, factor: None, inputs };
        let cuda = Cuda::later(&[0]);
        assert!(cuda.pays(&plan(4096), 100_000));
        assert!(!cuda.pays(&plan(4096), 1000), "too few rows");
        assert!(!cuda.pays(&plan(100), 1_000_000_000), "rows too narrow");
        let named = Cuda { optional: false, ..cuda };
        assert!(named.pays(&plan(100), 10));
    }
}
