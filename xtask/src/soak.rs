//! `cargo xtask soak`: the same work again and again, by eight processes at a time and in one process
//! that lives long. Every round must give the same bytes; memory and open files must stay where they
//! are.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{cargo, root, venv};

/// Processes at a time.
const WORKERS: usize = 8;
/// What each of them does in a round, and what it writes.
const LINES: [(&str, &str); 5] = [
    ("fit ../table.csv -t y -s s --max-leakage 0.05 -o m.safetensors", "m.safetensors"),
    (
        "fit ../table.csv -t y -s s --max-leakage 0.05 --kernel rbf --landmarks 60 -o k.safetensors",
        "k.safetensors",
    ),
    ("encode k.safetensors ../table.csv -o z.parquet", "z.parquet"),
    ("audit m.safetensors ../table.csv --probes linear,logistic,trees --seeds 1 --json", ""),
    (
        "fit ../table.csv -t y -s s --max-leakage 0.1 --html page.html -o p.safetensors",
        "p.safetensors",
    ),
];
/// The peak of the last quarter may be that of the second quarter times this.
const GROWTH: f64 = 1.10;
/// Fewer samples than this show nothing.
const FEWEST: usize = 12;

/// Rounds, seconds and faults of one kind of command.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: u64,
    seconds: f64,
    slowest: f64,
}

/// Runs for some minutes and prints a table.
pub(crate) fn soak(arguments: &[String]) -> Result<()> {
    let minutes: f64 = match arguments {
        [] => 10.0,
        [option, value] if option == "--minutes" => value.parse().context("--minutes N")?,
        _ => bail!("unknown options: --minutes N"),
    };
    cargo(&["build", "--release", "--package", "sarl-cli", "--bin", "sarl"])?;
    let python = venv(&["."])?;
    let folder = root().join("target/soak");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).context("cannot make target/soak")?;
    std::fs::write(folder.join("table.csv"), table()?).context("cannot write the table")?;
    let time = Duration::from_secs_f64(minutes * 60.0);
    let script = root().join("python/benches/soak.py");
    let mut long = Command::new(python);
    long.arg(script).arg(time.as_secs().to_string()).stdout(Stdio::piped());
    let long = long.spawn().context("cannot start Python")?;
    let (tallies, faults) = workers(&folder, time);
    let long = long.wait_with_output().context("cannot wait for Python")?;
    eprintln!("{:>8} {:>8} {:>9}  command", "runs", "mean s", "slowest s");
    for ((line, _), tally) in LINES.iter().zip(&tallies) {
        let mean = tally.seconds / tally.runs.max(1) as f64;
        eprintln!("{:>8} {mean:>8.2} {:>9.2}  sarl {line}", tally.runs, tally.slowest);
    }
    let said = String::from_utf8_lossy(&long.stdout).into_owned();
    let grown = steady(&said);
    eprintln!("\none Python process:\n{said}");
    faults.iter().for_each(|fault| eprintln!("{fault}"));
    if !faults.is_empty() || !long.status.success() {
        bail!("{} faults of the command; Python: {}", faults.len(), long.status);
    }
    grown
}

/// The same table each time.
fn table() -> Result<String> {
    let mut text = String::from("x0,x1,x2,work,y,s\n");
    for i in 0..2000usize {
        let draw = |k: usize| ((i * k + i * i % 1009) % 997) as f64 / 100.0;
        let (a, b, c) = (draw(7919), draw(104_729), draw(1_299_709));
        let work = ["private", "public", "own"][i * 31 % 7 % 3];
        let (y, s) = (u8::from(a + b > 10.0), u8::from(a + c > 10.0));
        writeln!(text, "{a},{b},{c},{work},{y},{s}")?;
    }
    Ok(text)
}

/// All workers until the time is over: how often and how fast, and what went wrong.
fn workers(folder: &Path, time: Duration) -> ([Tally; LINES.len()], Vec<String>) {
    let (start, sarl) = (Instant::now(), root().join("target/release/sarl"));
    let all = Mutex::new(([Tally::default(); LINES.len()], Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (all, here, sarl) = (&all, folder.join(format!("worker-{worker}")), &sarl);
            scope.spawn(move || {
                let mut first: [Option<Vec<u8>>; LINES.len()] = Default::default();
                while start.elapsed() < time {
                    for (at, (line, output)) in LINES.iter().enumerate() {
                        let began = Instant::now();
                        let found = one(sarl, &here, line, output);
                        let seconds = began.elapsed().as_secs_f64();
                        let Ok(mut all) = all.lock() else { return };
                        let tally = &mut all.0[at];
                        tally.runs += 1;
                        tally.seconds += seconds;
                        tally.slowest = tally.slowest.max(seconds);
                        match (found, &first[at]) {
                            (Err(fault), _) => all.1.push(format!("{fault:#}")),
                            (Ok(bytes), Some(before)) if bytes != *before => {
                                all.1.push(format!("sarl {line}: other bytes than before"));
                            }
                            (Ok(bytes), _) => first[at] = Some(bytes),
                        }
                    }
                }
            });
        }
    });
    all.into_inner().unwrap_or_default()
}

/// Runs a command and gives back what it wrote.
fn one(sarl: &PathBuf, folder: &Path, line: &str, output: &str) -> Result<Vec<u8>> {
    std::fs::create_dir_all(folder).context("cannot make a folder")?;
    let ended = Command::new(sarl).args(line.split(' ')).current_dir(folder).output()?;
    if !ended.status.success() {
        bail!("sarl {line}: {}: {}", ended.status, String::from_utf8_lossy(&ended.stderr));
    }
    match output {
        "" => Ok(Vec::new()),
        name => std::fs::read(folder.join(name)).with_context(|| format!("sarl {line}: {name}")),
    }
}

/// Whether memory and open files stay where they were in the second quarter.
fn steady(said: &str) -> Result<()> {
    let numbers = |line: &str| -> Option<(f64, u64)> {
        let mut words = line.split_whitespace().skip(2);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let samples: Vec<(f64, u64)> = said.lines().filter_map(numbers).collect();
    let count = samples.len();
    if count < FEWEST {
        bail!("{count} samples of the Python process say nothing: give it more minutes");
    }
    // Peaks, because a sample may fall into the middle of a fit.
    let peak =
        |part: &[(f64, u64)]| part.iter().fold((0.0f64, 0), |(m, f), s| (m.max(s.0), f.max(s.1)));
    let (early, late) = (peak(&samples[count / 4..count / 2]), peak(&samples[3 * count / 4..]));
    if late.0 > early.0 * GROWTH || late.1 > early.1 {
        bail!("memory or open files grow: {early:?} became {late:?}");
    }
    Ok(())
}
