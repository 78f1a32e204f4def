//! The trade-off itself, in t dimensions: two positive semidefinite matrices and Theorem 3.
//!
//! ```text
//! Ky = QᵀWᵀCy    Ay = Ky Kyᵀ        Ks = QᵀWᵀCs    As = Ks Ksᵀ        B(λ) = λ As − (1−λ) Ay
//! ```
//!
//! An orthonormal `G` explains `tr GᵀAyG` of the target's variance and `tr GᵀAsG` of the
//! sensitive attribute's. The optimum at λ is spanned by the eigenvectors of `B(λ)` with negative
//! eigenvalues, smallest first (Theorem 3). No direction is in the null space of both matrices.

use std::sync::OnceLock;

use faer::{Mat, MatRef};

use super::attribute::{Attribute, Side};
use super::linalg::{beside, congruence, eigh, gram, pick_columns, span, squares};
use crate::{Error, Result, tolerance};

/// One label side of the problem.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    /// `K`, t × label columns.
    pub(crate) cross: Mat<f64>,
    /// `A = K Kᵀ`, t × t.
    pub(crate) a: Mat<f64>,
    /// The variance of each label column.
    pub(crate) variance: Vec<f64>,
    /// The labels that the columns belong to.
    pub(crate) attributes: Vec<Attribute>,
    /// Orthogonal, t × t; its first `rank` columns span `K`.
    frame: Mat<f64>,
    pub(crate) rank: usize,
    /// What directions outside of the problem explain: they are kept whatever is asked.
    pub(crate) beyond: f64,
}

impl Half {
    fn new(side: Side) -> Self {
        let Side { cross, variance, attributes } = side;
        let (frame, rank) = span(correlations(cross.as_ref(), &variance).as_ref(), SPAN, true);
        let a = gram(cross.as_ref());
        Half { cross, a, variance, attributes, frame, rank, beyond: 0.0 }
    }

    /// The features as a label: `cross` is square and of full rank, and what it leaves of their
    /// variance is explained by directions outside of the problem.
    pub(crate) fn of_features(cross: Mat<f64>, attribute: Attribute) -> Self {
        let (size, total) = (cross.nrows(), attribute.variance);
        let a = gram(cross.as_ref());
        let beyond = (total - squares(cross.as_ref())).max(0.0);
        let attribute = Attribute { columns: 0..size, ..attribute };
        Half {
            cross,
            a,
            variance: vec![total / size.max(1) as f64; size],
            attributes: vec![attribute],
            frame: Mat::identity(size, size),
            rank: size,
            beyond,
        }
    }

    /// `tr Cov(label)`: the loss without any encoder.
    pub(crate) fn total(&self) -> f64 {
        self.variance.iter().sum()
    }

    /// `tr GᵀAG`.
    pub(crate) fn explained(&self, g: MatRef<'_, f64>) -> f64 {
        squares((g.transpose() * &self.cross).as_ref()) + self.beyond
    }

    /// `tr GᵀAᵢG` for each label i.
    pub(crate) fn explained_each(&self, g: MatRef<'_, f64>) -> Vec<f64> {
        let cross = g.transpose() * &self.cross;
        self.each(cross.as_ref())
    }

    /// `tr Aᵢ` for each label i: what all the features explain.
    pub(crate) fn attainable_each(&self) -> Vec<f64> {
        self.each(self.cross.as_ref())
    }

    /// Only a side with one label has directions outside of the problem.
    fn each(&self, cross: MatRef<'_, f64>) -> Vec<f64> {
        self.attributes.iter().map(|a| a.explained(cross) + self.beyond).collect()
    }

    pub(crate) fn range(&self) -> MatRef<'_, f64> {
        self.frame.as_ref().subcols(0, self.rank)
    }

    pub(crate) fn null(&self) -> MatRef<'_, f64> {
        let t = self.frame.ncols();
        self.frame.as_ref().subcols(self.rank, t - self.rank)
    }
}

const SPAN: f64 = tolerance::SPAN;

/// Columns divided by their label's standard deviation: multiple correlations, free of units.
pub(crate) fn correlations(cross: MatRef<'_, f64>, variance: &[f64]) -> Mat<f64> {
    let scale: Vec<f64> =
        variance.iter().map(|&v| if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 }).collect();
    Mat::from_fn(cross.nrows(), cross.ncols(), |i, j| cross[(i, j)] * scale[j])
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) target: Half,
    pub(crate) sensitive: Half,
    crossings: OnceLock<Vec<f64>>,
}

