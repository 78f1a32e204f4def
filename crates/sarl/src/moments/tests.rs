//! Moments against a corrected two-pass computation over the expanded columns.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::folds::fold_of;
use super::*;
use crate::tolerance;

mod shards;

/// Two dense features, two coded ones (three and two categories) and labels of every kind.
#[derive(Clone)]
struct Rows {
    x: Mat<f64>,
    codes: [Vec<u32>; 2],
    classes: [Vec<u32>; 2],
    numbers: [Mat<f64>; 2],
    weights: Option<Vec<f64>>,
}

const CODES: [usize; 2] = [3, 2];
const CLASSES: [usize; 2] = [3, 4];

fn rows(seed: u64, n: usize, mean: f64) -> Rows {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let x = Mat::from_fn(n, 2, |_, _| mean + normal(&mut rng));
    let mut draw = |of: usize, at: usize, none: bool| -> Vec<u32> {
        let mut one = |i: usize| {
            let shifted = f64::from(rng.random_range(0..of as u32)) + (x[(i, at)] - mean);
            let none = none && rng.random::<f64>() < 0.2;
            if none { NO_CLASS } else { shifted.abs() as u32 % of as u32 }
        };
        (0..n).map(&mut one).collect()
    };
    let codes = [draw(CODES[0], 0, true), draw(CODES[1], 1, true)];
    let classes = [draw(CLASSES[0], 1, false), draw(CLASSES[1], 0, false)];
    let mut number = |width: usize| {
        Mat::from_fn(n, width, |i, j| 3.0 * mean + normal(&mut rng) + x[(i, j % 2)] - mean)
    };
    let numbers = [number(1), number(2)];
    Rows { x, codes, classes, numbers, weights: None }
}

impl Rows {
    fn layout() -> Layout {
        Layout::dense(2)
            .coded(&CODES)
            .class("y", Role::Target, CLASSES[0])
            .number("s1", Role::Sensitive, 2)
            .class("s2", Role::Sensitive, CLASSES[1])
            .number("y2", Role::Target, 1)
    }

    fn labelled<'a, T: Element>(&'a self, x: MatRef<'a, T>) -> Block<'a, T> {
        let [a, b] = &self.codes;
        let block = Block::new(x).coded(a).coded(b).class(&self.classes[0]);
        let block = block.number(self.numbers[1].as_ref()).class(&self.classes[1]);
        let block = block.number(self.numbers[0].as_ref());
        match &self.weights {
            Some(w) => block.weighted(w),
            None => block,
        }
    }

    fn block(&self) -> Block<'_, f64> {
        self.labelled(self.x.as_ref())
    }

    fn n(&self) -> usize {
        self.x.nrows()
    }

    /// Those rows, in that order, however often.
    fn take(&self, order: &[usize]) -> Rows {
        let mat = |a: &Mat<f64>| Mat::from_fn(order.len(), a.ncols(), |i, j| a[(order[i], j)]);
        let codes = |c: &Vec<u32>| order.iter().map(|&i| c[i]).collect::<Vec<_>>();
        Rows {
            x: mat(&self.x),
            codes: [codes(&self.codes[0]), codes(&self.codes[1])],
            classes: [codes(&self.classes[0]), codes(&self.classes[1])],
            numbers: [mat(&self.numbers[0]), mat(&self.numbers[1])],
            weights: self.weights.as_ref().map(|w| order.iter().map(|&i| w[i]).collect()),
        }
    }

    fn one_hot(codes: &[u32], of: usize) -> Mat<f64> {
        Mat::from_fn(codes.len(), of, |i, k| f64::from(u8::from(codes[i] == k as u32)))
    }

    fn features(&self) -> Mat<f64> {
        let hot = |g: usize| Self::one_hot(&self.codes[g], CODES[g]);
        hcat(&[&self.x, &hot(0), &hot(1)])
    }

    fn target(&self) -> Mat<f64> {
        hcat(&[&Self::one_hot(&self.classes[0], CLASSES[0]), &self.numbers[0]])
    }

    fn sensitive(&self) -> Mat<f64> {
        hcat(&[&self.numbers[1], &Self::one_hot(&self.classes[1], CLASSES[1])])
    }

    fn weight(&self) -> Vec<f64> {
        self.weights.clone().unwrap_or_else(|| vec![1.0; self.n()])
    }

    fn moments(&self, blocks: usize, options: MomentsOptions) -> Moments {
        let mut moments = Moments::new(Self::layout(), options).unwrap();
        let size = self.n().div_ceil(blocks);
        for start in (0..self.n()).step_by(size) {
            moments.push(&self.block().slice(start, size.min(self.n() - start))).unwrap();
        }
        moments
    }
}

fn one_fold() -> MomentsOptions {
    MomentsOptions { folds: 1, ..Default::default() }
}

