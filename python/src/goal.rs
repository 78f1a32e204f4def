//! Goals under the names of their parameters.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use sarl::Goal;

use crate::failure::wrong;

/// One value, or one for each label that is named.
#[derive(Clone, Debug, FromPyObject, IntoPyObject)]
pub enum Limit {
    One(f64),
    Named(BTreeMap<String, f64>),
}

/// A goal under the name of its parameter.
pub fn goal(name: &str, value: Limit) -> PyResult<Goal> {
    match value {
        Limit::One(value) => {
            check(name, name, value)?;
            Ok(match name {
                "trade_off" => Goal::Lambda(value),
                "alpha" => Goal::Alpha(value),
                "max_leakage" => Goal::Leakage(value),
                "min_utility" => Goal::Utility(value),
                other => return Err(wrong(format!("there is no goal {other:?}"))),
            })
        }
        Limit::Named(named) => {
            for (label, value) in &named {
                check(name, &format!("{name} of {label:?}"), *value)?;
            }
            match name {
                _ if named.is_empty() => Err(wrong(format!("{name} names nothing"))),
                "max_leakage" => Ok(Goal::LeakageOf(named)),
                "min_utility" => Ok(Goal::UtilityOf(named)),
                other => Err(wrong(format!("{other} is one number, not one for each name"))),
            }
        }
    }
}

fn check(name: &str, what: &str, value: f64) -> PyResult<()> {
    if name == "alpha" {
        return match value.is_finite() {
            true => Ok(()),
            false => Err(wrong(format!("{what} is {value}: expected a finite number"))),
        };
    }
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    let hint = match name.starts_with('m') && value > 1.0 && value <= 100.0 {
        true => format!(" ({value} % is {})", value / 100.0),
        false => String::new(),
    };
    Err(wrong(format!("{what} is {value}: expected 0 to 1{hint}")))
}

/// The parameter that asks for a goal, and its value.
pub fn parameter(goal: &Goal) -> (&'static str, Limit) {
    match goal {
        Goal::Lambda(value) => ("trade_off", Limit::One(*value)),
        Goal::Alpha(value) => ("alpha", Limit::One(*value)),
        Goal::Leakage(value) => ("max_leakage", Limit::One(*value)),
        Goal::LeakageOf(named) => ("max_leakage", Limit::Named(named.clone())),
        Goal::Utility(value) => ("min_utility", Limit::One(*value)),
        Goal::UtilityOf(named) => ("min_utility", Limit::Named(named.clone())),
    }
}
