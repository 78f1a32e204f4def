//! Bad input has a defined outcome each: an error that names it, or a result that it does not touch.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use common::{Table, normal, rng, synthetic};
use faer::Mat;
use sarl::{
    Block, FeatureMap, Front, Goal, HeldOut, Layout, Model, Moments, MomentsOptions, NO_CLASS,
    Reduced, Result, Role,
};

fn says<T>(result: Result<T>, message: &str) {
    let error = result.map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), message);
}

/// Two numbers, a coded feature, a class to keep and a number to hide: twelve rows.
struct Small {
    x: Mat<f64>,
    c: Vec<u32>,
    y: Vec<u32>,
    s: Mat<f64>,
    w: Vec<f64>,
}

impl Small {
    fn new() -> Self {
        let mut rng = rng(1);
        let (x, s) = (normal(&mut rng, 12, 2), normal(&mut rng, 12, 1));
        let c = (0..12).map(|i| if i == 5 { NO_CLASS } else { i % 3 }).collect();
        Small { x, c, y: (0..12).map(|i| i / 2 % 2).collect(), s, w: vec![1.0; 12] }
    }

    fn layout() -> Layout {
        let layout = Layout::dense(2).coded(&[3]).class("y", Role::Target, 2);
        layout.number("age", Role::Sensitive, 1)
    }

    fn block(&self) -> Block<'_, f64> {
        let block = Block::new(self.x.as_ref()).coded(&self.c).class(&self.y);
        block.number(self.s.as_ref()).weighted(&self.w)
    }

    /// Pushed behind twelve good rows.
    fn second(&self) -> Result<Moments> {
        let mut moments = Moments::new(Self::layout(), MomentsOptions::default())?;
        moments.push(&Small::new().block())?;
        moments.push(&self.block())?;
        Ok(moments)
    }
}

#[test]
fn what_is_not_finite_is_named() {
    assert!(Small::new().second().is_ok());
    for (value, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-f64::INFINITY, "-inf")] {
        let mut bad = Small::new();
        bad.x[(7, 1)] = value;
        let rest = format!("is {word} in row 19; every value must be finite");
        says(bad.second(), &format!("feature column 1 {rest}"));
        let mut bad = Small::new();
        bad.s[(7, 0)] = value;
        says(bad.second(), &format!("label `age` (column 0) {rest}"));
        let mut bad = Small::new();
        bad.w[7] = value;
        says(bad.second(), &format!("the sample weight {rest}"));
        // Single precision too.
        let x = Mat::from_fn(12, 2, |i, j| if (i, j) == (7, 0) { value as f32 } else { 1.0 });
        let good = Small::new();
        let block = Block::new(x.as_ref()).coded(&good.c).class(&good.y).number(good.s.as_ref());
        let mut moments = Moments::new(Small::layout(), MomentsOptions::default()).unwrap();
        let text = format!("feature column 0 is {word} in row 7; every value must be finite");
        says(moments.push(&block), &text);
    }
}

#[test]
fn weights() {
    let mut bad = Small::new();
    bad.w[3] = -0.5;
    says(bad.second(), "the weight in row 15 is -0.5; weights must not be negative");
    let mut zero = Small::new();
    zero.w = vec![0.0; 12];
    let mut moments = Moments::new(Small::layout(), MomentsOptions::default()).unwrap();
    moments.push(&zero.block()).unwrap();
    says(moments.covariances(), "0 rows with a positive weight: at least 2 are needed");
    zero.w[4] = 1.0;
    moments.push(&zero.block()).unwrap();
    says(moments.covariances(), "1 rows with a positive weight: at least 2 are needed");
}

#[test]
fn shapes_kinds_and_classes() {
    let good = Small::new();
    let mut moments = Moments::new(Small::layout(), MomentsOptions::default()).unwrap();
    let x = good.x.as_ref();
    let all = |x| Block::new(x).coded(&good.c).class(&good.y).number(good.s.as_ref());
    let wide: Mat<f64> = Mat::zeros(12, 3);
    let short: Mat<f64> = Mat::zeros(11, 1);
    let mut refuses = |block: Block<'_, f64>, text: &str| says(moments.push(&block), text);
    refuses(all(wide.as_ref()), "dense feature columns: found 3, expected 2");
    refuses(all(x.subrows(0, 11)), "rows of a class-coded feature: found 12, expected 11");
    let block = Block::new(x).class(&good.y).number(good.s.as_ref());
    refuses(block, "class-coded feature columns: found 0, expected 1");
    let start = || Block::new(x).coded(&good.c);
    refuses(start().class(&good.y), "labels: found 1, expected 2");
    refuses(all(x).class(&good.y), "labels: found 3, expected 2");
    let block = start().class(&good.y[1..]).number(good.s.as_ref());
    refuses(block, "rows of label `y`: found 11, expected 12");
    let block = start().class(&good.y).number(short.as_ref());
    refuses(block, "rows of label `age`: found 11, expected 12");
    let block = start().class(&good.y).number(wide.as_ref());
    refuses(block, "columns of label `age`: found 3, expected 1");
    refuses(all(x).weighted(&good.w[..5]), "weights: found 5, expected 12");
    let block = start().number(good.s.as_ref()).number(good.s.as_ref());
    refuses(block, "label `y` holds numbers, expected classes");
    let block = start().class(&good.y).class(&good.y);
    refuses(block, "label `age` holds classes, expected numbers");
    for class in [2, NO_CLASS] {
        let mut bad = Small::new();
        bad.y[9] = class;
        let declared = "but only 2 classes were declared";
        says(bad.second(), &format!("label `y` has class {class} in row 21, {declared}"));
    }
    let mut bad = Small::new();
    bad.c[9] = 3;
    let text = "class-coded feature 0 has class 3 in row 21, but only 3 classes were declared";
    says(bad.second(), text);
}

