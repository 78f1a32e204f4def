//! The encoders of the demo.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sarl::{Bounds, FitParams, Goal, HeldOut, Model};
use sarl_data::{Input, Schema};
use sarl_eval::Labelled;
use sarl_lab::{POINTS, Row, front_rows};
use sarl_paper::{Sample, Split, codes};
use serde_json::{Value, json};

use super::{COLOURS, LEAKAGE, SHAPES};
use crate::failure::Outcome;
use crate::provenance::{Origin, Provenance};
use crate::terminal::title;
use crate::verdict::Verdict;
use crate::{output, points, progress, solution};

/// What encoders are fitted on, and where their files go.
pub struct Fitting<'a> {
    pub table: PathBuf,
    pub schema: Schema,
    train: &'a Sample,
    folder: &'a Path,
    pub seed: u64,
}

impl<'a> Fitting<'a> {
    /// Writes the sample as a table.
    pub fn new(folder: &'a Path, train: &'a Sample, seed: u64) -> Outcome<Self> {
        let table = folder.join("mixture.csv");
        sarl_data::write_file(&table, csv(train).as_bytes())?;
        let schema = schema(&table)?;
        Ok(Fitting { table, schema, train, folder, seed })
    }

    /// Fits an encoder, and writes its model and its front.
    pub fn fit(&self, name: &'static str, params: FitParams) -> Outcome<Encoder> {
        let params = FitParams { seed: self.seed, ..params };
        let names = ["shape".to_owned(), "colour".to_owned()];
        let labels = Labelled { names: &names, ..self.train.labels() };
        let x = self.train.x.as_ref();
        let fitted = sarl_lab::fit(x, &labels, &params, &progress::interrupted)?;
        let (front, folds) = (fitted.front()?, fitted.heldout()?);
        let rows = front_rows(&front, Some(&folds), POINTS)?;
        let goal = Goal::Leakage(LEAKAGE);
        let mut model = fitted.solve(goal.clone())?;
        model.keep_heldout(folds.clone());
        let (heldout, labels) = folds.solve_each(goal, &front)?;
        let about = Provenance {
            schema: Some(self.schema.clone()),
            heldout: Some(heldout),
            heldout_labels: Some(labels),
            origin: Some(Origin::new([Input::new(&self.table)?].iter())?),
            public_landmarks: false,
        };
        about.store(&mut model)?;
        let path = self.folder.join(format!("{name}.safetensors"));
        sarl_data::write_file(&path, &model.to_bytes()?)?;
        let table = self.folder.join(format!("{name}-front.csv"));
        sarl_data::write_file(&table, points::csv(&rows).as_bytes())?;
        let bounds = *front.bounds();
        Ok(Encoder { name, model, bounds, points: rows, heldout, folds, path })
    }
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
    Ok(Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(()))?)
}

/// One kind of encoder, fitted.
pub struct Encoder {
    pub name: &'static str,
    pub model: Model,
    pub bounds: Bounds,
    pub points: Vec<Row>,
    heldout: sarl::HeldOutLosses,
    pub folds: HeldOut,
    pub path: PathBuf,
}

impl Encoder {
    pub fn print(&self, audit: Option<&Verdict>) -> Outcome {
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
        output::print(&format!("\n{}", points::table(&self.points)))?;
        let bounds = output::bounds_table(model.reduced(), &model.front()?)?;
        output::print(&format!("\n{bounds}\n"))
    }

    pub fn json(&self, split: &Split<'_>) -> Outcome<Value> {
        let points = self.points.iter().map(|(p, h)| output::point_json(p, h.as_ref()));
        let certificate = self.model.certificate();
        let accuracy = super::accuracies(split, &split.encode(&self.model)?)?;
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
