//! The Markdown pages: what stands between the markers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::stored::{Stored, folder};
use crate::root;

const OPEN: &str = "<!-- figures: ";
const CLOSE: &str = "<!-- end -->";
/// The guarantees in the README, a part of another table.
const GUARANTEES: &str = "guarantees";

pub(super) fn write() -> Result<()> {
    for path in pages()? {
        let text = read(&path)?;
        let (new, _) = filled(&text, &table).with_context(|| format!("in {path:?}"))?;
        if new != text {
            std::fs::write(&path, new).with_context(|| format!("cannot write {path:?}"))?;
        }
    }
    check()
}

pub(super) fn check() -> Result<()> {
    let mut shown = BTreeSet::new();
    for path in pages()? {
        let text = read(&path)?;
        let (new, names) = filled(&text, &table).with_context(|| format!("in {path:?}"))?;
        if new != text {
            bail!(
                "the figures in {path:?} are not the stored ones: run `cargo xtask figures --stored`"
            );
        }
        shown.extend(names);
    }
    let unused: Vec<String> = stored_names()?.into_iter().filter(|n| !shown.contains(n)).collect();
    if !unused.is_empty() {
        bail!("no page shows the stored figures {unused:?}");
    }
    Ok(())
}

fn pages() -> Result<Vec<PathBuf>> {
    let docs = root().join("docs");
    let entries = std::fs::read_dir(&docs).with_context(|| format!("cannot list {docs:?}"))?;
    let is_page = |path: &PathBuf| path.extension().is_some_and(|e| e == "md");
    let mut pages: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(is_page).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    Ok(pages)
}

fn stored_names() -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder()).context("cannot list docs/figures")?;
    let name = |path: PathBuf| match path.extension().is_some_and(|e| e == "json") {
        true => path.file_stem().map(|s| s.to_string_lossy().into_owned()),
        false => None,
    };
    let mut names: Vec<String> = entries.flatten().filter_map(|e| name(e.path())).collect();
    names.sort();
    Ok(names)
}

fn read(path: &PathBuf) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path:?}"))
}

/// The page with its tables, and the names of the tables.
fn filled(text: &str, table: &dyn Fn(&str) -> Result<String>) -> Result<(String, Vec<String>)> {
    let (mut new, mut names) = (String::new(), Vec::new());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        new.push_str(line);
        let Some(name) = line.trim_end().strip_prefix(OPEN) else { continue };
        let name = name.strip_suffix(" -->").with_context(|| format!("broken marker: {line}"))?;
        let rest = lines.by_ref().find(|line| line.trim_end() == CLOSE);
        let close = rest.with_context(|| format!("`{OPEN}{name} -->` has no `{CLOSE}`"))?;
        new.push_str(&format!("\n{}\n{close}", table(name)?));
        names.push(name.to_owned());
    }
    Ok((new, names))
}

fn table(name: &str) -> Result<String> {
    let stored = match name {
        GUARANTEES => guarantees()?,
        _ => Stored::read(name)?,
    };
    Ok(stored.markdown())
}

/// The table of guarantees without linear encoders where there are kernels, and without the loosest limits.
fn guarantees() -> Result<Stored> {
    let mut table = Stored::read("certified-levels")?;
    let limit = table.column("limit")?;
    let shown = |row: &Vec<String>| {
        !row[0].ends_with(", linear") && !["0.2", "none"].contains(&row[limit].as_str())
    };
    table.rows.retain(shown);
    Ok(table)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn tables_are_put_between_their_markers() {
        let page = "a\n<!-- figures: one -->\nold\n<!-- end -->\nb\n";
        let table = |name: &str| Ok(format!("| {name} |\n"));
        let (new, names) = filled(page, &table).unwrap();
        assert_eq!(new, "a\n<!-- figures: one -->\n\n| one |\n\n<!-- end -->\nb\n");
        assert_eq!(names, ["one"]);
        assert_eq!(filled(&new, &table).unwrap().0, new);
    }

    #[test]
    fn a_marker_without_an_end_is_refused() {
        assert!(filled("<!-- figures: one -->\n", &|_| Ok(String::new())).is_err());
    }
}
