//! The covariances of each kind of column with the features, from running sums.

use faer::Mat;

use super::covariances::{Covariances, InputCovariances, LabelColumns, LabelCovariances};
use super::layout::{Inputs, LabelKind, Layout, Role};
use super::made::Combination;
use super::products::{Products, mirror};
use super::rounding::{Rounding, without_remainder, without_rounding};
use crate::spare::square;
use crate::tolerance;

fn scaled(v: &[f64], by: f64) -> Vec<f64> {
    v.iter().map(|x| x * by).collect()
}

/// The sums, with what every covariance needs at hand.
pub(super) struct Parts<'a> {
    layout: &'a Layout,
    products: &'a Products<'a>,
    shift: &'a [f64],
    /// The mean of the shifted numeric columns.
    delta: Vec<f64>,
    /// See [`crate::tolerance::FLOOR`].
    floor: f64,
    /// What the columns of each label become, where they are not kept or hidden as they are.
    made: &'a [Option<Combination>],
}

/// The columns of a label that are added up.
#[derive(Clone, Copy)]
enum Added {
    /// Numbers from this column on.
    Numbers(usize),
    /// The indicators of a group.
    Classes(usize),
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        layout: &'a Layout,
        products: &'a Products<'a>,
        shift: &'a [f64],
        (floor, made): (f64, &'a [Option<Combination>]),
    ) -> Self {
        let delta = scaled(&products.rest.sum(), 1.0 / products.rest.weight);
        Parts { layout, products, shift, delta, floor, made }
    }

    /// All of them; those of the features with each other are given. See [`Over::once`](super::Over::once).
    pub(super) fn covariances(
        &self,
        features: Mat<f64>,
        rounding: &Rounding,
        once: bool,
    ) -> Covariances {
        let label = |role| self.labels(role, &features, once);
        Covariances {
            rows: self.products.rest.rows,
            weight: self.products.rest.weight,
            mean: self.feature_means(),
            target: label(Role::Target),
            sensitive: label(Role::Sensitive),
            inputs: match self.layout.inputs {
                Inputs::Features => InputCovariances::Features,
                Inputs::Kept(width) => {
                    InputCovariances::Kept(self.numeric(self.layout.dense, width))
                }
                Inputs::Gone => InputCovariances::Gone,
                Inputs::Span(_) => InputCovariances::Span,
            },
            features,
            rank_tolerance: rounding.rank,
            floor: self.feature_floors(&rounding.noise),
            turned_floor: None,
        }
    }

    /// Whether products were formed in single precision.
    fn is_rounded(&self) -> bool {
        self.floor > tolerance::FLOOR
    }

    fn share(&self, g: usize, k: usize) -> f64 {
        self.products.rest.counts[g][k] / self.products.rest.weight
    }

    /// `Cov` of two numeric columns.
    fn dense_dense(&self, i: usize, j: usize) -> f64 {
        self.products.at(i, j) / self.products.rest.weight - self.delta[i] * self.delta[j]
    }

    /// `Cov` of a numeric column with the indicator of class `k` of group `g`.
    fn dense_class(&self, i: usize, g: usize, k: usize) -> f64 {
        self.products.rest.tables[g][(i, k)] / self.products.rest.weight
            - self.delta[i] * self.share(g, k)
    }

    /// `Cov` of the indicators of class `k` of coded feature `g` and class `l` of group `h`.
    fn class_class(&self, (g, k): (usize, usize), (h, l): (usize, usize)) -> f64 {
        let joint = match g.cmp(&h) {
            std::cmp::Ordering::Equal if k == l => self.share(g, k),
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Less => self.pair(g, h)[(k, l)] / self.products.rest.weight,
            std::cmp::Ordering::Greater => self.pair(h, g)[(l, k)] / self.products.rest.weight,
        };
        joint - self.share(g, k) * self.share(h, l)
    }

    /// Joint counts of coded feature `g` with group `h > g`, in the order of `Layout::pairs`.
    fn pair(&self, g: usize, h: usize) -> &Mat<f64> {
        let groups = self.products.rest.counts.len();
        let before = g * groups - g * (g + 1) / 2;
        &self.products.rest.pairs[before + (h - g - 1)]
    }

    /// For each feature column: a dense column or a class of a coded feature.
    fn coded_columns(&self) -> Vec<(usize, usize)> {
        let codes = self.layout.codes.iter().enumerate();
        codes.flat_map(|(g, &n)| (0..n).map(move |k| (g, k))).collect()
    }

