//! Each criterion against label columns that are formed row by row.

use faer::{Mat, MatRef};

use super::kernel::LabelSample;
use super::{Criterion, LabelMap};
use crate::moments::{Block, LabelKind, Layout, Made, Moments, MomentsOptions, Role};
use crate::spectral::linalg::{cholesky, solve_lower, solve_lower_transposed};
use crate::{Error, Fit, FitParams, Fitted, FoldBy, Goal, Ridge, Scale, tolerance};

const ROWS: usize = 600;

/// Numbers without a pattern in [-1, 1).
fn noise(i: usize, salt: u64) -> f64 {
    let mut z = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt << 32 | salt);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

struct Rows {
    x: Mat<f64>,
    y: Vec<u32>,
    s: Vec<u32>,
    number: Vec<f64>,
    income: Vec<f64>,
    weights: Vec<f64>,
}

fn rows() -> Rows {
    let x = Mat::from_fn(ROWS, 5, |i, j| noise(i, 1 + j as u64));
    let y = (0..ROWS).map(|i| match x[(i, 0)] + 0.6 * x[(i, 1)] + 0.5 * noise(i, 20) {
        v if v > 0.4 => 2,
        v if v > -0.3 => 1,
        _ => 0,
    });
    let y: Vec<u32> = y.collect();
    let s = (0..ROWS).map(|i| u32::from(x[(i, 1)] + x[(i, 2)] + 0.4 * f64::from(y[i]) > 0.3));
    let s: Vec<u32> = s.map(|s| 2 * s).collect();
    let s = (0..ROWS).map(|i| if noise(i, 30) > 0.5 { 1 } else { s[i] }).collect();
    let number = (0..ROWS).map(|i| 40.0 + 10.0 * (x[(i, 2)] + x[(i, 3)] * x[(i, 3)])).collect();
    let income = (0..ROWS).map(|i| 3.0 * x[(i, 0)] - x[(i, 4)] + noise(i, 40)).collect();
    let weights = (0..ROWS).map(|i| 1.5 + noise(i, 50)).collect();
    Rows { x, y, s, number, income, weights }
}

impl Rows {
    fn block(&self) -> Block<'_, f64> {
        Block::new(self.x.as_ref()).weighted(&self.weights)
    }

    fn mean(&self, of: impl Fn(usize) -> f64, among: impl Fn(usize) -> bool) -> f64 {
        let rows = || (0..ROWS).filter(|&i| among(i));
        let weight: f64 = rows().map(|i| self.weights[i]).sum();
        rows().map(|i| self.weights[i] * of(i)).sum::<f64>() / weight
    }
}

fn column(values: &[f64]) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, values.len(), 1)
}

fn params(criterion: Criterion) -> FitParams {
    let (scale, ridge) = (Scale::Standard, Ridge::Fixed(1e-3));
    FitParams { criterion, scale, ridge, ..Default::default() }
}

fn fitted(criterion: Criterion, layout: Layout, block: &Block<'_, f64>) -> Fitted {
    let mut fit = Fit::new(params(criterion), layout).unwrap();
    if fit.needs_sample() {
        fit.sample(block).unwrap();
        fit.choose(&|| false).unwrap();
    }
    fit.push(block).unwrap();
    fit.finish().unwrap()
}

