//! The options of `sarl compare`.

use std::path::PathBuf;

use clap::Args;

use super::{DataOptions, EncoderOptions, Files, PageOptions, ProbeOptions};

/// Our encoders and other methods on your data, with one audit for all
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sarl compare people.csv -t income -s sex --rivals ml-arl,leace\n  sarl compare train.csv -t income -s sex --test test.csv --hiding 0.3,0.7,0.9 --html report.html",
    mut_arg("seed", |arg| arg.help("The first seed, and that of the split, landmarks, random features and folds")),
    mut_arg("fold_by", |arg| arg.hide(true)),
    mut_arg("kernel", |arg| arg.help("Kernel of the kernel encoder; linear stands for rbf with --ridge auto, as a linear encoder runs anyway")),
)]
pub struct Compare {
    /// Other methods: ssgd, lfr, vae, vfae, ml-arl, maxent-arl, leace, splince, inlp, rlace, fare; all or none [default: all that can hide such labels]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub rivals: Vec<String>,
    /// Weights of hiding to try with each of them, 0 to 1 [default: its own]
    #[arg(long, value_name = "W,…", value_delimiter = ',')]
    pub hiding: Vec<f64>,
    /// Leakages to ask of our encoders, 0 to 1 [default: seven from none to all of what full utility leaks]
    #[arg(long, value_name = "L,…", value_delimiter = ',')]
    pub leakages: Vec<f64>,
    /// Where to write the table, the figure and results.json
    #[arg(long, short, default_value = "sarl-compare", value_name = "DIR")]
    pub output: PathBuf,
    #[command(flatten)]
    pub page: PageOptions,
    #[command(flatten)]
    pub probing: ProbeOptions,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub encoder: EncoderOptions,
}
