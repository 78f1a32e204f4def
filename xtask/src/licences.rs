//! `THIRD-PARTY.md`: the crates that are compiled into the command and the Python package, with their
//! licences, and the licence of the font.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::root;

/// One target for everybody, so that the file does not depend on who writes it.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// What users get.
const PRODUCTS: [&str; 2] = ["sarl-cli", "sarl-python"];
/// The crate that contains the font.
const FONT: &str = "dejavu";

#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    license_file: Option<PathBuf>,
    pub(crate) repository: Option<String>,
    manifest_path: PathBuf,
    /// Where it comes from; none for the crates of this workspace.
    source: Option<String>,
}

/// Writes the file, or checks that it is up to date.
pub(crate) fn licences(check: bool) -> Result<()> {
    let path = root().join("THIRD-PARTY.md");
    let text = document(&metadata()?, &compiled()?)?;
    if !check {
        return std::fs::write(&path, text).with_context(|| format!("cannot write {path:?}"));
    }
    if std::fs::read_to_string(&path).unwrap_or_default() != text {
        bail!("THIRD-PARTY.md is not up to date: run `cargo xtask licences`");
    }
    Ok(())
}

pub(crate) fn metadata() -> Result<Metadata> {
    let output = cargo(&["metadata", "--format-version", "1", "--filter-platform", TARGET])?;
    serde_json::from_str(&output).context("cannot read the output of cargo metadata")
}

/// Names and versions of the crates that the products depend on. `cargo metadata` also lists what no
/// feature turns on; `cargo tree` does not.
pub(crate) fn compiled() -> Result<BTreeSet<(String, String)>> {
    let selected = PRODUCTS.iter().flat_map(|product| ["--package", product]);
    let shape = ["--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", TARGET];
    let line: Vec<&str> = ["tree"].into_iter().chain(selected).chain(shape).collect();
    let output = cargo(&line)?;
    let name_and_version = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some((name.to_owned(), version.to_owned()))
    };
    Ok(output.lines().filter_map(name_and_version).collect())
}

fn cargo(line: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(line)
        .arg("--locked")
        .current_dir(root())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo {} failed: {}", line.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("the output of cargo is not text")
}

fn document(metadata: &Metadata, compiled: &BTreeSet<(String, String)>) -> Result<String> {
    let packages = shipped(metadata, compiled);
    let mut text = String::from(
        "# Third-party software\n\n\
         Written by `cargo xtask licences`; do not edit it by hand. `cargo xtask test` checks that it is up to date.\n\n\
         These crates are normal dependencies of the command `sarl` and of the Python package on Linux. A few of them\n\
         only run while the others are compiled.\n\n\
         | crate | version | licence | repository |\n|---|---|---|---|\n",
    );
    for package in &packages {
        let (name, version) = (&package.name, &package.version);
        let repository = package.repository.as_deref().unwrap_or("not stated");
        writeln!(text, "| {name} | {version} | {} | {repository} |", licence(package)?)?;
    }
    if let Some(font) = packages.iter().find(|p| p.name == FONT) {
        text.push_str(
            "\n## The font DejaVu Sans\n\n\
             The command contains the font DejaVu Sans, regular and bold. This is its licence:\n\n```text\n",
        );
        text.push_str(&font_licence(font)?);
        text.push_str("```\n");
    }
    Ok(text)
}

/// The crates of others that the products depend on, sorted by name and version.
pub(crate) fn shipped<'m>(
    metadata: &'m Metadata,
    compiled: &BTreeSet<(String, String)>,
) -> Vec<&'m Package> {
    let is_in = |p: &&Package| compiled.contains(&(p.name.clone(), p.version.clone()));
    let foreign = metadata.packages.iter().filter(|p| p.source.is_some()).filter(is_in);
    let mut packages: Vec<&Package> = foreign.collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages
}

/// The expression of the manifest, or what the licence file begins with.
pub(crate) fn licence(package: &Package) -> Result<String> {
    if let Some(expression) = &package.license {
        return Ok(expression.replace('/', " OR "));
    }
    let file = package.license_file.as_ref().with_context(|| {
        format!("the crate {} has neither a licence nor a licence file", package.name)
    })?;
    let text = read(&folder(package).join(file))?;
    let known = [("Apache License", "Apache-2.0"), ("MIT License", "MIT"), ("Boost", "BSL-1.0")];
    let found = known.iter().find(|(words, _)| text.contains(words));
    let (_, name) = found.with_context(|| {
        format!("the licence file of the crate {} is not one that is known", package.name)
    })?;
    Ok(format!("{name} (licence file)"))
}

fn font_licence(package: &Package) -> Result<String> {
    let assets = folder(package).join("assets");
    let entries = std::fs::read_dir(&assets).with_context(|| format!("cannot list {assets:?}"))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|e| e.path().join("LICENSE")).filter(|p| p.is_file()).collect();
    files.sort();
    let file = files.first().with_context(|| format!("no licence of the font in {assets:?}"))?;
    let text = read(file)?;
    let lines = text.lines().map(|line| line.trim_end().to_owned() + "\n");
    Ok(lines.collect())
}

pub(crate) fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().unwrap_or(Path::new("."))
}

pub(crate) fn read(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {path:?}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
