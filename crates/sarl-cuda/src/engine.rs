//! One device or several, as an engine of `sarl`.

use std::sync::Arc;

use sarl::engine::{Accumulator, EncodePlan, Encoding, Engine, FeaturePlan, SumsPlan};
use sarl::{Error, Map, Result};

use crate::encoding::Encoder;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::sums::{Products, Sums};

/// With fewer columns than this the copy of a linear row takes longer than its products here.
const NARROW: usize = 256;

/// CUDA devices that share the rows.
#[derive(Clone, Debug)]
pub struct Cuda {
    gpus: Vec<Arc<Gpu>>,
    products: Products,
    optional: bool,
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
        let gpus = numbers.iter().map(|&n| Gpu::new(n, bytes)).collect::<std::result::Result<_, _>>()?;
        Ok(Cuda { gpus, products: Products::default(), optional: false })
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

    pub(crate) fn first(&self) -> &Arc<Gpu> {
        &self.gpus[0]
    }

    fn error(gpu: &Gpu, fault: &Fault) -> Error {
        Error::Device { device: gpu.name(), message: fault.to_string() }
    }
}

impl Engine for Cuda {
    fn name(&self) -> String {
        self.gpus.iter().map(|gpu| gpu.name()).collect::<Vec<_>>().join(", ")
    }

    fn is_optional(&self) -> bool {
        self.optional
    }

    fn pays(&self, features: &FeaturePlan<'_>) -> bool {
        let narrow = matches!(features.map, Map::Linear) && features.inputs < NARROW;
        !(self.optional && narrow)
    }

    fn accumulators(&self, plan: &SumsPlan<'_>) -> Result<Vec<Box<dyn Accumulator>>> {
        let one = |gpu: &Arc<Gpu>| -> Result<Box<dyn Accumulator>> {
            let sums = Sums::new(gpu, plan, self.products).map_err(|fault| Self::error(gpu, &fault))?;
            Ok(Box::new(sums))
        };
        self.gpus.iter().map(one).collect()
    }

    fn encoding(&self, plan: &EncodePlan<'_>) -> Result<Box<dyn Encoding>> {
        let gpu = self.first();
        Ok(Box::new(Encoder::new(gpu, plan).map_err(|fault| Self::error(gpu, &fault))?))
    }
}
