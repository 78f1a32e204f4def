//! The memory that a process may take.
//!
//! There is one limit for the process: what was set, else the variable `SARL_MEMORY`, else four
//! fifths of the machine's memory or of what its control group allows. Large work asks [`check`]
//! before it begins, so that the error can name what is too large. [`Counted`] is an allocator
//! that keeps to the limit whatever else is allocated; a program installs it, a library does not.

mod counted;
mod machine;
mod size;

pub use counted::{Counted, when_exceeded};
pub use size::{InvalidSize, parse, shown};

use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that sets the limit where nothing else does.
pub const VARIABLE: &str = "SARL_MEMORY";

/// No limit was set or found yet.
const UNKNOWN: u64 = 0;
static LIMIT: AtomicU64 = AtomicU64::new(UNKNOWN);

/// More memory is needed than there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("about {} of memory are needed, and the limit is {}", shown(*needed), shown(*limit))]
pub struct Exceeded {
    /// The bytes that are needed.
    pub needed: u64,
    /// The bytes that the process may have.
    pub limit: u64,
}

/// The bytes that this process may have.
pub fn limit() -> u64 {
    match LIMIT.load(Ordering::Relaxed) {
        UNKNOWN => {
            let found = from_variable().unwrap_or_else(machine::share);
            LIMIT.store(found.max(1), Ordering::Relaxed);
            found
        }
        limit => limit,
    }
}

/// Sets the limit, in bytes.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes.max(1), Ordering::Relaxed);
}

fn from_variable() -> Option<u64> {
    parse(std::env::var(VARIABLE).ok()?.as_str()).ok()
}

/// Refuses what does not fit beside the memory that is in use.
///
/// ```
/// assert!(sarl_memory::check(1 << 10).is_ok());
/// assert!(sarl_memory::check(u64::MAX).is_err());
/// ```
pub fn check(needed: u64) -> Result<(), Exceeded> {
    let limit = limit();
    match needed.saturating_add(counted::used()) > limit {
        true => Err(Exceeded { needed, limit }),
        false => Ok(()),
    }
}
