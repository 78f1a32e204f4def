//! The software bill of materials: CycloneDX 1.5, of what is compiled in.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::licences::{Package, licence, read};
use crate::{root, run};

/// Writes the list, with the checksums that `Cargo.lock` has.
pub(super) fn write(packages: &[&Package], path: &Path) -> Result<()> {
    let lock = read(&root().join("Cargo.lock"))?;
    let components = packages.iter().map(|p| component(p, &lock)).collect::<Result<Vec<_>>>()?;
    let count = components.len();
    let own = json!({"type": "application", "name": "sarl", "version": env!("CARGO_PKG_VERSION")});
    let bom = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
    });
    let text = serde_json::to_string_pretty(&bom).context("the list is no JSON")?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {path:?}"))?;
    eprintln!("{count} components: {}", path.display());
    Ok(())
}

fn component(package: &Package, lock: &str) -> Result<Value> {
    let (name, version) = (&package.name, &package.version);
    let purl = format!("pkg:cargo/{name}@{version}");
    // A name in front of brackets is our own remark, not a part of the expression.
    let licence = licence(package)?;
    let licence = licence.split(" (licence file)").next().unwrap_or_default();
    let mut found = json!({
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"expression": licence.split_whitespace().collect::<Vec<_>>().join(" ")}],
    });
    let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let checksum = lock.split_once(&entry).and_then(|(_, rest)| {
        let rest = rest.split("\n\n").next()?;
        Some(rest.split_once("checksum = \"")?.1.split_once('"')?.0)
    });
    if let Some(checksum) = checksum {
        found["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    Ok(found)
}

/// Checks the list against the schema, by the library of CycloneDX.
pub(super) fn check(python: &Path, folder: &Path) -> Result<()> {
    let script = "\
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(str(wrong) if wrong else 0)";
    run(Command::new(python).args(["-c", script]).arg(folder.join("sarl.cdx.json")))
}
