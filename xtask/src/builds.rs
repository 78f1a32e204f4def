//! One build of the dependencies for the command, the tests, the wheel and the fuzz targets.
//!
//! Cargo builds a dependency once for each set of features that a selection of crates asks for.
//! `crates/same-build` makes these sets equal; this looks whether it still does.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// What is built by itself, and by whom.
const SELECTIONS: [(&str, &str); 3] = [
    ("sarl-cli", "cargo run --release"),
    ("sarl-python", "pip install ."),
    ("sarl-fuzz", "the fuzz targets"),
];

/// Fails where a selection would build a dependency with other features than the tests do.
pub fn check() -> Result<()> {
    let tests = dependencies(&["--workspace", "-e", "normal,dev"])?;
    for (package, name) in SELECTIONS {
        let own = dependencies(&["-p", package, "-e", "normal"])?;
        let other: Vec<&String> = own.difference(&tests).collect();
        if !other.is_empty() {
            bail!(
                "{name} builds these again, with other features than `cargo test --workspace`: {other:?}. \
                 Name them in crates/same-build/Cargo.toml"
            );
        }
    }
    Ok(())
}

/// Each crate of a selection with its version and its features.
fn dependencies(selection: &[&str]) -> Result<BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--locked", "--prefix", "none", "-f", "{p} [{f}]"]).args(selection);
    let output = command.current_dir(crate::root()).output().context("cannot start cargo tree")?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("cargo tree printed what is not text")?;
    Ok(text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
}