impl Problem {
    pub(crate) fn new(target: Side, sensitive: Side) -> Result<Self> {
        let (y, s) = (target.cross.nrows(), sensitive.cross.nrows());
        if y != s {
            return Err(Error::shape("rows of the reduced problem", s, y));
        }
        Ok(Self::of_halves(Half::new(target), Half::new(sensitive)))
    }

    /// The features beside what is hidden; see [`Half::of_features`].
    pub(crate) fn of_features(features: Half, sensitive: Side) -> Self {
        Self::of_halves(features, Half::new(sensitive))
    }

    fn of_halves(target: Half, sensitive: Half) -> Self {
        Problem { target, sensitive, crossings: OnceLock::new() }
    }

    /// The same problem with the target in other columns, of which these are an isometry.
    pub(crate) fn with_target(
        mut self,
        cross: Mat<f64>,
        variance: Vec<f64>,
        attributes: Vec<Attribute>,
    ) -> Self {
        let target = &mut self.target;
        (target.cross, target.variance, target.attributes) = (cross, variance, attributes);
        self
    }

    /// t.
    pub(crate) fn size(&self) -> usize {
        self.target.a.nrows()
    }

    /// The weight of the adversary between sides of unit variance. Inside, λ always is this one:
    /// with a target in dollars the λ of the paper is within 1e-10 of 1, where doubles are coarse.
    pub(crate) fn weight(&self, lambda: f64) -> f64 {
        let (y, s) = ((1.0 - lambda) * self.target.total(), lambda * self.sensitive.total());
        s / (s + y)
    }

    /// The inverse of [`Problem::weight`].
    pub(crate) fn lambda(&self, weight: f64) -> f64 {
        let (y, s) = (weight * self.target.total(), (1.0 - weight) * self.sensitive.total());
        y / (s + y)
    }

    /// `B(λ)`, both sides scaled to unit variance.
    pub(crate) fn b(&self, lambda: f64) -> Mat<f64> {
        let (ay, a_s) = (&self.target.a, &self.sensitive.a);
        let (y, s) = ((1.0 - lambda) / self.target.total(), lambda / self.sensitive.total());
        Mat::from_fn(self.size(), self.size(), |i, j| s * a_s[(i, j)] - y * ay[(i, j)])
    }

    /// The size of the parts of `B(λ)`.
    pub(crate) fn spread(&self, lambda: f64) -> f64 {
        let share = |half: &Half| squares(half.cross.as_ref()) / half.total();
        lambda * share(&self.sensitive) + (1.0 - lambda) * share(&self.target)
    }

    /// For each of the t dimensions the λ at which its eigenvalue of `B` turns positive, in
    /// ascending order: 0 where only the sensitive attribute gains, 1 where only the target does.
    ///
    /// `B(λ) v = 0` means `Ay v = λ (Ay + As) v`. With the singular value decomposition
    /// `[Ky Ks] = U S Vᵀ` the pencil becomes `V_yᵀV_y` over the rows of `V` that belong to the
    /// target: λ is a squared cosine, `1 − λ` the squared sine. Both sides are scaled to unit
    /// variance first, which maps the odds `λ/(1−λ)` by the ratio of the variances.
    pub(crate) fn crossings(&self) -> Result<&[f64]> {
        if let Some(found) = self.crossings.get() {
            return Ok(found);
        }
        let found = self.find_crossings()?;
        Ok(self.crossings.get_or_init(|| found))
    }

