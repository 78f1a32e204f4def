//! The report: from fits and audits to a page.

mod attackers;
mod audit;
mod command;
mod embedding;
mod explorer;
mod facts;
mod figures;
mod inputs;
mod level;
mod table;
mod verdict;
mod words;

use std::path::Path;

use sarl_report::page::Page;

pub use self::audit::{Audited, Heard, along_the_front, hear};
pub use self::command::Typed;
pub use self::embedding::{Shown, of_tested, values};
pub use self::explorer::{Subject, THIS};
pub use self::facts::facts;
pub use self::inputs::{Input, Inputs, spreads};
pub use self::table::{TableReport, labels};
use crate::failure::{Exit, Failure, Outcome};

/// Writes a page; the file is whole or absent.
pub fn write(page: &Page, path: &Path) -> Outcome {
    let html = page.html().map_err(|e| Failure::new(Exit::Machine, e.to_string()))?;
    Ok(sarl_data::write_file(path, html.as_bytes())?)
}
