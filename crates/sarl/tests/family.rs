//! The other erasures, each against the problem that it solves: a target that is preserved, labels
//! that are known, classes made equal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod common;

use common::{Table, synthetic};
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use sarl::{
    Block, Covariances, Erasing, Error, FeatureMap, Fit, FitParams, Fitted, Goal, Layout, Oracle,
    OracleSums, Quadratic, QuadraticSums, Role,
};

fn kept(table: &Table) -> Fitted {
    let layout = Layout::dense(table.width).keep_features();
    let layout = layout.class("y", Role::Target, 3).class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).unwrap();
    fit.push(&table.block()).unwrap();
    fit.finish().unwrap()
}

/// `D` with x̂ = x − D (x − x̄).
fn off(erasing: &Erasing) -> Mat<f64> {
    let erasure = erasing.erasure();
    erasure.taken().transpose() * erasure.found().transpose()
}

/// The least `tr D C Dᵀ` with `D A = B`, row by row by its optimality conditions; columns of A that
/// depend on others are left out by the caller.
fn least(c: MatRef<'_, f64>, a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let (m, q) = a.shape();
    let system = Mat::from_fn(m + q, m + q, |i, j| match (i < m, j < m) {
        (true, true) => 2.0 * c[(i, j)],
        (true, false) => a[(i, j - m)],
        (false, true) => a[(j, i - m)],
        (false, false) => 0.0,
    });
    let right = Mat::from_fn(m + q, m, |i, row| if i < m { 0.0 } else { b[(row, i - m)] });
    let solved = system.partial_piv_lu().solve(&right);
    Mat::from_fn(m, m, |row, j| solved[(j, row)])
}

fn change(c: &Covariances, d: &Mat<f64>) -> f64 {
    (d * &c.features * d.transpose()).diagonal().column_vector().iter().sum()
}

#[test]
fn a_preserving_erasure_is_the_least_change_that_does_both() {
    let table = synthetic(17, 900, 9, 3, 2);
    let fitted = kept(&table);
    let c = fitted.moments().covariances().unwrap();
    let erasing = fitted.preserve().unwrap();
    let d = off(&erasing);
    // The features are the first target, then the three classes of y.
    let cy = c.target.cross.as_ref().subcols(9, 3);
    let cs = c.sensitive.cross.as_ref();
    let size = c.features.norm_max();
    assert!((cs - &d * cs).norm_max() <= 1e-12 * size, "s is erased");
    assert!((&d * cy).norm_max() <= 1e-12 * size, "y is preserved");
    // The last class of each label depends on the others.
    let a = Mat::from_fn(9, 3, |i, j| if j == 0 { cs[(i, 0)] } else { cy[(i, j - 1)] });
    let b = Mat::from_fn(9, 3, |i, j| if j == 0 { cs[(i, 0)] } else { 0.0 });
    let brute = least(c.features.as_ref(), &a, &b);
    assert!((&d - &brute).norm_max() <= 1e-8 * (1.0 + brute.norm_max()));
    let lost = change(&c, &d);
    assert!((erasing.point().losses.jy - lost).abs() <= 1e-9 * lost);
    // The control: without the second condition less is changed, and y is not preserved.
    let plain = {
        let layout = Layout::dense(9).keep_features().class("s", Role::Sensitive, 2);
        let mut fit = Fit::new(FitParams::default(), layout).unwrap();
        fit.push(&Block::new(table.x()).class(&table.s)).unwrap();
        fit.finish().unwrap().erase(Goal::Leakage(0.0)).unwrap()
    };
    let leace = off(&plain);
    assert!(change(&c, &leace) < lost && (&leace * cy).norm_max() > 1e-3 * cy.norm_max());
    assert!((erasing.bounds().gamma_max - plain.point().losses.jy).abs() < 1e-9 * lost);
    assert!(erasing.certificate().gap == 0.0);
    // What a linear predictor that is fitted anew knows of y is the same after both.
    let explained = |d: &Mat<f64>| {
        let keep = Mat::<f64>::identity(9, 9) - d;
        let second = &keep * &c.features * keep.transpose();
        let eigen = second.self_adjoint_eigen(faer::Side::Lower).unwrap();
        let (u, values) = (eigen.U(), eigen.S());
        let along = u.transpose() * (&keep * cy);
        let largest = values[8];
        let share = |i: usize| match values[i] > 1e-9 * largest {
            true => along.row(i).squared_norm_l2() / values[i],
            false => 0.0,
        };
        (0..9).map(share).sum::<f64>()
    };
    assert!((explained(&d) - explained(&leace)).abs() < 1e-9);
    let attributes = erasing.attributes();
    let y = &attributes.target[1];
    let variance: f64 = c.target.variance[9..].iter().sum();
    assert!(y.name == "y" && (y.loss - (variance - explained(&d))).abs() < 1e-9, "{y:?}");
    assert!(y.share < 1.0 && y.share > 0.0 && attributes.target[0].name == ":features");
}

