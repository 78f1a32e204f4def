//! Guarantees against every adversary: ours and FARE's, on the same rows.

mod rows;

use faer::Mat;
use sarl::cells::{Adversary, Ask, CellGoal, CellUtility, Counts, Cutter, Limits, Part, Partition};
use sarl::{Features, FitParams, KernelParams, Model, Scale};
use sarl_eval::Labels;
use sarl_lab::Certified;
use sarl_report::{Axis, Figure, Line, Panel, Points, Style};
use sarl_rivals::{Data, fare};
use serde_json::{Value, json};

use self::rows::{PROBLEMS, Problem, Rows};
use super::sample::{Sample, absent, find};
use super::{Effort, Experiment, Table};
use crate::data::layout;
use crate::failure::Outcome;
use crate::progress;

const PROTOCOL: &str = "Rows are parted by seed: 40 % fit, 30 % choose cells, 30 % certify. Ours: an encoder is cut into cells; the bound holds with 95 % confidence for every adversary that sees only the cell. FARE: a fair tree of the first part, its certificate from all three, with the same confidence; of seven weights and five sizes of trees \
    the one with the best accuracy among those whose certificate meets the level is shown, which is a choice after the fact in its favour. Categories are one-hot columns for ours, and ordered by the share of the target for trees. Accuracy is that of the best prediction from the published cell, on the rows that certify.";

/// Levels of certified advantage.
const LEVELS: [f64; 4] = [0.03, 0.05, 0.1, 0.2];
/// Points of a front.
const POINTS: usize = 12;
const CONFIDENCE: f64 = 0.95;
/// Weights of hiding and sizes of the rival's trees.
const WEIGHTS: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99];
const LEAVES: [usize; 5] = [2, 4, 8, 16, 32];

/// What FARE's paper has for ACSIncome of 2014, where its raw accuracy is 82.5 %.
const PUBLISHED: &str = "FARE's paper has certified points of 77.1, 78.5 and 79.2 % for ACSIncome of the United States in 2014, where raw accuracy is 82.5 %: other rows, not to be compared digit by digit.";

/// A certified representation: what is bounded, and how well the target is predicted.
#[derive(Clone)]
struct Point {
    advantage: f64,
    accuracy: f64,
    cells: usize,
    details: Value,
}

/// Ours at each level, the front, and the encoder without a limit.
fn ours(rows: &Rows, problem: &Problem, seed: u64) -> Outcome<(Vec<Option<Point>>, Vec<Point>)> {
    let features = match problem.kernel {
        true => Features::Kernel(KernelParams::new(sarl::Family::Rbf)),
        false => Features::Linear,
    };
    let scale = Scale::Standard;
    let params = FitParams { features, scale, seed, ..Default::default() };
    let mut fit = sarl::Fit::new(params, layout(&rows.schema))?;
    if fit.needs_sample() {
        rows.each(0, |block| Ok(fit.sample(block)?))?;
        fit.choose(&progress::interrupted)?;
    }
    rows.each(0, |block| Ok(fit.push(block)?))?;
    let limits = LEVELS.into_iter().chain([1.0]);
    let asks = limits.map(|limit| Ask::OneIfAny(goal(Adversary::Advantage, limit)));
    let front = Ask::Front(goal(Adversary::Advantage, 1.0), POINTS);
    let mut cutter = Cutter::new(&fit.finish()?, asks.chain([front]).collect(), seed)?;
    rows.each(1, |block| Ok(cutter.push(block)?))?;
    cutter.choose(rows.count(2))?;
    rows.each(2, |block| Ok(cutter.push(block)?))?;
    let point = |model: &Model| {
        let found = Certified::new(model)?;
        let (advantage, accuracy) = (found.advantage(), found.utility());
        let details = found.json()["certificate"].clone();
        Some(Point { advantage, accuracy, cells: model.cells()?.count(), details })
    };
    let mut found = cutter.finish()?;
    let front = found.pop().unwrap_or_default();
    let levels = found.iter().map(|models| models.first().and_then(point)).collect();
    Ok((levels, front.iter().filter_map(point).collect()))
}

fn goal(adversary: Adversary, limit: f64) -> CellGoal {
    let (limits, utility) = (Limits::Each(limit), CellUtility::Accuracy);
    CellGoal { adversary, limits, utility, confidence: CONFIDENCE, cells: 8 }
}

/// Every tree of the rival.
fn rivals(rows: &Rows) -> Outcome<Vec<Point>> {
    let x: Vec<Mat<f64>> = (0..3).map(|part| rows.ordered(part)).collect();
    let labels: Vec<[(Vec<u32>, usize); 2]> = (0..3).map(|part| rows.labels(part)).collect();
    let classes = |(codes, count): &(Vec<u32>, usize)| Labels::Classes {
        codes: codes.clone(),
        count: *count,
    };
    let (targets, sensitives) = ([classes(&labels[0][0])], [classes(&labels[0][1])]);
    let data = Data { x: x[0].as_ref(), targets: &targets, sensitives: &sensitives };
    let least = (x[0].nrows() / 1000).max(50);
    let count = |tree: &Partition, part: usize, label: usize| {
        let (codes, groups) = &labels[part][label];
        let mut counts = Counts::new(tree.cells(), *groups);
        for (i, &code) in codes.iter().enumerate() {
            counts.add(tree.cell(|axis| x[part][(i, axis)]), code);
        }
        counts
    };
    let mut all = Vec::new();
    for gamma in WEIGHTS {
        for leaves in LEAVES {
            progress::check()?;
            let tree = fare::tree(&data, gamma, leaves, least, &progress::interrupted)?;
            let groups = [0, 1, 2].map(|part| count(&tree, part, 1));
            let delta = 1.0 - CONFIDENCE;
            let advantage = fare::certificate(&groups[0], &groups[1], &groups[2], delta);
            let (learnt, tested) = (count(&tree, 0, 0), count(&tree, 2, 0));
            let right = |cell: usize| {
                let most = (0..learnt.groups()).max_by_key(|&c| learnt.cell(cell)[c]).unwrap_or(0);
                tested.cell(cell)[most]
            };
            let right: u64 = (0..tree.cells()).map(right).sum();
            let accuracy = right as f64 / tested.rows().max(1) as f64;
            let details = json!({ "gamma": gamma, "leaves": leaves });
            all.push(Point { advantage, accuracy, cells: tree.cells(), details });
        }
    }
    Ok(all)
}

