//! The files of the data sets.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use faer::MatRef;
use sarl_data::{
    BlockOptions, FeatureValues, LabelColumn, Missing, Request, Schema, Source, Targets,
};
use sarl_eval::Labels;

use crate::sample::Sample;
use crate::{Error, Result};

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
pub fn find(dataset: &str, file: &str) -> Result<Option<PathBuf>> {
    Ok(sarl_data::dataset(dataset)?.find(file))
}

/// Two files of a known data set, if both are here.
pub fn pair(dataset: &str, files: [&str; 2]) -> Result<Option<(PathBuf, PathBuf)>> {
    Ok(find(dataset, files[0])?.zip(find(dataset, files[1])?))
}

/// The error that says what to do without data.
pub fn absent(
    dataset: &'static str,
    files: &'static [&'static str],
    advice: &'static str,
) -> Error {
    let folders = sarl_data::data_folders();
    let folders = folders.iter().map(|f| f.join(dataset).display().to_string()).collect();
    Error::Absent { dataset, files, folders, advice }
}

/// Makes tables of raw files that are here. Where that cannot be done, there are none.
pub fn tidy(dataset: &str) {
    let places = sarl_data::Places::from_env();
    let _ = sarl_data::dataset(dataset).and_then(|d| d.tidy(&places));
}

/// The rows to learn from and those to be tested on of a data set in `.npz` files, if they are here.
pub fn arrays(dataset: &str) -> Result<Option<(Sample, Sample)>> {
    let Some((train, test)) = pair(dataset, ["train.npz", "test.npz"])? else { return Ok(None) };
    let reader = Reader::arrays(&train)?;
    Ok(Some((reader.read(&train)?, reader.read(&test)?)))
}

/// The same, or the error that says what to do without them.
pub fn train_and_test(dataset: &'static str, advice: &'static str) -> Result<(Sample, Sample)> {
    arrays(dataset)?.ok_or_else(|| absent(dataset, &["train.npz", "test.npz"], advice))
}

/// A request for a table in which incomplete rows are left out.
pub fn complete(target: &str, sensitive: &str) -> Result<Request> {
    Ok(Request { missing: Missing::Drop, ..request(target, sensitive)? })
}

fn request(target: &str, sensitive: &str) -> Result<Request> {
    let (targets, sensitives) = (Targets::parse(&[target])?, vec![sensitive.parse()?]);
    Ok(Request { targets, sensitives, ..Default::default() })
}

/// What is known of the columns of a table.
pub fn learn(source: &Source, request: &Request) -> Result<Schema> {
    Ok(Schema::learn(source, request, &mut |_| ControlFlow::Continue(()))?)
}

/// Reads tables as the first of them is read.
pub struct Reader {
    schema: Schema,
}

impl Reader {
    /// As this table is read.
    pub fn new(path: &Path, request: &Request) -> Result<Self> {
        Ok(Reader { schema: learn(&Source::open(&[path])?, request)? })
    }

    /// `.npz` files with arrays X, y and s.
    pub fn arrays(path: &Path) -> Result<Self> {
        Self::new(path, &request("y:class", "s:class")?)
    }

    /// The rows of a table.
    pub fn read(&self, path: &Path) -> Result<Sample> {
        let source = Source::open(&[path])?;
        let (mut x, mut labels, mut counts) = (Vec::new(), [Vec::new(), Vec::new()], [0; 2]);
        let options = BlockOptions { unseen: sarl_data::Unseen::Ignore, ..Default::default() };
        for block in source.blocks(&self.schema, &options)? {
            let block = block?;
            x.extend(block.densify());
            let columns = [block.targets.first(), block.sensitives.first()];
            for (i, column) in columns.into_iter().enumerate() {
                let Some(LabelColumn::Class { classes, codes }) = column else {
                    return Err(Error::NotClasses { path: path.to_owned() });
                };
                labels[i].extend_from_slice(codes);
                counts[i] = *classes;
            }
        }
        let [y, s] = labels;
        if y.is_empty() {
            return Err(Error::NoRows { path: path.to_owned() });
        }
        Ok(Sample {
            x: MatRef::from_row_major_slice(&x, y.len(), x.len() / y.len()).to_owned(),
            categories: self.schema.categories(),
            y: Labels::Classes { codes: y, count: counts[0] },
            s: Labels::Classes { codes: s, count: counts[1] },
        })
    }

    /// What the columns of these rows are.
    pub fn columns(&self) -> Columns {
        let (mut dense, mut coded) = (Vec::new(), Vec::new());
        for (i, feature) in self.schema.features().iter().enumerate() {
            match &feature.values {
                FeatureValues::Number { .. } => dense.push(i),
                FeatureValues::Category { values, .. } => {
                    coded.extend(std::iter::repeat_n(i, values.len()));
                }
            }
        }
        Columns {
            numbers: dense.len(),
            feature: dense.into_iter().chain(coded).collect(),
            names: self.schema.features().iter().map(|f| f.name.clone()).collect(),
        }
    }
}