/// Bounds, front, held-out losses and z of two fits are the same.
fn same(a: &Fitted, b: &Fitted, x: MatRef<'_, f64>) {
    let near = |a: f64, b: f64, what: &str| {
        assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{what}: {a} and {b}");
    };
    let (front, other) = (a.front().unwrap(), b.front().unwrap());
    for (a, b) in front.bounds().figures().iter().zip(other.bounds().figures()) {
        near(*a, b, "bounds");
    }
    for step in 0..=10 {
        let lambda = f64::from(step) / 10.0;
        let (p, q) = (front.point(lambda).unwrap(), other.point(lambda).unwrap());
        near(p.losses.jy, q.losses.jy, "jy");
        near(p.losses.js, q.losses.js, "js");
        near(p.leakage, q.leakage, "leakage");
    }
    let (held, other) = (a.heldout().unwrap(), b.heldout().unwrap());
    for (p, q) in held.points(5).unwrap().iter().zip(other.points(5).unwrap()) {
        near(p.jy, q.jy, "held-out jy");
        near(p.js, q.js, "held-out js");
    }
    let goal = || Goal::Leakage(0.02);
    let (m, n) = (a.solve(goal()).unwrap(), b.solve(goal()).unwrap());
    let (z, w) = (m.encoder().encode(x).unwrap(), n.encoder().encode(x).unwrap());
    assert!(((&z * z.transpose()) - (&w * w.transpose())).norm_max() < 1e-7);
    let again = crate::Model::from_bytes(&m.to_bytes().unwrap()).unwrap();
    near(again.point().leakage, m.point().leakage, "leakage of the file");
    near(
        again.retune(Goal::Lambda(0.5)).unwrap().point().losses.js,
        front.point(0.5).unwrap().losses.js,
        "retuned",
    );
}

fn by_hand(rows: &Rows, columns: &Mat<f64>) -> Fitted {
    let layout =
        Layout::dense(5).class("y", Role::Target, 3).number("s", Role::Sensitive, columns.ncols());
    fitted(Criterion::Parity, layout, &rows.block().class(&rows.y).number(columns.as_ref()))
}

#[test]
fn joint_classes_are_the_columns_of_each_class_of_the_target() {
    let rows = rows();
    let of = |only: &[u32]| {
        let columns: Vec<(u32, u32)> =
            only.iter().flat_map(|&c| (0..3).map(move |g| (c, g))).collect();
        Mat::from_fn(ROWS, columns.len(), |i, j| {
            let (c, g) = columns[j];
            let is = |i: usize| f64::from(u8::from(rows.s[i] == g));
            let share = rows.mean(is, |i| rows.y[i] == c);
            if rows.y[i] == c { is(i) - share } else { 0.0 }
        })
    };
    let layout = Layout::dense(5).class("y", Role::Target, 3).class("s", Role::Sensitive, 3);
    let block = rows.block().class(&rows.y).class(&rows.s);
    let odds = fitted(Criterion::EqualizedOdds, layout.clone(), &block);
    same(&odds, &by_hand(&rows, &of(&[0, 1, 2])), rows.x.as_ref());
    let chance = fitted(Criterion::EqualOpportunity { favourable: 1 }, layout, &block);
    same(&chance, &by_hand(&rows, &of(&[1])), rows.x.as_ref());
    let model = chance.solve(Goal::Leakage(0.01)).unwrap();
    assert_eq!(model.params().unwrap().criterion.favourable(), Some(1));
    assert_eq!(model.labels()[1].kind, LabelKind::Class { classes: 3 });
}

#[test]
fn numbers_are_centred_within_each_class_of_the_target() {
    let rows = rows();
    let means: Vec<f64> =
        (0..3).map(|c| rows.mean(|i| rows.number[i], |i| rows.y[i] == c)).collect();
    let columns = Mat::from_fn(ROWS, 3, |i, c| match rows.y[i] as usize == c {
        true => rows.number[i] - means[c],
        false => 0.0,
    });
    let layout = Layout::dense(5).class("y", Role::Target, 3).number("s", Role::Sensitive, 1);
    let block = rows.block().class(&rows.y).number(column(&rows.number));
    let odds = fitted(Criterion::EqualizedOdds, layout, &block);
    same(&odds, &by_hand(&rows, &columns), rows.x.as_ref());
}

