//! Which encoder, and which goal.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The kind of encoder.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Encoder")]
pub struct EncoderOptions {
    /// What of the sensitive attributes is hidden: all of it, or what tells it among rows of the
    /// same target (equalized-odds), of the favourable class only (equal-opportunity)
    #[arg(long, value_enum, default_value_t)]
    pub criterion: CriterionName,
    /// The class of the target that equal opportunity is about [default: the second of two]
    #[arg(long, value_name = "CLASS")]
    pub favourable: Option<String>,
    /// Kernel of the encoder
    #[arg(long, value_enum, default_value_t)]
    pub kernel: KernelName,
    /// Kernel width: exp(-G |x-x'|^2), exp(-G |x-x'|_1), (G x.x' + c)^d; auto is the median heuristic
    #[arg(long, default_value = "auto", value_name = "G|auto", value_parser = number_or_auto)]
    pub gamma: NumberOrAuto,
    /// Degree of the polynomial kernel
    #[arg(long, default_value_t = 3)]
    pub degree: u32,
    /// Constant of the polynomial kernel
    #[arg(long, default_value_t = 1.0)]
    pub coef0: f64,
    /// How the kernel is represented
    #[arg(long, value_enum, default_value_t)]
    pub approx: Approximation,
    /// How landmarks are chosen
    #[arg(long, value_enum, default_value_t)]
    pub sampling: Sampling,
    /// Landmarks or random features at most
    #[arg(long, default_value_t = 1000, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub landmarks: u32,
    /// Take landmarks from the rows of this file only: the model then holds no row of DATA
    #[arg(long, value_name = "FILE")]
    pub landmarks_from: Option<PathBuf>,
    /// Stop taking landmarks when this share of the kernel's trace is left [default: 1e-8], and
    /// warn when the landmarks leave more
    #[arg(long, value_name = "T")]
    pub tolerance: Option<f64>,
    /// Ridge added to the covariance; auto chooses by held-out losses [default: auto for kernels and
    /// for more features than a tenth of the rows, else 0]
    #[arg(long, value_name = "R|auto", value_parser = number_or_auto)]
    pub ridge: Option<NumberOrAuto>,
    /// Dimensions of z at most [default: as many as help]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..))]
    pub dim: Option<u32>,
    /// Folds for held-out losses; 1 for none
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub folds: u32,
    /// Seed of landmarks, random features and folds
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// What decides on the fold of a row: its position, its content, or the text in a column; with
    /// the last two folds do not depend on the order of rows [default: position; of moments: content]
    #[arg(long, value_name = "position|content|COL")]
    pub fold_by: Option<String>,
}

impl Default for EncoderOptions {
    /// What the command line takes when nothing is said.
    fn default() -> Self {
        EncoderOptions {
            criterion: CriterionName::default(),
            favourable: None,
            kernel: KernelName::default(),
            gamma: NumberOrAuto::Auto,
            degree: 3,
            coef0: 1.0,
            approx: Approximation::default(),
            sampling: Sampling::default(),
            landmarks: 1000,
            landmarks_from: None,
            tolerance: None,
            ridge: None,
            dim: None,
            folds: 5,
            seed: 0,
            fold_by: None,
        }
    }
}

/// A number, or a choice made by looking at the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberOrAuto {
    Number(f64),
    Auto,
}

fn number_or_auto(text: &str) -> Result<NumberOrAuto, String> {
    match text {
        "auto" => Ok(NumberOrAuto::Auto),
        _ => match text.parse() {
            Ok(number) => Ok(NumberOrAuto::Number(number)),
            Err(_) => Err("expected a number or `auto`".into()),
        },
    }
}

/// Criteria by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CriterionName {
    #[default]
    Parity,
    EqualOpportunity,
    EqualizedOdds,
}

/// Kernels by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    #[default]
    Linear,
    Rbf,
    Polynomial,
    Laplacian,
}

/// How a kernel is represented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Approximation {
    /// Landmarks (Nyström)
    #[default]
    Landmarks,
    /// Every row a landmark
    Exact,
    /// Random Fourier features
    RandomFeatures,
}

/// How landmarks are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sampling {
    /// Randomly pivoted Cholesky
    #[default]
    Adaptive,
    /// Uniformly at random
    Uniform,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::EncoderOptions;
    use crate::args::{Cli, Command};

    #[test]
    fn the_default_is_that_of_the_command_line() {
        let Command::Bounds(bounds) = Cli::parse_from(["sarl", "bounds", "x.csv"]).command else {
            panic!("another command");
        };
        assert_eq!(
            format!("{:?}", bounds.fitting.encoder),
            format!("{:?}", EncoderOptions::default())
        );
    }
}