fn hcat(parts: &[&Mat<f64>]) -> Mat<f64> {
    let width = parts.iter().map(|p| p.ncols()).sum();
    let mut all = Mat::zeros(parts[0].nrows(), width);
    let mut at = 0;
    for part in parts {
        all.as_mut().subcols_mut(at, part.ncols()).copy_from(part);
        at += part.ncols();
    }
    all
}

/// Weighted means, by a first guess and its correction.
fn means(a: &Mat<f64>, w: &[f64]) -> Vec<f64> {
    let total: f64 = w.iter().sum();
    let about = |j: usize, c: f64| (0..a.nrows()).map(|i| w[i] * (a[(i, j)] - c)).sum::<f64>();
    let one = |j: usize| {
        let c = a[(0, j)] + about(j, a[(0, j)]) / total;
        c + about(j, c) / total
    };
    (0..a.ncols()).map(one).collect()
}

/// Weighted covariances of all columns, in two passes with the correction of the second.
fn covariance(a: &Mat<f64>, w: &[f64]) -> Mat<f64> {
    let (mean, total) = (means(a, w), w.iter().sum::<f64>());
    let left = |i: usize, j: usize| a[(i, j)] - mean[j];
    let rest = |j: usize| (0..a.nrows()).map(|r| w[r] * left(r, j)).sum::<f64>() / total;
    let rest: Vec<f64> = (0..a.ncols()).map(rest).collect();
    Mat::from_fn(a.ncols(), a.ncols(), |i, j| {
        let sum: f64 = (0..a.nrows()).map(|r| w[r] * left(r, i) * left(r, j)).sum();
        sum / total - rest[i] * rest[j]
    })
}

/// Every part of `found` against brute force; errors relative to the standard deviations.
fn agrees(found: &Covariances, data: &Rows, tolerance: f64) {
    let all = hcat(&[&data.features(), &data.target(), &data.sensitive()]);
    let w = data.weight();
    let (mean, c) = (means(&all, &w), covariance(&all, &w));
    let (m, p) = (found.features.nrows(), found.target.mean.len());
    let close = |value: f64, i: usize, j: usize, what: &str| {
        let scale = (c[(i, i)] * c[(j, j)]).sqrt();
        let error = (value - c[(i, j)]).abs();
        assert!(error <= tolerance * scale, "{what} {i},{j}: {value} for {}", c[(i, j)]);
    };
    for j in 0..m {
        (0..m).for_each(|i| close(found.features[(i, j)], i, j, "features"));
        (0..p).for_each(|l| close(found.target.cross[(j, l)], j, m + l, "target"));
        let q = found.sensitive.mean.len();
        (0..q).for_each(|l| close(found.sensitive.cross[(j, l)], j, m + p + l, "sensitive"));
    }
    let labels = [(m, &found.target), (m + p, &found.sensitive)];
    for (at, part) in labels {
        part.variance.iter().enumerate().for_each(|(l, &v)| close(v, at + l, at + l, "label"));
    }
    let label_means = found.target.mean.iter().chain(&found.sensitive.mean);
    for (j, value) in found.mean.iter().chain(label_means).enumerate() {
        let scale = mean[j].abs() + c[(j, j)].sqrt();
        assert!((value - mean[j]).abs() <= tolerance * scale, "mean {j}: {value} for {}", mean[j]);
    }
    let positive = w.iter().filter(|w| **w > 0.0).count();
    assert_eq!(found.rows, positive as u64);
    assert!((found.weight - w.iter().sum::<f64>()).abs() <= tolerance * found.weight);
}

#[test]
fn all_kinds_of_columns_against_brute_force() {
    for n in [2, 7, 100, 3000] {
        let mut data = rows(n as u64, n, 0.5);
        let all = data.moments(3, MomentsOptions::default());
        agrees(&Moments::assemble(&all, &all.total(|_| true)).unwrap(), &data, 1e-12);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        data.weights = Some((0..n).map(|_| 10.0 * rng.random::<f64>()).collect());
        let all = data.moments(3, MomentsOptions::default());
        agrees(&Moments::assemble(&all, &all.total(|_| true)).unwrap(), &data, 1e-12);
    }
}

#[test]
fn integer_weights_are_repeated_rows() {
    let mut data = rows(3, 400, 2.0);
    let times: Vec<usize> = (0..400).map(|i| (i * 7) % 4).collect();
    let order: Vec<usize> = (0..400).flat_map(|i| std::iter::repeat_n(i, times[i])).collect();
    let repeated = data.take(&order);
    data.weights = Some(times.iter().map(|&t| t as f64).collect());
    let weighted = data.moments(4, MomentsOptions::default()).covariances().unwrap();
    agrees(&weighted, &data, 1e-12);
    let repeated = repeated.moments(1, one_fold()).covariances().unwrap();
    assert_eq!(weighted.weight, repeated.weight);
    assert!((&weighted.features - &repeated.features).norm_max() < 1e-13);
    assert!((&weighted.sensitive.cross - &repeated.sensitive.cross).norm_max() < 1e-13);
}

