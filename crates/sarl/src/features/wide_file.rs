//! Rows that are held, as bytes.

use std::collections::BTreeMap;

use faer::MatRef;
use serde::{Deserialize, Serialize};

use super::wide::{HeldLabel, Wide};
use crate::container::{Reader, Writer};
use crate::moments::{Block, FoldBy, LabelBlock, Layout, MomentsOptions};
use crate::{Error, Result};

const KIND: &str = "rows";
const VERSION: u32 = 1;

/// The halves of what folds depend on: files hold doubles, which no 64 bits fit into.
const HIGH: &str = "hashes.high";
const LOW: &str = "hashes.low";

#[derive(Serialize, Deserialize)]
struct Description {
    layout: Layout,
    options: MomentsOptions,
    rows: usize,
    weighted: bool,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Wide {
    /// All rows, in the safetensors format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        writer.matrix("features", self.rows.dense());
        for (g, codes) in self.rows.codes.iter().enumerate() {
            writer.vector(&format!("codes.{g}"), &numbers(codes));
        }
        for (l, label) in self.labels.iter().enumerate() {
            match label {
                HeldLabel::Class(codes) => writer.vector(&format!("label.{l}"), &numbers(codes)),
                HeldLabel::Number(values, _) => writer.vector(&format!("label.{l}"), values),
            }
        }
        if let Some(weights) = self.rows.weights() {
            writer.vector("weights", weights);
        }
        if self.folds_follow_rows() {
            let half = |shift: u32| -> Vec<f64> {
                self.hashes.iter().map(|h| f64::from((h >> shift) as u32)).collect()
            };
            writer.vector(HIGH, &half(32));
            writer.vector(LOW, &half(0));
        }
        let description = Description {
            layout: self.layout.clone(),
            options: self.options,
            rows: self.rows.count(),
            weighted: self.rows.weights().is_some(),
            extra: self.extra.clone(),
        };
        writer.finish(KIND, VERSION, &description)
    }

    /// The inverse of [`Wide::to_bytes`], with everything checked as if it were pushed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION..=VERSION)?;
        let Description { layout, options, rows, weighted, extra } = description;
        let described = |e: Error| reader.problem(format!("the description is wrong: {e}"));
        let mut wide = Wide::new(layout, options, 0).map_err(described)?;
        let features = reader.matrix("features", rows, wide.layout.dense_features())?;
        let classes = |name: String| -> Result<Vec<u32>> {
            let found = reader.vector(&name, rows)?;
            let whole = |v: &f64| *v >= 0.0 && *v <= f64::from(u32::MAX) && v.fract() == 0.0;
            reader.require(found.iter().all(whole), format!("`{name}` holds no classes"))?;
            Ok(found.iter().map(|&v| v as u32).collect())
        };
        let groups = wide.layout.categories().len();
        let codes = (0..groups).map(|g| classes(format!("codes.{g}")));
        let codes = codes.collect::<Result<Vec<_>>>()?;
        let mut labels = Vec::new();
        for (l, label) in wide.labels.iter().enumerate() {
            let name = format!("label.{l}");
            labels.push(match label {
                HeldLabel::Class(_) => HeldLabel::Class(classes(name)?),
                HeldLabel::Number(_, width) => {
                    let length = rows.checked_mul(*width);
                    let length = length.ok_or_else(|| reader.problem("its labels do not fit"))?;
                    HeldLabel::Number(reader.vector(&name, length)?, *width)
                }
            });
        }
        let weights = if weighted { Some(reader.vector("weights", rows)?) } else { None };
        let by_position = options.fold_by == FoldBy::Position;
        let halves = |name: &str| if by_position { Ok(Vec::new()) } else { classes(name.into()) };
        let (high, low) = (halves(HIGH)?, halves(LOW)?);
        let whole = |(high, low): (&u32, &u32)| (u64::from(*high) << 32) | u64::from(*low);
        let hashes: Vec<u64> = high.iter().zip(&low).map(whole).collect();
        let mut block = Block::new(features.as_ref());
        block.hashes = Some(&hashes);
        block.codes = codes.iter().map(Vec::as_slice).collect();
        block.labels = labels.iter().map(|label| label.block(rows)).collect();
        block.weights = weights.as_deref();
        wide.push(&block).map_err(described)?;
        wide.extra = extra;
        Ok(wide)
    }
}

impl HeldLabel {
    pub(super) fn block(&self, rows: usize) -> LabelBlock<'_> {
        match self {
            HeldLabel::Class(codes) => LabelBlock::Class(codes),
            HeldLabel::Number(values, width) => {
                LabelBlock::Number(MatRef::from_row_major_slice(values, rows, *width))
            }
        }
    }
}

/// Codes as the files hold numbers.
fn numbers(codes: &[u32]) -> Vec<f64> {
    codes.iter().map(|&c| f64::from(c)).collect()
}