#[test]
fn a_kernel_is_its_features() {
    let rows = rows();
    let layout = Layout::dense(5).class("y", Role::Target, 3).kernel("s", Role::Sensitive, 1);
    let block = rows.block().class(&rows.y).number(column(&rows.number));
    let mut sample = LabelSample::new(&layout, FoldBy::Position, 0);
    sample.push(&block).unwrap();
    let features = sample.kernel(1, 0).unwrap().features(column(&rows.number));
    assert!((4..40).contains(&features.ncols()), "{}", features.ncols());
    // ψᵀψ is the kernel, but for the tolerance.
    let gram = &features * features.transpose();
    let left: f64 = (0..ROWS).map(|i| 1.0 - gram[(i, i)]).sum::<f64>() / ROWS as f64;
    assert!((-1e-12..=tolerance::LABEL_KERNEL).contains(&left), "{left}");
    let kernel = fitted(Criterion::Parity, layout.clone(), &block);
    same(&kernel, &by_hand(&rows, &features), rows.x.as_ref());
    let odds = fitted(Criterion::EqualizedOdds, layout, &block);
    let width = features.ncols();
    let columns = Mat::from_fn(ROWS, 3 * width, |i, at| {
        let (c, j) = (at / width, at % width);
        let mean = rows.mean(|i| features[(i, j)], |i| rows.y[i] as usize == c);
        if rows.y[i] as usize == c { features[(i, j)] - mean } else { 0.0 }
    });
    same(&odds, &by_hand(&rows, &columns), rows.x.as_ref());
}

#[test]
fn beside_a_number_what_its_features_explain_is_taken_away() {
    let rows = rows();
    let layout = Layout::dense(5).number("y", Role::Target, 1).class("s", Role::Sensitive, 3);
    let block = rows.block().number(column(&rows.income)).class(&rows.s);
    let mut sample = LabelSample::new(&layout, FoldBy::Position, 0);
    sample.push(&block).unwrap();
    let u = sample.kernel(0, 0).unwrap().features(column(&rows.income));
    let mean = |j: usize| rows.mean(|i| u[(i, j)], |_| true);
    let means: Vec<f64> = (0..u.ncols()).map(mean).collect();
    let centred = Mat::from_fn(ROWS, u.ncols(), |i, j| u[(i, j)] - means[j]);
    let total: f64 = rows.weights.iter().sum();
    let weighted = Mat::from_fn(ROWS, u.ncols(), |i, j| centred[(i, j)] * rows.weights[i] / total);
    let v = Mat::from_fn(ROWS, 3, |i, g| f64::from(u8::from(rows.s[i] as usize == g)));
    let mut square = weighted.transpose() * &centred;
    let ridge = tolerance::GIVEN * (0..u.ncols()).map(|j| square[(j, j)]).sum::<f64>();
    (0..u.ncols()).for_each(|j| square[(j, j)] += ridge / u.ncols() as f64);
    let mut regression = weighted.transpose() * &v;
    let factor = cholesky(square.as_ref()).unwrap();
    solve_lower(factor.as_ref(), regression.as_mut());
    solve_lower_transposed(factor.as_ref(), regression.as_mut());
    let residual = &v - &u * &regression;
    let layout_by_hand =
        Layout::dense(5).number("y", Role::Target, 1).number("s", Role::Sensitive, 3);
    let hand = rows.block().number(column(&rows.income)).number(residual.as_ref());
    let hand = fitted(Criterion::Parity, layout_by_hand, &hand);
    same(&fitted(Criterion::EqualizedOdds, layout, &block), &hand, rows.x.as_ref());
}