    fn feature_means(&self) -> Vec<f64> {
        let dense = (0..self.layout.dense).map(|j| self.shift[j] + self.delta[j]);
        let coded = self.coded_columns().into_iter().map(|(g, k)| self.share(g, k));
        dense.chain(coded).collect()
    }

    /// What rounding can have left of the variance of a numeric column.
    fn dense_floor(&self, j: usize) -> f64 {
        self.floor * self.products.at(j, j) / self.products.rest.weight
    }

    fn feature_floors(&self, noise: &[f64]) -> Vec<f64> {
        let dense = (0..self.layout.dense).map(|j| self.dense_floor(j));
        let coded = self.coded_columns().into_iter().map(|(g, k)| self.floor * self.share(g, k));
        let subtracted = dense.chain(coded).enumerate();
        let computed = |j: usize| noise.get(j).map_or(0.0, |n| (n / tolerance::NOISE).powi(2));
        subtracted.map(|(j, floor)| floor.max(computed(j))).collect()
    }

    fn feature_variances(&self, features: &Mat<f64>) -> Vec<f64> {
        let (means, floors) = (self.feature_means(), self.feature_floors(&[]));
        let variance = |j: usize| without_rounding(features[(j, j)], means[j], floors[j]);
        (0..features.nrows()).map(variance).collect()
    }

    /// `Cov(φ, φ)`, written over a matrix that is not needed any more.
    pub(super) fn features(&self, spare: Mat<f64>) -> Mat<f64> {
        let (dense, coded) = (self.layout.dense, self.coded_columns());
        let mut c = square(spare, dense + coded.len());
        self.products.covariances(&self.delta[..dense], c.as_mut());
        for (a, &(g, k)) in coded.iter().enumerate() {
            (0..dense).for_each(|j| c[(dense + a, j)] = self.dense_class(j, g, k));
        }
        for (b, &second) in coded.iter().enumerate() {
            for (a, &first) in coded.iter().enumerate().skip(b) {
                c[(dense + a, dense + b)] = self.class_class(second, first);
            }
        }
        mirror(c.as_mut());
        c
    }

    /// The covariances of numeric columns `at..at + width` with the features.
    fn numeric(&self, at: usize, width: usize) -> LabelCovariances {
        let (dense, coded) = (self.layout.dense, self.coded_columns());
        let cross = Mat::from_fn(dense + coded.len(), width, |i, j| match i.checked_sub(dense) {
            None => self.dense_dense(i, at + j),
            Some(a) => self.dense_class(at + j, coded[a].0, coded[a].1),
        });
        let mean: Vec<f64> = (at..at + width).map(|j| self.shift[j] + self.delta[j]).collect();
        let spread = (at..at + width).zip(&mean);
        let rounded =
            |(j, &mean)| without_rounding(self.dense_dense(j, j), mean, self.dense_floor(j));
        let variance = spread.map(rounded).collect();
        LabelCovariances { cross, mean, variance, labels: Vec::new() }
    }

    /// The covariances of the one-hot columns of group `h` with the features.
    fn classes(&self, h: usize) -> LabelCovariances {
        let (dense, coded) = (self.layout.dense, self.coded_columns());
        let classes = self.products.rest.counts[h].len();
        let cross = Mat::from_fn(dense + coded.len(), classes, |i, l| match i.checked_sub(dense) {
            None => self.dense_class(i, h, l),
            Some(a) => self.class_class(coded[a], (h, l)),
        });
        let shares: Vec<f64> = (0..classes).map(|l| self.share(h, l)).collect();
        let cross = if self.is_rounded() { without_remainder(cross, &shares) } else { cross };
        // p (1 − p), with 1 − p as the sum of the others: near 1 the difference has no digits left.
        let others = |l: usize| shares.iter().enumerate().filter(move |o| o.0 != l).map(|o| o.1);
        let variance = (0..classes).map(|l| shares[l] * others(l).sum::<f64>()).collect();
        LabelCovariances { cross, mean: shares, variance, labels: Vec::new() }
    }

