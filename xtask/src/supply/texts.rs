//! The licence texts of all that is compiled in, to be shipped beside the command and the wheel.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::licences::{Package, folder, licence, read};

/// Crates that ship no text of their licence. Their repositories have it; a new one fails.
const WITHOUT: [&str; 13] = [
    "argmin",
    "argmin-math",
    "equator",
    "equator-macro",
    "faer-traits",
    "flatbuffers",
    "nano-gemm",
    "nano-gemm-c32",
    "nano-gemm-c64",
    "nano-gemm-core",
    "nano-gemm-f32",
    "nano-gemm-f64",
    "pulp-wasm-simd-flag",
];

/// Writes each text once, with the crates that have it.
pub(super) fn write(packages: &[&Package], path: &Path) -> Result<()> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in packages {
        let found = texts_of(package)?;
        if found.is_empty() {
            without.push(package.name.as_str());
        }
        for text in found {
            texts.entry(text).or_default().push(format!("{} {}", package.name, package.version));
        }
    }
    let new: Vec<&&str> = without.iter().filter(|name| !WITHOUT.contains(name)).collect();
    if !new.is_empty() {
        bail!("crates without a licence text: {new:?}: look at them, and add them to the list");
    }
    let mut all =
        String::from("The licences of what is compiled in. Each text follows its crates.\n");
    for package in packages.iter().filter(|p| without.contains(&p.name.as_str())) {
        let repository = package.repository.as_deref().unwrap_or("no repository is stated");
        let name = format!("{} {}", package.name, package.version);
        writeln!(all, "{name} ships no text: {}, {repository}", licence(package)?)?;
    }
    for (text, crates) in &texts {
        writeln!(all, "\n---- {}\n\n{text}", crates.join(", "))?;
    }
    std::fs::write(path, &all).with_context(|| format!("cannot write {path:?}"))?;
    eprintln!(
        "{} texts of {} crates, {} without one: {}",
        texts.len(),
        packages.len(),
        without.len(),
        path.display()
    );
    Ok(())
}

/// The texts in a crate's folder: files that are named as licences are.
fn texts_of(package: &Package) -> Result<Vec<String>> {
    let folder = folder(package);
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    let named = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["LICEN", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"].iter().any(|w| name.contains(w))
    };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    paths.retain(|p| p.file_name().and_then(|n| n.to_str()).is_some_and(named));
    paths.sort();
    let trimmed = |text: String| text.lines().map(|l| l.trim_end().to_owned() + "\n").collect();
    paths.iter().map(|path| read(path).map(trimmed)).collect()
}
