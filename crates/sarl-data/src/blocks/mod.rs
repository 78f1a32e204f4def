//! The second pass: blocks of rows as numbers.

mod build;
mod coded;
mod dense;
mod plan;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

use arrow_array::RecordBatch;

use crate::ahead::Ahead;
use crate::cells::Keys;
use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::request::Missing;
use crate::schema::{Schema, UNSEEN};
use crate::source::Source;

/// Blocks made ahead of the one that is being used.
const DEPTH: usize = 2;
/// No block has more rows than this.
const MOST_ROWS: usize = 1 << 20;
/// And never more numbers than this, where a single row has fewer.
const MOST_NUMBERS: usize = 1 << 24;

/// What to do with a category that the schema does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// It is an error that names the row and the category.
    #[default]
    Error,
    /// Its code is [`UNSEEN`] and its one-hot columns are all zero. A label with an
    /// unknown class stays an error.
    Ignore,
}

/// Whether the label and weight columns are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// They are, and must be there.
    #[default]
    Read,
    /// They are not, and need not be there.
    Skip,
}

/// What becomes of rows with a missing value where the policy is [`Missing::Drop`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// They are left out.
    #[default]
    LeaveOut,
    /// They stay in their place, with their missing features filled in, and
    /// [`DataBlock::gaps`] tells which they are.
    Mark,
}

/// How to read blocks.
#[derive(Clone, Debug)]
pub struct BlockOptions {
    /// Rows of the files that make one block.
    pub rows: usize,
    /// What to do with new categories.
    pub unseen: Unseen,
    /// Whether to read labels.
    pub labels: Labels,
    /// Columns to hand through as they are.
    pub keep: Vec<String>,
    /// What happens to missing values, where it is not what the schema says.
    pub missing: Option<Missing>,
    /// What becomes of rows that would be left out.
    pub gaps: Gaps,
}

impl Default for BlockOptions {
    fn default() -> Self {
        Self {
            rows: 8192,
            unseen: Unseen::default(),
            labels: Labels::default(),
            keep: Vec::new(),
            missing: None,
            gaps: Gaps::default(),
        }
    }
}

/// Some rows as numbers.
///
/// All blocks but the last stand for the same number of rows of the files, whatever
/// the files' own batches are; rows that are left out make a block shorter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataBlock {
    /// The row of the data set that comes first, counted from 0 over all files and
    /// with the rows that are left out.
    pub first_row: u64,
    /// The number of rows.
    pub rows: usize,
    /// The numeric features, row by row: `rows` times the schema's
    /// [`dense_width`](Schema::dense_width).
    pub dense: Vec<f64>,
    /// The categorical features.
    pub codes: Vec<CodeColumn>,
    /// The targets.
    pub targets: Vec<LabelColumn>,
    /// The sensitive columns.
    pub sensitives: Vec<LabelColumn>,
    /// The weights, where there is such a column.
    pub weights: Option<Vec<f64>>,
    /// The columns handed through, where some were asked for.
    pub keep: Option<RecordBatch>,
    /// The rows of this block that would have been left out, with [`Gaps::Mark`].
    pub gaps: Vec<usize>,
}

/// A categorical feature: the one-hot row of a code is zero but for a one at its place,
/// and all zero for [`UNSEEN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeColumn {
    /// The number of categories.
    pub categories: usize,
    /// A code for each row.
    pub codes: Vec<u32>,
}

/// A label.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelColumn {
    /// Classes.
    Class {
        /// The number of classes.
        classes: usize,
        /// A code for each row, less than `classes`.
        codes: Vec<u32>,
    },
    /// Numbers, not scaled.
    Number(Vec<f64>),
    /// The numbers of several columns.
    Numbers {
        /// How many there are in each row.
        width: usize,
        /// Row by row.
        values: Vec<f64>,
    },
}

