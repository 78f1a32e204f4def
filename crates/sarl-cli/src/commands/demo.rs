//! `sarl demo`: the paper's mixture of four Gaussians, from the sample to certified encoders.
//!
//! Each row has a shape (to keep) and a colour (to hide); the four combinations have means
//! (1,1,0), (2,2,0), (2,2.5,0), (2.5,3,0) and standard deviation 0.3 in each coordinate.

use std::fmt::Write as _;
use std::path::Path;

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl::{
    Block, Bounds, Encoder, Family, FeatureMap, Front, Goal, HeldOut, Kernel, LandmarkOptions,
    Layout, Model, Moments, MomentsOptions, Reduced, Role, median_gamma,
};
use serde_json::{Value, json};

use super::fit::SCHEMA;
use super::front;
use crate::args::{Demo, Global};
use crate::data::best_ridge;
use crate::failure::{Exit, Failure, Outcome};
use crate::{output, plot};

const MEANS: [[f64; 3]; 4] = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.5, 0.0], [2.5, 3.0, 0.0]];
const SPREAD: f64 = 0.3;
const TRAIN: usize = 4000;
const TEST: usize = 1000;
const POINTS: usize = 101;
/// What the encoders that are written may leak.
const LEAKAGE: f64 = 0.01;

/// Rows with a shape and a colour.
struct Sample {
    x: Mat<f64>,
    shape: Vec<u32>,
    colour: Vec<u32>,
}

