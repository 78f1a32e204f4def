//! `sarl reproduce`: the experiments of the paper.

use std::path::Path;
use std::time::Instant;

use sarl_lab::Watch;
use sarl_paper::{Commands, Effort, Experiment, Name, Rivals};
use serde_json::{Value, json};

use crate::args::{ExperimentName, Global, Reproduce, RivalEffort};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::{self, wrap_to};
use crate::typed::{Typed, typed};
use crate::{output, progress};

/// Characters in a line of prose.
const WIDTH: usize = 100;

pub fn run(options: &Reproduce, global: &Global) -> Outcome {
    let mut all = serde_json::Map::new();
    for &name in options.name.each() {
        let results = match one(name, options, global) {
            // One data set that is not here does not stand in the way of the others.
            Err(failure) if options.name == ExperimentName::All && failure.exit == Exit::Data => {
                let Failure { message, .. } = failure;
                output::warn(global, &format!("{} is left out: {message}", name.word()));
                json!({ "error": message })
            }
            results => results?,
        };
        all.insert(name.word().into(), results);
    }
    match (global.json, options.name) {
        (false, _) => Ok(()),
        (true, ExperimentName::All) => output::print_json(&all),
        (true, _) => output::print_json(&all.into_iter().next().map(|(_, v)| v)),
    }
}

/// Does an experiment, writes its files and says what it found.
fn one(name: Name, options: &Reproduce, global: &Global) -> Outcome<Value> {
    let (start, watch) = (Instant::now(), progress::watch(global.quiet));
    let effort = effort(options, &watch);
    let experiment = name.run(&effort)?;
    let folder = options.output.join(name.word());
    let retune = |model: &Path, option: &str| Typed::retune(model).with_goal(option);
    let commands = Commands { own: typed(), retune: &retune };
    let seconds = start.elapsed().as_secs_f64();
    let results = experiment.write(name, &folder, &effort, &commands, seconds)?;
    drop(watch);
    if !global.json {
        output::print(&text(&experiment, name, &folder))?;
    }
    Ok(results)
}

fn effort<'a>(options: &Reproduce, watch: &'a dyn Watch) -> Effort<'a> {
    let (rivals, seeds, shuffles) = match options.rivals {
        RivalEffort::None => (Rivals::None, 3, 50),
        RivalEffort::Quick => (Rivals::Quick, 2, 10),
        RivalEffort::Full => (Rivals::Full, 3, 50),
    };
    let seeds = u64::from(options.seeds.unwrap_or(seeds));
    Effort {
        seeds: (0..seeds).map(|i| options.seed.wrapping_add(i)).collect(),
        shuffles: options.shuffles.unwrap_or(shuffles).into(),
        rivals,
        watch,
    }
}

fn text(experiment: &Experiment, name: Name, folder: &Path) -> String {
    let mut text = format!("══ {} ══\n{}\n", name.word(), wrap_to(experiment.protocol, WIDTH));
    for table in &experiment.tables {
        let cells = output::table(&table.header, table.rows.clone(), |i| i > 0);
        text += &format!("\n── {} ──\n{cells}\n", table.title);
    }
    for words in &experiment.words {
        text += &format!("\n{}\n", wrap_to(words, WIDTH));
    }
    let files = experiment.files().join("; ");
    text + &format!("\nwritten to {}: {files}\n", terminal::path(folder))
}
