//! What is typed for a damaged file.

use rand::{Rng, RngExt};

use super::inputs::Input;

/// A command line, and what it is to write.
pub(super) struct Line {
    pub(super) words: Vec<String>,
    pub(super) output: Option<String>,
}

impl Line {
    pub(super) fn text(&self) -> String {
        self.words.join(" ")
    }
}

const GOALS: [&str; 4] =
    ["--max-leakage 0.1", "--lambda 0.5", "--min-utility 0.9", "--max-leakage 0"];
const OPTIONS: [&str; 12] = [
    "",
    "",
    "--kernel rbf --landmarks 12",
    "--kernel polynomial --degree 3 --landmarks 12",
    "--kernel rbf --approx random-features --landmarks 12",
    "--scale none",
    "--missing drop",
    "--missing mean --max-categories 3",
    "--criterion equalized-odds",
    "--ridge auto --dim 1",
    "--json",
    "--html page.html",
];
const OUTPUTS: [&str; 4] = ["z.csv", "z.parquet", "z.arrow", "z.npy"];
/// Attackers that take no minutes.
const ATTACK: &str = "--probes linear,logistic --seeds 1";

/// A command for a file.
pub(super) fn line(random: &mut impl Rng, input: &Input) -> Line {
    let mut one = |of: &[&'static str]| of[random.random_range(0..of.len())];
    let (goal, options, z) = (one(&GOALS), one(&OPTIONS), one(&OUTPUTS));
    let name = input.name.as_str();
    // Matrices without labels have columns of numbers only.
    let labels = match name {
        "input.npy" => "-t x0 -s x1",
        "input.npz" | "input.safetensors" => "",
        _ => "-t y -s s",
    };
    let kind = random.random_range(0..8);
    let (text, output) = match (input.is_model, kind) {
        (true, 0 | 1) => (format!("info {name}"), None),
        (true, 2) => (format!("info {name} --json"), None),
        (true, 3..=5) => (format!("encode {name} table.csv -o {z}"), Some(z)),
        (true, 6) => (format!("retune {name} {goal} -o new.safetensors"), Some("new.safetensors")),
        (true, _) => (format!("audit {name} table.csv {ATTACK}"), None),
        (false, 0) => (format!("inspect {name} {labels}"), None),
        (false, 1..=4) => {
            let line = format!("fit {name} {labels} {goal} {options} -o new.safetensors");
            (line, Some("new.safetensors"))
        }
        (false, 5) => (format!("front {name} {labels} --csv front.csv"), Some("front.csv")),
        (false, 6) => (format!("encode model.safetensors {name} -o {z}"), Some(z)),
        (false, _) => (format!("audit model.safetensors {name} {ATTACK}"), None),
    };
    let words = text.split_whitespace().map(str::to_owned).collect();
    Line { words, output: output.map(str::to_owned) }
}
