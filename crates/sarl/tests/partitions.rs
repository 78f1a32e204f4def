//! Rows in any order, in any blocks and on any machine: the same folds, the same fit.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::{normal, rng};
use faer::{Mat, MatRef};
use rand::RngExt;
use rand::seq::SliceRandom;
use sarl::{
    Approximation, Block, Criterion, Error, Family, Fit, FitParams, Fitted, FoldBy, Goal,
    KernelParams, Layout, Mismatch, Moments, MomentsOptions, NO_CLASS, Ridge, Role, Scale,
    category_key, text_key,
};

const TEXTS: [[&str; 4]; 2] = [["north", "east", "south", "west"], ["a", "b", "north", ""]];

/// Rows of numbers, two columns of texts (some missing), two labels and weights.
#[derive(Clone)]
struct Rows {
    x: Mat<f64>,
    texts: Vec<[Option<&'static str>; 2]>,
    y: Vec<u32>,
    s: Vec<u32>,
    weights: Vec<f64>,
}

fn rows(seed: u64, n: usize, width: usize) -> Rows {
    let mut rng = rng(seed);
    // Whole numbers as well: many rows are then alike in some columns.
    let noise = normal(&mut rng, n, width);
    let x = Mat::from_fn(n, width, |i, j| match j % 3 {
        0 => noise[(i, j)].round(),
        _ => noise[(i, j)] + 0.5 * noise[(i, 0)],
    });
    let mut text = |of: usize, i: usize| {
        let most = if i < n / 3 { 2 } else { 4 };
        Some(TEXTS[of][rng.random_range(0..most)]).filter(|_| rng.random::<f64>() > 0.1)
    };
    let texts: Vec<_> = (0..n).map(|i| [text(0, i), text(1, i)]).collect();
    let east = |i: usize| f64::from(u8::from(texts[i][0] == Some("east")));
    let mut class = |of: f64| u32::from(of + rng.random::<f64>() > 0.8);
    let y = (0..n).map(|i| class(x[(i, 1)] + 0.4 * east(i))).collect();
    let s =
        (0..n).map(|i| class(x[(i, 1)] - x[(i, 2)] + east(i)) + u32::from(i % 7 == 0)).collect();
    let weights = (0..n).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
    Rows { x, texts, y, s, weights }
}

impl Rows {
    fn n(&self) -> usize {
        self.y.len()
    }

    fn take(&self, order: &[usize]) -> Rows {
        Rows {
            x: Mat::from_fn(order.len(), self.x.ncols(), |i, j| self.x[(order[i], j)]),
            texts: order.iter().map(|&i| self.texts[i]).collect(),
            y: order.iter().map(|&i| self.y[i]).collect(),
            s: order.iter().map(|&i| self.s[i]).collect(),
            weights: order.iter().map(|&i| self.weights[i]).collect(),
        }
    }

    fn keys(&self) -> Vec<u64> {
        let key = |place: usize, text: Option<&str>| text.map_or(0, |t| category_key(place, t));
        let sum = |t: &[Option<&str>; 2]| key(0, t[0]).wrapping_add(key(1, t[1]));
        self.texts.iter().map(sum).collect()
    }

    /// The categories of a column in the order in which they come.
    fn met(&self, of: usize) -> Vec<&'static str> {
        let mut met = Vec::new();
        for text in self.texts.iter().filter_map(|t| t[of]) {
            if !met.contains(&text) {
                met.push(text);
            }
        }
        met
    }

    fn codes(&self, of: usize, known: &[&str]) -> Vec<u32> {
        let code = |text: &str| known.iter().position(|k| *k == text).unwrap() as u32;
        self.texts.iter().map(|t| t[of].map_or(NO_CLASS, code)).collect()
    }