#[test]
fn what_is_erased_cannot_be_preserved() {
    let mut table = synthetic(17, 400, 5, 2, 2);
    table.y = table.s.clone();
    let layout = Layout::dense(5).keep_features();
    let layout = layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).unwrap();
    fit.push(&table.block()).unwrap();
    let refused = fit.finish().unwrap().preserve();
    let Err(Error::Overlap { hidden, kept, shared: 1, directions: 1 }) = refused else {
        panic!("{refused:?}");
    };
    assert!(hidden == "s" && kept == "y");
    // Without a target there is nothing to preserve.
    let layout = Layout::dense(5).keep_features().class("s", Role::Sensitive, 2);
    let mut fit = Fit::new(FitParams::default(), layout).unwrap();
    fit.push(&Block::new(table.x()).class(&table.s)).unwrap();
    assert!(matches!(fit.finish().unwrap().preserve(), Err(Error::Unavailable(_))));
}

#[test]
fn a_preserving_erasure_has_a_file_and_held_out_losses() {
    let table = synthetic(5, 700, 8, 3, 2);
    let fitted = kept(&table);
    let erasing = fitted.preserve().unwrap();
    let bytes = erasing.to_bytes().unwrap();
    let again = Erasing::from_bytes(&bytes).unwrap();
    assert!(again.is_preserving() && again.to_bytes().unwrap() == bytes);
    assert_eq!(again.attributes().target.len(), 2);
    let (held, labels) = fitted.preserved_heldout().unwrap();
    assert!(held.jy > 0.0 && held.leakage < 0.1 && labels.target.len() == 1);
    // The change on a fold that was not seen, by brute force.
    let moments = fitted.moments();
    let mut total = 0.0;
    for (train, test) in moments.splits().unwrap() {
        let map = FeatureMap::linear(8);
        let erasing = Erasing::preserving(&map, fitted.layout(), &train).unwrap();
        let step = Mat::from_fn(8, 1, |j, _| test.mean[j] - train.mean[j]);
        let d = off(&erasing);
        let second = &test.features + &step * step.transpose();
        let lost = &d * second * d.transpose();
        total += test.weight * lost.diagonal().column_vector().iter().sum::<f64>();
    }
    assert!((held.jy - total / 700.0).abs() <= 1e-9 * held.jy, "{held:?}");
}

/// The covariance of some rows with columns, weighted.
fn covariance(a: MatRef<'_, f64>, b: MatRef<'_, f64>, w: &[f64]) -> Mat<f64> {
    let total: f64 = w.iter().sum();
    let mean = |x: MatRef<'_, f64>, j: usize| {
        x.col(j).iter().zip(w).map(|(v, w)| v * w).sum::<f64>() / total
    };
    let centred = |x: MatRef<'_, f64>| {
        let means: Vec<f64> = (0..x.ncols()).map(|j| mean(x, j)).collect();
        Mat::from_fn(x.nrows(), x.ncols(), |i, j| (x[(i, j)] - means[j]) * w[i].sqrt())
    };
    centred(a).transpose() * centred(b) * faer::Scale(1.0 / total)
}

struct Labelled {
    table: Table,
    number: Vec<f64>,
    weights: Vec<f64>,
}

impl Labelled {
    fn new() -> Self {
        let table = synthetic(29, 600, 6, 3, 2);
        let number = (0..600).map(|i| 3.0 * table.x()[(i, 1)] + (i % 13) as f64 + 1e3).collect();
        let weights = (0..600).map(|i| (i % 5) as f64 / 2.0).collect();
        Labelled { table, number, weights }
    }

