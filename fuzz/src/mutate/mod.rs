//! The whole command with files that were valid before they were damaged.
//!
//! Each case takes a file of some format or a model, changes it, and runs `sarl` with a limit on time
//! and address space. A case depends on the seed and its number alone, so that it can be run again.
//! `check.rs` says what is a find.

mod change;
mod check;
mod inputs;
mod lines;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use check::{Ended, run};
use inputs::Inputs;

/// What is asked for.
pub struct Plan {
    /// The command.
    pub sarl: PathBuf,
    /// The first case.
    pub first: u64,
    /// How many cases.
    pub cases: u64,
    /// Everything random depends on it.
    pub seed: u64,
    /// Where inputs of finds are kept.
    pub finds: PathBuf,
}

/// How many cases ended how, and how many are finds.
#[derive(Default)]
pub struct Summary {
    /// The number of cases by the way they ended.
    pub ends: BTreeMap<String, u64>,
    /// What was found, one line each.
    pub finds: Vec<String>,
}

/// Runs all cases, two at a time.
pub fn mutate(plan: &Plan) -> Summary {
    let (summary, next) = (Mutex::new(Summary::default()), AtomicU64::new(plan.first));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (summary, next) = (&summary, &next);
            scope.spawn(move || {
                let folder = scratch(worker);
                let inputs = Inputs::new(&plan.sarl, &folder);
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= plan.first + plan.cases {
                        break;
                    }
                    let (end, find) = one(plan, case, &inputs, &folder);
                    let mut summary = summary.lock().expect("no worker panics");
                    *summary.ends.entry(end).or_default() += 1;
                    summary.finds.extend(find);
                }
                let _ = std::fs::remove_dir_all(&folder);
            });
        }
    });
    summary.into_inner().expect("no worker panics")
}

fn scratch(worker: usize) -> PathBuf {
    let shared = Path::new("/dev/shm");
    let base = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let folder = base.join(format!("sarl-mutate-{}-{worker}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder can be made");
    folder
}

/// One case: how it ended, and what is wrong with that.
fn one(plan: &Plan, case: u64, inputs: &Inputs, folder: &Path) -> (String, Option<String>) {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    random.set_stream(case);
    let input = inputs.draw(&mut random);
    let bytes = change::changed(&mut random, &input, inputs);
    let line = lines::line(&mut random, &input);
    let here = folder.join("case");
    let _ = std::fs::remove_dir_all(&here);
    std::fs::create_dir_all(&here).expect("a folder of a case can be made");
    inputs.place(&here);
    std::fs::write(here.join(&input.name), &bytes).expect("an input can be written");
    let ended = run(&plan.sarl, &here, &line);
    let Some(problem) = check::problem(&plan.sarl, &here, &line, &ended) else {
        return (end(&ended), None);
    };
    let kept = plan.finds.join(format!("case-{}-{case}", plan.seed));
    std::fs::create_dir_all(&kept).expect("a folder of finds can be made");
    std::fs::write(kept.join(&input.name), &bytes).expect("a find can be kept");
    let text = format!("sarl {}\n{problem}\n{}", line.text(), ended.stderr);
    std::fs::write(kept.join("find.txt"), text).expect("a find can be kept");
    let text = format!("case {case}: {problem}: sarl {} ({})", line.text(), kept.display());
    (end(&ended), Some(text))
}

fn end(ended: &Ended) -> String {
    match (ended.late, ended.code) {
        (true, _) => "too late".to_owned(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "a signal".to_owned(),
    }
}
