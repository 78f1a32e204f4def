//! From a name to files and tables: what is not here is downloaded, what has no header gets one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::{Dataset, DatasetFile, DownloadOptions, Places, Transfer, download, tidy};
use crate::error::{DataError, Result};

/// What [`Dataset::fetch`] has found, downloaded and made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Where the files of the data set are, without those that are missing.
    pub files: Vec<PathBuf>,
    /// Where its tables are.
    pub tables: Vec<PathBuf>,
    /// The files that are not here and cannot be downloaded.
    pub missing: Vec<&'static str>,
    /// What to do about them.
    pub advice: Option<String>,
}

impl Dataset {
    /// Downloads the files that are not there yet, and makes the tables that are not. Files
    /// that are there are taken as they are. The callback is told how far each download is,
    /// and may stop it; it goes on from there the next time.
    ///
    /// A data set of which nothing can be downloaded is an error, unless it is all there.
    pub fn fetch(
        &self,
        places: &Places,
        progress: &mut dyn FnMut(&DatasetFile, Transfer) -> ControlFlow<()>,
    ) -> Result<Fetched> {
        let wanted = places.target().join(self.name);
        let mut fetched = Fetched::default();
        for file in self.files {
            if let Some(path) = places.find(self.name, file.name) {
                fetched.files.push(path);
            } else if let Some(remote) = &file.remote {
                let path = places.writable(&wanted, self.name)?.join(file.name);
                let options = DownloadOptions::default();
                download(remote, &path, &options, &mut |t| progress(file, t))?;
                fetched.files.push(path);
            } else {
                fetched.missing.push(file.name);
            }
        }
        if !fetched.missing.is_empty() {
            let files = fetched.missing.join(" and ");
            let advice = format!(
                "{} as {files} in {}",
                self.advice.unwrap_or("get it by hand and save it"),
                wanted.display()
            );
            if self.files.iter().all(|f| f.remote.is_none()) {
                return Err(DataError::ByHand { dataset: self.name.to_owned(), files, advice });
            }
            fetched.advice = Some(advice);
        }
        fetched.tables = self.tidy(places)?;
        Ok(fetched)
    }

    /// Makes the tables that are not there of the raw files that are, beside those or, where
    /// that cannot be written, in the user's data folder. Returns where the tables are.
    pub fn tidy(&self, places: &Places) -> Result<Vec<PathBuf>> {
        let mut tables = Vec::new();
        for table in self.tables {
            let made = places.find(self.name, table.name);
            let raw = places.find(self.name, table.from);
            match (made, raw) {
                (Some(path), _) => tables.push(path),
                (None, Some(raw)) => {
                    let beside = raw.parent().unwrap_or(Path::new("."));
                    let path = places.writable(beside, self.name)?.join(table.name);
                    tidy(table.form, &raw, &path)?;
                    tables.push(path);
                }
                (None, None) => {}
            }
        }
        Ok(tables)
    }
}
