//! The objective of LFR and its gradient.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use sarl_eval::Labels;

/// Below this a difference of memberships counts by its square: |t| has no gradient at 0.
const CORNER: f64 = 1e-2;
/// Added to probabilities, so that they have a logarithm.
const TINY: f64 = 1e-12;

/// The weights of the three losses.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    pub parity: f64,
    pub reconstruction: f64,
    pub prediction: f64,
}

/// The three losses.
#[derive(Clone, Copy)]
pub(super) struct Losses {
    pub parity: f64,
    pub reconstruction: f64,
    pub prediction: f64,
}

impl Weights {
    pub(super) fn total(&self, losses: &Losses) -> f64 {
        self.parity * losses.parity
            + self.reconstruction * losses.reconstruction
            + self.prediction * losses.prediction
    }
}

/// How the parameters lie in one vector: ln α, then the prototypes, then what each prototype tells
/// of each target.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub features: usize,
    pub prototypes: usize,
}

impl Shape {
    /// Features × prototypes.
    pub(super) fn prototypes<'a>(&self, point: &'a [f64]) -> MatRef<'a, f64> {
        let (d, k) = (self.features, self.prototypes);
        MatRef::from_column_major_slice(&point[d..d * (1 + k)], d, k)
    }

    /// Where the answers begin.
    pub(super) fn answers(&self) -> usize {
        self.features * (1 + self.prototypes)
    }

    /// `A = 2 diag(α) V` and `b_k = −Σ α v_k²`: up to what all prototypes share, the negative
    /// distances are `XA + b`.
    pub(super) fn scores(&self, point: &[f64]) -> (Mat<f64>, Vec<f64>) {
        let v = self.prototypes(point);
        let alpha: Vec<f64> = point[..self.features].iter().map(|a| a.exp()).collect();
        let a = Mat::from_fn(v.nrows(), v.ncols(), |i, k| 2.0 * alpha[i] * v[(i, k)]);
        let b = (0..v.ncols())
            .map(|k| -alpha.iter().zip(v.col(k).iter()).map(|(a, v)| a * v * v).sum::<f64>());
        (a, b.collect())
    }
}

/// Columns that a target takes: its classes, or one.
pub(super) fn columns(target: &Labels) -> usize {
    target.classes().unwrap_or(1)
}

/// Rows with their labels.
pub(super) struct Rows {
    /// Without the mean.
    pub x: Mat<f64>,
    pub targets: Vec<Labels>,
    pub sensitives: Vec<Labels>,
    /// Of all columns together: the squares of a reconstruction that always gives the mean.
    pub variance: f64,
}

impl Rows {
    /// The losses at a point, and the gradient of their weighted sum.
    pub(super) fn look(
        &self,
        shape: Shape,
        weights: &Weights,
        point: &[f64],
    ) -> (Losses, Vec<f64>) {
        let (n, k) = (self.x.nrows(), shape.prototypes);
        let v = shape.prototypes(point);
        let (a, b) = shape.scores(point);
        let d = v.nrows();
        // Both products at once: the rows are read once.
        let both = Mat::from_fn(d, 2 * k, |i, j| if j < k { a[(i, j)] } else { v[(i, j - k)] });
        let both = product(self.x.as_ref(), both.as_ref());
        let m = memberships(both.as_ref().subcols(0, k), &b);
        let mut slopes = Mat::zeros(n, k);
        let mut gradient = vec![0.0; point.len()];

        let parity = self.parity(&m, weights.parity, &mut slopes);
        let from = shape.answers();
        let scale = weights.prediction / n as f64;
        let prediction =
            self.prediction(&m, &point[from..], scale, &mut slopes, &mut gradient[from..]);
        let unit = 1.0 / (n as f64 * self.variance);
        let scale = weights.reconstruction * unit;
        matmul(slopes.as_mut(), Accum::Add, &m, product(v.transpose(), v), 2.0 * scale, Par::Seq);
        for (slope, along) in slopes.col_iter_mut().zip(both.col_iter().skip(k)) {
            slope.iter_mut().zip(along.iter()).for_each(|(s, p)| *s -= 2.0 * scale * p);
        }
        through_softmax(&m, &mut slopes);

        let both =
            Mat::from_fn(n, 2 * k, |i, j| if j < k { m[(i, j)] } else { slopes[(i, j - k)] });
        let crossed = product(self.x.transpose(), both.as_ref());
        let (crossed, moved) = crossed.as_ref().split_at_col(k);
        // Σ|x − Vm|² = Σ|x|² − 2⟨XᵀM, V⟩ + ⟨V MᵀM, V⟩, without the rows x − Vm.
        let spanned = product(v, product(m.transpose(), m.as_ref()).as_ref());
        let mut reconstruction = self.variance * n as f64;
        let (for_alpha, rest) = gradient.split_at_mut(d);
        for k in 0..k {
            let shift = slopes.col(k).iter().sum::<f64>();
            for i in 0..d {
                let (alpha, at, moved) = (point[i].exp(), v[(i, k)], moved[(i, k)]);
                reconstruction += at * (spanned[(i, k)] - 2.0 * crossed[(i, k)]);
                for_alpha[i] += alpha * at * (2.0 * moved - at * shift);
                rest[k * d + i] = 2.0 * alpha * (moved - at * shift)
                    + 2.0 * scale * (spanned[(i, k)] - crossed[(i, k)]);
            }
        }
        (Losses { parity, reconstruction: reconstruction * unit, prediction }, gradient)
    }

