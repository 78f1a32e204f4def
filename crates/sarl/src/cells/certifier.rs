//! Rows by cell and group, counted.

use serde::{Deserialize, Serialize};

use super::cells::{CellCertificate, Cells, CertifiedAttribute, CertifiedTarget, PartRows};
use super::counts::Counts;
use crate::encoder::{Encoder, Model};
use crate::moments::{Block, Element, Label, LabelBlock, LabelKind, Layout, Role};
use crate::{Error, Result};

/// Counts rows that neither fitted the encoder nor chose its cells.
#[derive(Clone, Debug)]
pub struct Certifier {
    encoder: Encoder,
    cells: Cells,
    labels: Vec<Label>,
    layout: Layout,
    counted: Counted,
}

/// What was counted on some rows. It travels, and what was counted on other rows is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    counts: Vec<Counts>,
    targets: Vec<Errors>,
}

/// What was predicted wrongly of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Errors {
    Classes {
        right: u64,
        rows: Vec<u64>,
    },
    /// Sums of squared errors, of values and of their squares, by column.
    Numbers {
        errors: f64,
        rows: f64,
        sums: Vec<f64>,
        squares: f64,
    },
}

impl Certifier {
    /// Of a model with cells.
    pub fn new(model: &Model) -> Result<Self> {
        let cells = model.cells().ok_or(Error::Unavailable("this model has no cells"))?.clone();
        let labels = model.labels().to_vec();
        let groups = |label: &Label| match label.kind {
            LabelKind::Class { classes } => Ok(Counts::new(cells.count(), classes)),
            _ => Err(Error::NoGroups { name: label.name.clone() }),
        };
        let of = |role: Role| labels.iter().filter(move |l| l.role == role);
        let counts = of(Role::Sensitive).map(groups).collect::<Result<_>>()?;
        let errors = |label: &Label| match label.kind {
            LabelKind::Class { classes } => Errors::Classes { right: 0, rows: vec![0; classes] },
            LabelKind::Number { width } | LabelKind::Kernel { columns: width } => {
                Errors::Numbers { errors: 0.0, rows: 0.0, sums: vec![0.0; width], squares: 0.0 }
            }
            LabelKind::Features => Errors::Classes { right: 0, rows: Vec::new() },
        };
        let targets = of(Role::Target).map(errors).collect();
        let encoder = model.encoder();
        let layout = encoder.layout(&labels);
        Ok(Certifier { encoder, cells, labels, layout, counted: Counted { counts, targets } })
    }

    /// Adds rows.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        if block.weights.is_some() {
            return Err(Error::Weighted);
        }
        block.check_beside(&self.layout, self.rows())?;
        let found = self.encoder.cells_of(block)?;
        let (mut kept, mut hidden) = (0, 0);
        for (label, values) in self.labels.iter().zip(&block.labels) {
            match (label.role, values) {
                (Role::Sensitive, LabelBlock::Class(groups)) => {
                    let counts = &mut self.counted.counts[hidden];
                    found.iter().zip(*groups).for_each(|(&cell, &group)| counts.add(cell, group));
                    hidden += 1;
                }
                (Role::Target, values) => {
                    self.counted.targets[kept].add(&found, values, &self.cells.expected[kept]);
                    kept += 1;
                }
                (Role::Sensitive, LabelBlock::Number(_)) => {}
            }
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.counted.counts.first().map_or(0, Counts::rows)
    }

    /// What was counted so far.
    pub fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Adds what was counted on other rows for the same model.
    pub fn merge(&mut self, other: &Counted) -> Result<()> {
        self.counted.merge(other)
    }

    /// What these rows prove. `rows` of the fit and of the choice are carried along.
    pub fn certificate(&self, confidence: f64, looks: usize, rows: PartRows) -> CellCertificate {
        let named =
            |role: Role| self.labels.iter().filter(move |l| l.role == role).map(|l| l.name.clone());
        let attributes = named(Role::Sensitive)
            .zip(&self.cells.rules)
            .zip(&self.counted.counts)
            .map(|((name, rule), counts)| CertifiedAttribute {
                name,
                rule: *rule,
                counts: counts.clone(),
            });
        let targets = named(Role::Target).zip(&self.counted.targets).map(|(name, errors)| {
            let (score, guess) = errors.score();
            CertifiedTarget { name, score, guess }
        });
        CellCertificate {
            confidence,
            looks,
            rows: PartRows { certify: self.rows(), ..rows },
            attributes: attributes.collect(),
            targets: targets.collect(),
        }
    }
}

