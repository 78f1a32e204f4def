//! The rivals on the mixture of four Gaussians.

use std::time::Instant;

use sarl::Goal;
use serde_json::{Value, json};

use super::gaussian::kinds;
use super::summary::{Summary, Weighted, at_no_more_cell, balance, rivals};
use super::trial::{Mean, Split, everyone};
use super::{Effort, Table};
use crate::failure::Outcome;
use crate::output;

const NAMES: [&str; 3] = ["ssgd", "ml-arl", "maxent-arl"];
/// Weights of hiding.
const QUICK: [f64; 4] = [0.2, 0.5, 0.8, 0.95];
const FULL: [f64; 9] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95];
/// Leakages of ours, as shares of that of full utility; close enough to each other that a point of
/// ours lies near every one of theirs.
const SHARES: [f64; 11] = [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0];
/// The classifier of the paper.
const PROBE: &str = "logistic";

/// Ours and theirs on the drawn samples.
pub struct Rivals {
    ours: Vec<Summary>,
    theirs: Vec<Summary>,
}

impl Rivals {
    pub fn run(splits: &[Split], effort: &Effort<'_>) -> Outcome<Self> {
        let weights = effort.weights(&QUICK, &FULL);
        let found = NAMES.iter().filter_map(|name| sarl_rivals::find(name));
        let settings: Vec<Weighted> =
            found.flat_map(|rival| weights.iter().map(move |&w| (rival, w))).collect();
        let mut all = Rivals { ours: Vec::new(), theirs: Vec::new() };
        if settings.is_empty() {
            return Ok(all);
        }
        for (split, seed) in splits.iter().zip(&effort.seeds) {
            // Gradient descent wants columns of one scale; ours does not care.
            let (train, test) = (split.train.clone(), split.test.clone());
            let width = train.x.ncols();
            let scaled = Split::new(train, test, width);
            let quiet = effort.global.quiet;
            add(&mut all.theirs, rivals(&scaled, &settings, &[*seed], everyone(), quiet)?);
            add(&mut all.ours, ours(split, *seed, effort)?);
        }
        Ok(all)
    }

    pub fn points(&self) -> Vec<(&str, Vec<(Mean, Mean)>)> {
        let place = |s: &Summary| (s.adversary(PROBE), s.target(PROBE));
        let shown = |s: &&Summary| !s.found.is_empty();
        let mut points: Vec<(&str, Vec<(Mean, Mean)>)> = Vec::new();
        for one in self.theirs.iter().filter(shown) {
            match points.last_mut() {
                Some((name, places)) if *name == one.name => places.push(place(one)),
                _ => points.push((&one.name, vec![place(one)])),
            }
        }
        points
    }

    pub fn table(&self) -> Option<Table> {
        let ours: Vec<&Summary> = self.ours.iter().collect();
        let row = |s: &Summary, theirs: bool| {
            vec![
                s.name.clone(),
                s.setting(),
                s.cell(s.target(PROBE)),
                s.cell(s.adversary(PROBE)),
                match s.found.is_empty() {
                    true => String::new(),
                    false => format!("{} ({})", s.worst().percent(), s.worst_probe()),
                },
                s.time(),
                if theirs { at_no_more_cell(s, &ours, PROBE) } else { String::new() },
            ]
        };
        let rows = self.theirs.iter().map(|s| row(s, true));
        let rows: Vec<Vec<String>> = rows.chain(self.ours.iter().map(|s| row(s, false))).collect();
        (!self.theirs.is_empty()).then(|| Table {
            name: "rivals",
            title: "The rivals, and ours, on the drawn samples (logistic regression)".into(),
            header: vec![
                "method",
                "weight of hiding",
                "target %",
                "adversary %",
                "worst case %",
                "seconds to fit",
                "ours at no more",
            ],
            rows,
        })
    }

    pub fn words(&self) -> Option<String> {
        let ours: Vec<&Summary> = self.ours.iter().collect();
        let named = self.theirs.iter().map(|s| Summary {
            name: format!("{} at {}", s.name, s.setting()),
            found: s.found.clone(),
            ..Default::default()
        });
        let named: Vec<Summary> = named.collect();
        (!named.is_empty()).then(|| balance(named.iter(), &ours, PROBE))
    }

    pub fn json(&self) -> Value {
        let all = |of: &[Summary]| of.iter().map(Summary::json).collect::<Vec<_>>();
        json!({ "ours": all(&self.ours), "theirs": all(&self.theirs) })
    }
}

fn add(all: &mut Vec<Summary>, more: Vec<Summary>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    all.iter_mut().zip(more).for_each(|(one, more)| one.absorb(more));
}

/// Ours at its leakages.
fn ours(split: &Split, seed: u64, effort: &Effort<'_>) -> Outcome<Vec<Summary>> {
    let _step = effort.step("gaussian: ours beside the rivals")?;
    let mut all = Vec::new();
    for (name, params) in kinds() {
        let start = Instant::now();
        let model = split.fit(&params)?.solve(Goal::Lambda(0.0))?;
        let mut seconds = start.elapsed().as_secs_f64();
        let most = model.point().leakage;
        for share in SHARES {
            let start = Instant::now();
            let goal = if share < 1.0 { Goal::Leakage(share * most) } else { Goal::Lambda(0.0) };
            let model = model.retune(goal)?;
            seconds += start.elapsed().as_secs_f64();
            let name = format!("{name}, leakage {}", output::percent(share * most));
            let z = split.encode(&model)?;
            all.push(split.summary(name, &z, everyone(), &[seed], Some(seconds))?);
            seconds = 0.0;
        }
    }
    Ok(all)
}
