//! The known data sets: where each comes from, under which licence, and where it is kept.
//!
//! Files live in one folder for each data set. The folders are looked for in
//! `SARL_DATA`, in `./data`, and in the user's data folder (`~/.local/share/sarl` and
//! its like on other systems), and fetched into the first of `SARL_DATA` and the
//! user's data folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::atomic::{AtomicFile, create_folder};
use crate::error::{DataError, Result};

/// A data set that the examples and the reproduction use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Its name, which is also the name of its folder.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The official page.
    pub source: &'static str,
    /// The licence or terms.
    pub licence: &'static str,
    /// The files that belong to it.
    pub files: &'static [DatasetFile],
}

/// A file of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetFile {
    /// Its name in the folder of the data set.
    pub name: &'static str,
    /// Where it can be fetched, or none if it must be got or made by hand.
    pub url: Option<&'static str>,
}

const fn fetched(name: &'static str, url: &'static str) -> DatasetFile {
    DatasetFile { name, url: Some(url) }
}

const fn by_hand(name: &'static str) -> DatasetFile {
    DatasetFile { name, url: None }
}

const DATASETS: &[Dataset] = &[
    Dataset {
        name: "gaussian",
        description: "the paper's mixture of four Gaussians, 4000 + 1000 rows of 3 features",
        source: "https://github.com/human-analysis/Kernel-ARL",
        licence: "made by the paper's authors; `sarl demo` draws an equivalent sample",
        files: &[by_hand("train.npz"), by_hand("test.npz")],
    },
    Dataset {
        name: "adult",
        description: "UCI Adult: census income, 32,561 + 16,281 rows of 14 features",
        source: "https://archive.ics.uci.edu/dataset/2/adult",
        licence: "CC BY 4.0",
        files: &[
            fetched(
                "adult.data",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
            ),
            fetched(
                "adult.test",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
            ),
        ],
    },
    Dataset {
        name: "german",
        description: "UCI German credit, 1000 rows of 20 features (24 in the numeric form)",
        source: "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
        licence: "CC BY 4.0",
        files: &[
            fetched(
                "german.data",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
            ),
            fetched(
                "german.data-numeric",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data-numeric",
            ),
        ],
    },
    Dataset {
        name: "yaleb",
        description: "Extended Yale B: 38 people under 5 light directions, 190 + 1096 pictures of 504 pixels",
        source: "http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
        licence: "free for research",
        files: &[by_hand("train.npz"), by_hand("test.npz")],
    },
    Dataset {
        name: "cifar100",
        description: "CIFAR-100: 50,000 + 10,000 pictures in 100 classes; the .npz hold ResNet-110 features of them",
        source: "https://www.cs.toronto.edu/~kriz/cifar.html",
        licence: "free for research, cite Krizhevsky (2009)",
        files: &[
            fetched(
                "cifar-100-binary.tar.gz",
                "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
            ),
            by_hand("train.npz"),
            by_hand("test.npz"),
        ],
    },
    Dataset {
        name: "acs",
        description: "ACSIncome 2018: US census microdata, 1.4 million rows, 10 features, income as target",
        source: "https://www.census.gov/programs-surveys/acs/microdata.html",
        licence: "public, US Census Bureau's terms",
        files: &[by_hand("acs_income_2018.parquet")],
    },
];

/// The known data sets.
pub fn datasets() -> &'static [Dataset] {
    DATASETS
}

/// The data set of a name.
pub fn dataset(name: &str) -> Result<&'static Dataset> {
    DATASETS.iter().find(|d| d.name == name).ok_or_else(|| DataError::UnknownDataset {
        name: name.to_owned(),
        known: DATASETS.iter().map(|d| d.name.to_owned()).collect(),
    })
}

/// The folders in which data sets are looked for, first come first served.
pub fn data_folders() -> Vec<PathBuf> {
    let chosen = env::var_os("SARL_DATA").filter(|v| !v.is_empty()).map(PathBuf::from);
    chosen.into_iter().chain([PathBuf::from("data")]).chain(user_folder()).collect()
}

/// The folder into which data sets are fetched.
pub fn fetch_folder() -> PathBuf {
    let chosen = env::var_os("SARL_DATA").filter(|v| !v.is_empty()).map(PathBuf::from);
    chosen.or_else(user_folder).unwrap_or_else(|| PathBuf::from("data"))
}

fn user_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|h| h.join("Library/Application Support"))
    } else {
        variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|h| h.join(".local/share")))
    };
    base.map(|b| b.join("sarl"))
}

impl Dataset {
    /// Where a file of this data set is, if it is anywhere.
    pub fn find(&self, file: &str) -> Option<PathBuf> {
        data_folders().into_iter().map(|f| f.join(self.name).join(file)).find(|p| p.is_file())
    }

    /// Fetches the files that are not there yet, with `curl`; returns where they all are.
    pub fn fetch(&self) -> Result<Vec<PathBuf>> {
        let folder = fetch_folder().join(self.name);
        self.files
            .iter()
            .map(|file| self.find(file.name).map_or_else(|| self.get(file, &folder), Ok))
            .collect()
    }

    fn get(&self, file: &DatasetFile, folder: &Path) -> Result<PathBuf> {
        let failed = |url: &str, reason: String| DataError::Fetch {
            url: url.to_owned(),
            folder: folder.to_owned(),
            reason,
        };
        let url = file.url.ok_or_else(|| {
            failed(self.source, format!("`{}` is not offered for download as it is", file.name))
        })?;
        create_folder(folder)?;
        let path = folder.join(file.name);
        let target = AtomicFile::create(&path)?;
        let output = target.try_clone().map_err(|e| target.error(e))?;
        let run = Command::new("curl")
            .args([
                "--fail",
                "--location",
                "--silent",
                "--show-error",
                "--max-time",
                "600",
                "--",
                url,
            ])
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::piped())
            .output();
        let run = run.map_err(|e| failed(url, format!("cannot run curl: {e}")))?;
        if !run.status.success() {
            let said = String::from_utf8_lossy(&run.stderr);
            return Err(failed(url, said.lines().last().unwrap_or("curl failed").to_owned()));
        }
        target.commit()?;
        Ok(path)
    }
}
