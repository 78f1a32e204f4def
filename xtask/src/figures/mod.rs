//! Tables of measured figures: the commands are run, what they print is stored in `docs/figures/*.json`,
//! and the Markdown is written from these files.
//!
//! A page shows a table between `<!-- figures: NAME -->` and `<!-- end -->`.

mod gpu;
mod jobs;
mod page;
mod readers;
mod stored;

use std::path::Path;

use anyhow::{Context, Result, bail};

use self::jobs::JOBS;
use self::stored::Stored;

const USAGE: &str = "\
usage: cargo xtask figures [--check | --stored | --only NAME [--from FILE]]

  (nothing)     run every command that measures (hours on 2 cores), store the figures, write the tables
  --only NAME   run one command, or the command of one table; then as above
  --from FILE   run nothing; take the figures of NAME from a file that the command wrote
  --stored      run nothing; write the tables from the stored figures
  --check       write nothing; fail where a table differs from the stored figures
";

/// `cargo xtask figures`.
pub(crate) fn figures(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--check"] => return page::check(),
        ["--stored"] => {}
        [] => JOBS.iter().try_for_each(measure)?,
        ["--only", name] => measure(jobs::find(name)?)?,
        ["--only", name, "--from", file] => store(jobs::find(name)?.read(Path::new(file))?)?,
        _ => bail!("wrong arguments\n{USAGE}"),
    }
    page::write()
}

/// Runs a command and stores its tables.
fn measure(job: &jobs::Job) -> Result<()> {
    store(job.run().with_context(|| format!("the job `{}` failed", job.name))?)
}

fn store(tables: Vec<(String, Stored)>) -> Result<()> {
    tables.iter().try_for_each(|(name, table)| table.write(name))
}
