//! Where data sets are looked for, and where they are put.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::create_folder;
use crate::error::{DataError, Result};

/// The folders that hold data sets, each in a folder of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder chosen with `SARL_DATA`: looked into first, and fetched into.
    pub chosen: Option<PathBuf>,
    /// Folders that are looked into.
    pub near: Vec<PathBuf>,
    /// The user's data folder: looked into last, and fetched into if no other is chosen or
    /// the chosen one cannot be written.
    pub user: Option<PathBuf>,
}

impl Places {
    /// Those of the environment: `SARL_DATA`, `./data`, `../shared/data`, and the user's
    /// data folder.
    pub fn from_env() -> Self {
        Places {
            chosen: variable("SARL_DATA"),
            near: vec![PathBuf::from("data"), PathBuf::from("../shared/data")],
            user: user_folder(),
        }
    }

    /// The folders that are looked into, first come first served.
    pub fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.chosen.iter().chain(&self.near).chain(&self.user)
    }

    /// The folder that is fetched into.
    pub fn target(&self) -> PathBuf {
        let target = self.chosen.clone().or_else(|| self.user.clone());
        target.unwrap_or_else(|| PathBuf::from("data"))
    }

    /// Where a file of a data set is, if it is anywhere.
    pub fn find(&self, dataset: &str, file: &str) -> Option<PathBuf> {
        self.folders().map(|f| f.join(dataset).join(file)).find(|p| p.is_file())
    }

    /// `wanted` if files can be written there, and the user's folder of the data set if not;
    /// made if it is not there.
    pub(crate) fn writable(&self, wanted: &Path, dataset: &str) -> Result<PathBuf> {
        let Err(error) = make_writable(wanted) else { return Ok(wanted.to_owned()) };
        let own = self.user.as_ref().map(|f| f.join(dataset)).filter(|f| f != wanted);
        let own = own.ok_or(error)?;
        make_writable(&own).map(|()| own)
    }
}

/// The folders in which data sets are looked for, first come first served.
pub fn data_folders() -> Vec<PathBuf> {
    Places::from_env().folders().cloned().collect()
}

/// The folder into which data sets are fetched.
pub fn fetch_folder() -> PathBuf {
    Places::from_env().target()
}

/// Makes a folder if it is not there; an error if no file can be written in it.
fn make_writable(folder: &Path) -> Result<()> {
    let fail = |kind: io::ErrorKind| DataError::write(folder, io::Error::from(kind));
    // A folder that is marked read-only stays as it is, even for a user who may do anything.
    let there = folder.ancestors().find_map(|f| fs::metadata(f).ok());
    if there.is_some_and(|m| m.permissions().readonly()) {
        return Err(fail(io::ErrorKind::PermissionDenied));
    }
    create_folder(folder)?;
    tempfile::tempfile_in(folder).map(drop).map_err(|e| fail(e.kind()))
}

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

fn user_folder() -> Option<PathBuf> {
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|h| h.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|h| h.join(".local/share")))
    };
    base.map(|b| b.join("sarl"))
}
