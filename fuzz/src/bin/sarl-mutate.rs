//! `sarl-mutate SARL FINDS CASES SEED [FIRST]`, which `cargo xtask mutate` starts.

use std::process::ExitCode;
use std::time::Instant;

use sarl_fuzz::mutate::{Plan, mutate};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next();
    let (Some(sarl), Some(finds)) = (next(), next()) else { return usage() };
    let mut number = |or: u64| next().map_or(Some(or), |word| word.parse().ok());
    let (Some(cases), Some(seed), Some(first)) = (number(1000), number(0), number(0)) else {
        return usage();
    };
    let start = Instant::now();
    let plan = Plan { sarl: sarl.into(), first, cases, seed, finds: finds.into() };
    let summary = mutate(&plan);
    println!("{cases} cases in {:.0} s", start.elapsed().as_secs_f64());
    summary.ends.iter().for_each(|(end, count)| println!("{count:>8}  {end}"));
    summary.finds.iter().for_each(|find| println!("{find}"));
    println!("{} finds", summary.finds.len());
    if summary.finds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    println!("usage: sarl-mutate SARL FINDS [CASES [SEED [FIRST]]]");
    ExitCode::from(2)
}
