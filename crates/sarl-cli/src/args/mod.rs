//! The command line, as the contract fixes it.

mod compare;
mod data;
mod device;
mod encoder;
mod goal;
mod page;
mod probing;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sarl_paper::Name;

pub use self::compare::Compare;
pub use self::data::{
    DataOptions, Files, FilesOrMoments, MissingPolicy, ScalePolicy, UnseenPolicy,
};
pub use self::device::{DeviceOptions, PrecisionName};
pub use self::encoder::{
    Approximation, CriterionName, EncoderOptions, KernelName, NumberOrAuto, Sampling,
};
pub use self::goal::{CellOptions, GoalOptions};
pub use self::page::PageOptions;
pub use self::probing::ProbeOptions;

/// Encoders that keep one thing and hide another, globally optimal in closed form.
#[derive(Debug, Parser)]
#[command(name = "sarl", version, propagate_version = true)]
#[command(after_help = "Start with `sarl demo`; every command has an example in its --help.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// One JSON object on stdout, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress and no warnings on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Threads to use [default: all]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory to use at most, such as 800M or 4G [default: four fifths of the machine's]
    #[arg(long, global = true, value_name = "SIZE", value_parser = sarl_memory::parse)]
    pub memory: Option<u64>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(Demo),
    Inspect(Inspect),
    Moments(Moments),
    Bounds(Bounds),
    Front(Front),
    Fit(Fit),
    Retune(Retune),
    Encode(Encode),
    Audit(Audit),
    Certify(Certify),
    Compare(Compare),
    Info(Info),
    Reproduce(Reproduce),
    Data(Data),
    Completions(Completions),
    Man(Man),
}

/// The paper's four-Gaussian mixture: fit, compare, no input needed
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl demo\n  sarl fit sarl-demo/mixture.csv -t shape -s colour --max-leakage 0.02 -o m.safetensors"
)]
pub struct Demo {
    /// Where to write the sample, the fronts, the models and the report
    #[arg(long, short, default_value = "sarl-demo", value_name = "DIR")]
    pub output: PathBuf,
    /// Seed of the sample
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

/// What each column is taken for, before anything is fitted
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl inspect sarl-demo/mixture.csv\n  sarl inspect people.csv -t income -s sex,age --missing mean"
)]
pub struct Inspect {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub data: DataOptions,
    /// Folds of the fit whose memory is predicted
    #[arg(long, default_value_t = 5, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub folds: u32,
}

/// What fits need of the rows of a shard, to be merged with that of others
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl moments part1.csv -t income -s sex -o part1.moments\n  sarl moments part2.csv -t income -s sex -o part2.moments\n  sarl fit --moments part1.moments part2.moments --max-leakage 0.01 -o m.safetensors"
)]
pub struct Moments {
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
    /// Take columns, categories, classes, kernel and options from this file of `sarl moments`
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// What is fitted, and how.
#[derive(Debug, Args)]
pub struct FitOptions {
    #[command(flatten)]
    pub files: FilesOrMoments,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub encoder: EncoderOptions,
    #[command(flatten)]
    pub device: DeviceOptions,
}

/// What any encoder could achieve on this data
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sarl bounds sarl-demo/mixture.csv -t shape -s colour")]
pub struct Bounds {
    #[command(flatten)]
    pub fitting: FitOptions,
}

/// The whole trade-off between what is kept and what is hidden
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl front sarl-demo/mixture.csv -t shape -s colour --csv front.csv\n  sarl front sarl-demo/mixture.csv -t shape -s colour --html report.html --audit\n  sarl front sarl-demo/mixture.csv -t shape -s colour --certified"
)]
pub struct Front {
    #[command(flatten)]
    pub fitting: FitOptions,
    /// Points from lambda = 0 to lambda = 1
    #[arg(long, default_value_t = 101, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub points: u32,
    /// Write the points to this CSV file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// The front of guarantees against every adversary, instead
    #[arg(long, conflicts_with = "points", help_heading = "Guarantee against every adversary")]
    pub certified: bool,
    #[command(flatten)]
    pub cells: CellOptions,
    #[command(flatten)]
    pub page: PageOptions,
    /// Audit encoders along the front for the report, with one seed
    #[arg(long, requires = "html", help_heading = "Report")]
    pub audit: bool,
}

/// Fit an encoder for a goal and write it, with its certificate
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl fit sarl-demo/mixture.csv -t shape -s colour --max-leakage 0.02 -o m.safetensors\n  sarl fit sarl-demo/mixture.csv -t shape -s colour --max-leakage 0.02 -o m.safetensors --html report.html --audit\n  sarl fit sarl-demo/mixture.csv -t shape -s colour --max-advantage 0.3 -o m.safetensors\n  sarl fit sarl-demo/mixture.csv -t shape -s colour --criterion equalized-odds --max-leakage 0.02 -o m.safetensors"
)]
pub struct Fit {
    #[command(flatten)]
    pub fitting: FitOptions,
    #[command(flatten)]
    pub goal: GoalOptions,
    #[command(flatten)]
    pub cells: CellOptions,
    /// The model file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub page: PageOptions,
    /// Audit encoders along the front for the report, with one seed
    #[arg(long, requires = "html", help_heading = "Report")]
    pub audit: bool,
}