#[test]
fn layouts_and_options() {
    let make = |layout| Moments::new(layout, MomentsOptions::default());
    says(make(Layout::dense(2)), "there is no target label");
    says(make(Layout::dense(2).class("y", Role::Target, 2)), "there is no sensitive label");
    says(make(Layout::dense(2).class("s", Role::Sensitive, 2)), "there is no target label");
    let labelled =
        |layout: Layout| layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
    says(make(labelled(Layout::dense(0))), "there are no features");
    says(make(labelled(Layout::dense(usize::MAX))), "more than 1048576 columns");
    says(make(labelled(Layout::dense(1).coded(&[usize::MAX]))), "more than 1048576 columns");
    let one = Layout::dense(1).class("y", Role::Target, 1).class("s", Role::Sensitive, 2);
    says(make(one), "label `y` takes a single value in all rows: there is nothing to predict");
    let none = Layout::dense(1).number("v", Role::Target, 0).class("s", Role::Sensitive, 2);
    says(make(none), "label `v` has no columns");
    for folds in [0, 1001] {
        let options = MomentsOptions { folds, ..Default::default() };
        let text = format!("folds is {folds}: expected 1 to 1000");
        says(Moments::new(labelled(Layout::dense(1)), options), &text);
    }
}

fn reduce(table: &Table) -> Result<Reduced> {
    Reduced::new(&table.moments().covariances()?, 0.0)
}

/// The same labels with `column(i, j)` for `width` features.
fn with_features(table: &Table, width: usize, column: impl Fn(usize, usize) -> f64) -> Table {
    let n = table.rows;
    let x = (0..n * width).map(|at| column(at / width, at % width)).collect();
    Table { x, rows: n, width, y: table.y.clone(), s: table.s.clone() }
}

fn same_front(a: &Table, b: &Table) {
    let (a, b) = (reduce(a).unwrap(), reduce(b).unwrap());
    assert_eq!((a.basis(), a.size()), (b.basis(), b.size()));
    let front = |r: &Reduced| Front::new(r, None).unwrap().points(21).unwrap();
    for (p, q) in front(&a).iter().zip(front(&b)) {
        assert_eq!(p.dim, q.dim);
        assert!(
            (p.losses.jy - q.losses.jy).abs() < 1e-9 && (p.losses.js - q.losses.js).abs() < 1e-9
        );
    }
}

#[test]
fn columns_that_add_nothing_are_ignored() {
    let table = synthetic(2, 500, 4, 3, 2);
    let at = |i: usize, j: usize| table.x[i * 4 + j];
    for constant in [0.0, 1.0, 0.1, -1e9 / 3.0, 1e-300] {
        let wider = with_features(&table, 5, |i, j| if j < 4 { at(i, j) } else { constant });
        same_front(&table, &wider);
        // A weight of zero for it: the encoder does not look at it either.
        let model = |t: &Table| {
            let map = FeatureMap::linear(t.width);
            Model::new(&map, &t.layout(), &reduce(t).unwrap(), None, Goal::Lambda(0.4)).unwrap()
        };
        let (a, b) = (model(&table).encoder(), model(&wider).encoder());
        assert!(b.weights().row(4).iter().all(|w| *w == 0.0));
        let error = a.encode(table.x()).unwrap() - b.encode(wider.x()).unwrap();
        assert!(error.norm_max() < 1e-9);
    }
    same_front(&table, &with_features(&table, 8, |i, j| at(i, j % 4)));
    let mixed = with_features(&table, 6, |i, j| match j {
        4 => at(i, 0) - 2.0 * at(i, 1),
        5 => 1e5 * (at(i, 2) + at(i, 3)) + 7.0,
        _ => at(i, j),
    });
    same_front(&table, &mixed);
}