#[test]
fn single_precision_input() {
    let mut data = rows(4, 5000, 1.0);
    let narrow = Mat::from_fn(5000, 2, |i, j| data.x[(i, j)] as f32);
    data.x = Mat::from_fn(5000, 2, |i, j| f64::from(narrow[(i, j)]));
    // Double: the widened values exactly. Single: `RANK_SINGLE` promises five digits.
    for (precision, tolerance) in [(Precision::Double, 1e-12), (Precision::Single, 1e-5)] {
        let options = MomentsOptions { precision, ..Default::default() };
        let mut moments = Moments::new(Rows::layout(), options).unwrap();
        moments.push(&data.labelled(narrow.as_ref())).unwrap();
        let found = moments.covariances().unwrap();
        agrees(&found, &data, tolerance);
        let single = precision == Precision::Single;
        let rank = if single { tolerance::RANK_SINGLE } else { tolerance::RANK };
        assert_eq!(found.rank_tolerance, rank);
    }
}

#[test]
fn far_from_zero() {
    for blocks in [1, 30] {
        let data = rows(5, 20_000, 1e6);
        let moments = data.moments(blocks, MomentsOptions::default());
        agrees(&moments.covariances().unwrap(), &data, 1e-9);
    }
}

fn stacked(first: &Rows, second: &Rows) -> Rows {
    let below = |a: &Mat<f64>, b: &Mat<f64>| {
        let n = a.nrows();
        let at = |i: usize, j: usize| if i < n { a[(i, j)] } else { b[(i - n, j)] };
        Mat::from_fn(n + b.nrows(), a.ncols(), at)
    };
    let chain = |a: &[u32], b: &[u32]| [a, b].concat();
    let pair = |a: &[Vec<u32>; 2], b: &[Vec<u32>; 2]| [chain(&a[0], &b[0]), chain(&a[1], &b[1])];
    let weights = [first.weight(), second.weight()].concat();
    Rows {
        x: below(&first.x, &second.x),
        codes: pair(&first.codes, &second.codes),
        classes: pair(&first.classes, &second.classes),
        numbers: [
            below(&first.numbers[0], &second.numbers[0]),
            below(&first.numbers[1], &second.numbers[1]),
        ],
        weights: Some(weights),
    }
}

/// The folds of `data` by row number, each against brute force.
fn folds_agree(moments: &Moments, data: &Rows, tolerance: f64) {
    let MomentsOptions { folds, seed, .. } = moments.options();
    for (fold, (train, test)) in moments.splits().unwrap().iter().enumerate() {
        let of = |i: &usize| fold_of(*i as u64, folds as u64, seed);
        let part = |held: bool| -> Vec<usize> {
            (0..data.n()).filter(|i| (of(i) == fold) == held).collect()
        };
        agrees(test, &data.take(&part(true)), tolerance);
        agrees(train, &data.take(&part(false)), tolerance);
    }
}

#[test]
fn an_unrepresentative_first_block() {
    let all = stacked(&rows(6, 1000, 0.0), &rows(7, 20_000, 1e6));
    let mut moments = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
    moments.push(&all.block().slice(0, 1000)).unwrap();
    moments.push(&all.block().slice(1000, 20_000)).unwrap();
    agrees(&moments.covariances().unwrap(), &all, 1e-9);
    folds_agree(&moments, &all, 1e-9);
}

/// One odd row at the start must not cost the folds that do not hold it their digits.
#[test]
fn an_outlier_as_the_first_block() {
    let all = stacked(&rows(8, 1, 0.0), &rows(9, 4000, 1e6));
    let mut moments = Moments::new(Rows::layout(), MomentsOptions::default()).unwrap();
    moments.push(&all.block().slice(0, 1)).unwrap();
    moments.push(&all.block().slice(1, 4000)).unwrap();
    agrees(&moments.covariances().unwrap(), &all, 1e-9);
    folds_agree(&moments, &all, 1e-9);
}

#[test]
fn rows_of_weight_zero_do_not_count() {
    for mean in [0.5, 1e6] {
        let mut zero = rows(10, 1500, 0.0);
        zero.weights = Some(vec![0.0; 1500]);
        let real = rows(11, 3000, mean);
        let all = stacked(&zero, &real);
        let moments = all.moments(3, MomentsOptions::default());
        assert_eq!(moments.rows(), 4500);
        agrees(&moments.covariances().unwrap(), &real, if mean > 1.0 { 1e-9 } else { 1e-12 });
    }
}