/// The encoder with cells whose certificate meets a limit of any adversary's accuracy, from rows in
/// memory; none where no cells do.
pub fn cells_of(
    sample: &Sample,
    params: &FitParams,
    limit: f64,
    seed: u64,
) -> Outcome<Option<Model>> {
    let parts = Part::EACH.map(|part| sample.select(&part.among(0, sample.rows(), seed)));
    let fitted = parts[0].fit(params)?;
    let asks = vec![Ask::OneIfAny(goal(Adversary::Accuracy, limit))];
    let mut cutter = Cutter::new(&fitted, asks, seed)?;
    cutter.push(&parts[1].block())?;
    cutter.choose(parts[2].rows() as u64)?;
    cutter.push(&parts[2].block())?;
    Ok(cutter.finish()?.concat().pop())
}

fn best_within(points: &[Point], level: f64) -> Option<&Point> {
    let within = points.iter().filter(|p| p.advantage <= level);
    within.max_by(|a, b| a.accuracy.total_cmp(&b.accuracy))
}

pub fn run(effort: &Effort<'_>) -> Outcome<Experiment> {
    let seed = effort.seeds.first().copied().unwrap_or(0);
    let (mut lines, mut figures, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut missing = Vec::new();
    super::uci::tidy("adult");
    for problem in &PROBLEMS {
        let Some(path) = find(problem.dataset, problem.file)? else {
            missing.push(format!("{}: the data is not here", problem.name));
            continue;
        };
        let _step = effort.step(&format!("certified: {}", problem.name))?;
        let rows = Rows::read(&path, problem, seed)?;
        let (levels, front) = ours(&rows, problem, seed)?;
        let theirs = if effort.with_rivals() { rivals(&rows)? } else { Vec::new() };
        let cell = |point: Option<&Point>| match point {
            Some(p) => {
                (format!("{:.2}", 100.0 * p.accuracy), format!("{:.2}", 100.0 * p.advantage))
            }
            None => ("–".to_owned(), "–".to_owned()),
        };
        for (level, point) in LEVELS.into_iter().chain([1.0]).zip(&levels) {
            let name = if level < 1.0 { format!("{level}") } else { "none".to_owned() };
            let ((own, bound), (their, their_bound)) =
                (cell(point.as_ref()), cell(best_within(&theirs, level)));
            lines.push(vec![problem.name.to_owned(), name, own, bound, their, their_bound]);
        }
        figures.push(figure(problem, &front, &theirs));
        let json = |p: &Point| json!({ "advantage": p.advantage, "accuracy": p.accuracy, "cells": p.cells, "details": p.details });
        results.push(json!({
            "problem": problem.name,
            "rows": [rows.count(0), rows.count(1), rows.count(2)],
            "levels": LEVELS.into_iter().chain([1.0]).zip(&levels).map(|(level, p)| json!({ "level": level, "ours": p.as_ref().map(json), "fare": best_within(&theirs, level).map(json) })).collect::<Vec<_>>(),
            "front": front.iter().map(json).collect::<Vec<_>>(),
            "fare": theirs.iter().map(json).collect::<Vec<_>>(),
        }));
    }
    if results.is_empty() {
        let advice =
            "run `sarl data get adult`, or set SARL_DATA to a folder that has adult/train.csv";
        return Err(absent("adult", &["train.csv"], advice));
    }
    let header = vec![
        "rows, hidden",
        "limit",
        "ours: accuracy %",
        "ours: certified advantage %",
        "FARE: accuracy %",
        "FARE: certified advantage %",
    ];
    let title = "Accuracy of the target at a certified advantage of any adversary".to_owned();
    let tables = vec![Table { name: "certified", title, header, rows: lines }];
    let words = missing.into_iter().chain([PUBLISHED.to_owned()]).collect();
    let results = json!({ "problems": results });
    Ok(Experiment { protocol: PROTOCOL, tables, figures, words, studies: Vec::new(), results })
}

/// The certified front, and every tree of the rival.
fn figure(problem: &Problem, front: &[Point], theirs: &[Point]) -> Figure {
    let places =
        |points: &[Point]| points.iter().map(|p| (p.advantage, p.accuracy)).collect::<Vec<_>>();
    let mut line = places(front);
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [x, y] =
        ["certified advantage of any adversary", "accuracy"].map(|n| Axis::new(n).percent());
    let mut panel = Panel::new("", x, y).mark(Line::new("ours", line).style(Style::nth(0)));
    if !theirs.is_empty() {
        let style = Style::nth(1);
        let shape = style.marker.unwrap_or(sarl_report::Shape::Circle);
        panel = panel.mark(Points::new("FARE", places(theirs)).look(style.colour, shape).size(5.0));
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = problem.name.replace(", ", "-").chars().map(plain).collect();
    Figure::new(
        format!("certified-{name}"),
        format!("{}: guarantees against every adversary", problem.name),
    )
    .caption("Each point holds with 95 % confidence; those of the line hold together.")
    .panel(panel)
}
