//! `sarl demo`: the paper's mixture of four Gaussians, from the sample to certified encoders.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sarl::{Bounds, FitParams, Goal, HeldOut, Model};
use sarl_data::{Input, Schema};
use sarl_eval::probes::Linear;
use sarl_eval::{Asked, Attributes, Labelled, Labels};
use sarl_lab::{AuditCurve, Inputs, POINTS, Probing, Row, Shown, Subject, front_rows};
use sarl_report::page::{Page, Section};
use serde_json::{Value, json};

use super::front;
use crate::args::{Demo, Global};
use crate::failure::{Exit, Failure, Outcome};
use crate::inquiry::paths;
use crate::provenance::{Origin, Provenance};
use crate::reproduce::sample::{Sample, codes, mixture};
use crate::reproduce::trial::{Encoded, Split, kernel, linear};
use crate::terminal::{self, title, wrap};
use crate::typed::Typed;
use crate::verdict::{self, Verdict};
use crate::{output, outputs, page, plot, progress, solution};

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
    sarl_data::write_file(&folder.join("mixture.csv"), csv(&train).as_bytes())?;

    let schema = schema(&folder.join("mixture.csv"))?;
    // Hundreds of landmarks fit the noise of 4000 rows; a ridge chosen on held-out rows does not.
    let run = |name: &'static str, params: FitParams| {
        let params = FitParams { seed: options.seed, ..params };
        Run::new(name, &params, &train, folder, &schema)
    };
    let runs = [run("linear", linear())?, run("kernel", kernel())?];
    let split = Split::new(train, test, 0);
    let report = folder.join("report.html");
    let mut verdicts = Vec::new();
    let page = page(&runs, &split, &schema, folder, options, &mut verdicts, global)?;
    page::write(&page, &report)?;
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

fn csv(sample: &Sample) -> String {
    let mut text = String::from("x,y,z,shape,colour\n");
    for i in 0..sample.x.nrows() {
        let x = sample.x.row(i);
        let shape = SHAPES[codes(&sample.y)[i] as usize];
        let colour = COLOURS[codes(&sample.s)[i] as usize];
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{},{shape},{colour}", x[0], x[1], x[2]);
    }
    text
}

/// The schema of the written sample, so that its models work on tables.
fn schema(path: &Path) -> Outcome<Schema> {
    let source = sarl_data::Source::open(&[path])?;
    let request = sarl_data::Request {
        targets: sarl_data::Targets::parse(&["shape"])?,
        sensitives: vec!["colour".parse()?],
        ..Default::default()
    };
    let go = &mut |_| std::ops::ControlFlow::Continue(());
    Ok(Schema::learn(&source, &request, go)?)
}

/// One kind of encoder, fitted.
struct Run {
    name: &'static str,
    model: Model,
    bounds: Bounds,
    points: Vec<Row>,
    heldout: sarl::HeldOutLosses,
    folds: HeldOut,
    path: PathBuf,
}

impl Run {
    fn new(
        name: &'static str,
        params: &FitParams,
        train: &Sample,
        folder: &Path,
        schema: &Schema,
    ) -> Outcome<Self> {
        let labels = Labelled {
            targets: std::slice::from_ref(&train.y),
            sensitives: std::slice::from_ref(&train.s),
            names: &["shape".to_owned(), "colour".to_owned()],
            keeps_features: false,
            kernels: &[],
            weights: None,
        };
        let fitted = sarl_lab::fit(train.x.as_ref(), &labels, params, &progress::interrupted)?;
        let (front, folds) = (fitted.front()?, fitted.heldout()?);
        let points = front_rows(&front, Some(&folds), POINTS)?;
        let goal = Goal::Leakage(LEAKAGE);
        let mut model = fitted.solve(goal.clone())?;
        model.keep_heldout(folds.clone());
        let (heldout, labels) = folds.solve_each(goal, &front)?;
        let origin = Origin::new([Input::new(&folder.join("mixture.csv"))?].iter())?;
        let about = Provenance {
            schema: Some(schema.clone()),
            heldout: Some(heldout),
            heldout_labels: Some(labels),
            origin: Some(origin),
            public_landmarks: false,
        };
        about.store(&mut model)?;
        let path = folder.join(format!("{name}.safetensors"));
        sarl_data::write_file(&path, &model.to_bytes()?)?;
        let table = folder.join(format!("{name}-front.csv"));
        sarl_data::write_file(&table, front::csv(&points).as_bytes())?;
        let bounds = *front.bounds();
        Ok(Run { name, model, bounds, points, heldout, folds, path })
    }

