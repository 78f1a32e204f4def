//! Commands to copy, as they would be typed.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};

use crate::args::Cli;

/// The whole command line.
pub fn typed() -> String {
    let arguments = std::env::args_os().skip(1);
    quoted(["sarl".to_owned()].into_iter().chain(arguments.map(|word| lossy(&word))))
}

/// A shell reads it back as these words.
fn quoted(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    // A word with a zero byte cannot have come from a shell.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// Words of a command, to which a goal is added.
#[derive(Clone)]
pub struct Typed {
    words: Vec<String>,
    output: String,
}

impl Typed {
    /// `sarl retune MODEL`.
    pub fn retune(model: &std::path::Path) -> Self {
        let words = vec!["sarl".to_owned(), "retune".to_owned(), model.display().to_string()];
        Typed { words, output: "retuned.safetensors".to_owned() }
    }

    /// Whether an option was given to this command.
    pub fn was_given(id: &str) -> bool {
        let matches = Cli::command().get_matches_from(std::env::args_os());
        matches.subcommand().is_some_and(|(_, given)| given_here(given, id))
    }

    /// `sarl fit` with the data and the encoder that this command was given, less some options.
    pub fn fit(without: &[&str]) -> Self {
        let command = Cli::command();
        let matches = command.clone().get_matches_from(std::env::args_os());
        let fit = command.find_subcommand("fit").cloned().unwrap_or_default();
        let mut words = vec!["sarl".to_owned(), "fit".to_owned()];
        if let Some((_, given)) = matches.subcommand() {
            words.extend(same(&fit, given, without));
        }
        Typed { words, output: "model.safetensors".to_owned() }
    }

    /// The same with more words.
    pub fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|w| (*w).to_owned()));
        self
    }

    /// With the option of a goal, such as `--max-leakage 0.05`.
    pub fn with_goal(&self, option: &str) -> String {
        let goal = option.split(' ').map(str::to_owned);
        let output = ["-o".to_owned(), self.output.clone()];
        quoted(self.words.iter().cloned().chain(goal).chain(output))
    }
}

/// Options that say where to write, not what to fit.
const LEFT_OUT: [&str; 5] = ["output", "html", "html_rows", "audit", "json"];

/// The arguments of a command that were given to another.
fn same(command: &Command, given: &ArgMatches, without: &[&str]) -> Vec<String> {
    let (mut data, mut options) = (Vec::new(), Vec::new());
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if LEFT_OUT.contains(&id) || without.contains(&id) || !given_here(given, id) {
            continue;
        }
        let values = given.get_raw(id).into_iter().flatten().map(lossy);
        match argument.is_positional() {
            true => data.extend(values),
            false => options.extend(option(argument, values.collect())),
        }
    }
    data.extend(options);
    data
}

fn given_here(given: &ArgMatches, id: &str) -> bool {
    given.try_contains_id(id).is_ok() && given.value_source(id) == Some(ValueSource::CommandLine)
}

fn option(argument: &Arg, values: Vec<String>) -> Vec<String> {
    let name = format!("--{}", argument.get_long().unwrap_or_default());
    match (argument.get_action(), argument.get_value_delimiter()) {
        (ArgAction::SetTrue, _) => vec![name],
        (_, Some(delimiter)) => vec![name, values.join(&delimiter.to_string())],
        _ => values.into_iter().flat_map(|value| [name.clone(), value]).collect(),
    }
}

fn lossy(value: &std::ffi::OsStr) -> String {
    OsString::from(value).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> String {
        let command = Cli::command();
        let matches = command.clone().get_matches_from(arguments);
        let fit = command.find_subcommand("fit").cloned().unwrap_or_default();
        let words =
            matches.subcommand().map(|(_, given)| same(&fit, given, &["dim"])).unwrap_or_default();
        quoted(words.into_iter())
    }

    #[test]
    fn data_and_encoder_are_kept() {
        let given = "sarl front a.csv b.csv -t income,age -s sex --kernel rbf --points 7 --csv f.csv --dim 3";
        let words: Vec<&str> = given.split(' ').collect();
        assert_eq!(of(&words), "a.csv b.csv --target 'income,age' --sensitive sex --kernel rbf");
    }

    #[test]
    fn a_shell_reads_hostile_names_as_one_word() {
        let name = "$(rm -rf /) '`x`";
        let text = of(&["sarl", "front", "a b.csv", "-t", name, "-s", "s"]);
        let back = shlex::split(&text).unwrap_or_default();
        assert_eq!(back, ["a b.csv", "--target", name, "--sensitive", "s"]);
    }
}