    /// `Σ_k Σ_g |mean of M_k in group g − mean of M_k| / (groups − 1)`.
    fn parity(&self, m: &Mat<f64>, weight: f64, slopes: &mut Mat<f64>) -> f64 {
        let n = m.nrows() as f64;
        let mut loss = 0.0;
        for labels in &self.sensitives {
            let Labels::Classes { codes, count } = labels else { continue };
            let mut sizes = vec![0.0; *count];
            codes.iter().for_each(|&c| sizes[c as usize] += 1.0);
            let groups = sizes.iter().filter(|s| **s > 0.0).count();
            if groups < 2 {
                continue;
            }
            let each = 1.0 / (groups - 1) as f64;
            for k in 0..m.ncols() {
                let mut means = vec![0.0; *count];
                for (&c, v) in codes.iter().zip(m.col(k).iter()) {
                    means[c as usize] += v;
                }
                let all = means.iter().sum::<f64>() / n;
                // What a row of each group adds, and what every row takes.
                let (mut adds, mut takes) = (vec![0.0; *count], 0.0);
                for g in (0..*count).filter(|g| sizes[*g] > 0.0) {
                    let off = means[g] / sizes[g] - all;
                    let length = off.hypot(CORNER);
                    loss += each * (length - CORNER);
                    adds[g] = weight * each * off / length / sizes[g];
                    takes += weight * each * off / length / n;
                }
                for (slope, &c) in slopes.col_mut(k).iter_mut().zip(codes) {
                    *slope += adds[c as usize] - takes;
                }
            }
        }
        loss
    }

    /// Cross-entropy of classes and mean squares of numbers, summed over targets; `scale` is the
    /// weight by the rows.
    fn prediction(
        &self,
        m: &Mat<f64>,
        answers: &[f64],
        scale: f64,
        slopes: &mut Mat<f64>,
        gradient: &mut [f64],
    ) -> f64 {
        let (n, k) = m.shape();
        let (mut loss, mut from) = (0.0, 0);
        for target in &self.targets {
            let width = columns(target);
            let w = MatRef::from_row_major_slice(&answers[from..from + k * width], k, width);
            let share = &mut gradient[from..from + k * width];
            from += k * width;
            match target {
                Labels::Classes { codes, .. } => {
                    let p = memberships(w, &vec![0.0; width]);
                    let told = product(m.as_ref(), p.as_ref());
                    let mut by_class = Mat::zeros(k, width);
                    let inverse: Vec<f64> = (0..n)
                        .map(|i| {
                            let told = told[(i, codes[i] as usize)] + TINY;
                            loss -= told.ln() / n as f64;
                            scale / told
                        })
                        .collect();
                    for k in 0..k {
                        let at = p.row(k);
                        let rows = slopes.col_mut(k).iter_mut().zip(m.col(k).iter());
                        for (((slope, m), &c), inverse) in rows.zip(codes).zip(&inverse) {
                            *slope -= at[c as usize] * inverse;
                            by_class[(k, c as usize)] -= m * inverse;
                        }
                    }
                    through_softmax(&p, &mut by_class);
                    for k in 0..k {
                        for j in 0..width {
                            share[k * width + j] = by_class[(k, j)];
                        }
                    }
                }
                Labels::Numbers(values) => {
                    let told = product(m.as_ref(), w);
                    for (i, value) in values.iter().enumerate() {
                        let off = told[(i, 0)] - value;
                        loss += off * off / n as f64;
                        for k in 0..k {
                            slopes[(i, k)] += 2.0 * scale * off * w[(k, 0)];
                            share[k] += 2.0 * scale * off * m[(i, k)];
                        }
                    }
                }
            }
        }
        loss
    }
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// The softmax of each row of `scores + b`.
pub(super) fn memberships(scores: MatRef<'_, f64>, b: &[f64]) -> Mat<f64> {
    let (rows, columns) = scores.shape();
    let mut m = Mat::from_fn(rows, columns, |i, k| scores[(i, k)] + b[k]);
    let mut largest = vec![f64::NEG_INFINITY; rows];
    for column in m.col_iter() {
        largest.iter_mut().zip(column.iter()).for_each(|(l, v)| *l = l.max(*v));
    }
    let mut sums = vec![0.0; rows];
    for column in m.col_iter_mut() {
        for ((v, l), sum) in column.iter_mut().zip(&largest).zip(&mut sums) {
            *v = (*v - l).exp();
            *sum += *v;
        }
    }
    for column in m.col_iter_mut() {
        column.iter_mut().zip(&sums).for_each(|(v, sum)| *v /= sum);
    }
    m
}

/// Turns slopes along probabilities, row by row, into slopes along their scores.
fn through_softmax(m: &Mat<f64>, slopes: &mut Mat<f64>) {
    let mut means = vec![0.0; m.nrows()];
    for (p, slope) in m.col_iter().zip(slopes.col_iter()) {
        for ((mean, p), s) in means.iter_mut().zip(p.iter()).zip(slope.iter()) {
            *mean += p * s;
        }
    }
    for (p, slope) in m.col_iter().zip(slopes.col_iter_mut()) {
        for ((mean, p), s) in means.iter().zip(p.iter()).zip(slope.iter_mut()) {
            *s = p * (*s - mean);
        }
    }
}

#[cfg(test)]
mod tests;