impl Counted {
    /// Adds what was counted on other rows, or nothing where it is of other cells or damaged.
    pub fn merge(&mut self, other: &Counted) -> Result<()> {
        let mut both = self.clone();
        let suits = both.counts.len() == other.counts.len()
            && both.targets.len() == other.targets.len()
            && both.counts.iter().zip(&other.counts).all(|(a, b)| b.is_sound() && a.has_room(b))
            && both.targets.iter_mut().zip(&other.targets).all(|(a, b)| a.merge(b));
        if !suits {
            return Err(Error::Unavailable("these counts are of other cells, or damaged"));
        }
        for (counts, more) in both.counts.iter_mut().zip(&other.counts) {
            counts.merge(more)?;
        }
        *self = both;
        Ok(())
    }
}

impl Errors {
    /// Adds those of other rows; whether they are of the same target.
    fn merge(&mut self, other: &Errors) -> bool {
        match (self, other) {
            (Errors::Classes { right, rows }, Errors::Classes { right: r, rows: more }) => {
                let sums = rows.iter().zip(more).map(|(a, b)| a.checked_add(*b));
                let sums: Option<Vec<u64>> = sums.collect();
                match (right.checked_add(*r), sums) {
                    (Some(sum), Some(sums)) if rows.len() == more.len() => {
                        (*right, *rows) = (sum, sums);
                        true
                    }
                    _ => false,
                }
            }
            (
                Errors::Numbers { errors, rows, sums, squares },
                Errors::Numbers { errors: e, rows: n, sums: more, squares: q },
            ) => {
                *errors += e;
                *rows += n;
                *squares += q;
                sums.iter_mut().zip(more).for_each(|(sum, v)| *sum += v);
                sums.len() == more.len() && [e, n, q].iter().all(|v| v.is_finite())
            }
            _ => false,
        }
    }

    fn add(&mut self, cells: &[u32], values: &LabelBlock<'_>, expected: &[Vec<f64>]) {
        match (self, values) {
            (Errors::Classes { right, rows }, LabelBlock::Class(classes)) => {
                for (&cell, &class) in cells.iter().zip(*classes) {
                    if let Some(count) = rows.get_mut(class as usize) {
                        *count += 1;
                    }
                    let wanted = expected[cell as usize].first().copied();
                    *right += u64::from(wanted == Some(f64::from(class)));
                }
            }
            (Errors::Numbers { errors, rows, sums, squares }, LabelBlock::Number(numbers)) => {
                for (i, &cell) in cells.iter().enumerate() {
                    *rows += 1.0;
                    for (j, v) in numbers.row(i).iter().enumerate() {
                        *errors += (v - expected[cell as usize][j]).powi(2);
                        sums[j] += v;
                        *squares += v * v;
                    }
                }
            }
            _ => {}
        }
    }

    /// What is reached, and what is reached without cells.
    fn score(&self) -> (f64, f64) {
        match self {
            Errors::Classes { right, rows } => {
                let all = rows.iter().sum::<u64>().max(1) as f64;
                let most = rows.iter().copied().max().unwrap_or(0);
                (*right as f64 / all, most as f64 / all)
            }
            Errors::Numbers { errors, rows, sums, squares } => {
                let around = squares - sums.iter().map(|s| s * s).sum::<f64>() / rows.max(1.0);
                (if around > 0.0 { 1.0 - errors / around } else { 0.0 }, 0.0)
            }
        }
    }
}