    fn layout(&self) -> Layout {
        let layout = Layout::dense(6).keep_features().class("y", Role::Sensitive, 3);
        layout.class("s", Role::Sensitive, 2).number("v", Role::Sensitive, 1)
    }

    fn block(&self) -> Block<'_, f64> {
        let number = MatRef::from_column_major_slice(&self.number, 600, 1);
        self.table.block().number(number).weighted(&self.weights)
    }

    /// Indicators and numbers, as columns.
    fn columns(&self) -> Mat<f64> {
        let is = |codes: &[u32], i: usize, k: usize| f64::from(u8::from(codes[i] as usize == k));
        Mat::from_fn(600, 6, |i, j| match j {
            0..3 => is(&self.table.y, i, j),
            3..5 => is(&self.table.s, i, j - 3),
            _ => self.number[i],
        })
    }
}

#[test]
fn an_oracle_erasure_leaves_no_covariance_and_changes_less_than_any_map_of_x() {
    let of = Labelled::new();
    let mut sums = OracleSums::new(of.layout()).unwrap();
    sums.push(&of.block()).unwrap();
    let oracle = sums.solve().unwrap();
    let erased = oracle.apply(&of.block()).unwrap();
    let erased = MatRef::from_row_major_slice(&erased, 600, 6);
    let (x, s, w) = (of.table.x(), of.columns(), &of.weights[..]);
    let before = covariance(x, s.as_ref(), w);
    let after = covariance(erased, s.as_ref(), w);
    // The number has a standard deviation of about 5.
    assert!(after.norm_max() <= 1e-11 && before.norm_max() > 0.1, "{}", after.norm_max());
    // The change is what it says, and that of a regression on the columns, one of each label left out.
    let moved = &x.to_owned() - erased;
    let total: f64 = w.iter().sum();
    let change = (0..600).map(|i| w[i] * moved.row(i).squared_norm_l2()).sum::<f64>() / total;
    assert!((change - oracle.change()).abs() <= 1e-9 * change);
    let some = Mat::from_fn(600, 4, |i, j| s[(i, [0, 1, 3, 5][j])]);
    let (css, csx) = (covariance(some.as_ref(), some.as_ref(), w), covariance(some.as_ref(), x, w));
    let solved = css.partial_piv_lu().solve(&csx);
    let regressed = (csx.transpose() * solved).diagonal().column_vector().iter().sum::<f64>();
    assert!((change - regressed).abs() <= 1e-9 * change);
    // LEACE must do with x.
    let mut fit = Fit::new(FitParams::default(), of.layout()).unwrap();
    fit.push(&of.block()).unwrap();
    let leace = fit.finish().unwrap().erase(Goal::Leakage(0.0)).unwrap();
    assert!(change < leace.point().losses.jy, "{change} {}", leace.point().losses.jy);
    let bytes = oracle.to_bytes().unwrap();
    let again = Oracle::from_bytes(&bytes).unwrap();
    assert!(Oracle::is_file(&bytes) && again.to_bytes().unwrap() == bytes);
    assert!(Quadratic::from_bytes(&bytes).is_err() && Erasing::from_bytes(&bytes).is_err());
    assert!(Oracle::from_bytes(&bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn sums_of_parts_merge_also_where_parts_lack_classes() {
    let of = Labelled::new();
    let block = of.block();
    let mut all = OracleSums::new(of.layout()).unwrap();
    all.push(&block).unwrap();
    let mut merged = OracleSums::new(of.layout()).unwrap();
    for start in [400, 0, 150] {
        let mut part = OracleSums::new(of.layout()).unwrap();
        let rows = if start == 400 {
            200
        } else if start == 0 {
            150
        } else {
            250
        };
        part.push(&block.slice(start, rows)).unwrap();
        merged.merge(&part).unwrap();
    }
    let (a, b) = (all.solve().unwrap(), merged.solve().unwrap());
    assert!((a.coefficients() - b.coefficients()).norm_max() < 1e-10);
    assert!((a.change() - b.change()).abs() < 1e-10 && a.rows() == b.rows());
    // The same rows with the classes of y under other numbers, of which a fourth has no rows.
    let layout = Layout::dense(6).keep_features().class("y", Role::Sensitive, 4);
    let layout = layout.class("s", Role::Sensitive, 2).number("v", Role::Sensitive, 1);
    let mut other = OracleSums::new(layout).unwrap();
    let to = [2u32, 0, 3];
    let y: Vec<u32> = of.table.y.iter().map(|&k| to[k as usize]).collect();
    let number = MatRef::from_column_major_slice(&of.number, 600, 1);
    let moved = Block::new(of.table.x()).class(&y).class(&of.table.s).number(number);
    other.push(&moved.clone().weighted(&of.weights)).unwrap();
    all.reclass(0, &to, 4).unwrap();
    let (a, b) = (all.solve().unwrap(), other.solve().unwrap());
    assert!((a.coefficients() - b.coefficients()).norm_max() < 1e-10);
    let (a, b) = (a.apply(&moved).unwrap(), b.apply(&moved).unwrap());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
}

fn of_class(x: MatRef<'_, f64>, codes: &[u32], k: u32) -> (Vec<f64>, Mat<f64>) {
    let rows: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == k).collect();
    let some = Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)]);
    let mean = (0..x.ncols()).map(|j| some.col(j).sum() / rows.len() as f64).collect();
    (mean, covariance(some.as_ref(), some.as_ref(), &vec![1.0; rows.len()]))
}

