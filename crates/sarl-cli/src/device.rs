//! Which device adds up and encodes rows, and what is said of it.

use std::sync::Arc;

use sarl::engine::Engine;
use sarl::{Fit, Moments};
use sarl_cuda::{Device, Products};

use crate::args::{DeviceOptions, Global, PrecisionName};
use crate::failure::{Exit, Failure, Outcome};
use crate::output;

/// The engine that was asked for; nothing where the processor does the work.
pub fn engine(device: &Device, precision: PrecisionName) -> Outcome<Option<Arc<dyn Engine>>> {
    let products = match precision {
        PrecisionName::Fast => Products::Fast,
        _ => Products::Asked,
    };
    device.engine(products).map_err(|fault| {
        let message = format!("--device {device}: {fault}");
        Failure::new(Exit::Machine, message).hint("use --device auto or --device cpu")
    })
}

/// A fit whose rows the engine adds up.
pub fn on(fit: Fit, options: &DeviceOptions) -> Outcome<Fit> {
    Ok(match engine(&options.device, options.precision)? {
        Some(engine) => fit.on(engine),
        None => fit,
    })
}

/// Says which device has added up the rows, where it is not the processor.
pub fn say(moments: &Moments, global: &Global) {
    if let Some(name) = moments.device_name() {
        output::note(global, &format!("rows were added up on {name}"));
    }
}

/// The device, as JSON names it.
pub fn name(moments: Option<&Moments>) -> String {
    moments.and_then(Moments::device_name).unwrap_or_else(|| "cpu".to_owned())
}
