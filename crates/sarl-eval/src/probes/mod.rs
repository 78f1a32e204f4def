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

/// Those that may learn more from the encoder's rows than from others: such as no linear erasure has
/// blinded, without randomness or much cost.
pub fn unblinded<'a>(probes: &[&'a dyn Probe]) -> Vec<&'a dyn Probe> {
    probes.iter().copied().filter(|p| ["rbf", "trees"].contains(&p.name())).collect()
}
