//! The tables of the experiment, parted by what their rows serve for.

use std::path::Path;

use faer::{Mat, MatRef};
use sarl::cells::Part;
use sarl::{Block, Layout, Role};
use sarl_data::{BlockOptions, DataBlock, LabelColumn, Source};
use sarl_lab::Watch;
use sarl_rivals::fare;

use crate::tables::{complete, learn};
use crate::{Error, Result};

/// Rows that are handed over at once.
const ROWS: usize = 1 << 14;

/// A table and what to do with it.
pub struct Problem {
    pub name: &'static str,
    pub dataset: &'static str,
    pub file: &'static str,
    pub target: &'static str,
    pub sensitive: &'static str,
    pub categorical: &'static [&'static str],
    pub kernel: bool,
}

const ADULT: Problem = Problem {
    name: "Adult, sex, linear",
    dataset: "adult",
    file: "train.csv",
    target: "income",
    sensitive: "sex",
    categorical: &[],
    kernel: false,
};
const ACS: Problem = Problem {
    name: "ACSIncome 2018, sex",
    dataset: "acs",
    file: "acs_income_2018.parquet",
    target: "PINCP",
    sensitive: "SEX",
    categorical: &["COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "RAC1P"],
    kernel: false,
};
pub const PROBLEMS: [Problem; 4] = [
    ADULT,
    Problem { name: "Adult, sex, kernel", kernel: true, ..ADULT },
    ACS,
    Problem { name: "ACSIncome 2018, race", sensitive: "RAC1P", ..ACS },
];

/// Rows of a problem that serve for the same.
#[derive(Default)]
pub struct Rows {
    /// Numbers, row by row.
    dense: Vec<f64>,
    /// The codes of each category.
    codes: Vec<Vec<u32>>,
    /// Of the target and of the sensitive attribute.
    labels: [Vec<u32>; 2],
}

/// A problem with its rows.
pub struct Parted {
    names: [&'static str; 2],
    /// Classes of the target and of the sensitive attribute.
    classes: [usize; 2],
    /// Numbers of a row.
    width: usize,
    /// Values of each category.
    categories: Vec<usize>,
    /// Fit, choose, certify.
    pub parts: [Rows; 3],
}

impl Rows {
    pub fn count(&self) -> usize {
        self.labels[0].len()
    }

    /// The codes of a label.
    pub fn label(&self, label: usize) -> &[u32] {
        &self.labels[label]
    }

    /// Takes some rows of a block in.
    fn add(&mut self, block: &DataBlock, labels: [&[u32]; 2], rows: &[usize]) {
        let width = block.dense.len().checked_div(block.rows).unwrap_or(0);
        for &i in rows {
            self.dense.extend_from_slice(&block.dense[i * width..][..width]);
        }
        self.codes.resize(block.codes.len(), Vec::new());
        for (to, column) in self.codes.iter_mut().zip(&block.codes) {
            to.extend(rows.iter().map(|&i| column.codes[i]));
        }
        for (to, codes) in self.labels.iter_mut().zip(labels) {
            to.extend(rows.iter().map(|&i| codes[i]));
        }
    }

    /// Hands them over, some at a time.
    pub fn each(
        &self,
        watch: &dyn Watch,
        mut work: impl FnMut(&Block<'_, f64>) -> sarl::Result<()>,
    ) -> Result<()> {
        let width = self.dense.len().checked_div(self.count()).unwrap_or(0);
        for start in (0..self.count()).step_by(ROWS) {
            watch.check()?;
            let rows = start..(start + ROWS).min(self.count());
            let dense = &self.dense[rows.start * width..rows.end * width];
            let mut block = Block::new(MatRef::from_row_major_slice(dense, rows.len(), width));
            for codes in &self.codes {
                block = block.coded(&codes[rows.clone()]);
            }
            for codes in &self.labels {
                block = block.class(&codes[rows.clone()]);
            }
            work(&block)?;
        }
        Ok(())
    }
}

impl Parted {
    pub fn read(path: &Path, problem: &Problem, seed: u64, watch: &dyn Watch) -> Result<Self> {
        let mut request = complete(problem.target, &format!("{}:class", problem.sensitive))?;
        let hidden = |name: &&&str| **name != problem.sensitive;
        let categorical = problem.categorical.iter().filter(hidden);
        request.categorical = categorical.map(|name| (*name).to_owned()).collect();
        request.max_categories = Some(1000);
        let source = Source::open(&[path])?.with_threads(rayon::current_num_threads());
        let schema = learn(&source, &request)?;
        let mut parted = Parted {
            names: [problem.target, problem.sensitive],
            classes: [0; 2],
            width: schema.dense_width(),
            categories: Vec::new(),
            parts: Default::default(),
        };
        let mut seen = 0;
        for block in source.blocks(&schema, &BlockOptions::default())? {
            watch.check()?;
            let block = block?;
            let (
                Some(LabelColumn::Class { classes: kept, codes: y }),
                Some(LabelColumn::Class { classes: hidden, codes: s }),
            ) = (block.targets.first(), block.sensitives.first())
            else {
                return Err(Error::NotClasses { path: path.to_owned() });
            };
            parted.classes = [*kept, *hidden];
            parted.categories = block.codes.iter().map(|c| c.categories).collect();
            for (part, to) in Part::EACH.into_iter().zip(&mut parted.parts) {
                to.add(&block, [y, s], &part.among(seen, block.rows, seed));
            }
            seen += block.rows as u64;
        }
        Ok(parted)
    }

    /// What the columns of its rows are.
    pub fn layout(&self) -> Layout {
        Layout::dense(self.width)
            .coded(&self.categories)
            .class(self.names[0], Role::Target, self.classes[0])
            .class(self.names[1], Role::Sensitive, self.classes[1])
    }

    /// The rows of each part.
    pub fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|part| self.parts[part].count())
    }

    /// The number of values of each category.
    pub fn categories(&self) -> &[usize] {
        &self.categories
    }

    /// A label of the rows of the fit, and its classes.
    pub fn label(&self, label: usize) -> fare::Codes<'_> {
        (self.parts[0].label(label), self.classes[label])
    }

    /// The features for trees: numbers, then the codes of each category.
    pub fn columns(&self, part: usize) -> Mat<f64> {
        let rows = &self.parts[part];
        Mat::from_fn(rows.count(), self.width + rows.codes.len(), |i, j| {
            match j.checked_sub(self.width) {
                None => rows.dense[i * self.width + j],
                Some(j) => f64::from(rows.codes[j][i]),
            }
        })
    }
}
