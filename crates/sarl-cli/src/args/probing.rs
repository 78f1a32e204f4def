//! Which rows attackers learn from and are tested on, and who they are.

use std::path::PathBuf;

use clap::Args;

use super::UnseenPolicy;

/// The rows of an audit, and its attackers.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Attackers")]
pub struct ProbeOptions {
    /// Rows that the encoder has not seen: attackers learn from half of them and are tested on the other half [default: parts of DATA]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// The share of DATA that the attackers are tested on [default: 0.3 where the encoder is fitted anew on a part of DATA, else 0.5]
    #[arg(long, value_name = "SHARE", conflicts_with = "test")]
    pub test_share: Option<f64>,
    /// Rows used at most, drawn at random
    #[arg(long, default_value_t = 50_000, value_name = "N", value_parser = clap::value_parser!(u32).range(20..))]
    pub rows: u32,
    /// Attackers that try [default: all]
    #[arg(long, value_name = "PROBE,…", value_delimiter = ',')]
    pub probes: Vec<String>,
    /// Seeds of everything that has randomness
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// What to do with a category that is not known
    #[arg(long, value_enum, default_value_t)]
    pub unseen: UnseenPolicy,
}

impl Default for ProbeOptions {
    /// What the command line takes when nothing is said.
    fn default() -> Self {
        let (test, probes) = (Vec::new(), Vec::new());
        let unseen = UnseenPolicy::default();
        ProbeOptions { test, test_share: None, rows: 50_000, probes, seeds: 3, unseen }
    }
}

impl ProbeOptions {
    /// The seeds, from the first on.
    pub fn seeds(&self, first: u64) -> Vec<u64> {
        (0..u64::from(self.seeds)).map(|i| first.wrapping_add(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::ProbeOptions;
    use crate::args::{Cli, Command};

    #[test]
    fn the_default_is_that_of_the_command_line() {
        let Command::Audit(audit) = Cli::parse_from(["sarl", "audit", "m", "x.csv"]).command else {
            panic!("another command");
        };
        assert_eq!(format!("{:?}", audit.probing), format!("{:?}", ProbeOptions::default()));
    }
}
