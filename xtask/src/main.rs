//! What a developer types: `cargo xtask test`, `cargo xtask bench`.

mod builds;
mod figures;
mod fuzz;
mod licences;
mod mutate;
mod soak;
mod supply;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask <task>

  test         licences and figures, fmt, clippy, rustdoc, tests and doctests, of the Python package too,
               with their peers, and of the reports in a browser: what CI runs
  bench        the benchmarks, with their peers installed into target/venv
  docs         the API documentation, in target/doc
  figures      the tables of measured figures in README.md and docs: run what measures them, or only
               --only NAME, --stored, --check
  fuzz         every parser, and fit, encode, recompute, under libFuzzer: --minutes N, --target NAME, --seed S
  mutate       the whole command with damaged files and models: --cases N, --seed S, --first I
  soak         eight processes that fit, encode, audit and report, and one that lives long: --minutes N
  supply       advisories, licences, sources and duplicates of dependencies, licence texts, an SBOM, the
               same wheel twice; needs the network: --offline leaves out what does
  licences     THIRD-PARTY.md: the crates that are compiled in, with their licences; --check
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = arguments.split_first().map_or((None, &[][..]), |(t, r)| (Some(t), r));
    if let Some(rustc) = task.filter(|t| fuzz::is_compiler(t)) {
        return fuzz::compile(rustc, rest);
    }
    let result = match task.map(String::as_str) {
        Some("test") => test(),
        Some("bench") => bench(),
        Some("docs") => cargo(&["doc", "--release", "--workspace", "--no-deps"]),
        Some("fuzz") => fuzz::fuzz(rest),
        Some("mutate") => mutate::mutate(rest),
        Some("soak") => soak::soak(rest),
        Some("supply") => supply::supply(rest),
        Some("figures") => figures::figures(rest),
        Some("licences") if rest.is_empty() => licences::licences(false),
        Some("licences") if rest == ["--check"] => licences::licences(true),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Every lane in the release profile: dependencies are then built once, for these and for
/// `cargo run --release`.
fn test() -> Result<()> {
    let mut lanes = Lanes::new();
    components()?;
    licences::licences(true)?;
    figures::figures(&["--check".to_owned()])?;
    builds::check()?;
    cargo(&["fmt", "--all", "--check"])?;
    lanes.done("licences, figures, features of the builds, rustfmt");
    cargo(&["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    lanes.done("clippy");
    cargo_with(
        &["doc", "--release", "--workspace", "--no-deps"],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    lanes.done("rustdoc");
    // The package as a user gets it, with all that its tests need; the Rust tests ask it too.
    let python = venv(&[".[test,browser]"])?;
    let python = python.to_str().context("the path of target/venv is not text")?;
    run(Command::new(python).args(["-m", "ruff", "check", "python", "browser"]))?;
    run(Command::new(python).args(["-m", "ruff", "format", "--check", "python", "browser"]))?;
    lanes.done("the Python package with its peers, ruff");
    cargo(&["test", "--release", "--workspace", "--no-run"])?;
    lanes.done("Rust tests: build");
    cargo_with(&["test", "--release", "--workspace"], &[("SARL_PYTHON", python)])?;
    lanes.done("Rust tests and doctests");
    fuzz::smoke()?;
    lanes.done("fuzzers");
    let node = node()?;
    run(Command::new(python).args(["-m", "pytest"]).env("SARL_NODE_BIN", node))?;
    lanes.done("Python tests");
    let chromium = chromium()?;
    // The tests of the command have built it.
    let reports = ["-m", "pytest", "browser"];
    run(Command::new(python).args(reports).env("SARL_CHROMIUM", chromium))?;
    lanes.done("reports in a browser");
    lanes.print();
    Ok(())
}

/// How long each lane took.
struct Lanes {
    start: Instant,
    last: Instant,
    done: Vec<(&'static str, f64)>,
}

impl Lanes {
    fn new() -> Self {
        let now = Instant::now();
        Lanes { start: now, last: now, done: Vec::new() }
    }

    fn done(&mut self, name: &'static str) {
        self.done.push((name, self.last.elapsed().as_secs_f64()));
        self.last = Instant::now();
    }

    fn print(&self) {
        eprintln!("\nall lanes passed in {:.0} s", self.start.elapsed().as_secs_f64());
        for (name, seconds) in &self.done {
            eprintln!("{seconds:>7.0} s  {name}");
        }
    }
}

/// The folder of the object stores that are programs of Node: that of `SARL_NODE_BIN`, or `target/node`, into
/// which npm installs them. Without npm there are none, and their tests say that they skip.
fn node() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SARL_NODE_BIN") {
        return Ok(path.into());
    }
    let folder = root().join("target/node");
    let programs = folder.join("node_modules/.bin");
    let npm = Command::new("npm").arg("--version").output().is_ok_and(|o| o.status.success());
    if npm && !["s3rver", "azurite-blob"].iter().all(|name| programs.join(name).exists()) {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {folder:?}"))?;
        let install = ["install", "--no-audit", "--no-fund", "s3rver@3", "azurite@3", "--prefix"];
        run(Command::new("npm").args(install).arg(&folder))?;
    }
    Ok(programs)
}

/// The browser that reports are opened in: that of `SARL_CHROMIUM`, one on the path, or Debian's.
fn chromium() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("SARL_CHROMIUM") {
        return Ok(path.into());
    }
    let found = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        std::env::split_paths(&folders)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|path| path.is_file())
    };
    if let Some(path) = found() {
        return Ok(path);
    }
    let missing = "no Chromium to open reports in: install it, or set SARL_CHROMIUM to its path";
    run(Command::new("apt-get").args(["update", "--quiet"])).context(missing)?;
    let install = ["install", "--quiet", "--yes", "--no-install-recommends"];
    run(Command::new("apt-get").args(install).args(["chromium", "fonts-dejavu"]))
        .context(missing)?;
    found().context(missing)
}

/// rustfmt and clippy, where rustup manages them and they are missing.
fn components() -> Result<()> {
    for (tool, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let there = Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success());
        if !there {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

fn bench() -> Result<()> {
    let python = venv(&[".[test,browser]"])?;
    let python = python.to_str().context("the path of target/venv is not text")?;
    // Only the benchmarks: unit tests take `cargo bench` for a question about themselves.
    let benches = ["--bench", "core", "--bench", "out_of_core"];
    cargo_with(&[&["bench", "--workspace"], &benches[..]].concat(), &[("SARL_PYTHON", python)])?;
    run(Command::new(python).arg("python/benches/fit.py"))?;
    run(Command::new(python).arg("python/benches/wide.py"))?;
    let chromium = chromium()?;
    cargo(&["build", "--release"])?;
    run(Command::new(python).arg("browser/bench_open.py").env("SARL_CHROMIUM", chromium))
}

/// A virtual environment in `target/venv` with these packages; its Python.
fn venv(packages: &[&str]) -> Result<PathBuf> {
    let folder = root().join("target/venv");
    let python = folder.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    Ok(python)
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

fn cargo(arguments: &[&str]) -> Result<()> {
    cargo_with(arguments, &[])
}

fn cargo_with(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    run(command.args(arguments).envs(environment.iter().copied()))
}

fn run(command: &mut Command) -> Result<()> {
    command.current_dir(root());
    eprintln!("\n> {command:?}");
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}
