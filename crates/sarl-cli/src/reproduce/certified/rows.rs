//! The tables of the experiment, parted by what their rows serve for.

use std::path::Path;

use faer::Mat;
use sarl::cells::Part;
use sarl_data::{BlockOptions, DataBlock, FeatureValues, LabelColumn, Schema, Source};

use crate::data::with_block;
use crate::failure::Outcome;
use crate::progress;
use crate::reproduce::sample::complete;

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

const ACS: &[&str] = &["COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "RAC1P"];

pub const PROBLEMS: [Problem; 4] = [
    Problem {
        name: "Adult, sex, linear",
        dataset: "adult",
        file: "train.csv",
        target: "income",
        sensitive: "sex",
        categorical: &[],
        kernel: false,
    },
    Problem {
        name: "Adult, sex, kernel",
        dataset: "adult",
        file: "train.csv",
        target: "income",
        sensitive: "sex",
        categorical: &[],
        kernel: true,
    },
    Problem {
        name: "ACSIncome 2018, sex",
        dataset: "acs",
        file: "acs_income_2018.parquet",
        target: "PINCP",
        sensitive: "SEX",
        categorical: ACS,
        kernel: false,
    },
    Problem {
        name: "ACSIncome 2018, race",
        dataset: "acs",
        file: "acs_income_2018.parquet",
        target: "PINCP",
        sensitive: "RAC1P",
        categorical: ACS,
        kernel: false,
    },
];

/// The rows of a problem, by what they serve for.
pub struct Rows {
    pub schema: Schema,
    /// Fit, choose, certify.
    parts: [Vec<DataBlock>; 3],
}

impl Rows {
    pub fn read(path: &Path, problem: &Problem, seed: u64) -> Outcome<Self> {
        let mut request = complete(problem.target, &format!("{}:class", problem.sensitive))?;
        let hidden = |name: &&&str| **name != problem.sensitive;
        let categorical = problem.categorical.iter().filter(hidden);
        request.categorical = categorical.map(|name| (*name).to_owned()).collect();
        request.max_categories = Some(1000);
        let source = Source::open(&[path])?.with_threads(rayon::current_num_threads());
        let go = &mut |_| std::ops::ControlFlow::Continue(());
        let schema = Schema::learn(&source, &request, go)?;
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        let mut seen = 0;
        for block in source.blocks(&schema, &BlockOptions::default())? {
            progress::check()?;
            let block = block?;
            for (part, to) in Part::EACH.into_iter().zip(&mut parts) {
                to.push(block.select(&part.among(seen, block.rows, seed)));
            }
            seen += block.rows as u64;
        }
        Ok(Rows { schema, parts })
    }

    pub fn count(&self, part: usize) -> u64 {
        self.parts[part].iter().map(|b| b.rows as u64).sum()
    }

    pub fn each(
        &self,
        part: usize,
        mut work: impl FnMut(&sarl::Block<'_, f64>) -> Outcome,
    ) -> Outcome {
        self.parts[part].iter().try_for_each(|block| {
            progress::check()?;
            with_block(block, &mut work)
        })
    }

    /// The codes of the target and of the sensitive attribute, with their classes.
    pub fn labels(&self, part: usize) -> [(Vec<u32>, usize); 2] {
        let of = |pick: fn(&DataBlock) -> Option<&LabelColumn>| {
            let (mut all, mut count) = (Vec::new(), 0);
            for column in self.parts[part].iter().filter_map(pick) {
                if let LabelColumn::Class { classes, codes } = column {
                    all.extend_from_slice(codes);
                    count = *classes;
                }
            }
            (all, count)
        };
        [of(|b| b.targets.first()), of(|b| b.sensitives.first())]
    }

    /// The features for trees: numbers, and for each category the share of the target's last class among the
    /// rows of the fit.
    pub fn ordered(&self, part: usize) -> Mat<f64> {
        let categories = self.schema.features().iter().filter_map(|f| match &f.values {
            FeatureValues::Category { values, .. } => Some(values.len()),
            FeatureValues::Number { .. } => None,
        });
        let mut shares: Vec<Vec<[f64; 2]>> = categories.map(|n| vec![[0.0; 2]; n]).collect();
        for block in &self.parts[0] {
            let Some(LabelColumn::Class { classes, codes: y }) = block.targets.first() else {
                continue;
            };
            for (column, shares) in block.codes.iter().zip(&mut shares) {
                for (&code, &class) in column.codes.iter().zip(y) {
                    if let Some([rows, high]) = shares.get_mut(code as usize) {
                        *rows += 1.0;
                        *high += f64::from(u8::from(class as usize + 1 == *classes));
                    }
                }
            }
        }
        let dense = self.schema.dense_width();
        let mut x = Mat::zeros(self.count(part) as usize, dense + shares.len());
        let mut first = 0;
        for block in &self.parts[part] {
            for i in 0..block.rows {
                for j in 0..dense {
                    x[(first + i, j)] = block.dense[i * dense + j];
                }
                for (j, (column, shares)) in block.codes.iter().zip(&shares).enumerate() {
                    let found = shares.get(column.codes[i] as usize);
                    x[(first + i, dense + j)] = found.map_or(0.0, |[n, high]| high / n.max(1.0));
                }
            }
            first += block.rows;
        }
        x
    }
}
