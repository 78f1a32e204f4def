//! `sarl bounds`.

use crate::args::{Bounds, Global};
use crate::failure::Outcome;
use crate::{data, output, warnings};

pub fn run(options: &Bounds, global: &Global) -> Outcome {
    let fitted = data::fit(&options.fitting, &[], global)?;
    let (reduced, front) = (fitted.fit.reduced()?, fitted.fit.front()?);
    warnings::about_fit(&fitted, &front, global)?;
    if global.json {
        let bounds = output::bounds_json(reduced, &front)?;
        let rest = serde_json::json!({
            "criterion": fitted.fit.params().criterion.name(),
            "device": crate::device::name(Some(fitted.fit.moments())),
        });
        return output::print_json(&output::joined(bounds, rest));
    }
    output::print(&output::bounds_table(reduced, &front)?)
}
