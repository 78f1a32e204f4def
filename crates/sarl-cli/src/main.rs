//! The command `sarl`: arguments → plan → run → print. Results on stdout, the rest on stderr.
#![allow(missing_docs, reason = "a binary has no callers; modules say what they are for")]

mod args;
mod attributes;
mod certificate;
mod commands;
mod data;
mod demand;
mod encoding;
mod failure;
mod given_away;
mod inquiry;
mod memory;
mod origin;
mod output;
mod outputs;
mod page;
mod plot;
mod progress;
mod reproduce;
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

fn main() -> ExitCode {
    let cli = Cli::parse();
    silence_readers();
    progress::listen();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Readers of damaged files may panic inside; that is caught and becomes an error, and the panic's
/// own message would only confuse.
fn silence_readers() {
    let said = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(sarl_data::READER_THREAD) {
            said(panic);
        }
    }));
}

fn run(cli: &Cli) -> Outcome {
    threads::start(&cli.global)?;
    let global = &cli.global;
    match &cli.command {
        Command::Demo(options) => commands::demo::run(options, global),
        Command::Inspect(options) => commands::inspect::run(options, global),
        Command::Bounds(options) => commands::bounds::run(options, global),
        Command::Front(options) => commands::front::run(options, global),
        Command::Fit(options) => commands::fit::run(options, global),
        Command::Retune(options) => commands::retune::run(options, global),
        Command::Encode(options) => commands::encode::run(options, global),
        Command::Audit(options) => commands::audit::run(options, global),
        Command::Certify(options) => commands::certify::run(options, global),
        Command::Compare(options) => commands::compare::run(options, global),
        Command::Info(options) => commands::info::run(options, global),
        Command::Reproduce(options) => reproduce::run(options, global),
        Command::Data(options) => commands::data::run(options, global),
        Command::Completions(options) => commands::shell::completions(options),
        Command::Man(options) => commands::shell::man(options),
    }
}
