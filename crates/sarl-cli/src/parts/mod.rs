//! Moments of the rows of a shard in a file, and fits from many such files.

mod merge;
mod tally;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sarl::{Fit, Layout, Ridge, Role};
use sarl_data::Schema;
use sarl_lab::SCHEMA;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::args::{DataOptions, EncoderOptions, FilesOrMoments, Global};
use crate::data::{FittedTable, Remark, shared};
use crate::encoding::remarks;
use crate::failure::{Exit, Failure, Outcome};
use crate::given::Given;
use crate::outputs;
use crate::progress::Spinner;
use crate::provenance::Origin;
use crate::request::flat_warning;
pub use tally::Tally;

const ABOUT: &str = "about";

/// What a file says beside the sums and the schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    /// The files of its rows.
    pub origin: Origin,
    pub tally: Tally,
    /// Columns of which somebody has said what they are.
    pub said: Vec<String>,
    /// The column of keys, where folds go by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_column: Option<String>,
    /// Whether landmarks are rows of another file.
    #[serde(default)]
    pub public_landmarks: bool,
}

/// A file of moments.
#[derive(Clone, Debug)]
pub struct Moments {
    pub fit: Fit,
    /// Nothing where the shard has no rows.
    pub schema: Option<Schema>,
    pub about: About,
}

impl Moments {
    /// Those of a shard without rows, whose columns nobody can tell.
    pub fn empty(params: sarl::FitParams, about: About) -> Outcome<Self> {
        let layout = Layout::dense(1).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
        let params = sarl::FitParams {
            features: sarl::Features::Linear,
            criterion: sarl::Criterion::default(),
            ..params
        };
        Ok(Moments { fit: Fit::new(params, layout)?, schema: None, about })
    }

    pub fn to_bytes(&self) -> Outcome<Vec<u8>> {
        let mut extra = BTreeMap::new();
        if let Some(schema) = &self.schema {
            extra.insert(SCHEMA.to_owned(), schema.to_json()?);
        }
        extra.insert(ABOUT.to_owned(), serde_json::to_string(&self.about)?);
        Ok(self.fit.pack(extra)?)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Outcome<Self> {
        let failed = |exit, why: String| {
            Failure::new(exit, format!("{}: {why}", path.display()))
                .hint("files of moments are written by `sarl moments`")
        };
        let bytes = std::fs::read(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => failed(Exit::Data, "no such file".to_owned()),
            std::io::ErrorKind::IsADirectory => {
                failed(Exit::Data, "is a folder, expected a file of moments".to_owned())
            }
            _ => failed(Exit::Machine, e.to_string()),
        })?;
        Self::from_bytes(&bytes).map_err(|why| failed(Exit::Data, why))
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (fit, extra) = Fit::unpack(bytes).map_err(|e| match e {
            sarl::Error::File { problem, .. } => format!("not a file of moments: {problem}"),
            error => error.to_string(),
        })?;
        let schema = extra.get(SCHEMA).map(|text| Schema::part_from_json(text));
        let schema = schema.transpose().map_err(|e| e.to_string())?;
        if schema.as_ref().is_some_and(|schema| crate::data::layout(schema) != *fit.layout()) {
            return Err("its sums are not those of its columns".to_owned());
        }
        Ok(Moments { fit, schema, about: said(&extra, ABOUT)? })
    }
}

/// Whether a file holds moments, whole or not.
pub fn is_file(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| Fit::is_packed(&bytes))
}

fn said<T: DeserializeOwned>(extra: &BTreeMap<String, String>, name: &str) -> Result<T, String> {
    let text = extra.get(name).ok_or("it does not say which rows it is of")?;
    serde_json::from_str(text).map_err(|e| format!("what it says of its rows cannot be read: {e}"))
}

/// A fit of the rows of many files of moments.
pub fn fit(
    paths: &[PathBuf],
    data: &DataOptions,
    encoder: &EncoderOptions,
    outputs: &[&Path],
    global: &Global,
) -> Outcome<FittedTable> {
    outputs::check(outputs.iter().copied(), paths.iter().map(PathBuf::as_path), global)?;
    let Moments { fit, schema, about } = merge::all(paths, global)?;
    let mut schema = schema.ok_or_else(no_rows)?;
    merge::check_options(data, encoder, &fit, &schema)?;
    let mut params = fit.params().clone();
    params.ridge = match encoder.ridge {
        None => params.ridge,
        Some(crate::args::NumberOrAuto::Auto) => Ridge::Auto,
        Some(crate::args::NumberOrAuto::Number(ridge)) => Ridge::Fixed(ridge),
    };
    params.dimensions = encoder.dim.map(|dim| dim as usize).or(params.dimensions);
    schema.set_counts(about.tally.features(), &about.tally.labels());
    schema.check_whole(&about.said)?;
    let fitted = {
        let _spinner = Spinner::new("solving", global.quiet);
        fit.with(&params)?.finish()?
    };
    schema.set_spreads(fitted.spreads())?;
    let mut remarks = remarks(&fitted, encoder)?;
    remarks.extend(flat_warning(&schema, fitted.spreads()).map(Remark::Warning));
    remarks.extend(schema.notes().into_iter().map(Remark::Note));
    fitted.reduced()?;
    let shared = shared(&schema);
    let given = Given::Moments(paths.to_vec(), about.origin);
    let public_landmarks = about.public_landmarks;
    Ok(FittedTable { given, schema, fit: fitted, shared, remarks, public_landmarks })
}

fn no_rows() -> Failure {
    Failure::new(Exit::Data, "the files of moments have no rows")
}

/// An audit needs rows.
pub fn no_audit(files: &FilesOrMoments, audit: bool) -> Outcome {
    match audit && !files.moments.is_empty() {
        true => Err(Failure::usage("--audit needs rows: --moments has sums only")
            .hint("leave it out; `sarl audit` tries attackers on rows that were not fitted on")),
        false => Ok(()),
    }
}