pub fn run(options: &Demo, global: &Global) -> Outcome {
    let folder = &options.output;
    let failed =
        |e: std::io::Error| Failure::new(Exit::Machine, format!("{}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let (train, test) = (draw(TRAIN, &mut rng), draw(TEST, &mut rng));
    sarl_data::write_file(&folder.join("mixture.csv"), csv(&train).as_bytes())?;

    let linear = FeatureMap::linear(3);
    let gamma = median_gamma(Family::Rbf, train.x.as_ref())?;
    let landmarks = LandmarkOptions { seed: options.seed, ..Default::default() };
    let kernel = FeatureMap::landmarks(Kernel::Rbf { gamma }, train.x.as_ref(), &landmarks)?;
    let schema = schema(&folder.join("mixture.csv"))?;
    let runs = [
        Run::new("linear", &linear, &train, folder, &schema)?,
        Run::new("kernel", &kernel, &train, folder, &schema)?,
    ];
    if global.json {
        let mut all = serde_json::Map::new();
        for run in &runs {
            all.insert(run.name.into(), run.json(&train, &test)?);
        }
        return output::print_json(&all);
    }
    output::print(&format!(
        "Four Gaussians in three dimensions, {TRAIN} rows: keep the shape, hide the colour.\n"
    ))?;
    for run in &runs {
        run.print()?;
    }
    output::print(&compare(&runs, &train, &test)?)?;
    output::print(&format!(
        "\nwritten to {0}/: the sample (mixture.csv), the fronts and the models. Next:\n  \
         sarl info {0}/linear.safetensors\n  \
         sarl fit {0}/mixture.csv -t shape -s colour --kernel rbf --max-leakage 0.02 -o m.safetensors",
        folder.display()
    ))
}

fn draw(rows: usize, rng: &mut ChaCha8Rng) -> Sample {
    let corner: Vec<u32> = (0..rows).map(|_| rng.random_range(0..4)).collect();
    let x = Mat::from_fn(rows, 3, |i, j| {
        let noise: f64 = StandardNormal.sample(rng);
        MEANS[corner[i] as usize][j] + SPREAD * noise
    });
    let shape = corner.iter().map(|c| c / 2).collect();
    let colour = corner.iter().map(|c| c % 2).collect();
    Sample { x, shape, colour }
}

fn csv(sample: &Sample) -> String {
    let mut text = String::from("x,y,z,shape,colour\n");
    for i in 0..sample.x.nrows() {
        let x = sample.x.row(i);
        let shape = ["circle", "cross"][sample.shape[i] as usize];
        let colour = ["blue", "red"][sample.colour[i] as usize];
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{},{},{},{shape},{colour}", x[0], x[1], x[2]);
    }
    text
}

/// The schema of the written sample, so that its models work on tables.
fn schema(path: &Path) -> Outcome<String> {
    let source = sarl_data::Source::open(&[path])?;
    let request = sarl_data::Request {
        targets: sarl_data::Targets::parse(&["shape"])?,
        sensitives: vec!["colour".parse()?],
        scale: sarl_data::Scale::None,
        ..Default::default()
    };
    let go = &mut |_| std::ops::ControlFlow::Continue(());
    Ok(sarl_data::Schema::learn(&source, &request, go)?.to_json()?)
}

/// One kind of encoder, fitted.
struct Run {
    name: &'static str,
    model: Model,
    bounds: Bounds,
    points: Vec<(sarl::Point, Option<sarl::HeldOutLosses>)>,
    heldout: sarl::HeldOutLosses,
}

impl Run {
    fn new(
        name: &'static str,
        map: &FeatureMap,
        train: &Sample,
        folder: &Path,
        schema: &str,
    ) -> Outcome<Self> {
        let layout =
            Layout::dense(3).class("shape", Role::Target, 2).class("colour", Role::Sensitive, 2);
        let mut moments: Moments = map.moments(&layout, MomentsOptions::default())?;
        let block = Block::new(train.x.as_ref()).class(&train.shape).class(&train.colour);
        map.push(&mut moments, &block)?;
        // Hundreds of landmarks fit the noise of 4000 rows; a ridge chosen on held-out rows does not.
        let ridge = if map.is_linear() { 0.0 } else { best_ridge(&moments, None)? };
        let reduced = Reduced::new(&moments.covariances()?, ridge)?;
        let front = Front::new(&reduced, None)?;
        let folds = HeldOut::new(&moments, ridge, None)?;
        let heldout = folds.points(POINTS)?.into_iter().map(Some);
        let points: Vec<_> = front.points(POINTS)?.into_iter().zip(heldout).collect();
        let goal = Goal::Leakage(LEAKAGE);
        let mut model = Model::new(map, &layout, &reduced, None, goal)?;
        model.extra.insert(SCHEMA.into(), schema.to_owned());
        let path = folder.join(format!("{name}.safetensors"));
        sarl_data::write_file(&path, &model.to_bytes()?)?;
        let path = folder.join(format!("{name}-front.csv"));
        sarl_data::write_file(&path, front::csv(&points).as_bytes())?;
        let (bounds, heldout) = (*front.bounds(), folds.solve(goal, &front)?);
        Ok(Run { name, model, bounds, points, heldout })
    }

    fn print(&self) -> Outcome {
        let what = match self.name {
            "linear" => "Linear encoder".to_owned(),
            _ => format!(
                "RBF kernel encoder, {} landmarks, ridge {:.0e}",
                self.model.reduced().features(),
                self.model.reduced().ridge()
            ),
        };
        output::print(&format!("── {what} ──"))?;
        output::print(&output::bounds_table(self.model.reduced(), &self.bounds))?;
        output::print(&format!("\n{}", front::table(&self.points, &self.bounds)))?;
        output::print(&output::solution_text(&self.model, &self.bounds, Some(&self.heldout)))?;
        output::print("")
    }

    fn json(&self, train: &Sample, test: &Sample) -> Outcome<Value> {
        let points = self.points.iter().map(|(p, h)| output::point_json(p, h.as_ref()));
        let certificate = self.model.certificate();
        let accuracy = accuracies(&self.model.encoder(), train, test)?;
        Ok(json!({
            "bounds": output::bounds_json(self.model.reduced(), &self.bounds),
            "points": points.collect::<Vec<_>>(),
            "fit": output::point_json(self.model.point(), Some(&self.heldout)),
            "dual_bound": certificate.dual_bound,
            "gap": certificate.gap,
            "test_accuracy": { "shape": accuracy.0, "colour": accuracy.1 },
        }))
    }
}

/// Both fronts in one picture, and what a classifier gets from fresh rows.
fn compare(runs: &[Run], train: &Sample, test: &Sample) -> Outcome<String> {
    let marks = ['•', '+'];
    // Utility as a share of the target's whole variance: the encoders have bounds of their own.
    let curve = |run: &Run| {
        let kept = |p: &sarl::Point| 1.0 - p.losses.jy / run.bounds.target_variance;
        run.points.iter().map(|(p, _)| (p.leakage, kept(p))).collect::<Vec<_>>()
    };
    let curves: Vec<_> =
        runs.iter().zip(marks).map(|(run, mark)| (mark, run.name, curve(run))).collect();
    let mut rows = vec![{
        let (shape, colour) = accuracies(&raw_encoder(train)?, train, test)?;
        vec!["all features".to_owned(), output::percent(shape), output::percent(colour)]
    }];
    for run in runs {
        let (shape, colour) = accuracies(&run.model.encoder(), train, test)?;
        let name = format!("{}, leakage at most {}", run.name, output::percent(LEAKAGE));
        rows.push(vec![name, output::percent(shape), output::percent(colour)]);
    }
    let chance = |codes: &[u32]| {
        let ones = codes.iter().filter(|&&c| c == 1).count() as f64 / codes.len() as f64;
        output::percent(ones.max(1.0 - ones))
    };
    rows.push(vec!["majority guess".into(), chance(&test.shape), chance(&test.colour)]);
    let header = ["linear classifier on 1000 fresh rows", "shape (keep)", "colour (hide)"];
    Ok(format!(
        "── Both fronts: explained target variance over leakage ──\n{}\n\n{}",
        plot::draw(&curves),
        output::table(&header, rows, |i| i > 0)
    ))
}

/// The control: an encoder that hides nothing. With the features as the target everything is kept.
fn raw_encoder(train: &Sample) -> Outcome<Encoder> {
    let map = FeatureMap::linear(3);
    let layout = Layout::dense(3).keep_features().class("colour", Role::Sensitive, 2);
    let mut moments = map.moments(&layout, MomentsOptions::default())?;
    map.push(&mut moments, &Block::new(train.x.as_ref()).class(&train.colour))?;
    let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
    Ok(Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.0))?.encoder())
}