#[test]
fn the_features_are_kept_and_an_attribute_is_hidden_beside_a_target() {
    let rows = rows();
    let shares: Vec<f64> = (0..9)
        .map(|k| rows.mean(|i| f64::from(u8::from(rows.s[i] == k % 3)), |i| rows.y[i] == k / 3))
        .collect();
    let columns = Mat::from_fn(ROWS, 9, |i, k| match rows.y[i] as usize == k / 3 {
        true => f64::from(u8::from(rows.s[i] as usize == k % 3)) - shares[k],
        false => 0.0,
    });
    let layout = Layout::dense(5).keep_features();
    let by_hand = layout.clone().number("s", Role::Sensitive, 9);
    let hand = fitted(Criterion::Parity, by_hand, &rows.block().number(columns.as_ref()));
    let layout = layout.class("y", Role::Target, 3).class("s", Role::Sensitive, 3);
    let block = rows.block().class(&rows.y).class(&rows.s);
    let odds = fitted(Criterion::EqualizedOdds, layout, &block);
    same(&odds, &hand, rows.x.as_ref());
    let goal = || Goal::Leakage(0.0);
    assert!(odds.erases(&goal()) && odds.layout().labels().len() == 2);
    let erased = |f: &Fitted| {
        let erasing = f.with_ridge(0.0).unwrap().erase(goal()).unwrap();
        erasing.erasure().apply(rows.x.as_ref()).unwrap()
    };
    let differ = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9;
    assert!(!erased(&odds).iter().zip(&erased(&hand)).any(differ));
}

