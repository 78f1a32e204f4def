//! `cargo xtask fuzz`: the targets of `fuzz/` under libFuzzer.
//!
//! libFuzzer needs counters in the code. They are put into our own crates only, so that the
//! dependencies are those of every other lane: cargo asks this very program to compile the members
//! of the workspace (`RUSTC_WORKSPACE_WRAPPER`), and it adds the flags. No sanitizer is on, so the
//! stable toolchain is enough; overflows and failed assertions are finds as well.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{cargo_with, root};

/// What makes a crate report which of its code an input has reached.
const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
];
/// An input that takes longer than this, in seconds, is a find.
const SLOW: u32 = 20;
/// And one that takes more memory than this, in megabytes.
const LARGE: u32 = 2048;

/// Whether cargo asks to compile a crate.
pub(crate) fn is_compiler(first: &str) -> bool {
    Path::new(first).file_stem().is_some_and(|name| name == "rustc")
}

/// Compiles a crate, with counters where it is a crate at all and not a question.
pub(crate) fn compile(rustc: &str, arguments: &[String]) -> ExitCode {
    let mut command = Command::new(rustc);
    command.args(arguments);
    if arguments.iter().any(|a| a == "--crate-name") && !arguments.iter().any(|a| a == "___") {
        command.args(FLAGS);
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Targets that `cargo xtask test` leaves out: they have finds that are not cured yet
/// (`docs/reliability.md`).
const OPEN: [&str; 2] = ["kernels", "extreme"];

/// Inputs of each target in `cargo xtask test`: of one that reads, and of one that fits.
const SMOKE: (u64, u64) = (3_000, 800);

/// What is asked for on the command line.
struct Plan {
    minutes: f64,
    target: Option<String>,
    without: &'static [&'static str],
    /// Where inputs are drawn from; by chance if there is none.
    seed: Option<u32>,
    /// How many inputs there are at most; of a target that reads, and of one that fits.
    inputs: Option<(u64, u64)>,
}

impl Plan {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut plan = Plan { minutes: 14.0, target: None, without: &[], seed: None, inputs: None };
        let mut rest = arguments.iter();
        while let Some(option) = rest.next() {
            let value = rest.next().with_context(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--minutes" => plan.minutes = value.parse().context("--minutes needs a number")?,
                "--target" => plan.target = Some(value.clone()),
                "--seed" => plan.seed = Some(value.parse().context("--seed needs a number")?),
                _ => bail!("unknown option {option}: --minutes N, --target NAME, --seed S"),
            }
        }
        Ok(plan)
    }
}

/// What is asked for on the command line.
pub(crate) fn fuzz(arguments: &[String]) -> Result<()> {
    carry_out(&Plan::parse(arguments)?)
}

/// Some thousands of inputs for each target, the same each time however fast the machine is: does
/// anything that was found before come back?
pub(crate) fn smoke() -> Result<()> {
    let (target, without, seed) = (None, &OPEN[..], Some(1));
    carry_out(&Plan { minutes: 30.0, target, without, seed, inputs: Some(SMOKE) })
}

/// Builds the targets, and lets each of them run for its share of the minutes.
fn carry_out(plan: &Plan) -> Result<()> {
    let program = build()?;
    let all = targets(&program)?;
    let wanted = |name: &&String| {
        let named = plan.target.as_ref().is_none_or(|target| target == *name);
        named && !plan.without.contains(&name.as_str())
    };
    let chosen: Vec<&String> = all.iter().filter(wanted).collect();
    if chosen.is_empty() {
        bail!("there is no such target; there are {}", all.join(", "));
    }
    let seconds = (plan.minutes * 60.0 / chosen.len() as f64).ceil() as u32;
    eprintln!("{:>12} {:>10} {:>8} {:>8} {:>7}", "target", "inputs", "per s", "reached", "finds");
    let mut finds = Vec::new();
    for name in chosen {
        let run = one(&program, name, seconds, plan)?;
        let Counts { inputs, rate, reached } = run.counts;
        eprintln!("{name:>12} {inputs:>10} {rate:>8} {reached:>8} {:>7}", run.finds.len());
        for find in run.finds {
            eprintln!("  {}\n  again: {}", find.said, again(&program, name, &find.input));
            finds.push(find);
        }
    }
    match finds.len() {
        0 => Ok(()),
        count => bail!("{count} finds: the inputs are kept in target/fuzz"),
    }
}

fn build() -> Result<PathBuf> {
    let start = Instant::now();
    let own = std::env::current_exe().context("where is xtask?")?;
    let own = own.to_str().context("the path of xtask is not text")?;
    // The command is not built, but with it in the selection the dependencies have the features
    // that every other lane has built them with.
    let line = "build --release --package sarl-fuzz --package sarl-cli --bin sarl-fuzz";
    let line: Vec<&str> = line.split(' ').collect();
    cargo_with(&line, &[("RUSTC_WORKSPACE_WRAPPER", own)])?;
    // The same name without counters may come from another lane: keep this one.
    let (built, kept) = (root().join("target/release/sarl-fuzz"), root().join("target/fuzz"));
    std::fs::create_dir_all(&kept).context("cannot make target/fuzz")?;
    let kept = kept.join("sarl-fuzz");
    std::fs::copy(&built, &kept).with_context(|| format!("cannot copy {built:?}"))?;
    eprintln!("the targets were built in {:.0} s", start.elapsed().as_secs_f64());
    Ok(kept)
}