    fn print(&self, audit: Option<&Verdict>) -> Outcome {
        let what = match self.name {
            "linear" => "Linear encoder".to_owned(),
            _ => format!(
                "RBF kernel encoder, {} landmarks, ridge {:.0e}",
                self.model.reduced().features(),
                self.model.reduced().ridge()
            ),
        };
        let (model, heldout) = (&self.model, Some(&self.heldout));
        output::print(&title(&what))?;
        output::print(&solution::result(model, heldout, audit))?;
        output::print(&format!("\n{}", solution::text(model, heldout, None)?))?;
        output::print(&format!("\n{}", front::table(&self.points)))?;
        let bounds = output::bounds_table(model.reduced(), &model.front()?)?;
        output::print(&format!("\n{bounds}\n"))
    }

    fn json(&self, split: &Split) -> Outcome<Value> {
        let points = self.points.iter().map(|(p, h)| output::point_json(p, h.as_ref()));
        let certificate = self.model.certificate();
        let accuracy = accuracies(split, &split.encode(&self.model)?)?;
        Ok(json!({
            "bounds": output::bounds_json(self.model.reduced(), &self.model.front()?)?,
            "points": points.collect::<Vec<_>>(),
            "fit": output::point_json(self.model.point(), Some(&self.heldout)),
            "dual_bound": certificate.dual_bound,
            "gap": certificate.gap,
            "test_accuracy": { "shape": accuracy.0, "colour": accuracy.1 },
        }))
    }
}

/// Both encoders to play with, and what attackers predict of them on fresh rows, with a verdict on
/// each.
fn page(
    runs: &[Run],
    split: &Split,
    schema: &Schema,
    folder: &Path,
    options: &Demo,
    verdicts: &mut Vec<Option<Verdict>>,
    global: &Global,
) -> Outcome<Page> {
    let asked = |name: &str, classes: [&str; 2], of: fn(&Sample) -> &Labels| Asked {
        name: name.to_owned(),
        classes: classes.map(str::to_owned).to_vec(),
        train: of(&split.train).clone(),
        test: of(&split.test).clone(),
    };
    let attributes = Attributes {
        all: vec![asked("shape", SHAPES, |s| &s.y), asked("colour", COLOURS, |s| &s.s)],
        targets: 1,
    };
    let rows = split.test.rows_named(["shape", "colour"], [&SHAPES, &COLOURS]);
    let shown = Shown::new(rows, "Fresh ones, which no encoder was fitted on.".to_owned());
    let table = page::table(schema)?;
    let inputs = Inputs::of_rows(&table, split.train.x.as_ref());
    let (mut explorers, mut sections) = (Vec::new(), Vec::new());
    for run in runs {
        let title = format!("{} encoder", if run.name == "linear" { "Linear" } else { "Kernel" });
        let full = run.model.retune(Goal::Lambda(0.0))?;
        let goal = run.model.goal().clone();
        let curve = AuditCurve {
            who: format!("the {}", title.to_lowercase()),
            rows: format!(
                "Attackers learnt from {TRAIN} rows and were tested on {TEST} fresh ones."
            ),
            ..split.audit_curve(&full, goal, &attributes, global)?
        };
        let leakage = run.model.point().leakage;
        verdicts.push(verdict::of_curve(&curve, leakage));
        let retune = Typed::retune(&run.path);
        let command = |goal: &_, option: &str| retune.with_goal(goal, option);
        let subject = Subject {
            heldout: Some(&run.folds),
            points: run.points.clone(),
            shown: Some(&shown),
            inputs: Some(&inputs),
            curve: Some(&curve),
            ..Subject::new(title.clone(), &run.model, &command)
        };
        let explorer = subject.explorer(&progress::watch(global.quiet))?.explorer;
        let section = curve.section(leakage, explorers.len(), &explorer.positions);
        let title = format!("The audit: {}", title.to_lowercase());
        sections.extend(section.map(|section| Section { title, ..section }));
        explorers.push(explorer);
    }
    let models: Vec<&Model> = runs.iter().map(|r| &r.model).collect();
    Ok(Page {
        title: "Keep the shape, hide the colour".to_owned(),
        subtitle: format!("sarl demo · four Gaussians in three dimensions, {TRAIN} rows"),
        explorers,
        sections,
        about: page::about(
            &paths(&[folder.join("mixture.csv")]),
            Some(&table),
            &models,
            options.seed,
        ),
        ..Page::default()
    })
}

/// Both fronts in one picture, and what a classifier gets from fresh rows.
fn compare(runs: &[Run], split: &Split) -> Outcome<String> {
    let marks = ['•', '+'];
    // Utility as a share of the target's whole variance: the encoders have bounds of their own.
    let curve = |run: &Run| {
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
fn accuracies(split: &Split, z: &Encoded) -> Outcome<(f64, f64)> {
    let found = split.probe(z, Probing::both(&[&Linear]), &[0])?;
    Ok((found.target.best.score.value(), found.sensitive.best.score.value()))
}