    /// All rows in blocks of so many, with categories in a given order.
    fn push(&self, fit: &mut Fit, known: &[Vec<&'static str>; 2], step: usize) {
        let (a, b) = (self.codes(0, &known[0]), self.codes(1, &known[1]));
        let keys = self.keys();
        let block = Block::new(self.x.as_ref()).coded(&a).coded(&b).keys(&keys);
        let block = block.class(&self.y).class(&self.s).weighted(&self.weights);
        for start in (0..self.n()).step_by(step) {
            fit.push(&block.slice(start, step.min(self.n() - start))).unwrap();
        }
    }

    fn layout(&self, known: &[Vec<&'static str>; 2]) -> Layout {
        let layout = Layout::dense(self.x.ncols()).coded(&[known[0].len(), known[1].len()]);
        layout.class("y", Role::Target, 2).class("s", Role::Sensitive, 3)
    }
}

fn known() -> [Vec<&'static str>; 2] {
    [TEXTS[0].to_vec(), TEXTS[1].to_vec()]
}

fn content(params: FitParams) -> FitParams {
    FitParams { fold_by: FoldBy::Content, ..params }
}

/// What is known of two fits is the same.
fn same(a: &Fitted, b: &Fitted, rows: &Rows, tolerance: f64) {
    let goal = || Goal::Leakage(0.05);
    let (one, two) = (a.solve(goal()).unwrap(), b.solve(goal()).unwrap());
    let (p, q) = (rows.codes(0, &known()[0]), rows.codes(1, &known()[1]));
    let block = Block::new(rows.x.as_ref()).coded(&p).coded(&q);
    let z = one.encoder().encode_block(&block).unwrap();
    let off = (&z - two.encoder().encode_block(&block).unwrap()).norm_max();
    assert!(off <= tolerance * (1.0 + z.norm_max()), "z is off by {off:e}");
    let (a, b) = (a.heldout().unwrap(), b.heldout().unwrap());
    for lambda in [0.1, 0.5, 0.9] {
        let (a, b) = (a.at(lambda).unwrap(), b.at(lambda).unwrap());
        for (a, b) in [(a.jy, b.jy), (a.js, b.js), (a.jy_sd, b.jy_sd)] {
            assert!((a - b).abs() <= 1e-10, "held-out: {a} and {b}");
        }
    }
}

/// The definition, written down again.
fn fold_of(row: &[f64], key: u64, folds: u64, seed: u64) -> usize {
    let splitmix = |value: u64| {
        let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut hash = key;
    for (j, value) in row.iter().enumerate() {
        let value = if *value == 0.0 { 0.0 } else { *value };
        let bits = value.to_bits().wrapping_add(splitmix(j as u64) | 1);
        hash = hash.wrapping_add((bits >> 32) * (bits % (1 << 32)));
    }
    (splitmix(hash ^ splitmix(seed)) % folds) as usize
}

#[test]
fn the_fold_of_a_row_is_that_of_its_content() {
    let data = rows(1, 900, 5);
    let layout = Layout::dense(5).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let keys = data.keys();
    for (fold_by, seed) in [(FoldBy::Content, 0), (FoldBy::Content, 9), (FoldBy::Key, 3)] {
        let options = MomentsOptions { folds: 4, seed, fold_by, ..Default::default() };
        let mut moments = Moments::new(layout.clone(), options).unwrap();
        let block = Block::new(data.x.as_ref()).class(&data.y).class(&data.s).keys(&keys);
        moments.push(&block).unwrap();
        let row = |i: usize| -> Vec<f64> {
            let row = data.x.row(i).iter().copied();
            if fold_by == FoldBy::Key { Vec::new() } else { row.collect() }
        };
        for (fold, (_, test)) in moments.splits().unwrap().iter().enumerate() {
            let here: Vec<usize> =
                (0..900).filter(|&i| fold_of(&row(i), keys[i], 4, seed) == fold).collect();
            assert_eq!(test.rows, here.len() as u64);
            for j in 0..5 {
                let mean = here.iter().map(|&i| data.x[(i, j)]).sum::<f64>() / here.len() as f64;
                assert!((test.mean[j] - mean).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn order_blocks_precision_and_signs_of_zero_change_no_fold() {
    let data = rows(2, 1500, 6);
    // What single precision can hold.
    let narrow = Mat::from_fn(1500, 6, |i, j| data.x[(i, j)] as f32);
    let wide = Mat::from_fn(1500, 6, |i, j| f64::from(narrow[(i, j)]));
    let turned = narrow.transpose().to_owned();
    let signed =
        Mat::from_fn(1500, 6, |i, j| if wide[(i, j)] == 0.0 { -0.0 } else { wide[(i, j)] });
    assert!(signed != wide || signed[(0, 0)].to_bits() != 1, "some are zero");
    let layout = Layout::dense(6).class("y", Role::Target, 2).class("s", Role::Sensitive, 3);
    let options = MomentsOptions { fold_by: FoldBy::Content, ..Default::default() };
    let sizes = |moments: &Moments| -> Vec<(u64, Vec<f64>)> {
        moments.splits().unwrap().iter().map(|(_, t)| (t.rows, t.mean.clone())).collect()
    };
    let agree = |a: &Moments, b: &Moments| {
        for (a, b) in sizes(a).iter().zip(sizes(b)) {
            assert_eq!(a.0, b.0);
            assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    };
    let once = |x: MatRef<'_, f64>, order: &[usize], step: usize| {
        let mut moments = Moments::new(layout.clone(), options).unwrap();
        let x = Mat::from_fn(order.len(), 6, |i, j| x[(order[i], j)]);
        let y: Vec<u32> = order.iter().map(|&i| data.y[i]).collect();
        let s: Vec<u32> = order.iter().map(|&i| data.s[i]).collect();
        let block = Block::new(x.as_ref()).class(&y).class(&s);
        for start in (0..1500).step_by(step) {
            moments.push(&block.slice(start, step.min(1500 - start))).unwrap();
        }
        moments
    };
    let mut order: Vec<usize> = (0..1500).collect();
    let plain = once(wide.as_ref(), &order, 1500);
    order.shuffle(&mut rng(5));
    agree(&plain, &once(wide.as_ref(), &order, 77));
    agree(&plain, &once(signed.as_ref(), &order, 400));
    for x in [narrow.as_ref(), turned.transpose()] {
        let mut single = Moments::new(layout.clone(), options).unwrap();
        single.push(&Block::new(x).class(&data.y).class(&data.s)).unwrap();
        agree(&plain, &single);
    }
}

#[test]
fn folds_by_content_are_balanced() {
    let count = |x: Mat<f64>, seed: u64| {
        let (n, width) = (x.nrows(), x.ncols());
        let y: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let layout = Layout::dense(width).class("y", Role::Target, 2);
        let layout = layout.class("s", Role::Sensitive, 2);
        let options = MomentsOptions { seed, fold_by: FoldBy::Content, ..Default::default() };
        let mut moments = Moments::new(layout, options).unwrap();
        moments.push(&Block::new(x.as_ref()).class(&y).class(&y)).unwrap();
        let fair = n as f64 / 5.0;
        for (_, test) in moments.splits().unwrap() {
            let off = (test.rows as f64 - fair) / (fair * 0.8).sqrt();
            assert!(off.abs() < 4.5, "{} rows of {n}: {off} deviations", test.rows);
        }
    };
    for seed in [0, 1, 77] {
        count(normal(&mut rng(3 + seed), 50_000, 7), seed);
        // A grid of few whole numbers, each row once; a counter; a counter of tenths.
        count(Mat::from_fn(4096, 6, |i, j| ((i >> (2 * j)) & 3) as f64), seed);
        count(Mat::from_fn(10_000, 1, |i, _| i as f64), seed);
        count(Mat::from_fn(10_000, 2, |i, j| if j == 0 { 1.0 } else { i as f64 / 10.0 }), seed);
        count(Mat::from_fn(10_000, 2, |i, j| [i / 100, i % 100][j] as f64), seed);
    }
}

/// Shards that met other categories, in another order, merge into the fit of all rows.
#[test]
fn shards_with_other_categories_merge_into_one_fit() {
    let criteria = [
        Criterion::Parity,
        Criterion::EqualizedOdds,
        Criterion::EqualOpportunity { favourable: 1 },
    ];
    // In the second, each part and the whole are held; in the third the parts only.
    for (n, width) in [(900, 4), (500, 600), (900, 600)] {
        let data = rows(4, n, width);
        let few = &criteria[..if width > 500 { 1 } else { 3 }];
        for (criterion, scale) in
            few.iter().flat_map(|c| [(*c, Scale::None), (*c, Scale::Standard)])
        {
            // Rounding grows with the condition of the problem.
            let ridge = Ridge::Fixed(if width > 500 { 0.1 } else { 1e-6 });
            let params = FitParams { criterion, scale, ridge, ..Default::default() };
            let params = content(params);
            let mut whole = Fit::new(params.clone(), data.layout(&known())).unwrap();
            data.push(&mut whole, &known(), 333);
            let whole = whole.finish().unwrap();
            for order in [[0, 1, 2], [2, 0, 1]] {
                let mut merged: Option<Fit> = None;
                for part in order {
                    let fit = shard(&data, &params, part);
                    match &mut merged {
                        None => merged = Some(fit),
                        Some(merged) => merged.merge(&fit).unwrap(),
                    }
                }
                let merged = merged.unwrap();
                assert_eq!(merged.rows(), n as u64);
                let tolerance = if width > 500 { 1e-11 } else { 1e-12 };
                same(&whole, &merged.finish().unwrap(), &data, tolerance);
            }
        }
    }
}

/// A third of the rows as another machine adds them up, sends them and gives them new codes.
fn shard(data: &Rows, params: &FitParams, part: usize) -> Fit {
    let n = data.n();
    let mine: Vec<usize> = (part * n / 3..(part + 1) * n / 3).rev().collect();
    let mine = data.take(&mine);
    let own = [mine.met(0), mine.met(1)];
    let mut fit = Fit::new(params.clone(), mine.layout(&own)).unwrap();
    mine.push(&mut fit, &own, 100);
    let bytes = fit.to_bytes(Default::default()).unwrap();
    let (mut fit, _) = Fit::from_bytes(params.clone(), &bytes).unwrap();
    for (category, known) in known().iter().enumerate() {
        let place = |text: &&str| known.iter().position(|k| k == text).unwrap() as u32;
        let to: Vec<u32> = own[category].iter().map(place).collect();
        fit.recode(category, &to, known.len()).unwrap();
    }
    fit
}

#[test]
fn shards_of_a_kernel_with_the_same_landmarks_merge_into_one_fit() {
    let data = rows(6, 700, 3);
    for approximation in [Approximation::Landmarks, Approximation::RandomFeatures] {
        let kernel =
            KernelParams { approximation, landmarks: 40, ..KernelParams::new(Family::Rbf) };
        let params = content(FitParams { ridge: Ridge::Fixed(1e-3), ..FitParams::kernel(kernel) });
        let mut first = Fit::new(params.clone(), data.layout(&known())).unwrap();
        let (a, b) = (data.codes(0, &known()[0]), data.codes(1, &known()[1]));
        let block = Block::new(data.x.as_ref()).coded(&a).coded(&b);
        first.sample(&block.weighted(&data.weights)).unwrap();
        first.choose(&|| false).unwrap();
        let mut whole = first.clone();
        data.push(&mut whole, &known(), 700);
        let chosen = first.chosen().unwrap().unwrap();
        let empty = first.to_bytes(Default::default()).unwrap();
        let mut order: Vec<usize> = (0..700).collect();
        order.shuffle(&mut rng(8));
        let mut merged = first.without_rows().unwrap();
        for part in order.chunks(233) {
            let layout = data.layout(&known());
            let mut there =
                Fit::from_chosen(params.clone(), layout, chosen.clone(), &empty).unwrap();
            data.take(part).push(&mut there, &known(), 50);
            merged.merge(&there).unwrap();
        }
        let refused = merged.recode(0, &[0, 1, 2, 3], 5);
        assert!(matches!(refused, Err(Error::Unavailable(_))));
        same(&whole.finish().unwrap(), &merged.finish().unwrap(), &data, 1e-12);
    }
}

#[test]
fn held_rows_and_sums_have_the_same_folds() {
    let data = rows(7, 300, 600);
    let params = content(FitParams { ridge: Ridge::Fixed(0.1), ..Default::default() });
    let mut held = Fit::new(params, data.layout(&known())).unwrap();
    data.push(&mut held, &known(), 90);
    let mut sums = held.clone();
    sums.add_up().unwrap();
    same(&held.finish().unwrap(), &sums.finish().unwrap(), &data, 1e-11);
}

#[test]
fn files_of_folds_by_position_do_not_mention_it() {
    let text = serde_json::to_string(&FitParams::default()).unwrap();
    assert!(!text.contains("fold_by"), "{text}");
    assert_eq!(serde_json::from_str::<FitParams>(&text).unwrap(), FitParams::default());
    let text = serde_json::to_string(&content(FitParams::default())).unwrap();
    assert!(text.contains(r#""fold_by":"content""#), "{text}");
    assert_eq!(serde_json::from_str::<FitParams>(&text).unwrap().fold_by, FoldBy::Content);
}

#[test]
fn what_cannot_be_put_together_is_refused() {
    let data = rows(8, 60, 3);
    let fit = |fold_by: FoldBy| {
        let params = FitParams { fold_by, ..Default::default() };
        let mut fit = Fit::new(params, data.layout(&known())).unwrap();
        data.push(&mut fit, &known(), 60);
        fit
    };
    let mut by_content = fit(FoldBy::Content);
    for other in [FoldBy::Position, FoldBy::Key] {
        let refused = by_content.merge(&fit(other));
        assert!(matches!(refused, Err(Error::Merge(Mismatch::FoldBy))), "{refused:?}");
    }
    by_content.merge(&fit(FoldBy::Content)).unwrap();
    let (a, b) = (data.codes(0, &known()[0]), data.codes(1, &known()[1]));
    let block = Block::new(data.x.as_ref()).coded(&a).coded(&b).class(&data.y).class(&data.s);
    for by in [FoldBy::Content, FoldBy::Key] {
        let refused = fit(by).push(&block);
        assert!(matches!(refused, Err(Error::NoKeys { .. })), "{refused:?}");
        let refused = fit(by).push(&block.clone().keys(&[1, 2]));
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
    fit(FoldBy::Position).push(&block).unwrap();
    for (to, size) in [(&[0, 1, 2][..], 5), (&[0, 1, 1, 2], 5), (&[0, 1, 2, 5], 5)] {
        assert!(by_content.recode(0, to, size).is_err(), "{to:?}");
    }
    assert!(by_content.recode(2, &[0], 5).is_err());
    assert_ne!(text_key("ab"), text_key("ba"));
    assert_ne!(category_key(0, "north"), category_key(1, "north"));
}

/// Samples of parts are together the sample of all rows, and so are the features chosen from them.
#[test]
fn landmarks_do_not_depend_on_the_partition() {
    let data = rows(9, 6000, 3);
    let kernel = KernelParams { landmarks: 30, ..KernelParams::new(Family::Rbf) };
    let params = FitParams { scale: Scale::Standard, ..FitParams::kernel(kernel) };
    let params = content(FitParams { ridge: Ridge::Fixed(1e-3), ..params });
    let income = Mat::from_fn(6000, 1, |i, _| (data.x[(i, 1)] * 10.0).round());
    let layout = Layout::dense(3).coded(&[4, 4]).class("y", Role::Target, 2);
    let layout = layout.kernel("income", Role::Sensitive, 1);
    let (a, b) = (data.codes(0, &known()[0]), data.codes(1, &known()[1]));
    let keys = data.keys();
    let all = Block::new(data.x.as_ref()).coded(&a).coded(&b).class(&data.y);
    let all = all.number(income.as_ref()).keys(&keys).weighted(&data.weights);
    let empty = || Fit::new(params.clone(), layout.clone()).unwrap();
    let run = |parts: &[(usize, usize)]| {
        let mut sampled = empty();
        for &(start, rows) in parts {
            let mut there = empty();
            there.sample(&all.slice(start, rows)).unwrap();
            let bytes = there.pack([("who".into(), "me".into())].into()).unwrap();
            let (there, extra) = Fit::unpack(&bytes).unwrap();
            assert_eq!(extra["who"], "me");
            sampled.merge(&there).unwrap();
        }
        sampled.choose(&|| false).unwrap();
        let chosen = sampled.pack(Default::default()).unwrap();
        for &(start, rows) in parts {
            let (mut there, _) = Fit::unpack(&chosen).unwrap();
            there.push(&all.slice(start, rows)).unwrap();
            sampled
                .merge(&Fit::unpack(&there.pack(Default::default()).unwrap()).unwrap().0)
                .unwrap();
        }
        assert_eq!(sampled.rows(), 6000);
        sampled.finish().unwrap()
    };
    let whole = run(&[(0, 6000)]);
    assert_eq!(whole.map().outputs(), 30);
    for parts in [[(0, 3000), (3000, 3000)], [(1000, 5000), (0, 1000)]] {
        let other = run(&parts);
        same(&whole, &other, &data, 1e-10);
    }
}

#[test]
fn rows_that_are_held_may_be_none() {
    let data = rows(12, 700, 600);
    let params = content(FitParams { ridge: Ridge::Fixed(1.0), ..Default::default() });
    let empty = Fit::new(params, data.layout(&known())).unwrap();
    let (mut fit, _) = Fit::unpack(&empty.pack(Default::default()).unwrap()).unwrap();
    data.push(&mut fit, &known(), 700);
    fit.merge(&empty).unwrap();
    assert_eq!(fit.rows(), 700);
}

#[test]
fn what_was_packed_is_checked() {
    let data = rows(10, 100, 3);
    let mut fit = Fit::new(content(FitParams::default()), data.layout(&known())).unwrap();
    data.push(&mut fit, &known(), 100);
    let bytes = fit.pack(Default::default()).unwrap();
    assert_eq!(Fit::unpack(&bytes).unwrap().0.pack(Default::default()).unwrap(), bytes);
    for cut in [0, 100, bytes.len() - 1] {
        assert!(matches!(Fit::unpack(&bytes[..cut]), Err(Error::File { .. })));
    }
    let mut damaged = bytes.clone();
    damaged[bytes.len() - 20] ^= 1;
    assert!(matches!(Fit::unpack(&damaged), Err(Error::File { .. })));
    // Rows in the order of a reservoir are no part of another sample.
    let kernel = FitParams::kernel(KernelParams::new(Family::Rbf));
    let fit = Fit::new(kernel, data.layout(&known())).unwrap();
    assert!(matches!(fit.pack(Default::default()), Err(Error::Merge(Mismatch::NotChosen))));
    assert!(matches!(fit.clone().merge(&fit), Err(Error::Merge(Mismatch::NotChosen))));
}
