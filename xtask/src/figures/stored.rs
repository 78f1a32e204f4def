//! A table of figures as it is stored: small, readable, one row to a line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::root;

/// The cells as the command printed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    /// How the figures were measured: a command line, or words where no command repeats it.
    pub(super) measured: String,
    /// What the command calls the table.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

pub(super) fn folder() -> PathBuf {
    root().join("docs/figures")
}

impl Stored {
    pub(super) fn read(name: &str) -> Result<Self> {
        let path = folder().join(format!("{name}.json"));
        let text = std::fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
        let stored: Stored =
            serde_json::from_slice(&text).with_context(|| format!("cannot read {path:?}"))?;
        if let Some(row) = stored.rows.iter().find(|row| row.len() != stored.columns.len()) {
            let (found, expected) = (row.len(), stored.columns.len());
            bail!("{path:?}: the row {row:?} has {found} cells, expected {expected}");
        }
        Ok(stored)
    }

    pub(super) fn write(&self, name: &str) -> Result<()> {
        let path = folder().join(format!("{name}.json"));
        std::fs::write(&path, self.json()?).with_context(|| format!("cannot write {path:?}"))
    }

    fn json(&self) -> Result<String> {
        let line = |value: &[String]| serde_json::to_string(value);
        let rows: Vec<String> = self.rows.iter().map(|row| line(row)).collect::<Result<_, _>>()?;
        let title = match self.title.as_str() {
            "" => String::new(),
            title => format!("  \"title\": {},\n", serde_json::to_string(title)?),
        };
        Ok(format!(
            "{{\n  \"measured\": {},\n{title}  \"columns\": {},\n  \"rows\": [\n    {}\n  ]\n}}\n",
            serde_json::to_string(&self.measured)?,
            line(&self.columns)?,
            rows.join(",\n    ")
        ))
    }

    /// The place of the first column whose heading begins like this.
    pub(super) fn column(&self, heading: &str) -> Result<usize> {
        let place = self.columns.iter().position(|c| c.starts_with(heading));
        place.with_context(|| format!("no column that begins with `{heading}`: {:?}", self.columns))
    }

    pub(super) fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        format!("{}{rule}{rows}\nMeasured: {}\n", row(&self.columns), self.measured)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let text = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let stored = Stored {
            measured: "`sarl demo`".into(),
            title: "a \"title\"".into(),
            columns: text(&["", "λ"]),
            rows: vec![text(&["a|b", "1"]), text(&["c", "2 ± 0.1"])],
        };
        assert_eq!(serde_json::from_str::<Stored>(&stored.json().unwrap()).unwrap(), stored);
        assert!(stored.markdown().starts_with("|  | λ |\n|---|---|\n| a\\|b | 1 |\n"));
        assert!(stored.markdown().ends_with("\nMeasured: `sarl demo`\n"));
    }
}
