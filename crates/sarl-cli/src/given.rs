//! Where the rows of a fit were: in files that can be read again, or in sums of them.

use std::path::PathBuf;

use sarl_data::Source;

use crate::failure::{Failure, Outcome};
use crate::inquiry;
use crate::provenance::Origin;

/// Where the rows of a fit were.
pub enum Given {
    /// The files that were read.
    Files(Source),
    /// Files of moments, and the files of rows that they are of.
    Moments(Vec<PathBuf>, Origin),
}

impl Given {
    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        match self {
            Given::Files(source) => inquiry::file_names(source),
            Given::Moments(paths, _) => inquiry::paths(paths),
        }
    }

    /// The rows, where they are here.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Given::Files(source) => Some(source),
            Given::Moments(..) => None,
        }
    }

    /// The rows, for what cannot do without.
    pub fn rows(&self, what: &str) -> Outcome<&Source> {
        self.source().ok_or_else(|| {
            Failure::usage(format!("{what} needs rows: --moments has sums only"))
                .hint("give DATA in place of --moments")
        })
    }

    /// What a model remembers of the files of rows.
    pub fn origin(&self) -> Outcome<Origin> {
        match self {
            Given::Files(source) => Origin::new(source.inputs()),
            Given::Moments(_, origin) => Ok(origin.clone()),
        }
    }
}
