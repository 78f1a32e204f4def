//! The probes.

mod kernel;
mod linear;
mod logistic;
mod network;
mod trees;

pub use kernel::RbfKernel;
pub use linear::Linear;
pub use logistic::{Logistic, LogisticEffort, LogisticModel};
pub use network::Network;
pub use trees::Trees;

use crate::task::Probe;

/// Every probe, from the weakest to the strongest.
pub fn all() -> [&'static dyn Probe; 6] {
    [&Linear, &Logistic, &Network::SMALL, &Network::LARGE, &RbfKernel, &Trees]
}