fn quadratic(table: &Table, classes: usize) -> QuadraticSums {
    let layout = Layout::dense(table.width).keep_features().class("s", Role::Sensitive, classes);
    QuadraticSums::new(layout).unwrap()
}

/// Rows whose covariance depends on the class.
fn spread(classes: u32) -> Table {
    let mut table = synthetic(31, 900, 5, 2, classes);
    for i in 0..900 {
        let k = table.s[i] as usize;
        table.x[5 * i + k] *= 3.0;
        table.x[5 * i + 4] += (k as f64 + 0.5) * table.x[5 * i];
    }
    table
}

#[test]
fn classes_have_the_same_means_and_covariances_after_a_quadratic_erasure() {
    for classes in [2, 3] {
        let table = spread(classes as u32);
        let mut sums = quadratic(&table, classes);
        sums.push(&Block::new(table.x()).class(&table.s)).unwrap();
        let eraser = sums.solve().unwrap();
        let erased = eraser.apply(&Block::new(table.x()).class(&table.s)).unwrap();
        let erased = MatRef::from_row_major_slice(&erased, 900, 5);
        let apart = |x: MatRef<'_, f64>| {
            let (mean, cov) = of_class(x, &table.s, 0);
            (1..classes as u32).fold((0.0f64, 0.0f64), |(m, c), k| {
                let (other, covariance) = of_class(x, &table.s, k);
                let means = mean.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(m, f64::max);
                (means, c.max((&cov - covariance).norm_max()))
            })
        };
        let (before, after) = (apart(table.x()), apart(erased));
        assert!(before.0 > 0.1 && before.1 > 0.5, "{before:?}");
        assert!(after.0 < 1e-11 && after.1 < 1e-8, "{after:?}");
        let moved = table.x() - erased;
        let change = moved.squared_norm_l2() / 900.0;
        assert!((change - eraser.change()).abs() < 1e-8 * change, "{change} {}", eraser.change());
        // Another covariance for all classes, with the best maps to it, changes more.
        for seed in 0..6 {
            assert!(elsewhere(&table, classes, &eraser, seed) > eraser.change() * (1.0 + 1e-9));
        }
        // Parts merge.
        let mut merged = quadratic(&table, classes);
        for start in [600, 0, 300] {
            let mut part = quadratic(&table, classes);
            part.push(&Block::new(table.x()).class(&table.s).slice(start, 300)).unwrap();
            merged.merge(&part).unwrap();
        }
        let other = merged.solve().unwrap();
        for k in 0..classes {
            let (a, b) = (eraser.class(k).unwrap(), other.class(k).unwrap());
            assert!((a.1 - b.1).norm_max() < 1e-9);
        }
        let bytes = eraser.to_bytes().unwrap();
        assert!(Quadratic::is_file(&bytes) && !Oracle::is_file(&bytes));
        assert_eq!(Quadratic::from_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
    }
}

