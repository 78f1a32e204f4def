//! Moments as bytes, so that a shard can travel.

use std::collections::BTreeMap;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::lane::Lane;
use super::sums::Sums;
use super::{Layout, Moments, MomentsOptions};
use crate::container::{Reader, Writer};
use crate::{Error, Result};

const KIND: &str = "moments";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Description {
    layout: Layout,
    options: MomentsOptions,
    seen: u64,
    /// Rows and weight of each fold.
    folds: Vec<(u64, f64)>,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Moments {
    /// All sums, in the safetensors format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        let mut folds = Vec::new();
        writer.vector("shift", &self.shift);
        for i in 0..self.options.folds {
            let sums = self.fold(i);
            folds.push((sums.rows, sums.weight));
            if !self.lanes.is_empty() {
                write_sums(&mut writer, i, &sums);
            }
        }
        let (layout, options, seen) = (self.layout.clone(), self.options, self.seen);
        let extra = self.extra.clone();
        writer.finish(KIND, VERSION, &Description { layout, options, seen, folds, extra })
    }

    /// The inverse of [`Moments::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION)?;
        let Description { layout, options, seen, folds, extra } = description;
        let described = |e: Error| reader.problem(format!("the description is wrong: {e}"));
        let mut moments = Moments::new(layout, options).map_err(described)?;
        (moments.seen, moments.extra) = (seen, extra);
        reader.require(folds.len() == options.folds, "the folds do not match the options")?;
        if folds.iter().all(|f| f.0 == 0) {
            return Ok(moments);
        }
        moments.shift = reader.vector("shift", moments.layout.columns())?;
        let mut sums = Vec::with_capacity(folds.len());
        for (i, &(rows, weight)) in folds.iter().enumerate() {
            let valid = weight.is_finite() && weight >= 0.0 && rows <= seen;
            reader.require(valid, format!("fold {i} has {rows} rows of weight {weight}"))?;
            sums.push(read_sums(&reader, i, &moments.layout, rows, weight)?);
        }
        let mut lane = Lane::new(&moments.layout, options.folds, options.precision);
        lane.folds = sums;
        moments.lanes.push(lane);
        Ok(moments)
    }
}

fn write_sums(writer: &mut Writer, fold: usize, sums: &Sums) {
    writer.matrix(&format!("{fold}.scatter"), sums.scatter());
    if let Some(sum) = sums.explicit_sum() {
        writer.vector(&format!("{fold}.sum"), sum);
    }
    for (g, (table, count)) in sums.tables.iter().zip(&sums.counts).enumerate() {
        writer.matrix(&format!("{fold}.table.{g}"), table.as_ref());
        writer.vector(&format!("{fold}.count.{g}"), count);
    }
    for (g, pair) in sums.pairs.iter().enumerate() {
        writer.matrix(&format!("{fold}.pair.{g}"), pair.as_ref());
    }
}

fn read_sums(
    reader: &Reader<'_>,
    fold: usize,
    layout: &Layout,
    rows: u64,
    weight: f64,
) -> Result<Sums> {
    let (columns, groups) = (layout.columns(), layout.groups());
    let scatter = reader.matrix(&format!("{fold}.scatter"), columns, columns)?;
    let mut tables = Vec::new();
    let mut counts = Vec::new();
    for (g, &classes) in groups.iter().enumerate() {
        tables.push(reader.matrix(&format!("{fold}.table.{g}"), columns, classes)?);
        counts.push(reader.vector(&format!("{fold}.count.{g}"), classes)?);
    }
    let pairs: Vec<Mat<f64>> = layout
        .pairs()
        .iter()
        .enumerate()
        .map(|(i, &(a, b))| reader.matrix(&format!("{fold}.pair.{i}"), groups[a], groups[b]))
        .collect::<Result<_>>()?;
    // Only now, with every tensor there, is anything of the declared size allocated.
    let mut sums = Sums::new(layout);
    let sum = match sums.explicit_sum() {
        Some(_) => Some(reader.vector(&format!("{fold}.sum"), columns)?),
        None => None,
    };
    sums.restore(scatter.as_ref(), sum);
    (sums.rows, sums.weight) = (rows, weight);
    (sums.tables, sums.counts, sums.pairs) = (tables, counts, pairs);
    Ok(sums)
}
