//! Invariance given to a pre-trained representation, CIFAR-100: figures 7 to 9 of the paper.

mod figures;

use sarl::{Family, Features, FitParams, Goal, KernelParams, Model, Point};
use sarl_eval::Probe;
use sarl_eval::probes::Network;
use sarl_lab::words::percent;
use sarl_lab::{Mean, Probing};
use serde_json::{Value, json};

use crate::effort::timed;
use crate::split::{Findings, Split, accuracy, everyone, linear};
use crate::study::Study;
use crate::summary::{Summary, at_no_more_cell, balance, rivals, seconds, weighted};
use crate::tables::train_and_test;
use crate::{Effort, Experiment, Result, Rivals, Table};

const PROTOCOL: &str = "Features of 64 dimensions of a ResNet-110 (50,000 training and 10,000 test pictures), unit variance over the training rows; the coarse class (20) is kept and the fine class (100) hidden. \
    Linear-SARL is linear; Kernel-SARL has a polynomial kernel of degree five as in the paper, on 1000 landmarks; neither has a ridge. Both are asked for the same leakages, from none to all that full utility needs, \
    and their fits serve every one of them. On the frozen z, target and adversary are networks of two layers with 64 units, as in the paper, several seeds, and at one leakage every probe. Rivals have the same features and several weights of hiding.";