impl DataBlock {
    /// What the cells of the first column that is handed through say; nothing where they are missing
    /// or no texts, booleans or numbers.
    pub fn kept_texts(&self) -> Vec<Option<String>> {
        let column = self.keep.as_ref().and_then(|batch| batch.columns().first());
        match column.and_then(Keys::of) {
            Some(keys) => {
                let text = |row| Some(keys.get(row, ColumnKind::Text)?.into_text());
                (0..keys.len()).map(text).collect()
            }
            None => vec![None; self.rows],
        }
    }

    /// Some of the rows, in the order given. Columns handed through and gaps are left behind.
    pub fn select(&self, rows: &[usize]) -> Self {
        fn pick<T: Copy>(from: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&i| from[i]).collect()
        }
        let width = self.dense.len().checked_div(self.rows).unwrap_or(0);
        let label = |column: &LabelColumn| match column {
            LabelColumn::Class { classes, codes } => {
                LabelColumn::Class { classes: *classes, codes: pick(codes, rows) }
            }
            LabelColumn::Number(values) => LabelColumn::Number(pick(values, rows)),
            LabelColumn::Numbers { width, values } => LabelColumn::Numbers {
                width: *width,
                values: rows
                    .iter()
                    .flat_map(|&i| &values[i * width..][..*width])
                    .copied()
                    .collect(),
            },
        };
        let codes = self.codes.iter().map(|column| CodeColumn {
            categories: column.categories,
            codes: pick(&column.codes, rows),
        });
        DataBlock {
            first_row: self.first_row,
            rows: rows.len(),
            dense: rows.iter().flat_map(|&i| &self.dense[i * width..][..width]).copied().collect(),
            codes: codes.collect(),
            targets: self.targets.iter().map(label).collect(),
            sensitives: self.sensitives.iter().map(label).collect(),
            weights: self.weights.as_ref().map(|weights| pick(weights, rows)),
            keep: None,
            gaps: Vec::new(),
        }
    }

    /// All features as one matrix, row by row: the dense columns, then the one-hot
    /// columns, as the schema's [`feature_names`](Schema::feature_names) calls them.
    pub fn densify(&self) -> Vec<f64> {
        let dense = self.dense.len().checked_div(self.rows).unwrap_or(0);
        let width = dense + self.codes.iter().map(|c| c.categories).sum::<usize>();
        let mut all = vec![0.0; self.rows * width];
        for (row, to) in all.chunks_exact_mut(width.max(1)).enumerate() {
            to[..dense].copy_from_slice(&self.dense[row * dense..(row + 1) * dense]);
            let mut start = dense;
            for column in &self.codes {
                let code = column.codes[row];
                if code != UNSEEN {
                    to[start + code as usize] = 1.0;
                }
                start += column.categories;
            }
        }
        all
    }
}

impl Source {
    /// The blocks of the data set, made on a thread of their own. Columns are found by
    /// name, in any order.
    ///
    /// Reading stops when the iterator is dropped. After an error it ends.
    pub fn blocks(&self, schema: &Schema, options: &BlockOptions) -> Result<Blocks> {
        let fitting = (MOST_NUMBERS / schema.features().len().max(1)).max(1);
        let rows = options.rows.clamp(1, MOST_ROWS).min(fitting);
        let (recycled, spare) = channel();
        let left_out = Arc::new(AtomicU64::new(0));
        let builder = build::Builder::new(self, schema, options, rows, spare, left_out.clone())?;
        Ok(Blocks { ahead: Ahead::spawn(DEPTH, builder), recycled, left_out })
    }
}

/// The blocks of a data set.
pub struct Blocks {
    ahead: Ahead<DataBlock>,
    recycled: Sender<Vec<f64>>,
    left_out: Arc<AtomicU64>,
}

impl Blocks {
    /// Takes a used block back, so that its memory serves for another. Worth its line in
    /// a loop over many rows; never necessary.
    pub fn recycle(&self, block: DataBlock) {
        // At the end of the data nobody wants it any more.
        let _ = self.recycled.send(block.dense);
    }

    /// The rows left out because of missing values: all of them once the iterator has ended.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

impl Iterator for Blocks {
    type Item = Result<DataBlock, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ahead.next()
    }
}
