//! The options of reports.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

/// The report.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct PageOptions {
    /// Write a report to this HTML file: one file that opens in any browser, without a network
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(file))]
    pub html: Option<PathBuf>,
    /// Rows that the report shows encoded, with their labels, drawn at random; 0 for none
    #[arg(long, default_value_t = PageOptions::ROWS, value_name = "N", requires = "html", value_parser = clap::value_parser!(u32).range(0..=2000))]
    pub html_rows: u32,
}

fn file(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.as_os_str() == "-" {
        true => Err("a report is a file: it cannot go to stdout"),
        false => Ok(path),
    }
}

impl PageOptions {
    /// Rows that are shown where nothing is said.
    pub const ROWS: u32 = 1000;
}
