//! Full erasure that keeps the covariance with a target.
//!
//! ```text
//! minimise  E‖x − x̂‖²   over affine x̂   with   Cov(x̂, s) = 0   and   Cov(x̂, y) = Cov(x, y)
//! ```
//!
//! Of whitened features `u = Wᵀ(x − x̄)` the range of `Ws = WᵀCs` must go, and what is taken off
//! must have no covariance with y. With orthonormal bases `Qs`, `Qy` of the ranges of `Ws`, `Wy`,
//!
//! ```text
//! R = I − Qy Qyᵀ      e = (QsᵀR Qs)⁻¹ QsᵀR u      x̂ = x − C W Qs e
//! ```
//!
//! `Qs (QsᵀRQs)⁻¹ QsᵀR` is the projection on the range of `Ws` along that of `Wy` and everything
//! orthogonal to both: oblique, where [`Erasing::new`] has the orthogonal one. A direction that
//! is in both ranges would have to go and to stay: that is an error ([`Error::Overlap`]), and near it
//! the change grows with one over the square of the sine of the angle between the ranges.
//!
//! Linear predictors of x̂ that are fitted anew see exactly what those of the smallest erasure see,
//! because the directions of x that x̂ forgets are the same. It is for predictors that are not
//! fitted anew, or with a penalty. Reference: Holstege, Ravfogel, Wouters 2025, Preserving
//! task-relevant information under linear concept removal (SPLINCE).
//!
//! ```
//! use sarl::{Block, Fit, FitParams, Layout, Role};
//! let x = faer::Mat::from_fn(300, 4, |i, j| ((i * (7 + 4 * j)) % 31) as f64 - 15.0);
//! let y: Vec<u32> = (0..300).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
//! let s: Vec<u32> = (0..300).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
//! let layout = Layout::dense(4).keep_features();
//! let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut fit = Fit::new(FitParams::default(), layout)?;
//! fit.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let erasing = fit.finish()?.preserve()?;
//! let erased = erasing.erasure().apply(x.as_ref())?;
//! // The gap between the means of the classes of y is what it was, that of s is gone.
//! let gap = |codes: &[u32], of: &dyn Fn(usize) -> f64| {
//!     let mean = |k: u32| {
//!         let rows: Vec<usize> = (0..300).filter(|&i| codes[i] == k).collect();
//!         rows.iter().map(|&i| of(i)).sum::<f64>() / rows.len() as f64
//!     };
//!     mean(1) - mean(0)
//! };
//! for j in 0..4 {
//!     assert!(gap(&s, &|i| erased[4 * i + j]).abs() < 1e-9);
//!     assert!((gap(&y, &|i| erased[4 * i + j]) - gap(&y, &|i| x[(i, j)])).abs() < 1e-9);
//! }
//! # Ok::<(), sarl::Error>(())
//! ```

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};

use super::erasing::{Erasing, Solved, settled};
use super::erasure::Erasure;
use crate::features::FeatureMap;
use crate::front::{Certificate, Goal};
use crate::moments::{Covariances, LabelCovariances, LabelKind, Layout, Role};
use crate::spectral::attribute::Side;
use crate::spectral::directions::weights_of;
use crate::spectral::linalg::{eigh, gram, pick_columns, span};
use crate::spectral::problem::correlations;
use crate::spectral::whiten::Whitening;
use crate::{Error, Result, tolerance};

impl Erasing {
    /// Full erasure that keeps the covariance of the features with every target beside them; see
    /// `encoder/preserving.rs`. `layout` is that of the inputs.
    pub fn preserving(
        map: &FeatureMap,
        layout: &Layout,
        covariances: &Covariances,
    ) -> Result<Self> {
        let targets = || layout.labels().iter().filter(|l| l.role == Role::Target);
        let keeps = targets().any(|l| l.kind == LabelKind::Features);
        if !map.is_linear() || !keeps || targets().count() < 2 {
            let message = "erasure that preserves a target needs a linear encoder that keeps the \
                           features themselves, and a target beside them";
            return Err(Error::Unavailable(message));
        }
        let c = covariances;
        let (features, kept) = split(&c.target, layout);
        let (solved, preserved) = solve(c, &kept)?;
        let (variance, goal) = (features.variance.iter().sum(), Goal::Leakage(0.0));
        let mut about = solved.reached(c, variance, layout, goal, 0.0);
        // It is the least change that does both.
        let dual_bound = solved.erasure.taken.squared_norm_l2();
        about.certificate = Certificate { dual_bound, gap: 0.0, multipliers: Vec::new() };
        about.preserved = preserved;
        Ok(Self::of(map, solved.erasure, about))
    }
}

impl Erasure {
    /// Erasure from the covariances of some rows that preserves every target beside the features.
    pub(crate) fn preserving(covariances: &Covariances, layout: &Layout) -> Result<Self> {
        let (_, kept) = split(&covariances.target, layout);
        Ok(solve(covariances, &kept)?.0.erasure)
    }
}