    /// The columns that are made of those of label `i`, or these.
    fn combined(&self, i: usize, added: LabelCovariances, columns: Added) -> LabelCovariances {
        let Some(made) = self.made.get(i).and_then(Option::as_ref) else { return added };
        let part = |(at, t): &(std::ops::Range<usize>, Mat<f64>)| {
            let mut cross = added.cross.as_ref().subcols(at.start, at.len()) * t;
            let mean = |j: usize| -> f64 {
                t.col(j).iter().zip(&added.mean[at.clone()]).map(|(t, m)| t * m).sum()
            };
            let mean: Vec<f64> = (0..t.ncols()).map(mean).collect();
            let variance: Vec<f64> = (0..t.ncols())
                .map(|j| self.made_variance(columns, at.start, t.col_as_slice(j), mean[j]))
                .collect();
            for (j, _) in variance.iter().enumerate().filter(|(_, v)| **v == 0.0) {
                cross.col_mut(j).fill(0.0);
            }
            LabelCovariances { cross, mean, variance, labels: Vec::new() }
        };
        concatenate(made.iter().map(part).collect())
    }

    /// The variance of a combination of columns from `at` on.
    fn made_variance(&self, columns: Added, at: usize, t: &[f64], mean: f64) -> f64 {
        match columns {
            Added::Classes(h) => {
                let squares = t.iter().enumerate().map(|(k, t)| self.share(h, at + k) * t * t);
                (squares.sum::<f64>() - mean * mean).max(0.0)
            }
            Added::Numbers(first) => {
                let column = |i: usize| first + at + i;
                let row = |i: usize| -> f64 {
                    let each = t.iter().enumerate();
                    each.map(|(k, tk)| tk * self.dense_dense(column(i), column(k))).sum()
                };
                let used = || t.iter().enumerate().filter(|(_, t)| **t != 0.0);
                let variance: f64 = used().map(|(i, t)| t * row(i)).sum();
                let floor: f64 = used().map(|(i, t)| t * t * self.dense_floor(column(i))).sum();
                if variance.is_finite() && variance <= floor { 0.0 } else { variance }
            }
        }
    }

    fn labels(&self, role: Role, features: &Mat<f64>, once: bool) -> LabelCovariances {
        let inputs = self.layout.inputs;
        let mut number = self.layout.dense + inputs.kept();
        let mut group = self.layout.codes.len();
        let mut parts = Vec::new();
        for (i, label) in self.layout.labels.iter().enumerate() {
            let (at, h) = (number, group);
            match label.kind {
                LabelKind::Number { width } | LabelKind::Kernel { columns: width } => {
                    number += width;
                }
                LabelKind::Class { .. } => group += 1,
                LabelKind::Features => {}
            }
            if label.role != role {
                continue;
            }
            let part = match (&label.kind, inputs) {
                (LabelKind::Number { width } | LabelKind::Kernel { columns: width }, _) => {
                    self.combined(i, self.numeric(at, *width), Added::Numbers(at))
                }
                (LabelKind::Class { .. }, _) => {
                    self.combined(i, self.classes(h), Added::Classes(h))
                }
                (LabelKind::Features, Inputs::Kept(width)) => {
                    self.numeric(self.layout.dense, width)
                }
                (LabelKind::Features, _) => LabelCovariances {
                    cross: if once { Mat::zeros(features.nrows(), 0) } else { features.clone() },
                    mean: self.feature_means(),
                    variance: self.feature_variances(features),
                    labels: Vec::new(),
                },
            };
            parts.push(part.named(&label.name));
        }
        let mut all = concatenate(parts);
        // An attribute has one block for each target that it is judged beside.
        let made = self.layout.labels.iter().any(|l| l.role == role && l.made.is_some());
        all.labels.dedup_by(|next, label| {
            let same = made && next.name == label.name;
            if same {
                label.width += next.width;
            }
            same
        });
        all
    }
}

impl LabelCovariances {
    /// These columns are those of one label.
    fn named(mut self, name: &str) -> Self {
        self.labels = vec![LabelColumns { name: name.to_owned(), width: self.variance.len() }];
        self
    }
}

fn concatenate(mut parts: Vec<LabelCovariances>) -> LabelCovariances {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let rows = parts.first().map_or(0, |p| p.cross.nrows());
    let width = parts.iter().map(|p| p.cross.ncols()).sum();
    let mut cross = Mat::zeros(rows, width);
    let mut at = 0;
    for part in &parts {
        let n = part.cross.ncols();
        cross.as_mut().subcols_mut(at, n).copy_from(&part.cross);
        at += n;
    }
    LabelCovariances {
        cross,
        mean: parts.iter().flat_map(|p| p.mean.iter().copied()).collect(),
        variance: parts.iter().flat_map(|p| p.variance.iter().copied()).collect(),
        labels: parts.into_iter().flat_map(|p| p.labels).collect(),
    }
}
