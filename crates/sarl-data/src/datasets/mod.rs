//! The known data sets: where each comes from, under which licence, and where it is kept.
//!
//! Files live in one folder for each data set. The folders are looked for in
//! `SARL_DATA`, in `./data`, in `../shared/data`, and in the user's data folder
//! (`~/.local/share/sarl` and its like on other systems), and fetched into the first of
//! `SARL_DATA` and the user's data folder that can be written.
//!
//! [`Dataset::fetch`] downloads what can be downloaded, checks it against the size and the
//! SHA-256 of this table, and makes tables with a header of raw files that have none.

mod client;
mod download;
mod fetch;
mod places;
mod tidy;

pub use download::{DownloadOptions, Remote, Transfer, download};
pub use fetch::Fetched;
pub use places::{Places, data_folders, fetch_folder};
pub use tidy::{RawForm, tidy};

use std::path::PathBuf;

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
    /// The tables that are made of them.
    pub tables: &'static [DatasetTable],
    /// What to do about files that cannot be downloaded; `as FILES in FOLDER` follows.
    pub advice: Option<&'static str>,
}

/// A file of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetFile {
    /// Its name in the folder of the data set.
    pub name: &'static str,
    /// Where it can be fetched, or none if it must be got or made by hand.
    pub remote: Option<Remote<'static>>,
}

/// A table with a header that is made of a raw file without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetTable {
    /// Its name in the folder of the data set.
    pub name: &'static str,
    /// The raw file.
    pub from: &'static str,
    /// What the raw file looks like.
    pub form: RawForm,
}

const fn fetched(
    name: &'static str,
    url: &'static str,
    bytes: u64,
    sha256: &'static str,
) -> DatasetFile {
    DatasetFile { name, remote: Some(Remote { url, bytes, sha256 }) }
}

const fn by_hand(name: &'static str) -> DatasetFile {
    DatasetFile { name, remote: None }
}

const fn table(name: &'static str, from: &'static str, form: RawForm) -> DatasetTable {
    DatasetTable { name, from, form }
}

const DATASETS: &[Dataset] = &[
    Dataset {
        name: "gaussian",
        description: "the paper's mixture of four Gaussians, 4000 + 1000 rows of 3 features",
        source: "https://github.com/human-analysis/Kernel-ARL",
        licence: "made by the paper's authors; `sarl demo` draws an equivalent sample",
        files: &[by_hand("train.npz"), by_hand("test.npz")],
        tables: &[],
        advice: Some(
            "`sarl demo` draws such a sample; for the authors' own, go to \
             https://github.com/human-analysis/Kernel-ARL and save arrays X, y (shape) and \
             s (colour)",
        ),
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
                3_974_305,
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            fetched(
                "adult.test",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.test",
                2_003_153,
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
        ],
        tables: &[
            table("train.csv", "adult.data", RawForm::Adult),
            table("test.csv", "adult.test", RawForm::Adult),
        ],
        advice: None,
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
                79_793,
                "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
            ),
            fetched(
                "german.data-numeric",
                "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data-numeric",
                102_000,
                "2752b044394958ab6dd193a0b56ca0f0b3a2d8bc7cb8c008e35a5e84bbec02f8",
            ),
        ],
        tables: &[table("german.csv", "german.data", RawForm::German)],
        advice: None,
    },
    Dataset {
        name: "yaleb",
        description: "Extended Yale B: 38 people under 5 light directions, 190 + 1096 pictures of 504 pixels",
        source: "http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
        licence: "free for research",
        files: &[by_hand("train.npz"), by_hand("test.npz")],
        tables: &[],
        advice: Some(
            "get the pictures at http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html, \
             shrink those of 5 light directions to 24 × 21 pixels, and save arrays \
             X (pixels in [0, 1]), y (person) and s (light direction)",
        ),
    },
    Dataset {
        name: "cifar100",
        description: "CIFAR-100: 50,000 + 10,000 pictures in 100 classes; the .npz hold ResNet-110 features of them",
        source: "https://www.cs.toronto.edu/~kriz/cifar.html",
        licence: "free for research, cite Krizhevsky (2009)",
        files: &[
            // As in TensorFlow Datasets' url_checksums/cifar100.txt.
            fetched(
                "cifar-100-binary.tar.gz",
                "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                168_513_733,
                "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            ),
            by_hand("train.npz"),
            by_hand("test.npz"),
        ],
        tables: &[],
        advice: Some(
            "sarl works on features, not on pictures: make them with a ResNet-110 and save \
             arrays X (features), y (coarse class) and s (fine class)",
        ),
    },
    Dataset {
        name: "acs",
        description: "ACSIncome 2018: US census microdata, 1.4 million rows, 10 features, income as target",
        source: "https://www.census.gov/programs-surveys/acs/microdata.html",
        licence: "public, US Census Bureau's terms",
        files: &[by_hand("acs_income_2018.parquet")],
        tables: &[],
        advice: Some(
            "get the person records of 2018 at \
             https://www.census.gov/programs-surveys/acs/microdata.html (the Python package \
             folktables does) and save the ten columns of ACSIncome with PINCP and ST",
        ),
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

impl Dataset {
    /// Where a file or a table of this data set is, if it is anywhere in [`data_folders`].
    pub fn find(&self, file: &str) -> Option<PathBuf> {
        Places::from_env().find(self.name, file)
    }
}
