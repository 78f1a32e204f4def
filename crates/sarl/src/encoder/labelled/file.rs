//! The files of erasures by known labels.

use faer::Mat;

use super::oracle::{About, Oracle};
use super::quadratic::Quadratic;
use crate::Result;
use crate::container::{Reader, Writer};
use crate::moments::{LabelKind, Role};

const ORACLE: &str = "oracle erasure";
const QUADRATIC: &str = "quadratic erasure";
const VERSION: u32 = 1;

/// Refuses figures that none could have, and labels that are not erased.
fn check(reader: &Reader<'_>, about: &About) -> Result<()> {
    let figures = [about.change, about.variance];
    let sound = figures.iter().all(|v| v.is_finite() && *v >= 0.0) && about.rows >= 2;
    reader.require(sound, "its figures are not those of an erasure")?;
    let plain = |l: &crate::moments::Label| {
        let kind = matches!(l.kind, LabelKind::Class { .. } | LabelKind::Number { .. });
        kind && l.role == Role::Sensitive && l.made.is_none()
    };
    let labels = !about.labels.is_empty() && about.labels.iter().all(plain);
    reader.require(labels, "its labels are none that are erased")
}

impl Oracle {
    /// A file of it. The same erasure is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        writer.vector("label_mean", &self.mean);
        writer.matrix("coefficients", self.coefficients.as_ref());
        writer.finish(ORACLE, VERSION, &self.about)
    }

    /// The inverse of [`Oracle::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, about): (_, About) = Reader::open(bytes, ORACLE, VERSION..=VERSION)?;
        check(&reader, &about)?;
        let widths = about.labels.iter().map(|l| l.width(0));
        let columns = widths.fold(0usize, usize::saturating_add);
        let coefficients = reader.any_matrix("coefficients")?;
        let fits = coefficients.nrows() == columns && coefficients.ncols() > 0;
        reader.require(fits, "its coefficients are not those of its labels")?;
        let mean = reader.vector("label_mean", columns)?;
        Ok(Oracle { mean, coefficients, about })
    }

    /// Whether a file says that it is one.
    pub fn is_file(bytes: &[u8]) -> bool {
        Reader::is_of_kind(bytes, ORACLE)
    }
}

impl Quadratic {
    /// A file of it. The same erasure is the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut writer = Writer::default();
        writer.vector("mean", &self.mean);
        for (k, class) in self.classes.iter().enumerate() {
            if let Some((mean, map)) = class {
                writer.vector(&format!("mean.{k}"), mean);
                writer.matrix(&format!("map.{k}"), map.as_ref());
            }
        }
        writer.finish(QUADRATIC, VERSION, &self.about)
    }

    /// The inverse of [`Quadratic::to_bytes`], with every size checked before it is believed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (reader, about): (_, About) = Reader::open(bytes, QUADRATIC, VERSION..=VERSION)?;
        check(&reader, &about)?;
        let count = match &about.labels[..] {
            [label] => match label.kind {
                LabelKind::Class { classes } => classes,
                _ => 0,
            },
            _ => 0,
        };
        // A file may say any number.
        reader.require(count <= 1 << 16, "it has too many classes")?;
        let known: Vec<usize> = (0..count).filter(|k| reader.has(&format!("map.{k}"))).collect();
        reader.require(known.len() >= 2, "it has no classes that were made equal")?;
        let maps = |k: &usize| reader.any_matrix(&format!("map.{k}"));
        let inputs = maps(&known[0])?.nrows();
        reader.require(inputs > 0, "it has no inputs")?;
        let mean = reader.vector("mean", inputs)?;
        let class = |k: usize| -> Result<Option<(Vec<f64>, Mat<f64>)>> {
            if !known.contains(&k) {
                return Ok(None);
            }
            let mean = reader.vector(&format!("mean.{k}"), inputs)?;
            Ok(Some((mean, reader.matrix(&format!("map.{k}"), inputs, inputs)?)))
        };
        let last = known.last().map_or(0, |k| k + 1);
        let mut classes = (0..last).map(class).collect::<Result<Vec<_>>>()?;
        classes.resize_with(count, || None);
        Ok(Quadratic { mean, classes, about })
    }

    /// Whether a file says that it is one.
    pub fn is_file(bytes: &[u8]) -> bool {
        Reader::is_of_kind(bytes, QUADRATIC)
    }
}
