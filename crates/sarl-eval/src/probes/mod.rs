//! The probes.

mod kernel;
mod linear;
mod logistic;
mod network;

pub use kernel::RbfKernel;
pub use linear::Linear;
pub use logistic::Logistic;
pub use network::Network;

use crate::task::Probe;

/// Every probe, from the weakest to the strongest.
pub fn all() -> [&'static dyn Probe; 5] {
    [&Linear, &Logistic, &Network::SMALL, &Network::LARGE, &RbfKernel]
}