/// Another trade-off from the same fit, without the data
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl retune sarl-demo/linear.safetensors --min-utility 0.9 -o m2.safetensors"
)]
pub struct Retune {
    /// A model file
    pub model: PathBuf,
    #[command(flatten)]
    pub goal: GoalOptions,
    /// The model file to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// Encode rows with a model
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl encode sarl-demo/linear.safetensors sarl-demo/mixture.csv --keep shape -o z.csv"
)]
pub struct Encode {
    /// A model file
    pub model: PathBuf,
    /// Data files, or folders of them
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Where to write z: .csv, .parquet, .arrow or .npy; - is stdout, as CSV
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Write the features without what was erased, not z: for models of `-t :features`; files of an
    /// eraser always do
    #[arg(long)]
    pub erased: bool,
    /// Columns to pass through, before those of z
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// What to do with a category that the model does not know
    #[arg(long, value_enum, default_value_t)]
    pub unseen: UnseenPolicy,
    /// What to do with missing values; `drop` leaves z empty in such rows [default: that of the fit]
    #[arg(long, value_enum)]
    pub missing: Option<MissingPolicy>,
    /// Where rows are encoded: auto, cpu, cuda or cuda:N; auto takes a GPU for kernels where there is one
    #[arg(long, default_value = "auto", value_name = "DEVICE")]
    pub device: sarl_cuda::Device,
}

/// What attackers and predictors really learn from z
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl audit sarl-demo/linear.safetensors sarl-demo/mixture.csv\n  sarl audit m.safetensors train.csv --test test.csv --predictions told.csv --html report.html"
)]
pub struct Audit {
    /// A model file
    pub model: PathBuf,
    /// Rows that the attackers learn from; without --test, those that they are tested on as well
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Write what the best predictor of the target says of each test row to this CSV file
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    #[command(flatten)]
    pub probing: ProbeOptions,
    /// The first seed, and that of the split
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Leave out the control: the same attackers on the raw features
    #[arg(long)]
    pub no_control: bool,
    #[command(flatten)]
    pub page: PageOptions,
}

/// What no adversary can learn from the cells of a model, proved on fresh rows
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl fit train.csv -t income -s sex --max-advantage 0.05 -o m.safetensors\n  sarl certify m.safetensors fresh.csv"
)]
pub struct Certify {
    /// A model file with cells
    pub model: PathBuf,
    /// Rows that the model has not seen
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// How sure the guarantee is [default: that of the fit]
    #[arg(long, value_name = "C")]
    pub confidence: Option<f64>,
    /// What to do with a category that the model does not know
    #[arg(long, value_enum, default_value_t)]
    pub unseen: UnseenPolicy,
}

/// What is in a model file
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sarl info sarl-demo/linear.safetensors")]
pub struct Info {
    /// A model file
    pub model: PathBuf,
}

/// The paper's tables and figures beside ours
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl reproduce gaussian\n  sarl reproduce all -o out\n  sarl reproduce all --rivals full -o out"
)]
pub struct Reproduce {
    /// The experiment
    #[arg(value_enum)]
    pub name: ExperimentName,
    /// Where to write results.json, tables, figures and the report, in a folder for each experiment
    #[arg(long, short, default_value = "out", value_name = "DIR")]
    pub output: PathBuf,
    /// How much to do for the methods that the paper compares with
    #[arg(long, value_enum, default_value_t)]
    pub rivals: RivalEffort,
    /// Seeds of everything that has randomness [default: 3; quick: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Shuffles of the German data [default: 50; quick: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub shuffles: Option<u32>,
}

/// How much to do for the rivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RivalEffort {
    /// Our encoders alone
    None,
    /// Every rival with few seeds: all experiments in about ten minutes on two cores
    #[default]
    Quick,
    /// Every rival with more seeds, shuffles and weights
    Full,
}

/// The experiments of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExperimentName {
    /// The mixture of four Gaussians
    Gaussian,
    /// UCI Adult: income kept, gender hidden
    Adult,
    /// UCI German: credit kept, age hidden
    German,
    /// Extended Yale B: identity and light
    Yaleb,
    /// CIFAR-100: coarse class kept, fine class hidden
    Cifar100,
    /// Guarantees against every adversary: Adult and ACSIncome, ours and FARE's
    Certified,
    /// Every one of them
    All,
}

impl ExperimentName {
    /// The experiments that it stands for.
    pub fn each(self) -> &'static [Name] {
        match self {
            Self::Gaussian => &[Name::Gaussian],
            Self::Adult => &[Name::Adult],
            Self::German => &[Name::German],
            Self::Yaleb => &[Name::Yaleb],
            Self::Cifar100 => &[Name::Cifar100],
            Self::Certified => &[Name::Certified],
            Self::All => &Name::EACH,
        }
    }
}

/// Known data sets: where each comes from and where it is kept
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sarl data list\n  sarl data get adult")]
pub struct Data {
    #[command(subcommand)]
    pub action: DataAction,
}

/// What to do with the known data sets.
#[derive(Debug, Subcommand)]
pub enum DataAction {
    /// All of them, and which are here
    List,
    /// Fetch one from its official source, check it, and make tables with a header of raw files
    Get {
        /// Its name
        name: String,
    },
}

/// Completions for a shell, on stdout
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl completions bash > ~/.local/share/bash-completion/completions/sarl"
)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Man pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sarl man ./man && man ./man/sarl-fit.1")]
pub struct Man {
    /// The folder to write them to
    pub folder: PathBuf,
}
