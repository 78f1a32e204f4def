//! The commands that measure, and the tables that each of them gives.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::stored::Stored;
use super::{gpu, readers};
use crate::{chromium, root, venv};

/// A command, by the name of its experiment.
pub(super) struct Job {
    pub(super) name: &'static str,
    tables: &'static [Table],
    what: What,
}

/// A table, and where it is in what the command writes.
pub(super) struct Table {
    /// The name of the stored file.
    pub(super) name: &'static str,
    /// The file that the command writes, without its extension; empty where there is one table only.
    pub(super) file: &'static str,
    /// Columns that the page does not show.
    pub(super) skipped: &'static [&'static str],
}

enum What {
    /// `sarl reproduce` of the same name, with all rivals.
    Reproduce,
    /// `sarl reproduce` of this name, with our encoders alone.
    Ours(&'static str),
    /// `sarl fit` and `sarl audit` on Adult.
    Example,
    /// The benchmark of the library.
    Core,
    /// The benchmark of the command on a large file.
    OutOfCore,
    /// The benchmark of the Python package.
    Python,
    /// The benchmark of the report.
    Page,
    /// The benchmark of the widths of language models and of kernels.
    Wide,
    /// The error of single precision.
    Single,
    /// Our encoders beside fairlearn.
    Fairness,
    /// One layer of a network beside concept-erasure.
    Scrub,
    /// The GPU engine.
    Gpu,
    /// How far its results are from those of the processor.
    GpuError,
}

const fn whole(name: &'static str) -> Table {
    Table { name, file: "", skipped: &[] }
}

const fn of(name: &'static str, file: &'static str, skipped: &'static [&'static str]) -> Table {
    Table { name, file, skipped }
}

/// Everything that `cargo xtask figures` can measure.
pub(super) const JOBS: &[Job] = &[
    Job {
        name: "gaussian",
        tables: &[
            of("gaussian-front", "front", &[]),
            of("gaussian-leakage", "equal-leakage", &[]),
            of("gaussian-methods", "rivals", &[]),
        ],
        what: What::Reproduce,
    },
    Job {
        name: "adult",
        tables: &[
            of("adult-authors", "table-1-adult-authors", &["Δ"]),
            of("adult-uci", "table-1-adult-uci", &["Δ"]),
        ],
        what: What::Reproduce,
    },
    Job {
        name: "certified",
        tables: &[of("certified-levels", "certified", &[])],
        what: What::Reproduce,
    },
    Job {
        name: "adult-ours",
        tables: &[of(
            "adult-certified",
            "table-1-adult-uci",
            &["Δ", "paper", "beside the paper", "ours at no more", "seconds to fit"],
        )],
        what: What::Ours("adult"),
    },
    Job {
        name: "german",
        tables: &[of("german", "table-1-german", &["Δ"])],
        what: What::Reproduce,
    },
    Job {
        name: "yaleb",
        tables: &[of(
            "yaleb",
            "table-2",
            &["target balanced %", "guess: test / training majority %", "chance %"],
        )],
        what: What::Reproduce,
    },
    Job { name: "cifar100", tables: &[of("cifar100-front", "front", &[])], what: What::Reproduce },
    Job {
        name: "example",
        tables: &[whole("adult-goal"), whole("adult-audit"), whole("adult-fairness")],
        what: What::Example,
    },
    Job { name: "core", tables: &[whole("speed-core")], what: What::Core },
    Job { name: "out-of-core", tables: &[whole("speed-files")], what: What::OutOfCore },
    Job {
        name: "python",
        tables: &[whole("speed-python-fit"), whole("speed-python-transform")],
        what: What::Python,
    },
    Job { name: "wide", tables: &[whole("speed-wide")], what: What::Wide },
    Job { name: "single", tables: &[whole("single-error")], what: What::Single },
    Job { name: "page", tables: &[whole("speed-page")], what: What::Page },
    Job {
        name: "beside-fairlearn",
        tables: &[whole("fairness"), whole("acs-age")],
        what: What::Fairness,
    },
    Job { name: "scrub", tables: &[whole("networks-speed")], what: What::Scrub },
    Job { name: "gpu", tables: &[whole("gpu-speed")], what: What::Gpu },
    Job { name: "gpu-errors", tables: &[whole("gpu-error")], what: What::GpuError },
];

/// The job of this name, or the one that gives the table of this name.
pub(super) fn find(name: &str) -> Result<&'static Job> {
    let named = |job: &&Job| job.name == name || job.tables.iter().any(|t| t.name == name);
    JOBS.iter().find(named).with_context(|| {
        let names: Vec<&str> = JOBS.iter().map(|job| job.name).collect();
        format!("no command measures `{name}`; there are {}", names.join(", "))
    })
}

