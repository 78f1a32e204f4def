//! Label columns that are combinations of the columns that are added up.
//!
//! A criterion that is about the rows of one class of the target, or about what the target leaves of an
//! attribute, hides columns that depend on means over *all* rows:
//!
//! ```text
//! joint      1[y=c] (1[s=g] − P(s=g | y=c))        of the indicators of the joint classes (c, g)
//! masked     1[y=c] (v − E[v | y=c])               of 1[y=c] v and 1[y=c]
//! residual   v − Wᵀu,  W = (Cov(u,u) + ρI)⁻¹ Cov(u,v)      of v and features u of the target
//! ```
//!
//! Each is linear in columns whose sums add, so that one pass is enough and moments still merge: the
//! combination is found from all rows at the end, and applied to the covariances of any part of them.

use std::ops::Range;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::layout::LabelKind;
use crate::spectral::linalg::{cholesky, solve_lower, solve_lower_transposed};
use crate::{Result, tolerance};

/// What the columns of a label are combinations of; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Made {
    /// So many columns, made where the rows were.
    Columns { width: usize },
    /// Of joint classes, those of the target first: class c and group g are `c * groups + g`.
    Joint { classes: usize, groups: usize, only: Option<u32> },
    /// For each class of the target `width` columns and then the class's own.
    Masked { classes: usize, width: usize, only: Option<u32> },
    /// `width` columns, and `given` features of the target behind them.
    Residual { width: usize, given: usize },
}

/// Blocks of columns, with what each becomes.
pub(super) type Combination = Vec<(Range<usize>, Mat<f64>)>;

impl Made {
    /// How many columns are made.
    pub(crate) fn width(self) -> usize {
        let blocks = |classes: usize, only: Option<u32>| if only.is_some() { 1 } else { classes };
        match self {
            Made::Columns { width } | Made::Residual { width, .. } => width,
            Made::Joint { classes, groups, only } => groups.saturating_mul(blocks(classes, only)),
            Made::Masked { classes, width, only } => width.saturating_mul(blocks(classes, only)),
        }
    }

    /// Whether it can be made of the columns of this kind that are added up.
    pub(super) fn suits(self, kind: &LabelKind) -> bool {
        let within =
            |only: Option<u32>, classes: usize| only.is_none_or(|only| (only as usize) < classes);
        match (self, kind) {
            (Made::Joint { classes, groups, only }, LabelKind::Class { classes: all }) => {
                classes.checked_mul(groups) == Some(*all) && within(only, classes)
            }
            (Made::Masked { classes, width, only }, LabelKind::Number { width: all }) => {
                let each = width.checked_add(1);
                each.and_then(|each| each.checked_mul(classes)) == Some(*all)
                    && within(only, classes)
                    && width > 0
            }
            (Made::Residual { width, given }, LabelKind::Number { width: all }) => {
                width.checked_add(given) == Some(*all) && width > 0
            }
            _ => false,
        }
    }

    /// The combination, from the means and the covariances of the columns over all rows.
    pub(super) fn combination(
        self,
        mean: &[f64],
        covariance: &dyn Fn(usize, usize) -> f64,
    ) -> Result<Combination> {
        let chosen = |classes: usize, only: Option<u32>| {
            (0..classes).filter(move |&c| only.is_none_or(|only| only as usize == c))
        };
        Ok(match self {
            Made::Columns { .. } => Vec::new(),
            Made::Joint { classes, groups, only } => {
                let block = |c: usize| {
                    let at = c * groups..(c + 1) * groups;
                    let shares = &mean[at.clone()];
                    let total: f64 = shares.iter().sum();
                    let given = |g: usize| if total > 0.0 { shares[g] / total } else { 0.0 };
                    // The last digit of 1 − 1 must not look like a group.
                    let own = |g: usize| match total > 0.0 {
                        true => {
                            shares.iter().enumerate().filter(|o| o.0 != g).map(|o| o.1).sum::<f64>()
                                / total
                        }
                        false => 0.0,
                    };
                    let matrix = Mat::from_fn(groups, groups, |k, g| match k == g {
                        true => own(g),
                        false => -given(g),
                    });
                    (at, matrix)
                };
                chosen(classes, only).map(block).collect()
            }
            Made::Masked { classes, width, only } => {
                let block = |c: usize| {
                    let at = c * (width + 1)..(c + 1) * (width + 1);
                    let share = mean[at.end - 1];
                    let within =
                        |j: usize| if share > 0.0 { mean[at.start + j] / share } else { 0.0 };
                    let matrix = Mat::from_fn(width + 1, width, |i, j| match i {
                        i if i == j => 1.0,
                        i if i == width => -within(j),
                        _ => 0.0,
                    });
                    (at, matrix)
                };
                chosen(classes, only).map(block).collect()
            }
            Made::Residual { width, given } => {
                let u = |i: usize| width + i;
                let total: f64 = (0..given).map(|i| covariance(u(i), u(i)).max(0.0)).sum();
                let ridge = tolerance::GIVEN * total / given.max(1) as f64;
                let mut weights = Mat::from_fn(given, width, |i, j| covariance(u(i), j));
                if total > 0.0 {
                    let square = Mat::from_fn(given, given, |i, j| {
                        covariance(u(i), u(j)) + if i == j { ridge } else { 0.0 }
                    });
                    let factor = cholesky(square.as_ref())?;
                    solve_lower(factor.as_ref(), weights.as_mut());
                    solve_lower_transposed(factor.as_ref(), weights.as_mut());
                }
                let matrix =
                    Mat::from_fn(width + given, width, |i, j| match i.checked_sub(width) {
                        None if i == j => 1.0,
                        None => 0.0,
                        Some(i) => -weights[(i, j)],
                    });
                vec![(0..width + given, matrix)]
            }
        })
    }
}