/// Leakages to the linear adversary, as shares of that of the linear encoder of full utility.
const SHARES: [f64; 8] = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0];
/// Steps of λ from 0 to 1.
const STEPS: usize = 20;
/// Where the dimension falls: from, to, steps. A coarse class is five fine ones, so at λ = 5/6 hiding
/// outweighs keeping in every direction.
const FALL: (f64, f64, usize) = (0.7, 5.0 / 6.0, 20);
const PROBE: &str = "net-64";
/// Rivals with their weights of hiding, quick and full.
const RIVALS: [(&str, &[f64], &[f64]); 3] = [
    ("ssgd", &[0.5, 0.8], &[0.0, 0.3, 0.5, 0.7, 0.8, 0.9]),
    ("ml-arl", &[0.1, 0.3, 0.5], &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    ("maxent-arl", &[0.1, 0.3, 0.5], &[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
];

pub fn run(effort: &Effort<'_>) -> Result<Experiment> {
    let (train, test) = train_and_test("cifar100", ADVICE)?;
    let split = Split::scaled(train, test, effort.watch);
    let mut encoders = Vec::new();
    for (name, kernel) in [("Linear-SARL", false), ("Kernel-SARL", true)] {
        effort.step(&format!("cifar100: fitting {name}"))?;
        let fit = || Ok(split.fit(&params(kernel))?.solve(Goal::Lambda(0.0))?);
        let (model, seconds) = timed(fit)?;
        encoders.push(Fitted { name, model, seconds });
    }
    let full = encoders[0].model.point().leakage;
    effort.step("cifar100: raw features")?;
    let raw = split.probe(&split.raw(), Probing::both(&PROBES), &effort.seeds[..1])?;
    let mut fronts = Vec::new();
    for encoder in &encoders {
        let mut front = Vec::new();
        for share in SHARES {
            effort.step(&format!(
                "cifar100: {} at {:.0} % of the leakage",
                encoder.name,
                100.0 * share
            ))?;
            front.push(place(&split, encoder, share * full, effort)?);
        }
        fronts.push(front);
    }
    let (audits, worst) = audits(&split, &encoders, full / 2.0, effort)?;
    let theirs = theirs(&split, effort)?;
    let mut words = words(&encoders, &fronts)?;
    let ours: Vec<&Summary> = fronts.iter().flatten().map(|p| &p.summary).collect();
    if !theirs.is_empty() {
        words.push(balance(theirs.iter(), &ours, PROBE));
    }
    let studies = encoders.iter().map(|e| {
        let fitted = (e.model.retune(Goal::Leakage(full / 2.0))?, None);
        Ok(Study::new(e.name, ("coarse class", "fine class"), fitted, &split, None))
    });
    Ok(Experiment {
        protocol: PROTOCOL,
        studies: studies.collect::<Result<_>>()?,
        tables: vec![table(&encoders, &fronts, &theirs, &raw), audits],
        figures: vec![
            figures::trade_off(&encoders, &fronts, &theirs),
            figures::bounds(&split, &encoders, effort)?,
            figures::dimension(&encoders)?,
        ],
        words,
        results: json!({
            "raw": { "target": raw.target, "sensitive": raw.sensitive },
            "fronts": encoders.iter().zip(&fronts).map(|(e, f)| e.json(f)).collect::<Result<Vec<_>>>()?,
            "audit": worst,
            "rivals": theirs.iter().map(Summary::json).collect::<Vec<_>>(),
        }),
    })
}

/// The paper's probe.
const PROBES: [&dyn Probe; 1] = [&Network::SMALL];

fn params(kernel: bool) -> FitParams {
    let polynomial = KernelParams { degree: 5, ..KernelParams::new(Family::Polynomial) };
    let features = if kernel { Features::Kernel(polynomial) } else { Features::Linear };
    FitParams { features, folds: 1, ..linear() }
}

const ADVICE: &str = "set SARL_DATA to a folder that has cifar100/train.npz and cifar100/test.npz: features of a trained network in X, the coarse class in y, the fine class in s; `sarl data get cifar100` fetches the pictures";

struct Fitted {
    name: &'static str,
    model: Model,
    /// Seconds of the fit, which serves every leakage.
    seconds: f64,
}

impl Fitted {
    fn json(&self, front: &[Place]) -> Result<Value> {
        let places = front.iter().map(|p| {
            json!({
                "leakage": p.point.leakage,
                "lambda": p.point.lambda,
                "dim": p.point.dim,
                "target": p.target,
                "adversary": p.adversary,
            })
        });
        Ok(json!({
            "encoder": self.name,
            "bounds": self.model.front()?.bounds(),
            "dimension": steps(&self.model)?,
            "points": places.collect::<Vec<_>>(),
        }))
    }
}

/// One leakage of one encoder.
struct Place {
    point: Point,
    target: Mean,
    adversary: Mean,
    summary: Summary,
}

fn place(split: &Split<'_>, encoder: &Fitted, leakage: f64, effort: &Effort<'_>) -> Result<Place> {
    let most = encoder.model.point().leakage;
    let goal = match leakage >= most {
        true => Goal::Lambda(0.0),
        false => Goal::Leakage(leakage),
    };
    let (model, seconds) = timed(|| Ok(encoder.model.retune(goal)?))?;
    let z = split.encode(&model)?;
    let probes = Probing::both(&PROBES);
    let summary = split.summary(encoder.name, &z, probes, &effort.seeds, Some(seconds))?;
    Ok(Place {
        point: *model.point(),
        target: summary.target(PROBE),
        adversary: summary.adversary(PROBE),
        summary,
    })
}

/// The rivals, each at several weights of hiding.
fn theirs(split: &Split<'_>, effort: &Effort<'_>) -> Result<Vec<Summary>> {
    let settings = weighted(RIVALS.map(|(name, quick, full)| (name, effort.weights(quick, full))));
    let seeds = match effort.rivals {
        Rivals::Quick => &effort.seeds[..1],
        _ => &effort.seeds[..],
    };
    let mut shown = rivals(split, &settings, seeds, Probing::both(&PROBES))?;
    shown.iter_mut().for_each(|s| s.name = s.full_name());
    Ok(shown)
}

fn table(encoders: &[Fitted], fronts: &[Vec<Place>], theirs: &[Summary], raw: &Findings) -> Table {
    let share = |v: f64| format!("{:.1}", 100.0 * v);
    let mut rows = vec![vec![
        "Raw features".to_owned(),
        "–".into(),
        "64".into(),
        share(accuracy(&raw.target, PROBE)),
        share(accuracy(&raw.sensitive, PROBE)),
        String::new(),
        String::new(),
    ]];
    for (encoder, front) in encoders.iter().zip(fronts) {
        rows.extend(front.iter().enumerate().map(|(i, p)| {
            vec![
                encoder.name.to_owned(),
                percent(p.point.leakage),
                p.point.dim.to_string(),
                p.target.percent(),
                p.adversary.percent(),
                if i == 0 { seconds(encoder.seconds) } else { p.summary.time() },
                String::new(),
            ]
        }));
    }
    let ours: Vec<&Summary> = fronts.iter().flatten().map(|p| &p.summary).collect();
    rows.extend(theirs.iter().map(|s| {
        vec![
            s.name.clone(),
            percent(Mean::of(&s.leakages).mean),
            s.dim.to_string(),
            s.cell(s.target(PROBE)),
            s.cell(s.adversary(PROBE)),
            s.time(),
            at_no_more_cell(s, &ours, PROBE),
        ]
    }));
    let header = vec![
        "encoder",
        "leakage (linear)",
        "dim",
        "target % (net-64)",
        "adversary % (net-64)",
        "seconds to fit",
        "ours at no more",
    ];
    Table {
        name: "front",
        title: "Test pictures; guessing: target 5 %, adversary 1 %".into(),
        header,
        rows,
    }
}

/// Every probe at one leakage.
fn audits(
    split: &Split<'_>,
    encoders: &[Fitted],
    leakage: f64,
    effort: &Effort<'_>,
) -> Result<(Table, Vec<Value>)> {
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for encoder in encoders {
        effort.step(&format!("cifar100: every probe on {}", encoder.name))?;
        let model = encoder.model.retune(Goal::Leakage(leakage))?;
        let found = split.probe(&split.encode(&model)?, everyone(), &effort.seeds[..1])?;
        for trial in &found.sensitive.probes {
            rows.push(vec![
                encoder.name.to_owned(),
                trial.probe.clone(),
                match found.target.trial(&trial.probe) {
                    Some(kept) => format!("{:.1}", 100.0 * kept.score.value()),
                    None => "–".to_owned(),
                },
                format!("{:.1}", 100.0 * trial.score.value()),
                if trial.probe == found.sensitive.best.probe { "worst case" } else { "" }
                    .to_owned(),
            ]);
        }
        values.push(json!({ "encoder": encoder.name, "leakage": leakage, "target": found.target, "sensitive": found.sensitive }));
    }
    let title = format!("Every probe at a linear leakage of {}", percent(leakage));
    let header = vec!["encoder", "probe", "target %", "adversary %", ""];
    Ok((Table { name: "audit", title, header, rows }, values))
}

/// Where the dimension changes, and what it is from there on.
fn steps(model: &Model) -> Result<Vec<(f64, f64)>> {
    let front = model.front()?;
    let mut places = vec![0.0];
    places.extend(front.breakpoints()?);
    places.push(1.0);
    let mut steps = Vec::new();
    for pair in places.windows(2) {
        steps.push((pair[0], front.dimension(0.5 * (pair[0] + pair[1]))? as f64));
    }
    steps.push((1.0, front.dimension(1.0)? as f64));
    Ok(steps)
}

fn words(encoders: &[Fitted], fronts: &[Vec<Place>]) -> Result<Vec<String>> {
    let mut words = Vec::new();
    for encoder in encoders {
        let steps = steps(&encoder.model)?;
        let first = steps.first().map_or(0.0, |s| s.1);
        let full = steps.iter().rev().find(|s| s.1 == first).map_or(0.0, |s| s.0);
        let next = steps.iter().find(|s| s.0 > full).map_or(1.0, |s| s.0);
        let last = steps.iter().rev().find(|s| s.1 > 0.0).map_or((0.0, 0.0), |s| *s);
        let fall = match next > FALL.1 - 1e-9 {
            true => "all of them up to λ = 5/6".to_owned(),
            false => format!("falling from λ = {next:.4} on, to {} at λ = {:.4}", last.1, last.0),
        };
        words.push(format!(
            "{}: {first} dimensions at small λ, {fall}, and none from λ = 5/6 on, where hiding outweighs keeping in every direction, as a coarse class is five fine ones (paper: 19, falling to 1).",
            encoder.name
        ));
    }
    if let [linear, kernel] = fronts {
        let pairs = || linear.iter().zip(kernel);
        let above = pairs().filter(|(l, k)| k.target.mean > l.target.mean).count();
        words.push(format!(
            "At equal leakage to the linear adversary, the kernel encoder's target accuracy is above the linear one's at {above} of {} leakages (paper: everywhere).",
            linear.len()
        ));
        let equal: Vec<(f64, f64)> = linear
            .iter()
            .filter_map(|p| Some((p.target.mean, at(kernel, p.adversary.mean)?)))
            .collect();
        let above = equal.iter().filter(|(linear, kernel)| kernel > linear).count();
        words.push(format!(
            "Against an adversary network that is no better than on the linear encoding, it is above at {above} of {} points.",
            equal.len()
        ));
    }
    words.push(
        "What is guaranteed is the leakage to linear adversaries on the training rows. The networks that are measured here see more, and the coarse class itself tells something of the fine one: a fifth of it at full utility."
            .into(),
    );
    Ok(words)
}

/// The target accuracy where the adversary has at most this accuracy, between the points of a front
/// that rises; none below its first point.
fn at(front: &[Place], adversary: f64) -> Option<f64> {
    let last = front.last().filter(|p| p.adversary.mean <= adversary);
    let between = || {
        front.windows(2).find_map(|pair| {
            let [(x0, y0), (x1, y1)] =
                [&pair[0], &pair[1]].map(|p| (p.adversary.mean, p.target.mean));
            let within = (x0.min(x1)..=x0.max(x1)).contains(&adversary) && x0 != x1;
            within.then(|| y0 + (y1 - y0) * (adversary - x0) / (x1 - x0))
        })
    };
    last.map(|p| p.target.mean).or_else(between)
}