/// Accuracy on the test rows of least-squares classifiers fitted on the encoded training rows.
fn accuracies(encoder: &Encoder, train: &Sample, test: &Sample) -> Outcome<(f64, f64)> {
    let (seen, fresh) = (encoder.encode(train.x.as_ref())?, encoder.encode(test.x.as_ref())?);
    let score = |train: &[u32], test: &[u32]| accuracy(seen.as_ref(), train, fresh.as_ref(), test);
    Ok((score(&train.shape, &test.shape)?, score(&train.colour, &test.colour)?))
}

/// A least-squares classifier is itself an encoder that hides nothing: λ → 0.
fn accuracy(
    seen: MatRef<'_, f64>,
    train: &[u32],
    fresh: MatRef<'_, f64>,
    test: &[u32],
) -> Outcome<f64> {
    let map = FeatureMap::linear(seen.ncols());
    let layout = Layout::dense(seen.ncols()).class("label", Role::Target, 2).class(
        "same",
        Role::Sensitive,
        2,
    );
    let mut moments = map.moments(&layout, MomentsOptions { folds: 1, ..Default::default() })?;
    map.push(&mut moments, &Block::new(seen).class(train).class(train))?;
    let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
    let probe = Model::new(&map, &layout, &reduced, None, Goal::Lambda(0.0))?.encoder();
    let scores = probe.predict(Role::Target, probe.encode(fresh)?.as_ref())?;
    let right = |&i: &usize| u32::from(scores[(i, 1)] > scores[(i, 0)]) == test[i];
    Ok((0..test.len()).filter(right).count() as f64 / test.len() as f64)
}
