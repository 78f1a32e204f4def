//! Hostile bytes for everything that reads bytes.
//!
//! [`TARGETS`] are what `cargo xtask fuzz` runs under libFuzzer: one for each parser, and one that
//! fits, encodes and recomputes. [`seeds`] makes their first inputs. A target panics where
//! something does not hold that must. [`mutate`] is the slower way: the command itself.

mod containers;
mod draw;
mod fits;
pub mod mutate;
mod recompute;
mod requests;
pub mod seeds;
mod tables;

pub use containers::sealed;

/// What is tried with the bytes of one input.
pub type Target = fn(&[u8]);

/// The targets by name. The names of tables are the endings of their files.
pub const TARGETS: [(&str, Target); 14] = [
    ("model", containers::model),
    ("moments", containers::moments),
    ("schema", containers::schema),
    ("request", requests::request),
    ("csv", |bytes| tables::table("csv", bytes)),
    ("csv.gz", |bytes| tables::table("csv.gz", bytes)),
    ("npy", |bytes| tables::table("npy", bytes)),
    ("npz", |bytes| tables::table("npz", bytes)),
    ("safetensors", |bytes| tables::table("safetensors", bytes)),
    ("arrow", |bytes| tables::table("arrow", bytes)),
    ("parquet", |bytes| tables::table("parquet", bytes)),
    ("fit", fits::fit),
    ("kernels", fits::kernels),
    ("extreme", fits::extreme),
];
