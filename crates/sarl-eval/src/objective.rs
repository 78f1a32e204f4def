//! A loss with its gradient, for solvers that ask for them one after the other.

use std::sync::Mutex;

use argmin::core::{CostFunction, Error as Failed, Gradient};

use crate::error::Error;

/// The last point that was asked for, with its loss and gradient.
type Seen = (Vec<f64>, f64, Vec<f64>);

/// A loss and its gradient, computed once for each point.
pub struct Objective<'a, F> {
    look: F,
    stop: &'a (dyn Fn() -> bool + Sync),
    seen: Mutex<Option<Seen>>,
}

impl<'a, F: Fn(&[f64]) -> Result<(f64, Vec<f64>), Failed>> Objective<'a, F> {
    /// `look` gives both; when `stop` says so, the solver is given [`Error::Interrupted`].
    pub fn new(look: F, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Objective { look, stop, seen: Mutex::new(None) }
    }

    fn ask<T>(&self, point: &[f64], of: impl Fn(&Seen) -> T) -> Result<T, Failed> {
        if (self.stop)() {
            return Err(Error::Interrupted.into());
        }
        let mut seen = self.seen.lock().map_err(|_| Failed::msg("a thread failed"))?;
        match &*seen {
            Some(last) if last.0 == point => Ok(of(last)),
            _ => {
                let (loss, gradient) = (self.look)(point)?;
                Ok(of(seen.insert((point.to_vec(), loss, gradient))))
            }
        }
    }
}

impl<F: Fn(&[f64]) -> Result<(f64, Vec<f64>), Failed>> CostFunction for Objective<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, Failed> {
        self.ask(point, |seen| seen.1)
    }
}

impl<F: Fn(&[f64]) -> Result<(f64, Vec<f64>), Failed>> Gradient for Objective<'_, F> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, Failed> {
        self.ask(point, |seen| seen.2.clone())
    }
}
