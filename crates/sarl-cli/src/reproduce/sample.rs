//! The data of the experiments, in memory.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use sarl::{Block, FitParams, Fitted};
use sarl_data::{BlockOptions, LabelColumn, Missing, Request, Schema, Source, Targets};
use sarl_eval::{Labelled, Labels};
use sarl_lab::Rows;

use crate::failure::{Exit, Failure, Outcome};
use crate::progress;

/// Rows with a target and a sensitive class.
#[derive(Clone)]
pub struct Sample {
    pub x: Mat<f64>,
    pub y: Labels,
    pub s: Labels,
}

impl Sample {
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    pub fn select(&self, rows: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        Sample { x, y: self.y.select(rows), s: self.s.select(rows) }
    }

    /// The same with names of target and sensitive attribute, and of their classes.
    pub fn rows_named(&self, names: [&str; 2], classes: [&[&str]; 2]) -> Rows {
        let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Rows {
            targets: vec![self.y.clone()],
            sensitives: vec![self.s.clone()],
            names: owned(&names),
            classes: classes.map(owned).to_vec(),
            ..Rows::new(self.x.clone())
        }
    }

    /// What is kept and what is hidden.
    pub fn labels(&self) -> Labelled<'_> {
        Labelled {
            targets: std::slice::from_ref(&self.y),
            sensitives: std::slice::from_ref(&self.s),
            names: &[],
            keeps_features: false,
            kernels: &[],
            weights: None,
        }
    }

    /// Encoders fitted on these rows.
    pub fn fit(&self, params: &FitParams) -> Outcome<Fitted> {
        Ok(sarl_lab::fit(self.x.as_ref(), &self.labels(), params, &progress::interrupted)?)
    }

    /// All rows at once.
    pub fn block(&self) -> Block<'_, f64> {
        Block::new(self.x.as_ref()).class(codes(&self.y)).class(codes(&self.s))
    }

    /// Target and sensitive attribute exchanged.
    pub fn flipped(&self) -> Self {
        Sample { x: self.x.clone(), y: self.s.clone(), s: self.y.clone() }
    }

    /// The first `train` rows of a random order, and the others.
    pub fn shuffled(&self, train: usize, seed: u64) -> (Self, Self) {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        (self.select(&order[..train]), self.select(&order[train..]))
    }
}

/// The codes of a class.
pub fn codes(labels: &Labels) -> &[u32] {
    match labels {
        Labels::Classes { codes, .. } => codes,
        Labels::Numbers(_) => &[],
    }
}

/// What the columns of a table are, beside their values.
pub struct Columns {
    /// How many of them, the first ones, are numbers; the others are one-hot.
    pub numbers: usize,
    /// The semantic feature of each column of the matrix.
    pub feature: Vec<usize>,
    /// The names of the semantic features.
    pub names: Vec<String>,
}

/// A file of a known data set.
pub fn find(dataset: &str, file: &str) -> Outcome<Option<PathBuf>> {
    Ok(sarl_data::dataset(dataset)?.find(file))
}

/// The error that says what to do without data.
pub fn absent(dataset: &str, files: &[&str], advice: &str) -> Failure {
    let folders = sarl_data::data_folders();
    let folders: Vec<String> =
        folders.iter().map(|f| f.join(dataset).display().to_string()).collect();
    let message = format!(
        "the {dataset} data is not here: found no {} in {}",
        files.join(", "),
        folders.join(", ")
    );
    Failure::new(Exit::Data, message).hint(advice)
}

/// The rows to learn from and those to be tested on of a data set in `.npz` files.
pub fn train_and_test(dataset: &str, advice: &str) -> Outcome<(Sample, Sample)> {
    let (Some(train), Some(test)) = (find(dataset, "train.npz")?, find(dataset, "test.npz")?)
    else {
        return Err(absent(dataset, &["train.npz", "test.npz"], advice));
    };
    two(arrays(&[&train, &test])?)
}

/// The first two of these.
pub fn two(samples: Vec<Sample>) -> Outcome<(Sample, Sample)> {
    let mut samples = samples.into_iter();
    samples.next().zip(samples.next()).ok_or_else(|| Failure::usage("two tables are needed"))
}