/// The change where all classes are given a covariance near that of the erasure: `Σ πₖ W₂²`.
fn elsewhere(table: &Table, classes: usize, eraser: &Quadratic, seed: u64) -> f64 {
    let near = synthetic(seed + 1, 40, 5, 2, 2);
    let own = of_class(table.x(), &table.s, 0);
    let (_, map) = eraser.class(0).unwrap();
    let s = map * own.1 * map;
    let noise = near.x().transpose() * near.x() * faer::Scale(0.02 / 40.0);
    let s = s + noise;
    let power = |a: &Mat<f64>, p: f64| {
        let eigen = a.self_adjoint_eigen(faer::Side::Lower).unwrap();
        let u = eigen.U();
        let scaled = Mat::from_fn(5, 5, |i, j| u[(i, j)] * eigen.S()[j].powf(p));
        scaled * u.transpose()
    };
    let trace = |a: &Mat<f64>| a.diagonal().column_vector().iter().sum::<f64>();
    let root = power(&s, 0.5);
    (0..classes as u32)
        .map(|k| {
            let (mean, covariance) = of_class(table.x(), &table.s, k);
            let share = table.s.iter().filter(|&&c| c == k).count() as f64 / 900.0;
            let apart: f64 = mean.iter().zip(eraser.mean()).map(|(a, b)| (a - b) * (a - b)).sum();
            let both = trace(&power(&(&root * &covariance * &root), 0.5));
            share * (apart + trace(&covariance) + trace(&s) - 2.0 * both)
        })
        .sum()
}

#[test]
fn a_class_that_varies_in_fewer_directions_is_refused() {
    let mut table = spread(2);
    let few: Vec<u32> = (0..900).map(|i| u32::from(i < 4)).collect();
    let mut sums = quadratic(&table, 2);
    sums.push(&Block::new(table.x()).class(&few)).unwrap();
    let refused = sums.solve();
    assert!(
        matches!(refused, Err(Error::FlatClass { class: 1, rows: 4, found: 3, expected: 5, .. })),
        "{refused:?}"
    );
    // A constant and a copy of a column are directions in which no class varies.
    for i in 0..900 {
        table.x[5 * i + 2] = 7.0;
        table.x[5 * i + 3] = 2.0 * table.x[5 * i];
    }
    let block = Block::new(table.x()).class(&table.s);
    let mut sums = quadratic(&table, 2);
    sums.push(&block).unwrap();
    let erased = sums.solve().unwrap().apply(&block).unwrap();
    let erased = MatRef::from_row_major_slice(&erased, 900, 5);
    let (a, b) = (of_class(erased, &table.s, 0), of_class(erased, &table.s, 1));
    assert!((a.1 - b.1).norm_max() < 1e-8);
    assert!((0..900).all(|i| (erased[(i, 2)] - 7.0).abs() < 1e-9));
    assert!((0..900).all(|i| (erased[(i, 3)] - 2.0 * erased[(i, 0)]).abs() < 1e-8));
}

#[test]
fn labels_that_suit_neither_are_refused() {
    let base = || Layout::dense(2).keep_features();
    let two = base().class("a", Role::Sensitive, 2).class("b", Role::Sensitive, 2);
    assert!(QuadraticSums::new(two).is_err());
    assert!(QuadraticSums::new(base().number("v", Role::Sensitive, 1)).is_err());
    let target = base().class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    assert!(OracleSums::new(target).is_err());
    let mut sums = OracleSums::new(base().class("s", Role::Sensitive, 3)).unwrap();
    let x = Mat::from_fn(4, 2, |i, j| (i * (j + 1)) as f64);
    sums.push(&Block::new(x.as_ref()).class(&[0, 0, 1, 1])).unwrap();
    assert!(sums.push(&Block::new(x.as_ref()).class(&[0, 0, 3, 1])).is_err());
    assert_eq!(sums.rows(), 4);
    let same = Block::new(x.as_ref());
    let mut constant = OracleSums::new(base().class("s", Role::Sensitive, 3)).unwrap();
    constant.push(&same.class(&[1, 1, 1, 1])).unwrap();
    assert!(matches!(constant.solve(), Err(Error::ConstantLabel { .. })));
}
