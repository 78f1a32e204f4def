//! `sarl demo`: the paper's mixture of four Gaussians, from the sample to certified encoders.

mod fitted;
mod page;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl_eval::probes::Linear;
use sarl_lab::Probing;
use sarl_paper::{Encoded, Split, codes, kernel, linear, mixture};
use serde_json::json;

use self::fitted::{Encoder, Fitting};
use crate::args::{Demo, Global};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, title, wrap};
use crate::{output, outputs, plot, progress};

const TRAIN: usize = 4000;
const TEST: usize = 1000;
const SHAPES: [&str; 2] = ["circle", "cross"];
const COLOURS: [&str; 2] = ["blue", "red"];
/// What the encoders that are written may leak.
const LEAKAGE: f64 = 0.01;

pub fn run(options: &Demo, global: &Global) -> Outcome {
    let folder = &options.output;
    outputs::local(folder)?;
    let failed =
        |e: std::io::Error| Failure::new(Exit::Machine, format!("{}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let (train, test) = (mixture(TRAIN, &mut rng), mixture(TEST, &mut rng));
    let watch = progress::watch(global.quiet);
    let split = Split::new(train, test, 0, &watch);
    let fitting = Fitting::new(folder, &split.train, options.seed)?;
    // Hundreds of landmarks fit the noise of 4000 rows; a ridge chosen on held-out rows does not.
    let runs = [fitting.fit("linear", linear())?, fitting.fit("kernel", kernel())?];
    let report = folder.join("report.html");
    let verdicts = page::write(&runs, &split, &fitting, &report, &watch)?;
    if global.json {
        let mut all = serde_json::Map::new();
        for run in &runs {
            all.insert(run.name.into(), run.json(&split)?);
        }
        all.insert("html".into(), json!(report));
        return output::print_json(&all);
    }
    output::print(&format!(
        "Four Gaussians in three dimensions, {TRAIN} rows: keep the shape, hide the colour.\n"
    ))?;
    for (run, verdict) in runs.iter().zip(&verdicts) {
        run.print(verdict.as_ref())?;
    }
    output::print(&compare(&runs, &split)?)?;
    let written = format!(
        "\nwritten to {}/: the report to look at (report.html), the sample (mixture.csv), the fronts and the models. Next:",
        terminal::path(folder)
    );
    output::print(&wrap(&written))?;
    output::print(&format!(
        "  \
         sarl info {0}/linear.safetensors\n  \
         sarl audit {0}/linear.safetensors {0}/mixture.csv\n  \
         sarl fit {0}/mixture.csv -t shape -s colour --kernel rbf --max-leakage 0.02 -o m.safetensors",
        terminal::path(folder)
    ))
}

/// Both fronts in one picture, and what a classifier gets from fresh rows.
fn compare(runs: &[Encoder], split: &Split<'_>) -> Outcome<String> {
    let marks = ['•', '+'];
    // Utility as a share of the target's whole variance: the encoders have bounds of their own.
    let curve = |run: &Encoder| {
        let kept = |p: &sarl::Point| 1.0 - p.losses.jy / run.bounds.target_variance;
        run.points.iter().map(|(p, _)| (p.leakage, kept(p))).collect::<Vec<_>>()
    };
    let curves: Vec<_> =
        runs.iter().zip(marks).map(|(run, mark)| (mark, run.name, curve(run))).collect();
    let mut rows = vec![{
        let (shape, colour) = accuracies(split, &split.raw())?;
        vec!["all features".to_owned(), output::percent(shape), output::percent(colour)]
    }];
    for run in runs {
        let (shape, colour) = accuracies(split, &split.encode(&run.model)?)?;
        let name = format!("{}, leakage at most {}", run.name, output::percent(LEAKAGE));
        rows.push(vec![name, output::percent(shape), output::percent(colour)]);
    }
    let chance = |codes: &[u32]| {
        let ones = codes.iter().filter(|&&c| c == 1).count() as f64 / codes.len() as f64;
        output::percent(ones.max(1.0 - ones))
    };
    rows.push(vec![
        "majority guess".into(),
        chance(codes(&split.test.y)),
        chance(codes(&split.test.s)),
    ]);
    let header = ["linear classifier on 1000 fresh rows", "shape (keep)", "colour (hide)"];
    Ok(format!(
        "{}\n{}\n\n{}",
        title("Both fronts: explained target variance over leakage"),
        plot::draw(("leakage", "utility"), plot::Top::All, &curves),
        output::table(&header, rows, |i| i > 0)
    ))
}

/// Accuracies on the test rows of least-squares classifiers fitted on the training rows.
fn accuracies(split: &Split<'_>, z: &Encoded) -> Outcome<(f64, f64)> {
    let found = split.probe(z, Probing::both(&[&Linear]), &[0])?;
    Ok((found.target.best.score.value(), found.sensitive.best.score.value()))
}
