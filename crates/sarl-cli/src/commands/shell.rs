//! `sarl completions` and `sarl man`.

use clap::CommandFactory;

use crate::args::{Cli, Completions, Man};
use crate::failure::{Exit, Failure, Outcome};
use crate::{output, outputs, terminal};

pub fn completions(options: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "sarl", &mut script);
    output::print_raw(String::from_utf8_lossy(&script).trim_end())
}

pub fn man(options: &Man) -> Outcome {
    outputs::local(&options.folder)?;
    let failed = |e: std::io::Error| {
        Failure::new(Exit::Machine, format!("{}: {e}", options.folder.display()))
    };
    std::fs::create_dir_all(&options.folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &options.folder).map_err(failed)?;
    output::print(&format!("man pages written to {}", terminal::path(&options.folder)))
}
