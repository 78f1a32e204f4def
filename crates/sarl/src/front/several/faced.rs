//! Limits at their ends first: what must not leak at all, and what must be kept whole.
//!
//! A label with the limit 0 leaves the null space of its `A`, in which it has none. A label of
//! which all must be kept fixes the range of its `A`, and leaves the rest. In what is left every
//! limit can be met with something to spare, which the barrier needs.

use faer::{Mat, MatRef};

use super::program::{Count, Counted, Program};
use super::{Limited, Limits};
use crate::Result;
use crate::spectral::linalg::{beside, congruence, span, squares};
use crate::spectral::problem::{Half, Problem, correlations};
use crate::tolerance;

/// A limit on leakage of less than this share is none at all, as in [`super::super::limit`].
const NONE: f64 = 1e-20;
/// A utility this near to 1 is all.
const ALL: f64 = 1e-11;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Faced {
    /// Directions that are taken whole, t × any.
    pub(super) fixed: Mat<f64>,
    /// An orthonormal basis of the space that is left.
    pub(super) frame: Mat<f64>,
    /// The programme in that space, without the cap.
    pub(super) program: Program,
    /// For each limit of the programme the label that it is of, and its size.
    pub(super) places: Vec<(usize, f64)>,
    /// What the fixed directions gain.
    pub(super) constant: f64,
    /// The dimensions that the cap leaves.
    pub(super) room: usize,
}

impl Faced {
    /// The programme of the limits; nothing if what must be kept needs more dimensions than there
    /// may be.
    pub(super) fn new(problem: &Problem, cap: usize, limits: &Limits) -> Option<Self> {
        let (counted, gaining) = match limits.side {
            Limited::Sensitive => (&problem.sensitive, &problem.target),
            Limited::Target => (&problem.target, &problem.sensitive),
        };
        let ends = |share: f64| match limits.side {
            Limited::Sensitive => share <= NONE,
            Limited::Target => share >= 1.0 - ALL,
        };
        let at_end = |i: &usize| limits.shares[*i].is_some_and(ends);
        let ends: Vec<usize> = (0..limits.shares.len()).filter(at_end).collect();
        let (all, rank) = span(columns(counted, &ends).as_ref(), tolerance::SPAN, true);
        let (known, frame) = all.as_ref().split_at_col(rank);
        let (fixed, sign) = match limits.side {
            Limited::Sensitive => (Mat::zeros(problem.size(), 0), 1.0),
            Limited::Target => (known.to_owned(), -1.0),
        };
        let room = cap.checked_sub(fixed.ncols())?;
        let gain = congruence(frame, gaining.a.as_ref()) * faer::Scale(sign);
        let mut faced = Faced {
            constant: sign * gaining.explained(fixed.as_ref()),
            fixed,
            frame: frame.to_owned(),
            program: Program { gain, counts: Vec::new() },
            places: Vec::new(),
            room,
        };
        faced.count(counted, limits, &ends);
        Some(faced)
    }

    /// The limits that can be met and can be missed.
    fn count(&mut self, counted: &Half, limits: &Limits, ends: &[usize]) {
        let attainable = counted.attainable_each();
        let fixed = self.fixed.transpose() * &counted.cross;
        for (i, attribute) in counted.attributes.iter().enumerate() {
            let Some(share) = limits.shares[i].filter(|_| !ends.contains(&i)) else { continue };
            let factor = self.frame.transpose() * attribute.of(counted.cross.as_ref());
            let (size, sign, most) = match limits.side {
                Limited::Sensitive => {
                    let size = share * attribute.variance;
                    (size, 1.0, size)
                }
                Limited::Target => {
                    let size = share * attainable[i];
                    (size, -1.0, attribute.explained(fixed.as_ref()) - size)
                }
            };
            let always = match limits.side {
                Limited::Sensitive => most >= squares(factor.as_ref()),
                Limited::Target => most >= 0.0,
            };
            if !always {
                let counted = Counted::Columns { factor, sign };
                self.program.counts.push(Count { counted, most });
                self.places.push((i, size));
            }
        }
    }

    /// The programme with every limit tighter by a share of its size, and with the cap.
    pub(super) fn aimed(&self, hair: f64) -> Program {
        let mut program = self.program.clone();
        for (count, (_, size)) in program.counts.iter_mut().zip(&self.places) {
            count.most -= hair * size;
        }
        if self.room < program.size() {
            program.counts.push(Count { counted: Counted::Dimensions, most: self.room as f64 });
        }
        program
    }

    /// Multipliers of the programme's limits, for each label.
    pub(super) fn for_labels(&self, multipliers: &[f64], labels: usize) -> Vec<f64> {
        let mut all = vec![0.0; labels];
        self.places.iter().zip(multipliers).for_each(|((i, _), m)| all[*i] = *m);
        all
    }

    /// The most that weak duality allows at these multipliers of the labels.
    pub(super) fn bound(&self, multipliers: &[f64]) -> Result<f64> {
        let own = |(i, _): &(usize, f64)| multipliers.get(*i).copied().unwrap_or(0.0).max(0.0);
        let own: Vec<f64> = self.places.iter().map(own).collect();
        Ok(self.constant + self.program.bound(&own, self.room)?)
    }

    /// Directions of the space that is left, in all the space, beside the fixed ones.
    pub(super) fn lifted(&self, g: MatRef<'_, f64>) -> Mat<f64> {
        let more = g.nrows() - self.frame.ncols();
        let (inside, spare) = g.split_at_row(self.frame.ncols());
        let size = self.frame.nrows();
        let mut all = Mat::zeros(size + more, self.fixed.ncols() + g.ncols());
        let (taken, columns) = (self.fixed.ncols(), g.ncols());
        all.as_mut().submatrix_mut(0, 0, size, taken).copy_from(&self.fixed);
        all.as_mut().submatrix_mut(0, taken, size, columns).copy_from(&self.frame * inside);
        all.as_mut().submatrix_mut(size, taken, more, columns).copy_from(spare);
        all
    }
}

/// The columns of some labels, free of units.
fn columns(half: &Half, labels: &[usize]) -> Mat<f64> {
    let all = correlations(half.cross.as_ref(), &half.variance);
    let none = Mat::zeros(half.cross.nrows(), 0);
    labels.iter().fold(none, |some, &i| beside(some.as_ref(), half.attributes[i].of(all.as_ref())))
}