/// The rows of `.npz` files with arrays X, y and s; the classes are those of the first file.
pub fn arrays(paths: &[&Path]) -> Outcome<Vec<Sample>> {
    let request = Request {
        targets: Targets::parse(&["y:class"])?,
        sensitives: vec!["s:class".parse()?],
        ..Default::default()
    };
    Ok(tables(paths, &request)?.0)
}

/// The rows of tables, all with the schema of the first.
pub fn tables(paths: &[&Path], request: &Request) -> Outcome<(Vec<Sample>, Columns)> {
    let Some(first) = paths.first() else { return Err(Failure::usage("no files")) };
    let go = &mut |_| ControlFlow::Continue(());
    let schema = Schema::learn(&Source::open(&[first])?, request, go)?;
    let samples = paths.iter().map(|p| read(p, &schema)).collect::<Outcome<_>>()?;
    let mut columns = Columns { numbers: 0, feature: Vec::new(), names: Vec::new() };
    let (mut dense, mut coded) = (Vec::new(), Vec::new());
    for (i, feature) in schema.features().iter().enumerate() {
        columns.names.push(feature.name.clone());
        match &feature.values {
            sarl_data::FeatureValues::Number { .. } => dense.push(i),
            sarl_data::FeatureValues::Category { values, .. } => {
                coded.extend(std::iter::repeat_n(i, values.len()));
            }
        }
    }
    columns.numbers = dense.len();
    columns.feature = dense.into_iter().chain(coded).collect();
    Ok((samples, columns))
}

fn read(path: &Path, schema: &Schema) -> Outcome<Sample> {
    let source = Source::open(&[path])?;
    let (mut x, mut labels) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut counts = [0; 2];
    let options = BlockOptions { unseen: sarl_data::Unseen::Ignore, ..Default::default() };
    for block in source.blocks(schema, &options)? {
        let block = block?;
        x.extend(block.densify());
        let columns = [block.targets.first(), block.sensitives.first()];
        for (i, column) in columns.into_iter().enumerate() {
            let Some(LabelColumn::Class { classes, codes }) = column else {
                let message = format!("{}: y and s must be classes", path.display());
                return Err(Failure::new(Exit::Data, message));
            };
            labels[i].extend_from_slice(codes);
            counts[i] = *classes;
        }
    }
    let rows = labels[0].len();
    if rows == 0 {
        return Err(Failure::new(Exit::Data, format!("{}: there are no rows", path.display())));
    }
    let [y, s] = labels;
    Ok(Sample {
        x: MatRef::from_row_major_slice(&x, rows, x.len() / rows).to_owned(),
        y: Labels::Classes { codes: y, count: counts[0] },
        s: Labels::Classes { codes: s, count: counts[1] },
    })
}

/// A request for a table in which incomplete rows are left out.
pub fn complete(target: &str, sensitive: &str) -> Outcome<Request> {
    Ok(Request {
        targets: Targets::parse(&[target])?,
        sensitives: vec![sensitive.parse()?],
        missing: Missing::Drop,
        ..Default::default()
    })
}

const MEANS: [[f64; 3]; 4] = [[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.5, 0.0], [2.5, 3.0, 0.0]];
const SPREAD: f64 = 0.3;

/// The paper's mixture of four Gaussians: each row has a shape (to keep) and a colour (to hide); the
/// four combinations have means (1,1,0), (2,2,0), (2,2.5,0), (2.5,3,0) and standard deviation 0.3
/// in each coordinate.
pub fn mixture(rows: usize, rng: &mut ChaCha8Rng) -> Sample {
    let corner: Vec<u32> = (0..rows).map(|_| rng.random_range(0..4)).collect();
    let x = Mat::from_fn(rows, 3, |i, j| {
        let noise: f64 = StandardNormal.sample(rng);
        MEANS[corner[i] as usize][j] + SPREAD * noise
    });
    let classes =
        |of: fn(&u32) -> u32| Labels::Classes { codes: corner.iter().map(of).collect(), count: 2 };
    Sample { x, y: classes(|c| c / 2), s: classes(|c| c % 2) }
}
