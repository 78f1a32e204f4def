//! `cargo xtask supply`: what comes from others, and whether it is what it should be.

mod bom;
mod texts;
mod wheel;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{licences, root, run};

/// Writes the texts and the list into `target/supply` and checks the rest.
pub(crate) fn supply(arguments: &[String]) -> Result<()> {
    let offline = match arguments {
        [] => false,
        [one] if one == "--offline" => true,
        _ => bail!("unknown options: --offline or none"),
    };
    let folder = root().join("target/supply");
    std::fs::create_dir_all(&folder).context("cannot make target/supply")?;
    let deny = deny()?;
    run(Command::new(&deny).args(["--locked", "check", "licenses", "bans", "sources"]))?;
    let (metadata, compiled) = (licences::metadata()?, licences::compiled()?);
    let packages = licences::shipped(&metadata, &compiled);
    texts::write(&packages, &folder.join("LICENCES.txt"))?;
    bom::write(&packages, &folder.join("sarl.cdx.json"))?;
    wheel::twice(&folder)?;
    if offline {
        eprintln!("not checked, for want of a network: advisories of crates and Python packages");
        return Ok(());
    }
    bom::check(&python(&folder, &["cyclonedx-python-lib[json-validation]"])?, &folder)?;
    // The resolution is that of a user who installs the package today.
    let python = python(&folder, &["pip-audit"])?;
    let wanted = folder.join("requirements.txt");
    std::fs::write(&wanted, requirements()?).context("cannot write the requirements")?;
    run(Command::new(&python)
        .args(["-m", "pip_audit", "--strict", "--progress-spinner=off", "-r"])
        .arg(wanted))?;
    run(Command::new(&deny).args(["--locked", "check", "advisories"]))
        .context("the advisories of crates: a crate has one, or their list cannot be fetched")
}

/// cargo-deny: one on the path, or one that is built into `target/tools`.
fn deny() -> Result<PathBuf> {
    let own = root().join("target/tools/bin/cargo-deny");
    let works = |path: &PathBuf| Command::new(path).arg("--version").output().is_ok();
    if let Some(found) = [PathBuf::from("cargo-deny"), own.clone()].into_iter().find(works) {
        return Ok(found);
    }
    let tools = root().join("target/tools");
    run(Command::new("cargo").args(["install", "--locked", "cargo-deny", "--root"]).arg(tools))?;
    Ok(own)
}

/// A Python with some packages, apart from those of the tests.
fn python(folder: &std::path::Path, packages: &[&str]) -> Result<PathBuf> {
    let python = folder.join("venv/bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    Ok(python)
}

/// What the Python package needs and what its extras bring, one line each.
fn requirements() -> Result<String> {
    let text = licences::read(&root().join("pyproject.toml"))?;
    let list = |name: &str| -> Option<String> {
        let start = text.find(&format!("\n{name} = ["))?;
        let list = text.get(start..)?.split_once('[')?.1.split_once(']')?.0;
        Some(list.replace('"', "").split(',').map(|p| p.trim().to_owned() + "\n").collect())
    };
    let found: Option<String> =
        ["dependencies", "plot", "progress"].iter().map(|n| list(n)).collect();
    found.context("pyproject.toml does not list the dependencies as expected")
}