#[test]
fn nothing_varies() {
    let table = synthetic(3, 50, 2, 2, 2);
    for constant in [0.0, 0.1, 1e7] {
        let flat = with_features(&table, 3, |_, j| constant * (1 + j) as f64);
        says(reduce(&flat), "every feature is constant up to rounding: there is nothing to encode");
        says(
            Reduced::new(&flat.covariances(), 0.1),
            "every feature is constant up to rounding: there is nothing to encode",
        );
    }
    let mut one = synthetic(4, 50, 2, 2, 2);
    one.s = vec![1; 50];
    says(reduce(&one), "label `s` takes a single value in all rows: there is nothing to predict");
    let mut small = Small::new();
    for value in [0.0, 0.1, 1e9 / 7.0] {
        small.s = Mat::from_fn(12, 1, |_, _| value);
        let mut moments = Moments::new(Small::layout(), MomentsOptions::default()).unwrap();
        moments.push(&small.block()).unwrap();
        says(
            moments.covariances(),
            "label `age` takes a single value in all rows: there is nothing to predict",
        );
    }
}

/// A constant column beside a varying one in a numeric label explains nothing and adds nothing.
#[test]
fn a_constant_column_of_a_numeric_label() {
    let mut rng = rng(5);
    let x = normal(&mut rng, 300, 40);
    let y: Vec<u32> = (0..300).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
    let weights: Vec<f64> = normal(&mut rng, 300, 1).col(0).iter().map(|w| w.abs()).collect();
    let size = |width: usize, constant: f64| {
        let layout = Layout::dense(40).class("y", Role::Target, 2);
        let layout = layout.number("s", Role::Sensitive, width);
        let column = |i: usize, j: usize| match j {
            0 => x[(i, 1)] + x[(i, 0)],
            _ => constant * j as f64,
        };
        let s = Mat::from_fn(300, width, column);
        let mut moments = Moments::new(layout, MomentsOptions::default()).unwrap();
        let block = Block::new(x.as_ref()).class(&y).number(s.as_ref()).weighted(&weights);
        moments.push(&block).unwrap();
        let reduced = Reduced::new(&moments.covariances().unwrap(), 0.0).unwrap();
        (reduced.size(), Front::new(&reduced, None).unwrap().breakpoints().unwrap().len())
    };
    let alone = size(1, 0.0);
    for i in 0..30 {
        let constant = 0.1 + 1e4 * f64::from(i) / 7.0;
        assert_eq!(size(8, constant), alone, "{constant}");
    }
}

/// Standardised in place, a constant column is still no direction.
#[test]
fn constant_columns_stay_constant_when_standardised() {
    let table = synthetic(15, 700, 3, 2, 2);
    for i in 0..30 {
        let constant = 0.1 + 1e4 * f64::from(i) / 7.0;
        let value = |i: usize, j: usize| match j {
            0..3 => table.x[i * 3 + j],
            _ => constant * j as f64,
        };
        let wide = with_features(&table, 8, value);
        let weights: Vec<f64> = (0..700).map(|i| 0.1 + f64::from(i * 7 % 31)).collect();
        let mut moments = Moments::new(wide.layout(), MomentsOptions::default()).unwrap();
        moments.push(&wide.block().weighted(&weights)).unwrap();
        let spreads = moments.standardise().unwrap();
        assert!(spreads[3..].iter().all(|s| s.1 == 0.0), "{spreads:?}");
        let standard = moments.covariances().unwrap();
        let variances: Vec<f64> = (0..8).map(|j| standard.features[(j, j)]).collect();
        assert!(variances[..3].iter().all(|v| (v - 1.0).abs() < 1e-12), "{variances:?}");
        assert_eq!(Reduced::new(&standard, 0.0).unwrap().basis(), 3, "{constant}: {variances:?}");
    }
}

#[test]
fn too_few_rows() {
    let table = synthetic(6, 40, 3, 2, 2);
    let pushed = |rows: usize, folds: usize| {
        let options = MomentsOptions { folds, ..Default::default() };
        let mut moments = Moments::new(table.layout(), options).unwrap();
        moments.push(&table.block().slice(0, rows)).unwrap();
        moments
    };
    for rows in [0, 1] {
        let text = format!("{rows} rows with a positive weight: at least 2 are needed");
        says(pushed(rows, 5).covariances(), &text);
    }
    let start = "held-out losses need at least 2 folds with 2 rows each";
    let heldout = |rows, folds| HeldOut::new(&pushed(rows, folds), 0.0, None);
    says(heldout(40, 1), &format!("{start}; the moments were accumulated in one"));
    says(heldout(5, 5), &format!("{start}; fold 0 has 1"));
    assert!(heldout(40, 5).is_ok());
}

/// More features than rows: everything is explained, and the bounds still hold.
#[test]
fn fewer_rows_than_features() {
    for (seed, ridge) in [(7, 0.0), (8, 1e-6), (9, 0.1), (10, 0.0)] {
        let table = synthetic(seed, 15, 40, 2, 3);
        let reduced = Reduced::new(&table.covariances(), ridge).unwrap();
        assert!(ridge > 0.0 || reduced.basis() == 14);
        let front = Front::new(&reduced, None).unwrap();
        let bounds = front.bounds();
        assert!(bounds.gamma_min.abs() < 1e-9);
        for p in front.points(21).unwrap() {
            assert!(p.losses.jy.is_finite() && p.losses.js.is_finite());
            assert!(bounds.admit(p.losses, 1e-9), "{p:?} {bounds:?}");
        }
    }
}