    fn find_crossings(&self) -> Result<Vec<f64>> {
        let t = self.size();
        if t == 0 {
            return Ok(Vec::new());
        }
        let (y, s) = (&self.target, &self.sensitive);
        let (ty, ts) = (y.total(), s.total());
        let unit = |half: &Half, total: f64| half.cross.as_ref() * faer::Scale(1.0 / total.sqrt());
        let both = beside(unit(y, ty).as_ref(), unit(s, ts).as_ref());
        let failed = |_| Error::NoConvergence { what: "singular value decomposition" };
        let svd = both.thin_svd().map_err(failed)?;
        let p = y.cross.ncols();
        let (vy, vs) = svd.V().split_at_row(p);
        let mut cosines = vy.singular_values().map_err(failed)?;
        let mut sines = vs.singular_values().map_err(failed)?;
        cosines.resize(t, 0.0);
        sines.resize(t, 0.0);
        // Cosines descend while the sines that belong to them ascend.
        let (surely_one, surely_zero) = (t - s.rank, t - y.rank);
        let mut found: Vec<f64> = (0..t)
            .map(|i| {
                if i < surely_one {
                    return 1.0;
                }
                if i >= t - surely_zero {
                    return 0.0;
                }
                let (cosine, sine) = (cosines[i], sines[t - 1 - i]);
                let (a, b) = (cosine * cosine, sine * sine);
                a / (a + b)
            })
            .collect();
        found.reverse();
        Ok(found)
    }

    /// The number of negative eigenvalues of `B(λ)`.
    pub(crate) fn dimension(&self, lambda: f64) -> Result<usize> {
        if lambda <= tolerance::LIMIT {
            return Ok(self.target.rank);
        }
        if lambda >= 1.0 - tolerance::LIMIT {
            return Ok(self.size() - self.sensitive.rank);
        }
        Ok(self.crossings()?.iter().filter(|&&c| c > lambda).count())
    }

    /// Theorem 3, with both ends as limits: an orthonormal t × dim matrix.
    pub(crate) fn subspace(&self, lambda: f64, cap: usize) -> Result<Mat<f64>> {
        if lambda <= tolerance::LIMIT {
            return self.at_zero(cap);
        }
        if lambda >= 1.0 - tolerance::LIMIT {
            return self.at_one(cap);
        }
        let keep = self.dimension(lambda)?.min(cap);
        let (_, vectors) = eigh(self.b(lambda).as_ref())?;
        Ok(vectors.subcols(0, keep).to_owned())
    }

    /// λ → 0: the range of `Ay`, or what of it matters most, leaking least among equals.
    fn at_zero(&self, cap: usize) -> Result<Mat<f64>> {
        let v = self.target.range();
        let keep = v.ncols().min(cap);
        top(v, &self.target.a, &self.sensitive.a, keep)
    }

    /// The range of `Ay`, or what of it matters most, leaking most among equals.
    pub(crate) fn most_useful_and_telling(&self, cap: usize) -> Result<Mat<f64>> {
        let v = self.target.range();
        let less = &self.sensitive.a * faer::Scale(-1.0);
        top(v, &self.target.a, &less, v.ncols().min(cap))
    }

    /// λ → 1: the null space of `As`; inside it every direction helps the target, most first.
    fn at_one(&self, cap: usize) -> Result<Mat<f64>> {
        let n = self.sensitive.null();
        let keep = n.ncols().min(cap);
        top(n, &self.target.a, &self.sensitive.a, keep)
    }
}

/// The `keep` directions within the span of `frame` that explain most of `gain`; where that is a
/// tie between what is kept and what is not, the ones with least `loss`.
fn top(frame: MatRef<'_, f64>, gain: &Mat<f64>, loss: &Mat<f64>, keep: usize) -> Result<Mat<f64>> {
    let (values, vectors) = eigh(congruence(frame, gain.as_ref()).as_ref())?;
    let size = values.len();
    let descending: Vec<usize> = (0..size).rev().collect();
    let all = frame * pick_columns(vectors.as_ref(), &descending);
    let value = |i: usize| values[size - 1 - i];
    if keep == 0 || keep == size {
        return Ok(all.subcols(0, keep).to_owned());
    }
    let near = |i: &usize| (value(*i) - value(keep)).abs() <= tolerance::TIE * value(0);
    let first = (0..keep).find(near).unwrap_or(keep);
    let after = (keep..size).take_while(near).last().map_or(keep, |i| i + 1);
    if first == keep {
        return Ok(all.subcols(0, keep).to_owned());
    }
    let tied = all.subcols(first, after - first);
    let (_, least) = eigh(congruence(tied, loss.as_ref()).as_ref())?;
    let chosen = tied * least.subcols(0, keep - first);
    Ok(beside(all.subcols(0, first), chosen.as_ref()))
}
