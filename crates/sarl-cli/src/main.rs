//! The command `sarl`: arguments → plan → run → print. Results on stdout, the rest on stderr.
#![allow(missing_docs, reason = "a binary has no callers; modules say what they are for")]

mod args;
mod attributes;
mod certificate;
mod coding;
mod commands;
mod data;
mod demand;
mod device;
mod encoding;
mod end;
mod failure;
mod folding;
mod given;
mod given_away;
mod inquiry;
mod memory;
mod output;
mod outputs;
mod page;
mod parts;
mod plot;
mod points;
mod progress;
mod provenance;
mod request;
mod sheet;
mod solution;
mod terminal;
mod threads;
mod typed;
mod verdict;
mod warnings;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;
use failure::Outcome;

/// Memory is counted, so that no input can take more than `--memory`.
#[global_allocator]
static ALLOCATOR: sarl_memory::Counted = sarl_memory::Counted;

fn main() -> ExitCode {
    end::prepare();
    let cli = Cli::parse();
    progress::listen();
    match end::without_panic(|| run(&cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: &Cli) -> Outcome {
    if let Some(bytes) = cli.global.memory {
        sarl_memory::set_limit(bytes);
    }
    sarl_memory::when_exceeded(end::out_of_memory);
    threads::start(&cli.global)?;
    let global = &cli.global;
    match &cli.command {
        Command::Demo(options) => commands::demo::run(options, global),
        Command::Inspect(options) => commands::inspect::run(options, global),
        Command::Moments(options) => commands::moments::run(options, global),
        Command::Bounds(options) => commands::bounds::run(options, global),
        Command::Front(options) => commands::front::run(options, global),
        Command::Fit(options) => commands::fit::run(options, global),
        Command::Retune(options) => commands::retune::run(options, global),
        Command::Encode(options) => commands::encode::run(options, global),
        Command::Audit(options) => commands::audit::run(options, global),
        Command::Certify(options) => commands::certify::run(options, global),
        Command::Compare(options) => commands::compare::run(options, global),
        Command::Info(options) => commands::info::run(options, global),
        Command::Reproduce(options) => {
            outputs::local(&options.output)?;
            commands::reproduce::run(options, global)
        }
        Command::Data(options) => commands::data::run(options, global),
        Command::Completions(options) => commands::shell::completions(options),
        Command::Man(options) => commands::shell::man(options),
    }
}