#[test]
fn parts_merge_and_travel_and_meet_new_classes() {
    let rows = rows();
    let layout = Layout::dense(5).class("y", Role::Target, 3).class("s", Role::Sensitive, 3);
    let block = rows.block().class(&rows.y).class(&rows.s);
    let criterion = Criterion::EqualizedOdds;
    let whole = fitted(criterion, layout.clone(), &block);
    let mut first = Fit::new(params(criterion), layout.clone()).unwrap();
    let mut second = first.clone();
    first.push(&block.slice(0, 200)).unwrap();
    second.push(&block.slice(200, 400)).unwrap();
    let bytes = second.to_bytes(Default::default()).unwrap();
    let (second, extra) = Fit::from_bytes(params(Criterion::Parity), &bytes).unwrap();
    assert!(extra.is_empty());
    assert_eq!((second.params().criterion, second.layout()), (criterion, &layout));
    first.merge(&second).unwrap();
    let merged = first.finish().unwrap();
    let figures = |f: &Fitted| f.front().unwrap().bounds().figures();
    for (a, b) in figures(&merged).iter().zip(figures(&whole)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    // The same rows with classes that are numbered otherwise at first.
    let favourable = Criterion::EqualOpportunity { favourable: 2 };
    let swapped: Vec<u32> = rows.y.iter().map(|y| [1, 2, 0][*y as usize]).collect();
    let groups: Vec<u32> = rows.s.iter().map(|s| 2 - s).collect();
    let mut fit = Fit::new(params(favourable), layout.clone()).unwrap();
    fit.push(&rows.block().class(&swapped).class(&groups)).unwrap();
    fit.reclass(0, &[3, 0, 1], 4).unwrap();
    fit.reclass(1, &[2, 1, 0], 3).unwrap();
    assert_eq!(fit.params().criterion.favourable(), Some(1));
    let chance = fitted(Criterion::EqualOpportunity { favourable: 1 }, layout, &block);
    for (a, b) in figures(&fit.finish().unwrap()).iter().zip(figures(&chance)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn parts_with_the_kernel_of_the_first_rows_merge() {
    let rows = rows();
    let layout = Layout::dense(5).class("y", Role::Target, 3).kernel("s", Role::Sensitive, 1);
    let block = rows.block().class(&rows.y).number(column(&rows.number));
    let mut first = Fit::new(params(Criterion::EqualizedOdds), layout).unwrap();
    first.sample(&block.slice(0, 300)).unwrap();
    assert!(first.without_rows().is_err());
    first.choose(&|| false).unwrap();
    let mut whole = first.clone();
    first.push(&block.slice(0, 300)).unwrap();
    let mut second = first.without_rows().unwrap();
    assert_eq!(second.rows(), 0);
    second.push(&block.slice(300, 300)).unwrap();
    first.merge(&second).unwrap();
    whole.push(&block).unwrap();
    // But for the folds: each part counts its rows from the first.
    let figures = |fit: Fit| fit.finish().unwrap().front().unwrap().bounds().figures();
    for (a, b) in figures(first).iter().zip(figures(whole)) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn criteria_that_do_not_suit_are_refused() {
    let hidden = |layout: Layout| layout.class("s", Role::Sensitive, 2);
    let chance = Criterion::EqualOpportunity { favourable: 2 };
    let cases = [
        (hidden(Layout::dense(2).keep_features()), Criterion::EqualizedOdds, "none"),
        (hidden(Layout::dense(2).number("y", Role::Target, 1)), chance, "classes"),
        (hidden(Layout::dense(2).class("y", Role::Target, 2)), chance, "does not have"),
        (
            hidden(Layout::dense(2).class("y", Role::Target, 3).class("w", Role::Target, 3)),
            chance,
            "one target",
        ),
    ];
    for (layout, criterion, word) in cases {
        let error = Fit::new(params(criterion), layout).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    let layout = hidden(Layout::dense(1).class("y", Role::Target, 2));
    let mut fit = Fit::new(params(Criterion::EqualizedOdds), layout).unwrap();
    let (x, y) = (Mat::from_fn(8, 1, |i, _| i as f64), [0, 1, 0, 1, 0, 1, 0, 1]);
    fit.push(&Block::new(x.as_ref()).class(&y).class(&y)).unwrap();
    let error = fit.finish().unwrap_err();
    assert!(error.to_string().contains("beside the target"), "{error}");
    let text = LabelMap::new(
        &hidden(Layout::dense(1).class("y", Role::Target, 2)),
        Criterion::EqualizedOdds,
        None,
        0,
    );
    let map = text.unwrap();
    let added = map.layout(&hidden(Layout::dense(1).class("y", Role::Target, 2)));
    assert_eq!(LabelMap::from_json(&map.to_json().unwrap(), &added).unwrap().0, map);
    assert!(LabelMap::from_json("{}", &added).is_err());
    // A file may say anything of its columns.
    let wrong = [
        Made::Joint { classes: 2, groups: 3, only: None },
        Made::Joint { classes: 2, groups: 2, only: Some(2) },
        Made::Masked { classes: 2, width: 1, only: None },
        Made::Columns { width: 4 },
    ];
    for made in wrong {
        let mut labels = added.labels().to_vec();
        labels[1].made = Some(made);
        let moments = Moments::new(added.relabelled(labels), MomentsOptions::default());
        assert!(matches!(moments, Err(Error::MadeOfOthers { .. })), "{made:?}");
    }
}

#[test]
fn two_targets_give_an_attribute_a_block_each() {
    let rows = rows();
    let coarse: Vec<u32> = rows.y.iter().map(|y| y / 2).collect();
    let layout = Layout::dense(5)
        .class("y", Role::Target, 3)
        .class("w", Role::Target, 2)
        .class("s", Role::Sensitive, 3)
        .kernel("age", Role::Sensitive, 1);
    let block = rows.block().class(&rows.y).class(&coarse);
    let block = block.class(&rows.s).number(column(&rows.number));
    let fitted = fitted(Criterion::EqualizedOdds, layout, &block);
    let model = fitted
        .solve(Goal::LeakageOf(
            [("s".to_owned(), 0.02), ("age".to_owned(), 0.05)].into_iter().collect(),
        ))
        .unwrap();
    let attributes = model.attributes().unwrap();
    assert_eq!(attributes.sensitive.len(), 2);
    assert!(attributes.sensitive[0].share <= 0.02 + 1e-9);
    assert!(attributes.sensitive[1].share <= 0.05 + 1e-9);
    let again = crate::Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.attributes().unwrap().sensitive[1].share, attributes.sensitive[1].share);
}
