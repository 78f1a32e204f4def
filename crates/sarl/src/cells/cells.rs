//! The cells of a model, with what is certified of them.

use serde::{Deserialize, Serialize};

use super::bounds::{Rule, bounds};
use super::counts::{Counts, Figures};
use super::goal::CellGoal;
use super::partition::Partition;
use crate::encoder::{Encoder, Model};
use crate::moments::{Block, Element, Label, LabelBlock, LabelKind, Layout, Role};
use crate::{Error, Result};

/// What is published instead of z: the cell that z is in, or the centre of the cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cells {
    pub(super) partition: Partition,
    /// The mean z of each cell, on the rows that the cells were chosen on.
    pub(super) centres: Vec<Vec<f64>>,
    /// How the balanced accuracy of each sensitive attribute is bounded.
    pub(super) rules: Vec<Rule>,
    /// For each target and cell, the class that is most frequent there, or the means of numbers.
    pub(super) expected: Vec<Vec<Vec<f64>>>,
    pub(super) goal: CellGoal,
    pub(super) certificate: Option<CellCertificate>,
}

/// Rows that served each purpose; none served two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRows {
    /// Rows that the encoder was fitted on.
    pub fit: u64,
    /// Rows that the cells were chosen on.
    pub choose: u64,
    /// Rows that certify them.
    pub certify: u64,
}

/// What is known about every adversary that sees only the cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellCertificate {
    /// How sure each figure is. Those of all attributes hold together.
    pub confidence: f64,
    /// Proposals that were certified on the same rows; each had its part of 1 − confidence.
    pub looks: usize,
    /// Rows that served each purpose.
    pub rows: PartRows,
    /// For each sensitive attribute.
    pub attributes: Vec<CertifiedAttribute>,
    /// What is kept of each target on the rows that certify.
    pub targets: Vec<CertifiedTarget>,
}

/// Rows by cell and group, from which every figure follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertifiedAttribute {
    /// The attribute.
    pub name: String,
    /// How its balanced accuracy is bounded.
    pub rule: Rule,
    /// The rows that certify.
    pub counts: Counts,
}

/// How well a target is predicted from cells, on rows that no choice was made on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct CertifiedTarget {
    /// The target.
    pub name: String,
    /// The share of rows whose class is the expected one, or 1 − the share of squares left.
    pub score: f64,
    /// What is reached without cells: the share of the largest class, or 0.
    pub guess: f64,
}

impl CellCertificate {
    fn delta(&self) -> f64 {
        (1.0 - self.confidence) / (self.looks * self.attributes.len()).max(1) as f64
    }

    /// What no adversary exceeds on rows drawn like these, for each attribute.
    pub fn bounds(&self) -> Vec<Figures> {
        let delta = self.delta();
        self.attributes.iter().map(|a| bounds(&a.counts, delta, a.rule)).collect()
    }

    /// Whether the limits of a goal are met.
    pub fn meets(&self, goal: &CellGoal) -> bool {
        let mut all = self.attributes.iter().zip(self.bounds());
        all.all(|(a, bound)| goal.figure(&bound) <= goal.limit(&a.name))
    }
}

impl Cells {
    /// Where z is cut.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// K, the number of cells.
    pub fn count(&self) -> usize {
        self.partition.cells()
    }

    /// The mean z of each cell.
    pub fn centres(&self) -> &[Vec<f64>] {
        &self.centres
    }

    /// What was asked.
    pub fn goal(&self) -> &CellGoal {
        &self.goal
    }

    /// What is certified, if it was.
    pub fn certificate(&self) -> Option<&CellCertificate> {
        self.certificate.as_ref()
    }

    /// Keeps what was certified.
    pub(crate) fn certify(&mut self, certificate: CellCertificate) {
        self.certificate = Some(certificate);
    }

    /// For each target and cell, the class that is most frequent there, or the means of numbers.
    pub fn expected(&self) -> &[Vec<Vec<f64>>] {
        &self.expected
    }

    /// What is wrong with stored cells of a model, if something is.
    pub(crate) fn problem(&self, dim: usize, labels: &[Label]) -> Option<&'static str> {
        let (count, finite) = (self.count(), |v: &Vec<f64>| v.iter().all(|v| v.is_finite()));
        let of = |role: Role| labels.iter().filter(move |l| l.role == role);
        if !self.partition.is_sound(dim) || self.goal.check().is_err() {
            return Some("its cells cannot be followed");
        }
        let centred =
            self.centres.len() == count && self.centres.iter().all(|c| c.len() == dim && finite(c));
        if !centred {
            return Some("its cells have no centres");
        }
        let expected = self.expected.len() == of(Role::Target).count()
            && self.expected.iter().all(|e| e.len() == count && e.iter().all(finite));
        if !expected || self.rules.len() != of(Role::Sensitive).count() {
            return Some("its cells are not those of its labels");
        }
        let counted = |(label, a): (&Label, &CertifiedAttribute)| {
            let groups = LabelKind::Class { classes: a.counts.groups() };
            a.counts.is_sound() && a.counts.cells() == count && label.kind == groups
        };
        let certified = self.certificate.as_ref().is_none_or(|c| {
            c.attributes.len() == self.rules.len()
                && of(Role::Sensitive).zip(&c.attributes).all(counted)
                && c.confidence > 0.0
                && c.confidence < 1.0
                && c.looks >= 1
        });
        (!certified).then_some("its certificate is not that of its cells")
    }
}

/// Counts rows that neither fitted the encoder nor chose its cells.
#[derive(Clone, Debug)]
pub struct Certifier {
    encoder: Encoder,
    cells: Cells,
    labels: Vec<Label>,
    layout: Layout,
    counts: Vec<Counts>,
    targets: Vec<Errors>,
}

/// What was predicted wrongly of a target.
#[derive(Clone, Debug)]
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
        Ok(Certifier { encoder, cells, labels, layout, counts, targets })
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
                    let counts = &mut self.counts[hidden];
                    found.iter().zip(*groups).for_each(|(&cell, &group)| counts.add(cell, group));
                    hidden += 1;
                }
                (Role::Target, values) => {
                    self.targets[kept].add(&found, values, &self.cells.expected[kept]);
                    kept += 1;
                }
                (Role::Sensitive, LabelBlock::Number(_)) => {}
            }
        }
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.counts.first().map_or(0, Counts::rows)
    }

    /// What these rows prove. `rows` of the fit and of the choice are carried along.
    pub fn certificate(&self, confidence: f64, looks: usize, rows: PartRows) -> CellCertificate {
        let named =
            |role: Role| self.labels.iter().filter(move |l| l.role == role).map(|l| l.name.clone());
        let attributes = named(Role::Sensitive).zip(&self.cells.rules).zip(&self.counts).map(
            |((name, rule), counts)| CertifiedAttribute {
                name,
                rule: *rule,
                counts: counts.clone(),
            },
        );
        let targets = named(Role::Target).zip(&self.targets).map(|(name, errors)| {
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

impl Errors {
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
