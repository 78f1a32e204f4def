//! `sarl bounds`.

use crate::args::{Bounds, Global};
use crate::failure::Outcome;
use crate::{data, output, warnings};

pub fn run(options: &Bounds, global: &Global) -> Outcome {
    let fitted = data::fit(&options.data, &options.encoder, &[], global)?;
    let front = sarl::Front::new(&fitted.reduced, fitted.cap)?;
    warnings::about_fit(&fitted, &front, global);
    if global.json {
        return output::print_json(&output::bounds_json(&fitted.reduced, &front)?);
    }
    output::print(&output::bounds_table(&fitted.reduced, &front)?)
}
