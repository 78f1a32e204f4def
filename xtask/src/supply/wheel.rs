//! The same sources are the same wheel.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{cargo, run, venv};

/// Builds the wheel, forgets our own crates, builds it again, and compares the bytes. Dependencies
/// are built once: what is tested is our code, the linker and the packing, on one machine.
pub(super) fn twice(folder: &Path) -> Result<()> {
    let python = venv(&["maturin>=1.9.4,<2"])?;
    let first = built(&python, &folder.join("first"))?;
    let own = ["sarl-python", "sarl-onnx", "sarl-lab", "sarl-rivals", "sarl-eval", "sarl-report"];
    let own = own.into_iter().chain(["sarl-data", "sarl-memory", "sarl"]);
    let selected: Vec<&str> = own.flat_map(|name| ["--package", name]).collect();
    cargo(&[&["clean", "--release"], &selected[..]].concat())?;
    let second = built(&python, &folder.join("second"))?;
    let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {path:?}"));
    if read(&first)? != read(&second)? {
        bail!(
            "two builds of the same sources differ: {} and {}",
            first.display(),
            second.display()
        );
    }
    eprintln!("two builds of the wheel are the same bytes: {}", first.display());
    Ok(())
}

fn built(python: &Path, folder: &Path) -> Result<PathBuf> {
    let _ = std::fs::remove_dir_all(folder);
    let line = ["-m", "maturin", "build", "--release", "--locked", "--out"];
    run(Command::new(python).args(line).arg(folder).env("SOURCE_DATE_EPOCH", "315532800"))?;
    let mut entries = std::fs::read_dir(folder).context("there is no wheel")?.flatten();
    entries.next().map(|entry| entry.path()).context("there is no wheel")
}
