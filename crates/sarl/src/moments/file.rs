//! Moments as bytes, so that a shard can travel.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::lane::Lane;
use super::sums::Sums;
use super::{Landmarks, Layout, Moments, MomentsOptions};
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
    noise: Vec<f64>,
    /// For each landmark the folds that know it, and the sum of the kernel over the rows.
    #[serde(default)]
    landmarks: Option<(Vec<Vec<bool>>, f64)>,
    #[serde(default)]
    extra: BTreeMap<String, String>,
}

impl Moments {
    /// All sums, in the safetensors format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check_settled()?;
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
        if let Some(landmarks) = &self.landmarks {
            writer.matrix("landmarks.factor", landmarks.factor.as_ref().as_ref());
        }
        let landmarks = self.landmarks.as_ref().map(|known| (known.met.clone(), known.size));
        let (noise, extra) = (self.noise.clone(), self.extra.clone());
        let description = Description { layout, options, seen, folds, noise, landmarks, extra };
        writer.finish(KIND, VERSION, &description)
    }

    /// The inverse of [`Moments::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, description): (_, Description) = Reader::open(bytes, KIND, VERSION..=VERSION)?;
        let Description { layout, options, seen, folds, noise, landmarks, extra } = description;
        let described = |e: Error| reader.problem(format!("the description is wrong: {e}"));
        let mut moments = Moments::new(layout, options).map_err(described)?;
        let sound = noise.is_empty() || noise.len() == moments.layout.features();
        reader.require(sound, "the errors of the features do not match the layout")?;
        (moments.seen, moments.noise, moments.extra) = (seen, noise, extra);
        moments.landmarks =
            landmarks.map(|known| read_landmarks(&reader, known, options)).transpose()?;
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
        moments.lanes = Arc::new(vec![lane]);
        Ok(moments)
    }
}

fn read_landmarks(
    reader: &Reader<'_>,
    (met, size): (Vec<Vec<bool>>, f64),
    options: MomentsOptions,
) -> Result<Landmarks> {
    let m = met.len();
    let factor = reader.matrix("landmarks.factor", m, m)?;
    let regular = (0..m).all(|i| factor[(i, i)] > 0.0);
    reader.require(regular, "`landmarks.factor` is singular")?;
    let fits = met.iter().all(|met| met.len() == options.folds);
    reader.require(fits, "the folds of the landmarks do not match the options")?;
    reader.require(size.is_finite() && size >= 0.0, format!("the kernel adds up to {size}"))?;
    Ok(Landmarks { factor: Arc::new(factor), met, size })
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