fn targets(program: &Path) -> Result<Vec<String>> {
    let output = Command::new(program).output().context("cannot start the targets")?;
    let text = String::from_utf8(output.stdout).context("the names of the targets")?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// What libFuzzer says at the end.
#[derive(Default)]
struct Counts {
    inputs: u64,
    rate: u64,
    reached: u64,
}

/// An input that must not do what it did.
struct Find {
    input: PathBuf,
    said: String,
}

struct Run {
    counts: Counts,
    finds: Vec<Find>,
}

/// Runs a target from its seeds and from what earlier runs have found.
fn one(program: &Path, name: &str, seconds: u32, plan: &Plan) -> Result<Run> {
    let fits = ["fit", "kernels", "extreme"].contains(&name);
    let folder = root().join("target/fuzz").join(name);
    // The same inputs each time: nothing of earlier runs.
    let kept = if plan.inputs.is_some() { "smoke" } else { "corpus" };
    let (seeds, corpus, found) = (folder.join("seeds"), folder.join(kept), folder.join("finds"));
    if plan.inputs.is_some() && corpus.exists() {
        std::fs::remove_dir_all(&corpus).with_context(|| format!("cannot empty {corpus:?}"))?;
    }
    for folder in [&seeds, &corpus, &found] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {folder:?}"))?;
    }
    let mut write = command(program, name);
    let written = write.env("SARL_FUZZ_SEEDS", &seeds).output().context("cannot write seeds")?;
    if !written.status.success() {
        bail!("no seeds of {name}: {}", String::from_utf8_lossy(&written.stderr));
    }
    let open = replayed(program, name, names(&found)?)?;
    let known = names(&found)?;
    let mut command = command(program, name);
    command.arg(format!("-max_total_time={seconds}")).args([
        format!("-timeout={SLOW}"),
        format!("-rss_limit_mb={LARGE}"),
        format!("-artifact_prefix={}/", found.display()),
        format!("-max_len={}", if fits { 96 } else { 1 << 16 }),
        "-print_final_stats=1".to_owned(),
        "-use_value_profile=1".to_owned(),
        "-reload=0".to_owned(),
    ]);
    if let Some(seed) = plan.seed {
        command.arg(format!("-seed={seed}"));
    }
    if let Some((of_readers, of_fits)) = plan.inputs {
        command.arg(format!("-runs={}", if fits { of_fits } else { of_readers }));
    }
    let output = command.arg(&corpus).arg(&seeds).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot run {name}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let inputs: Vec<PathBuf> =
        names(&found)?.into_iter().filter(|path| !known.contains(path)).collect();
    if !output.status.success() && inputs.is_empty() && open.is_empty() {
        bail!("{name} ended with {}:\n{}", output.status, last(&said, 20));
    }
    let finds = inputs.into_iter().map(|input| Find { input, said: reason(&said) });
    Ok(Run { counts: counts(&said), finds: open.into_iter().chain(finds).collect() })
}

/// Earlier finds: what is cured is forgotten, the rest stays a find.
fn replayed(program: &Path, name: &str, inputs: Vec<PathBuf>) -> Result<Vec<Find>> {
    let mut open = Vec::new();
    for input in inputs {
        let mut command = command(program, name);
        command.arg(format!("-timeout={SLOW}")).arg(format!("-rss_limit_mb={LARGE}"));
        let output = command.arg(&input).output()?;
        match output.status.success() {
            true => std::fs::remove_file(&input).context("cannot remove a cured find")?,
            false => {
                open.push(Find { input, said: reason(&String::from_utf8_lossy(&output.stderr)) })
            }
        }
    }
    Ok(open)
}

fn command(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    // One thread: inputs do the same each time they are tried.
    command.env("SARL_FUZZ_TARGET", name).env("RAYON_NUM_THREADS", "1");
    command
}

fn again(program: &Path, name: &str, input: &Path) -> String {
    format!("SARL_FUZZ_TARGET={name} {} {}", program.display(), input.display())
}

fn names(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// The last `cov: 123` of the log, and the figures after it.
fn counts(said: &str) -> Counts {
    let after = |word: &str| {
        let place = said.rfind(word)? + word.len();
        said.get(place..)?.split_whitespace().next()?.parse().ok()
    };
    Counts {
        inputs: after("stat::number_of_executed_units:").unwrap_or(0),
        rate: after("stat::average_exec_per_sec:").unwrap_or(0),
        reached: after(" cov: ").unwrap_or(0),
    }
}

/// What a person wants to know of a find: the panic, or libFuzzer's own words.
fn reason(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let own = lines.iter().position(|line| line.contains("ERROR: libFuzzer"));
    match (panic, own) {
        (Some(at), _) => lines[at..].iter().take(2).copied().collect::<Vec<_>>().join(" "),
        (None, Some(at)) => lines[at].to_owned(),
        _ => last(said, 3),
    }
}

fn last(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