impl Job {
    pub(super) fn run(&self) -> Result<Vec<(String, Stored)>> {
        match self.what {
            What::Reproduce | What::Ours(_) => self.reproduce(),
            What::Example => example(),
            What::Core => {
                let line = ["bench", "-p", "sarl", "--bench", "core"];
                readers::core(&text(cargo(&line).env("SARL_PYTHON", python()?))?)
            }
            What::OutOfCore => {
                let line = ["bench", "-p", "sarl-cli", "--bench", "out_of_core"];
                readers::out_of_core(&text(&mut cargo(&line))?)
            }
            What::Python => self.bench("fit"),
            What::Page => {
                sarl()?;
                let mut command = Command::new(python()?);
                command.arg("browser/bench_open.py").env("SARL_CHROMIUM", chromium()?);
                readers::page(&text(&mut command)?)
            }
            What::Wide => self.bench("wide"),
            What::Single => self.bench("single"),
            What::Fairness => self.bench("fairness"),
            What::Scrub => self.bench("scrub"),
            What::Gpu => {
                let bench = text(&mut cargo(&[
                    "run",
                    "--release",
                    "-p",
                    "sarl-cuda",
                    "--example",
                    "bench",
                ]))?;
                if bench.starts_with("skipped") {
                    eprintln!("{} the stored figures stay", bench.trim());
                    return Ok(Vec::new());
                }
                let peers = text(Command::new(python()?).arg("python/benches/gpu.py"))?;
                gpu::speed(&format!("{bench}\n{peers}"))
            }
            What::GpuError => {
                let found = text(Command::new(python()?).arg("python/benches/gpu_error.py"))?;
                if found.contains("skipped") {
                    eprintln!("{} the stored figures stay", found.trim());
                    return Ok(Vec::new());
                }
                gpu::error(&found)
            }
        }
    }

    /// A script of `python/benches` that writes its numbers to a file.
    fn bench(&self, script: &str) -> Result<Vec<(String, Stored)>> {
        let file = scratch(&format!("{script}.json"))?;
        let mut command = Command::new(python()?);
        text(command.arg(format!("python/benches/{script}.py")).arg("--json").arg(&file))?;
        self.read(&file)
    }

    fn line(&self) -> [&'static str; 4] {
        match self.what {
            What::Ours(experiment) => ["reproduce", experiment, "--rivals", "none"],
            _ => ["reproduce", self.name, "--rivals", "full"],
        }
    }

    fn reproduce(&self) -> Result<Vec<(String, Stored)>> {
        let mut command = Command::new(sarl()?);
        let command = command.args(self.line()).arg("-o").arg(scratch("out")?).arg("--json");
        self.tables_of(&text(command)?)
    }

    fn tables_of(&self, results: &str) -> Result<Vec<(String, Stored)>> {
        let found: Value = serde_json::from_str(results).context("cannot read the results")?;
        let [_, name, _, rivals] = self.line();
        let same = found["name"] == name && found["rivals"] == rivals;
        if !same {
            bail!("these are not the results of `sarl {}`", self.line().join(" "));
        }
        readers::reproduced(&format!("`sarl {}`", self.line().join(" ")), &found, self.tables)
    }

    /// The tables of a `results.json` that is there already.
    pub(super) fn read(&self, file: &Path) -> Result<Vec<(String, Stored)>> {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {file:?}"))?;
        match self.what {
            What::Reproduce | What::Ours(_) => self.tables_of(&text),
            What::Python => readers::python(&serde_json::from_str(&text)?),
            What::Wide => readers::wide(&serde_json::from_str(&text)?),
            What::Single => readers::single(&serde_json::from_str(&text)?),
            What::Fairness => readers::fairness(&serde_json::from_str(&text)?),
            What::Scrub => readers::scrub(&serde_json::from_str(&text)?),
            What::Gpu => gpu::speed(&text),
            What::GpuError => gpu::error(&text),
            _ => bail!("`{}` writes no results that could be read again", self.name),
        }
    }
}

fn example() -> Result<Vec<(String, Stored)>> {
    let (sarl, model) = (sarl()?, scratch("adult.safetensors")?);
    let (train, test) = (data("adult/train.csv")?, data("adult/test.csv")?);
    let goal = ["-t", "income", "-s", "sex", "--missing", "drop", "--max-leakage", "0.01"];
    let mut fit = Command::new(&sarl);
    let fit = fit.arg("fit").arg(&train).args(goal).arg("-o").arg(&model).arg("--json");
    let fit: Value = serde_json::from_str(&text(fit)?)?;
    let mut audit = Command::new(&sarl);
    let audit = audit.arg("audit").arg(&model).arg(&train).arg("--test").arg(&test).arg("--json");
    readers::example(&fit, &serde_json::from_str(&text(audit)?)?)
}

/// The command, built.
fn sarl() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SARL_BIN") {
        return Ok(path.into());
    }
    text(&mut cargo(&["build", "--release"]))?;
    Ok(root().join("target/release/sarl"))
}

/// Python with the package and its peers.
fn python() -> Result<PathBuf> {
    venv(&[".[test,browser]"])
}

fn data(name: &str) -> Result<PathBuf> {
    let folders = [std::env::var_os("SARL_DATA").map(PathBuf::from), Some("../shared/data".into())];
    let path = folders.into_iter().flatten().map(|f| root().join(f).join(name));
    let found = path.into_iter().find(|p| p.exists());
    found.with_context(|| format!("no {name}: set SARL_DATA to the folder of real data"))
}

fn scratch(name: &str) -> Result<PathBuf> {
    let folder = root().join("target/figures");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {folder:?}"))?;
    Ok(folder.join(name))
}

fn cargo(line: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(line);
    command
}

/// What a command prints.
fn text(command: &mut Command) -> Result<String> {
    command.current_dir(root()).stderr(Stdio::inherit());
    eprintln!("\n> {command:?}");
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", output.status);
    }
    String::from_utf8(output.stdout).context("the output is not text")
}

/// The name of a file without its folder and extension.
pub(super) fn stem(file: &str) -> &str {
    Path::new(file).file_stem().and_then(|s| s.to_str()).unwrap_or(file)
}