/// Of the targets the features themselves, and the others.
pub(crate) fn split(
    part: &LabelCovariances,
    layout: &Layout,
) -> (LabelCovariances, LabelCovariances) {
    let targets = layout.labels().iter().filter(|l| l.role == Role::Target);
    let is_features: Vec<bool> = targets.map(|l| l.kind == LabelKind::Features).collect();
    let pick = |features: bool| {
        let (mut at, mut columns, mut labels) = (0, Vec::new(), Vec::new());
        for (label, &is) in part.labels.iter().zip(&is_features) {
            if is == features {
                columns.extend(at..at + label.width);
                labels.push(label.clone());
            }
            at += label.width;
        }
        LabelCovariances {
            cross: pick_columns(part.cross.as_ref(), &columns),
            mean: columns.iter().map(|&j| part.mean[j]).collect(),
            variance: columns.iter().map(|&j| part.variance[j]).collect(),
            labels,
        }
    };
    (pick(true), pick(false))
}

/// The erasure, and the loss and the utility of each label that is preserved.
fn solve(c: &Covariances, kept: &LabelCovariances) -> Result<(Solved, Vec<(f64, f64)>)> {
    let whitening = Whitening::new(c, 0.0)?;
    let ws = whitening.whiten(c.sensitive.cross.as_ref());
    let wy = whitening.whiten(kept.cross.as_ref());
    let qs = range(&ws, &c.sensitive.variance);
    let qy = range(&wy, &kept.variance);
    let outside = |mut u: Mat<f64>| {
        for _ in 0..2 {
            let inside = &qy * (qy.transpose() * &u);
            u -= inside;
        }
        u
    };
    let u = outside(qs.clone());
    check(&qs, &u, (&ws, &c.sensitive), (&wy, kept))?;
    // Orthonormal, and then as far outside as rounding allows.
    let u = outside(u.qr().compute_thin_Q());
    let found = settled(c, weights_of(c, &whitening, u.as_ref()))?;
    let gone = settled(c, weights_of(c, &whitening, qs.as_ref()))?.transpose() * &c.features;
    let least = gone.squared_norm_l2();
    // `takenᵀ Cov(e, x)` must give back what goes: solved for, so that rounding is not in it.
    let between = &gone * &found;
    let taken = match between.nrows() {
        0 => gone,
        _ => between.partial_piv_lu().solve(&gone),
    };
    let erasure = Erasure { mean: c.mean.clone(), found, taken };
    let hidden = Side::new(ws, &c.sensitive);
    let left = &wy - &qs * (qs.transpose() * &wy);
    let mut at = 0;
    let preserved = kept.labels.iter().map(|label| {
        let columns = at..at + label.width;
        at += label.width;
        let of = |w: &Mat<f64>| w.as_ref().subcols(columns.start, columns.len()).squared_norm_l2();
        let (explained, attainable) = (of(&left), of(&wy));
        let variance = kept.variance[columns.clone()].iter().sum::<f64>();
        (variance - explained, if attainable > 0.0 { explained / attainable } else { 1.0 })
    });
    let preserved = preserved.collect();
    Ok((Solved { basis: whitening.basis(), hidden, least, erasure }, preserved))
}

/// An orthonormal basis of the range of whitened covariances.
fn range(whitened: &Mat<f64>, variance: &[f64]) -> Mat<f64> {
    let (q, rank) =
        span(correlations(whitened.as_ref(), variance).as_ref(), tolerance::SPAN, false);
    q.subcols(0, rank).to_owned()
}

/// Refuses directions to erase (`qs`) of which nothing is left outside of what is preserved (`u`).
fn check(
    qs: &Mat<f64>,
    u: &Mat<f64>,
    hidden: (&Mat<f64>, &LabelCovariances),
    kept: (&Mat<f64>, &LabelCovariances),
) -> Result<()> {
    let (squares, vectors) = eigh(gram(u.transpose()).as_ref())?;
    let shared = squares.iter().filter(|v| v.max(0.0).sqrt() <= tolerance::OVERLAP).count();
    if shared == 0 {
        return Ok(());
    }
    let direction = qs * vectors.subcols(0, 1);
    let (hidden, kept) = (most(hidden, direction.as_ref()), most(kept, direction.as_ref()));
    Err(Error::Overlap { hidden, kept, shared, directions: qs.ncols() })
}

/// The label whose columns have most of a direction.
fn most((w, part): (&Mat<f64>, &LabelCovariances), direction: MatRef<'_, f64>) -> String {
    let mut at = 0;
    let shares = part.labels.iter().map(|label| {
        let columns = w.as_ref().subcols(at, label.width).to_owned();
        let q = range(&columns, &part.variance[at..at + label.width]);
        at += label.width;
        (label, (q.transpose() * direction).norm_l2())
    });
    let found = shares.max_by(|a, b| a.1.total_cmp(&b.1));
    found.map(|(label, _)| label.name.clone()).unwrap_or_default()
}
