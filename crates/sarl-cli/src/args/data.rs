//! Which data, and what is done to it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sarl_data::Missing;

/// Which rows.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct Files {
    /// Data files, folders, patterns ('data/*.csv') or addresses (s3://, gs://, az://, https://), as one data set: .csv, .tsv, .txt (.gz too), .parquet, .arrow, .npz, .npy, .safetensors
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
}

/// Which rows, or what was added up of them.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct FilesOrMoments {
    /// Data files, folders, patterns ('data/*.csv') or addresses (s3://, gs://, az://, https://), as one data set: .csv, .tsv, .txt (.gz too), .parquet, .arrow, .npz, .npy, .safetensors
    #[arg(required_unless_present = "moments")]
    pub data: Vec<PathBuf>,
    /// Files of `sarl moments` in place of DATA: the rows of all of them, added up
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "data")]
    pub moments: Vec<PathBuf>,
}

/// Which columns in which roles.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Data")]
pub struct DataOptions {
    /// What to keep; COL:class or COL:number overrides the type, `:features` keeps everything that can be kept [default for matrices: y]
    #[arg(long, short, value_name = "COL,…", value_delimiter = ',')]
    pub target: Vec<String>,
    /// What to hide; COL:kernel or COL:bins=N for numbers, A*B for combinations [default for matrices: s]
    #[arg(long, short, value_name = "COL,…", value_delimiter = ',')]
    pub sensitive: Vec<String>,
    /// What to learn from [default: every other column]; COL:class makes integers categories
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Features whose integers are categories
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// Column of row weights
    #[arg(long, value_name = "COL")]
    pub weight: Option<String>,
    /// What to do to numeric features
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScalePolicy,
    /// What to do with missing values
    #[arg(long, value_enum, default_value_t)]
    pub missing: MissingPolicy,
    /// More cells that are missing, in every column: unknown,-999
    #[arg(long, value_name = "CELL,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing_values: Vec<String>,
    /// Categories of a feature at most: its most frequent values, and all others as one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub max_categories: Option<u32>,
}

/// What to do with new categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnseenPolicy {
    #[default]
    Error,
    Ignore,
}

/// What to do to numeric features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ScalePolicy {
    None,
    #[default]
    Standard,
}

/// What to do with missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissingPolicy {
    #[default]
    Error,
    Drop,
    Mean,
}

impl From<MissingPolicy> for Missing {
    fn from(policy: MissingPolicy) -> Self {
        match policy {
            MissingPolicy::Error => Missing::Error,
            MissingPolicy::Drop => Missing::Drop,
            MissingPolicy::Mean => Missing::Mean,
        }
    }
}
