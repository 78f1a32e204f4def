//! The Markdown pages: what stands between the markers.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::stored::{Stored, folder};
use crate::root;

const OPEN: &str = "<!-- figures: ";
const CLOSE: &str = "<!-- end -->";
/// The comparison of methods in the README, made of other tables.
const METHODS: &str = "methods";

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
        METHODS => methods()?,
        _ => Stored::read(name)?,
    };
    Ok(stored.markdown())
}

/// Two tables of the paper side by side: the strongest attacker, then the target.
fn methods() -> Result<Stored> {
    let (adult, german) = (Stored::read("adult-uci")?, Stored::read("german")?);
    let columns = ["", "Adult: hide sex", "keep income", "German: hide age", "keep credit"];
    let mut guess = vec!["always guessing the most frequent class".to_owned()];
    for table in [&adult, &german] {
        guess.extend([majority(&table.title)?.to_owned(), String::new()]);
    }
    let mut rows = vec![guess];
    let method = adult.column("method")?;
    for row in adult.rows.iter().filter(|row| !row[method].contains(", λ")) {
        let plain = |name: &str| name.split(" (").next().unwrap_or(name).to_owned();
        let name = plain(&row[method]);
        let same = |other: &&Vec<String>| plain(&other[0]) == name;
        let other = german.rows.iter().find(same);
        let other = other.with_context(|| format!("the table `german` has no row `{name}`"))?;
        let mut cells = vec![name];
        for (table, row) in [(&adult, row), (&german, other)] {
            for heading in ["worst", "target"] {
                cells.push(plain(&row[table.column(heading)?]));
            }
        }
        rows.push(cells);
    }
    Ok(Stored {
        measured: format!("{} and {}", adult.measured, german.measured),
        title: String::new(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
    })
}

/// `67.4` of `… (majority guess 67.4 %)`.
fn majority(title: &str) -> Result<&str> {
    let after = title.split("majority guess ").nth(1);
    after.and_then(|rest| rest.split(' ').next()).with_context(|| format!("no guess in `{title}`"))
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

    #[test]
    fn the_guess_is_in_the_title() {
        assert_eq!(majority("UCI German (majority guess 80.9 %)").unwrap(), "80.9");
        assert!(majority("UCI German").is_err());
    }
}
