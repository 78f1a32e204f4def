//! The cells of a model, with what is certified of them.

use serde::{Deserialize, Serialize};

use super::bounds::{Rule, bounds};
use super::counts::{Counts, Figures};
use super::goal::CellGoal;
use super::partition::Partition;
use crate::moments::{Label, LabelKind, Role};

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
