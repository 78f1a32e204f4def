//! `cargo xtask mutate`: the whole command with damaged files and models.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo, root, run};

/// Builds the command and the driver, as every other lane builds them, and runs the cases.
pub(crate) fn mutate(arguments: &[String]) -> Result<()> {
    let (mut cases, mut seed, mut first) = (2000u64, 0u64, 0u64);
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().and_then(|v| v.parse().ok());
        let value = value.with_context(|| format!("{option} needs a number"))?;
        match option.as_str() {
            "--cases" => cases = value,
            "--seed" => seed = value,
            "--first" => first = value,
            _ => bail!("unknown option {option}: --cases N, --seed S, --first I"),
        }
    }
    cargo(&["build", "--release", "--package", "sarl-cli", "--bin", "sarl"])?;
    let driver = "build --release --package sarl-fuzz --package sarl-cli --bin sarl-mutate";
    cargo(&driver.split(' ').collect::<Vec<_>>())?;
    let release = root().join("target/release");
    let numbers = [cases, seed, first].map(|n| n.to_string());
    let mut driver = Command::new(release.join("sarl-mutate"));
    run(driver.arg(release.join("sarl")).arg(root().join("target/mutate")).args(numbers))
        .context("a case is run again with --seed S --first I --cases 1")
}
