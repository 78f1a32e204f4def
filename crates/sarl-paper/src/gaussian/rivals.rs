//! The rivals on the mixture of four Gaussians.

use sarl::Goal;
use sarl_lab::words::percent;
use serde_json::{Value, json};

use super::kinds;
use crate::effort::timed;
use crate::figures::Places;
use crate::split::{Split, everyone};
use crate::summary::{Summary, at_no_more_cell, balance, rivals, weighted};
use crate::{Effort, Result, Table};

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
    pub fn run(splits: &[Split<'_>], effort: &Effort<'_>) -> Result<Self> {
        let weights = effort.weights(&QUICK, &FULL);
        let settings = weighted(NAMES.map(|name| (name, weights)));
        let mut all = Rivals { ours: Vec::new(), theirs: Vec::new() };
        if settings.is_empty() {
            return Ok(all);
        }
        for (split, seed) in splits.iter().zip(&effort.seeds) {
            // Gradient descent wants columns of one scale; ours does not care.
            let (train, test) = (split.train.clone(), split.test.clone());
            let scaled = Split::scaled(train, test, effort.watch);
            add(&mut all.theirs, rivals(&scaled, &settings, &[*seed], everyone())?);
            add(&mut all.ours, ours(split, *seed, effort)?);
        }
        Ok(all)
    }

    pub fn points(&self) -> Vec<Places<'_>> {
        let place = |s: &Summary| (s.adversary(PROBE), s.target(PROBE));
        let shown = |s: &&Summary| !s.found.is_empty();
        let mut points: Vec<Places<'_>> = Vec::new();
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
                s.worst_cell(),
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
fn ours(split: &Split<'_>, seed: u64, effort: &Effort<'_>) -> Result<Vec<Summary>> {
    effort.step("gaussian: ours beside the rivals")?;
    let mut all = Vec::new();
    for (name, params) in kinds() {
        let (model, mut seconds) = timed(|| Ok(split.fit(&params)?.solve(Goal::Lambda(0.0))?))?;
        let most = model.point().leakage;
        for share in SHARES {
            let goal = if share < 1.0 { Goal::Leakage(share * most) } else { Goal::Lambda(0.0) };
            let (model, more) = timed(|| Ok(model.retune(goal)?))?;
            let name = format!("{name}, leakage {}", percent(share * most));
            let z = split.encode(&model)?;
            all.push(split.summary(name, &z, everyone(), &[seed], Some(seconds + more))?);
            // The fit serves every leakage; the first one has its time.
            seconds = 0.0;
        }
    }
    Ok(all)
}
