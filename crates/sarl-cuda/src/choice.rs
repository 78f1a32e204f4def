//! Which device is used: what can be typed, and what becomes of it.

use std::str::FromStr;
use std::sync::Arc;

use sarl::engine::Engine;

use crate::engine::Cuda;
use crate::fault::Fault;
use crate::gpu::has_driver;
use crate::sums::Products;

/// Where rows are added up and encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// A GPU where there is one and the work is worth the way to it, else the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// These GPUs, by their numbers.
    Cuda(Vec<usize>),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no device: expected auto, cpu, cuda, cuda:N or cuda:N,M");
        match text.split_once(':') {
            None if text == "auto" => Ok(Device::Auto),
            None if text == "cpu" => Ok(Device::Cpu),
            None if text == "cuda" => Ok(Device::Cuda(vec![0])),
            Some(("cuda", numbers)) => {
                let numbers: Result<Vec<usize>, _> =
                    numbers.split(',').map(usize::from_str).collect();
                numbers.map(Device::Cuda).map_err(|_| wrong())
            }
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                write!(f, "cuda:{}", numbers.join(","))
            }
        }
    }
}

impl Device {
    /// The engine, and nothing where the processor does the work. With `auto` a machine without a
    /// usable GPU is no error.
    pub fn engine(&self, products: Products) -> Result<Option<Arc<dyn Engine>>, Fault> {
        self.engine_near(0, products)
    }

    /// The same where rows lie on a GPU, which `auto` then takes.
    pub fn engine_near(
        &self,
        gpu: usize,
        products: Products,
    ) -> Result<Option<Arc<dyn Engine>>, Fault> {
        let found = match self {
            Device::Cpu => return Ok(None),
            // Whether the device can be used is found out when there is work for it.
            Device::Auto if has_driver() => Cuda::later(&[gpu]),
            Device::Auto => return Ok(None),
            Device::Cuda(numbers) => Cuda::new(numbers)?,
        };
        Ok(Some(Arc::new(found.products(products))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_what_is_typed() {
        for (text, device) in [
            ("auto", Device::Auto),
            ("cpu", Device::Cpu),
            ("cuda", Device::Cuda(vec![0])),
            ("cuda:1", Device::Cuda(vec![1])),
            ("cuda:0,1", Device::Cuda(vec![0, 1])),
        ] {
            assert_eq!(text.parse(), Ok(device));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:0,", "cpu:0", "CUDA"] {
            let error = text.parse::<Device>().unwrap_err();
            assert!(error.contains("expected auto, cpu, cuda"), "{text}: {error}");
        }
        assert_eq!(Device::Cuda(vec![0, 1]).to_string(), "cuda:0,1");
    }

    #[test]
    fn a_machine_without_a_gpu_says_so_and_auto_goes_on() {
        if crate::devices().is_ok() {
            println!("skipped: this machine has a GPU");
            return;
        }
        assert!(
            Device::Auto
                .engine(Products::Asked)
                .is_ok_and(|engine| engine.is_none_or(|e| e.is_optional()))
        );
        assert!(Device::Cpu.engine(Products::Asked).is_ok_and(|engine| engine.is_none()));
        let fault = Device::Cuda(vec![0]).engine(Products::Asked).unwrap_err();
        let known =
            matches!(fault, Fault::NoDriver | Fault::NoDevice { .. } | Fault::NoLibrary { .. });
        assert!(known, "{fault}");
    }

    #[test]
    fn faults_say_what_was_found_and_what_is_needed() {
        let old = Fault::OldDriver { found: 10_020, needed: 11_040 };
        assert_eq!(old.to_string(), "the driver is of CUDA 10.2; 11.4 or later is needed");
        let memory = Fault::Memory { needed: 900, free: 100, total: 8000 };
        assert_eq!(
            memory.to_string(),
            "out of memory: 900 MiB are needed, 100 of 8000 MiB are free"
        );
        let device = Fault::OldDevice { major: 5, minor: 2 };
        assert!(device.to_string().contains("5.2") && device.to_string().contains("6.0"));
    }
}
